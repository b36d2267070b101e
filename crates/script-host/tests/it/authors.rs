//! What authors are told when a file is wrong: what, and what to do about it.

use rival_script_host::frame::ScriptError;
use serde_json::json;

use crate::lab::{file, linked};
use crate::plans::lab;

fn refused(code: &str) -> ScriptError {
    lab(vec![file("/flow.js", code)]).describe("/flow.js").unwrap_err()
}

/// A file, what is wrong with it, and the advice.
const WRONG: &[(&str, &str, &str)] = &[
    ("export const step = 1", "the file has no `steps`, and exports and registers no workflow", "did you mean `steps`?"),
    ("export const other = 1", "the file has no `steps`, and exports and registers no workflow", "write export const steps"),
    ("export const steps = 7", "`steps` must be a list, not the number 7", "write export const steps = [first, second]"),
    ("export const steps = []", "`steps` is empty", "write export const steps = [first, second]"),
    (
        "const a = () => {}; export const steps = [a, { timeout: 5 }]",
        "steps[1] is not a step: it is an object with timeout",
        "steps are functions, { fn, … }",
    ),
    ("async function a() {}; export const steps = [a()]", "steps[0] is not a step: it is a promise", "write the name without ()"),
    ("export const steps = ['./pay.ts']", "steps[0] is not a step: it is the text './pay.ts'", "workflow('./file.ts')"),
    ("export const steps = [undefined]", "steps[0] is not a step: it is undefined", "is it exported by the file"),
    ("export const steps = [[() => {}]]", "steps[0] is not a step: it is an array", "parallel({ name, steps"),
    (
        "import { z } from 'zod'; export const steps = [z.string()]",
        "steps[0] is not a step: it is a zod schema",
        "steps are functions",
    ),
    ("export const steps = [{ fn: 7 }]", "steps[0]: `fn` must be a function, not the number 7", ""),
    (
        "function pay() {}; export const steps = [{ fn: pay, timout: 5 }]",
        "steps[0] (pay) has no option `timout`",
        "did you mean `timeout`?",
    ),
    (
        "function pay() {}; export const steps = [{ fn: pay, retries: 5 }]",
        "steps[0] (pay) has no option `retries`",
        "there are maxAttempts, backoff,",
    ),
    (
        "function pay() {}; export const steps = [{ fn: pay, timeout: 'soon' }]",
        "steps[0] (pay): `timeout`: 'soon' is not a duration; write '500ms', '5s', '2 minutes' or '1h 30m'",
        "",
    ),
    (
        "function pay() {}; export const steps = [{ fn: pay, maxAttempts: 0 }]",
        "steps[0] (pay): `maxAttempts` must be a whole number of at least 1, not the number 0",
        "",
    ),
    (
        "function pay() {}; export const steps = [{ fn: pay, onTimeout: 'again' }]",
        "steps[0] (pay): `onTimeout` must be 'stop' or 'retry', not the text 'again'",
        "",
    ),
    (
        "function pay() {}; export const steps = [{ fn: pay, onError: 'x' }]",
        "steps[0] (pay): `onError` must be a function, not the text 'x'",
        "",
    ),
    (
        "function pay() {}; export const steps = [{ fn: pay, compensate: { maxAttempts: 2 } }]",
        "steps[0] (pay): `compensate` has no function",
        "write { fn: undo, maxAttempts: 5 }",
    ),
    (
        "function a() {}; export const steps = [{ fn: a, name: 'x' }, { fn: a, name: 'x' }]",
        "two steps of workflow `flow` are called `x`",
        "give one of them another name",
    ),
    (
        "import { loop } from 'rival'; function a() {}
        export const steps = [loop({ name: 'l', body: [{ fn: a, name: 'x' }, { fn: a, name: 'x' }], until: a })]",
        "two steps of `l` are called `x`",
        "give one of them another name",
    ),
    ("export const input = {}; export const steps = [() => {}]", "`input` must be a zod schema, not an empty object", "write z.object({ … })"),
    ("export const name = 7; export const steps = [() => {}]", "`name` must be a text, not the number 7", ""),
    (
        "import { z } from 'zod'; export const input = z.object({ due: z.date() }); export const steps = [() => {}]",
        "input.due: z.date() has no JSON form",
        "use z.iso.datetime()",
    ),
    (
        "import { z } from 'zod'; export const input = z.object({ a: z.array(z.object({ n: z.bigint() })) }); export const steps = [() => {}]",
        "input.a.n: z.bigint() has no JSON form",
        "use z.int()",
    ),
    (
        "import { Results } from 'rival'; import { z } from 'zod'
        function findTree() {}; export const results = Results({ findTre: z.string() }); export const steps = [findTree]",
        "results of workflow `flow`: there is no step `findTre`",
        "did you mean `findTree`?",
    ),
    ("export const results = {}; export const steps = [() => {}]", "`results` must be what Results(..) gives, not an empty object", ""),
    (
        "import { createWorkflow } from 'rival'; const w = createWorkflow('w').step(() => {}); w.workflow(w); export default w",
        "workflow `w` contains itself: w -> w",
        "durable.run",
    ),
    ("import { createWorkflow } from 'rival'; export default createWorkflow('w')", "workflow `w` has no steps", "add at least one"),
    ("import { createWorkflow } from 'rival'; export default createWorkflow('w').build()", "workflow `w` has no steps", ".step(..)"),
    ("import { createWorkflow } from 'rival'; createWorkflow()", "the name of a workflow must be a text, not undefined", ""),
    (
        "import { createWorkflow } from 'rival'; export default createWorkflow('w').parallel('p').join('all')",
        "parallel `p` has no branches",
        "add one with .branch",
    ),
    (
        "import { createWorkflow } from 'rival'; createWorkflow('w').parallel('p').branch('x', (b) => b)",
        "branch 'x' is empty",
        "write .branch('x', (b) => b.step(yourStep))",
    ),
    ("import { createWorkflow } from 'rival'; createWorkflow('w').parallel('p').join('some')", "join must be 'all', 'first' or a number", ""),
    (
        "import { branch } from 'rival'; branch({ name: 'b', then: [] })",
        "branch 'b' needs either `if` or `on`",
        "use { if, then, else }",
    ),
    ("import { branch } from 'rival'; branch({ name: 'b', if: () => 1 })", "branch 'b' has nothing to do", "add `then`"),
    ("import { loop } from 'rival'; loop({ name: 'l', body: () => 1 })", "loop 'l' needs either `until` or `while`", "until is asked after"),
    ("import { forEach } from 'rival'; forEach({ name: 'e', body: () => 1 })", "forEach 'e' has no `items`", "steps.list.result"),
    ("import { parallel } from 'rival'; parallel({ name: 'p' })", "parallel 'p' needs either `steps` or `branches`", "branches is an object"),
    ("import { sleep } from 'rival'; sleep({ second: 5 })", "sleep has no `second`: use ms, seconds, minutes or hours", ""),
    ("import { sleep } from 'rival'; sleep({ until: 'tomorrow' })", "sleep: `until` is no moment: the text 'tomorrow'", "use a Date"),
    ("import { signal } from 'rival'; signal('s', { timeot: 5 })", "signal 's' has no option `timeot`", "did you mean `timeout`?"),
    ("import { httpStep } from 'rival'; httpStep({ method: 'GET' })", "httpStep has no `url`", "write httpStep({ url"),
    ("import { StepError } from 'rival'; new StepError('x', { behaviour: 'retry' })", "StepError has no option `behaviour`", "did you mean `behavior`?"),
    (
        "import { createWorkflow, signal } from 'rival'; import { z } from 'zod'
        const s = () => signal('s', { schema: z.string() }); export default createWorkflow('w').steps([s(), s()])",
        "signal `s` has two schemas",
        "use the same schema object",
    ),
];

#[test]
fn what_is_wrong_is_said_with_advice() {
    for (code, message, advice) in WRONG {
        let error = refused(code);
        assert!(error.message.starts_with(message), "{code}\n{}", error.message);
        let expected = if message.starts_with("the file has no") { "no_steps" } else { "invalid_workflow" };
        assert_eq!(error.code.as_deref(), Some(expected), "{code}");
        let details = error.details.unwrap_or_default();
        let given = details["advice"].as_str().unwrap_or_default();
        assert!(given.contains(advice), "{code}\n{given}");
        assert_eq!(given.is_empty(), advice.is_empty(), "{code}\n{given}");
    }
}

#[test]
fn what_the_stack_does_not_show_has_a_place() {
    for (code, place) in [
        ("export const steps = 7", json!({"export": "steps"})),
        ("export const steps = [() => 1, 7]", json!({"export": "steps", "index": 1})),
        (
            "const a = { fn() {}, name: 'x' }; export const steps = [a, () => 1, a]",
            json!({"export": "steps", "index": 2}),
        ),
        (
            "import { loop } from 'rival'; const a = { fn() {}, name: 'x' }
            export const steps = [() => 1, loop({ body: [a, a], until: () => 1 })]",
            json!({"export": "steps", "index": 1}),
        ),
        ("export const input = 7; export const steps = [() => 1]", json!({"export": "input"})),
        ("export const onError = 7; export const steps = [() => 1]", json!({"export": "onError"})),
        (
            "import { z } from 'zod'; export const input = z.object({ a: z.date() }); export const steps = [() => 1]",
            json!({"export": "input"}),
        ),
        (
            "import { Results } from 'rival'; import { z } from 'zod'
            export const results = Results({ x: z.string() }); export const steps = [() => 1]",
            json!({"export": "results"}),
        ),
        (
            "import { createWorkflow } from 'rival'; export const w = createWorkflow('w')",
            json!({"export": "w"}),
        ),
    ] {
        assert_eq!(refused(code).details.unwrap()["at"], place, "{code}");
    }
}

#[test]
fn the_stack_leads_to_the_line() {
    let error = refused(
        "import { createWorkflow } from 'rival'
        const pay = () => {}
        export default createWorkflow('w')
            .step(pay)
            .step({ fn: pay, timout: 5 })",
    );
    assert!(error.stack.unwrap().contains("(/flow.js:5:"));
    let error = refused("const a = 1\nnull.x\nexport const steps = []");
    assert_eq!(error.name, "TypeError");
    assert!(error.stack.unwrap().contains("/flow.js:2:"));
}

#[test]
fn files_that_contain_each_other_are_refused() {
    let a = file("/a.js", "import { workflow } from 'rival'; export const steps = [workflow('./b.js')]");
    let b = file("/b.js", "import { workflow } from 'rival'; export const steps = [workflow('./a.js')]");
    let (a, b) = (linked(a, "./b.js", "/b.js"), linked(b, "./a.js", "/a.js"));
    let error = lab(vec![a, b]).describe("/a.js").unwrap_err();
    assert_eq!(error.message, "workflow `a` contains itself: a -> b -> a");
}

#[test]
fn a_broken_file_says_so_again_and_leaves_others_alone() {
    let mut lab = lab(vec![
        file("/bad.js", "throw new Error('at load')"),
        file("/good.js", "export const steps = [() => 1]"),
    ]);
    for _ in 0..2 {
        assert_eq!(lab.describe("/bad.js").unwrap_err().message, "at load");
        assert_eq!(lab.describe("/good.js").unwrap()["workflows"][0]["name"], "good");
    }
}
