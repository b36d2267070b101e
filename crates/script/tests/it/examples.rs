//! The examples, each run as a user would.

use std::path::PathBuf;

use rival_engine::Engine;
use rival_script::{Scripts, testing};
use serde_json::json;

use crate::support::{Lab, settings};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/typescript")
}

/// The examples on an engine.
async fn examples() -> Lab {
    let mut lab = Lab::of(Engine::builder(), settings()).await;
    lab.loaded = lab.scripts.register(&lab.engine, folder()).await.expect("the folder is loaded");
    lab.assert_good();
    lab
}

#[tokio::test]
async fn every_example_runs() {
    let lab = examples().await;
    assert_eq!(lab.loaded.workflows, ["checkout", "hello", "poll", "purchase", "report"]);
    assert_eq!(lab.output("hello", json!({"name": "Ada"})).await, json!("HELLO, ADA!"));
    assert_eq!(lab.output("poll", json!(null)).await, json!("done after 3 questions"));
    let order = json!({
        "items": [{"sku": "saw", "quantity": 2}, {"sku": "glove", "quantity": 1}],
        "amount": 40, "card": "flaky", "address": "Elm Street 1",
    });
    assert_eq!(lab.output("checkout", order).await["parcels"], 2);
    let report = lab.output("report", json!({})).await;
    assert_eq!(report["greetings"][0], "HELLO, ADA!");
    let run = lab.start("purchase", json!({"what": "a new saw"})).await;
    lab.engine.signal(&run, "decision", json!({"approved": false, "by": "Ada"})).await.expect("it is sent");
    let outcome = lab.wait(&run).await;
    assert_eq!(outcome.output.expect("it completed").to_json(), "declined by Ada");
    // A signal is checked when it is sent.
    let run = lab.start("purchase", json!({"what": "a new saw"})).await;
    let refused = lab.engine.signal(&run, "decision", json!({"approved": "perhaps"})).await;
    assert!(refused.is_err());
}

#[tokio::test]
async fn every_test_of_the_examples_passes() {
    let files = testing::find(&[folder()]).expect("the folder is read");
    let mut passed = Vec::new();
    testing::run(settings(), &files, "", |news| match news {
        testing::TestNews::Tested(test) => {
            assert!(test.failure.is_none(), "{}: {:?}", test.name, test.failure);
            passed.push(test.name);
        }
        testing::TestNews::Problem(problem) => panic!("{problem}"),
    })
    .await
    .expect("the tests run");
    assert_eq!(passed.len(), 6, "{passed:?}");
}

#[tokio::test]
async fn a_folder_can_be_registered_from_rust() {
    use rival_script::RegisterFiles as _;
    let engine = Engine::builder().build().await.expect("an engine in memory");
    // Scripts run on threads of this process, which cannot start itself as a host.
    let loaded = engine.register_directory(folder()).await.expect("the folder is loaded");
    assert!(loaded.problems.is_empty());
    let run = engine.run("hello", json!({})).await.expect("it starts");
    let outcome = engine.wait(run.id()).await.expect("it ends");
    assert_eq!(outcome.output.expect("it completed").to_json(), "HELLO, WORLD!");
}

#[tokio::test]
async fn many_files_share_one_host() {
    let scripts = Scripts::new(settings());
    let dir = tempfile::tempdir().expect("a folder");
    let files: Vec<(String, String)> = (0..100)
        .map(|n| {
            let text = format!(
                "import {{ z }} from 'zod'\nexport const input = z.object({{ n: z.number() }})\nexport const steps = [function add({{ input }}) {{ return input.n + {n} }}]"
            );
            (format!("flow-{n}.ts"), text)
        })
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    crate::support::write(dir.path(), &files);
    let engine = Engine::builder().build().await.expect("an engine in memory");
    let loaded = scripts.register(&engine, dir.path()).await.expect("the folder is loaded");
    assert_eq!(loaded.workflows.len(), 100, "{:?}", loaded.problems.first());
    let run = engine.run("flow-42", json!({"n": 1})).await.expect("it starts");
    let outcome = engine.wait(run.id()).await.expect("it ends");
    assert_eq!(outcome.output.expect("it completed").to_json(), 43);
}
