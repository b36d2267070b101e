//! What JavaScript cannot do by itself: the `native` object that the prelude of a realm is given.

mod crypto;
mod talk;
mod url;
mod zones;

use std::rc::Rc;
use std::time::Instant;

use rquickjs::{Ctx, Exception, Function, IntoJs, Object, Promise, Result, TypedArray, Value};
use uuid::Uuid;

use crate::builtin;
use crate::common_js;
use crate::modules::{self, ModuleSources, RealmSources};
use crate::ops::HostOpOwner;
use crate::realm::number;
use crate::shared::HostShared;
use crate::text;

/// As `crypto.getRandomValues` has it.
const RANDOM_MAX: usize = 65_536;

/// Makes the object for one realm.
pub(crate) fn object<'js>(
    ctx: &Ctx<'js>,
    realm: u32,
    shared: &Rc<HostShared>,
    sources: &Rc<RealmSources>,
    modules: &Rc<ModuleSources>,
) -> Result<Object<'js>> {
    let native = Object::new(ctx.clone())?;
    messages(ctx, &native, realm, shared)?;
    operations(ctx, &native, realm, shared)?;
    modules_of(ctx, &native, sources, modules)?;
    memory(ctx, &native, shared)?;
    native.set("random", Function::new(ctx.clone(), random)?)?;
    native.set("uuid4", Function::new(ctx.clone(), || Uuid::new_v4().to_string())?)?;
    native.set("uuid7", Function::new(ctx.clone(), || Uuid::now_v7().to_string())?)?;
    native.set("url", Function::new(ctx.clone(), url::parse)?)?;
    native.set("urlSet", Function::new(ctx.clone(), url::set)?)?;
    native.set("digest", Function::new(ctx.clone(), text::digest)?)?;
    native.set("encode", Function::new(ctx.clone(), text::encode)?)?;
    native.set("decode", Function::new(ctx.clone(), text::decode)?)?;
    native.set("subtle", Function::new(ctx.clone(), crypto::subtle)?)?;
    native.set("zones", Function::new(ctx.clone(), zones::names)?)?;
    native.set("zone", Function::new(ctx.clone(), zones::changes)?)?;
    native.set("env", shared.env.clone())?;
    Ok(native)
}

/// `send`, `ask`, `current`, `enter`, `drain`, `evaluating`.
fn messages<'js>(ctx: &Ctx<'js>, native: &Object<'js>, realm: u32, shared: &Rc<HostShared>) -> Result<()> {
    let host = Rc::clone(shared);
    native.set(
        "send",
        Function::new(ctx.clone(), move |text: rquickjs::String<'js>| talk::send(&host, realm, &text))?,
    )?;
    let host = Rc::clone(shared);
    native.set(
        "ask",
        Function::new(ctx.clone(), move |ctx: Ctx<'js>, text: rquickjs::String<'js>| {
            talk::ask(&ctx, &host, &text)
        })?,
    )?;
    let host = Rc::clone(shared);
    native.set("current", Function::new(ctx.clone(), move || number(host.watch.current()))?)?;
    let host = Rc::clone(shared);
    let enter = move |call: u64| {
        if !host.is_of_another(call, realm) {
            host.watch.enter(call);
        }
    };
    native.set("enter", Function::new(ctx.clone(), enter)?)?;
    let host = Rc::clone(shared);
    native.set("drain", Function::new(ctx.clone(), move || host.wants_drain.set(true))?)?;
    let host = Rc::clone(shared);
    native.set("evaluating", Function::new(ctx.clone(), move |begins: bool| host.evaluating(realm, begins))?)
}

/// `next`, `timer`, `fetch`, `stop`, `now`, `virtualTime`.
fn operations<'js>(ctx: &Ctx<'js>, native: &Object<'js>, realm: u32, shared: &Rc<HostShared>) -> Result<()> {
    let host = Rc::clone(shared);
    native.set("next", Function::new(ctx.clone(), move || host.ops.borrow_mut().next())?)?;
    let host = Rc::clone(shared);
    let timer = move |op: u32, call: u64, ms: f64| {
        host.ops.borrow_mut().timer(op, HostOpOwner { realm, call }, ms);
    };
    native.set("timer", Function::new(ctx.clone(), timer)?)?;
    let host = Rc::clone(shared);
    let fetch = move |ctx: Ctx<'js>,
                      op: u32,
                      call: u64,
                      request: String,
                      body: Option<TypedArray<'js, u8>>|
          -> Result<()> {
        let mut request: crate::fetch::FetchRequest = serde_json::from_str(&request)
            .map_err(|error| Exception::throw_type(&ctx, &format!("not a request: {error}")))?;
        request.body = body.as_ref().and_then(text::bytes);
        host.ops.borrow_mut().request(op, HostOpOwner { realm, call }, request);
        Ok(())
    };
    native.set("fetch", Function::new(ctx.clone(), fetch)?)?;
    let host = Rc::clone(shared);
    let stop = move |op: u32| {
        let mut ops = host.ops.borrow_mut();
        if ops.realm_of(op) == Some(realm) {
            ops.stop(op);
        }
    };
    native.set("stop", Function::new(ctx.clone(), stop)?)?;
    let start = Instant::now();
    native.set("now", Function::new(ctx.clone(), move || start.elapsed().as_secs_f64() * 1000.0)?)?;
    let host = Rc::clone(shared);
    let virtual_time = move || OrNull(host.ops.borrow().virtual_time().map(|time| milliseconds(time.now_ms)));
    native.set("virtualTime", Function::new(ctx.clone(), virtual_time)?)
}

#[expect(clippy::cast_precision_loss, reason = "exact for 285,000 years")]
fn milliseconds(ms: i64) -> f64 {
    ms as f64
}

/// `load`, `later`, `source`, `factory`, `namespace`.
fn modules_of<'js>(
    ctx: &Ctx<'js>,
    native: &Object<'js>,
    sources: &Rc<RealmSources>,
    modules: &Rc<ModuleSources>,
) -> Result<()> {
    let modules = Rc::clone(modules);
    let later = move |ctx: Ctx<'js>, name: String| -> Result<Object<'js>> {
        let found = builtin::find_later(&name);
        let (name, code) =
            found.ok_or_else(|| Exception::throw_reference(&ctx, "there is no such module"))?;
        let (module, evaluated) = modules.builtin(&ctx, name, code)?.eval()?;
        evaluated.finish::<()>()?;
        module.namespace()
    };
    native.set("later", Function::new(ctx.clone(), later)?)?;
    let load = |ctx: Ctx<'js>, name: String| -> Result<Promise<'js>> { modules::import(&ctx, &name) };
    native.set("load", Function::new(ctx.clone(), load)?)?;
    let known = Rc::clone(sources);
    let factory = move |ctx: Ctx<'js>, name: String| -> Result<Function<'js>> {
        common_js::factory(&ctx, &known, &name)
    };
    native.set("factory", Function::new(ctx.clone(), factory)?)?;
    let namespace =
        |ctx: Ctx<'js>, name: String| -> Result<Object<'js>> { common_js::namespace(&ctx, &name) };
    native.set("namespace", Function::new(ctx.clone(), namespace)?)?;
    let sources = Rc::clone(sources);
    let source = move |ctx: Ctx<'js>, name: String| -> Result<OrNull<Object<'js>>> {
        let Some(source) = sources.get(&name) else { return Ok(OrNull(None)) };
        let object = Object::new(ctx)?;
        object.set("stepNames", source.step_names.clone())?;
        object.set("links", source.links.clone())?;
        object.set("commonJs", source.common_js)?;
        Ok(OrNull(Some(object)))
    };
    native.set("source", Function::new(ctx.clone(), source)?)
}

/// `remember`, `recall`.
fn memory<'js>(ctx: &Ctx<'js>, native: &Object<'js>, shared: &Rc<HostShared>) -> Result<()> {
    let host = Rc::clone(shared);
    let remember = move |name: String, bytes: TypedArray<'js, u8>| {
        host.remembered.borrow_mut().insert(name, text::bytes(&bytes).unwrap_or_default());
    };
    native.set("remember", Function::new(ctx.clone(), remember)?)?;
    let host = Rc::clone(shared);
    let recall = move |ctx: Ctx<'js>, name: String| -> Result<OrNull<TypedArray<'js, u8>>> {
        let remembered = host.remembered.borrow();
        let bytes = remembered.get(&name).map(|bytes| TypedArray::new_copy(ctx, bytes.as_slice()));
        bytes.transpose().map(OrNull)
    };
    native.set("recall", Function::new(ctx.clone(), recall)?)
}

/// What is not there is null; rquickjs would make it undefined.
struct OrNull<T>(Option<T>);

impl<'js, T: IntoJs<'js>> IntoJs<'js> for OrNull<T> {
    fn into_js(self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
        self.0.map_or_else(|| Ok(Value::new_null(ctx.clone())), |value| value.into_js(ctx))
    }
}

fn random(ctx: Ctx<'_>, count: usize) -> Result<TypedArray<'_, u8>> {
    if count > RANDOM_MAX {
        return Err(Exception::throw_range(&ctx, &format!("at most {RANDOM_MAX} bytes at a time")));
    }
    let mut bytes = vec![0; count];
    getrandom::fill(&mut bytes).map_err(|error| Exception::throw_internal(&ctx, &error.to_string()))?;
    TypedArray::new_copy(ctx, bytes)
}
