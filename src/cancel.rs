//! Ends a run from another thread: after the frames in flight, or sooner.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

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
}

impl Cancel {
    /// A new handle, not canceled.
    pub fn new() -> Cancel {
        Cancel::default()
    }
    /// Ends the run after the frames in flight. Written files are complete.
    pub fn stop(&self) {
        self.0.asked.fetch_max(STOPPED, Ordering::Relaxed);
    }
    /// Ends the run without the frames in flight. A CPU stops between tiles, and a GPU after its tasks, which may be
    /// bands of a frame.
    pub fn abandon(&self) {
        self.0.asked.store(ABANDONED, Ordering::Relaxed);
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
}
