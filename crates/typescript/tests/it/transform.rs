use expect_test::expect;
use rival_typescript::transform;
use serde_json::json;

const ACTIVE: &str = "interface Input {
  users: Array<{ id: string; email: string; active: boolean }>;
}

interface Output {
  emails: string[];
  count: number;
}

export default (input: Input): Output => {
  const activeUsers = input.users.filter(u => u.active);
  return {
    emails: activeUsers.map(u => u.email),
    count: activeUsers.length
  };
};
";

#[test]
fn a_transform_has_code_and_two_schemas() {
    let transform = transform(ACTIVE).unwrap();
    expect![[r#"
        export default (input) => {
        	const activeUsers = input.users.filter((u) => u.active);
        	return {
        		emails: activeUsers.map((u) => u.email),
        		count: activeUsers.length
        	};
        };
    "#]]
    .assert_eq(&transform.code);
    assert_eq!(
        transform.output_schema,
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": { "emails": { "type": "array", "items": { "type": "string" } }, "count": { "type": "number" } },
            "required": ["emails", "count"],
        })
    );
    assert_eq!(transform.input_schema["required"], json!(["users"]));
    assert_eq!(transform.origin(4, 3), Some((13, 5)), "{}", transform.code);
}

fn shown(source: &str) -> String {
    match transform(source) {
        Ok(transform) => transform.code,
        Err(problems) => problems.iter().map(|problem| format!("{problem}\n")).collect(),
    }
}

#[test]
fn functions_of_every_plain_kind_will_do() {
    let types = "interface Input { a: number }\nexport type Output = number\n";
    let functions = [
        "export default function (input: Input) { return input.a }",
        "export default function double(input: Input): Output { return input.a * 2 }",
        "function double(input: Input): Output { return input.a * 2 }\nexport default double",
        "const double = (input: Input): Output => input.a * 2\nexport default double",
        "export default ((input) => input.a) satisfies (input: Input) => Output",
        "function* upTo(n: number) { yield n }\nexport default (input: Input) => [...upTo(input.a)].length",
        "class Date { now() { return 1 } }\nexport default (input: Input) => new Date().now()",
        "interface Clock { at: Date }\ninterface Date { x: 1 }\nexport default (input: Input) => (input as unknown as Clock) ? 1 : 2",
    ];
    for function in functions {
        assert!(
            transform(&format!("{types}{function}")).is_ok(),
            "{function}\n{}",
            shown(&format!("{types}{function}"))
        );
    }
}

#[test]
fn what_is_not_pure_is_refused_with_its_place() {
    let types = "interface Input { a: number }; interface Output { b: number }\n";
    let functions = [
        "import { z } from 'zod'\nexport default () => z",
        "export const helper = 1\nexport default () => 1",
        "export * from './x'\nexport default () => 1",
        "export default async () => 1",
        "export default () => { const f = async function () { await 1 }; return 1 }",
        "await 1\nexport default () => 1",
        "export default () => import('./x')",
        "export default () => eval('1') + new Function('return 1')()",
        "export default () => Date.now() + Math.random() + performance.now()",
        "export default () => { setTimeout(() => {}, 1); console.log(1); return fetch('/') }",
        "export default () => import.meta.url",
        "export default function* () { yield 1 }",
        "export default 42",
        "const x = 1\nexport default x",
        "export default class {}",
        "const f = () => 1",
        "export default () => ",
        "export default () => { for await (const x of []) {} }",
    ];
    let shown = functions.map(|function| format!("{function}\n=> {}", shown(&format!("{types}{function}"))));
    expect![[r#"
        import { z } from 'zod'
        export default () => z
        => transform.ts:2:1: a transform cannot import anything
            Put the code that it needs into it.
        export const helper = 1
        export default () => 1
        => transform.ts:2:1: a transform exports its function only
            Leave `export` out; others cannot see it.
        export * from './x'
        export default () => 1
        => transform.ts:2:1: a transform exports its function only
            Leave `export` out; others cannot see it.
        export default async () => 1
        => transform.ts:2:16: a transform is synchronous
            Leave `async` and `await` out; do I/O in a step.
        export default () => { const f = async function () { await 1 }; return 1 }
        => transform.ts:2:34: a transform is synchronous
            Leave `async` and `await` out; do I/O in a step.
        transform.ts:2:54: a transform is synchronous
            Leave `async` and `await` out; do I/O in a step.
        await 1
        export default () => 1
        => transform.ts:2:1: a transform is synchronous
            Leave `async` and `await` out; do I/O in a step.
        export default () => import('./x')
        => transform.ts:2:22: a transform cannot import anything
            Put the code that it needs into it.
        export default () => eval('1') + new Function('return 1')()
        => transform.ts:2:22: a transform cannot make code from text: there is no `eval`
            Write the code out.
        transform.ts:2:38: a transform cannot make code from text: there is no `Function`
            Write the code out.
        export default () => Date.now() + Math.random() + performance.now()
        => transform.ts:2:22: a transform has no clock: there is no `Date`
            Take the time as input.
        transform.ts:2:35: a transform has no randomness
            Take the value as input.
        transform.ts:2:51: a transform has no clock: there is no `performance`
            Take the time as input.
        export default () => { setTimeout(() => {}, 1); console.log(1); return fetch('/') }
        => transform.ts:2:24: a transform is synchronous: there is no `setTimeout`
            Do it at once, or wait in a step.
        transform.ts:2:49: a transform does no I/O: there is no `console`
            Do it in a step, and take what comes of it as input.
        transform.ts:2:72: a transform does no I/O: there is no `fetch`
            Do it in a step, and take what comes of it as input.
        export default () => import.meta.url
        => transform.ts:2:22: a transform has no `import.meta`
            It is not a file.
        export default function* () { yield 1 }
        => transform.ts:2:16: the default export is not a plain function
            Write `export default (input: Input): Output => …`.
        export default 42
        => transform.ts:2:16: the default export is not a plain function
            Write `export default (input: Input): Output => …`.
        const x = 1
        export default x
        => transform.ts:3:16: the default export is not a plain function
            Write `export default (input: Input): Output => …`.
        export default class {}
        => transform.ts:2:16: the default export is not a plain function
            Write `export default (input: Input): Output => …`.
        const f = () => 1
        => transform.ts:1:1: a transform exports one function as its default
            Write `export default (input: Input): Output => …`.
        export default () => 
        => transform.ts:2:22: Unexpected token
            The line is: export default () =>
        export default () => { for await (const x of []) {} }
        => transform.ts:2:28: `for await` loops are only allowed within async functions and at the top levels of modules
            Either remove this `await` or add the `async` keyword to the enclosing function
    "#]].assert_eq(&shown.concat());
}

#[test]
fn both_types_must_be_there_and_be_json() {
    let sources = [
        "export default (input) => input.items.map(x => ({ id: x.id, data: x }))",
        "interface Input { a: 1 }\ninterface Outputs { b: 1 }\nexport default (input: Input) => 1",
        "interface Input { a: Date }\ninterface Output { f(): void }\nexport default (input: Input) => 1",
        "interface Input { a: User }\ntype Output = User\nimport type { User } from './user'\nexport default (input: Input) => 1",
    ];
    expect![[r#"
        export default (input) => input.items.map(x => ({ id: x.id, data: x }))
        => transform.ts:1:1: there is no interface or type `Input`
            Write `interface Input { … }`.
        transform.ts:1:1: there is no interface or type `Output`
            Write `interface Output { … }`.
        interface Input { a: 1 }
        interface Outputs { b: 1 }
        export default (input: Input) => 1
        => transform.ts:1:1: there is no interface or type `Output`
            Is it `Outputs`?
        interface Input { a: Date }
        interface Output { f(): void }
        export default (input: Input) => 1
        => transform.ts:1:22: the type `Date` is not known here
            JSON has no dates: write `string`.
        transform.ts:2:20: a function is not JSON
            Leave it out.
        interface Input { a: User }
        type Output = User
        import type { User } from './user'
        export default (input: Input) => 1
        => transform.ts:1:22: `User` is declared in another file
            Declare it here.
        transform.ts:2:15: `User` is declared in another file
            Declare it here.
        transform.ts:3:1: a transform cannot import anything
            Put the code that it needs into it.
    "#]]
    .assert_eq(&sources.map(|source| format!("{source}\n=> {}", shown(source))).concat());
}
