//! One frame on several devices: its bands of rows are dealt out as devices get free, and the next frame
//! is begun while the last bands of the one before are still being rendered.
#![expect(unsafe_code, reason = "devices write disjoint rows of one picture")]

use crate::device::{DeviceError, FrameStats};
use crate::layout::{FrameData, frame};
use crate::pipeline::{Deal, Picture, Share, Worker};
use crate::report::remark;
use crate::scene::Scene;
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Instant;

/// A device that can render a part of a frame.
pub trait Device: Worker + Sync {
    /// Bands that it works on at once.
    fn lanes(&self) -> usize;
    /// Renders the rows that `rgba` holds, the first of them row `top`, a multiple of [`BAND_STEP`]. No two
    /// threads use the same lane at once.
    fn rows(&self, lane: usize, camera: &FrameData, top: u32, rgba: &mut [u8]) -> Result<FrameStats, DeviceError>;
}

/// Bands start at multiples of this many rows: both kinds of devices work in tiles.
pub const BAND_STEP: u32 = 16;
// Bands of a tall picture; a low one has bands of two tiles, or fewer of them.
const BANDS: u32 = 64;

/// Several devices as one worker.
pub struct Tiles<'a> {
    devices: Vec<Box<dyn Device + 'a>>,
    name: String,
    scene: &'a Scene,
    band: u32,
    shares: Vec<Share>,
}

struct Open {
    index: usize,
    number: u32,
    picture: Picture,
    bands_left: usize,
    stats: FrameStats,
    started: Instant,
}

struct Piece {
    index: usize,
    camera: FrameData,
    top: u32,
    rows: Rows,
}

// A band's bytes within the picture that `Open` holds.
struct Rows {
    start: *mut u8,
    len: usize,
}
// SAFETY: the address of bytes that only this band's renderer touches until it is finished.
unsafe impl Send for Rows {}

#[derive(Default)]
struct State {
    open: Vec<Open>,
    pieces: VecDeque<Piece>,
    // Pieces that lanes are working on.
    out: usize,
    // A lane is asking for the next frame.
    taking: bool,
    // There are no more frames.
    ended: bool,
    failures: Vec<(usize, DeviceError)>,
}

impl<'a> Tiles<'a> {
    /// The devices share each of the scene's frames.
    pub fn new(devices: Vec<Box<dyn Device + 'a>>, scene: &'a Scene) -> Tiles<'a> {
        let name = devices.iter().map(|d| d.name()).collect::<Vec<_>>().join(", ");
        let band = (scene.height / BANDS).next_multiple_of(BAND_STEP).max(2 * BAND_STEP);
        let shares = devices.iter().map(|d| Share::new(d.name())).collect();
        Tiles { devices, name, scene, band, shares }
    }

    // Cuts the picture into bands.
    fn open(&self, index: usize, number: u32, mut picture: Picture) -> (Open, Vec<Piece>) {
        let camera = frame(self.scene, number);
        let row = 4 * self.scene.width as usize;
        let bytes = picture.rgba.sized(row * self.scene.height as usize);
        let bands = bytes.chunks_mut(row * self.band as usize).zip((0..).step_by(self.band as usize));
        let pieces: Vec<Piece> = bands
            .map(|(bytes, top)| Piece {
                index,
                camera,
                top,
                rows: Rows { start: bytes.as_mut_ptr(), len: bytes.len() },
            })
            .collect();
        let stats = FrameStats::default();
        (Open { index, number, picture, bands_left: pieces.len(), stats, started: Instant::now() }, pieces)
    }

    // One lane of one device: takes bands until there are none, opening frames as they run out.
    fn lane(&self, device: usize, lane: usize, deal: &Deal, (state, changed): (&Mutex<State>, &Condvar)) -> Share {
        let mut share = Share::new("");
        let locked = || state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut now = locked();
        loop {
            if now.failures.iter().any(|(d, _)| *d == device) {
                break;
            }
            if let Some(piece) = now.pieces.pop_front() {
                now.out += 1;
                drop(now);
                // SAFETY: the bytes lie in the picture of an open frame, which stays where it is until all its
                // bands are finished; no other piece holds any of them.
                let rgba = unsafe { std::slice::from_raw_parts_mut(piece.rows.start, piece.rows.len) };
                let result = self.devices[device].rows(lane, &piece.camera, piece.top, rgba);
                now = locked();
                now.out -= 1;
                match result {
                    Ok(stats) => {
                        share.add(&stats);
                        if let Some(done) = now.finish(piece.index, &stats) {
                            drop(now);
                            deal.finish(done.index, done.number, done.picture, done.stats);
                            now = locked();
                        }
                    }
                    Err(e) => {
                        now.pieces.push_front(piece);
                        now.failures.push((device, e));
                    }
                }
                changed.notify_all();
            } else if !now.ended && !now.taking {
                now.taking = true;
                drop(now);
                let taken = deal.take(true).map(|(mut hand, picture)| {
                    let (index, number) = hand.keep();
                    self.open(index, number, picture)
                });
                now = locked();
                now.taking = false;
                match taken {
                    Some((open, pieces)) => {
                        now.open.push(open);
                        now.pieces.extend(pieces);
                    }
                    None => now.ended = true,
                }
                changed.notify_all();
            } else if now.ended && now.out == 0 {
                break;
            } else {
                now = changed.wait(now).unwrap_or_else(PoisonError::into_inner);
            }
        }
        share
    }
}

impl State {
    // Counts a band; gives its frame when that was the last one.
    fn finish(&mut self, index: usize, stats: &FrameStats) -> Option<Open> {
        let at = self.open.iter().position(|o| o.index == index)?;
        let open = &mut self.open[at];
        open.bands_left -= 1;
        open.stats.rays += stats.rays;
        open.stats.shadow_rays += stats.shadow_rays;
        open.stats.kernel += stats.kernel;
        open.stats.time = open.started.elapsed();
        (open.bands_left == 0).then(|| self.open.swap_remove(at))
    }
}

impl Worker for Tiles<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    fn in_flight(&self) -> usize {
        // Each lane may hold the last band of another frame while one more is opened.
        self.devices.iter().map(|d| d.lanes()).sum::<usize>() + 1
    }

    fn run(&mut self, deal: &Deal) -> Result<(), (DeviceError, Vec<usize>)> {
        let (state, changed) = (Mutex::new(State::default()), Condvar::new());
        let this = &*self;
        let shares = std::thread::scope(|threads| {
            let (state, changed) = (&state, &changed);
            let lanes: Vec<_> = (0..this.devices.len())
                .flat_map(|device| (0..this.devices[device].lanes()).map(move |lane| (device, lane)))
                .map(|(device, lane)| (device, threads.spawn(move || this.lane(device, lane, deal, (state, changed)))))
                .collect();
            lanes.into_iter().map(|(device, t)| (device, t.join().unwrap_or_default())).collect::<Vec<_>>()
        });
        for (device, share) in shares {
            self.shares[device].join(&share);
        }
        let state = state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let unfinished: Vec<usize> = state.open.iter().map(|o| o.index).collect();
        let mut failures = state.failures.into_iter();
        if state.ended && unfinished.is_empty() {
            for (device, e) in failures {
                remark(&format!("{} failed, and others took its tiles: {e}", self.devices[device].name()));
            }
            return Ok(());
        }
        let (_, e) = failures.next().unwrap_or((0, DeviceError::Cuda("a device's thread ended early".into())));
        Err((e, unfinished))
    }

    fn shares(&self) -> Vec<Share> {
        self.shares.clone()
    }
}
