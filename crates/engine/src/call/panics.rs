//! Functions that panic: what they say, and where.

use std::any::Any;
use std::cell::RefCell;
use std::panic;
use std::sync::Once;

use rival_core::failure::code;
use rival_core::{FailureOrigin, FailureRecord, StepError};

thread_local! {
    /// The last panic of this thread: what it said, and where.
    static LAST: RefCell<Option<(String, FailureOrigin)>> = const { RefCell::new(None) };
}

/// Notes where functions panic from now on. A panic that is caught does not say it, only the process's hook is told; the hook
/// that is there is called as before.
pub(crate) fn note_places() {
    static NOTED: Once = Once::new();
    NOTED.call_once(|| {
        let earlier = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let said = info.payload_as_str().zip(info.location());
            let place = said.map(|(text, at)| (text.to_owned(), FailureOrigin::at(at)));
            // A thread that ends may have nothing to keep it in.
            let _ = LAST.try_with(|last| last.replace(place));
            earlier(info);
        }));
    });
}

/// The failure of a function whose panic was caught on this thread.
pub fn panicked(panic: &(dyn Any + Send)) -> StepError {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
    // One that began on another thread and was passed on has left no place here, or that of another panic.
    let place = LAST.try_with(RefCell::take).ok().flatten().filter(|(said, _)| said == text);
    let mut failure = FailureRecord::new(code::PANIC, format!("the function panicked: {text}"));
    failure.origin = place.map(|(_, origin)| Box::new(origin));
    failure.plain()
}
