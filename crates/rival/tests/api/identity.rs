//! Which function `Output<f>` means.

use rival::prelude::*;

use other::plain as renamed;

mod one {
    use rival::prelude::*;

    #[step]
    pub(crate) async fn plain() -> Result<u32, StepError> {
        Ok(1)
    }
}

mod other {
    use rival::prelude::*;

    #[step]
    pub(crate) async fn plain() -> Result<String, StepError> {
        Ok("2".into())
    }
}

#[step]
async fn both(one: Output<one::plain>, two: Output<renamed>) -> Result<String, StepError> {
    Ok(format!("{}{}", *one, *two))
}

fn needs(workflow: &rival::Definition, function: &str) -> Vec<String> {
    let needs = workflow.functions[function].needs().clone();
    needs.outputs.into_iter().map(|need| need.function).collect()
}

#[test]
fn functions_of_one_name_are_told_apart() {
    let workflow =
        Workflow::new("w").step(renamed.named("second")).step(one::plain).step(both).build().unwrap();
    assert_eq!(
        workflow.edges(),
        [("plain".to_owned(), "both".to_owned()), ("second".to_owned(), "both".to_owned())]
    );
    let definition = workflow.definition();
    let paths = ["api::identity::one::plain", "api::identity::other::plain"];
    assert_eq!(definition.functions.keys().collect::<Vec<_>>(), [paths[0], paths[1], "both"]);
    assert_eq!(needs(&definition, "both"), paths);
}

#[test]
fn a_named_step_keeps_its_function_name() {
    let workflow = Workflow::new("w").step(one::plain.named("first")).build().unwrap();
    assert_eq!(workflow.definition().functions.keys().collect::<Vec<_>>(), ["plain"]);
}

#[test]
fn a_step_inside_a_function_has_its_own_identity() {
    #[step]
    async fn plain() -> Result<u8, StepError> {
        Ok(1)
    }
    #[step]
    async fn reader(plain: Output<plain>) -> Result<u8, StepError> {
        Ok(*plain)
    }
    assert!(Workflow::new("w").step(plain).step(reader).build().is_ok());
    assert!(Workflow::new("w").step(one::plain).step(reader).build().is_err());
}

#[test]
fn steps_may_have_awkward_names() {
    #[step]
    async fn r#match() -> Result<u8, StepError> {
        Ok(1)
    }
    #[step]
    fn check(first: Output<r#match>) -> Result<u8, StepError> {
        Ok(*first)
    }
    let workflow = Workflow::new("w").step(r#match).step(check).build().unwrap();
    assert_eq!(workflow.edges(), [("match".to_owned(), "check".to_owned())]);
}

type Counted = Result<u32, StepError>;

#[test]
fn the_return_type_may_be_an_alias() {
    #[step]
    async fn plain() -> Counted {
        Ok(1)
    }
    #[step]
    async fn next(plain: Output<plain>) -> Counted {
        Ok(*plain + 1)
    }
    let workflow: Workflow<(), u32> = Workflow::new("w").step(plain).step(next).build().unwrap();
    assert_eq!(workflow.edges().len(), 1);
}
