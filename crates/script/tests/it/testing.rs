//! Tests written in TypeScript.

use expect_test::{Expect, expect};
use rival_script::testing::{self, TestNews};

use crate::support::{settings, write};

const FLOW: &str = "import { sleep } from 'rival'
function charge({ input }) { return { paid: input.amount } }
function ship() { throw new Error('no road') }
export const steps = [charge, sleep('3 days'), { fn: ship, maxAttempts: 2, backoff: 'exponential' }]
";

async fn check(test: &str, told: Expect) {
    let dir = tempfile::tempdir().expect("a folder");
    write(dir.path(), &[("flow.ts", FLOW), ("flow.test.ts", test)]);
    let files = testing::find(&[dir.path().to_owned()]).expect("the folder is read");
    let folder = format!("{}/", dir.path().canonicalize().expect("it is there").display());
    let mut lines = Vec::new();
    testing::run(settings(), &files, "", |news| match news {
        TestNews::Tested(test) => {
            let mark = if test.failure.is_none() { "ok" } else { "FAILED" };
            lines.push(format!("{mark} {}", test.name));
            lines.extend(test.lines.iter().map(|line| format!("  > {line}")));
            if let Some(failure) = test.failure {
                lines.push(format!("  {}", failure.message));
                lines.extend(failure.stack.lines().map(|line| format!("  {}", line.trim())));
            }
        }
        TestNews::Problem(problem) => lines.push(problem.to_string()),
    })
    .await
    .expect("the tests run");
    let text = lines.join("\n").replace(&folder, "").replace(folder.trim_start_matches('/'), "");
    told.assert_eq(&text);
}

#[tokio::test]
async fn workflows_run_with_mocks_and_in_no_time() {
    let test = "import { expect, runWorkflow, test } from 'rival/test'
test('it is paid and shipped', async () => {
    const run = await runWorkflow('./flow.ts', {
        input: { amount: 7 },
        mocks: { ship: ({ steps, run }) => { if (run.attempt === 1) throw new Error('not yet'); return steps.charge.result.paid } },
    })
    expect(run.status).toBe('completed')
    expect(run.output).toBe(7)
    console.log('all is well')
})
test('without a mock it fails', async () => {
    const run = await runWorkflow('./flow.ts', { input: { amount: 7 } })
    expect(run.failedStep.stepName).toBe('ship')
    expect(run.error.message).toBe('no road')
})
test('values do as well', async () => {
    const run = await runWorkflow('./flow.ts', { input: {}, mocks: { charge: { paid: 1 }, ship: 'gone' } })
    expect(run.output).toEqual('gone')
})
";
    check(
        test,
        expect![[r#"
            ok it is paid and shipped
              > all is well
            ok without a mock it fails
            ok values do as well"#]],
    )
    .await;
}

#[tokio::test]
async fn failures_say_what_and_where() {
    let test = "import { expect, runWorkflow, test } from 'rival/test'
type Sum = { total: number }
test('a wrong expectation', () => {
    const sum: Sum = { total: 3 }
    expect(sum).toEqual({ total: 4 })
})
test('a mock of nothing', async () => {
    await runWorkflow('./flow.ts', { mocks: { shp: 1 } })
})
test('a file that is not there', async () => {
    await runWorkflow('./flaw.ts')
})
";
    check(
        test,
        expect![[r#"
        FAILED a wrong expectation
          expect(..).toEqual(..) failed
          expected: { total: 4 }
          received: { total: 3 }
          they differ at total
          at <anonymous> (flow.test.ts:5:17)
        FAILED a mock of nothing
          no step is called `shp`; there are: charge, ship
        FAILED a file that is not there
          flaw.ts cannot be read: No such file or directory (os error 2)"#]],
    )
    .await;
}

#[tokio::test]
async fn a_test_file_that_does_not_load_is_a_problem() {
    check(
        "import { test } from 'rival/test'\ntest('a', () => {",
        expect![[r#"
        flow.test.ts:2:18: Expected `}` but found `EOF`
            The line is: test('a', () => {"#]],
    )
    .await;
}

#[tokio::test]
async fn a_test_file_without_tests_is_one_too() {
    check(
        "export const nothing = 1",
        expect![[r#"
        flow.test.ts:1:1: the file has no tests
            write some: test('what must hold', async () => { … }), from 'rival/test'"#]],
    )
    .await;
}
