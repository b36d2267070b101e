//! A word of memory that a host and its parent share: the call that JavaScript works for. When the host is gone, the parent
//! reads from it which call was at work.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::AtomicU64;

use rustix::mm::{MapFlags, ProtFlags};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags,
};

use crate::frame::CallId;

const SIZE: usize = size_of::<CallId>();

/// The parent's end.
#[derive(Debug)]
pub struct CallMark(OwnedFd);

impl CallMark {
    /// A mark for one host.
    ///
    /// # Errors
    ///
    /// What the system says, and that it has no files in memory.
    #[cfg(target_os = "linux")]
    pub fn new() -> io::Result<Self> {
        use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
        let file = memfd_create("rival-script-host", MemfdFlags::CLOEXEC)?;
        ftruncate(&file, SIZE as u64)?;
        Ok(Self(file))
    }

    /// A mark for one host.
    ///
    /// # Errors
    ///
    /// That this system has no files in memory.
    #[cfg(not(target_os = "linux"))]
    pub fn new() -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Sends it to the host at the other end, as the first byte that it reads.
    ///
    /// # Errors
    ///
    /// What the socket says.
    pub fn send(&self, over: &UnixStream) -> io::Result<()> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut with = SendAncillaryBuffer::new(&mut space);
        let files = [self.0.as_fd()];
        with.push(SendAncillaryMessage::ScmRights(&files));
        rustix::net::sendmsg(over, &[IoSlice::new(&[0])], &mut with, SendFlags::empty())?;
        Ok(())
    }

    /// The call that JavaScript works for, or did when the host ended; 0 if it is none. Nothing if that cannot be read.
    pub fn current(&self) -> Option<CallId> {
        let mut bytes = [0; SIZE];
        let read = rustix::io::pread(&self.0, &mut bytes, 0).ok()?;
        (read == SIZE).then(|| CallId::from_ne_bytes(bytes))
    }
}

/// Takes the mark that the parent has sent, for as long as this process lives.
#[expect(unsafe_code, reason = "memory that two processes share cannot be had otherwise")]
pub(crate) fn receive(over: &UnixStream) -> io::Result<&'static AtomicU64> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut with = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    rustix::net::recvmsg(over, &mut [IoSliceMut::new(&mut byte)], &mut with, RecvFlags::CMSG_CLOEXEC)?;
    let file = with.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut files) => files.next(),
        _ => None,
    });
    let file = file.ok_or_else(|| io::Error::other("the parent sent no mark"))?;
    // SAFETY: a new mapping, at an address that the kernel chooses.
    let mapped = unsafe {
        rustix::mm::mmap(
            std::ptr::null_mut(),
            SIZE,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::SHARED,
            &file,
            0,
        )?
    };
    // SAFETY: a mapping begins at a page, so it is aligned; it is never unmapped, and this process reaches it only through
    // the atomic. The parent reads the file.
    Ok(unsafe { AtomicU64::from_ptr(mapped.cast()) })
}
