//! Finishes frames whose tasks are done: starts another round, or has the stage make the picture, and delivers it.

use super::super::open_frame::{Closed, OpenFrame};
use super::FrameQueue;
use crate::error::Error;

impl FrameQueue<'_> {
    // Finishes a frame whose tasks are done.
    pub(super) fn finish(&self, open: OpenFrame) {
        let closed = self.noting_failure(|| self.close(open));
        let mut state = self.lock();
        state.out -= 1;
        state.ended |= closed.is_none();
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
