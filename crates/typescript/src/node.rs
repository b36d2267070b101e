//! Modules of Node.js: those that need nothing but the language are here, the others are refused.

use crate::module::ModuleLink;
use crate::resolve::Refusal;

/// The modules that script hosts bring along, without `node:`.
pub const NODE_MODULES: [&str; 17] = [
    "assert",
    "assert/strict",
    "buffer",
    "events",
    "path",
    "path/posix",
    "process",
    "punycode",
    "querystring",
    "stream",
    "stream/promises",
    "string_decoder",
    "timers",
    "timers/promises",
    "url",
    "util",
    "util/types",
];

/// Those that need more than the language: files, sockets, processes.
const ELSEWHERE: [&str; 33] = [
    "async_hooks",
    "child_process",
    "cluster",
    "console",
    "constants",
    "crypto",
    "dgram",
    "diagnostics_channel",
    "dns",
    "domain",
    "fs",
    "http",
    "http2",
    "https",
    "inspector",
    "module",
    "net",
    "os",
    "perf_hooks",
    "readline",
    "repl",
    "sea",
    "sqlite",
    "sys",
    "test",
    "tls",
    "trace_events",
    "tty",
    "v8",
    "vm",
    "wasi",
    "worker_threads",
    "zlib",
];

/// Whether Node.js has a module of this name.
pub(crate) fn is_one(specifier: &str) -> bool {
    let name = plain(specifier);
    is_here(name) || ELSEWHERE.contains(&name.split('/').next().unwrap_or_default())
}

/// Whether script hosts have it.
pub(crate) fn is_here(specifier: &str) -> bool {
    NODE_MODULES.contains(&plain(specifier))
}

/// The module of this name, or why it is not here.
pub(crate) fn find(specifier: &str) -> Result<ModuleLink, Refusal> {
    match is_here(specifier) {
        true => Ok(ModuleLink::Builtin(format!("node:{}", plain(specifier)))),
        false => Err(refuse(specifier)),
    }
}

fn plain(specifier: &str) -> &str {
    specifier.strip_prefix("node:").unwrap_or(specifier)
}

fn refuse(specifier: &str) -> Refusal {
    let advice = match plain(specifier).split('/').next().unwrap_or_default() {
        "crypto" => "`crypto` is a global, with `randomUUID`, `getRandomValues` and `subtle`.",
        "http" | "https" | "http2" | "net" | "tls" => "`fetch` is a global; `httpStep` is a step.",
        "perf_hooks" => "`performance` is a global.",
        "fs" | "os" | "child_process" | "worker_threads" => {
            "Workflow files do not reach files and processes. Do it in a service, or in a step written in Rust."
        }
        _ => {
            "Workflow files have web-standard globals (`fetch`, `URL`, `crypto`, …), not the modules of Node.js."
        }
    };
    (format!("'{specifier}' is part of Node.js, which is not here"), advice.to_owned())
}
