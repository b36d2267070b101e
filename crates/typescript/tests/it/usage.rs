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

/// The steps that a function cannot do without, each with the text that begins where it names it.
fn wanted(source: &str) -> Vec<String> {
    let wanted = usage(source).wanted;
    wanted.iter().map(|it| source[it.at as usize..].chars().take(it.name.len()).collect()).collect()
}

#[test]
fn steps_are_wanted_whose_parts_are_read() {
    let functions = [
        "function f({ steps }) { return steps.find.result + steps['chop'].result }",
        "({ steps: { find, chop: { result } } }) => find.result",
        "({ steps: { find: { result }, ...rest } }) => result",
        "({ steps }) => { const { find } = steps; return () => find.state.x }",
        "(c) => { const s = c.steps; const entry = s.find; return entry.result }",
        "(c) => c?.steps?.find.result",
        "async find({ steps }) { return steps.a.result }",
        "({ workflowState }) => workflowState.steps.charge.result",
        "({ steps }) => steps.find[key]",
        "({ steps }) => [`${steps.find.result}`, f(steps.find.result.x)]",
    ];
    let found: Vec<String> = functions.iter().map(|source| wanted(source).join(" ")).collect();
    let expected = ["find 'cho", "find chop", "", "find", "find", "find", "a", "charge", "", "find"];
    assert_eq!(found, expected);
}

#[test]
fn steps_that_may_be_absent_are_not_wanted() {
    for source in [
        "({ steps }) => steps.find?.result",
        "({ steps }) => steps?.['find']?.result",
        "({ steps }) => steps.find ? steps.find.result : 0",
        "({ steps }) => steps.find && steps.find.result",
        "({ steps }) => { if (!steps.find) return; return steps.find.result }",
        "({ steps: { find } }) => find === undefined ? 0 : find.result",
        "({ steps: { find = { result: 1 } } }) => find.result",
        "({ steps: { find: { result } = {} } }) => result",
        "({ steps: { find } }) => find?.result",
        "({ steps }) => { try { return steps.find.result } catch { return 0 } }",
        "({ steps }) => { let found = steps.find; found ??= other; return found.result }",
        "({ steps }) => { let found; found = steps.find; return found.result }",
        "({ steps }) => show(steps.find)",
        "({ steps }) => ({ ...steps.find })",
        "({ steps }) => steps.find",
        "({ steps }) => { steps.find }",
        // What is read cannot be told.
        "({ steps }) => 'find' in steps ? steps.find.result : 0",
        "({ steps }) => [helper(steps), steps.find.result]",
        "({ steps }) => Object.keys(steps).length && steps.find.result",
        "({ steps }) => steps[name].result + steps.find.result",
        "({ steps: { [name]: x, find: { result } } }) => result",
        "(context) => [helper(context), context.steps.find.result]",
        "function f({ steps }) { return arguments[0] && steps.find.result }",
        "({ input }) => input.steps.find.result",
        "const broken =",
    ] {
        assert_eq!(wanted(source), Vec::<String>::new(), "{source}");
    }
}
