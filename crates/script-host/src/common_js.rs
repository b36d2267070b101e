//! CommonJS modules: functions that run when `require` or an import first asks for them.
//!
//! What such a module exports is known when it has run. So it runs when an ES module that imports it is linked, and what QuickJS
//! gets to link is an ES module made of what was found.

use rquickjs::context::EvalOptions;
use rquickjs::module::{Declared, Evaluated, Module};
use rquickjs::promise::PromiseState;
use rquickjs::{Ctx, Exception, Function, Object, Result, Value};

use crate::builtin::PRELUDE;
use crate::modules::{EXACT, RealmSources};

/// The module of QuickJS that stands for a CommonJS module.
pub(crate) fn declare<'js>(ctx: &Ctx<'js>, name: &str) -> Result<Module<'js, Declared>> {
    let prelude = quoted(&format!("{EXACT}{}", PRELUDE.0));
    let file = quoted(name);
    let ask = format!("import {{ commonNames }} from {prelude}; export default commonNames({file})");
    let names: Vec<String> = evaluate(ctx, &format!("{name}#names"), ask)?.get("default")?;
    let locals: Vec<String> = (0..names.len()).map(|at| format!("_{at}")).collect();
    let exported: Vec<String> =
        locals.iter().zip(&names).map(|(local, name)| format!("{local} as {name}")).collect();
    let code = format!(
        "import {{ commonValues }} from {prelude}; const [{}] = commonValues({file}); export {{ {} }}",
        locals.join(","),
        exported.join(",")
    );
    Module::declare(ctx.clone(), name, code)
}

/// The function of a CommonJS module.
pub(crate) fn factory<'js>(ctx: &Ctx<'js>, sources: &RealmSources, name: &str) -> Result<Function<'js>> {
    let source = sources.get(name).filter(|source| source.common_js);
    let source = source.ok_or_else(|| Exception::throw_reference(ctx, "there is no such module"))?;
    let mut options = EvalOptions::default();
    options.strict = false;
    options.filename = Some(name.to_owned());
    ctx.eval_with_options(source.code.as_str(), options)
}

/// What a module exports that is no CommonJS module. It is evaluated now if it was not yet.
pub(crate) fn namespace<'js>(ctx: &Ctx<'js>, name: &str) -> Result<Object<'js>> {
    let code = format!("import * as all from {}; export {{ all }}", quoted(&format!("{EXACT}{name}")));
    evaluate(ctx, &format!("{name}#required"), code)?.get("all")
}

fn evaluate<'js>(ctx: &Ctx<'js>, name: &str, code: String) -> Result<Module<'js, Evaluated>> {
    let (module, evaluated) = Module::declare(ctx.clone(), name, code)?.eval()?;
    match evaluated.state() {
        PromiseState::Resolved => Ok(module),
        PromiseState::Rejected => {
            evaluated.result::<Value<'js>>().unwrap_or(Err(rquickjs::Error::Unknown))?;
            Ok(module)
        }
        PromiseState::Pending => {
            let message = format!("{name} waits for something when it is loaded (`await`): `require` cannot");
            Err(Exception::throw_type(ctx, &message))
        }
    }
}

/// A string as JavaScript has it.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
