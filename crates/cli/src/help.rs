//! The help of `rival` itself: its commands in groups, for someone new.

use clap::{Command, CommandFactory};

use crate::args::CommandLine;
use crate::config;

/// The commands in the order in which one meets them.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Start here", &["dev", "init", "run", "watch", "demo"]),
    ("Look at runs", &["list", "show", "history", "logs", "explain", "wait"]),
    ("Control runs", &["cancel", "kill", "pause", "resume", "retry", "fork", "signal"]),
    ("Workflows", &["workflows", "documents", "validate", "graph", "connections", "test", "mcp"]),
    (
        "Operate",
        &["serve", "token", "export", "import", "verify", "doctor", "config", "completion", "version"],
    ),
];

/// What to try where there is no project.
const TRY_EXAMPLES: &str = "\
Try it:
  rival dev                  in one terminal: a server with example workflows
  rival run flaky --wait     in another: start a run, see it fail and recover, get its result
  rival list                 every run that there was
";

/// What to try in a project, whose workflows are its own.
const TRY_PROJECT: &str = "\
Try it:
  rival dev                  in one terminal: a server with the workflows of this project
  rival workflows            in another: what can be run, and `rival workflows NAME` what to type
  rival list                 every run that there was
";

const END: &str = "\
Commands talk to the server at `url`. If none runs there and no other was named, they open the store file instead.
Exit codes: 0 done, 1 error or failed run, 2 wrong usage, 3 token missing or refused, 4 not found, 130 interrupted.
`rival <command> --help` tells more; docs/cli.md tells all. NO_COLOR=1 turns colours off.";

/// The command line, with its help.
pub(crate) fn command() -> Command {
    let command = CommandLine::command();
    let groups: String = GROUPS.iter().map(|(heading, names)| group(&command, heading, names)).collect();
    let examples = if config::is_in_project() { TRY_PROJECT } else { TRY_EXAMPLES };
    command.help_template(format!(
        "{{about}}\n\n{{usage-heading}} {{usage}}\n\n{groups}Options:\n{{options}}\n\n{examples}\n{END}\n"
    ))
}

fn group(command: &Command, heading: &str, names: &[&str]) -> String {
    let lines = names.iter().map(|name| {
        let about = command.find_subcommand(name).and_then(Command::get_about).cloned().unwrap_or_default();
        format!("  {name:<11} {about}\n")
    });
    format!("{heading}:\n{}\n", lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_one_group_and_says_what_it_does() {
        command().debug_assert();
        let mut shown: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        shown.sort_unstable();
        let command = CommandLine::command();
        let mut all: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        all.sort_unstable();
        assert_eq!(shown, all);
        let page = include_str!("../../../docs/cli.md");
        for name in &all {
            assert!(
                page.contains(&format!("`{name}")) || page.contains(&format!("{name} RUN")),
                "docs/cli.md: {name}"
            );
        }
        assert!(command.get_subcommands().all(|command| command.get_about().is_some()));
    }
}
