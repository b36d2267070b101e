//! The JSON of the HTTP API: what is asked and what is answered, for the server that writes it and the client that reads
//! it.
//!
//! Answers can be read by a client that is older than the server: fields that it does not know are left out. Requests
//! are read strictly, so that a misspelt field is refused and not passed over.
//!
//! Lists are generic over their items: a client that passes them on reads each as the text that came.

mod address;
mod bulk;
mod connection;
mod document;
pub mod duration;
mod event;
#[cfg(feature = "openapi")]
mod event_schema;
mod log;
mod problem;
mod request;
mod run;
mod server;
mod sse;
mod workflow;

pub use address::path_segment;
pub use bulk::{BulkAction, BulkDone, BulkError, BulkFilter, BulkRequest, BulkResult, TimeParam};
pub use connection::{
    ConnectionBody, ConnectionDefinitionReply, ConnectionHealthReply, ConnectionListReply,
    ConnectionOriginReply, ConnectionReply, ConnectionServerReply, ConnectionStatus, ConnectionValueBody,
    ConnectionValueReply, SecretReference, ToolCallBody, ToolCallReply, ToolListReply, ToolReply,
};
pub use document::{
    DocumentCheckReply, DocumentListReply, DocumentReply, DocumentSavedReply, DocumentSummary,
    DocumentVersion, DocumentVersionsReply,
};
pub use event::{CauseReply, EventListReply, EventReply};
pub use log::{LogListReply, LogReply};
pub use problem::{ProblemReply, ViolationReply};
pub use request::{CheckBody, EmptyBody, ForkBody, ReasonBody, SignalBody, StartRun};
pub use rival_core::plan::{Graph, GraphEdge, GraphNode};
pub use rival_core::view::{
    ChildView, ClockStatus, ClockStep, FailedAt, OperationView, RunOutcome, RunView, SourceProblem,
    StepFailure, StepMetrics, StepOutcome,
};
pub use run::{ExplanationReply, RunGraph, RunListReply, RunStatusReply, RunSummary, StepListReply};
pub use server::{HealthReply, ServerVersion, StreamTicketReply};
pub use sse::{SseMessage, SseReader};
pub use workflow::{CheckReply, PlanVersion, WorkflowDetail, WorkflowListReply, WorkflowSummary};

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    #[test]
    fn answers_of_a_newer_server_are_read() {
        let text = r#"{"items":[{"runId":"r","workflow":"w","plan":"p","status":"running","createdAt":1,"endedAt":null,"wakeAt":null,"parent":null,"source":null,"tags":[],"note":null,"mood":"good"}],"cursor":null,"more":[1]}"#;
        let read: RunListReply = serde_json::from_str(text).unwrap();
        assert_eq!(read.items[0].run_id.as_str(), "r");
        let raw: RunListReply<Box<RawValue>> = serde_json::from_str(text).unwrap();
        assert!(raw.items[0].get().contains("mood"), "what is passed on is whole");
    }

    #[test]
    fn a_misspelt_field_of_a_request_is_refused() {
        assert!(serde_json::from_str::<StartRun>(r#"{"inputs": 1}"#).is_err());
        assert!(serde_json::from_str::<EmptyBody>(r#"{"reason": "x"}"#).is_err());
    }

    /// An input that is `null` is another one than that of the run before.
    #[test]
    fn a_fork_tells_null_from_nothing() {
        let none = ForkBody::default();
        assert_eq!(serde_json::to_string(&none).unwrap(), "{}");
        let null = ForkBody { input: Some(rival_core::Value::null()), ..none };
        let read: ForkBody = serde_json::from_str(&serde_json::to_string(&null).unwrap()).unwrap();
        assert!(read.input.is_some_and(|input| input.is_null()));
    }
}
