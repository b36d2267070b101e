//! What answers MCP clients.

use std::sync::Arc;

use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, GetPromptRequestParams,
    GetPromptResponse, Implementation, JsonObject, ListPromptsResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
    ServerConfig, SubscriptionFilter, Tool,
};
use rmcp::service::{RequestContext, RoleServer, SubscriptionContext};
use serde_json::Value;
use tokio::time::Instant;

use crate::api::Api;
use crate::caller::ApiCaller;
use crate::changes::WorkflowChanges;
use crate::guide;
use crate::progress::ProgressTeller;
use crate::shown::fit;
use crate::spec::{ToolAnswer, ToolCall};
use crate::tools::TOOLS;
use crate::words::Words;
use crate::workflow_tools;

/// The tools of Rival, for one client.
#[derive(Clone)]
pub struct RivalTools {
    pub(crate) api: Api,
    words: Words,
    /// Only where the client is told of them.
    pub(crate) changes: Option<Arc<WorkflowChanges>>,
}

impl std::fmt::Debug for RivalTools {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RivalTools").field("words", &self.words).finish_non_exhaustive()
    }
}

impl RivalTools {
    /// Tools that do what this caller may.
    pub fn new(caller: Arc<dyn ApiCaller>, words: Words) -> Self {
        Self { api: Api(caller), words, changes: None }
    }

    /// All tools. Without an answer of the API, those that are always there.
    async fn tools(&self) -> Vec<Tool> {
        let mut tools: Vec<Tool> = TOOLS.iter().map(|spec| spec.tool.clone()).collect();
        match workflow_tools::all(&self.api).await {
            Ok(workflows) => tools.extend(workflows.into_iter().map(|workflow| workflow.tool)),
            Err(failure) => tracing::warn!(code = failure.code, "no workflows as tools: {}", failure.message),
        }
        tools
    }

    /// A tool's answer; `None` if there is no such tool.
    async fn answer(&self, call: ToolCall, name: &str, arguments: JsonObject) -> Option<ToolAnswer> {
        if let Some(spec) = TOOLS.iter().find(|spec| spec.tool.name == name) {
            let answer = (spec.answer)(call, arguments).await;
            if let (Some(changes), true) = (&self.changes, answer.is_ok() && name.ends_with("_document")) {
                changes.expect();
            }
            return Some(answer);
        }
        let workflows = match workflow_tools::all(&call.api).await {
            Ok(workflows) => workflows,
            Err(failure) => return Some(Err(failure)),
        };
        let workflow = workflows.into_iter().find(|workflow| workflow.tool.name == name)?;
        Some(workflow.run(&call, arguments).await)
    }
}

fn result(answer: ToolAnswer) -> CallToolResult {
    match answer {
        Ok(value) => {
            let value = fit(value);
            let mut result = CallToolResult::success(vec![ContentBlock::text(value.to_string())]);
            result.structured_content = Some(value);
            result
        }
        Err(failure) => failure.result(),
    }
}

impl ServerHandler for RivalTools {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts();
        let capabilities = match self.changes {
            Some(_) => capabilities.enable_tool_list_changed().build(),
            None => capabilities.build(),
        };
        let server = Implementation::new("rival", env!("CARGO_PKG_VERSION")).with_title("Rival");
        ServerConfig::new(capabilities).with_server_info(server).with_instructions(guide::INSTRUCTIONS)
    }

    fn accepted_subscription_filter(&self, _: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        self.changes.as_ref().map(|_| SubscriptionFilter::builder().tools_list_changed().build())
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let Some(changes) = &self.changes else { return Ok(()) };
        let mut changes = changes.subscribe();
        loop {
            tokio::select! {
                () = subscription.cancelled() => return Ok(()),
                changed = changes.changed() => {
                    if changed.is_err() {
                        return Ok(());
                    }
                }
            }
            if let Err(error) = subscription.sink().notify_tool_list_changed().await {
                tracing::debug!(%error, "the client is not told of workflows");
                return Ok(());
            }
        }
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools().await))
    }

    async fn call_tool(
        &self,
        asked: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let token = context.meta.get_progress_token();
        let progress =
            token.map(|token| ProgressTeller { peer: context.peer.clone(), token, began: Instant::now() });
        let call = ToolCall { api: self.api.clone(), words: self.words, progress };
        let answer = self.answer(call, &asked.name, asked.arguments.unwrap_or_default());
        // A client that has gone, or cancelled its request, needs no answer.
        let answer = tokio::select! {
            answer = answer => answer,
            () = context.ct.cancelled() => {
                return Err(ErrorData::internal_error("the request was cancelled", None));
            }
        };
        match answer {
            Some(answer) => Ok(result(answer).into()),
            None => {
                let message = format!("there is no tool `{}`; tools/list says which there are", asked.name);
                Err(ErrorData::invalid_params(message, None))
            }
        }
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(guide::resources()))
    }

    async fn read_resource(
        &self,
        asked: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        match &*asked.uri {
            guide::LLMS_URI => Ok(guide::page().into()),
            guide::SCHEMA_URI => {
                let schema: Result<Value, _> = self.api.get("/api/documents/schema").await;
                let schema = schema.map_err(|failure| ErrorData::internal_error(failure.message, None))?;
                Ok(guide::schema(schema.to_string()).into())
            }
            other => Err(ErrorData::resource_not_found(format!("there is no resource `{other}`"), None)),
        }
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(guide::prompts()))
    }

    async fn get_prompt(
        &self,
        asked: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let prompt = guide::prompt(&asked);
        let missing = || ErrorData::invalid_params(format!("there is no prompt `{}`", asked.name), None);
        Ok(prompt.ok_or_else(missing)?.into())
    }
}
