//! What every store must do, as tests that run against any store.
//!
//! A store's crate depends on this one with the feature `conformance` in its dev-dependencies, says in a
//! [`StoreHarness`] how it is opened, and lists no cases of its own:
//!
//! ```
//! use rival_store::MemoryStore;
//! use rival_store::conformance::StoreHarness;
//!
//! struct Memory;
//!
//! impl StoreHarness for Memory {
//!     type Store = MemoryStore;
//!
//!     async fn open(&self) -> MemoryStore {
//!         MemoryStore::new()
//!     }
//!
//!     async fn reopen(&self, _store: MemoryStore) -> Option<MemoryStore> {
//!         None
//!     }
//! }
//!
//! rival_store::store_conformance!(Memory);
//! ```
//!
//! The expression is evaluated once for each fact, so that a harness may own a folder or a schema of its own.

#![allow(missing_docs, reason = "the name of a fact says what holds")]
#![allow(clippy::unwrap_used, reason = "this is test code: a panic is how a fact fails")]

pub mod append;
pub mod claim;
pub mod fence;
mod fixture;
pub mod load;
pub mod logs;
pub mod messages;
pub mod query;
pub mod records;
pub mod reopen;
pub mod retention;
pub mod start;
pub mod wake;

use std::future::Future;

use crate::Store;

/// How the suite gets a store.
pub trait StoreHarness: Send + Sync {
    /// The store under test.
    type Store: Store;

    /// Opens a store with nothing in it. Called once for each harness.
    fn open(&self) -> impl Future<Output = Self::Store> + Send;

    /// Opens the same data again, as after a restart: engines that had joined are gone. `None` for a store that
    /// forgets.
    fn reopen(&self, store: Self::Store) -> impl Future<Output = Option<Self::Store>> + Send;
}

/// Runs one fact; used by [`store_conformance!`](crate::store_conformance). With two threads, because some
/// facts are about two writers at once.
#[doc(hidden)]
pub fn run_fact(fact: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime for the test").block_on(fact);
}

/// One `#[test]` for each fact, in a module for each subject.
#[macro_export]
macro_rules! store_conformance {
    ($harness:expr) => {
        $crate::__store_facts! { $harness;
            append: [
                a_gap_is_refused_with_expected_and_actual,
                a_zero_is_refused_with_expected_and_actual,
                a_repeat_is_refused_with_expected_and_actual,
                a_batch_without_events_is_refused,
                a_batch_counts_all_of_its_events,
                a_commit_without_events_keeps_the_sequence,
                a_commit_without_a_row_update_keeps_the_row,
                a_row_update_replaces_the_one_before,
                an_unknown_run_is_not_found,
                runs_have_sequences_of_their_own,
                a_commit_writes_several_runs_at_once,
                a_commit_that_is_refused_for_its_sequence_writes_nothing,
                a_commit_that_is_refused_for_its_epoch_writes_nothing,
                a_commit_that_is_refused_for_a_consumed_message_writes_nothing,
                a_commit_that_is_refused_for_a_new_run_writes_nothing,
                a_new_run_with_an_existing_id_is_left_as_it_is,
                a_snapshot_replaces_the_last_one,
                concurrent_commits_to_one_run_admit_one,
                concurrent_commits_to_many_runs_admit_all,
            ];
            start: [
                a_run_starts_with_event_one,
                a_run_cannot_start_with_another_event,
                a_run_cannot_start_without_events,
                a_kept_run_is_owned_at_epoch_one,
                a_run_that_is_not_kept_has_its_wake_up,
                a_run_that_starts_ended_has_no_owner,
                a_run_of_an_engine_that_is_gone_can_be_claimed,
                every_field_of_a_row_comes_back,
                an_existing_id_returns_its_row_and_writes_nothing,
                concurrent_starts_of_one_id_create_one,
                strange_ids_and_texts_come_back,
            ];
            load: [
                batches_come_in_order,
                since_zero_gives_all,
                since_the_middle_gives_the_rest,
                since_the_middle_of_a_batch_gives_that_batch,
                since_the_last_or_beyond_gives_nothing,
                an_unknown_run_has_no_events,
                a_limit_gives_at_least_one_batch,
                pages_give_every_batch_once,
                a_large_body_comes_back_byte_for_byte,
                the_last_batch_is_the_one_with_the_last_event,
                pages_of_large_batches_are_short,
            ];
            fence: [
                another_epoch_is_refused,
                a_former_owner_is_refused_after_a_claim,
                an_engine_that_left_is_refused,
                a_run_that_was_let_go_takes_no_commit,
                an_ended_run_takes_no_commit,
                ownership_is_checked_before_the_sequence,
            ];
            claim: [
                engines_have_ids_of_their_own,
                leaving_twice_or_unknown_does_nothing,
                a_free_run_is_claimed_with_the_next_epoch,
                a_claimed_run_takes_commits_at_the_new_epoch,
                an_owned_run_is_not_claimed,
                an_ended_or_unknown_run_is_not_claimed,
                a_claimed_queued_run_is_running,
                an_engine_that_left_claims_nothing,
                concurrent_claims_of_one_run_admit_one,
                concurrent_claims_of_due_runs_give_each_once,
                queued_runs_are_claimed_oldest_first,
                queued_runs_are_claimed_once,
                concurrent_claims_of_queued_runs_give_each_once,
                runs_of_an_engine_that_left_are_claimed,
                runs_of_live_engines_are_not_claimed,
                ended_runs_of_an_engine_that_left_are_not_claimed,
                runs_of_an_engine_that_left_come_before_due_ones,
            ];
            wake: [
                due_runs_come_earliest_first,
                a_run_is_due_at_its_time_and_not_before,
                a_limit_leaves_the_later_ones,
                a_due_run_keeps_its_status_and_loses_its_wake_up,
                a_due_queued_run_stays_queued,
                a_kept_run_has_no_wake_up,
                next_wake_is_the_earliest_of_runs_without_an_owner,
                blocked_runs_of_a_workflow_are_woken,
                blocked_runs_with_an_owner_are_not_woken,
            ];
            messages: [
                messages_wait_in_the_order_they_were_sent,
                a_consumed_message_is_gone,
                a_message_is_consumed_once,
                the_id_of_a_refused_message_is_free_again,
                a_message_of_another_run_is_not_consumed,
                a_message_id_is_kept_once,
                a_message_id_is_kept_once_also_after_it_was_consumed,
                a_message_id_belongs_to_its_receiver,
                a_message_makes_a_free_run_due,
                a_message_does_not_put_off_a_wake_up,
                a_message_leaves_an_owned_run_to_its_owner,
                a_message_leaves_a_queued_run_in_the_queue,
                a_run_that_is_let_go_with_messages_waiting_is_due,
                a_run_that_is_let_go_without_messages_is_not_due,
                a_message_after_the_end_is_counted_and_dropped,
                an_ended_run_knows_the_messages_that_it_acted_on,
                messages_that_wait_at_the_end_are_counted_and_dropped,
                a_message_to_an_unknown_run_is_dropped,
                a_message_in_a_commit_follows_the_same_rules,
                a_run_can_be_sent_a_message_by_the_commit_that_starts_it,
                concurrent_messages_with_one_id_keep_one,
                concurrent_messages_are_all_kept,
                a_message_body_comes_back_byte_for_byte,
            ];
            query: [
                an_unknown_run_has_no_row_and_no_snapshot,
                runs_come_newest_first,
                runs_are_filtered_by_workflow,
                runs_are_filtered_by_status,
                runs_are_filtered_by_time,
                pages_of_a_span_have_no_gap_and_no_repeat,
                runs_are_filtered_by_parent,
                runs_that_are_no_children_are_listed,
                runs_are_listed_by_the_beginning_of_their_ids,
                runs_that_go_on_from_another_are_listed,
                runs_of_system_workflows_are_left_out_if_asked,
                runs_are_filtered_by_tag,
                filters_are_combined_and_paged,
                a_thousand_runs_are_paged_without_gap_or_repeat,
                pages_stand_still_while_runs_are_added,
                runs_are_counted_by_status,
                the_queue_and_what_is_overdue_have_an_age,
                a_plan_is_kept_under_its_hash,
                a_new_store_takes_writes,
            ];
            logs: [
                every_field_of_a_line_comes_back,
                lines_come_oldest_first,
                lines_of_a_commit_and_appended_ones_are_together,
                lines_are_filtered_by_node,
                lines_are_filtered_by_level,
                a_limit_gives_the_latest_lines,
                lines_after_a_line_are_the_first_ones_after_it,
                filters_come_before_the_limit,
                lines_of_unknown_runs_are_dropped,
                an_ended_run_takes_lines,
                pages_of_long_lines_are_short,
            ];
            records: [
                every_field_of_a_record_comes_back,
                versions_count_within_kind_and_key,
                another_version_than_expected_is_a_conflict_and_writes_nothing,
                a_deleted_record_is_absent_and_its_versions_go_on,
                the_newest_of_each_key_are_listed_by_key,
                pages_of_records_have_no_gap_and_no_repeat,
                pages_of_versions_go_back,
                pages_of_large_records_are_short,
                of_concurrent_writers_who_expect_one_version_one_writes,
                concurrent_writers_who_expect_nothing_all_write,
                kinds_and_keys_that_cannot_be_are_refused,
            ];
            retention: [
                runs_that_ended_before_are_removed_with_everything,
                live_runs_and_recent_ones_stay,
                the_oldest_are_removed_first,
                a_run_with_a_live_child_stays,
                a_run_with_a_live_parent_stays,
                a_run_is_not_kept_for_a_younger_one_with_its_parents_id,
                a_run_that_stays_does_not_use_up_the_limit,
                a_run_stays_until_what_it_triggers_is_started,
                a_removed_id_is_free_again,
                plans_stay,
            ];
            reopen: [
                everything_is_still_there,
                numbers_go_on_where_they_were,
                runs_of_former_engines_are_claimed,
                former_owners_are_refused,
                wake_ups_and_the_queue_are_still_there,
                records_and_their_versions_are_still_there,
                a_message_id_is_still_known,
            ];
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __store_facts {
    ($harness:expr; $($subject:ident: [$($fact:ident),+ $(,)?];)+) => {
        $crate::__store_facts! { @each $harness; $($subject: $($fact)+;)+ }
    };
    (@each $harness:expr; $subject:ident: $($fact:ident)+; $($rest:tt)*) => {
        mod $subject {
            #[allow(unused_imports, reason = "the harness may be named by a full path")]
            use super::*;

            $(
                #[test]
                fn $fact() {
                    $crate::conformance::run_fact($crate::conformance::$subject::$fact(&$harness));
                }
            )+
        }
        $crate::__store_facts! { @each $harness; $($rest)* }
    };
    (@each $harness:expr;) => {};
}

#[cfg(test)]
mod tests {
    /// A fact that is not listed would pass on every store.
    #[test]
    fn every_fact_is_listed() {
        let list = include_str!("mod.rs");
        let subjects = [
            include_str!("append.rs"),
            include_str!("claim.rs"),
            include_str!("fence.rs"),
            include_str!("load.rs"),
            include_str!("logs.rs"),
            include_str!("messages.rs"),
            include_str!("query.rs"),
            include_str!("records.rs"),
            include_str!("reopen.rs"),
            include_str!("retention.rs"),
            include_str!("start.rs"),
            include_str!("wake.rs"),
        ];
        let names = subjects.iter().flat_map(|source| source.split("\npub async fn ").skip(1));
        let names: Vec<_> = names.filter_map(|rest| rest.split('(').next()).collect();
        assert!(names.len() > 100, "the facts were not found: {names:?}");
        for name in names {
            assert!(list.contains(&format!(" {name},\n")), "`{name}` is not listed");
        }
    }
}
