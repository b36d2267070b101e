//! The `rival` command.
#![allow(clippy::print_stdout, reason = "a command's output is what it prints")]

mod args;
mod bench;
mod client;
mod config;
mod demo;
mod duration;
mod examples;
mod exit;
mod help;
mod lines;
mod logging;
mod out;
mod read;
mod sample;
mod screen;
mod server;
mod shape;
mod signals;
mod sse;
mod style;
mod text;
mod tree;
mod verbs;
mod workflow_files;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::FromArgMatches;

use args::{Arguments, ConfigVerb, TokenVerb, Verb};
use config::{Config, Given};
use logging::Voice;
use out::{Out, note};
use verbs::control::Ask;
use verbs::serve::Offer;
use verbs::{
    Context, archive, control, doctor, init, look, serve, start, store, test, token, watch, workflows,
};

// Actors, commits and steps are many small allocations from many threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // A script host is this program too.
    rival_script::main_if_asked();
    let arguments = match help::command().try_get_matches() {
        Ok(matches) => Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit()),
        Err(error) => error.exit(),
    };
    runtime()
        .and_then(|runtime| runtime.block_on(run(arguments)))
        .unwrap_or_else(|error| exit::report(&error))
}

fn runtime() -> Result<tokio::runtime::Runtime> {
    // The store's writer has a thread of its own, and is as busy as all steps together: leave it a core.
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    let workers = (cores - 1).max(1);
    Ok(tokio::runtime::Builder::new_multi_thread().worker_threads(workers).enable_all().build()?)
}

async fn run(Arguments { command, global }: Arguments) -> Result<ExitCode> {
    let mut given = global.flags.given.clone();
    given.and(&flags_of(&command));
    let environment: Vec<(String, String)> = std::env::vars().collect();
    let config = Config::load(global.config.as_deref(), &given, &environment)?;
    if !matches!(command, Verb::Doctor(_)) {
        config.warnings.iter().for_each(|warning| note(format_args!("warning: {warning}")));
    }
    logging::start(voice(&command), &config);
    let context = Context::new(config, Out::new(global.output));
    match command {
        // These stop in order.
        Verb::Dev(args) => {
            let paths = context.files(args.paths);
            let (examples, pace) = (args.examples || paths.is_empty(), Duration::from_millis(args.pace));
            serve::serve(&context, Offer { paths, examples, dev: true, pace }).await
        }
        Verb::Serve(args) => {
            let (paths, pace) = (context.files(args.paths), Duration::from_millis(args.pace));
            serve::serve(&context, Offer { paths, examples: args.examples, dev: false, pace }).await
        }
        Verb::Demo(args) => demo::run(&args.data, Duration::from_millis(args.pace)).await,
        other => interruptible(&context, other).await,
    }
}

/// Verbs that can be left at any time.
async fn interruptible(context: &Context, verb: Verb) -> Result<ExitCode> {
    let done = tokio::select! {
        done = act(context, verb) => done.map(|()| ExitCode::SUCCESS),
        signal = signals::first() => Ok(ExitCode::from(signal.exit())),
    };
    context.close().await;
    done
}

async fn act(context: &Context, verb: Verb) -> Result<()> {
    match verb {
        Verb::Run(args) => start::run(context, &args).await,
        Verb::Watch(args) => watch::watch(context, &args).await,
        Verb::List(args) => look::list(context, &args).await,
        Verb::Show(args) => look::show(context, &args).await,
        Verb::History(args) => look::history(context, &args).await,
        Verb::Logs(args) => look::logs(context, &args).await,
        Verb::Explain(args) => look::explain(context, &args).await,
        Verb::Wait(args) => start::wait(context, &args).await,
        Verb::Cancel(args) => {
            control::ask(context, Ask::Cancel, &args.runs.runs, args.reason.as_deref()).await
        }
        Verb::Kill(args) => control::ask(context, Ask::Kill, &args.runs.runs, args.reason.as_deref()).await,
        Verb::Pause(args) => control::ask(context, Ask::Pause, &args.runs, None).await,
        Verb::Resume(args) => control::ask(context, Ask::Resume, &args.runs, None).await,
        Verb::Retry(args) => control::retry(context, &args).await,
        Verb::Fork(args) => control::fork(context, &args).await,
        Verb::Signal(args) => control::signal(context, &args).await,
        Verb::Workflows(args) => workflows::workflows(context, &args).await,
        Verb::Validate(args) => workflows::validate(context, &args).await,
        Verb::Graph(args) => workflows::graph(context, &args).await,
        Verb::Init(args) => init::init(&context.out, &args.folder),
        Verb::Test(args) => test::test(context, &args).await,
        Verb::Token(args) => token::token(context, &args.verb),
        Verb::Export(args) => archive::export(context, &args).await,
        Verb::Import(args) => archive::import(context, &args).await,
        Verb::Verify(args) => store::verify(context, args.accept).await,
        Verb::Doctor(_) => doctor::doctor(context).await,
        Verb::Config(_) => config::print(&context.config, &context.out),
        Verb::Bench(args) => bench::run(&args.only, args.smoke, &args.json).await,
        Verb::Completion { shell } => complete(shell),
        Verb::Version => verbs::version(context).await,
        Verb::Dev(_) | Verb::Serve(_) | Verb::Demo(_) => unreachable!("they stop in order, see `run`"),
    }
}

/// What the flags of a command say about settings.
fn flags_of(command: &Verb) -> Given {
    match command {
        Verb::Dev(args) => args.flags.given.clone(),
        Verb::Serve(args) => args.flags.given.clone(),
        Verb::Doctor(args) => args.flags.given.clone(),
        Verb::Config(args) => match &args.verb {
            ConfigVerb::Print { flags } => flags.given.clone(),
        },
        Verb::Token(args) => match &args.verb {
            TokenVerb::Create { flags, .. } | TokenVerb::List { flags } | TokenVerb::Revoke { flags, .. } => {
                flags.given.clone()
            }
        },
        _ => Given::default(),
    }
}

fn voice(command: &Verb) -> Voice {
    match command {
        Verb::Serve(_) => Voice::Server,
        Verb::Dev(_) => Voice::Dev,
        _ => Voice::Quiet,
    }
}

fn complete(shell: clap_complete::Shell) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut help::command(), "rival", &mut script);
    Ok(std::io::Write::write_all(&mut std::io::stdout().lock(), &script)?)
}
