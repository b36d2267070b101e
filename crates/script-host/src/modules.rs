//! The modules of realms: what specifiers mean, and code by name.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ptr::NonNull;
use std::rc::Rc;

use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::{Declared, Module};
use rquickjs::{Ctx, Error, Result, WriteOptions, WriteOptionsEndianness, qjs};

use crate::builtin;
use crate::common_js;
use crate::frame::{EMPTY, ModuleSource, REFUSED};

/// Before the name of a module that Rust itself asks for: it is taken as it is.
pub(crate) const EXACT: &str = "rival-module:";

/// Each realm has its own copy of the host's modules: without their texts and lines, which are of no use to authors, it is much
/// smaller, and made faster.
const STRIPPED: WriteOptions = WriteOptions {
    endianness: WriteOptionsEndianness::Native,
    allow_shared_array_buffer: false,
    object_reference: false,
    strip_source: true,
    strip_debug: true,
};

/// The sources of one realm, by name.
#[derive(Debug, Default)]
pub(crate) struct RealmSources(RefCell<HashMap<String, Rc<ModuleSource>>>);

impl RealmSources {
    pub(crate) fn add(&self, modules: Vec<ModuleSource>) {
        let mut sources = self.0.borrow_mut();
        sources.extend(modules.into_iter().map(|module| (module.name.clone(), Rc::new(module))));
    }

    pub(crate) fn get(&self, name: &str) -> Option<Rc<ModuleSource>> {
        self.0.borrow().get(name).cloned()
    }
}

/// The sources of all realms, found by the context that asks.
#[derive(Debug, Default)]
pub(crate) struct ModuleSources {
    realms: RefCell<HashMap<NonNull<qjs::JSContext>, Rc<RealmSources>>>,
    /// What the host brings along, compiled.
    bytecode: RefCell<HashMap<&'static str, Rc<[u8]>>>,
}

impl ModuleSources {
    pub(crate) fn enter(&self, ctx: &Ctx<'_>, sources: Rc<RealmSources>) {
        self.realms.borrow_mut().insert(ctx.as_raw(), sources);
    }

    pub(crate) fn leave(&self, ctx: &Ctx<'_>) {
        self.realms.borrow_mut().remove(&ctx.as_raw());
    }

    fn sources(&self, ctx: &Ctx<'_>) -> Option<Rc<RealmSources>> {
        self.realms.borrow().get(&ctx.as_raw()).cloned()
    }

    /// Declares a module of the host's own.
    pub(crate) fn builtin<'js>(
        &self,
        ctx: &Ctx<'js>,
        name: &'static str,
        code: &'static str,
    ) -> Result<Module<'js, Declared>> {
        let known = self.bytecode.borrow().get(name).cloned();
        if let Some(bytecode) = known {
            return load(ctx, &bytecode);
        }
        let module = Module::declare(ctx.clone(), name, code)?;
        let bytecode = module.write(STRIPPED)?;
        self.bytecode.borrow_mut().insert(name, bytecode.into());
        Ok(module)
    }
}

#[expect(unsafe_code, reason = "the only way to use bytecode")]
fn load<'js>(ctx: &Ctx<'js>, bytecode: &[u8]) -> Result<Module<'js, Declared>> {
    // SAFETY: the bytecode is what this process got from `Module::write`, by the same QuickJS, and was nowhere else.
    unsafe { Module::load(ctx.clone(), bytecode) }
}

/// Begins the evaluation of a module of the realm.
pub(crate) fn import<'js>(ctx: &Ctx<'js>, name: &str) -> Result<rquickjs::Promise<'js>> {
    Module::import(ctx, format!("{EXACT}{name}"))
}

/// QuickJS's way to [`ModuleSources`].
#[derive(Clone, Debug)]
pub(crate) struct ModuleLinks(pub(crate) Rc<ModuleSources>);

impl Resolver for ModuleLinks {
    fn resolve<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        base: &str,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> Result<String> {
        if let Some(exact) = name.strip_prefix(EXACT) {
            return Ok(exact.to_owned());
        }
        if builtin::is_one(base) && builtin::is_one(name) {
            return Ok(name.to_owned());
        }
        let base_source = self.0.sources(ctx).and_then(|sources| sources.get(base));
        let meant = base_source.and_then(|source| source.links.get(name).cloned());
        let meant = meant.ok_or_else(|| {
            Error::new_resolving_message(base, name, "only what is written as a literal can be imported")
        })?;
        match meant.strip_prefix(REFUSED) {
            Some(why) => Err(Error::new_resolving_message(base, name, why)),
            None => Ok(meant),
        }
    }
}

impl Loader for ModuleLinks {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> Result<Module<'js, Declared>> {
        if let Some(names) = name.strip_prefix(EMPTY) {
            return Module::declare(ctx.clone(), name, empty(names));
        }
        if let Some(source) = self.0.sources(ctx).and_then(|sources| sources.get(name)) {
            if source.common_js {
                return common_js::declare(ctx, name);
            }
            let module = Module::declare(ctx.clone(), name, source.code.as_str())?;
            module.meta()?.set("url", format!("file://{name}"))?;
            return Ok(module);
        }
        match builtin::find(name) {
            Some((name, code)) => self.0.builtin(ctx, name, code),
            None => Err(Error::new_loading_message(name, "it is not part of this realm")),
        }
    }
}

/// A module in the place of one that its importer can do without: all that it exports is undefined.
fn empty(names: &str) -> String {
    let named = names.split(',').filter(|name| !matches!(*name, "" | "default"));
    let named: Vec<&str> = named.collect();
    let declared =
        named.iter().enumerate().map(|(at, name)| format!("let _{at}; export {{ _{at} as {name} }};"));
    format!("export default {{}}; {}", declared.collect::<String>())
}
