//! `polyfly missing` and `polyfly status`: list the missing frames of a folder, and its progress.

use super::scene_file::load_scene;
use crate::cli::{Failure, MissingArgs, StatusArgs};
use crate::error::Error;
use crate::language::Language;
use crate::render::frames::FrameList;
use crate::report::{Remarks, duration, print, remark};
use crate::run::folder::{ExistingFrames, RecordedFolder, expect_scene};
use crate::run::journal::{self, Entry, RecordedRun};
use crate::run::ownership::clip;
use std::collections::BTreeMap;

pub fn run(args: &MissingArgs) -> Result<(), Failure> {
    args.changes.expect_scene(args.expected.scene.as_deref())?;
    let here = RecordedFolder::awaited(&args.folder)?.only(args.changes.frames.as_deref())?;
    here.expect_hash(args.expected.hash.as_deref())?;
    if let Some(scene) = &args.expected.scene {
        expect_scene(&here.manifest, &load_scene(scene, &args.changes)?.0, &args.folder)?;
    }
    let found = here.inspect()?;
    // The frames of another scene are not listed: rendering them would cost that scene its own.
    let settled = found.settled();
    let Some(missing) = here.frames.without(&settled) else { return Ok(found.expect_own(&here)?) };
    let list = match args.shards {
        None => Some(missing.clone()),
        Some(n) => here.open_shards(&settled, n, args.shard_mode),
    };
    print(&format!("{}\n", list.map_or_else(String::new, |list| list.to_string())))?;
    if let Err(replaced) = found.expect_own(&here) {
        remark(|l| replaced.shown(l));
    }
    Err(Error::incomplete(|l| l.frames_to_render(missing.len(), here.frames.len())).into())
}

/// Prints the progress of a folder.
pub fn status(args: &StatusArgs) -> Result<(), Failure> {
    let here = RecordedFolder::open(&args.folder)?;
    let ExistingFrames { whole, broken, replaced } = here.inspect()?;
    let total = here.frames.len();
    let mut text = format!("{}: {} of {total} frames are complete", args.folder.display(), whole.len());
    let missing = total - whole.len() - broken.len() - replaced.len();
    text += &format!(", {missing} missing, {} broken\n", broken.len());
    if let Some(list) = FrameList::of_numbers(replaced.iter().copied()) {
        text += &format!("replaced by another scene: {} ({list})\n", replaced.len());
    }
    if let Some(list) = FrameList::of_numbers(broken.iter().copied()) {
        text += &format!("broken: {list}\n");
    }
    let entries = last_entries(&journal::read(&here.folder.path(), &clip(&here.manifest), &mut Remarks));
    // The number of frames and milliseconds of each machine.
    let mut machines = BTreeMap::<&str, (usize, f64)>::new();
    for (host, entry) in entries.values() {
        let (frames, ms) = machines.entry(host).or_default();
        (*frames, *ms) = (*frames + 1, *ms + entry.ms);
    }
    for (host, (frames, ms)) in machines {
        text += &format!("{host}: {frames} frames, {:.1} ms each\n", ms / frames as f64);
    }
    let mut times: Vec<f64> = entries.values().map(|(_, entry)| entry.at).collect();
    times.sort_by(f64::total_cmp);
    if let Some(rate) = rate(&times) {
        let left = (total - whole.len() - replaced.len()) as f64 / rate;
        let left = if left > 0.0 {
            format!(", {} to go at that rate", duration(Language::English, left))
        } else {
            String::new()
        };
        text += &format!("{rate:.2} frames a second lately{left}\n");
    }
    Ok(print(&text)?)
}

/// The last record of each frame, with the machine that made it.
pub fn last_entries(runs: &[RecordedRun]) -> BTreeMap<u32, (String, Entry)> {
    let mut frames: BTreeMap<u32, (String, Entry)> = BTreeMap::new();
    for (host, entry) in runs.iter().flat_map(|run| run.frames.iter().map(|entry| (&run.host, entry))) {
        if frames.get(&entry.frame).is_none_or(|(_, other)| other.at <= entry.at) {
            frames.insert(entry.frame, (host.clone(), entry.clone()));
        }
    }
    frames
}

// Frames per second over the last hundred frames. Gaps many times longer than usual count as pauses between runs and
// are left out.
fn rate(times: &[f64]) -> Option<f64> {
    const PAUSE: f64 = 20.0;
    let lately = &times[times.len().saturating_sub(100)..];
    let mut steps: Vec<f64> = lately.windows(2).map(|pair| pair[1] - pair[0]).collect();
    steps.sort_by(f64::total_cmp);
    let usual = *steps.get(steps.len() / 2)?;
    steps.retain(|&step| step <= usual.max(0.05) * PAUSE);
    let span: f64 = steps.iter().sum();
    (span > 0.0).then(|| steps.len() as f64 / span)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_does_not_slow_the_estimate() {
        let steady: Vec<f64> = (0..50).map(|i| f64::from(i) * 0.5).collect();
        assert!((rate(&steady).unwrap() - 2.0).abs() < 1e-9);
        let paused: Vec<f64> = steady.iter().map(|t| if *t > 12.0 { t + 3600.0 } else { *t }).collect();
        assert!((rate(&paused).unwrap() - 2.0).abs() < 1e-9);
        assert!(rate(&[1.0]).is_none() && rate(&[1.0, 1.0]).is_none());
    }
}
