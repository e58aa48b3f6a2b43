//! Finishes frames whose tasks are done: starts another round, or has the stage make the picture, and delivers it.

use super::super::open_frame::{Closed, OpenFrame};
use super::FrameQueue;
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
        self.notify();
    }

    // The loop of a finisher thread.
    pub(super) fn finish_all(&self) {
        while let Ok(Some(open)) = self.finishing.1.recv() {
            self.finish(open);
        }
    }

    // Ends a round: starts another one, or delivers what the stage makes.
    fn close(&self, open: OpenFrame) -> Result<(), Error> {
        match open.close(self.work)? {
            Closed::Open(open, parts) => self.add_parts(&mut self.lock(), *open, parts),
            Closed::Lit(frame) => {
                let finished = self.stage.finish(self.work, *frame)?;
                self.lock().spare.extend(finished.spare);
                finished.pictures.into_iter().for_each(|picture| self.delivery.give_picture(picture));
                finished.frames.into_iter().for_each(|frame| self.delivery.deliver(frame));
            }
        }
        Ok(())
    }
}
