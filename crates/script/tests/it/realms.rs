//! Files beside each other: none changes what another records, imports what is not its own, or talks without end.

use rival_core::RunStatus;
use rival_engine::store::LogLevel;
use serde_json::json;

use crate::support::{Lab, write};

/// What others would notice, were there one world for all.
const ATTACKER: &str = "import { createWorkflow } from 'rival'
const real = fetch
globalThis.fetch = (...given) => { globalThis.stolen = given; return real(...given) }
export const attack = createWorkflow('attack').step(function attack() {
    try { Object.prototype.toJSON = () => 'HIJACKED' } catch {}
    try { Object.prototype.then = (go) => go('HIJACKED') } catch {}
    try { Array.prototype.map = null } catch {}
    setInterval(() => { globalThis.ticks = (globalThis.ticks ?? 0) + 1 }, 1)
    return 'done'
})
";
const VICTIM: &str = "import { z } from 'zod'
import { createWorkflow } from 'rival'
const input = z.object({ n: z.number() })
export const victim = createWorkflow('victim').input(input).step(async function victim({ input }) {
    return { list: [1, 2].map((n) => n + input.n), stolen: String(globalThis.stolen), own: fetch.name }
})
";

#[tokio::test]
async fn one_file_does_not_change_what_another_records() {
    let lab = Lab::good(&[("a.ts", ATTACKER), ("b.ts", VICTIM)]).await;
    for _ in 0..3 {
        assert_eq!(lab.output("attack", json!(null)).await, json!("done"));
        let recorded = lab.output("victim", json!({"n": 1})).await;
        assert_eq!(recorded, json!({"list": [2, 3], "stolen": "undefined", "own": "fetch"}));
    }
}

#[tokio::test]
async fn a_file_that_would_record_something_else_is_refused() {
    let file = "Object.prototype.toJSON = () => 'HIJACKED'\nexport const steps = [function a() { return { n: 1 } }]\n";
    let lab = Lab::new(&[("a.ts", file), ("b.ts", VICTIM)]).await;
    let told = lab.problems().join("\n");
    assert!(told.starts_with("a.ts:1:1: the file adds `toJSON` to `Object.prototype`"), "{told}");
    assert!(told.contains("leave the language as it is"), "{told}");
    assert_eq!(lab.loaded.workflows, ["victim"]);
}

#[tokio::test]
async fn imports_stay_in_the_folder() {
    let elsewhere = tempfile::tempdir().expect("a folder");
    write(elsewhere.path(), &[("tokens.json", "{\"secret\": 1}"), ("code.ts", "export default 1")]);
    let outside = elsewhere.path().canonicalize().expect("it is there");
    let outside = outside.display();
    let lab = Lab::new(&[]).await;
    let inside = lab.folder.path().canonicalize().expect("it is there");
    std::os::unix::fs::symlink(elsewhere.path().join("tokens.json"), inside.join("linked.json"))
        .expect("a link");
    let up = "../".repeat(inside.components().count() - 1);
    for (number, specifier) in [
        format!("{outside}/tokens.json"),
        format!("file://{outside}/tokens.json"),
        format!("{up}{}/tokens.json", outside.to_string().trim_start_matches('/')),
        "./linked.json".to_owned(),
        format!("{outside}/code.ts"),
    ]
    .iter()
    .enumerate()
    {
        let file = format!("f{number}.ts");
        let text = format!(
            "// first\nimport found from '{specifier}'\nexport const steps = [function a() {{ return found }}]\n"
        );
        write(lab.folder.path(), &[(&file, &text)]);
        let loaded =
            lab.scripts.register(&lab.engine, lab.folder.path()).await.expect("the folder is loaded");
        assert_eq!(loaded.workflows.len(), 0, "{specifier}");
        let problem =
            loaded.problems.iter().find(|problem| problem.file.ends_with(&file)).expect("it is told");
        assert_eq!((problem.line, problem.column), (2, 19), "{problem}");
        let advice = problem.advice.as_deref().unwrap_or_default();
        assert!(
            problem.message.contains("leads out of the folder") && advice.contains("script_imports")
                || problem.message.contains("is an address"),
            "{problem}"
        );
    }
}

#[tokio::test]
async fn a_call_logs_so_much_and_no_more() {
    let file = "export const name = 'shouts'
function lines({ log }) { for (let n = 0; n < 20000; n++) log.info('line') }
function bytes({ log }) { for (let n = 0; n < 100; n++) log.info('x'.repeat(60000)) }
export const steps = [lines, bytes]
";
    let lab = Lab::good(&[("a.ts", file)]).await;
    let run = lab.start("shouts", json!(null)).await;
    assert_eq!(lab.wait(&run).await.status, RunStatus::Completed);
    let all = lab.logs(&run).await;
    for (step, most) in [("lines", 10_001), ("bytes", 18)] {
        let lines: Vec<_> = all.iter().filter(|line| line.node == step).collect();
        assert!(lines.len() <= most, "{step}: {}", lines.len());
        let last = lines.last().expect("there are lines");
        assert_eq!(last.level, LogLevel::Warn, "{step}");
        assert!(last.message.ends_with("what comes after is dropped"), "{}", last.message);
    }
}
