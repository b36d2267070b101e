//! What the command line says.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use rival::{LogLevel, RunStatus};
use rival_api::duration;

use crate::config::{GlobalFlags, ServerFlags, TokenFlags};
use crate::out::OutputFormat;

/// Durable workflows: steps are functions, and nothing that was done is lost.
#[derive(Debug, Parser)]
#[command(name = "rival", version, arg_required_else_help = true)]
pub(crate) struct CommandLine {
    #[command(subcommand)]
    pub(crate) command: CliVerb,
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
}

/// What every command takes.
#[derive(Clone, Debug, Args)]
pub(crate) struct GlobalArgs {
    /// How results are printed: table, json or ids
    #[arg(short, long, value_name = "FORMAT", global = true, default_value = "table")]
    #[arg(hide_default_value = true, hide_possible_values = true, help_heading = "Global options")]
    pub(crate) output: OutputFormat,
    /// The settings file; ./rival.toml by default
    #[arg(long, value_name = "FILE", global = true, help_heading = "Global options")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) flags: GlobalFlags,
}

/// One per verb; `help.rs` says in which group each is shown.
#[derive(Debug, Subcommand)]
pub(crate) enum CliVerb {
    /// Start a server to try things: your workflow files or examples, data in ./data, a log for people
    Dev(DevArgs),
    /// Make a project: a workflow in TypeScript, a test of it, types for editors
    Init(InitArgs),
    /// Start a run of a workflow
    Run(RunArgs),
    /// Watch a run live, or all of them
    Watch(WatchArgs),
    /// Run an example order, to watch and to kill: started again, it goes on where it was
    Demo(DemoArgs),
    /// List runs, the newest first
    List(ListArgs),
    /// Show a run: its input, steps, result
    #[command(visible_aliases = ["get", "describe"])]
    Show(RunsArgs),
    /// Show everything that happened in a run
    #[command(visible_alias = "events")]
    History(HistoryArgs),
    /// Show what the steps of a run wrote
    Logs(LogsArgs),
    /// Say in one sentence what a run is waiting for
    Explain(RunsArgs),
    /// Wait for runs to end, and print their results
    Wait(WaitArgs),
    /// Ask runs to stop; what they did is undone where the workflow says how
    Cancel(StopArgs),
    /// End runs at once, undoing nothing
    Kill(StopArgs),
    /// Hold runs: steps at work finish, nothing new starts
    Pause(RunsArgs),
    /// Let paused or blocked runs go on
    Resume(RunsArgs),
    /// Start failed or cancelled runs again where they failed
    Retry(RetryArgs),
    /// Start a new run from any point of one that has ended
    Fork(ForkArgs),
    /// Send a signal to a run
    Signal(SignalArgs),
    /// List workflows, or show one
    Workflows(WorkflowsArgs),
    /// Check a document, or an input against a workflow, without starting anything
    Validate(ValidateArgs),
    /// List, show, save and delete the documents that the server keeps: workflows as JSON
    Documents(DocumentsArgs),
    /// Draw a workflow or a run
    Graph(GraphArgs),
    /// Show the MCP servers whose tools steps call, try them, and add or remove some
    Connections(ConnectionsArgs),
    /// Run the tests of workflow files
    Test(TestArgs),
    /// Be an MCP server on stdin and stdout, so that a model can run and write workflows
    Mcp,
    /// Start the server for production
    Serve(ServeArgs),
    /// Create, list and revoke the tokens that clients show to the server
    Token(TokenArgs),
    /// Write a run into one file that opens anywhere, offline
    Export(ExportArgs),
    /// Read runs back from files that `export` wrote
    Import(ImportArgs),
    /// Check everything in the store against what must always hold
    Verify(VerifyArgs),
    /// Check settings, store, server and tokens, and say what is wrong
    Doctor(DoctorArgs),
    /// Show the settings and where they come from
    Config(ConfigArgs),
    /// Print a script that completes commands in a shell
    Completion {
        /// The shell
        shell: Shell,
    },
    /// Print the version of this command, and of the server if one runs
    Version,
}

#[derive(Debug, Args)]
pub(crate) struct DevArgs {
    /// Files and folders of workflows in TypeScript
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Offer the example workflows also where files are given
    #[arg(long)]
    pub(crate) examples: bool,
    #[command(flatten)]
    pub(crate) flags: ServerFlags,
    /// As for `demo`
    #[arg(long, value_name = "MS", default_value_t = 100, hide = true)]
    pub(crate) pace: u64,
}

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Files and folders of workflows in TypeScript
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Also offer the example workflows of `rival dev`
    #[arg(long)]
    pub(crate) examples: bool,
    #[command(flatten)]
    pub(crate) flags: ServerFlags,
    /// As for `demo`
    #[arg(long, value_name = "MS", default_value_t = 100, hide = true)]
    pub(crate) pace: u64,
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// The folder; it is made if it is not there
    #[arg(value_name = "DIR", default_value = ".", hide_default_value = true)]
    pub(crate) folder: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    /// Test files, or folders that have some; this folder by default
    #[arg(value_name = "PATH", default_value = ".", hide_default_value = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// Only tests whose name contains this
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub(crate) only: String,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// Take a store as it is, although its mark is missing or says that commits are lost, if all that is there holds
    #[arg(long)]
    pub(crate) accept: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The workflow
    pub(crate) workflow: String,
    /// The input: JSON, @FILE, or - for stdin
    #[arg(short, long, value_name = "JSON")]
    pub(crate) input: Option<String>,
    /// The id of the run; starting it again with the same input does nothing
    #[arg(long)]
    pub(crate) id: Option<String>,
    /// A word to find the run by; may be given several times
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<String>,
    /// Wait for its end and print its output; with a time, at most that long
    #[arg(long, value_name = "TIME", num_args = 0..=1, require_equals = true, value_parser = length_of_time)]
    pub(crate) wait: Option<Option<Duration>>,
    /// Fail the run if it takes longer
    #[arg(long, value_name = "TIME", value_parser = length_of_time)]
    pub(crate) timeout: Option<Duration>,
    /// Start the run again this often if it fails
    #[arg(long, value_name = "N")]
    pub(crate) retries: Option<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    /// The run; without it, all runs
    pub(crate) run: Option<String>,
    /// Only runs of this workflow, when watching all
    #[arg(long, conflicts_with = "run")]
    pub(crate) workflow: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// The folder of the store
    #[arg(long, value_name = "DIR", default_value = "data")]
    pub(crate) data: PathBuf,
    /// How long a tenth of a second of work takes, in milliseconds; tests make it short
    #[arg(long, value_name = "MS", default_value_t = 100, hide = true)]
    pub(crate) pace: u64,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Only runs of this workflow
    #[arg(short, long)]
    pub(crate) workflow: Option<String>,
    /// Only runs with one of these statuses, with commas between them
    #[arg(short, long, value_name = "STATUS,…", value_delimiter = ',', value_parser = status)]
    pub(crate) status: Vec<RunStatus>,
    /// Only runs with this tag
    #[arg(long)]
    pub(crate) tag: Option<String>,
    /// Only children of this run
    #[arg(long, value_name = "RUN")]
    pub(crate) parent: Option<String>,
    /// Only runs that go on from this one: its retries and forks, and what its triggers started
    #[arg(long, value_name = "RUN")]
    pub(crate) source: Option<String>,
    /// Only runs started at this time or later: 2026-11-15T09:00:00Z, 2026-11-15, yesterday, or 1h for an hour ago
    #[arg(long, value_name = "TIME")]
    pub(crate) from: Option<String>,
    /// Only runs started before this time
    #[arg(long, value_name = "TIME")]
    pub(crate) to: Option<String>,
    /// Only runs with this in their input, such as customer.name=Ada
    #[arg(long, value_name = "FIELD=VALUE")]
    pub(crate) input: Option<String>,
    /// How many at most; 20 unless told otherwise, and with --all as many as there are
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: Option<u32>,
    /// All of them: children and runs that undo children too, which are counted at their parents otherwise, and runs of
    /// Rival's own, which start what others trigger
    #[arg(short, long)]
    pub(crate) all: bool,
}

/// Some runs.
#[derive(Debug, Args)]
pub(crate) struct RunsArgs {
    /// The ids of the runs, or - to read them from stdin
    #[arg(required = true, value_name = "RUN")]
    pub(crate) runs: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct HistoryArgs {
    /// The id of the run, or a file that `export` wrote
    pub(crate) run: String,
    /// Only events after this one
    #[arg(long, value_name = "SEQ", default_value_t = 0, hide_default_value = true)]
    pub(crate) after: u64,
}

#[derive(Debug, Args)]
pub(crate) struct LogsArgs {
    /// The id of the run, or a file that `export` wrote
    pub(crate) run: String,
    /// Go on until the run ends
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// Only of this step
    #[arg(long)]
    pub(crate) step: Option<String>,
    /// Only lines of this level and above
    #[arg(long, value_parser = log_level())]
    pub(crate) level: Option<LogLevel>,
}

/// Takes the words of log levels, and names them in the help.
fn log_level() -> impl TypedValueParser<Value = LogLevel> {
    PossibleValuesParser::new(LogLevel::ALL.map(LogLevel::word)).try_map(|word| word.parse::<LogLevel>())
}

#[derive(Debug, Args)]
pub(crate) struct WaitArgs {
    #[command(flatten)]
    pub(crate) runs: RunsArgs,
    /// Give up after this long; the run goes on
    #[arg(long, value_name = "TIME", value_parser = length_of_time)]
    pub(crate) timeout: Option<Duration>,
}

#[derive(Debug, Args)]
pub(crate) struct StopArgs {
    #[command(flatten)]
    pub(crate) runs: RunsArgs,
    /// Why, for those who look at the run later
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RetryArgs {
    #[command(flatten)]
    pub(crate) runs: RunsArgs,
    /// Wait for the end of the new runs and print their outputs; with a time, at most that long for each
    #[arg(long, value_name = "TIME", num_args = 0..=1, require_equals = true, value_parser = length_of_time)]
    pub(crate) wait: Option<Option<Duration>>,
}

#[derive(Debug, Args)]
pub(crate) struct ForkArgs {
    /// The run to go on from
    pub(crate) run: String,
    /// The node that runs again, with everything after it; where the run failed by default
    #[arg(long, value_name = "NODE")]
    pub(crate) from: Option<String>,
    /// Another input: JSON, @FILE, or - for stdin
    #[arg(short, long, value_name = "JSON")]
    pub(crate) input: Option<String>,
    /// The id of the new run
    #[arg(long)]
    pub(crate) id: Option<String>,
    /// Wait for the end of the new run and print its output; with a time, at most that long
    #[arg(long, value_name = "TIME", num_args = 0..=1, require_equals = true, value_parser = length_of_time)]
    pub(crate) wait: Option<Option<Duration>>,
}

#[derive(Debug, Args)]
pub(crate) struct SignalArgs {
    /// The run
    pub(crate) run: String,
    /// The signal's name
    pub(crate) name: String,
    /// What it says: JSON, @FILE, or - for stdin
    #[arg(value_name = "PAYLOAD")]
    pub(crate) payload: Option<String>,
    /// Sent again with the same id, it counts once
    #[arg(long)]
    pub(crate) id: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct WorkflowsArgs {
    /// Show only this one, with its steps and its input
    pub(crate) name: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ConnectionsArgs {
    #[command(subcommand)]
    pub(crate) verb: Option<ConnectionsVerb>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConnectionsVerb {
    /// List the connections, with how they are doing
    List,
    /// Wait until a connection is there, and ask its server for a sign of life
    Test {
        /// The connection
        name: String,
    },
    /// List the tools of a connection, with their types
    Tools {
        /// The connection
        name: String,
    },
    /// Call a tool by hand
    Call {
        /// The connection
        name: String,
        /// The tool
        tool: String,
        /// The input, an object: JSON, @FILE, or - for stdin
        #[arg(short, long, value_name = "JSON")]
        input: Option<String>,
    },
    /// Define a connection over the API of a server, which keeps it
    Add {
        /// Its name
        name: String,
        /// What it is: JSON, @FILE, or - for stdin
        #[arg(short, long, value_name = "JSON", required_unless_present = "address")]
        definition: Option<String>,
        /// The address of its server
        #[arg(long = "to", value_name = "ADDRESS")]
        address: Option<String>,
    },
    /// Remove a connection that was defined over the API
    Remove {
        /// The connection
        name: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ValidateArgs {
    /// A document: a file, or - for stdin; or the workflow that an input is for
    #[arg(value_name = "FILE|WORKFLOW")]
    pub(crate) subject: String,
    /// The input: JSON, @FILE, or - for stdin
    #[arg(short, long, value_name = "JSON")]
    pub(crate) input: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct DocumentsArgs {
    #[command(subcommand)]
    pub(crate) verb: Option<DocumentsVerb>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DocumentsVerb {
    /// List the documents
    List,
    /// Print a document as it was written
    Show {
        /// The document
        name: String,
        /// This version of it
        #[arg(long)]
        version: Option<u64>,
    },
    /// Save a document that is new
    Create {
        /// The file, or - for stdin
        file: String,
    },
    /// Save a document, new or in the place of the one that has its name
    Put {
        /// The file, or - for stdin
        file: String,
        /// Only if this version is the newest
        #[arg(long, value_name = "VERSION")]
        if_version: Option<u64>,
    },
    /// Delete a document; its runs go on, and its versions stay
    Delete {
        /// The document
        name: String,
        /// Only if this version is the newest
        #[arg(long, value_name = "VERSION")]
        if_version: Option<u64>,
    },
    /// List the versions of a document, the newest first
    Versions {
        /// The document
        name: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct GraphArgs {
    /// A workflow, or the id of a run
    #[arg(value_name = "WORKFLOW|RUN")]
    pub(crate) name: String,
    /// How it is drawn
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: DrawingArg,
}

/// How a graph is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DrawingArg {
    /// A tree, for terminals
    Text,
    /// For Markdown
    Mermaid,
    /// For Graphviz
    Dot,
    /// For programs
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct TokenArgs {
    #[command(subcommand)]
    pub(crate) verb: TokenVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TokenVerb {
    /// Create a token and show it, once
    Create {
        /// Whose it is, or what for
        name: String,
        /// What it allows: to read, also to start and control runs, or everything
        #[arg(long, value_enum, default_value = "run")]
        scope: TokenScope,
        /// When it stops being valid, from now
        #[arg(long, value_name = "TIME", value_parser = length_of_time)]
        expires: Option<Duration>,
        #[command(flatten)]
        flags: TokenFlags,
    },
    /// List the tokens, without their secrets
    List {
        #[command(flatten)]
        flags: TokenFlags,
    },
    /// Make a token invalid, at once
    Revoke {
        /// The id of the token, as `list` shows it
        id: String,
        #[command(flatten)]
        flags: TokenFlags,
    },
}

/// What a token allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TokenScope {
    Read,
    Run,
    Admin,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The id of the run
    pub(crate) run: String,
    /// Where it goes; stdout by default
    pub(crate) file: Option<PathBuf>,
    /// A page for people that programs read too, or only the data; html for a FILE that ends in .html
    #[arg(long, value_enum)]
    pub(crate) format: Option<ExportFormat>,
}

/// The form of an exported run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    Html,
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Files that `export` wrote, or - for stdin
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) flags: ServerFlags,
}

#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) verb: ConfigVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigVerb {
    /// Print every setting, its value and where it comes from
    Print {
        #[command(flatten)]
        flags: ServerFlags,
    },
}

fn status(text: &str) -> Result<RunStatus, String> {
    RunStatus::from_str(text.trim()).map_err(|error| error.to_string())
}

fn length_of_time(text: &str) -> Result<Duration, String> {
    duration::parse(text).ok_or_else(|| format!("expected {}", duration::EXPECTED))
}
