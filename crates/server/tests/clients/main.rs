//! Clients that others' tools make of the OpenAPI document: the document passes their linters, what they generate compiles
//! strictly, and it drives a real server. `make setup` installs the tools.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

#[path = "../openapi/world.rs"]
mod world;

use std::path::{Path, PathBuf};

use tokio::process::Command;

use world::World;

/// Where this test's programs are.
const HERE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients");

/// A folder with the document in it, and Node's packages beside it.
struct Workshop {
    folder: tempfile::TempDir,
}

impl Workshop {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("openapi.json"), rival_server::openapi().to_string()).unwrap();
        std::fs::write(folder.path().join(".spectral.yaml"), "extends: [\"spectral:oas\"]\n").unwrap();
        std::fs::write(folder.path().join("package.json"), "{\"type\": \"module\"}\n").unwrap();
        let packages = Path::new(HERE).join("../../../../tools/clients/node_modules").canonicalize();
        let packages = packages.expect("`make setup` installs linters and generators");
        std::os::unix::fs::symlink(packages, folder.path().join("node_modules")).unwrap();
        Self { folder }
    }

    fn copy(&self, program: &str) {
        std::fs::copy(Path::new(HERE).join(program), self.folder.path().join(program)).unwrap();
    }

    fn node(&self, tool: &str) -> Command {
        Command::new(self.folder.path().join("node_modules/.bin").join(tool))
    }

    /// Runs a program in the folder; it must go well.
    async fn run(&self, command: &mut Command) {
        let command = command.current_dir(self.folder.path()).kill_on_drop(true);
        let ran = command.output().await.unwrap();
        let said =
            format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
        assert!(ran.status.success(), "{:?}:\n{said}", command.as_std());
        println!("{said}");
    }

    /// Checks a program in TypeScript as strictly as the compiler can, and lets it drive a server.
    async fn drive_with_typescript(&self, program: &str) {
        self.copy(program);
        let strict = ["--strict", "--noUncheckedIndexedAccess", "--skipLibCheck"];
        let modern = ["--module", "nodenext", "--target", "es2022", "--lib", "es2022,dom,dom.iterable"];
        self.run(self.node("tsc").args(strict).args(modern).args(["--outDir", "built", program])).await;
        let built = Path::new("built").join(program).with_extension("js");
        self.drive(Command::new("node").arg(built)).await;
    }

    async fn drive(&self, client: &mut Command) {
        let world = World::new(self.folder.path()).await;
        self.run(client.env("RIVAL_URL", &world.url).env("RIVAL_TOKEN", &world.token)).await;
        world.stop().await;
    }
}

fn python(program: &str) -> PathBuf {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("python").join("bin").join(program);
    assert!(program.exists(), "{} is missing: `make setup` installs it", program.display());
    program
}

#[tokio::test]
async fn the_document_passes_the_linters() {
    let shop = Workshop::new();
    shop.run(
        shop.node("redocly").args(["lint", "openapi.json"]).env("REDOCLY_SUPPRESS_UPDATE_NOTICE", "true"),
    )
    .await;
    shop.run(shop.node("spectral").args(["lint", "--fail-severity", "error", "openapi.json"])).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_by_openapi_fetch() {
    let shop = Workshop::new();
    shop.run(shop.node("openapi-typescript").args(["openapi.json", "-o", "schema.d.ts"])).await;
    shop.drive_with_typescript("fetch.ts").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_by_hey_api() {
    let shop = Workshop::new();
    let config = "export default { input: 'openapi.json', output: { path: 'client', module: { extension: '.js' } } }\n";
    std::fs::write(shop.folder.path().join("openapi-ts.config.mjs"), config).unwrap();
    shop.run(&mut shop.node("openapi-ts")).await;
    shop.drive_with_typescript("hey.ts").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_by_openapi_python_client() {
    let shop = Workshop::new();
    let path = format!("{}:{}", python("").display(), std::env::var("PATH").unwrap());
    let generate = [
        "generate",
        "--path",
        "openapi.json",
        "--output-path",
        "rival_client",
        "--meta",
        "none",
        "--fail-on-warning",
    ];
    shop.run(Command::new(python("openapi-python-client")).args(generate).env("PATH", path)).await;
    shop.copy("drive.py");
    // What the generator wrote once for all documents is not judged.
    let judged =
        "[mypy]\nstrict = True\ncache_dir = mypy\n[mypy-rival_client.client]\nignore_errors = True\n";
    std::fs::write(shop.folder.path().join("mypy.ini"), judged).unwrap();
    shop.run(Command::new(python("mypy")).args(["drive.py", "rival_client"])).await;
    shop.drive(Command::new(python("python")).arg("drive.py")).await;
}
