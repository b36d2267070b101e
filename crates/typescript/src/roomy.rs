//! Parsers recurse as deep as the text nests.

/// Address space for a parser's stack; memory is used only as far as a text nests.
const ROOM: usize = 256 << 20;

/// Runs something that may recurse deeply, on a thread that has room for it.
pub(crate) fn roomy<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(ROOM).spawn_scoped(scope, work);
        let thread = thread.expect("a process that cannot start a thread cannot go on");
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
