//! Parsers recurse as deep as the text nests.

/// Address space for a parser's stack; memory is used only as far as a text nests.
const ROOM: usize = 256 << 20;

/// Runs something that may recurse deeply, on a thread that has room for it. An error is a panic: a bug in a parser, which
/// is no reason to stop.
pub(crate) fn roomy<T: Send>(work: impl FnOnce() -> T + Send) -> std::thread::Result<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(ROOM).spawn_scoped(scope, work);
        thread.expect("a process that cannot start a thread cannot go on").join()
    })
}
