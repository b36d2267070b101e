//! Functions as steps, with the options of the place where they are used.

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use rival_core::plan::{BackoffKind, OnTimeout, fingerprint};
use serde::Serialize;

use crate::after::{Dependencies, Dependency};
use crate::config::StepConfig;
use crate::data::Data;
use crate::delay::Delay;
use crate::extract::{Asks, Call, FromStep, TypeAsk};
use crate::function::ErasedFunction;
use crate::returns::StepReturn;
use crate::signal::SignalDraft;

/// A function that can be a step: a free `fn` or `async fn` whose arguments are extractors.
///
/// Its methods set options for one use of the function; the function itself has none.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be used as a step",
    label = "not a step function",
    note = "a step is a free `fn` or `async fn` of at most 12 arguments, each an extractor (`Input<T>`, `Output<step>`, `State`, `Log`, ..), returning `Result<T, E>`",
    note = "another error says what is wrong, at the argument or the return type, if the function has `#[step]`; put that on it if it has not"
)]
pub trait StepFn<M>: Sized {
    /// What it returns.
    type Out: Data;

    /// The function with its options.
    fn into_step(self) -> TypedStep<Self::Out>;

    /// Another id than the function's name.
    fn named(self, name: impl Into<String>) -> TypedStep<Self::Out> {
        self.set(|draft| draft.named = Some(name.into()))
    }

    /// The id where no name is given, for ready-made steps that are closures inside: used again it is numbered, as
    /// `http`, `http_2`. Runs that are under way when the program changes know such a step by what the closure
    /// `holds`: two that hold the same must do the same.
    fn default_name(self, kind: &'static str, holds: &impl Serialize) -> TypedStep<Self::Out> {
        let holds = rival_engine::encode(holds).map(|holds| fingerprint(&holds.canonical()));
        self.set(|draft| {
            draft.default_name = Some(kind);
            // What cannot be written is no way to know it, so it needs a name.
            draft.function.fingerprint = holds.ok();
        })
    }

    /// The longest time that one attempt may take; then the step fails, see
    /// [`on_timeout_retry`](Self::on_timeout_retry).
    fn timeout(self, timeout: Duration) -> TypedStep<Self::Out> {
        self.set(|draft| draft.config.timeout = Some(timeout))
    }

    /// A timeout is tried again while attempts remain.
    fn on_timeout_retry(self) -> TypedStep<Self::Out> {
        self.set(|draft| draft.config.on_timeout = OnTimeout::Retry)
    }

    /// How often it is tried in all, the first time included.
    fn retry(self, max_attempts: u32) -> TypedStep<Self::Out> {
        self.set(|draft| draft.config.max_attempts = Some(max_attempts))
    }

    /// How the delay between attempts grows, and from what base; without it, linear from one second.
    fn backoff(self, kind: BackoffKind, base: Duration) -> TypedStep<Self::Out> {
        self.set(|draft| (draft.config.backoff, draft.config.backoff_base) = (Some(kind), Some(base)))
    }

    /// Shortens each delay by up to half, so that failures do not return in step.
    fn jitter(self) -> TypedStep<Self::Out> {
        self.set(|draft| draft.config.jitter = true)
    }

    /// A call that a crash cut short fails the step instead of being made again.
    fn at_most_once(self) -> TypedStep<Self::Out> {
        self.set(|draft| draft.config.at_most_once = true)
    }

    /// All of the above at once, replacing what was set before.
    fn config(self, config: StepConfig) -> TypedStep<Self::Out> {
        self.set(|draft| draft.config = config)
    }

    /// A failure is recorded and the run goes on. There may then be no result, which the type says.
    fn continue_on_error(self) -> TypedStep<Option<Self::Out>> {
        self.set(|draft| draft.continue_on_error = true).retyped()
    }

    /// Called when the step has failed for good. What it returns is ignored; it may ask for
    /// [`Failure`](crate::Failure).
    fn on_error<N>(self, handler: impl StepFn<N>) -> TypedStep<Self::Out> {
        let handler = handler.into_step().draft;
        self.set(|draft| draft.on_error = Some(Box::new(handler)))
    }

    /// Undoes the step when the run fails or is cancelled later, or its branch loses a race. It may ask for
    /// [`Undo`](crate::Undo), and be tried again: `.compensate(refund.retry(5))`.
    fn compensate<N>(self, undo: impl StepFn<N>) -> TypedStep<Self::Out> {
        let undo = undo.into_step().draft;
        self.set(|draft| draft.compensate = Some(Box::new(undo)))
    }

    /// In a graph: what it comes after, beside the steps whose output it asks for. A step, a node's id, or a tuple
    /// of them.
    fn after<N>(self, nodes: impl Dependencies<N>) -> TypedStep<Self::Out> {
        self.set(|draft| nodes.add_to(&mut draft.after))
    }

    #[doc(hidden)]
    fn set(self, change: impl FnOnce(&mut StepDraft)) -> TypedStep<Self::Out> {
        let mut step = self.into_step();
        change(&mut step.draft);
        step
    }
}

/// Anything that `.step(..)` takes: a function, a function with options, a delay, a wait for a signal.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be used as a step",
    label = "not a step function",
    note = "a step is a free `fn` or `async fn` of at most 12 arguments, each an extractor (`Input<T>`, `Output<step>`, `State`, `Log`, ..), returning `Result<T, E>`",
    note = "another error says what is wrong, at the argument or the return type, if the function has `#[step]`; put that on it if it has not",
    note = "a nested workflow is added with `.workflow(&nested)`"
)]
pub trait IntoStep<M> {
    /// What it returns.
    type Out: Data;

    #[doc(hidden)]
    fn into_draft(self) -> NodeDraft;
}

/// A function with the options of one use of it.
#[derive(Debug)]
pub struct TypedStep<O> {
    pub(crate) draft: StepDraft,
    out: PhantomData<fn() -> O>,
}

impl<O: 'static> TypedStep<O> {
    pub(crate) fn new(function: ErasedFunction) -> Self {
        let draft = StepDraft {
            function,
            out: TypeAsk::of::<O>(),
            default_name: None,
            named: None,
            config: StepConfig::default(),
            continue_on_error: false,
            on_error: None,
            compensate: None,
            after: Vec::new(),
        };
        Self { draft, out: PhantomData }
    }
}

impl<O> TypedStep<O> {
    /// The same step, whose function has been made to return something else.
    pub(crate) fn retyped<P>(self) -> TypedStep<P> {
        TypedStep { draft: self.draft, out: PhantomData }
    }
}

// Derived, it would ask for `O: Clone`.
impl<O> Clone for TypedStep<O> {
    fn clone(&self) -> Self {
        Self { draft: self.draft.clone(), out: PhantomData }
    }
}

/// What the builder holds of a step until `build()`.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct StepDraft {
    pub(crate) function: ErasedFunction,
    /// What the function returns.
    pub(crate) out: TypeAsk,
    /// The id where no name is given, instead of the function's name.
    pub(crate) default_name: Option<&'static str>,
    pub(crate) named: Option<String>,
    pub(crate) config: StepConfig,
    pub(crate) continue_on_error: bool,
    pub(crate) on_error: Option<Box<StepDraft>>,
    pub(crate) compensate: Option<Box<StepDraft>>,
    pub(crate) after: Vec<Dependency>,
}

/// What `.step(..)` adds.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub enum NodeDraft {
    /// A call of a function.
    Step(StepDraft),
    /// A wait.
    Sleep(Delay),
    /// A wait for a signal.
    Signal(SignalDraft),
}

/// Marks plain functions: how they return, and what from which arguments.
#[derive(Debug)]
pub struct FnMark<K, T>(PhantomData<(K, T)>);

/// Marks functions that already have options.
#[derive(Debug)]
pub enum Configured {}

/// Marks what [`StepFn`] can do as a node.
#[derive(Debug)]
pub struct StepMark<M>(PhantomData<M>);

/// Marks delays.
#[derive(Debug)]
pub enum DelayMark {}

impl<O: Data> StepFn<Configured> for TypedStep<O> {
    type Out = O;

    fn into_step(self) -> TypedStep<O> {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<M, S: StepFn<M>> IntoStep<StepMark<M>> for S {
    type Out = S::Out;

    fn into_draft(self) -> NodeDraft {
        NodeDraft::Step(self.into_step().draft)
    }
}

#[diagnostic::do_not_recommend]
impl IntoStep<DelayMark> for Delay {
    type Out = ();

    fn into_draft(self) -> NodeDraft {
        NodeDraft::Sleep(self)
    }
}

macro_rules! functions {
    ($($argument:ident)*) => {
        #[diagnostic::do_not_recommend]
        impl<Fun, K, R, $($argument,)*> StepFn<FnMark<K, (R, $($argument,)*)>> for Fun
        where
            Fun: Fn($($argument),*) -> R + Send + Sync + 'static,
            R: StepReturn<K>,
            $($argument: FromStep,)*
        {
            type Out = R::Ok;

            #[allow(non_snake_case, unused_variables, unused_mut, reason = "one macro for every number of arguments")]
            fn into_step(self) -> TypedStep<R::Ok> {
                let mut asks = Asks { blocking: R::BLOCKING, ..Asks::default() };
                $($argument::asks(&mut asks);)*
                let function = Arc::new(self);
                TypedStep::new(ErasedFunction::new::<Fun>(asks, move |call: &Call| {
                    $(let $argument = $argument::from_step(call)?;)*
                    let function = Arc::clone(&function);
                    Ok(R::start(move || function($($argument),*)))
                }))
            }
        }
    };
}

functions!();
functions!(A);
functions!(A B);
functions!(A B C);
functions!(A B C D);
functions!(A B C D E);
functions!(A B C D E F);
functions!(A B C D E F G);
functions!(A B C D E F G H);
functions!(A B C D E F G H I);
functions!(A B C D E F G H I J);
functions!(A B C D E F G H I J L);
functions!(A B C D E F G H I J L N);
