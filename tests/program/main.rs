//! The program as a black box, and the library as others use it.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod cli;
mod common;
mod denoise;
mod devices;
mod documents;
#[cfg(unix)]
mod faults;
#[cfg(unix)]
mod films;
mod generated;
mod grains;
mod language;
mod library;
#[cfg(unix)]
mod limits;
mod mistakes;
mod pictures;
mod report;
#[cfg(unix)]
mod resume;
mod samples;
#[cfg(unix)]
mod segments;
#[cfg(unix)]
mod stopping;
#[cfg(unix)]
mod strangers;
#[cfg(unix)]
mod studio;
#[cfg(unix)]
mod takeover;
mod terminal;
#[cfg(unix)]
mod tutorials;
mod video;
mod worlds;
