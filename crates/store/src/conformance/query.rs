//! Rows, lists and plans.

use rival_core::{PlanHash, RunStatus};

use super::StoreHarness;
use super::fixture::*;
use crate::{NewRun, Page, RunFilter, Store};

async fn list(store: &impl Store, filter: RunFilter) -> Vec<String> {
    let rows = store.runs(&filter, &Page { before: None, limit: MANY }).await.unwrap();
    ids(&rows).into_iter().map(str::to_owned).collect()
}

pub async fn an_unknown_run_has_no_row_and_no_snapshot(h: &impl StoreHarness) {
    let store = h.open().await;
    assert!(store.run(&id("nobody")).await.unwrap().is_none());
    assert!(store.snapshot(&id("nobody")).await.unwrap().is_none());
    assert!(store.messages(&id("nobody")).await.unwrap().is_empty());
    assert!(all(&store).await.is_empty());
    assert_eq!(store.next_wake().await.unwrap(), None);
}

/// Newest by creation in this store, not by the clock that a caller gave.
pub async fn runs_come_newest_first(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    for (run, created) in [("b", 5), ("c", 1), ("a", 3)] {
        create(&store, NewRun { created_at: at(created), ..new_run(run, engine) }).await;
    }
    let rows = all(&store).await;
    assert_eq!(ids(&rows), ["a", "c", "b", "r"]);
    assert!(rows.is_sorted_by(|newer, older| newer.no > older.no));
}

pub async fn runs_are_filtered_by_workflow(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    create(&store, NewRun { workflow: "Orders".to_owned(), ..new_run("other", engine) }).await;
    let of = |workflow: &str| RunFilter { workflow: Some(workflow.to_owned()), ..Default::default() };
    assert_eq!(list(&store, of("orders")).await, ["r"]);
    assert_eq!(list(&store, of("Orders")).await, ["other"]);
    assert!(list(&store, of("order")).await.is_empty());
}

pub async fn runs_are_filtered_by_status(h: &impl StoreHarness) {
    let store = h.open().await;
    let engine = store.join().await.unwrap();
    for status in RunStatus::ALL {
        create_with_row(&store, status.word(), engine, row_update(status)).await;
    }
    for status in RunStatus::ALL {
        let rows = list(&store, RunFilter { statuses: vec![status], ..Default::default() }).await;
        assert_eq!(rows, [status.word()]);
    }
    let statuses = vec![RunStatus::Queued, RunStatus::Failed];
    assert_eq!(list(&store, RunFilter { statuses, ..Default::default() }).await, ["failed", "queued"]);
}

/// From is part of the span, to is not: spans that touch share no run.
pub async fn runs_are_filtered_by_time(h: &impl StoreHarness) {
    let store = h.open().await;
    let engine = store.join().await.unwrap();
    for created in [1, 2, 3, 4] {
        create(&store, NewRun { created_at: at(created), ..new_run(&created.to_string(), engine) }).await;
    }
    let span = |from: Option<i64>, to: Option<i64>| RunFilter {
        created_from: from.map(at),
        created_to: to.map(at),
        ..Default::default()
    };
    assert_eq!(list(&store, span(Some(2), Some(4))).await, ["3", "2"]);
    assert_eq!(list(&store, span(Some(3), None)).await, ["4", "3"]);
    assert_eq!(list(&store, span(None, Some(2))).await, ["1"]);
    assert!(list(&store, span(Some(2), Some(2))).await.is_empty());
}

pub async fn runs_are_filtered_by_parent(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    for (run, parent) in [("a", "r"), ("b", "a"), ("c", "r")] {
        create(&store, NewRun { parent: Some(id(parent)), ..new_run(run, engine) }).await;
    }
    let of = |parent: &str| RunFilter { parent: Some(id(parent)), ..Default::default() };
    assert_eq!(list(&store, of("r")).await, ["c", "a"]);
    assert_eq!(list(&store, of("a")).await, ["b"]);
    assert!(list(&store, of("b")).await.is_empty());
}

/// Where a clock was set back, the times say another order than the creation here.
pub async fn pages_of_a_span_have_no_gap_and_no_repeat(h: &impl StoreHarness) {
    let store = h.open().await;
    let engine = store.join().await.unwrap();
    for (run, created) in [("a", 5), ("b", 1), ("c", 3), ("d", 3), ("e", 9), ("f", 2)] {
        create(&store, NewRun { created_at: at(created), ..new_run(run, engine) }).await;
    }
    let span = RunFilter { created_from: Some(at(2)), created_to: Some(at(9)), ..Default::default() };
    let of_workflow = RunFilter { workflow: Some("orders".to_owned()), ..span.clone() };
    let with_status = RunFilter { statuses: vec![RunStatus::Running, RunStatus::Failed], ..span.clone() };
    for filter in [span, of_workflow, with_status] {
        let mut seen = Vec::new();
        let mut page = Page { before: None, limit: 1 };
        while let Some(row) = store.runs(&filter, &page).await.unwrap().pop() {
            page.before = Some(row.no);
            seen.push(row.id.to_string());
        }
        seen.sort();
        assert_eq!(seen, ["a", "c", "d", "f"], "{filter:?}");
    }
}

pub async fn runs_are_listed_by_the_beginning_of_their_ids(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    // The last of all characters has none after it, and the first of a range may be an id itself.
    let ids = ["ab", "abc-1", "abc-2", "abd", "abc\u{10FFFF}", "ABC-1", "a%c", "b"];
    for run in ids {
        create(&store, new_run(run, engine)).await;
    }
    let by = |prefix: &str| RunFilter { id_prefix: Some(prefix.to_owned()), ..Default::default() };
    assert_eq!(list(&store, by("abc")).await, ["abc\u{10FFFF}", "abc-2", "abc-1"]);
    assert_eq!(list(&store, by("abc\u{10FFFF}")).await, ["abc\u{10FFFF}"]);
    assert_eq!(list(&store, by("ab")).await, ["abc\u{10FFFF}", "abd", "abc-2", "abc-1", "ab"]);
    assert_eq!(list(&store, by("a%")).await, ["a%c"]);
    assert!(list(&store, by("abc-1x")).await.is_empty());
    let running = RunFilter { statuses: vec![RunStatus::Failed], ..by("abc") };
    assert!(list(&store, running).await.is_empty());
    let page = Page { before: None, limit: 1 };
    assert_eq!(store.runs(&by("abc"), &page).await.unwrap().len(), 1);
}

pub async fn runs_that_go_on_from_another_are_listed(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    for (run, source) in [("a", Some("r")), ("b", Some("a")), ("c", Some("r")), ("d", None)] {
        create(&store, NewRun { source: source.map(id), ..new_run(run, engine) }).await;
    }
    let from = |run: &str| RunFilter { source: Some(id(run)), ..Default::default() };
    assert_eq!(list(&store, from("r")).await, ["c", "a"]);
    let timed = RunFilter { created_from: Some(at(0)), ..from("a") };
    assert_eq!(list(&store, timed).await, ["b"]);
    assert!(list(&store, from("d")).await.is_empty());
}

/// By the name of the workflow alone; one that only looks like it is an author's.
pub async fn runs_of_system_workflows_are_left_out_if_asked(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    let names = ["rival:triggers", "rival:", "rival", "rival;x", "Rival:triggers", "arrival:x", "rival:é"];
    for workflow in names {
        create(&store, NewRun { workflow: workflow.to_owned(), ..new_run(workflow, engine) }).await;
    }
    let authored = RunFilter { no_system: true, ..Default::default() };
    assert_eq!(
        list(&store, authored.clone()).await,
        ["arrival:x", "Rival:triggers", "rival;x", "rival", "r"]
    );
    let roots = RunFilter { roots: true, statuses: vec![RunStatus::Running], ..authored.clone() };
    assert_eq!(list(&store, roots).await.len(), 5);
    let of = RunFilter { workflow: Some("rival:".to_owned()), ..authored };
    assert!(list(&store, of).await.is_empty());
    let mut pages = Vec::new();
    let mut page = Page { before: None, limit: 2 };
    let authored = RunFilter { no_system: true, ..Default::default() };
    while let Some(last) = store.runs(&authored, &page).await.unwrap().last() {
        page.before = Some(last.no);
        pages.push(last.id.to_string());
    }
    assert_eq!(pages, ["Rival:triggers", "rival", "r"]);
    assert_eq!(list(&store, RunFilter::default()).await.len(), 8);
}

pub async fn runs_that_are_no_children_are_listed(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    for (run, parent) in [("a", Some("r")), ("b", Some("a")), ("c", None), ("d", Some("r"))] {
        create(&store, NewRun { parent: parent.map(id), ..new_run(run, engine) }).await;
    }
    let roots = RunFilter { roots: true, ..Default::default() };
    assert_eq!(list(&store, roots.clone()).await, ["c", "r"]);
    let workflow = RunFilter { workflow: Some("orders".to_owned()), ..roots.clone() };
    assert_eq!(list(&store, workflow).await, ["c", "r"]);
    let statuses = RunFilter { statuses: vec![RunStatus::Running], ..roots.clone() };
    assert_eq!(list(&store, statuses).await, ["c", "r"]);
    let children = RunFilter { parent: Some(id("r")), ..roots };
    assert!(list(&store, children).await.is_empty());
    let counts = store.count_children(&[id("r"), id("a"), id("c"), id("nobody")]).await.unwrap();
    assert_eq!(counts, [2, 1, 0, 0]);
    assert!(store.count_children(&[]).await.unwrap().is_empty());
}

/// A tag is a whole word: neither a part of one nor two at once.
pub async fn runs_are_filtered_by_tag(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    for (run, tags) in [("a", vec!["red", "blue"]), ("b", vec!["bluegreen"]), ("c", vec!["blue", "blue"])] {
        let tags = tags.into_iter().map(str::to_owned).collect();
        create(&store, NewRun { tags, ..new_run(run, engine) }).await;
    }
    let of = |tag: &str| RunFilter { tag: Some(tag.to_owned()), ..Default::default() };
    assert_eq!(list(&store, of("blue")).await, ["c", "a"]);
    assert_eq!(list(&store, of("red")).await, ["a"]);
    for no_tag in ["green", "red,blue", "%", "", "Blue"] {
        assert!(list(&store, of(no_tag)).await.is_empty(), "`{no_tag}`");
    }
    assert_eq!(row(&store, "a").await.tags, ["red", "blue"]);
}

pub async fn filters_are_combined_and_paged(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    for run in 0..40 {
        let tags = if run % 2 == 0 { vec!["even".to_owned()] } else { Vec::new() };
        let workflow = if run % 4 == 0 { "fours" } else { "others" }.to_owned();
        let new = NewRun { tags, workflow, created_at: at(run), ..new_run(&format!("{run:02}"), engine) };
        create(&store, new).await;
    }
    let filter = RunFilter {
        workflow: Some("others".to_owned()),
        tag: Some("even".to_owned()),
        statuses: vec![RunStatus::Running],
        created_from: Some(at(10)),
        ..Default::default()
    };
    let first = store.runs(&filter, &Page { before: None, limit: 3 }).await.unwrap();
    assert_eq!(ids(&first), ["38", "34", "30"]);
    let rest = store.runs(&filter, &Page { before: Some(first[2].no), limit: 100 }).await.unwrap();
    assert_eq!(ids(&rest), ["26", "22", "18", "14", "10"]);
}

pub async fn a_thousand_runs_are_paged_without_gap_or_repeat(h: &impl StoreHarness) {
    let store = h.open().await;
    let engine = store.join().await.unwrap();
    for run in 0..1_000 {
        create(&store, new_run(&format!("{run:04}"), engine)).await;
    }
    let mut seen = Vec::new();
    let mut page = Page { before: None, limit: 70 };
    loop {
        let rows = store.runs(&RunFilter::default(), &page).await.unwrap();
        assert!(rows.len() <= 70);
        let Some(last) = rows.last() else { break };
        page.before = Some(last.no);
        seen.extend(rows.iter().map(|row| row.id.to_string()));
        assert!(seen.len() <= 1_000, "a page began again");
    }
    assert_eq!(seen, (0..1_000).rev().map(|run| format!("{run:04}")).collect::<Vec<_>>());
    assert_eq!(store.runs(&RunFilter::default(), &Page::default()).await.unwrap().len(), 100);
    assert!(store.runs(&RunFilter::default(), &Page { before: None, limit: 0 }).await.unwrap().is_empty());
}

pub async fn pages_stand_still_while_runs_are_added(h: &impl StoreHarness) {
    let store = h.open().await;
    let engine = store.join().await.unwrap();
    for run in ["a", "b", "c", "d"] {
        create(&store, new_run(run, engine)).await;
    }
    let first = store.runs(&RunFilter::default(), &Page { before: None, limit: 2 }).await.unwrap();
    create(&store, new_run("e", engine)).await;
    let next = Page { before: Some(first[1].no), limit: 2 };
    let second = store.runs(&RunFilter::default(), &next).await.unwrap();
    assert_eq!((ids(&first), ids(&second)), (vec!["d", "c"], vec!["b", "a"]));
}

pub async fn runs_are_counted_by_status(h: &impl StoreHarness) {
    let store = h.open().await;
    let engine = store.join().await.unwrap();
    let counts = async || store.figures(at(5)).await.unwrap().runs;
    assert_eq!(counts().await.values().sum::<u64>(), 0);
    for (index, status) in RunStatus::ALL.into_iter().enumerate() {
        for run in 0..=index {
            create_with_row(&store, &format!("{status}{run}"), engine, row_update(status)).await;
        }
    }
    let expected: Vec<_> = RunStatus::ALL.into_iter().zip(1..).collect();
    assert_eq!(counts().await.into_iter().collect::<Vec<_>>(), expected);
}

/// The head of the queue is the run that was queued first, and a run is overdue from its wake-up on until it is claimed.
pub async fn the_queue_and_what_is_overdue_have_an_age(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    let figures = async || {
        let figures = store.figures(at(5)).await.unwrap();
        (figures.queue_head, figures.overdue, figures.overdue_since)
    };
    assert_eq!(figures().await, (None, 0, None));
    for (run, created) in [("first", 3), ("second", 2)] {
        let row_update = row_update(RunStatus::Queued);
        create(&store, NewRun { created_at: at(created), row_update, ..new_run(run, engine) }).await;
    }
    for (run, wake_at) in [("late", 4), ("due", 5), ("early", 6)] {
        let row_update = released(RunStatus::Waiting, Some(at(wake_at)));
        create_with_row(&store, run, engine, row_update).await;
    }
    assert_eq!(figures().await, (Some(at(3)), 2, Some(at(4))));
    store.claim_due(engine, at(4), MANY).await.unwrap();
    store.claim(&id("first"), engine).await.unwrap();
    assert_eq!(figures().await, (Some(at(2)), 1, Some(at(5))));
}

pub async fn a_plan_is_kept_under_its_hash(h: &impl StoreHarness) {
    let store = h.open().await;
    let (one, two) = (PlanHash::new("one"), PlanHash::new("two"));
    assert_eq!(store.plan(&one).await.unwrap(), None);
    store.put_plan(&one, r#"{"name": "größe"}"#).await.unwrap();
    store.put_plan(&two, "{}").await.unwrap();
    store.put_plan(&one, "something else").await.unwrap();
    assert_eq!(store.plan(&one).await.unwrap().as_deref(), Some(r#"{"name": "größe"}"#));
    assert_eq!(store.plan(&two).await.unwrap().as_deref(), Some("{}"));
    let all = [(one, r#"{"name": "größe"}"#.to_owned()), (two, "{}".to_owned())];
    assert_eq!(store.plans().await.unwrap(), all);
}

pub async fn a_new_store_takes_writes(h: &impl StoreHarness) {
    h.open().await.check_writable().await.unwrap();
}
