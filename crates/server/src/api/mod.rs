//! The routes of the API, each documented where it is written.

mod archive;
mod bulk;
mod connections;
mod control;
pub(crate) mod convert;
mod documents;
mod errors;
mod extract;
mod follow;
mod health;
mod key;
mod runs;
mod select;
mod start;
mod stream;
mod tickets;
pub(crate) mod values;
mod words;
mod workflows;

use utoipa::OpenApi;
use utoipa_axum::routes;

use crate::app::AppState;
use crate::routes::{RouteBuilder, admin, open, read, run};

/// What the document says besides routes.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Rival",
        description = "Durable workflows over HTTP. Times are milliseconds since 1970-01-01 UTC. \
            Refusals and failures are `application/problem+json` with a stable `code`, explained at `/errors/{code}`."
    ),
    servers((url = "/")),
    tags(
        (name = "workflows", description = "What can be run"),
        (name = "documents", description = "Workflows as JSON, kept by the server"),
        (name = "runs", description = "Starting runs and looking at them"),
        (name = "control", description = "Asking runs for something"),
        (name = "connections", description = "MCP servers whose tools steps call"),
        (name = "live", description = "Server-sent events"),
        (name = "server", description = "The server itself")
    )
)]
struct ApiDocument;

/// All routes of the API.
pub(crate) fn routes() -> RouteBuilder<AppState> {
    RouteBuilder::new(ApiDocument::openapi())
        .routes(read().tagged(), routes!(workflows::list))
        .routes(read().tagged(), routes!(workflows::show))
        .routes(read().tagged(), routes!(workflows::graph))
        .routes(read().tagged(), routes!(workflows::graph_text))
        .routes(run().payload().waits(), routes!(workflows::validate))
        .routes(run().payload().waits_if("wait"), routes!(start::start))
        .routes(read(), routes!(documents::list))
        .routes(admin().payload().waits(), routes!(documents::create))
        .routes(run().payload().waits(), routes!(documents::validate))
        .routes(read().tagged(), routes!(documents::schema))
        .routes(read(), routes!(documents::show))
        .routes(admin().payload().waits(), routes!(documents::save))
        .routes(admin(), routes!(documents::delete))
        .routes(read(), routes!(documents::versions))
        .routes(read(), routes!(runs::list))
        .routes(read().tagged(), routes!(runs::show))
        .routes(read().tagged(), routes!(runs::steps))
        .routes(read().tagged(), routes!(runs::events))
        .routes(read(), routes!(values::read))
        .routes(read(), routes!(runs::logs))
        .routes(read().tagged(), routes!(runs::graph))
        .routes(read().tagged(), routes!(runs::graph_text))
        .routes(read(), routes!(runs::explain))
        .routes(read().waits(), routes!(runs::wait))
        .routes(read(), routes!(archive::export))
        .routes(admin().payload(), routes!(archive::import))
        .routes(run(), routes!(control::cancel))
        .routes(admin(), routes!(control::kill))
        .routes(run(), routes!(control::pause))
        .routes(run(), routes!(control::resume))
        .routes(run(), routes!(control::retry))
        .routes(run(), routes!(control::retry_triggers))
        .routes(run().payload(), routes!(control::fork))
        .routes(run().payload(), routes!(control::signal))
        .routes(admin(), routes!(bulk::bulk))
        .routes(read(), routes!(connections::list))
        .routes(read(), routes!(connections::show))
        .routes(admin(), routes!(connections::put))
        .routes(admin(), routes!(connections::delete))
        .routes(read(), routes!(connections::tools))
        .routes(admin().waits(), routes!(connections::test))
        .routes(admin().payload().waits(), routes!(connections::call))
        .routes(read().stream(), routes!(stream::of_run))
        .routes(read().stream(), routes!(stream::of_all))
        .routes(read().stream(), routes!(stream::of_runs))
        .routes(read(), routes!(tickets::create))
        .routes(open().probe(), routes!(health::healthz))
        .routes(open().probe(), routes!(health::readyz))
        .routes(open(), routes!(health::version))
        .routes(read().probe(), routes!(health::metrics))
        .routes(read(), routes!(health::clock))
}
