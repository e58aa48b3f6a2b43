//! `polyfly farm`: prints a complete job for a workload manager. polyfly does not distribute work itself. It prints
//! the commands that the manager runs, and looks into the folder for missing frames.

use super::request::request;
use super::scene_file::load_scene;
use super::template::filled_by;
use super::usage::{self, Refusal};
use crate::assets::files::RecordedFiles;
use crate::cli::{Engine, Failure, FarmArgs, RenderArgs, VideoArgs};
use crate::error::Error;
use crate::language::{Message, count, msg};
use crate::math::hash::hex;
use crate::output::OutputError;
use crate::output::store::manifest::Manifest;
use crate::output::stream::Stream;
use crate::quote::shell_word;
use crate::render::frames::FrameList;
use crate::report::{Remarks, be_quiet, print, say};
use crate::run::folder::{RecordedFolder, expect_same, folder_of, require_linear};
use crate::run::plan::check_for_shards;
use crate::run::{Existing, RunRequest};
use crate::system;
use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

// Slurm's array indices end below MaxArraySize, which is 1001 by default.
const MAX_SLURM_SHARDS: u32 = 1000;

struct Job {
    // The arguments of the render command, quoted, from the scene on.
    render: String,
    // What the holes of templates stand for: the title; the pattern of the frames, with their folder; flags of `missing` and `stitch` that
    // name the job's frames and scene; a key of the clip that differs from those of other clips.
    values: [(&'static str, String); 6],
    // The last command of the job, with its program.
    finish: String,
    shards: u32,
    // Shards with missing frames; None if no frame is missing.
    todo: Option<FrameList>,
}

/// Prints a job, or submits it to its engine.
pub fn run(args: &FarmArgs) -> Result<(), Failure> {
    let job = Job::of(args)?;
    // The scripts of these engines look for missing frames themselves, and make the video.
    if job.todo.is_none() && !matches!(args.engine, Engine::Slurm | Engine::Hyperqueue) {
        say(msg!("no frames are missing; what is left to do: {command}", command = job.finish));
        return Ok(());
    }
    let text = job.text(args)?;
    if !args.submit {
        print(&text)?;
        if args.engine == Engine::Commands {
            say(msg!("when all of them have run: {command}", command = job.finish));
        }
        return Ok(());
    }
    let program = match args.engine {
        Engine::Slurm => "sbatch",
        Engine::Hyperqueue => "bash",
        _ => {
            return Err(Failure::usage(msg!(
                "--submit: only slurm and hyperqueue are handed the job; print it for the others"
            )));
        }
    };
    let failed = |e| Failure::from(OutputError::Write(program.into(), e));
    let needed = if args.engine == Engine::Slurm { "sbatch" } else { "hq" };
    if system::program(needed).is_err() {
        return Err(Failure::NoEngine(needed));
    }
    let mut child = system::program(program).map_err(failed)?.stdin(Stdio::piped()).spawn().map_err(failed)?;
    let mut stdin = child.stdin.take();
    let written = stdin.as_mut().map_or(Ok(()), |pipe| pipe.write_all(text.as_bytes()));
    drop(stdin);
    let status = child.wait().map_err(failed)?;
    match status.success() {
        true => written.map_err(failed),
        false => Err(failed(std::io::Error::other(format!("it does not take the job ({status})")))),
    }
}

// The program's path on the engine's machines.
fn program(engine: Engine) -> String {
    match std::env::current_exe() {
        Ok(path) if engine != Engine::Kubernetes => path.display().to_string(),
        _ => "polyfly".into(),
    }
}

impl Job {
    fn of(args: &FarmArgs) -> Result<Job, Failure> {
        let words = ["polyfly".to_owned(), args.scene.clone()].into_iter().chain(args.flags.iter().cloned());
        let words: Vec<OsString> = words.map(OsString::from).collect();
        let parsed = usage::parse(&words).map_err(|refusal| {
            let (why, help) = match refusal {
                Refusal::Page(_) => ("--help".into(), None),
                Refusal::Fault(why, help) => (why, help),
            };
            let what = msg!("the flags behind `--`: {why}", why);
            help.map_or_else(|| Error::usage(what.clone()), |help| Error::misused(what.clone(), help))
        })?;
        let (render, is_render) = (parsed.render, parsed.command.is_none());
        let is_stream = render.output.as_deref().is_some_and(|text| Stream::of(text).is_some());
        let unfit: [(bool, Message); 9] = [
            (!is_render, msg!("another command")),
            (args.scene == "-", msg!("a scene on stdin")),
            (render.shard.is_some(), Message::text("--shard")),
            (render.overwrite, Message::text("--overwrite")),
            (render.no_frames, Message::text("--no-frames")),
            (render.dry_run, Message::text("--dry-run")),
            (render.sheet.is_some(), Message::text("--sheet")),
            (render.hash, Message::text("--hash")),
            (is_stream, msg!("-o to a stream")),
        ];
        if let Some((_, what)) = unfit.into_iter().find(|(is_there, _)| *is_there) {
            return Err(Failure::usage(msg!(
                "{what} does not fit a job: each task renders the missing frames of its shard",
                what
            )));
        }
        if parsed.quiet {
            be_quiet();
        }
        let (scene, _) = load_scene(&args.scene, &render.common, &render.changes)?;
        let request = RunRequest { existing: Existing::Kept, ..request(&render, scene, &args.scene)? };
        let encoding = request.encoding.clone();
        let RunRequest { scene, frames: all, .. } = request.resolved(&mut Remarks)?.0;
        let folder = folder_of(&scene)?;
        if folder.pattern.is_of_one() {
            return Err(Failure::usage(msg!(
                "{name} is a single picture: render it without a job",
                name = folder.pattern
            )));
        }
        if let Some(video) = &scene.output.video {
            // Fails now if every task would fail.
            check_for_shards(video, render.video.is_some())?;
            encoding.settings_of(&scene, None)?;
        }
        if encoding.is_deep() {
            require_linear(folder.format)?;
        }
        // Each shard has as many frames as a segment of the video.
        let shards = args.shards.unwrap_or_else(|| (all.len() as u32).div_ceil(encoding.segment).min(MAX_SLURM_SHARDS));
        if args.engine == Engine::Slurm && shards > MAX_SLURM_SHARDS {
            return Err(Failure::usage(msg!(
                "--shards: Slurm's arrays have at most {max} tasks",
                max = MAX_SLURM_SHARDS
            )));
        }
        let wants_gpu = !(render.device.cpu || render.devices == ["cpu"]);
        let recorded = RecordedFiles::default();
        let mut manifest = Manifest::of(&scene, String::new(), render.denoise, &recorded);
        let todo = match Manifest::read(&folder.pattern)? {
            Some(theirs) => {
                manifest.look_at_steps(&scene, all.iter().filter(|n| theirs.steps.contains_key(n)), &recorded);
                expect_same(&theirs, &manifest, &folder.path())?;
                unfinished(&folder.pattern.to_string(), &all, shards)?
            }
            None => FrameList::of_numbers(1..=shards),
        };
        let mut words = vec![shell_word(&args.scene)];
        words.extend(args.flags.iter().filter(|f| *f != "--resume").map(|f| shell_word(f)));
        if wants_gpu && !render.device.gpu && render.devices.is_empty() {
            // Without this flag, a node that has lost its GPU would silently render on the CPU.
            words.push("--gpu".into());
        }
        words.push("--resume".into());
        let (frames, program) = (folder.pattern.to_string(), shell_word(&program(args.engine)));
        let own = format!("--frames={} --hash={}", shell_word(&all.to_string()), manifest.hash);
        let clip = hex(&Sha256::digest(format!("{frames} {own} {shards}"))[..5]);
        let finish = match &scene.output.video {
            Some(video) => {
                let flags = encoding_flags(&render).iter().map(|w| format!(" {}", shell_word(w))).collect::<String>();
                let (video, fps) = (shell_word(&video.display().to_string()), scene.output.fps);
                format!("{program} stitch {} {own} -o {video} --fps={fps}{flags}", shell_word(&frames))
            }
            None => format!("{program} missing {} {own}", shell_word(&frames)),
        };
        let (all, scene) = (count!(all.len(), "frame", "frames"), args.scene.replace('\n', " "));
        let parts = if shards == 1 { "shard" } else { "shards" };
        let values = [
            ("TITLE", format!("{all} of {scene} in {shards} {parts}")),
            ("FRAMES", frames),
            ("OWN", own),
            ("CLIP", clip),
            ("FOLDER", folder.path().display().to_string()),
            ("GPU", if wants_gpu { "1".into() } else { String::new() }),
        ];
        Ok(Job { render: words.join(" "), values, finish, shards, todo })
    }

    fn text(&self, args: &FarmArgs) -> Result<String, Failure> {
        let here = std::env::current_dir().map_err(|e| Error::Read(".".into(), e))?.display().to_string();
        let program = program(args.engine);
        let lines = [&here, &program, &self.render, &self.finish, &args.image].into_iter();
        let lines = lines.chain(self.values.iter().map(|(_, value)| value));
        if let Some(odd) = lines.chain(&args.options).find(|line| line.contains(ends_line)) {
            return Err(Failure::usage(msg!(
                "a name or flag contains a line break, which a job cannot hold: {text}",
                text = format!("{odd:?}")
            )));
        }
        if args.engine == Engine::Commands {
            let numbers = self.todo.as_ref().into_iter().flat_map(FrameList::iter);
            // In parentheses, so that a shell may run all lines one after the other.
            let (here, program) = (shell_word(&here), shell_word(&program));
            let line = |k| format!("(cd {here} && exec {program} {} --shard {k}/{})\n", self.render, self.shards);
            return Ok(numbers.map(line).collect());
        }
        let (template, mark) = match args.engine {
            Engine::Slurm => (include_str!("farm/slurm.in"), "#SBATCH "),
            Engine::Hyperqueue => (include_str!("farm/hyperqueue.in"), "# Options: "),
            Engine::Openjd => (include_str!("farm/openjd.in"), ""),
            Engine::Kubernetes | Engine::Commands => (include_str!("farm/kubernetes.in"), ""),
        };
        let shard = if args.engine == Engine::Hyperqueue { "$HQ_TASK_ID" } else { "$((JOB_COMPLETION_INDEX + 1))" };
        let values = [
            ("NAME", format!("polyfly {:.100}", args.scene)),
            ("CORES", args.cores.to_string()),
            ("OPTIONS", args.options.iter().map(|o| format!("{mark}{o}\n")).collect()),
            ("HQ_OPTIONS", args.options.join(" ")),
            ("CWD", here),
            ("POLYFLY", program),
            ("SHARD", shard.to_owned()),
            ("SHARDS", self.shards.to_string()),
            ("RUNNING", args.running.unwrap_or(self.shards).to_string()),
            ("ROUNDS", args.rounds.to_string()),
            ("RENDER", self.render.clone()),
            ("FINISH", self.finish.clone()),
            ("TODO", self.todo.as_ref().map_or_else(String::new, FrameList::to_string)),
            ("IMAGE", args.image.clone()),
        ];
        let values = [&values[..], &self.values].concat();
        if args.engine == Engine::Openjd && values.iter().any(|(_, value)| value.contains("{{")) {
            return Err(Failure::usage(msg!(
                "`{braces}` in a name would be an expression of the Open Job Description",
                braces = "{{"
            )));
        }
        let lines = |text: String| text.lines().map(|line| format!("{}\n", line.trim_end())).collect();
        let parts = [
            ("LOOK", lines(fill(include_str!("farm/look.in"), &values))),
            ("TASK", fill(include_str!("farm/task.in").trim_end(), &values)),
            ("WAIT", fill(include_str!("farm/wait.in").trim_end(), &values)),
        ];
        Ok(lines(fill(template, &[&values[..], &parts].concat())))
    }
}

// Fills a template. A hole names a value, and how it is written: `@CWD@` as it is, `@CWD|sh@` as a word of a shell, `@CWD|yaml@` as text in
// YAML. `@GPU?text@` is that text where the value is not empty.
fn fill(template: &str, values: &[(&str, String)]) -> String {
    let value = |name: &str| values.iter().find(|(one, _)| *one == name).map(|(_, value)| value);
    filled_by(template, |hole| match (hole.split_once('|'), hole.split_once('?')) {
        (Some((name, "sh")), _) => value(name).map(|text| shell_word(text)),
        (Some((name, "yaml")), _) => value(name).map(|text| serde_json::Value::from(text.as_str()).to_string()),
        (_, Some((name, text))) => value(name).map(|value| if value.is_empty() { "" } else { text }.to_owned()),
        _ => value(hole).cloned(),
    })
}

fn unfinished(pattern: &str, frames: &FrameList, shards: u32) -> Result<Option<FrameList>, Failure> {
    let here = RecordedFolder { frames: frames.clone(), ..RecordedFolder::open(Path::new(pattern))? };
    let found = here.inspect()?;
    Ok(here.open_shards(&found.whole, shards))
}

// The flags that make `stitch` encode as the shards did.
fn encoding_flags(render: &RenderArgs) -> Vec<String> {
    let VideoArgs { encode, crf, codec, ffmpeg, video_bits, hdr, audio, limit } = &render.encoding;
    let codec = codec.map(|codec| codec.name.to_owned());
    let flags = [
        ("--encode", encode.map(|encode| encode.name().to_owned())),
        ("--crf", crf.map(|n| n.to_string())),
        ("--codec", codec),
        ("--video-bits", video_bits.clone()),
        ("--audio", audio.as_ref().map(|p| p.display().to_string())),
        ("--limit", limit.map(|bytes| bytes.to_string())),
        ("--ffmpeg", ffmpeg.as_ref().map(|p| p.display().to_string())),
    ];
    let hdr = hdr.then(|| "--hdr".to_owned());
    flags.into_iter().filter_map(|(flag, value)| Some(format!("{flag}={}", value?))).chain(hdr).collect()
}

// Whether the character ends a line in a shell or in YAML 1.1, or is not allowed in a job.
fn ends_line(sign: char) -> bool {
    sign.is_control() || ['\u{2028}', '\u{2029}'].contains(&sign)
}
