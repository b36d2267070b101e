//! How much memory JavaScript may hold.
//!
//! QuickJS has a limit of its own, but a script can catch its error and go on, and the engine needs memory itself to
//! say what happened. So memory is counted here: what goes over the limit is refused and noted, the interrupt handler
//! sees the note and stops the script, and from then on there is a little more.

use std::cell::Cell;
use std::ptr;
use std::rc::Rc;

use rquickjs::allocator::{Allocator, RustAllocator};

/// What there is beyond the limit once it was hit, to unwind and to report.
const RESERVE: usize = 4 * 1024 * 1024;

/// Counts the bytes that one runtime holds.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    used: Cell<usize>,
    limit: Cell<usize>,
    refused: Cell<bool>,
    spent: Cell<bool>,
    /// What was held when garbage was last collected because of the limit.
    collected: Cell<usize>,
}

impl Meter {
    pub(crate) fn set_limit(&self, limit: usize) {
        self.limit.set(limit);
    }

    pub(crate) fn used(&self) -> usize {
        self.used.get()
    }

    /// Whether it is time to collect garbage. QuickJS does so by itself each time that memory has grown by half, which
    /// can be more than there is.
    pub(crate) fn is_tight(&self) -> bool {
        let (used, limit) = (self.used.get(), self.limit.get());
        if used <= limit / 4 * 3 {
            self.collected.set(0);
            return false;
        }
        used > self.collected.get() + limit / 16
    }

    pub(crate) fn collected(&self) {
        self.collected.set(self.used.get());
    }

    /// Whether memory was refused since this was last asked.
    pub(crate) fn take_refused(&self) -> bool {
        self.refused.take()
    }

    /// Whether memory was refused and nobody has asked yet.
    pub(crate) fn refused(&self) -> bool {
        self.refused.get()
    }

    /// Refuses memory that is held elsewhere, if it is too much.
    pub(crate) fn check(&self, bytes: usize) {
        if bytes > self.limit.get() {
            self.refused.set(true);
        }
    }

    fn admit(&self, more: usize) -> bool {
        let reserve = if self.spent.get() { RESERVE } else { 0 };
        let admitted = self.used.get().saturating_add(more) <= self.limit.get().saturating_add(reserve);
        if !admitted {
            self.refused.set(true);
            self.spent.set(true);
        }
        admitted
    }
}

/// Rust's allocator behind a meter.
pub(crate) struct Metered(pub(crate) Rc<Meter>);

impl Metered {
    /// Counts a block that was just allocated.
    #[expect(unsafe_code, reason = "asks for the size of a block that RustAllocator has just given")]
    fn count(&self, block: *mut u8) -> *mut u8 {
        if !block.is_null() {
            // SAFETY: all callers pass what `RustAllocator` returned, and have not freed it.
            let size = unsafe { RustAllocator::usable_size(block) };
            self.0.used.set(self.0.used.get() + size);
        }
        block
    }
}

#[expect(unsafe_code, reason = "the trait is unsafe; everything but counting is done by RustAllocator")]
// SAFETY: every block comes from `RustAllocator` and goes back to it, with the sizes that it is asked for. Where memory
// is refused the result is null, which the trait allows; a refused `realloc` leaves the old block as it is.
unsafe impl Allocator for Metered {
    fn alloc(&mut self, size: usize) -> *mut u8 {
        if !self.0.admit(size) {
            return ptr::null_mut();
        }
        self.count(RustAllocator.alloc(size))
    }

    fn calloc(&mut self, count: usize, size: usize) -> *mut u8 {
        match count.checked_mul(size) {
            Some(total) if self.0.admit(total) => self.count(RustAllocator.calloc(count, size)),
            _ => ptr::null_mut(),
        }
    }

    unsafe fn dealloc(&mut self, block: *mut u8) {
        if block.is_null() {
            return;
        }
        // SAFETY: the caller vouches that the block is ours, so it is one of `RustAllocator`.
        let size = unsafe { RustAllocator::usable_size(block) };
        self.0.used.set(self.0.used.get().saturating_sub(size));
        // SAFETY: as above; the caller does not use it again.
        unsafe { RustAllocator.dealloc(block) };
    }

    unsafe fn realloc(&mut self, block: *mut u8, new_size: usize) -> *mut u8 {
        if block.is_null() {
            return self.alloc(new_size);
        }
        // SAFETY: the caller vouches that the block is ours, so it is one of `RustAllocator`.
        let size = unsafe { RustAllocator::usable_size(block) };
        if !self.0.admit(new_size.saturating_sub(size)) {
            return ptr::null_mut();
        }
        // SAFETY: as above.
        let moved = unsafe { RustAllocator.realloc(block, new_size) };
        if !moved.is_null() {
            self.0.used.set(self.0.used.get().saturating_sub(size));
        }
        self.count(moved)
    }

    unsafe fn usable_size(block: *mut u8) -> usize {
        // SAFETY: the caller vouches that the block is ours, so it is one of `RustAllocator`.
        unsafe { RustAllocator::usable_size(block) }
    }
}
