use expect_test::expect;
use rival_typescript::{StepsUse, usage};

/// Everything that a function uses, in words.
fn words(source: &str) -> String {
    let usage = usage(source);
    let steps = match usage.steps {
        StepsUse::None => String::new(),
        StepsUse::Named(names) => format!("steps({}) ", names.join(",")),
        StepsUse::Any => "steps(*) ".to_owned(),
    };
    let flags = [
        (usage.last_step, "lastStep"),
        (usage.iteration, "loop"),
        (usage.items, "items"),
        (usage.durable, "durable"),
        (usage.abort, "abort"),
    ];
    let flags: Vec<&str> = flags.iter().filter(|(used, _)| *used).map(|(_, word)| *word).collect();
    format!("{source}\n    {steps}{}", flags.join(" ")).trim_end().to_owned() + "\n"
}

#[test]
fn what_is_used_is_read_from_the_text() {
    let functions = [
        "function f() { return 1 }",
        "({ input, state, log }) => input.x",
        "function f({ steps }) { return steps.find.result + steps['chop'].result }",
        "async ({ steps: { find, chop: { result } }, lastStep }) => find",
        "async function f({ steps }) { const { find, chop: c = 1 } = steps; return find }",
        "(context) => context.steps.find.result",
        "c => { const { steps, ...rest } = c; return steps.find ?? rest.lastStep }",
        "(c) => { const s = c.steps; return () => s.find?.result }",
        "(c) => c?.steps?.find",
        "({ input, ...rest }) => rest.steps.find",
        "({ loop }) => loop.item + loop.index",
        "({ loop: { items, index } }) => items[index]",
        "({ loop }) => loop.items.length",
        "({ loop }) => show(loop)",
        "({ run }) => fetch('/', { signal: run.abortSignal })",
        "({ run }) => run.runId",
        "({ run }) => show(run)",
        "({ durable }) => durable.sleep('1h')",
        "async find({ steps }) { return steps.a }",
        "*find({ steps }) { yield steps.a }",
        "['find me'](c) { return c.steps.a }",
        "({ error, workflowState }) => workflowState.steps.charge.result",
        "({ steps }, steps2) => { const other = (steps) => steps.inner; return steps.a }",
        "({ steps = {} } = {}) => steps.a",
    ];
    expect![[r#"
        function f() { return 1 }
        ({ input, state, log }) => input.x
        function f({ steps }) { return steps.find.result + steps['chop'].result }
            steps(chop,find)
        async ({ steps: { find, chop: { result } }, lastStep }) => find
            steps(chop,find) lastStep
        async function f({ steps }) { const { find, chop: c = 1 } = steps; return find }
            steps(chop,find)
        (context) => context.steps.find.result
            steps(find)
        c => { const { steps, ...rest } = c; return steps.find ?? rest.lastStep }
            steps(find) lastStep
        (c) => { const s = c.steps; return () => s.find?.result }
            steps(find)
        (c) => c?.steps?.find
            steps(find)
        ({ input, ...rest }) => rest.steps.find
            steps(find)
        ({ loop }) => loop.item + loop.index
            loop
        ({ loop: { items, index } }) => items[index]
            loop items
        ({ loop }) => loop.items.length
            loop items
        ({ loop }) => show(loop)
            loop items
        ({ run }) => fetch('/', { signal: run.abortSignal })
            abort
        ({ run }) => run.runId
        ({ run }) => show(run)
            abort
        ({ durable }) => durable.sleep('1h')
            durable
        async find({ steps }) { return steps.a }
            steps(a)
        *find({ steps }) { yield steps.a }
            steps(a)
        ['find me'](c) { return c.steps.a }
            steps(a)
        ({ error, workflowState }) => workflowState.steps.charge.result
            steps(charge)
        ({ steps }, steps2) => { const other = (steps) => steps.inner; return steps.a }
            steps(a)
        ({ steps = {} } = {}) => steps.a
            steps(a)
    "#]]
    .assert_eq(&functions.map(words).concat());
}

#[test]
fn what_cannot_be_followed_counts_as_used() {
    let functions = [
        "({ steps }) => Object.keys(steps)",
        "({ steps, input }) => steps[input.name]",
        "({ steps: { a, ...rest } }) => a",
        "({ steps }) => 'a' in steps",
        "({ steps }) => { steps = other; return steps.a }",
        "(c) => helper(c)",
        "(c) => ({ ...c })",
        "(c) => c[name]",
        "(...all) => all[0].input",
        "([a]) => a",
        "({ [name]: x }) => x",
        "function f() { return arguments[0].steps.a }",
        "({ steps }) => eval('steps')",
        "(c) => { let d; d = c; return d.steps.a }",
        "function f() { [native code] }",
        "class A { run({ steps }) { return steps.a } }",
        "not a function (",
    ];
    expect![[r#"
        ({ steps }) => Object.keys(steps)
            steps(*)
        ({ steps, input }) => steps[input.name]
            steps(*)
        ({ steps: { a, ...rest } }) => a
            steps(*)
        ({ steps }) => 'a' in steps
            steps(*)
        ({ steps }) => { steps = other; return steps.a }
            steps(*)
        (c) => helper(c)
            steps(*) lastStep loop items durable abort
        (c) => ({ ...c })
            steps(*) lastStep loop items durable abort
        (c) => c[name]
            steps(*) lastStep loop items durable abort
        (...all) => all[0].input
            steps(*) lastStep loop items durable abort
        ([a]) => a
            steps(*) lastStep loop items durable abort
        ({ [name]: x }) => x
            steps(*) lastStep loop items durable abort
        function f() { return arguments[0].steps.a }
            steps(*) lastStep loop items durable abort
        ({ steps }) => eval('steps')
            steps(*) lastStep loop items durable abort
        (c) => { let d; d = c; return d.steps.a }
            steps(*) lastStep loop items durable abort
        function f() { [native code] }
            steps(*) lastStep loop items durable abort
        class A { run({ steps }) { return steps.a } }
            steps(*) lastStep loop items durable abort
        not a function (
            steps(*) lastStep loop items durable abort
    "#]]
    .assert_eq(&functions.map(words).concat());
}
