//! The program as a black box, and the library as others use it.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod assets;
mod cli;
#[cfg(unix)]
mod commands;
mod common;
mod compare;
mod denoise;
mod devices;
mod docs;
mod documents;
#[cfg(unix)]
mod existing_files;
mod faults;
mod figure;
mod flags;
#[cfg(unix)]
mod foreign_files;
mod formats;
mod generated;
mod hints;
mod joined;
mod language;
mod library;
#[cfg(unix)]
mod limits;
mod messages;
mod missing_files;
mod over_time;
#[cfg(unix)]
mod ownership;
mod packings;
mod particles;
mod report;
#[cfg(unix)]
mod resume;
mod sample_scenes;
#[cfg(unix)]
mod segments;
#[cfg(unix)]
mod spherical;
mod stop;
#[cfg(unix)]
mod studio;
mod suggestions;
mod terminal;
mod vectors;
#[cfg(unix)]
mod verify;
mod video;
#[cfg(unix)]
mod video_choice;
