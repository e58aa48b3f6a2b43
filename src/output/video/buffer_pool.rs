//! Memory for frames that wait for an encoder: no more than is allowed, and used again.

use crossbeam_channel::{Receiver, Sender, bounded};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Buffers of frames that wait.
pub struct BufferPool {
    permits: (Sender<()>, Receiver<()>),
    spare: Mutex<Vec<Vec<u8>>>,
}

/// A frame's planes, in memory that goes back to its pool when it is dropped.
pub struct PooledBuffer {
    planes: Vec<u8>,
    pool: Arc<BufferPool>,
}

impl PooledBuffer {
    /// The frame's planes.
    pub fn planes(&self) -> &[u8] {
        &self.planes
    }
}

impl Drop for PooledBuffer {
    fn drop(&mut self) {
        let planes = std::mem::take(&mut self.planes);
        self.pool.spare.lock().unwrap_or_else(PoisonError::into_inner).push(planes);
        let _ = self.pool.permits.0.try_send(());
    }
}

impl BufferPool {
    /// A pool for so many frames.
    pub fn new(frames: usize) -> BufferPool {
        let permits = bounded(frames);
        while permits.0.try_send(()).is_ok() {}
        BufferPool { permits, spare: Mutex::default() }
    }
    /// A buffer with these planes; None where none gets free in that time. The buffer that was used last is used first.
    pub fn fill(self: &Arc<BufferPool>, planes: &[u8], timeout: Duration) -> Option<PooledBuffer> {
        self.permits.1.recv_timeout(timeout).ok()?;
        let mut buffer = self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        buffer.clear();
        buffer.extend_from_slice(planes);
        Some(PooledBuffer { planes: buffer, pool: Arc::clone(self) })
    }
}
