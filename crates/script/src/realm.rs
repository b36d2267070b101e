//! One version of a set of modules, as hosts know it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use rival_host::frame::{ModuleSource, ToHost};
use rival_typescript::{Link, Program};

use crate::pool::Pool;

/// Modules that hosts evaluate together. When the last definition that uses it is gone, hosts let go of it.
pub(crate) struct Realm {
    id: u32,
    sources: ToHost,
    /// For stack traces.
    program: Arc<Program>,
    /// Where paths in messages start.
    root: Arc<Path>,
    pool: Weak<Pool>,
}

impl Realm {
    pub(crate) fn new(pool: &Arc<Pool>, program: Arc<Program>, root: Arc<Path>) -> Self {
        let id = pool.next_realm();
        let modules = program.modules.values().map(|module| ModuleSource {
            name: name_of(&module.path),
            code: module.code.clone(),
            links: module.links.iter().map(|(specifier, link)| (specifier.clone(), linked(link))).collect(),
            step_names: module.step_names.clone(),
        });
        let sources = ToHost::Realm { realm: id, modules: modules.collect() };
        Self { id, sources, program, root, pool: Arc::downgrade(pool) }
    }

    pub(crate) fn id(&self) -> u32 {
        self.id
    }

    /// The frame that tells a host.
    pub(crate) fn sources(&self) -> &ToHost {
        &self.sources
    }

    /// A stack trace with the places in TypeScript.
    pub(crate) fn stack(&self, stack: &str) -> String {
        self.program.map_stack(stack, &self.root)
    }

    /// A line of a log, in which errors have their places in TypeScript.
    pub(crate) fn readable(&self, message: String) -> String {
        if message.contains("\n    at ") { self.stack(&message) } else { message }
    }
}

impl Drop for Realm {
    fn drop(&mut self) {
        if let Some(pool) = self.pool.upgrade() {
            pool.drop_realm(self.id);
        }
    }
}

impl std::fmt::Debug for Realm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Realm").field("id", &self.id).finish_non_exhaustive()
    }
}

/// The modules that files lead to, checked also against those that Rival brings.
pub(crate) fn compile(entries: &[PathBuf], before: Option<&Program>) -> Program {
    let mut program = Program::load(entries, before);
    for module in ["rival", "rival/test", "zod"] {
        program.check_builtin(module, &rival_host::assets::exports(module).into_iter().collect());
    }
    program
}

/// The name of a file's module.
pub(crate) fn name_of(file: &Path) -> String {
    file.to_string_lossy().into_owned()
}

fn linked(link: &Link) -> String {
    match link {
        Link::File(path) => name_of(path),
        Link::Builtin(name) => name.clone(),
    }
}
