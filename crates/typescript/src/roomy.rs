//! Room for parsers, which recurse as deep as a text nests.

/// The stack that a byte of text can take at most, with some to spare: measured on brackets of all kinds, without
/// optimisation.
const ROOM_PER_BYTE: usize = 4096;
const LEAST_ROOM: usize = 32 << 20;
const MOST_ROOM: usize = 1 << 30;

/// The longest text that cannot exhaust the stack, whatever it is.
pub(crate) const LONGEST_SAFE: usize = MOST_ROOM / ROOM_PER_BYTE;

/// Works on a text, on a thread that has room for it. The room is address space; memory is used only as far as the text
/// nests. None if the work panicked, which is a bug in a parser and no reason to stop, or if there is no such room.
pub(crate) fn roomy<T: Send>(text: &str, work: impl FnOnce() -> T + Send) -> Option<T> {
    let room = text.len().saturating_mul(ROOM_PER_BYTE).clamp(LEAST_ROOM, MOST_ROOM);
    std::thread::scope(|scope| {
        std::thread::Builder::new().stack_size(room).spawn_scoped(scope, work).ok()?.join().ok()
    })
}
