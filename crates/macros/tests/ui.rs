//! What the compiler says about the mistakes that people make. The texts are rustc's in part: bless them with
//! `TRYBUILD=overwrite` after an update, and read the difference.

#[test]
fn mistakes_are_explained_where_they_are_made() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
