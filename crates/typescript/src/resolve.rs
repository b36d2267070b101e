//! What a specifier means, or why it means nothing here and what to write instead.

use std::path::{Path, PathBuf};

use oxc_resolver::{ResolveError, ResolveOptions, Resolver};

use crate::bounds::ModuleBounds;
use crate::module::{ModuleLink, ModuleRequest, RequestedBy, in_package};
use crate::nearest::nearest;

/// Finds modules: files beside the importing one, and packages that ship ES modules.
pub(crate) struct ModuleFinder<'b> {
    pub(crate) bounds: &'b ModuleBounds,
    files: Resolver,
    packages: Resolver,
}

/// Why a module cannot be had: a message and an advice.
pub(crate) type Refusal = (String, String);

impl<'b> ModuleFinder<'b> {
    pub(crate) fn new(bounds: &'b ModuleBounds) -> Self {
        let words = |words: &[&str]| words.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let alias = |from: &str, to: &[&str]| (from.to_owned(), words(to));
        let packages = ResolveOptions {
            condition_names: words(&["import", "default"]),
            extensions: words(&[".ts", ".mts", ".js", ".mjs"]),
            main_fields: words(&["module", "main"]),
            builtin_modules: true,
            node_path: false,
            ..ResolveOptions::default()
        };
        // TypeScript's own way: `./x.js` is what `x.ts` will become.
        let extension_alias = vec![alias(".js", &[".ts", ".js"]), alias(".mjs", &[".mts", ".mjs"])];
        let files = ResolveOptions { extension_alias, ..packages.clone() };
        ModuleFinder { bounds, files: Resolver::new(files), packages: Resolver::new(packages) }
    }

    /// What a request of a file means.
    pub(crate) fn find(&self, from: &Path, request: &ModuleRequest) -> Result<ModuleLink, Refusal> {
        let specifier = request.specifier.as_str();
        if let Some(link) = builtin(specifier)? {
            return Ok(link);
        }
        let resolver = if in_package(from) { &self.packages } else { &self.files };
        let folder = from.parent().unwrap_or(Path::new("/"));
        match resolver.resolve(folder, specifier) {
            Ok(found) => self.allowed(specifier, found.into_path_buf()).map(ModuleLink::File),
            Err(ResolveError::Builtin { .. }) => Err(of_node(specifier)),
            Err(error) if is_path(specifier) => Err(no_file(folder, request, &error)),
            Err(error) => Err(no_package(specifier, &error)),
        }
    }
}

impl ModuleFinder<'_> {
    /// Links were followed: the path is where the file really is.
    fn allowed(&self, specifier: &str, path: PathBuf) -> Result<PathBuf, Refusal> {
        if self.bounds.allow(&path) {
            supported(specifier, path)
        } else {
            Err(out_of_bounds(specifier, self.bounds))
        }
    }
}

/// What lies elsewhere may be anything that this process can read: keys, tokens, the files of others.
pub(crate) fn out_of_bounds(specifier: &str, bounds: &ModuleBounds) -> Refusal {
    let advice = format!(
        "Imports stay beneath {} and in node_modules. Move the file there, or allow its folder with `script_imports`.",
        bounds.shown()
    );
    (format!("'{specifier}' leads out of the folder of the workflows"), advice)
}

/// Modules that Rival brings.
fn builtin(specifier: &str) -> Result<Option<ModuleLink>, Refusal> {
    let name = match specifier {
        "rival" | "rival/test" | "zod" => specifier,
        "zod/v4" => "zod",
        _ if specifier.starts_with("rival/") => {
            let advice = "There are 'rival' and, for tests, 'rival/test'.";
            return Err((format!("there is no module '{specifier}'"), advice.to_owned()));
        }
        _ => return Ok(None),
    };
    Ok(Some(ModuleLink::Builtin(name.to_owned())))
}

fn is_path(specifier: &str) -> bool {
    specifier.starts_with('.') || specifier.starts_with('/')
}

/// Only text that a script host can run, and data.
fn supported(specifier: &str, path: PathBuf) -> Result<PathBuf, Refusal> {
    match path.extension().and_then(|it| it.to_str()) {
        Some("ts" | "mts" | "js" | "mjs" | "json") => Ok(path),
        Some("cjs" | "cts") => Err(common_js(specifier)),
        Some("node" | "wasm") => Err((
            format!("'{specifier}' is native code"),
            "Workflow files run JavaScript only. Use a package without native code, or call a service."
                .to_owned(),
        )),
        _ => Err((
            format!("'{specifier}' is no module: {}", path.display()),
            "Import .ts, .mts, .js, .mjs or .json files.".to_owned(),
        )),
    }
}

pub(crate) fn common_js(specifier: &str) -> Refusal {
    let advice = "Workflow files load ES modules only. Use a version or an entry of it that has `export`s (often \
                  named /esm or -es), or put a bundled copy beside your files (`npx esbuild --bundle --format=esm`).";
    (format!("'{specifier}' is a CommonJS module"), advice.to_owned())
}

/// Modules of Node.js.
fn of_node(specifier: &str) -> Refusal {
    let name = specifier.strip_prefix("node:").unwrap_or(specifier);
    let advice = match name.split('/').next().unwrap_or_default() {
        "crypto" => "`crypto.randomUUID()` and `crypto.getRandomValues()` are globals.",
        "url" | "querystring" | "punycode" => "`URL` and `URLSearchParams` are globals.",
        "http" | "https" | "http2" | "net" | "tls" => "`fetch` is a global; `httpStep` is a step.",
        "timers" => "`setTimeout` is a global; to wait across restarts, use `durable.sleep` or `delayStep`.",
        "process" => "`process.env` is a global; it has the names that the operator allows.",
        "buffer" | "string_decoder" => "`Uint8Array`, `TextEncoder`, `atob` and `btoa` are globals.",
        "util" => "`TextEncoder`, `TextDecoder` and `structuredClone` are globals.",
        "perf_hooks" => "`performance` is a global.",
        "fs" | "path" | "os" | "child_process" | "worker_threads" => {
            "Workflow files do not reach files and processes. Do it in a service, or in a step written in Rust."
        }
        _ => {
            "Workflow files have web-standard globals (`fetch`, `URL`, `crypto`, …), not the modules of Node.js."
        }
    };
    (format!("'{specifier}' is part of Node.js, which is not here"), advice.to_owned())
}

fn no_file(folder: &Path, request: &ModuleRequest, error: &ResolveError) -> Refusal {
    let specifier = &request.specifier;
    let message = format!("cannot find '{specifier}'");
    let advice = match similar(folder, specifier) {
        Some(name) => format!("Did you mean '{name}'?"),
        None if matches!(error, ResolveError::NotFound(_) | ResolveError::ExtensionAlias(..)) => {
            match request.by {
                RequestedBy::Workflow | RequestedBy::Registration => {
                    "There is no such file. The path is from this file.".to_owned()
                }
                RequestedBy::Import | RequestedBy::Call => {
                    "There is no such file. Paths are from the file that imports.".to_owned()
                }
            }
        }
        None => format!("{error}."),
    };
    (message, advice)
}

/// A specifier of a file in the same folder whose name is much like it.
fn similar(folder: &Path, specifier: &str) -> Option<String> {
    let (place, name) = specifier.rsplit_once('/')?;
    let wanted = stem(name);
    let names: Vec<String> = std::fs::read_dir(folder.join(place))
        .ok()?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|it| [".ts", ".mts", ".js", ".mjs", ".json"].iter().any(|extension| it.ends_with(extension)))
        .collect();
    let found = nearest(wanted, names.iter().map(|name| stem(name)))?;
    let file = names.iter().find(|name| stem(name) == found)?;
    Some(format!("{place}/{file}"))
}

fn stem(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

fn no_package(specifier: &str, error: &ResolveError) -> Refusal {
    let package = package_name(specifier);
    if specifier.contains("://") {
        let advice = "Install the package with npm and import it by its name.";
        return (format!("'{specifier}' is an address, not a module"), advice.to_owned());
    }
    match error {
        ResolveError::NotFound(_) if package == "zod" => {
            (format!("cannot find '{specifier}'"), "Rival brings zod itself: import from 'zod'.".to_owned())
        }
        ResolveError::NotFound(_) => (
            format!("cannot find the package '{package}'"),
            format!("Run `npm install {package}`; for a file of your own, write './{specifier}'."),
        ),
        ResolveError::PackagePathNotExported { .. } => (
            format!("the package '{package}' has no ES module for '{specifier}'"),
            "Look at `exports` in its package.json: only what is under `import` or `default` can be loaded."
                .to_owned(),
        ),
        other => (format!("cannot load '{specifier}': {other}"), format!("Install '{package}' again.")),
    }
}

/// `@scope/name/path` is in the package `@scope/name`.
fn package_name(specifier: &str) -> &str {
    let parts = if specifier.starts_with('@') { 2 } else { 1 };
    let end = specifier.match_indices('/').nth(parts - 1).map_or(specifier.len(), |(at, _)| at);
    &specifier[..end]
}
