//! One version of a workflow file with the modules that it leads to, as hosts know it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use rival_core::{FailureOrigin, SourceLine};
use rival_script_host::frame::{EMPTY, ModuleSource, REFUSED, ToHost};
use rival_typescript::{ModuleBounds, ModuleLink, NODE_MODULES, ScriptProgram};

use crate::pool::HostPool;

/// A file and its modules, which hosts evaluate in a world of their own: what one file does to built-ins and globals, no
/// other sees. When the last definition that uses it is gone, hosts let go of it.
pub(crate) struct ScriptRealm {
    id: u32,
    /// What it is about.
    file: PathBuf,
    program: Arc<ScriptProgram>,
    /// Where paths in messages start.
    root: Arc<Path>,
    pool: Weak<HostPool>,
}

impl ScriptRealm {
    pub(crate) fn new(
        pool: &Arc<HostPool>,
        file: &Path,
        program: Arc<ScriptProgram>,
        root: Arc<Path>,
    ) -> Self {
        Self { id: pool.next_realm(), file: file.to_owned(), program, root, pool: Arc::downgrade(pool) }
    }

    pub(crate) fn id(&self) -> u32 {
        self.id
    }

    /// The frame that tells a host. Made anew for each: texts are long, hosts are few.
    pub(crate) fn sources(&self) -> ToHost {
        let modules = self.program.closure(&self.file);
        let modules =
            modules.iter().filter_map(|path| self.program.modules.get(path)).map(|module| ModuleSource {
                name: name_of(&module.path),
                code: module.code.clone(),
                common_js: module.is_common_js(),
                links: module
                    .links
                    .iter()
                    .map(|(specifier, link)| (specifier.clone(), linked(link)))
                    .collect(),
                step_names: module.step_names.clone(),
            });
        ToHost::Realm { realm: self.id, modules: modules.collect() }
    }

    /// The modules that it was made of.
    pub(crate) fn program(&self) -> &ScriptProgram {
        &self.program
    }

    /// Where a module exports something.
    pub(crate) fn export_place(&self, module: &Path, export: &str) -> Option<(u32, u32)> {
        self.program.modules.get(self.program.path(module))?.export_place(export)
    }

    /// Where a byte of a function is whose text is part of a module, or of one that it leads to.
    pub(crate) fn function_place(
        &self,
        module: &Path,
        function: &str,
        at: u32,
    ) -> Option<(PathBuf, u32, u32)> {
        self.program.place_in_function(module, function, at)
    }

    /// A stack trace with the places in TypeScript.
    pub(crate) fn stack(&self, stack: &str) -> String {
        self.program.map_stack(stack, &self.root)
    }

    /// The same for scripts themselves.
    pub(crate) fn stack_of_files(&self, stack: &str) -> String {
        self.program.map_stack_to_files(stack)
    }

    /// Where an error with this stack trace was made: the place in TypeScript, and the source around it.
    pub(crate) fn origin(&self, stack: &str) -> FailureOrigin {
        let Some((path, line, column)) = self.program.first_place(stack) else {
            return FailureOrigin::default();
        };
        let excerpt = self.program.excerpt(&path, line).into_iter();
        FailureOrigin {
            file: Some(name_of(path.strip_prefix(&self.root).unwrap_or(&path))),
            line: Some(line),
            column: Some(column),
            excerpt: excerpt.map(|(line, text)| SourceLine { line, text }).collect(),
            ..FailureOrigin::default()
        }
    }

    /// A line of a log, in which errors have their places in TypeScript.
    pub(crate) fn readable(&self, message: String) -> String {
        if message.contains("\n    at ") { self.stack(&message) } else { message }
    }
}

impl Drop for ScriptRealm {
    fn drop(&mut self) {
        if let Some(pool) = self.pool.upgrade() {
            pool.drop_realm(self.id);
        }
    }
}

impl std::fmt::Debug for ScriptRealm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Realm").field("id", &self.id).finish_non_exhaustive()
    }
}

/// The modules that files lead to, checked also against those that Rival brings.
pub(crate) fn compile(
    entries: &[PathBuf],
    bounds: &ModuleBounds,
    before: Option<&ScriptProgram>,
) -> ScriptProgram {
    let mut program = ScriptProgram::load(entries, bounds, before);
    let node = NODE_MODULES.map(|name| format!("node:{name}"));
    for module in
        ["rival", "rival/document", "rival/test", "zod"].into_iter().chain(node.iter().map(String::as_str))
    {
        program.check_builtin(module, &rival_script_host::assets::exports(module).into_iter().collect());
    }
    program
}

/// The name of a file's module.
pub(crate) fn name_of(file: &Path) -> String {
    file.to_string_lossy().into_owned()
}

fn linked(link: &ModuleLink) -> String {
    match link {
        ModuleLink::File(path) => name_of(path),
        ModuleLink::Builtin(name) => name.clone(),
        ModuleLink::Empty(names) => {
            format!("{EMPTY}{}", names.iter().map(String::as_str).collect::<Vec<_>>().join(","))
        }
        ModuleLink::Refused(why) => format!("{REFUSED}{why}"),
    }
}
