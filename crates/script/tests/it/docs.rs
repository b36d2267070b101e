//! The files in the guide for authors, as they are written there.

use rival_engine::Engine;
use rival_script::testing::{self, TestNews};
use serde_json::json;

use crate::support::{Lab, settings, write};

const GUIDE: &str = include_str!("../../../../docs/typescript.md");
const TESTING: &str = include_str!("../../../../docs/testing.md");

/// The files of a page: blocks that begin with a comment that names one.
fn files(page: &'static str) -> Vec<(&'static str, &'static str)> {
    let blocks = page.split("```ts\n").skip(1).filter_map(|rest| rest.split("```").next());
    blocks
        .map(|block| {
            let name = block.lines().next().and_then(|line| line.strip_prefix("// "));
            (name.unwrap_or_else(|| panic!("a block has no file name:\n{block}")), block)
        })
        .collect()
}

#[tokio::test]
async fn every_file_of_the_guide_runs() {
    let lab = Lab::of(Engine::builder(), settings()).await;
    write(lab.folder.path(), &files(GUIDE));
    let loaded = lab.scripts.register(&lab.engine, lab.folder.path().join("main.ts")).await;
    let loaded = loaded.expect("it is loaded");
    assert!(loaded.problems.is_empty(), "{:#?}", loaded.problems);
    assert_eq!(
        loaded.workflows,
        ["compose", "order", "patient", "payment", "report", "returns", "setup", "shipping", "tree", "typed"]
    );
    assert_eq!(lab.output("tree", json!({"treeType": "oak"})).await, json!({"pieces": 10}));
    assert_eq!(lab.output("setup", json!({"name": "Ada"})).await, json!("sent"));
    assert_eq!(lab.output("typed", json!({"kind": "oak"})).await, json!({"pieces": 5}));
    let composed = lab.output("compose", json!({"name": "greet", "seconds": 2})).await;
    assert_eq!(
        (&composed["steps"][0][0]["sleep"]["ms"], &composed["steps"][1][0]["as"]),
        (&json!(2000), &json!("item"))
    );
    let server = crate::web::serve().await;
    let input = json!({"amount": 7, "items": [{"sku": "saw"}], "callback": format!("{server}/done")});
    let told = json!({"packed": ["saw"], "told": {"email": "sent", "ledger": "booked"}});
    assert_eq!(lab.output("shipping", input).await, told);
}

#[tokio::test]
async fn the_test_of_the_guide_passes() {
    assert_eq!(passed(GUIDE).await, 1);
}

#[tokio::test]
async fn the_tests_of_the_page_about_tests_pass() {
    assert_eq!(passed(TESTING).await, 7);
}

/// How many tests of a page pass; none may fail.
async fn passed(page: &'static str) -> usize {
    let dir = tempfile::tempdir().expect("a folder");
    write(dir.path(), &files(page));
    write(dir.path(), &[("package.json", "{}")]);
    let found = testing::find(&[dir.path().join("tests")]).expect("the folder is read");
    let mut passed = 0;
    testing::run(settings(), &found, "", |news| match news {
        TestNews::Tested(test) => {
            assert!(test.failure.is_none(), "{:?}", test.failure);
            passed += 1;
        }
        TestNews::Problem(problem) => panic!("{problem}"),
    })
    .await
    .expect("the tests run");
    passed
}

#[tokio::test]
async fn the_file_in_the_readme_runs() {
    let readme = include_str!("../../../../README.md");
    let file = readme.split("```ts\n").nth(1).and_then(|rest| rest.split("```").next());
    let lab = Lab::good(&[("trees.ts", file.expect("the README has one"))]).await;
    assert_eq!(lab.output("trees", json!({"order": 7})).await, json!(12));
}
