//! Where commands are tried.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};

use expect_test::Expect;

/// A folder, and a server in it if one was started.
pub(crate) struct Lab {
    folder: tempfile::TempDir,
    server: Option<Server>,
    token: Option<String>,
    /// What else the server finds in its environment.
    server_env: Vec<(&'static str, PathBuf)>,
}

/// A server that runs.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) url: String,
    /// What it logged.
    pub(crate) log: Arc<Mutex<String>>,
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a command printed, and how it ended.
pub(crate) struct Printed {
    pub(crate) code: i32,
    /// What it printed, as it is.
    raw: String,
    /// The same, without what is different each time.
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Printed {
    /// All of it, without what is different each time.
    pub(crate) fn all(&self) -> String {
        let mut text = self.out.clone();
        text.extend(self.err.lines().map(|line| format!("! {line}\n")));
        if self.code != 0 {
            text += &format!("exit {}\n", self.code);
        }
        text
    }

    pub(crate) fn is(&self, expected: &Expect) {
        expected.assert_eq(&self.all());
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.raw).unwrap_or_else(|error| panic!("{error}: {}{}", self.raw, self.err))
    }

    /// What was printed, if it went well.
    pub(crate) fn ok(self) -> String {
        assert_eq!(self.code, 0, "{}", self.all());
        self.out
    }
}

impl Lab {
    /// A folder, and no server.
    pub(crate) fn offline() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), server: None, token: None, server_env: Vec::new() }
    }

    /// A folder with a server on it that has the example workflows.
    pub(crate) fn online() -> Self {
        let mut lab = Self::offline();
        lab.serve(&[]);
        lab
    }

    /// Starts a server with the example workflows, with more arguments.
    pub(crate) fn serve(&mut self, more: &[&str]) -> &mut Server {
        self.start(&[&["serve", "--examples"], more].concat())
    }

    /// Starts a server; it logs for programs.
    pub(crate) fn start(&mut self, args: &[&str]) -> &mut Server {
        let mut command = self.command(args);
        command.env_remove("RIVAL_LISTEN").args(["--listen", "127.0.0.1:0", "--log-format", "json"]);
        let more = args;
        if !more.contains(&"--pace") {
            command.args(["--pace", "5"]);
        }
        command.envs(self.server_env.iter().cloned());
        let mut child = command.spawn().unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let logged = Arc::new(Mutex::new(String::new()));
        let address = loop {
            let mut line = String::new();
            assert!(log.read_line(&mut line).unwrap() > 0, "it never was ready:\n{}", logged.lock().unwrap());
            logged.lock().unwrap().push_str(&line);
            let json: serde_json::Value = serde_json::from_str(&line).unwrap_or_default();
            if json["message"] == "the server is ready" {
                break json["address"].as_str().unwrap().to_owned();
            }
        };
        let keep = Arc::clone(&logged);
        std::thread::spawn(move || {
            for line in log.lines().map_while(Result::ok) {
                let mut keep = keep.lock().unwrap();
                keep.push_str(&line);
                keep.push('\n');
            }
        });
        self.server.insert(Server { child, url: format!("http://{address}"), log: logged })
    }

    pub(crate) fn server(&mut self) -> &mut Server {
        self.server.as_mut().unwrap()
    }

    /// Kills the server, as a crash would.
    pub(crate) fn kill_server(&mut self) {
        self.server = None;
    }

    pub(crate) fn set_server_env(&mut self, name: &'static str, value: PathBuf) {
        self.server_env.push((name, value));
    }

    pub(crate) fn show_token(&mut self, token: &str) {
        self.token = Some(token.to_owned());
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        std::fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        std::fs::write(self.path(name), text).unwrap();
        self.path(name)
    }

    /// A command in the folder, with nothing of the environment that matters to it.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rival"));
        command.current_dir(self.folder.path()).args(args);
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("RIVAL_")) {
            command.env_remove(name);
        }
        // Histories name the user.
        command.env_remove("NO_COLOR").env("COLUMNS", "120").env("USER", "ada");
        match &self.server {
            Some(server) => command.env("RIVAL_URL", &server.url),
            // No server listens at that address, whatever else runs on this machine.
            None => command.env("RIVAL_LISTEN", "127.0.0.1:1"),
        };
        if let Some(token) = &self.token {
            command.env("RIVAL_TOKEN", token);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Executes a command as it was put together.
    pub(crate) fn execute(&self, mut command: Command) -> Printed {
        self.printed(command.output().unwrap())
    }

    fn printed(&self, output: Output) -> Printed {
        let raw = String::from_utf8(output.stdout).unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        let code = output.status.code().unwrap_or(-1);
        Printed { code, out: self.plain(&raw), raw, err: self.plain(&err) }
    }

    pub(crate) fn rival(&self, args: &[&str]) -> Printed {
        self.execute(self.command(args))
    }

    /// With something on its stdin.
    pub(crate) fn rival_with(&self, args: &[&str], stdin: &str) -> Printed {
        let mut child = self.command(args).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
        self.printed(child.wait_with_output().unwrap())
    }

    /// What a command prints as it is, with nothing replaced.
    pub(crate) fn raw(&self, args: &[&str]) -> String {
        String::from_utf8(self.command(args).output().unwrap().stdout).unwrap()
    }

    /// Waits until a run has come so far that `watch` says this.
    pub(crate) fn until(&self, run: &str, says: &str) {
        let mut child = self.command(&["watch", run]).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut seen = String::new();
        while !seen.contains(says) {
            assert!(out.read_line(&mut seen).unwrap() > 0, "`{says}` never came:\n{seen}");
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// The text without what is different each time.
    fn plain(&self, text: &str) -> String {
        let url = self.server.as_ref().map_or("http://127.0.0.1:1", |server| &server.url);
        let folder = self.folder.path().to_str().unwrap();
        let text = text.replace(url, "<url>").replace(folder, "<dir>");
        let lines: Vec<String> = text.lines().map(plain_line).collect();
        let end = if text.ends_with('\n') { "\n" } else { "" };
        lines.join("\n") + end
    }
}

/// Words are replaced one by one; gaps between columns depend on them, and become two spaces.
fn plain_line(line: &str) -> String {
    let indent = line.len() - line.trim_start().len();
    let words = line.trim_start().split("  ").map(str::trim).filter(|word| !word.is_empty());
    let cells: Vec<String> = words.map(plain_cell).collect();
    format!("{}{}", &line[..indent], cells.join("  "))
}

fn plain_cell(cell: &str) -> String {
    let words: Vec<&str> = cell.split(' ').collect();
    let unit = |word: Option<&&str>| {
        word.is_some_and(|word| matches!(word.trim_matches([';', ')']), "ms" | "s" | "min" | "KiB"))
    };
    let plain = words.iter().enumerate().map(|(n, word)| match *word {
        word if number(word.trim_start_matches('(')) && unit(words.get(n + 1)) => {
            word.replace(word.trim_start_matches('('), "<n>")
        }
        word => plain_word(word),
    });
    let text = plain.collect::<Vec<_>>().join(" ");
    // `1.5 s`, `3 min 2 s`, `430 ms`
    let mut text =
        text.replace("<n> min <n> s", "<took>").replace("<n> s", "<took>").replace("<n> ms", "<took>");
    text = text.replace("<n> min", "<took>").replace("<date> <clock>", "<time>");
    text
}

fn plain_word(word: &str) -> String {
    let core = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    let class = match core {
        _ if is_uuid(core) => "<id>",
        _ if is_clock(core) => "<clock>",
        _ if is_date(core) => "<date>",
        _ if core.len() == 24 && core.ends_with('Z') && is_date(&core[..10]) => "<time>",
        _ if is_hash(core) => "<hash>",
        _ if core.len() == 13 && core.starts_with("17") && number(core) => "<ms>",
        _ if is_duration_number(core) => "<n>",
        _ => return word.to_owned(),
    };
    word.replace(core, class)
}

fn number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Numbers with a tenth are lengths of time.
fn is_duration_number(word: &str) -> bool {
    word.split_once('.').is_some_and(|(whole, tenth)| number(whole) && number(tenth) && tenth.len() == 1)
}

fn is_uuid(word: &str) -> bool {
    word.len() == 36 && word.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

fn is_hash(word: &str) -> bool {
    matches!(word.len(), 12 | 64) && word.bytes().all(|byte| byte.is_ascii_hexdigit()) && !number(word)
}

fn is_date(word: &str) -> bool {
    word.len() == 10
        && word.bytes().enumerate().all(|(n, byte)| match n {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

fn is_clock(word: &str) -> bool {
    let (whole, ms) = word.split_once('.').unwrap_or((word, ""));
    whole.len() == 8
        && whole.split(':').count() == 3
        && whole.split(':').all(number)
        && (ms.is_empty() || number(ms))
}

/// All that a child still says.
pub(crate) fn rest(mut out: impl Read) -> String {
    let mut text = String::new();
    out.read_to_string(&mut text).unwrap();
    text
}

/// Sends a signal to a process.
#[cfg(unix)]
pub(crate) fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").arg(format!("-{name}")).arg(child.id().to_string()).status().unwrap();
    assert!(sent.success());
}

/// Whether others may read a file.
#[cfg(unix)]
pub(crate) fn is_private(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().unwrap().permissions().mode() & 0o077 == 0
}
