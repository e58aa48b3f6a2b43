//! `polyfly missing` and `polyfly status`: what is in a folder of frames, and what is not.

use super::{load_scene, output};
use crate::cli::{Failure, MissingArgs, StatusArgs};
use crate::error::Error;
use crate::render::frames::FrameList;
use crate::report::{self, Remarks};
use crate::run::folder::{RecordedFolder, expect_scene};
use crate::run::journal;
use crate::run::ownership::clip;
use std::collections::BTreeMap;
use std::path::Path;

/// Prints what is missing.
pub fn run(args: &MissingArgs) -> Result<(), Failure> {
    let here = RecordedFolder::open(&args.folder)?.only(args.changes.frames.as_deref())?;
    here.expect_hash(args.hash.as_deref())?;
    if let Some(scene) = &args.scene {
        expect_scene(&here.manifest, &load_scene(scene, &args.changes)?.0, &args.folder)?;
    }
    let (whole, _) = here.inspect()?;
    let Some(missing) = here.frames.without(&whole) else { return Ok(()) };
    let text = match args.shards {
        None => missing.to_string(),
        Some(n) => {
            here.open_shards(&whole, n, args.shard_mode.into()).map_or_else(String::new, |list| list.to_string())
        }
    };
    output(&format!("{text}\n"))?;
    let counts = format!("{} of {} frames are missing or not whole", missing.len(), here.frames.len());
    Err(Error::Incomplete(counts).into())
}

// What a machine has done.
#[derive(Default)]
struct Node {
    frames: usize,
    ms: f64,
}

/// Prints how far a folder has come.
pub fn status(args: &StatusArgs) -> Result<(), Failure> {
    let here = RecordedFolder::open(&args.folder)?;
    let (whole, broken) = here.inspect()?;
    let total = here.frames.len();
    let mut text = format!("{}: {} of {total} frames are whole", args.folder.display(), whole.len());
    let missing = total - whole.len() - broken.len();
    text += &format!(", {missing} missing, {} broken\n", broken.len());
    if let Some(list) = FrameList::of_numbers(broken.iter().copied()) {
        text += &format!("broken: {list}\n");
    }
    let (nodes, times) = journals(&here.folder.path(), &clip(&here.manifest));
    for (name, node) in &nodes {
        text += &format!("{name}: {} frames, {:.1} ms each\n", node.frames, node.ms / node.frames.max(1) as f64);
    }
    if let Some(rate) = rate(&times) {
        text += &format!("{rate:.2} frames a second lately");
        let left = (total - whole.len()) as f64 / rate;
        text += &if left > 0.0 { format!(", {} to go at that\n", report::duration(left)) } else { "\n".to_owned() };
    }
    output(&text)
}

// What each machine's journals tell, and when frames were whole.
fn journals(folder: &Path, clip: &str) -> (BTreeMap<String, Node>, Vec<f64>) {
    let (mut nodes, mut times) = (BTreeMap::<String, Node>::new(), Vec::new());
    let mut made = BTreeMap::<u32, (f64, f64, String)>::new();
    for told in journal::read(folder, clip, &mut Remarks { quiet: false }) {
        for entry in told.frames {
            // Of a frame that was made twice the last one counts.
            if made.get(&entry.frame).is_none_or(|(at, ..)| *at <= entry.at) {
                made.insert(entry.frame, (entry.at, entry.ms, told.host.clone()));
            }
        }
    }
    for (at, ms, host) in made.into_values() {
        let node = nodes.entry(host).or_default();
        node.frames += 1;
        node.ms += ms;
        times.push(at);
    }
    times.sort_by(f64::total_cmp);
    (nodes, times)
}

// Frames a second over the last hundred of them. Pauses between runs do not count: what is many times longer than is usual
// there.
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
