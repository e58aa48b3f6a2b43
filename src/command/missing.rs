//! `polyfly missing` and `polyfly status`: list the missing frames of a folder, and its progress.

use super::scene_file::load_scene;
use crate::cli::{Failure, MissingArgs, StatusArgs};
use crate::error::Error;
use crate::language::{count, msg};
use crate::output::store::atomic::host;
use crate::render::frames::FrameList;
use crate::report::{Remarks, duration, print};
use crate::run::folder::{ExistingFrames, RecordedFolder, expect_scene};
use crate::run::journal::{self, Entry, RecordedRun};
use crate::system::{self, command_word};
use std::collections::{BTreeMap, BTreeSet};

pub fn run(args: &MissingArgs) -> Result<(), Failure> {
    args.changes.expect_scene(args.expected.scene.as_deref())?;
    let here = RecordedFolder::awaited(&args.folder)?.only(args.common.frames.as_deref())?;
    here.expect_hash(args.expected.hash.as_deref())?;
    if let Some(scene) = &args.expected.scene {
        expect_scene(&here.manifest, &load_scene(scene, &args.common, &args.changes)?.0, &args.folder)?;
    }
    let whole = here.inspect()?.whole;
    let Some(missing) = here.frames.without(&whole) else { return Ok(()) };
    let list = match args.shards {
        None => Some(missing.clone()),
        Some(n) => here.open_shards(&whole, n),
    };
    print(&format!("{}\n", list.map_or_else(String::new, |list| list.to_string())))?;
    Err(Error::Incomplete(msg!(
        "{missing} of {all} frames are missing or incomplete",
        missing = missing.len(),
        all = here.frames.len()
    ))
    .into())
}

pub fn status(args: &StatusArgs) -> Result<(), Failure> {
    let here = RecordedFolder::open(&args.folder)?;
    let ExistingFrames { whole, broken } = here.inspect()?;
    let total = here.frames.len();
    let mut text = format!("{}: {} of {total} frames are complete", args.folder.display(), whole.len());
    let missing = total - whole.len() - broken.len();
    text += &format!(", {missing} missing, {} broken\n", broken.len());
    if let Some(list) = FrameList::of_numbers(broken.iter().copied()) {
        text += &format!("broken: {list}\n");
    }
    let runs = journal::read(&here.folder.path(), &here.manifest.clip(), &mut Remarks);
    let now = journal::now();
    let (busy, idle): (Vec<Worker>, Vec<Worker>) =
        workers(&runs, &whole).into_iter().partition(|worker| worker.left.is_some());
    // The number of frames and milliseconds of each machine's processes that have no work left.
    let mut machines = BTreeMap::<&str, (usize, f64)>::new();
    for worker in &idle {
        let (frames, ms) = machines.entry(&worker.run.host).or_default();
        (*frames, *ms) = (*frames + worker.times.len(), *ms + worker.ms);
    }
    machines.retain(|_, (frames, _)| *frames > 0);
    for (host, (frames, ms)) in machines {
        text += &format!("{host}: {}, {:.1} ms each\n", count!(frames, "frame", "frames"), ms / frames as f64);
    }
    let (silent, working): (Vec<&Worker>, Vec<&Worker>) = busy.iter().partition(|worker| worker.is_silent(now));
    for worker in &busy {
        text += &worker.row(now);
    }
    let rate: f64 = working.iter().filter_map(|worker| rate(&worker.times)).sum();
    if rate > 0.0 {
        let left = duration((total - whole.len()) as f64 / rate);
        text += &format!("{rate:.2} frames a second lately, {left} to go at that rate\n");
    }
    // What nobody renders now.
    let frames = match working.is_empty() {
        true => here.frames.without(&whole),
        false => {
            let left: BTreeSet<u32> = silent.iter().filter_map(|w| w.left.as_ref()).flat_map(FrameList::iter).collect();
            FrameList::of_numbers(left.into_iter())
        }
    };
    if let (Some(frames), Some(last)) = (frames, runs.iter().max_by(|a, b| a.begun.total_cmp(&b.begun))) {
        let pattern = here.folder.path().join(here.folder.pattern.name());
        let [pattern, scene] = [pattern.to_string_lossy(), last.scene.as_deref().unwrap_or("SCENE").into()]
            .map(|name| command_word(&name));
        text += &format!(
            "to render frames {frames}, with the other flags of the runs: polyfly {scene} -o {pattern} --frames {frames} --resume\n"
        );
    }
    Ok(print(&text)?)
}

// A process that renders frames of the folder, or has rendered some.
struct Worker<'a> {
    // Its last run.
    run: &'a RecordedRun,
    // When its frames were complete, in this order.
    times: Vec<f64>,
    ms: f64,
    // The frames that its run has not completed, and no later run renders; None if there are none, or the run has ended.
    left: Option<FrameList>,
}

// The processes of these runs. Frames that have been rendered again count where that was done.
fn workers<'a>(runs: &'a [RecordedRun], whole: &BTreeSet<u32>) -> Vec<Worker<'a>> {
    let of = |run: &'a RecordedRun| (&*run.host, &*run.process);
    let mut workers = BTreeMap::new();
    for run in runs {
        let planned = run.planned.as_ref().filter(|_| run.run.is_none());
        let is_later = |other: &&RecordedRun| other.begun > run.begun && other.run.is_none();
        let mut later = runs.iter().filter(is_later).filter_map(|other| other.planned.as_ref());
        let left = planned.and_then(|planned| planned.without(whole));
        let left = left.and_then(|left| later.try_fold(left, |left, later| left.except(later)));
        workers.insert(of(run), Worker { run, times: Vec::new(), ms: 0.0, left });
    }
    for (run, entry) in last_entries(runs).into_values() {
        if let Some(worker) = workers.get_mut(&of(&runs[run])) {
            worker.times.push(entry.at);
            worker.ms += entry.ms;
        }
    }
    workers.values_mut().for_each(|worker| worker.times.sort_by(f64::total_cmp));
    workers.into_values().collect()
}

impl Worker<'_> {
    // Seconds since its last frame, or since its beginning.
    fn age(&self, now: f64) -> f64 {
        (now - self.times.last().map_or(self.run.begun, |last| last.max(self.run.begun))).max(0.0)
    }

    // Whether it has probably ended: its process is gone, or it takes much longer than for the frames before.
    fn is_silent(&self, now: f64) -> bool {
        const PATIENCE: f64 = 10.0;
        let is_gone = || self.run.process.parse().is_ok_and(|process| !system::is_alive(process));
        let longest = self.times.windows(2).map(|pair| pair[1] - pair[0]).fold(2.0, f64::max);
        self.run.host == host() && is_gone() || self.age(now) > PATIENCE.max(5.0 * longest)
    }

    fn row(&self, now: f64) -> String {
        let (RecordedRun { host, process, .. }, frames) = (self.run, self.times.len());
        let each = if frames > 0 { format!(", {:.1} ms each", self.ms / frames as f64) } else { String::new() };
        let age = duration(self.age(now));
        let state = match &self.left {
            Some(left) if self.is_silent(now) => format!("silent for {age}: frames {left}"),
            _ if frames > 0 => format!("the last {age} ago"),
            _ => format!("begun {age} ago"),
        };
        format!("{host}, process {process}: {}{each}; {state}\n", count!(frames, "frame", "frames"))
    }
}

/// The last record of each frame, with the number of its run in the list.
pub fn last_entries(runs: &[RecordedRun]) -> BTreeMap<u32, (usize, Entry)> {
    let mut frames: BTreeMap<u32, (usize, Entry)> = BTreeMap::new();
    for (run, entry) in runs.iter().enumerate().flat_map(|(i, run)| run.frames.iter().map(move |entry| (i, entry))) {
        if frames.get(&entry.frame).is_none_or(|(_, other)| other.at <= entry.at) {
            frames.insert(entry.frame, (run, entry.clone()));
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
