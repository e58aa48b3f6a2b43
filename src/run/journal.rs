//! Journals: which run made which frame, and when. Each run appends JSON records, one per line, to a file of its own
//! in the hidden folder `.polyfly` beside the frames. `polyfly status` adds them up.

use crate::assets::source::open_regular;
use crate::device::DeviceStats;
use crate::language::AllLanguages;
use crate::output::store::atomic::host;
use crate::output::store::hidden;
use crate::quote::brief;
use crate::render::stats::{FrameReport, Progress, RunReport, StageTimes, ms};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

// Upper limits, in bytes, for one record and for the journal of one process (millions of frames).
const LONGEST_RECORD: u64 = 1 << 20;
const LONGEST_JOURNAL: u64 = 1 << 30;

// The first record of a journal.
#[derive(Serialize, Deserialize)]
struct Head {
    clip: String,
    #[serde(default)]
    scene: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    pub frame: u32,
    /// Time on the device, milliseconds.
    pub ms: f64,
    /// When the frame was complete, in seconds since 1970 by the clock of its machine.
    pub at: f64,
    /// Camera, reflected and transmitted rays.
    #[serde(default)]
    pub rays: u64,
    /// Rays from surfaces to lights.
    #[serde(default)]
    pub shadow_rays: u64,
    #[serde(default)]
    pub stages: StageTimes,
}

impl Entry {
    // Rejects records with times above a thousand years or dates outside 1970 to 33658: a journal may come from
    // anyone.
    fn is_possible(&self) -> bool {
        const LONGEST: f64 = 1.0e3 * 365.25 * 24.0 * 3.6e6;
        const LAST: f64 = 1.0e12;
        (0.0..=LONGEST).contains(&self.ms) && (0.0..=LAST).contains(&self.at)
    }
}

/// What the journal says of a whole run, written at its end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunEntry {
    /// The run's devices: their tasks, rays and busy seconds.
    pub devices: Vec<DeviceUsage>,
    /// The name of the machine's processor, if known.
    pub processor: Option<String>,
    /// CPU threads; 0 if no frame was rendered.
    pub threads: usize,
    pub frames: usize,
    /// Seconds from the first task to the last file.
    pub seconds: f64,
    /// When the run ended, in seconds since 1970 by the clock of its machine.
    #[serde(default)]
    pub at: f64,
    pub polyfly: String,
    /// Absolute paths of the videos that the run made.
    pub films: Vec<PathBuf>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceUsage {
    pub device: String,
    /// Tasks that the device has done: frames, or bands and rounds of frames.
    pub tasks: usize,
    pub rays: u64,
    pub busy_seconds: f64,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct JournalFile {
    pub host: String,
    pub scene: Option<String>,
    /// In the order in which they were completed.
    pub frames: Vec<Entry>,
    /// None if the run was killed.
    pub run: Option<RunEntry>,
}

/// Reads all journals beside frames, one for each machine and process; only records of this clip are returned.
pub fn read(frames: &Path, clip: &str, progress: &mut dyn Progress) -> Vec<JournalFile> {
    let mut names: Vec<(String, PathBuf)> = Vec::new();
    for file in std::fs::read_dir(hidden::within(frames)).into_iter().flatten().flatten() {
        names.push((file.file_name().to_string_lossy().into_owned(), file.path()));
    }
    names.sort();
    let mut journal = |(name, path): &(String, PathBuf)| {
        let (host, _) = name.strip_suffix(".jsonl")?.rsplit_once('-')?;
        let mut journal_file = JournalFile { host: brief(host), ..JournalFile::default() };
        let mut file = BufReader::new(open_regular(path).ok()?.take(LONGEST_JOURNAL));
        let (mut line, mut is_of_clip) = (Vec::new(), true);
        // A line without its end is the rest of a killed run. Reading stops at a line that is too long.
        while file.by_ref().take(LONGEST_RECORD).read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
            if line.len() as u64 == LONGEST_RECORD || file.get_ref().limit() == 0 {
                let name = brief(&path.display().to_string());
                progress.remark(&AllLanguages::new(|l| l.long_journal(&name)));
                break;
            }
            if let Ok(head) = serde_json::from_slice::<Head>(&line) {
                is_of_clip = head.clip == clip;
                journal_file.scene = head.scene.filter(|_| is_of_clip).map(|name| brief(&name));
            } else if let (true, Ok(entry)) = (is_of_clip, serde_json::from_slice::<Entry>(&line)) {
                journal_file.frames.extend(Some(entry).filter(Entry::is_possible));
            } else if let (true, Ok(run)) = (is_of_clip, serde_json::from_slice(&line)) {
                journal_file.run = Some(run);
            }
            line.clear();
        }
        Some(journal_file)
    };
    names.iter().filter_map(&mut journal).collect()
}

/// The processor's name; None if the system does not report it.
pub fn processor() -> Option<String> {
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = cpuinfo.lines().find(|l| l.starts_with("model name") || l.starts_with("Model"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn now() -> f64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

pub struct Journal {
    file: File,
    begun: Instant,
    threads: usize,
}

impl Journal {
    /// Opens the journal of this process. None if it cannot be written: a run renders without a journal too.
    pub fn open(frames: &Path, threads: usize) -> Option<Journal> {
        let folder = hidden::make(&hidden::within(frames), None).ok()?;
        let name = format!("{}-{}.jsonl", host(), std::process::id());
        let file = hidden::open(&folder.join(name), File::options().create(true).append(true)).ok()?;
        Some(Journal { file, begun: Instant::now(), threads })
    }
    fn write<T: Serialize>(&mut self, record: &T) {
        if let Ok(line) = serde_json::to_string(record) {
            // Each record is one write, so a kill can damage only the last line.
            let _ = self.file.write_all(format!("{line}\n").as_bytes());
        }
    }
    pub fn begin(&mut self, clip: &str, scene: &str) {
        self.write(&Head { clip: clip.to_owned(), scene: Some(scene.to_owned()) });
    }
    pub fn frame(&mut self, report: &FrameReport) {
        self.write(&Entry {
            frame: report.frame,
            ms: ms(report.stats.time),
            at: now(),
            rays: report.stats.rays,
            shadow_rays: report.stats.shadow_rays,
            stages: report.stages,
        });
    }
    pub fn end(&mut self, run: &RunReport) {
        let share = |s: &DeviceStats| DeviceUsage {
            device: s.device.clone(),
            tasks: s.tasks,
            rays: s.rays,
            busy_seconds: s.busy.as_secs_f64(),
        };
        self.write(&RunEntry {
            devices: run.devices.iter().map(share).collect(),
            processor: processor(),
            threads: self.threads,
            frames: run.frames,
            seconds: self.begun.elapsed().as_secs_f64(),
            at: now(),
            polyfly: env!("CARGO_PKG_VERSION").into(),
            films: run.files.iter().filter_map(|path| std::path::absolute(path).ok()).collect(),
        });
    }
    /// Records that a video was made from existing frames.
    pub fn film(frames: &Path, film: PathBuf, begun: Instant) {
        let Some(journal) = &mut Journal::open(frames, 0) else { return };
        journal.begun = begun;
        journal.end(&RunReport { files: vec![film], ..RunReport::default() });
    }
}
