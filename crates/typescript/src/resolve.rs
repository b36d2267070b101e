//! What a specifier means, or why it means nothing here and what to write instead.
//!
//! Packages are asked for the build that they have for workers and browsers: what such builds need is here, and what
//! builds for Node.js need is not.

use std::path::{Path, PathBuf};

use oxc_resolver::{Resolution, ResolveError, ResolveOptions, Resolver};

use crate::bounds::ModuleBounds;
use crate::module::{ModuleLink, ModuleRequest, RequestedBy, in_package};
use crate::nearest::nearest;
use crate::node;

/// Finds modules: files beside the importing one, and packages.
pub(crate) struct ModuleFinder<'b> {
    pub(crate) bounds: &'b ModuleBounds,
    files: Resolver,
    packages: Resolver,
    required: Resolver,
}

/// Why a module cannot be had: a message and an advice.
pub(crate) type Refusal = (String, String);

impl<'b> ModuleFinder<'b> {
    pub(crate) fn new(bounds: &'b ModuleBounds) -> Self {
        let alias = |from: &str, to: &[&str]| (from.to_owned(), words(to));
        let packages = ResolveOptions {
            alias_fields: vec![words(&["browser"])],
            condition_names: words(&["rival", "worker", "browser", "import", "module", "default"]),
            extensions: words(&[".ts", ".mts", ".js", ".mjs", ".cjs", ".json"]),
            main_fields: words(&["browser", "module", "main"]),
            node_path: false,
            ..ResolveOptions::default()
        };
        // TypeScript's own way: `./x.js` is what `x.ts` will become.
        let extension_alias = vec![alias(".js", &[".ts", ".js"]), alias(".mjs", &[".mts", ".mjs"])];
        let files = ResolveOptions { extension_alias, ..packages.clone() };
        // `require` cannot wait, and some ES modules must: packages say which of their files are for it.
        let required = ResolveOptions {
            condition_names: words(&["rival", "worker", "browser", "require", "default"]),
            extensions: words(&[".js", ".json", ".cjs", ".mjs"]),
            main_fields: words(&["browser", "main", "module"]),
            ..packages.clone()
        };
        let [files, packages, required] = [files, packages, required].map(Resolver::new);
        ModuleFinder { bounds, files, packages, required }
    }

    /// What a request of a file means.
    pub(crate) fn find(&self, from: &Path, request: &ModuleRequest) -> Result<ModuleLink, Refusal> {
        let specifier = request.specifier.as_str();
        if let Some(link) = builtin(specifier)? {
            return Ok(link);
        }
        if specifier.starts_with("node:") {
            return node::find(specifier);
        }
        let resolver = match request.by {
            RequestedBy::Require => &self.required,
            _ if in_package(from) => &self.packages,
            _ => &self.files,
        };
        let folder = from.parent().unwrap_or(Path::new("/"));
        let found = resolver.resolve(folder, specifier);
        match found.map(Resolution::into_path_buf) {
            // A package may bring its own; one from npm is not needed where there is a module of this name.
            Ok(path) if node::is_here(specifier) && is_in_package(&path, specifier) => node::find(specifier),
            Ok(path) => self.allowed(specifier, path).map(ModuleLink::File),
            Err(ResolveError::Ignored(_)) => {
                Ok(ModuleLink::Empty(request.names.iter().map(|(name, _)| name.clone()).collect()))
            }
            Err(_) if node::is_one(specifier) => node::find(specifier),
            Err(error) if is_path(specifier) => Err(no_file(folder, request, &error)),
            Err(error) => Err(no_package(specifier, &error)),
        }
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|it| (*it).to_owned()).collect()
}

/// Whether a file belongs to the package of this name.
fn is_in_package(path: &Path, name: &str) -> bool {
    path.ancestors().any(|folder| folder.ends_with(Path::new("node_modules").join(name)))
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
        "rival" | "rival/document" | "rival/test" | "zod" => specifier,
        "zod/v4" => "zod",
        _ if specifier.starts_with("rival/") => {
            let advice = "There are 'rival', 'rival/document' and, for tests, 'rival/test'.";
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
        Some("cjs") if in_package(&path) => Ok(path),
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

fn common_js(specifier: &str) -> Refusal {
    let advice =
        "Packages may be CommonJS modules; files of your own are ES modules: write `import` and `export`.";
    (format!("'{specifier}' is a CommonJS module"), advice.to_owned())
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
                RequestedBy::Import | RequestedBy::Call | RequestedBy::Require => {
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
            format!("the package '{package}' has nothing for '{specifier}'"),
            "Look at `exports` in its package.json: only what is there can be loaded, by `import` or `default`."
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
