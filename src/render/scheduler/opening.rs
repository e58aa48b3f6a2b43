//! Opens frames in order, once their scenes are prepared.

use super::super::open_frame::OpenFrame;
use super::super::prepared::Recent;
use super::{FrameQueue, Prepared, State};
use crate::device::FilmSlice;

// Frames that are prepared before they can be opened.
const AHEAD: usize = 2;

impl<'a> FrameQueue<'a> {
    // Opens the next frame, if there is one and a picture is free. Returns whether it did.
    pub(super) fn open_next(&self, state: &mut State<'a>) -> bool {
        // The next animated frame may not be prepared yet.
        if self.is_animated() && state.prepared.is_empty() {
            return false;
        }
        let Some(picture) = self.delivery.take_picture() else { return false };
        let next = match self.is_animated() {
            true => state.prepared.pop_front(),
            false => self.next_frame(state).map(|(index, number)| {
                // Only the camera moves: no file is read, so this cannot fail.
                let moments = self.work.moments(number, &mut Recent::new()).unwrap_or_default();
                Prepared { index, number, moments }
            }),
        };
        match next {
            Some(prepared) => {
                self.open(state, prepared, picture);
                true
            }
            None => {
                self.delivery.give_picture(picture);
                state.ended = true;
                false
            }
        }
    }

    fn open(&self, state: &mut State<'a>, prepared: Prepared, picture: FilmSlice) {
        let Prepared { index, number, moments } = prepared;
        let mut open = OpenFrame::new(self.work, (index, number), moments, picture);
        let parts = open.first_round(self.work);
        self.add_parts(state, open, parts);
    }

    // The position and the number of the next frame to render.
    fn next_frame(&self, state: &mut State<'a>) -> Option<(usize, u32)> {
        self.stage.next_frame(|| state.frames.next())
    }

    // Prepares animated frames while others render: reads time steps, moves bodies and builds trees.
    pub(super) fn prepare(&self) {
        let mut recent = Recent::new();
        loop {
            let mut state = self.wait_until(|state| state.prepared.len() < AHEAD);
            let next = if state.ended { None } else { self.next_frame(&mut state) };
            drop(state);
            let Some((index, number)) = next else { break };
            let work = || self.work.prepared.pool.install(|| self.work.moments(number, &mut recent));
            let Some(moments) = self.noting_failure(work) else { break };
            self.lock().prepared.push_back(Prepared { index, number, moments });
            self.notify();
        }
        // An end keeps frames from being opened, so it waits for those that are prepared.
        self.wait_until(|state| state.prepared.is_empty()).ended = true;
        self.notify();
    }
}
