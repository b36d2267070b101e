//! `rival mcp`: the tools of Rival for the client that started this process.

use std::io::{self, Read};
use std::sync::Arc;

use anyhow::{Context, Result};
use async_trait::async_trait;
use axum::body::Body;
use axum::http::{Method, Request, Response, StatusCode, header};
use bytes::Bytes;
use futures::StreamExt;
use http_body_util::BodyExt;
use rival_api::{EventReply, Graph};
use rival_mcp_server::{
    ApiCaller, ApiRequest, ApiResponse, ApiSilence, EventWords, LOST, NO_SERVER, RivalTools, Words, stdio,
};
use rival_server::local_secret::LocalSecretFile;
use rival_server::mount::{ApiDoor, ServerMount};
use rival_server::routes;
use tokio::io::AsyncRead;
use tokio::sync::{Mutex, mpsc};
use tokio_util::io::StreamReader;

use crate::client::{ApiClient, OfflineNeed, listens, note_foreign};
use crate::config::ResolvedConfig;
use crate::exit::{ExitError, ServerSilence};
use crate::lines::EventNarrator;
use crate::style::TextStyle;
use crate::tree;
use crate::verbs::VerbContext;

/// How much is read of stdin at a time.
const CHUNK_BYTES: usize = 64 * 1024;

/// Serves the client on stdin and stdout, until it closes stdin.
pub(crate) async fn serve(context: &VerbContext) -> Result<()> {
    if listens(&context.config.url().0).await {
        note_foreign(&context.config);
    }
    let server = Arc::new(ServerCaller::new(context.config.clone()));
    let caller = Arc::new(ServerOrStore { server: Arc::clone(&server), store: Mutex::default() });
    let tools = RivalTools::new(caller, words());
    stdio::serve(tools, server, stdin()?, tokio::io::stdout())
        .await
        .map_err(|error| ExitError::error(error.to_string()).into())
}

/// The same tools at `/mcp` of a server. Each of their requests is judged as one of the client that calls the tool.
pub(crate) fn mount() -> ServerMount {
    ServerMount::new("/mcp", routes::read().payload(), |request, door| {
        Box::pin(async move {
            let tools = RivalTools::new(Arc::new(DoorCaller(door)), words());
            rival_mcp_server::http::answer(tools, request).await.map(Body::new)
        })
    })
}

/// Asks the API of the server that this is, in the name of a client.
struct DoorCaller(ApiDoor);

#[async_trait]
impl ApiCaller for DoorCaller {
    async fn call(&self, request: ApiRequest) -> Result<ApiResponse, ApiSilence> {
        let ApiRequest { method, path, headers, body } = request;
        let mut asked = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            asked = asked.header(name, value);
        }
        if body.is_some() {
            asked = asked.header(header::CONTENT_TYPE, "application/json");
        }
        let asked = asked.body(body.map_or_else(Body::empty, Body::from));
        let asked = asked.map_err(|error| {
            let message = format!("what was given does not fit into a request: {error}");
            ApiSilence { code: NO_SERVER, message, hint: Some("correct the arguments".to_owned()) }
        })?;
        Ok(as_it_comes(self.0.ask(asked).await))
    }
}

/// Events and plans as this command writes them.
fn words() -> Words {
    fn plan(graph: &Graph) -> Vec<String> {
        tree::draw_plan(graph, TextStyle::PLAIN)
    }
    Words { events: || Box::<EventNarrator>::default(), plan }
}

impl EventWords for EventNarrator {
    fn tell(&mut self, event: &EventReply) -> Option<String> {
        EventNarrator::tell(self, event)
    }
}

/// Stdin, read by a thread apart: the runtime would wait for one of its own at the end, and the client may never close it.
fn stdin() -> Result<impl AsyncRead + Send + Unpin + 'static> {
    let (sender, receiver) = mpsc::channel::<io::Result<Bytes>>(4);
    let read = move || {
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            let read = match io::stdin().lock().read(&mut chunk) {
                Ok(0) => return,
                Ok(read) => Ok(Bytes::copy_from_slice(&chunk[..read])),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => Err(error),
            };
            if sender.blocking_send(read).is_err() {
                return;
            }
        }
    };
    std::thread::Builder::new().name("rival-stdin".to_owned()).spawn(read).context("no thread for stdin")?;
    let chunks = futures::stream::unfold(receiver, |mut receiver| async {
        let chunk = receiver.recv().await?;
        Some((chunk, receiver))
    });
    Ok(StreamReader::new(chunks.boxed()))
}

/// Asks the server that the settings name, whether it runs now or comes later.
struct ServerCaller {
    config: ResolvedConfig,
    /// The client, and the server's secret that it was made with: another server of the same store has another.
    client: Mutex<Option<(Option<LocalSecretFile>, Arc<ApiClient>)>>,
}

impl ServerCaller {
    fn new(config: ResolvedConfig) -> Self {
        Self { config, client: Mutex::default() }
    }

    async fn client(&self) -> Result<Arc<ApiClient>> {
        let secret = rival_server::local_secret::read(&self.config.local_secret());
        let mut known = self.client.lock().await;
        if let Some((_, client)) = known.as_ref().filter(|(with, _)| *with == secret) {
            return Ok(Arc::clone(client));
        }
        let client = Arc::new(ApiClient::to_configured(&self.config)?);
        *known = Some((secret, Arc::clone(&client)));
        Ok(client)
    }
}

#[async_trait]
impl ApiCaller for ServerCaller {
    async fn call(&self, request: ApiRequest) -> Result<ApiResponse, ApiSilence> {
        let ApiRequest { method, path, headers, body } = request;
        let client = self.client().await.map_err(|error| silence(&error))?;
        let response = client.exchange(method, &path, body, &headers).await;
        Ok(as_it_comes(response.map_err(|error| silence(&error))?))
    }
}

/// Asks the server, and without one the store file, about what can be looked at.
struct ServerOrStore {
    server: Arc<ServerCaller>,
    /// One at a time holds the store file; and none between two requests, so that a server can start.
    store: Mutex<()>,
}

#[async_trait]
impl ApiCaller for ServerOrStore {
    async fn call(&self, request: ApiRequest) -> Result<ApiResponse, ApiSilence> {
        let (url, named) = self.server.config.url();
        match self.server.call(request.clone()).await {
            Err(silence) if silence.code == NO_SERVER && !named => {
                if !request.only_reads() && !request.path.ends_with("/validate") {
                    return Err(no_server(&url));
                }
                let _alone = self.store.lock().await;
                self.look(request, &url).await
            }
            answer => answer,
        }
    }
}

impl ServerOrStore {
    /// Looks into the store file, and lets go of it.
    async fn look(&self, request: ApiRequest, url: &str) -> Result<ApiResponse, ApiSilence> {
        let client = ApiClient::on_file(&self.server.config, OfflineNeed::Look).await;
        let client = client.map_err(|error| silence(&error))?;
        let answer = ask_store(&client, request, url).await;
        client.release().await;
        answer
    }
}

/// Asks an engine that runs nothing. Nothing happens there, so nothing is waited for.
async fn ask_store(client: &ApiClient, request: ApiRequest, url: &str) -> Result<ApiResponse, ApiSilence> {
    let ApiRequest { method, path, headers, body } = request;
    let path = without_wait(&method, &path);
    let response = client.exchange(method, &path, body, &headers).await.map_err(|error| silence(&error))?;
    let would_wait = match response.status() {
        StatusCode::REQUEST_TIMEOUT => true,
        StatusCode::OK => path.ends_with("/stream"),
        _ => false,
    };
    if would_wait {
        return Err(no_server(url));
    }
    let (parts, body) = response.into_parts();
    let bytes = body.collect().await.map_err(|error| broken(&error))?.to_bytes();
    Ok(as_it_comes(Response::from_parts(parts, Body::from(bytes))))
}

/// The same request without its wait.
fn without_wait(method: &Method, path: &str) -> String {
    match path.split_once("/wait?") {
        Some((run, _)) if *method == Method::GET => format!("{run}/wait?timeout=0ms"),
        _ => path.to_owned(),
    }
}

fn no_server(url: &str) -> ApiSilence {
    ApiSilence {
        code: NO_SERVER,
        message: format!(
            "no server runs at {url}, and this needs one: without it the store can only be looked at"
        ),
        hint: Some(
            "ask the user to start `rival dev` (or `rival serve`) in the project's folder, then try again"
                .to_owned(),
        ),
    }
}

/// Why there is no answer.
fn silence(error: &anyhow::Error) -> ApiSilence {
    let failed = error.downcast_ref::<ExitError>();
    let code = match failed.and_then(|failed| failed.silence) {
        Some(ServerSilence::Lost) => LOST,
        Some(ServerSilence::Absent) | None => NO_SERVER,
    };
    ApiSilence { code, message: format!("{error:#}"), hint: failed.and_then(|failed| failed.hint.clone()) }
}

fn broken(error: &axum::Error) -> ApiSilence {
    ApiSilence { code: LOST, message: format!("the answer broke off: {error}"), hint: None }
}

/// An answer, whose body is read as it comes.
fn as_it_comes(response: Response<Body>) -> ApiResponse {
    let (parts, body) = response.into_parts();
    let body = body.into_data_stream().map(|part| part.map_err(|error| broken(&error))).boxed();
    ApiResponse { status: parts.status, headers: parts.headers, body }
}
