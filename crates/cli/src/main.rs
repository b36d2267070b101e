//! The `rival` command.
#![allow(clippy::print_stdout, reason = "a command's output is what it prints")]

mod args;
mod client;
mod config;
mod connections;
mod demo;
mod event_data;
mod examples;
mod exit;
mod failure;
mod help;
mod lines;
mod live_run;
mod logging;
mod mcp;
mod offered;
mod operations;
mod out;
mod pick;
mod read;
mod sample;
mod screen;
mod server;
mod signals;
mod sse;
mod style;
mod table;
mod text;
mod tree;
mod type_check;
mod verbs;
mod workflow_files;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::FromArgMatches;

use args::{CliVerb, CommandLine, ConfigVerb, TokenVerb};
use config::{GivenFlags, ResolvedConfig};
use logging::DefaultVerbosity;
use out::{DataOutput, note};
use verbs::control::ControlRequest;
use verbs::serve::ServerOffer;
use verbs::{
    VerbContext, archive, control, doctor, documents, init, look, serve, signal, start, store, test, token,
    watch, workflows,
};

// Actors, commits and steps are many small allocations from many threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // The allocator asks for huge pages: 10,000 connections and their buffers take a third more memory with them, and
    // steps are no faster. Script hosts inherit this. A kernel without huge pages refuses, which is as well.
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::disable_transparent_huge_pages(true);
    // A script host is this program too.
    rival_script::main_if_asked();
    let arguments = match help::command().try_get_matches() {
        Ok(matches) => CommandLine::from_arg_matches(&matches).unwrap_or_else(|error| error.exit()),
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

async fn run(CommandLine { command, global }: CommandLine) -> Result<ExitCode> {
    let mut given = global.flags.given.clone();
    given.and(&flags_of(&command));
    let environment: Vec<(String, String)> = std::env::vars().collect();
    let config = ResolvedConfig::load(global.config.as_deref(), &given, &environment)?;
    if !matches!(command, CliVerb::Doctor(_)) {
        config.warnings.iter().for_each(|warning| note(format_args!("warning: {warning}")));
    }
    logging::start(voice(&command), &config);
    let context = VerbContext::new(config, DataOutput::new(global.output));
    match command {
        // These stop in order.
        CliVerb::Dev(args) => {
            let paths = context.files(args.paths);
            let (examples, pace) = (args.examples || paths.is_empty(), Duration::from_millis(args.pace));
            serve::serve(&context, ServerOffer { paths, examples, dev: true, pace }).await
        }
        CliVerb::Serve(args) => {
            let (paths, pace) = (context.files(args.paths), Duration::from_millis(args.pace));
            serve::serve(&context, ServerOffer { paths, examples: args.examples, dev: false, pace }).await
        }
        CliVerb::Demo(args) => demo::run(&args.data, Duration::from_millis(args.pace)).await,
        // The others can be left at any time.
        other => {
            let done = tokio::select! {
                done = act(&context, other) => done.map(|()| ExitCode::SUCCESS),
                signal = signals::first() => Ok(ExitCode::from(signal.exit())),
            };
            context.close().await;
            done
        }
    }
}

async fn act(context: &VerbContext, verb: CliVerb) -> Result<()> {
    match verb {
        CliVerb::Run(args) => start::run(context, &args).await,
        CliVerb::Watch(args) => watch::watch(context, &args).await,
        CliVerb::List(args) => look::list(context, &args).await,
        CliVerb::Show(args) => look::show(context, &args).await,
        CliVerb::History(args) => look::history(context, &args).await,
        CliVerb::Logs(args) => look::logs(context, &args).await,
        CliVerb::Explain(args) => look::explain(context, &args).await,
        CliVerb::Wait(args) => start::wait(context, &args).await,
        CliVerb::Cancel(args) => {
            control::ask(context, ControlRequest::Cancel, &args.runs.runs, args.reason.as_deref()).await
        }
        CliVerb::Kill(args) => {
            control::ask(context, ControlRequest::Kill, &args.runs.runs, args.reason.as_deref()).await
        }
        CliVerb::Pause(args) => control::ask(context, ControlRequest::Pause, &args.runs, None).await,
        CliVerb::Resume(args) => control::ask(context, ControlRequest::Resume, &args.runs, None).await,
        CliVerb::Retry(args) => control::retry(context, &args).await,
        CliVerb::Fork(args) => control::fork(context, &args).await,
        CliVerb::Signal(args) => signal::signal(context, &args).await,
        CliVerb::Workflows(args) => workflows::workflows(context, &args).await,
        CliVerb::Validate(args) => documents::validate(context, &args).await,
        CliVerb::Documents(args) => documents::documents(context, args.verb).await,
        CliVerb::Graph(args) => workflows::graph(context, &args).await,
        CliVerb::Init(args) => init::init(&context.out, &args.folder),
        CliVerb::Connections(args) => verbs::connections::connections(context, &args).await,
        CliVerb::Test(args) => test::test(context, &args).await,
        CliVerb::Mcp => mcp::serve(context).await,
        CliVerb::Token(args) => token::token(context, &args.verb),
        CliVerb::Export(args) => archive::export(context, &args).await,
        CliVerb::Import(args) => archive::import(context, &args).await,
        CliVerb::Verify(args) => store::verify(context, args.accept).await,
        CliVerb::Doctor(_) => doctor::doctor(context).await,
        CliVerb::Config(_) => config::print(&context.config, &context.out),
        CliVerb::Completion { shell } => complete(shell),
        CliVerb::Version => verbs::version(context).await,
        CliVerb::Dev(_) | CliVerb::Serve(_) | CliVerb::Demo(_) => {
            unreachable!("they stop in order, see `run`")
        }
    }
}

/// What the flags of a command say about settings.
fn flags_of(command: &CliVerb) -> GivenFlags {
    match command {
        CliVerb::Dev(args) => args.flags.given.clone(),
        CliVerb::Serve(args) => args.flags.given.clone(),
        CliVerb::Doctor(args) => args.flags.given.clone(),
        CliVerb::Config(args) => match &args.verb {
            ConfigVerb::Print { flags } => flags.given.clone(),
        },
        CliVerb::Token(args) => match &args.verb {
            TokenVerb::Create { flags, .. } | TokenVerb::List { flags } | TokenVerb::Revoke { flags, .. } => {
                flags.given.clone()
            }
        },
        _ => GivenFlags::default(),
    }
}

fn voice(command: &CliVerb) -> DefaultVerbosity {
    match command {
        CliVerb::Serve(_) => DefaultVerbosity::Server,
        CliVerb::Dev(_) => DefaultVerbosity::Dev,
        _ => DefaultVerbosity::Quiet,
    }
}

fn complete(shell: clap_complete::Shell) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut help::command(), "rival", &mut script);
    Ok(std::io::Write::write_all(&mut std::io::stdout().lock(), &script)?)
}
