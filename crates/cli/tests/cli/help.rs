//! What someone new sees first.

use expect_test::expect;

use crate::lab::Lab;

#[test]
fn help_says_where_to_begin() {
    let text = Lab::offline().raw(&["--help"]);
    expect![[r#"
        Durable workflows: steps are functions, and nothing that was done is lost

        Usage: rival [OPTIONS] <COMMAND>

        Start here:
          dev         Start a server to try things: your workflow files or examples, data in ./data, a log for people
          init        Make a project: a workflow in TypeScript, a test of it, types for editors
          run         Start a run of a workflow
          watch       Watch a run live, or all of them
          demo        Run an example order, to watch and to kill: started again, it goes on where it was

        Look at runs:
          list        List runs, the newest first
          show        Show a run: its input, steps, result
          history     Show everything that happened in a run
          logs        Show what the steps of a run wrote
          explain     Say in one sentence what a run is waiting for
          wait        Wait for runs to end, and print their results

        Control runs:
          cancel      Ask runs to stop; what they did is undone where the workflow says how
          kill        End runs at once, undoing nothing
          pause       Hold runs: steps at work finish, nothing new starts
          resume      Let paused or blocked runs go on
          retry       Start failed or cancelled runs again where they failed
          fork        Start a new run from any point of one that has ended
          signal      Send a signal to a run

        Workflows:
          workflows   List workflows, or show one
          documents   List, show, save and delete the documents that the server keeps: workflows as JSON
          validate    Check a document, or an input against a workflow, without starting anything
          graph       Draw a workflow or a run
          connections Show the MCP servers whose tools steps call, try them, and add or remove some
          test        Run the tests of workflow files
          mcp         Be an MCP server on stdin and stdout, so that a model can run and write workflows

        Operate:
          serve       Start the server for production
          token       Create, list and revoke the tokens that clients show to the server
          export      Write a run into one file that opens anywhere, offline
          import      Read runs back from files that `export` wrote
          verify      Check everything in the store against what must always hold
          doctor      Check settings, store, server and tokens, and say what is wrong
          config      Show the settings and where they come from
          completion  Print a script that completes commands in a shell
          version     Print the version of this command, and of the server if one runs

        Options:
          -o, --output <FORMAT>  How results are printed: table, json or ids
              --config <FILE>    The settings file; ./rival.toml by default
              --store <FILE>     The store: one SQLite file
              --url <URL>        The server to talk to; the one at `listen` by default
              --token <TOKEN>    The token to show it; better given as RIVAL_TOKEN, which others cannot see
          -h, --help             Print help
          -V, --version          Print version

        Try it:
          rival dev                  in one terminal: a server with example workflows
          rival run flaky --wait     in another: start a run, see it fail and recover, get its result
          rival list                 every run that there was

        Commands talk to the server at `url`. If none runs there and no other was named, they open the store file instead.
        Exit codes: 0 done, 1 error or failed run, 2 wrong usage, 3 token missing or refused, 4 not found, 130 interrupted.
        `rival <command> --help` tells more; docs/cli.md tells all. NO_COLOR=1 turns colours off.
    "#]].assert_eq(&text);
    // Nothing at all is a question too, but not a right answer.
    let nothing = Lab::offline().rival(&[]);
    assert_eq!(nothing.code, 2);
    assert!(nothing.err.contains("Start here:"), "{}", nothing.err);
}

#[test]
fn every_command_has_help() {
    let lab = Lab::offline();
    let help = lab.raw(&["--help"]);
    let commands = help.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let commands: Vec<&str> = commands
        .filter(|word| !word.is_empty() && word.chars().all(char::is_alphabetic) && *word != "rival")
        .collect();
    assert!(commands.len() > 28, "{commands:?}");
    for command in commands {
        let printed = lab.rival(&[command, "--help"]);
        assert_eq!(printed.code, 0, "{command}: {}", printed.err);
    }
}

#[test]
fn a_command_that_there_is_not_is_wrong_usage() {
    Lab::offline().rival(&["lst"]).is(&expect![[r#"
        ! error: unrecognized subcommand 'lst'
        ! 
        !   tip: some similar subcommands exist: 'test', 'list'
        ! 
        ! Usage: rival [OPTIONS] <COMMAND>
        ! 
        ! For more information, try '--help'.
        exit 2
    "#]]);
}

#[test]
fn a_shell_can_complete_commands() {
    let script = Lab::offline().rival(&["completion", "bash"]).ok();
    assert!(script.contains("complete -F _rival") && script.contains("--input"), "{script}");
}

#[test]
fn the_version_is_told() {
    Lab::offline().rival(&["version"]).is(&expect![[r#"
        rival 0.1.0
    "#]]);
    let mut lab = Lab::online();
    lab.rival(&["version"]).is(&expect![[r#"
        rival 0.1.0
        server 0.1.0 at <url>
    "#]]);
    lab.kill_server();
    assert_eq!(lab.rival(&["version", "-o", "json"]).json()["server"], serde_json::Value::Null);
}

/// In a project there are no examples to run.
#[test]
fn help_in_a_project_names_what_is_there() {
    let lab = Lab::offline();
    assert!(lab.raw(&["--help"]).contains("rival run flaky --wait"));
    lab.rival(&["init"]).ok();
    let text = lab.raw(&["--help"]);
    assert!(
        !text.contains("flaky") && text.contains("a server with the workflows of this project"),
        "{text}"
    );
}
