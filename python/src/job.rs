//! Work that Ctrl-C can interrupt: it runs on a thread of its own, and Python's thread waits for it and for signals.

use polyfly::Cancel;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

// How often Python looks for signals: a fraction of the time that a person notices.
const POLL: Duration = Duration::from_millis(50);

/// Runs `work` with the interpreter free for other threads. A signal abandons it and raises at once; a frame in flight ends soon
/// after, in the background.
pub fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    cancel: &Cancel,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (send, mut receive) = channel();
    #[expect(clippy::disallowed_methods, reason = "a refused thread becomes an exception here")]
    let thread = std::thread::Builder::new().name("polyfly".into()).spawn(move || send.send(work()));
    thread.map_err(|e| PyRuntimeError::new_err(format!("the system starts no more threads ({e})")))?;
    loop {
        let (received, back) = py.detach(move || (receive.recv_timeout(POLL), receive));
        receive = back;
        match received {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("the rendering thread panicked; please report this"));
            }
            Err(RecvTimeoutError::Timeout) => py.check_signals().inspect_err(|_| cancel.abandon())?,
        }
    }
}
