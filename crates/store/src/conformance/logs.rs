//! Log lines.

use std::sync::Arc;

use rival_core::Value;

use super::StoreHarness;
use super::fixture::*;
use crate::{Commit, LogFilter, LogLevel, LogLine, Store};

async fn read(store: &impl Store, filter: LogFilter) -> Vec<String> {
    let lines = store.logs(&id("r"), &filter).await.unwrap();
    lines.into_iter().map(|line| line.message).collect()
}

fn with_level(level: LogLevel) -> LogLine {
    LogLine { level, ..line("r", level.word()) }
}

pub async fn every_field_of_a_line_comes_back(h: &impl StoreHarness) {
    let (store, _) = one_run(h).await;
    let full = LogLine {
        no: 0,
        run: id("r"),
        node: "pay/charge[2]".to_owned(),
        attempt: 3,
        call: u32::MAX,
        at: at(5),
        level: LogLevel::Warn,
        message: "größe 'x' \"y\"\n".to_owned(),
        fields: Some(Value::from_json(r#"{"b": 1, "a": 12345678901234567890123}"#.to_owned()).unwrap()),
    };
    store.append_logs(vec![full.clone(), line("r", "")]).await.unwrap();
    let mut lines = store.logs(&id("r"), &LogFilter::default()).await.unwrap();
    assert!(0 < lines[0].no && lines[0].no < lines[1].no);
    lines.iter_mut().for_each(|line| line.no = 0);
    assert_eq!(lines, [full, line("r", "")]);
}

pub async fn lines_come_oldest_first(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    create(&store, new_run("other", engine)).await;
    for round in 0..3 {
        let lines = ["a", "b"].map(|name| line("r", &format!("{round}{name}")));
        store.append_logs([lines.to_vec(), vec![line("other", "else")]].concat()).await.unwrap();
    }
    assert_eq!(read(&store, LogFilter::default()).await, ["0a", "0b", "1a", "1b", "2a", "2b"]);
}

pub async fn lines_of_a_commit_and_appended_ones_are_together(h: &impl StoreHarness) {
    let (store, _) = one_run(h).await;
    store.append_logs(vec![line("r", "1")]).await.unwrap();
    store
        .commit(Arc::new(Commit { logs: vec![line("r", "2"), line("nobody", "x")], ..commit("r") }))
        .await
        .unwrap();
    store.append_logs(vec![line("r", "3")]).await.unwrap();
    assert_eq!(read(&store, LogFilter::default()).await, ["1", "2", "3"]);
}

pub async fn lines_are_filtered_by_node(h: &impl StoreHarness) {
    let (store, _) = one_run(h).await;
    let of = |node: &str| LogLine { node: node.to_owned(), ..line("r", node) };
    store.append_logs(vec![of("pay"), of("pay/charge"), of("pay")]).await.unwrap();
    let filter = |node: &str| LogFilter { node: Some(node.to_owned()), ..Default::default() };
    assert_eq!(read(&store, filter("pay")).await, ["pay", "pay"]);
    assert_eq!(read(&store, filter("pay/charge")).await, ["pay/charge"]);
    assert!(read(&store, filter("charge")).await.is_empty());
}

pub async fn lines_are_filtered_by_level(h: &impl StoreHarness) {
    let (store, _) = one_run(h).await;
    let levels = [LogLevel::Error, LogLevel::Debug, LogLevel::Warn, LogLevel::Info];
    store.append_logs(levels.map(with_level).to_vec()).await.unwrap();
    let above = |level| LogFilter { level: Some(level), ..Default::default() };
    assert_eq!(read(&store, above(LogLevel::Debug)).await, ["error", "debug", "warn", "info"]);
    assert_eq!(read(&store, above(LogLevel::Info)).await, ["error", "warn", "info"]);
    assert_eq!(read(&store, above(LogLevel::Warn)).await, ["error", "warn"]);
    assert_eq!(read(&store, above(LogLevel::Error)).await, ["error"]);
}

pub async fn a_limit_gives_the_latest_lines(h: &impl StoreHarness) {
    let (store, _) = one_run(h).await;
    store.append_logs(["1", "2", "3", "4"].map(|text| line("r", text)).to_vec()).await.unwrap();
    let latest = |limit| LogFilter { limit: Some(limit), ..Default::default() };
    assert_eq!(read(&store, latest(2)).await, ["3", "4"]);
    assert_eq!(read(&store, latest(9)).await, ["1", "2", "3", "4"]);
    assert!(read(&store, latest(0)).await.is_empty());
}

pub async fn lines_after_a_line_are_the_first_ones_after_it(h: &impl StoreHarness) {
    let (store, _) = one_run(h).await;
    store.append_logs(["1", "2", "3", "4"].map(|text| line("r", text)).to_vec()).await.unwrap();
    let all = store.logs(&id("r"), &LogFilter::default()).await.unwrap();
    let after = |no, limit| LogFilter { after: Some(no), limit, ..Default::default() };
    assert_eq!(read(&store, after(0, Some(2))).await, ["1", "2"]);
    assert_eq!(read(&store, after(all[1].no, Some(1))).await, ["3"]);
    assert_eq!(read(&store, after(all[1].no, None)).await, ["3", "4"]);
    assert!(read(&store, after(all[3].no, None)).await.is_empty());
    assert!(read(&store, after(u64::MAX, None)).await.is_empty());
}

pub async fn filters_come_before_the_limit(h: &impl StoreHarness) {
    let (store, _) = one_run(h).await;
    let levels = [LogLevel::Error, LogLevel::Warn, LogLevel::Info, LogLevel::Debug];
    store.append_logs(levels.map(with_level).to_vec()).await.unwrap();
    let node = Some("charge".to_owned());
    let filter = LogFilter { node, level: Some(LogLevel::Info), limit: Some(2), ..Default::default() };
    assert_eq!(read(&store, filter).await, ["warn", "info"]);
}

pub async fn lines_of_unknown_runs_are_dropped(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    store.append_logs(vec![line("later", "lost"), line("r", "kept")]).await.unwrap();
    assert_eq!(read(&store, LogFilter::default()).await, ["kept"]);
    create(&store, new_run("later", engine)).await;
    assert!(store.logs(&id("later"), &LogFilter::default()).await.unwrap().is_empty());
    assert!(store.logs(&id("nobody"), &LogFilter::default()).await.unwrap().is_empty());
}

/// Lines are flushed beside the commits, so that some come after the last one.
pub async fn an_ended_run_takes_lines(h: &impl StoreHarness) {
    let (store, _) = one_run(h).await;
    end(&store, "r", at(2)).await;
    store.append_logs(vec![line("r", "late")]).await.unwrap();
    assert_eq!(read(&store, LogFilter::default()).await, ["late"]);
}

pub async fn pages_of_long_lines_are_short(h: &impl StoreHarness) {
    let (store, _) = one_run(h).await;
    let long = "x".repeat(crate::LOAD_MAX_BYTES * 2 / 3);
    store.append_logs(vec![line("r", &long); 3]).await.unwrap();
    let mut after = 0;
    for _ in 0..3 {
        let filter = LogFilter { after: Some(after), limit: Some(10), ..LogFilter::default() };
        let page = store.logs(&id("r"), &filter).await.unwrap();
        assert_eq!(page.len(), 1);
        after = page[0].no;
    }
    let latest = LogFilter { limit: Some(10), ..LogFilter::default() };
    let latest = store.logs(&id("r"), &latest).await.unwrap();
    assert_eq!(latest.iter().map(|line| line.no).collect::<Vec<_>>(), [after]);
    assert_eq!(store.logs(&id("r"), &LogFilter::default()).await.unwrap().len(), 3);
}
