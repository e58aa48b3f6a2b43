//! Memory for frames that wait for an encoder: no more than is allowed, and used again.

use crate::threads::lock;
use crossbeam_channel::{Receiver, Sender, bounded};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub struct BufferPool {
    permits: (Sender<()>, Receiver<()>),
    spare: Mutex<Vec<Vec<u8>>>,
}

/// A frame's planes. Memory of a pool goes back to it when it is dropped.
pub struct PooledBuffer {
    pub planes: Vec<u8>,
    pub pool: Option<Arc<BufferPool>>,
}

impl Drop for PooledBuffer {
    fn drop(&mut self) {
        if let Some(pool) = &self.pool {
            lock(&pool.spare).push(std::mem::take(&mut self.planes));
            let _ = pool.permits.0.try_send(());
        }
    }
}

impl BufferPool {
    pub fn new(frames: usize) -> BufferPool {
        let permits = bounded(frames);
        while permits.0.try_send(()).is_ok() {}
        BufferPool { permits, spare: Mutex::default() }
    }
    /// A buffer with these planes; None where none gets free in that time. The buffer that was used last is used first.
    pub fn fill(self: &Arc<BufferPool>, planes: &[u8], timeout: Duration) -> Option<PooledBuffer> {
        self.permits.1.recv_timeout(timeout).ok()?;
        let mut buffer = lock(&self.spare).pop().unwrap_or_default();
        buffer.clear();
        buffer.extend_from_slice(planes);
        Some(PooledBuffer { planes: buffer, pool: Some(Arc::clone(self)) })
    }
}
