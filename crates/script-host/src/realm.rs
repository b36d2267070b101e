//! Realms: one version of a set of modules, in a context of their own.

use std::rc::Rc;

use rquickjs::{
    CatchResultExt, Context, Ctx, Function, IntoJs, Object, Persistent, Result, Runtime, TypedArray, Value,
};

use crate::builtin;
use crate::error;
use crate::fetch::{FetchError, FetchResponse};
use crate::frame::{CallId, ScriptError};
use crate::modules::{ModuleSources, RealmSources};
use crate::native;
use crate::pipe::CalledFunction;
use crate::shared::HostShared;

/// A realm. Its context is made when it is first needed.
#[derive(Debug, Default)]
pub(crate) struct HostRealm {
    pub(crate) sources: Rc<RealmSources>,
    /// The turn in which it was last used.
    pub(crate) used: u64,
    live: Option<LiveRealm>,
}

struct LiveRealm {
    // In this order: values go before the context that they belong to.
    hooks: Hooks,
    context: Context,
}

impl std::fmt::Debug for LiveRealm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LiveRealm")
    }
}

/// What the prelude gives: the functions that the loop calls.
struct Hooks {
    call: Persistent<Function<'static>>,
    frame: Persistent<Function<'static>>,
    complete: Persistent<Function<'static>>,
    drained: Persistent<Function<'static>>,
    /// Does nothing.
    tick: Persistent<Function<'static>>,
}

/// What JavaScript is told.
#[derive(Debug)]
pub(crate) enum RealmTask<'a> {
    /// A function is called.
    Call(CalledFunction<'a>),
    /// Another frame, as JSON.
    Frame(Vec<u8>),
    /// An operation has come to its end.
    Complete(u32, HostOpEnd),
    /// There is nothing more to do for now.
    Drained(CallId),
}

/// How an operation ended.
#[derive(Debug)]
pub(crate) enum HostOpEnd {
    /// The time has come.
    Timer,
    /// A request was answered, or not.
    Fetch(std::result::Result<FetchResponse, FetchError>),
}

impl HostRealm {
    pub(crate) fn is_live(&self) -> bool {
        self.live.is_some()
    }

    /// Makes the context and evaluates the prelude in it; what it throws comes back.
    pub(crate) fn begin(
        &mut self,
        id: u32,
        runtime: &Runtime,
        shared: &Rc<HostShared>,
        modules: &Rc<ModuleSources>,
    ) -> Option<ScriptError> {
        let Ok(context) = Context::full(runtime) else { return Some(error::out_of_memory()) };
        let hooks = context.with(|ctx| {
            modules.enter(&ctx, Rc::clone(&self.sources));
            let hooks = hooks(&ctx, id, shared, &self.sources, modules).catch(&ctx);
            hooks.map_err(|caught| {
                modules.leave(&ctx);
                Box::new(error::thrown(&ctx, caught))
            })
        });
        match hooks {
            Ok(hooks) => self.live = Some(LiveRealm { hooks, context }),
            Err(error) => return Some(*error),
        }
        None
    }

    /// Tells JavaScript something; what it throws comes back.
    pub(crate) fn tell(&self, task: RealmTask<'_>) -> Option<ScriptError> {
        let LiveRealm { hooks, context } = self.live.as_ref()?;
        context.with(|ctx| {
            let hook = |hook: &Persistent<Function<'static>>| hook.clone().restore(&ctx);
            let told: Result<()> = match task {
                RealmTask::Call(CalledFunction { id, file, workflow, function, cx, run, .. }) => {
                    ctx.json_parse(cx.get()).and_then(|cx| {
                        hook(&hooks.call)?.call((number(id), &*file, &*workflow, &*function, cx, run.get()))
                    })
                }
                RealmTask::Frame(json) => {
                    ctx.json_parse(json).and_then(|frame| hook(&hooks.frame)?.call((frame,)))
                }
                RealmTask::Complete(op, end) => hook(&hooks.complete).and_then(|complete| match end {
                    HostOpEnd::Timer => complete.call((op, Value::new_null(ctx.clone()))),
                    HostOpEnd::Fetch(Ok(answer)) => complete.call((op, Value::new_null(ctx.clone()), answer)),
                    HostOpEnd::Fetch(Err(error)) => complete.call((op, error)),
                }),
                RealmTask::Drained(call) => hook(&hooks.drained).and_then(|it| it.call((number(call),))),
            };
            told.catch(&ctx).err().map(|caught| error::thrown(&ctx, caught))
        })
    }

    /// Calls a function that does nothing, so often. QuickJS asks whether to stop once in so many calls.
    pub(crate) fn tick(&self, times: u32) {
        let Some(live) = &self.live else { return };
        live.context.with(|ctx| {
            for _ in 0..times {
                let ticked = live.hooks.tick.clone().restore(&ctx).and_then(|tick| tick.call::<_, ()>(()));
                error::quiet(&ctx, ticked);
            }
        });
    }

    /// Does something in the context, if there is one.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&Ctx<'_>) -> T) -> Option<T> {
        self.live.as_ref().map(|live| live.context.with(|ctx| work(&ctx)))
    }

    /// Lets go of the context, until it is needed again.
    pub(crate) fn rest(&mut self, modules: &ModuleSources) {
        if let Some(live) = self.live.take() {
            live.context.with(|ctx| modules.leave(&ctx));
        }
    }

    /// Lets go of it all.
    pub(crate) fn end(mut self, modules: &ModuleSources) {
        self.rest(modules);
    }
}

fn hooks<'js>(
    ctx: &Ctx<'js>,
    id: u32,
    shared: &Rc<HostShared>,
    sources: &Rc<RealmSources>,
    modules: &Rc<ModuleSources>,
) -> Result<Hooks> {
    let (name, code) = builtin::PRELUDE;
    let (prelude, evaluated) = modules.builtin(ctx, name, code)?.eval()?;
    evaluated.finish::<()>()?;
    let prelude: Function<'js> = prelude.get("default")?;
    let hooks: Object<'js> = prelude.call((native::object(ctx, id, shared, sources, modules)?,))?;
    let hook = |name: &str| hooks.get(name).map(|hook: Function<'js>| Persistent::save(ctx, hook));
    let tick = Persistent::save(ctx, Function::new(ctx.clone(), || ())?);
    let [call, frame, complete, drained] =
        [hook("call")?, hook("frame")?, hook("complete")?, hook("drained")?];
    Ok(Hooks { call, frame, complete, drained, tick })
}

/// Calls are counted; JavaScript's numbers reach further than any host lives.
#[expect(clippy::cast_precision_loss, reason = "exact up to 2^53 calls")]
pub(crate) fn number(call: CallId) -> f64 {
    call as f64
}

impl<'js> IntoJs<'js> for FetchResponse {
    fn into_js(self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
        let answer = Object::new(ctx.clone())?;
        answer.set("status", self.status)?;
        answer.set("statusText", self.status_text)?;
        answer.set("url", self.url)?;
        answer.set("redirected", self.redirected)?;
        let headers: Vec<Vec<String>> =
            self.headers.into_iter().map(|(name, value)| vec![name, value]).collect();
        answer.set("headers", headers)?;
        // Copied, so that it counts as JavaScript's memory instead.
        drop(self.reserved);
        answer.set("body", TypedArray::<u8>::new_copy(ctx.clone(), self.body)?)?;
        Ok(answer.into_value())
    }
}

impl<'js> IntoJs<'js> for FetchError {
    fn into_js(self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
        let error = Object::new(ctx.clone())?;
        error.set("name", "TypeError")?;
        error.set("message", self.to_string())?;
        error.set("code", self.code())?;
        Ok(error.into_value())
    }
}
