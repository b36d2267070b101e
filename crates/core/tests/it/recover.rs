//! What a crash left behind: `machine/recover.rs`.

use expect_test::expect;
use rival_core::event::{BlockedReason, LostReason};
use rival_core::failure::StepError;
use rival_core::machine::{CallOutcome, OpRequest};
use rival_core::plan::SleepLength;
use rival_core::{NodeStatus, Plan, RunStatus};
use serde_json::json as j;

use crate::support::{
    Case, branch, for_each, nested_with, parallel, plan, sleep, step, step_with, tried, undoable, until,
};

#[test]
fn a_step_that_a_crash_cut_short_is_called_again_uncharged() {
    Case::of(vec![step("a"), step("b")]).start().crash().ok("a", 1).ok("a", 2).ok("b", 1).then(expect![[
        r#"
        > start, at 0
           1 request   run started
           2 <1        a#1 called: step attempt 1
        > activate, at 0
           3 recovery  a#1 lost: crash
           4 <3        a#2 called: step attempt 1
        > a#1 returns "a!", at 0
        > a#2 returns "a!", at 0
           5 <4        a#2 succeeded: "a!"
           6 <5        b#1 called: step attempt 1
        > b#1 returns "b!", at 0
           7 <6        b#1 succeeded: "b!"
           8 <7        run completed, output in 7
    "#
    ]]);
}

#[test]
fn attempts_survive_a_crash() {
    Case::of(vec![tried("a", 2)])
        .start()
        .fails("a", 1, StepError::new("no"))
        .crash()
        .tick_after(1_000)
        .crash()
        .fails("a", 3, StepError::new("no"))
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > a#1 fails (Plain), at 0
               3 <2        a#1 failed: error `no`, retry at 1000
            > activate, at 0
            > tick, at 1000
               4 clock     a#2 called: step attempt 2
            > activate, at 1000
               5 recovery  a#2 lost: crash
               6 <5        a#3 called: step attempt 2
            > a#3 fails (Plain), at 1000
               7 <6        a#3 failed: error `no`, fail
               8 <7        run failed in a: error `no`
        "#]]);
}

#[test]
fn a_handler_of_a_step_that_a_crash_cut_short_is_called_again() {
    let a = step_with("a", |step| step.on_error = Some("h".into()));
    Case::of(vec![a])
        .start()
        .fails("a", 1, StepError::new("no"))
        .crash()
        .node("a", NodeStatus::Failed)
        .ok("a", 3)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > a#1 fails (Plain), at 0
               3 <2        a#1 failed: error `no`, fail
               4 <3        a#2 called: onError attempt 1, until 300000
            > activate, at 0
               5 recovery  a#2 lost: crash
               6 <5        a#3 called: onError attempt 1, until 300000
            > a#3 returns "a!", at 0
               7 <6        a#3 succeeded: "a!"
               8 <7        run failed in a: error `no`
        "#]]);
}

#[test]
fn a_mapper_and_a_computed_wait_that_a_crash_cut_short_are_called_again() {
    let n = nested_with("n", vec![step("a")], |nested| nested.input = Some("m".into()));
    Case::of(vec![sleep("z", SleepLength::Computed("f".into())), n])
        .start()
        .crash()
        .gives("z", 2, j!({"forMs": 0}))
        .crash()
        .gives("n", 2, j!({}))
        .ok("n/a", 1)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        z#1 called: wait attempt 1
            > activate, at 0
               3 recovery  z#1 lost: crash
               4 <3        z#2 called: wait attempt 1
            > z#2 returns {"forMs":0}, at 0
               5 <4        z#2 succeeded: {"forMs":0}
               6 <5        z sleeps until 0
               7 <6        z slept
               8 <7        n#1 called: input attempt 1
            > activate, at 0
               9 recovery  n#1 lost: crash
              10 <9        n#2 called: input attempt 1
            > n#2 returns {}, at 0
              11 <10       n#2 succeeded: {}
              12 <11       n started
              13 <12       n/a#1 called: step attempt 1
            > n/a#1 returns "n/a!", at 0
              14 <13       n/a#1 succeeded: "n/a!"
              15 <14       n completed, result in 14
              16 <15       run completed, output in 14
        "#]]);
}

#[test]
fn the_handler_of_the_run_that_a_crash_cut_short_is_called_again() {
    Case::with(Plan { on_error: Some("h".into()), ..plan(vec![step("a")]) }, |_| {})
        .start()
        .fails("a", 1, StepError::new("no"))
        .crash()
        .ok("", 2)
        .status(RunStatus::Failed)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > a#1 fails (Plain), at 0
               3 <2        a#1 failed: error `no`, fail
               4 <3        run failing in a: error `no`, forced at 30000
               5 <4        (run)#1 called: onError attempt 1, until 300000
            > activate, at 0
               6 recovery  (run)#1 lost: crash
               7 <6        (run)#2 called: onError attempt 1, until 300000
            > (run)#2 returns "!", at 0
               8 <7        (run)#2 succeeded: "!"
               9 <8        run failed in a: error `no`
        "#]]);
}

#[test]
fn a_call_of_a_cancelled_run_that_a_crash_cut_short_is_cancelled() {
    Case::of(vec![step("a")]).start().cancel().crash().status(RunStatus::Cancelled).then(expect![[r#"
        > start, at 0
           1 request   run started
           2 <1        a#1 called: step attempt 1
        > cancel, at 0
           3 request   cancel requested: enough, forced at 30000
            stop a#1: ending
        > activate, at 0
           4 recovery  a#1 cancelled
           5 <4        run cancelled: enough
    "#]]);
}

#[test]
fn a_run_that_was_interrupted_is_not_retried_by_itself() {
    let a = step_with("a", |step| step.at_most_once = true);
    let case = Case::with(crate::support::plan(vec![a]), |plan| plan.max_retries = 2);
    case.start().crash().status(RunStatus::Failed).then(expect![[r#"
        > start, at 0
           1 request   run started, 2 retries left
           2 <1        a#1 called: step attempt 1
        > activate, at 0
           3 recovery  a#1 failed: interrupted ``a` was interrupted and must not be called again; it may have acted`, fail
           4 <3        run failed in a: interrupted ``a` was interrupted and must not be called again; it may have acted`
    "#]]);
}

#[test]
fn a_step_that_is_at_most_once_fails_when_a_crash_cuts_it_short() {
    let a = step_with("a", |step| {
        step.at_most_once = true;
        step.retry = crate::support::attempts(5);
        step.on_error = Some("h".into());
    });
    Case::of(vec![a]).start().crash().crash().ok("a", 3).status(RunStatus::Failed).then(expect![[r#"
        > start, at 0
           1 request   run started
           2 <1        a#1 called: step attempt 1
        > activate, at 0
           3 recovery  a#1 failed: interrupted ``a` was interrupted and must not be called again; it may have acted`, fail
           4 <3        a#2 called: onError attempt 1, until 300000
        > activate, at 0
           5 recovery  a#2 lost: crash
           6 <5        a#3 called: onError attempt 1, until 300000
        > a#3 returns "a!", at 0
           7 <6        a#3 succeeded: "a!"
           8 <7        run failed in a: interrupted ``a` was interrupted and must not be called again; it may have acted`
    "#]]);
}

#[test]
fn a_soft_step_that_is_at_most_once_goes_on_after_a_crash() {
    let a = step_with("a", |step| {
        step.at_most_once = true;
        step.continue_on_error = true;
    });
    Case::of(vec![a, step("b")]).start().crash().ok("b", 1).then(expect![[r#"
        > start, at 0
           1 request   run started
           2 <1        a#1 called: step attempt 1
        > activate, at 0
           3 recovery  a#1 failed: interrupted ``a` was interrupted and must not be called again; it may have acted`, continue
           4 <3        b#1 called: step attempt 1
        > b#1 returns "b!", at 0
           5 <4        b#1 succeeded: "b!"
           6 <5        run completed, output in 5
    "#]]);
}

#[test]
fn a_step_that_is_at_most_once_may_still_be_retried_after_an_error() {
    let a = step_with("a", |step| {
        step.at_most_once = true;
        step.retry = crate::support::attempts(2);
    });
    Case::of(vec![a]).start().fails("a", 1, StepError::new("no")).tick_after(1_000).ok("a", 2).then(expect![
        [r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > a#1 fails (Plain), at 0
               3 <2        a#1 failed: error `no`, retry at 1000
            > tick, at 1000
               4 clock     a#2 called: step attempt 2
            > a#2 returns "a!", at 1000
               5 <4        a#2 succeeded: "a!"
               6 <5        run completed, output in 5
        "#]
    ]);
}

#[test]
fn a_step_is_quarantined_after_five_interruptions_and_goes_on_at_resume() {
    Case::of(vec![step("a")])
        .start()
        .crashes(4)
        .status(RunStatus::Running)
        .quietly()
        .crash()
        .status(RunStatus::Blocked)
        .node("a", NodeStatus::Blocked)
        .crash()
        .tick_after(1_000)
        .resume()
        .node("a", NodeStatus::Running)
        .crash()
        .ok("a", 7)
        .status(RunStatus::Completed)
        .then(expect![[r#"
            > activate, at 0
              11 recovery  a#5 lost: crash
              12 <11       a blocked: quarantined after 5
            > activate, at 0
            > tick, at 1000
            > resume, at 1000
              13 request   run resumed
              14 <13       a unblocked
              15 <14       a#6 called: step attempt 1
            > activate, at 1000
              16 recovery  a#6 lost: crash
              17 <16       a#7 called: step attempt 1
            > a#7 returns "a!", at 1000
              18 <17       a#7 succeeded: "a!"
              19 <18       run completed, output in 18
        "#]]);
}

#[test]
fn the_handler_of_a_run_is_quarantined_too() {
    Case::with(Plan { on_error: Some("h".into()), ..plan(vec![step("a")]) }, |_| {})
        .start()
        .fails("a", 1, StepError::new("no"))
        .crashes(4)
        .quietly()
        .crash()
        .status(RunStatus::Blocked)
        .next_timer(None)
        .resume()
        .ok("", 6)
        .status(RunStatus::Failed)
        .then(expect![[r#"
            > activate, at 0
              14 recovery  (run)#5 lost: crash
              15 <14       (run) blocked: quarantined after 5
            > resume, at 0
              16 request   run resumed
              17 <16       (run) unblocked
              18 <17       (run)#6 called: onError attempt 1, until 300000
            > (run)#6 returns "!", at 0
              19 <18       (run)#6 succeeded: "!"
              20 <19       run failed in a: error `no`
        "#]]);
}

#[test]
fn a_missing_function_blocks_its_node_and_is_looked_for_again_when_the_run_is_loaded() {
    Case::of(vec![step("a")])
        .start()
        .function_missing("a", 1)
        .status(RunStatus::Blocked)
        .tick_after(1_000)
        .activate()
        .function_missing("a", 2)
        .resume()
        .ok("a", 3)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > a#1 has no function, at 0
               3 <2        a blocked: no `f`
            > tick, at 1000
            > activate, at 1000
               4 <3        a unblocked
               5 <4        a#2 called: step attempt 1
            > a#2 has no function, at 1000
               6 <5        a blocked: no `f`
            > resume, at 1000
               7 request   run resumed
               8 <7        a unblocked
               9 <8        a#3 called: step attempt 1
            > a#3 returns "a!", at 1000
              10 <9        a#3 succeeded: "a!"
              11 <10       run completed, output in 10
        "#]]);
}

#[test]
fn a_value_that_does_not_decode_blocks_its_node_and_is_tried_again_when_the_run_is_loaded() {
    let reason = BlockedReason::Undecodable { message: "not a number".into() };
    Case::of(vec![step("a")])
        .start()
        .finish("a", 1, "cannot decode", CallOutcome::Blocked(reason))
        .status(RunStatus::Blocked)
        .activate()
        .ok("a", 2)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > a#1 cannot decode, at 0
               3 <2        a blocked: not a number
            > activate, at 0
               4 <3        a unblocked
               5 <4        a#2 called: step attempt 1
            > a#2 returns "a!", at 0
               6 <5        a#2 succeeded: "a!"
               7 <6        run completed, output in 6
        "#]]);
}

#[test]
fn a_blocked_node_of_a_paused_run_is_held_when_its_function_is_there_again() {
    Case::of(vec![step("a")])
        .start()
        .pause()
        .function_missing("a", 1)
        .status(RunStatus::Paused)
        .activate()
        .resume()
        .ok("a", 2)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > pause, at 0
               3 request   run paused
            > a#1 has no function, at 0
               4 <2        a blocked: no `f`
            > activate, at 0
               5 <4        a unblocked
               6 <5        a held, due: step attempt 1
            > resume, at 0
               7 request   run resumed
               8 <7        a#2 called: step attempt 1
            > a#2 returns "a!", at 0
               9 <8        a#2 succeeded: "a!"
              10 <9        run completed, output in 9
        "#]]);
}

#[test]
fn a_missing_handler_blocks_a_run_that_is_failing() {
    Case::with(Plan { on_error: Some("h".into()), ..plan(vec![step("a")]) }, |_| {})
        .start()
        .fails("a", 1, StepError::new("no"))
        .function_missing("", 1)
        .status(RunStatus::Blocked)
        .activate()
        .ok("", 2)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > a#1 fails (Plain), at 0
               3 <2        a#1 failed: error `no`, fail
               4 <3        run failing in a: error `no`, forced at 30000
               5 <4        (run)#1 called: onError attempt 1, until 300000
            > (run)#1 has no function, at 0
               6 <5        (run) blocked: no `f`
            > activate, at 0
               7 <6        (run) unblocked
               8 <7        (run)#2 called: onError attempt 1, until 300000
            > (run)#2 returns "!", at 0
               9 <8        (run)#2 succeeded: "!"
              10 <9        run failed in a: error `no`
        "#]]);
}

#[test]
fn a_handler_of_the_run_that_stops_by_itself_was_lost() {
    Case::with(Plan { on_error: Some("h".into()), ..plan(vec![step("a")]) }, |_| {})
        .start()
        .fails("a", 1, StepError::new("no"))
        .stopped("", 1)
        .ok("", 2)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > a#1 fails (Plain), at 0
               3 <2        a#1 failed: error `no`, fail
               4 <3        run failing in a: error `no`, forced at 30000
               5 <4        (run)#1 called: onError attempt 1, until 300000
            > (run)#1 stopped, at 0
               6 <5        (run)#1 lost: crash
               7 <6        (run)#2 called: onError attempt 1, until 300000
            > (run)#2 returns "!", at 0
               8 <7        (run)#2 succeeded: "!"
               9 <8        run failed in a: error `no`
        "#]]);
}

#[test]
fn a_crash_while_paused_holds_the_call_that_was_cut_short() {
    Case::of(vec![step("a")]).start().pause().crash().crash().resume().ok("a", 2).then(expect![[r#"
        > start, at 0
           1 request   run started
           2 <1        a#1 called: step attempt 1
        > pause, at 0
           3 request   run paused
        > activate, at 0
           4 recovery  a#1 lost: crash
           5 <4        a held, due: step attempt 1
        > activate, at 0
        > resume, at 0
           6 request   run resumed
           7 <6        a#2 called: step attempt 1
        > a#2 returns "a!", at 0
           8 <7        a#2 succeeded: "a!"
           9 <8        run completed, output in 8
    "#]]);
}

#[test]
fn a_call_is_not_interrupted_by_crashes_while_it_is_held() {
    let case = Case::of(vec![step("a")]).start().pause().crashes(20);
    assert_eq!(case.state.node(&"a".into()).map(|node| node.interruptions), Some(1));
    case.check();
}

#[test]
fn timers_that_came_due_while_the_process_was_down_act() {
    Case::of(vec![tried("a", 2)]).start().fails("a", 1, StepError::new("no")).after(10_000).crash().then(
        expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > a#1 fails (Plain), at 0
               3 <2        a#1 failed: error `no`, retry at 1000
            > activate, at 10000
               4 clock     a#2 called: step attempt 2
        "#]],
    );
}

#[test]
fn a_deadline_that_passed_while_the_process_was_down_does_not_fail_the_lost_call() {
    let a = step_with("a", |step| step.timeout_ms = Some(100));
    Case::of(vec![a]).start().after(10_000).crash().ok("a", 2).then(expect![[r#"
        > start, at 0
           1 request   run started
           2 <1        a#1 called: step attempt 1, until 100
        > activate, at 10000
           3 recovery  a#1 lost: crash
           4 <3        a#2 called: step attempt 1, until 10100
        > a#2 returns "a!", at 10000
           5 <4        a#2 succeeded: "a!"
           6 <5        run completed, output in 5
    "#]]);
}

#[test]
fn a_call_that_lost_what_ran_it_is_made_again_uncharged() {
    Case::of(vec![tried("a", 2)])
        .start()
        .lost("a", 1, LostReason::Crash)
        .fails("a", 2, StepError::new("no"))
        .lost("a", 1, LostReason::Crash)
        .tick_after(1_000)
        .lost("a", 3, LostReason::Bystander)
        .ok("a", 4)
        .status(RunStatus::Completed)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > a#1 lost, at 0
               3 <2        a#1 lost: crash
               4 <3        a#2 called: step attempt 1
            > a#2 fails (Plain), at 0
               5 <4        a#2 failed: error `no`, retry at 1000
            > a#1 lost, at 0
            > tick, at 1000
               6 clock     a#3 called: step attempt 2
            > a#3 lost, at 1000
               7 <6        a#3 lost: bystander
               8 <7        a#4 called: step attempt 2
            > a#4 returns "a!", at 1000
               9 <8        a#4 succeeded: "a!"
              10 <9        run completed, output in 9
        "#]]);
}

#[test]
fn only_what_may_be_the_fault_of_a_call_counts_towards_its_quarantine() {
    let mut case = Case::of(vec![step("a")]).start();
    for call in 1..=20 {
        case = case.lost("a", call, LostReason::Bystander);
    }
    for call in 21..=24 {
        case = case.lost("a", call, LostReason::Crash);
    }
    case.status(RunStatus::Running).lost("a", 25, LostReason::Crash).node("a", NodeStatus::Blocked).check();
}

#[test]
fn a_step_that_must_not_be_called_again_fails_when_it_lost_what_ran_it() {
    Case::of(vec![step_with("a", |step| step.at_most_once = true)])
        .start()
        .lost("a", 1, LostReason::Bystander)
        .status(RunStatus::Failed)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > a#1 lost, at 0
               3 <2        a#1 failed: interrupted ``a` was interrupted and must not be called again; it may have acted`, fail
               4 <3        run failed in a: interrupted ``a` was interrupted and must not be called again; it may have acted`
        "#]]);
}

#[test]
fn calls_of_every_role_are_made_again() {
    let inner = nested_with("n", vec![undoable("u"), step("b")], |nested| nested.input = Some("m".into()));
    let check = branch("check", vec![("then", vec![inner])], None);
    let each = for_each("all", 1, vec![check]);
    let plan = Plan { on_error: Some("h".into()), ..plan(vec![until("poll", vec![each])]) };
    Case::with(plan, |_| {})
        .start()
        .lost("poll[0]/all", 1, LostReason::Bystander)
        .gives("poll[0]/all", 2, j!([1]))
        .lost("poll[0]/all[0]/check", 1, LostReason::Bystander)
        .gives("poll[0]/all[0]/check", 2, j!(true))
        .lost("poll[0]/all[0]/check/then/n", 1, LostReason::Bystander)
        .ok("poll[0]/all[0]/check/then/n", 2)
        .ok("poll[0]/all[0]/check/then/n/u", 1)
        .ok("poll[0]/all[0]/check/then/n/b", 1)
        .lost("poll", 1, LostReason::Bystander)
        .fails("poll", 2, StepError::new("no"))
        .lost("poll[0]/all[0]/check/then/n/u", 2, LostReason::Bystander)
        .ok("poll[0]/all[0]/check/then/n/u", 3)
        .lost("", 1, LostReason::Bystander)
        .ok("", 2)
        .status(RunStatus::Failed)
        .check();
}

#[test]
fn a_branch_that_lost_its_call_does_not_disturb_the_others() {
    let wide = parallel("p", vec![("x", vec![step("a")]), ("y", vec![step("b")])]);
    Case::of(vec![wide])
        .start()
        .lost("p/x/a", 1, LostReason::Bystander)
        .ok("p/y/b", 1)
        .ok("p/x/a", 2)
        .status(RunStatus::Completed)
        .check();
}

#[test]
fn a_call_that_was_told_to_stop_and_then_lost_is_cancelled() {
    Case::of(vec![step("a")])
        .start()
        .cancel()
        .lost("a", 1, LostReason::Bystander)
        .status(RunStatus::Cancelled)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > cancel, at 0
               3 request   cancel requested: enough, forced at 30000
                stop a#1: ending
            > a#1 lost, at 0
               4 <2        a#1 cancelled
               5 <4        run cancelled: enough
        "#]]);
}

#[test]
fn a_call_that_is_lost_while_the_run_is_paused_is_made_again_at_resume() {
    Case::of(vec![step("a")])
        .start()
        .pause()
        .lost("a", 1, LostReason::Bystander)
        .resume()
        .ok("a", 2)
        .status(RunStatus::Completed)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > pause, at 0
               3 request   run paused
            > a#1 lost, at 0
               4 <2        a#1 lost: bystander
               5 <4        a held, due: step attempt 1
            > resume, at 0
               6 request   run resumed
               7 <6        a#2 called: step attempt 1
            > a#2 returns "a!", at 0
               8 <7        a#2 succeeded: "a!"
               9 <8        run completed, output in 8
        "#]]);
}

#[test]
fn a_bystander_that_waits_inside_goes_on_waiting() {
    Case::of(vec![step_with("a", |step| step.at_most_once = true)])
        .start()
        .asks("a", 1, "", OpRequest::Sleep(1_000))
        .lost("a", 1, LostReason::Bystander)
        .tick_after(1_000)
        .ok("a", 2)
        .status(RunStatus::Completed)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > a#1 asks, at 0
               3 <2        a#1.1 sleep until 1000
            > a#1 lost, at 0
               4 <2        a#1 let go
               5 <4        a#2 called: step attempt 1
            > tick, at 1000
               6 clock     a.1 ended: done
                answer a#2: operation 1
            > a#2 returns "a!", at 1000
               7 <5        a#2 succeeded: "a!"
               8 <7        run completed, output in 7
        "#]]);
}

#[test]
fn a_call_that_does_something_while_it_waits_inside_does_not_go_round_for_ever() {
    let mut case = Case::of(vec![step("a")]).start();
    for call in 1..=5 {
        case = case.asks("a", call, "", OpRequest::Sleep(1_000)).lost("a", call, LostReason::Crash);
    }
    case.node("a", NodeStatus::Blocked).check();
}
