//! What zod makes of inputs and results.

use rival_script_host::frame::ToHost;
use serde_json::{Value, json};

use crate::lab::{Lab, Place, file, raw};

const FLOW: &str = "
    import { z } from 'zod'
    import zod, * as all from 'zod'
    import { Results, StepError } from 'rival'
    if (zod !== z || all.z !== z || typeof z.locales.de !== 'function') throw new Error('zod is not whole')
    export const name = 'flow'
    export const input = z.object({
        id: z.string().min(2), count: z.int().default(1), tags: z.array(z.string()).optional(),
        mail: z.email().optional(), twice: z.number().transform((n) => n * 2).optional(),
    }).refine((order) => order.id !== 'no', { message: 'not that one', path: ['id'] })
    export const results = Results({ good: z.object({ n: z.number() }), bad: z.object({ n: z.number() }) })
    function good() { return { n: 1, more: true } }
    async function bad() { return { n: 'x' } }
    export const steps = [good, bad]";

fn parse(lab: &mut Lab, input: Value) -> Value {
    let id = lab.number();
    let (file, workflow) = ("/flow.js".to_owned(), "flow".to_owned());
    lab.tell(&ToHost::Parse { id, realm: 1, file, workflow, input: raw(&input) });
    lab.end().1.outcome.unwrap()
}

fn lab(code: &str) -> Lab {
    let mut lab = Lab::new(Place::Thread);
    lab.tell(&ToHost::Realm { realm: 1, modules: vec![file("/flow.js", code)] });
    lab
}

#[test]
fn inputs_are_judged_by_zod() {
    let mut lab = lab(FLOW);
    let good = parse(&mut lab, json!({"id": "ab", "twice": 4, "extra": 1}));
    assert_eq!(good, json!({"value": {"id": "ab", "count": 1, "twice": 8}}));
    let bad = parse(&mut lab, json!({"id": "a", "tags": ["x", 7], "mail": "nobody"}));
    let issues = bad["issues"].as_array().unwrap();
    let seen: Vec<(&Value, &Value)> = issues.iter().map(|issue| (&issue["path"], &issue["code"])).collect();
    assert_eq!(
        seen,
        [
            (&json!(["id"]), &json!("too_small")),
            (&json!(["tags", 1]), &json!("invalid_type")),
            (&json!(["mail"]), &json!("invalid_format")),
        ]
    );
    let refined = parse(&mut lab, json!({"id": "no"}));
    assert_eq!(refined["issues"], json!([{"path": ["id"], "message": "not that one", "code": "custom"}]));
    assert_eq!(parse(&mut lab, json!(null))["issues"][0]["path"], json!([]));
}

#[test]
fn no_input_is_what_optional_schemas_expect() {
    let flow = |schema: &str| {
        format!(
            "import {{ z }} from 'zod'; export const name = 'flow'; export const input = {schema}; export const steps = [() => 1]"
        )
    };
    assert_eq!(parse(&mut lab(&flow("z.object({}).optional()")), json!(null)), json!({"value": null}));
    assert_eq!(
        parse(&mut lab(&flow("z.object({ a: z.number() }).default({ a: 1 })")), json!(null)),
        json!({"value": {"a": 1}})
    );
    assert_eq!(parse(&mut lab(&flow("z.null()")), json!(null)), json!({"value": null}));
    assert_eq!(
        parse(&mut lab("export const name = 'flow'; export const steps = [() => 1]"), json!([1])),
        json!({"value": [1]})
    );
}

#[test]
fn results_are_checked_and_stay_as_they_are() {
    let mut lab = lab(FLOW);
    assert_eq!(lab.call("good", json!(null)).unwrap(), json!({"n": 1, "more": true}));
    let error = lab.call("bad", json!(null)).unwrap_err();
    assert_eq!(error.code.as_deref(), Some(rival_script_host::code::INVALID_RESULT));
    assert_eq!(
        error.message,
        "step `bad` returned an object with n that its schema refuses: n: Invalid input: expected number, received string"
    );
    assert_eq!(error.details.unwrap()["issues"][0]["path"], json!(["n"]));
}

#[test]
fn a_mapped_input_is_what_the_nested_schema_makes_of_it() {
    let mut lab = lab("
        import { z } from 'zod'
        import { createWorkflow } from 'rival'
        const inner = createWorkflow('inner').input(z.object({ n: z.number(), m: z.number().default(5) })).step(function a() {})
        export const flow = createWorkflow('flow')
            .workflow(inner, { name: 'good', input: () => ({ n: 1 }) })
            .workflow(inner, { name: 'bad', input: async () => ({ n: 'x' }) })");
    assert_eq!(lab.call("good#input", json!(null)).unwrap(), json!({"n": 1, "m": 5}));
    let error = lab.call("bad#input", json!(null)).unwrap_err();
    assert_eq!(error.code.as_deref(), Some("invalid_input"));
    assert!(error.message.starts_with("workflow `inner` was given"), "{}", error.message);
}
