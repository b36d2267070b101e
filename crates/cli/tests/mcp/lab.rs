//! A server, and clients that are told how to come to it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

/// Where the clients' programs are.
const HERE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp");

/// What a client says first.
pub(crate) const HELLO: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;

/// A folder, and a server in it if one was started.
pub(crate) struct Lab {
    _folder: tempfile::TempDir,
    world: World,
    flags: Vec<String>,
    server: Option<Child>,
}

/// What programs are told of where they are.
#[derive(Clone)]
struct World {
    folder: PathBuf,
    /// The server keeps its address when it is started again.
    address: SocketAddr,
    /// Tokens of the scopes read, run and admin.
    tokens: [String; 3],
}

impl Drop for Lab {
    fn drop(&mut self) {
        self.kill_server();
    }
}

impl World {
    fn prepare<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("RIVAL_")) {
            command.env_remove(name);
        }
        let [reader, runner, admin] = &self.tokens;
        command
            .current_dir(&self.folder)
            .env("RIVAL_LISTEN", self.address.to_string())
            .env("READER_TOKEN", reader)
            .env("RUNNER_TOKEN", runner);
        if !admin.is_empty() {
            command.env("RIVAL_TOKEN", admin);
        }
        command
    }
}

/// The way to Rival that a client is given.
pub(crate) struct Place(String);

impl Lab {
    /// A folder without a server.
    pub(crate) fn offline() -> Self {
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let world = World { folder: folder.path().to_owned(), address, tokens: Default::default() };
        let mut lab = Self { _folder: folder, world, flags: Vec::new(), server: None };
        for (number, (name, scope)) in
            [("reader", "read"), ("runner", "run"), ("admin", "admin")].into_iter().enumerate()
        {
            let made = lab.rival(&["token", "create", name, "--scope", scope, "-o", "json"]);
            let made: serde_json::Value = serde_json::from_str(&made).unwrap();
            made["token"].as_str().unwrap().clone_into(&mut lab.world.tokens[number]);
        }
        lab
    }

    /// With a server that has the example workflows.
    pub(crate) fn served(flags: &[&str]) -> Self {
        let mut lab = Self::offline();
        lab.flags = flags.iter().map(|&flag| flag.to_owned()).collect();
        lab.serve_again();
        lab
    }

    pub(crate) fn serve_again(&mut self) {
        let mut command = self.command(&["serve", "--examples", "--pace", "5", "--log-format", "json"]);
        let mut child = command.args(&self.flags).stderr(Stdio::piped()).spawn().unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let mut seen = String::new();
        while !seen.contains("the server is ready") {
            assert!(log.read_line(&mut seen).unwrap() > 0, "it never was ready:\n{seen}");
        }
        // Its log must go somewhere.
        std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
        self.server = Some(child);
    }

    pub(crate) fn kill_server(&mut self) {
        if let Some(mut server) = self.server.take() {
            server.kill().unwrap();
            server.wait().unwrap();
        }
    }

    pub(crate) fn stdio(&self) -> Place {
        Place(serde_json::json!([env!("CARGO_BIN_EXE_rival"), "mcp"]).to_string())
    }

    pub(crate) fn http(&self) -> Place {
        Place(format!("http://{}/mcp", self.world.address))
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rival"));
        self.world.prepare(&mut command).args(args);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        command
    }

    /// What a command prints, which must go well.
    pub(crate) fn rival(&self, args: &[&str]) -> String {
        let printed = self.command(args).output().unwrap();
        assert!(printed.status.success(), "{args:?}: {}", String::from_utf8_lossy(&printed.stderr));
        String::from_utf8(printed.stdout).unwrap()
    }

    /// What `rival mcp` answers on stdout to these lines.
    pub(crate) fn speak(&self, lines: &str) -> String {
        let mut child = self.command(&["mcp"]).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
        let answered = child.wait_with_output().unwrap();
        assert!(answered.status.success());
        String::from_utf8(answered.stdout).unwrap()
    }

    /// `rival mcp` that has answered its first message, and its stdin.
    pub(crate) fn listening(&self) -> (Child, ChildStdin) {
        let mut child = self.command(&["mcp"]).stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        writeln!(stdin, "{HELLO}").unwrap();
        let mut answer = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut answer).unwrap();
        assert!(answer.contains("serverInfo"), "{answer}");
        (child, stdin)
    }

    pub(crate) fn typescript(&self) -> Client {
        let folder = &self.world.folder;
        let packages = Path::new(HERE).join("../../../../tools/clients/node_modules").canonicalize();
        let packages = packages.expect("`make setup` installs the TypeScript SDK");
        std::os::unix::fs::symlink(&packages, folder.join("node_modules")).unwrap();
        std::fs::write(folder.join("package.json"), "{\"type\": \"module\"}\n").unwrap();
        std::fs::copy(Path::new(HERE).join("client.ts"), folder.join("client.ts")).unwrap();
        let strict = ["--strict", "--noUncheckedIndexedAccess", "--skipLibCheck"];
        let modern = ["--module", "nodenext", "--target", "es2022", "--types", "node"];
        let checked = Command::new(packages.join(".bin/tsc"))
            .current_dir(folder)
            .args(strict)
            .args(modern)
            .args(["--outDir", "built", "client.ts"])
            .output()
            .unwrap();
        assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
        Client { world: self.world.clone(), program: "node".into(), script: folder.join("built/client.js") }
    }

    pub(crate) fn python(&self) -> Client {
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("python").join("bin/python");
        assert!(program.exists(), "{} is missing: `make setup` installs it", program.display());
        Client { world: self.world.clone(), program, script: Path::new(HERE).join("client.py") }
    }
}

/// A program that is a client.
pub(crate) struct Client {
    world: World,
    program: PathBuf,
    script: PathBuf,
}

impl Client {
    fn command(&self, place: &Place, scenario: &str) -> Command {
        let mut command = Command::new(&self.program);
        self.world.prepare(&mut command).arg(&self.script).arg(scenario).env("MCP_PLACE", &place.0);
        command
    }

    /// Plays a scenario, which must go well.
    pub(crate) fn run(&self, place: &Place, scenario: &str) -> String {
        let played = self.command(place, scenario).output().unwrap();
        let said = String::from_utf8(played.stdout).unwrap();
        let err = String::from_utf8_lossy(&played.stderr);
        assert!(played.status.success(), "{scenario} at {}:\n{said}{err}", place.0);
        said
    }
}

/// A client that is talked to.
pub(crate) struct Talk {
    child: Child,
    to: ChildStdin,
    from: BufReader<std::process::ChildStdout>,
}

impl Drop for Talk {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Client {
    /// Begins a scenario in which the test has a part.
    pub(crate) fn start(&self, place: &Place, scenario: &str) -> Talk {
        let mut command = self.command(place, scenario);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let to = child.stdin.take().unwrap();
        let from = BufReader::new(child.stdout.take().unwrap());
        Talk { child, to, from }
    }
}

impl Talk {
    pub(crate) fn hear(&mut self, expected: &str) {
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        assert_eq!(line.trim(), expected);
    }

    pub(crate) fn say(&mut self, line: &str) {
        writeln!(self.to, "{line}").unwrap();
    }

    pub(crate) fn ends_well(mut self) {
        let mut rest = String::new();
        self.from.read_to_string(&mut rest).unwrap();
        assert!(self.child.wait().unwrap().success(), "{rest}");
    }
}
