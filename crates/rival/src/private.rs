//! What the `#[step]` attribute expands to; not for use by hand.

use std::any::{Any, TypeId};

use crate::extract::FromStep;
use crate::returns::{StepResult, StepReturn};

/// The identity of a function: the same that `.step(function)` sees.
pub fn id_of<F: Any>(_function: &F) -> TypeId {
    TypeId::of::<F>()
}

/// Checks an argument.
pub fn argument<T: FromStep>() {}

/// Checks what an `async fn` returns.
pub fn result<T: StepResult>() {}

/// Checks what a `fn` returns.
pub fn result_or_future<T: StepReturn<K>, K>() {}

macro_rules! send {
    ($name:ident $($argument:ident)*) => {
        /// Checks that what the function returns can move between threads.
        pub fn $name<$($argument,)* R: Send>(_function: fn($($argument),*) -> R) {}
    };
}

send!(send0);
send!(send1 A);
send!(send2 A B);
send!(send3 A B C);
send!(send4 A B C D);
send!(send5 A B C D E);
send!(send6 A B C D E F);
send!(send7 A B C D E F G);
send!(send8 A B C D E F G H);
send!(send9 A B C D E F G H I);
send!(send10 A B C D E F G H I J);
send!(send11 A B C D E F G H I J K);
send!(send12 A B C D E F G H I J K L);
