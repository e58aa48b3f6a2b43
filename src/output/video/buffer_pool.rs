//! A pool of bounded size for frames that wait for an encoder. Its buffers are reused.

use crate::threads::lock;
use crossbeam_channel::{Receiver, Sender, bounded};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub struct BufferPool {
    permits: (Sender<()>, Receiver<()>),
    spare: Mutex<Vec<Vec<u8>>>,
}

/// A frame's planes. The buffer returns to its pool when it is dropped.
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
    /// Copies planes into a buffer; None if no buffer is free within the time-out. The most recently used buffer is
    /// taken first.
    pub fn fill(self: &Arc<BufferPool>, planes: &[u8], timeout: Duration) -> Option<PooledBuffer> {
        self.permits.1.recv_timeout(timeout).ok()?;
        let mut buffer = lock(&self.spare).pop().unwrap_or_default();
        buffer.clear();
        buffer.extend_from_slice(planes);
        Some(PooledBuffer { planes: buffer, pool: Some(Arc::clone(self)) })
    }
}
