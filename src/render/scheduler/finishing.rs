//! Finishes frames whose tasks are done: starts another round, or delivers the picture. A frame that others lend light to waits for
//! them.

use super::super::open_frame::{Closed, OpenFrame};
use super::{FrameLease, FrameQueue};
use crate::device::DeviceError;
use crate::error::Error;
use crate::threads::panic_message;
use std::panic::{AssertUnwindSafe, catch_unwind};

impl FrameQueue<'_> {
    // Finishes a frame whose tasks are done. A panic here ends the run: no device is at fault, and the next frame
    // would panic too.
    pub(super) fn finish(&self, open: OpenFrame) {
        let result = catch_unwind(AssertUnwindSafe(|| self.close(open)));
        let panicked = |words| Err(DeviceError::Panicked("what finishes frames".into(), words).into());
        let result = result.unwrap_or_else(|panic| panicked(panic_message(&*panic)));
        let mut state = self.lock();
        state.out -= 1;
        if let Err(e) = result {
            state.ended = true;
            state.failure = Some(e);
        }
        drop(state);
        self.changed.notify_all();
    }

    // Makes a picture that no GPU is left for.
    pub(super) fn develop_on_host(&self, mut lease: FrameLease) {
        let Some(ready) = lease.ready.take() else { return };
        let mut state = self.lock();
        let at = state.open.iter().position(|open| open.index == ready.index);
        let open = at.map(|at| state.open.swap_remove(at));
        // The frame counts as work in place of the task.
        state.out -= usize::from(open.is_none());
        drop(state);
        open.into_iter().for_each(|open| self.finish(open));
    }

    // The loop of a finisher thread.
    pub(super) fn finish_all(&self) {
        while let Ok(Some(open)) = self.finishing.1.recv() {
            self.finish(open);
        }
    }

    // Ends a round: starts another one, or delivers the picture.
    fn close(&self, open: OpenFrame) -> Result<(), Error> {
        let develops = self.develops();
        self.settle(open.close(self.work, develops)?, develops)
    }

    fn settle(&self, closed: Closed, develops: bool) -> Result<(), Error> {
        match closed {
            Closed::Open(open, parts) => self.add_parts(&mut self.lock(), *open, parts),
            Closed::Seen(frame) => {
                let (gathered, free) = self.lock().neighbors.add(*frame);
                free.into_iter().for_each(|picture| self.delivery.give_picture(picture));
                for one in gathered {
                    self.settle(one.develop(self.work, develops)?, develops)?;
                }
            }
            Closed::Complete(frame, spare) => {
                self.lock().spare.extend(spare);
                self.delivery.deliver(*frame);
            }
        }
        Ok(())
    }
}
