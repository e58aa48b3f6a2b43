//! Journals: which run made which frame and which film, and when. Each process appends JSON records, one per line, to
//! its own file in the hidden folder `.polyfly` beside the frames. A run's first record names its clip, to which
//! all records up to the next such one belong. `polyfly status` adds them up.

use crate::assets::files::fingerprint;
use crate::assets::source::open_regular;
use crate::device::DeviceStats;
use crate::language::msg;
use crate::output::store::atomic::host;
use crate::output::store::hidden;
use crate::output::store::manifest::clip_of;
use crate::output::video::job::VideoJob;
use crate::output::video::tag::Tag;
use crate::quote::brief;
use crate::render::frames::FrameList;
use crate::render::stats::{FrameReport, Progress, RunReport, StageTimes, ms};
use crate::scene::limits::MAX_FRAMES;
use crate::threads::lock;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};
use std::time::{Instant, SystemTime};

// Upper limits, in bytes, for one record and for the journal of one process (millions of frames).
const LONGEST_RECORD: u64 = 1 << 20;
const LONGEST_JOURNAL: u64 = 1 << 30;
// The same for a list of frames in a record.
const LONGEST_LIST: usize = 1 << 16;

// The first record of a run.
#[derive(Serialize, Deserialize)]
struct Head {
    clip: String,
    #[serde(default)]
    scene: Option<String>,
    // The frames that it will render; left out if the list is long.
    #[serde(default)]
    frames: Option<String>,
    // When it began, in seconds since 1970 by the clock of its machine.
    #[serde(default)]
    at: f64,
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

// The hash of a frame's picture, written before the frame's file has its name.
#[derive(Serialize, Deserialize)]
struct Witnessed {
    frame: u32,
    sha256: String,
    at: f64,
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
    // Length, ends and time of these files, in the same order.
    #[serde(default)]
    marks: Vec<String>,
    // The tag of a raw video, which has no room for it.
    #[serde(default)]
    tag: Option<String>,
}

impl RunEntry {
    /// Whether the run made the file that has this path now.
    pub fn made(&self, film: &Path) -> bool {
        let mut films = self.films.iter().zip(&self.marks);
        films.any(|(path, mark)| path == film && file_mark(film).is_some_and(|now| now == *mark))
    }

    /// The tag of the run's raw video.
    pub fn raw_tag(&self) -> Option<Tag> {
        Tag::parse(self.tag.as_deref()?)
    }
}

// A sign by which a film is recognized: its fingerprint, and when it was written.
fn file_mark(film: &Path) -> Option<String> {
    let modified = std::fs::symlink_metadata(film).ok()?.modified().ok()?;
    let seconds = modified.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    Some(format!("{} {seconds}", fingerprint(film).ok()?))
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceUsage {
    pub device: String,
    /// Tasks that the device has done: frames, or bands and rounds of frames.
    pub tasks: usize,
    pub rays: u64,
    pub busy_seconds: f64,
}

/// The records of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordedRun {
    pub host: String,
    /// The number of the process on its machine.
    pub process: String,
    pub scene: Option<String>,
    /// The frames that the run would render, if known.
    pub planned: Option<FrameList>,
    /// When it began, in seconds since 1970; 0 if unknown.
    pub begun: f64,
    /// In the order in which they were completed.
    pub frames: Vec<Entry>,
    /// The hashes of frames, and when each was written.
    pub hashes: BTreeMap<u32, (f64, String)>,
    /// None if the run was killed.
    pub run: Option<RunEntry>,
}

/// The runs of this clip in all journals beside frames, of which each machine and process has one.
pub fn read(frames: &Path, clip: &str, progress: &mut dyn Progress) -> Vec<RecordedRun> {
    let mut names: Vec<(String, PathBuf)> = Vec::new();
    for file in std::fs::read_dir(hidden::within(frames)).into_iter().flatten().flatten() {
        names.push((file.file_name().to_string_lossy().into_owned(), file.path()));
    }
    names.sort();
    let mut journal = |(name, path): &(String, PathBuf)| {
        let (host, process) = name.strip_suffix(".jsonl")?.rsplit_once('-')?;
        let mut file = BufReader::new(open_regular(path).ok()?.take(LONGEST_JOURNAL));
        let (mut line, mut runs, mut is_of_clip) = (Vec::new(), Vec::<RecordedRun>::new(), false);
        // A line without its end is the rest of a killed run. Reading stops at a line that is too long.
        while file.by_ref().take(LONGEST_RECORD).read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
            if line.len() as u64 == LONGEST_RECORD || file.get_ref().limit() == 0 {
                let name = brief(&path.display().to_string());
                progress.remark(&msg!("{path} is too long for a journal: the rest of it is not read", path = name));
                break;
            }
            if let Ok(head) = serde_json::from_slice::<Head>(&line) {
                is_of_clip = head.clip == clip;
                runs.extend(is_of_clip.then(|| RecordedRun {
                    host: brief(host),
                    process: brief(process),
                    scene: head.scene.map(|name| brief(&name)),
                    planned: head.frames.and_then(|list| FrameList::parse(&list, MAX_FRAMES).ok()),
                    begun: head.at,
                    ..RecordedRun::default()
                }));
            } else if let Some(recorded) = runs.last_mut().filter(|_| is_of_clip) {
                if let Ok(entry) = serde_json::from_slice::<Entry>(&line) {
                    recorded.frames.extend(Some(entry).filter(Entry::is_possible));
                } else if let Ok(Witnessed { frame, sha256, at }) = serde_json::from_slice(&line) {
                    recorded.hashes.insert(frame, (at, sha256));
                } else if let Ok(run) = serde_json::from_slice(&line) {
                    recorded.run = Some(run);
                }
            }
            line.clear();
        }
        Some(runs)
    };
    names.iter().filter_map(&mut journal).flatten().collect()
}

/// The latest hash of each frame in all journals of this clip, as far as they are hashes.
pub fn hashes(frames: &Path, clip: &str) -> BTreeMap<u32, String> {
    let mut latest = BTreeMap::<u32, (f64, String)>::new();
    for (frame, (at, hash)) in read(frames, clip, &mut ()).into_iter().flat_map(|run| run.hashes) {
        let is_hash = hash.len() == 64 && hash.bytes().all(|b| b.is_ascii_hexdigit());
        if is_hash && latest.get(&frame).is_none_or(|(before, _)| *before <= at) {
            latest.insert(frame, (at, hash));
        }
    }
    latest.into_iter().map(|(frame, (_, hash))| (frame, hash)).collect()
}

/// The hashes of a run's frames, and its journal once the run has begun. Threads that write files share it.
#[derive(Default)]
pub struct Ledger {
    pub journal: OnceLock<Journal>,
    pub hashes: Mutex<BTreeMap<u32, String>>,
}

impl Ledger {
    pub fn witness(&self, frame: u32, hash: String) {
        if let Some(journal) = self.journal.get() {
            journal.write(&Witnessed { frame, sha256: hash.clone(), at: now() });
        }
        lock(&self.hashes).insert(frame, hash);
    }
}

/// The processor's name; None if the system does not report it.
pub fn processor() -> Option<String> {
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = cpuinfo.lines().find(|l| l.starts_with("model name") || l.starts_with("Model"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// Seconds since 1970 by the clock of this machine.
pub fn now() -> f64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

pub struct Journal {
    file: File,
    begun: Instant,
    threads: usize,
    // The tag of the run's video, if that is raw.
    tag: Option<String>,
}

impl Journal {
    /// Opens the journal of this process. None if it cannot be written: a run renders without a journal too.
    pub fn open(frames: &Path, threads: usize) -> Option<Journal> {
        let folder = hidden::make(&hidden::within(frames), None).ok()?;
        let name = format!("{}-{}.jsonl", host(), std::process::id());
        let file = hidden::open(&folder.join(name), File::options().create(true).append(true)).ok()?;
        Some(Journal { file, begun: Instant::now(), threads, tag: None })
    }
    fn write<T: Serialize>(&self, record: &T) {
        if let Ok(line) = serde_json::to_string(record) {
            // Each record is one write, so a kill can damage only the last line.
            let _ = (&self.file).write_all(format!("{line}\n").as_bytes());
        }
    }
    /// Records that a run begins, with its scene and frames and the video that it makes.
    pub fn begin(&mut self, clip: &str, scene: Option<(&str, &FrameList)>, video: Option<&VideoJob>) {
        self.write(&Head {
            clip: clip.to_owned(),
            scene: scene.map(|(name, _)| name.to_owned()),
            frames: scene.map(|(_, frames)| frames.to_string()).filter(|list| list.len() <= LONGEST_LIST),
            at: now(),
        });
        self.tag = video.and_then(VideoJob::raw_tag).map(|tag| tag.to_string());
    }
    pub fn frame(&self, report: &FrameReport) {
        self.write(&Entry {
            frame: report.frame,
            ms: ms(report.stats.time),
            at: now(),
            rays: report.stats.rays,
            shadow_rays: report.stats.shadow_rays,
            stages: report.stages,
        });
    }
    pub fn end(&self, run: &RunReport) {
        let share = |s: &DeviceStats| DeviceUsage {
            device: s.device.clone(),
            tasks: s.tasks,
            rays: s.rays,
            busy_seconds: s.busy.as_secs_f64(),
        };
        // A run that ends early leaves the beginning of its film, under another name.
        let made = run.files.iter().filter(|_| run.failure.is_none());
        let films: Vec<PathBuf> = made.filter_map(|path| std::path::absolute(path).ok()).collect();
        self.write(&RunEntry {
            devices: run.devices.iter().map(share).collect(),
            processor: processor(),
            threads: self.threads,
            frames: run.frames,
            seconds: self.begun.elapsed().as_secs_f64(),
            at: now(),
            polyfly: env!("CARGO_PKG_VERSION").into(),
            marks: films.iter().map(|film| file_mark(film).unwrap_or_default()).collect(),
            films,
            tag: self.tag.clone(),
        });
    }
}

/// Records that a video of existing frames was made, if the frames and their scene are known.
pub fn record_film(job: &VideoJob, film: PathBuf, begun: Instant) {
    let Some((folder, scene)) = job.source.as_ref().zip(job.scene.as_deref()) else { return };
    let hash = scene.split_once(',').map_or(scene, |(hash, _)| hash);
    let Some(mut journal) = Journal::open(&folder.path(), 0) else { return };
    journal.begun = begun;
    journal.begin(&clip_of(&folder.pattern.name(), hash), None, Some(job));
    journal.end(&RunReport { files: vec![film], ..RunReport::default() });
}
