//! How much memory JavaScript may hold, with the requests that it makes.
//!
//! QuickJS has a limit of its own, but a script can catch its error and go on, and the engine needs memory itself to
//! say what happened. So memory is counted here: what goes over the limit is refused and noted, the interrupt handler
//! sees the note and stops the script, and from then on there is a little more.
//!
//! The bodies of requests and answers are outside of JavaScript, in another thread. They count against the same limit;
//! where there is no room for one, the request fails and the script goes on.

use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use rquickjs::allocator::{Allocator, RustAllocator};

/// What there is beyond the limit once it was hit, to unwind and to report.
const RESERVE: usize = 4 * 1024 * 1024;

/// Counts the bytes that one runtime holds, and those that are held on its behalf.
#[derive(Debug, Default)]
pub(crate) struct MemoryMeter {
    /// What JavaScript holds. Only the thread that runs JavaScript writes it.
    used: AtomicUsize,
    /// What requests hold.
    reserved: AtomicUsize,
    limit: AtomicUsize,
    refused: AtomicBool,
    spent: AtomicBool,
    /// What was held when garbage was last collected because of the limit.
    collected: AtomicUsize,
}

impl MemoryMeter {
    pub(crate) fn set_limit(&self, limit: usize) {
        self.limit.store(limit, Relaxed);
    }

    pub(crate) fn limit(&self) -> usize {
        self.limit.load(Relaxed)
    }

    pub(crate) fn used(&self) -> usize {
        self.used.load(Relaxed)
    }

    /// What JavaScript and its requests hold.
    fn held(&self) -> usize {
        self.used().saturating_add(self.reserved.load(Relaxed))
    }

    /// Whether it is time to collect garbage. QuickJS does so by itself each time that memory has grown by half, which
    /// can be more than there is.
    pub(crate) fn is_tight(&self) -> bool {
        if !self.is_high() {
            self.collected.store(0, Relaxed);
            return false;
        }
        self.held() > self.collected.load(Relaxed) + self.limit() / 16
    }

    /// Whether three quarters of it are held.
    pub(crate) fn is_high(&self) -> bool {
        self.held() > self.limit() / 4 * 3
    }

    pub(crate) fn collected(&self) {
        self.collected.store(self.held(), Relaxed);
    }

    /// Whether memory was refused since this was last asked.
    pub(crate) fn take_refused(&self) -> bool {
        self.refused.swap(false, Relaxed)
    }

    /// Whether memory was refused since `take_refused` was last called.
    pub(crate) fn refused(&self) -> bool {
        self.refused.load(Relaxed)
    }

    /// Refuses memory that is held elsewhere, if it is too much.
    pub(crate) fn check(&self, bytes: usize) {
        if bytes > self.limit() {
            self.refused.store(true, Relaxed);
        }
    }

    fn admit(&self, more: usize) -> bool {
        let reserve = if self.spent.load(Relaxed) { RESERVE } else { 0 };
        let admitted = self.held().saturating_add(more) <= self.limit().saturating_add(reserve);
        if !admitted {
            self.refused.store(true, Relaxed);
            self.spent.store(true, Relaxed);
        }
        admitted
    }

    fn add(&self, bytes: usize) {
        self.used.store(self.used() + bytes, Relaxed);
    }

    fn remove(&self, bytes: usize) {
        self.used.store(self.used().saturating_sub(bytes), Relaxed);
    }
}

/// Memory outside of JavaScript that counts as the script's, until this is dropped.
#[derive(Debug)]
pub(crate) struct ReservedMemory {
    meter: Arc<MemoryMeter>,
    bytes: usize,
}

impl ReservedMemory {
    pub(crate) fn none(meter: &Arc<MemoryMeter>) -> Self {
        Self { meter: Arc::clone(meter), bytes: 0 }
    }

    /// All that there is for scripts and requests.
    pub(crate) fn limit(&self) -> usize {
        self.meter.limit()
    }

    /// Takes more; false if that would be more than there is. The script is not stopped for it.
    pub(crate) fn grow(&mut self, bytes: usize) -> bool {
        // Added first, so that two requests cannot both take what is enough for one.
        let before = self.meter.reserved.fetch_add(bytes, Relaxed);
        let held = self.meter.used().saturating_add(before).saturating_add(bytes);
        let has_room = held <= self.meter.limit();
        if has_room {
            self.bytes += bytes;
        } else {
            self.meter.reserved.fetch_sub(bytes, Relaxed);
        }
        has_room
    }
}

impl Drop for ReservedMemory {
    fn drop(&mut self) {
        self.meter.reserved.fetch_sub(self.bytes, Relaxed);
    }
}

/// Rust's allocator behind a meter.
pub(crate) struct MeteredAllocator(pub(crate) Arc<MemoryMeter>);

impl MeteredAllocator {
    /// Counts a block that was just allocated.
    #[expect(unsafe_code, reason = "asks for the size of a block that RustAllocator has just given")]
    fn count(&self, block: *mut u8) -> *mut u8 {
        if !block.is_null() {
            // SAFETY: all callers pass what `RustAllocator` returned, and have not freed it.
            let size = unsafe { RustAllocator::usable_size(block) };
            self.0.add(size);
        }
        block
    }
}

#[expect(unsafe_code, reason = "the trait is unsafe; everything but counting is done by RustAllocator")]
// SAFETY: every block comes from `RustAllocator` and goes back to it, with the sizes that it is asked for. Where memory
// is refused the result is null, which the trait allows; a refused `realloc` leaves the old block as it is.
unsafe impl Allocator for MeteredAllocator {
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
        self.0.remove(size);
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
            self.0.remove(size);
        }
        self.count(moved)
    }

    unsafe fn usable_size(block: *mut u8) -> usize {
        // SAFETY: the caller vouches that the block is ours, so it is one of `RustAllocator`.
        unsafe { RustAllocator::usable_size(block) }
    }
}
