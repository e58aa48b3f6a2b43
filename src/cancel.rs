//! Ends a run from another thread: after the frames in flight, or sooner. Threads of the run wait here for work.

use crate::threads::lock;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

const STOPPED: u8 = 1;
const ABANDONED: u8 = 2;

/// Asks a run to end early. Clones share one state, so that one thread may run and another one cancel.
///
/// ```
/// use polyfly::{Cancel, Error, Renderer, Scene};
/// let mut renderer = Renderer::new(Scene::sample())?;
/// let cancel: Cancel = renderer.cancel();
/// cancel.stop();
/// assert!(matches!(renderer.still(0), Err(Error::Interrupted { .. })));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<State>);

#[derive(Debug, Default)]
struct State {
    asked: AtomicU8,
    complete: AtomicBool,
    // The number of changes that threads of the run may wait for.
    changes: Mutex<u64>,
    changed: Condvar,
}

impl Cancel {
    /// A new handle, not canceled.
    pub fn new() -> Cancel {
        Cancel::default()
    }
    /// Ends the run after the frames in flight. Written files are complete.
    pub fn stop(&self) {
        self.0.asked.fetch_max(STOPPED, Ordering::Relaxed);
        self.wake();
    }
    /// Ends the run without the frames in flight. A CPU stops between tiles, and a GPU after its tasks, which may be
    /// bands of a frame.
    pub fn abandon(&self) {
        self.0.asked.store(ABANDONED, Ordering::Relaxed);
        self.wake();
    }
    /// Whether the run is to end, in either way.
    pub fn is_stopped(&self) -> bool {
        self.0.asked.load(Ordering::Relaxed) >= STOPPED
    }
    /// Whether the frames in flight are to be dropped too.
    pub fn is_abandoned(&self) -> bool {
        self.0.asked.load(Ordering::Relaxed) == ABANDONED
    }
    /// Whether the run has finished all of its outputs. Progress may still be reported then, and canceling changes no file.
    pub fn is_complete(&self) -> bool {
        self.0.complete.load(Ordering::Relaxed)
    }
    pub(crate) fn set_complete(&self, is_complete: bool) {
        self.0.complete.store(is_complete, Ordering::Relaxed);
    }
    /// The number of changes so far. A thread asks for it, then looks for work, then waits.
    pub(crate) fn changes(&self) -> u64 {
        *lock(&self.0.changes)
    }
    /// Something has changed: wakes the threads that wait.
    pub(crate) fn wake(&self) {
        *lock(&self.0.changes) += 1;
        self.0.changed.notify_all();
    }
    /// Waits until there are more changes than these.
    pub(crate) fn wait(&self, changes: u64) {
        let woken = self.0.changed.wait_while(lock(&self.0.changes), |now| *now == changes);
        drop(woken.unwrap_or_else(PoisonError::into_inner));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_waits_hears_what_has_changed_since_it_looked() {
        let cancel = Cancel::new();
        let changes = cancel.changes();
        cancel.stop();
        cancel.wait(changes);
        assert!(cancel.is_stopped() && !cancel.is_abandoned());
        std::thread::scope(|scope| {
            let (other, changes) = (cancel.clone(), cancel.changes());
            let waits = crate::threads::spawn_scoped(scope, "test", move || other.wait(changes)).unwrap();
            cancel.abandon();
            waits.join();
        });
        assert!(cancel.is_abandoned());
    }
}
