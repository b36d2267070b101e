//! What teaches models: instructions, the page about documents, and a prompt to write one.

use rmcp::model::{
    GetPromptRequestParams, GetPromptResult, Prompt, PromptArgument, PromptMessage, ReadResourceResult,
    Resource, ResourceContents, Role,
};

/// The page that teaches the format of documents.
pub const LLMS_TXT: &str = include_str!("../../../docs/llms.txt");

pub(crate) const LLMS_URI: &str = "rival://llms.txt";
pub(crate) const SCHEMA_URI: &str = "rival://document.schema.json";
const WRITE_WORKFLOW: &str = "write_workflow";

/// What a client tells its model about this server.
pub(crate) const INSTRUCTIONS: &str = "\
Rival runs durable workflows: their steps are recorded, survive crashes, and are retried. A run of a workflow has a runId.
To run one: list_workflows, describe_workflow (input schema), run_workflow, then wait_for_run or watch_run. Workflows are also \
tools of their own, run_<name>; at most 50 are, the others only by run_workflow.
A run that waits for a signal, such as an approval, goes on with signal_run. One that failed: show_run says where and why, \
retry_run goes on from there. cancel_run stops one.
To write a workflow: read the resource rival://llms.txt, list_tools for tools that steps can call, validate_document, mend what \
it says, create_document, run_workflow.
Results are bounded: `$cut` stands for the rest of a large value, and says how to read it. Errors have a code, and `whatToDo`.";

pub(crate) fn resources() -> Vec<Resource> {
    vec![
        Resource::new(LLMS_URI, "llms.txt")
            .with_title("How to write a workflow")
            .with_description("The format of workflow documents on one page, with examples that validate")
            .with_mime_type("text/markdown"),
        Resource::new(SCHEMA_URI, "document.schema.json")
            .with_title("JSON Schema of workflow documents")
            .with_description("The shape of workflow documents, for programs")
            .with_mime_type("application/schema+json"),
    ]
}

pub(crate) fn page() -> ReadResourceResult {
    ReadResourceResult::new(vec![ResourceContents::text(LLMS_TXT, LLMS_URI).with_mime_type("text/markdown")])
}

pub(crate) fn schema(text: String) -> ReadResourceResult {
    let contents = ResourceContents::text(text, SCHEMA_URI).with_mime_type("application/schema+json");
    ReadResourceResult::new(vec![contents])
}

pub(crate) fn prompts() -> Vec<Prompt> {
    let goal = PromptArgument::new("goal").with_description("What the workflow is to do").with_required(true);
    vec![Prompt::new(WRITE_WORKFLOW, Some("Write a workflow document, and try it"), Some(vec![goal]))]
}

/// The prompt, if it is the one that there is.
pub(crate) fn prompt(asked: &GetPromptRequestParams) -> Option<GetPromptResult> {
    if asked.name != WRITE_WORKFLOW {
        return None;
    }
    let goal =
        asked.arguments.as_ref().and_then(|given| given.get("goal")?.as_str()).unwrap_or("what I say next");
    let text = format!(
        "Write a workflow document for Rival that does this: {goal}\n\n\
         First call list_connections and list_tools to see which tools its steps can call. Write the document. Call \
         validate_document, and mend what it says until it is valid. Show it to me before you call create_document. Then \
         offer to run it.\n\n{LLMS_TXT}"
    );
    let message = PromptMessage::new_text(Role::User, text);
    Some(GetPromptResult::new(vec![message]).with_description("Write a workflow document, and try it"))
}
