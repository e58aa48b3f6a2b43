//! Where a run's frames go: files, a stream, a video; and what of them is there already.

use super::claim::{self, Claim, Existing};
use super::ownership::clip;
use super::video_choice::VideoChoice;
use super::{journal, memory, named_ffmpeg};
use crate::cli::{RenderArgs, VideoArgs};
use crate::error::Error;
use crate::output::files::FrameFiles;
use crate::output::formats::{Format, FormatOptions};
use crate::output::store::folder::FrameFolder;
use crate::output::store::hidden;
use crate::output::store::manifest::Manifest;
use crate::output::store::origin::Origin;
use crate::output::stream::{Stream, StreamSink};
use crate::output::video::codecs::{Codec, CodecWishes};
use crate::output::video::containers::{CONTAINERS, Container};
use crate::output::video::ffmpeg::find_ffmpeg;
use crate::output::video::high_bit_depth::{DynamicRange, HighBitDepth};
use crate::output::video::job::{ExistingVideo, VideoJob};
use crate::output::video::segments;
use crate::output::video::settings::is_raw;
use crate::output::video::{Settings, VideoSink, y4m};
use crate::output::{OutputError, PixelFormats, Sink};
use crate::render::frames::FrameList;
use crate::report::remark;
use crate::scene::limits::PICTURES;
use crate::scene::{Scene, Tone};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Of a film that the encoder which is built in makes.
pub const NO_FFMPEG: &str =
    "there is no ffmpeg here: the video is made by the built-in OpenH264, whose files are larger for what is seen";

/// Where a run's frames go, and what is left of them to be rendered.
pub struct Outputs {
    folder: FrameFolder,
    /// None where no frames are written to files.
    pub claim: Option<Claim>,
    /// Where they go one behind the other.
    pub stream: Option<Stream>,
    /// The video, and what it is of.
    pub video: Option<(Settings, VideoJob)>,
    origin: Arc<Origin>,
    /// None where all are there.
    pub to_render: Option<FrameList>,
    /// How many are there, and stay.
    pub done: usize,
    /// How many are there and are rendered again, for a video.
    pub rerender: usize,
    /// The video, where it is there already and frames are not.
    pub existing_video: Option<PathBuf>,
}

/// What has a video's name. A raw one says nothing of itself: the journals beside the frames tell whether a run of theirs has made
/// it.
pub fn existing_video(
    settings: &Settings,
    film: &VideoJob,
    folder: &FrameFolder,
    manifest: &Manifest,
) -> ExistingVideo {
    let there = film.existing(settings);
    if there != ExistingVideo::Other || !settings.is_raw() {
        return there;
    }
    let Ok(path) = std::path::absolute(&settings.path) else { return there };
    let (width, height) = film.sides();
    let longest = y4m::length(width, height, settings.fps, film.frames.len() as u64);
    let is_shorter = std::fs::metadata(&path).is_ok_and(|file| file.is_file() && file.len() <= longest);
    let runs = || journal::read(&folder.path(), &clip(manifest)).into_iter().filter_map(|told| told.run);
    match is_shorter && runs().any(|run| run.films.contains(&path)) {
        true => ExistingVideo::Part,
        false => there,
    }
}

// Frames that a video still needs.
fn unmade(settings: &Settings, film: &VideoJob, part: &FrameList) -> Result<Option<FrameList>, OutputError> {
    Ok(match film.is_made(settings) {
        true => None,
        false if settings.is_single() => Some(part.clone()),
        false => FrameList::of_numbers(segments::left(settings, film)?.into_iter()),
    })
}

/// Refuses to share out a video that is one file from its first byte to its last, if a flag asks for it.
///
/// # Errors
/// It is one, or no video has such a name.
pub fn is_for_shards(video: &Path, is_asked: bool) -> Result<(), Error> {
    video_name("--video", video)?;
    match is_raw(video) && is_asked {
        true => Err(Error::Usage(
            "a shard makes no .y4m: `polyfly stitch` does, when all of them are done; leave --video out".into(),
        )),
        false => Ok(()),
    }
}

impl Outputs {
    /// Looks what there is; nothing is written.
    ///
    /// # Errors
    /// What is asked for does not go together, or with what is there.
    pub fn of(
        args: &RenderArgs,
        choice: VideoChoice,
        scene: &Scene,
        part: &FrameList,
        all: &FrameList,
        stream: Option<Stream>,
    ) -> Result<Outputs, Error> {
        let settings = video_settings(scene, args)?;
        let is_single = settings.as_ref().is_some_and(Settings::is_single);
        if let (Some(_), Some(settings)) = (args.shard, &settings) {
            is_for_shards(&settings.path, args.video.is_some())?;
            if args.video.is_some() && settings.is_embedded && !args.changes.quiet {
                remark("there is no ffmpeg here: this shard's part of the video is left to `polyfly stitch`");
            }
        }
        if args.no_frames && args.shard.is_some() {
            return Err(Error::Usage("--no-frames keeps no frames for the other shards' video: leave it out".into()));
        }
        if args.no_frames && args.resume && is_single {
            return Err(Error::Usage(
                "a .y4m, or a video made without ffmpeg, is not resumed without frames: keep them".into(),
            ));
        }
        let existing = choice.existing;
        let folder = claim::folder_of(scene)?;
        let mut manifest = Manifest::of(scene, String::new(), args.denoise);
        manifest.look_at_steps(scene, part.iter());
        let origin = Arc::new(manifest.origin());
        let is_deep = settings.as_ref().is_some_and(|settings| settings.high_bit_depth.is_some());
        let has_alpha = settings.as_ref().is_some_and(|settings| settings.has_alpha);
        let keeps_all = claim::is_lossless_source(folder.format, scene.output.bits, is_deep, has_alpha);
        if args.shard.is_some() && is_deep {
            claim::require_linear(folder.format)?;
        }
        // Its frames are listed one by one, which only a video needs.
        let film = || VideoJob {
            frames: all.iter().collect(),
            part: args.shard.is_some().then(|| part.iter().collect()),
            size: folder.size,
            source: (keeps_all && !args.no_frames).then(|| folder.clone()),
            tone: scene.film.tone,
            hidden: hidden::within(&folder.path()),
            overwrite: existing == Existing::Overwritten,
            replaces_others: choice.is_overwrite,
            stop: Arc::default(),
            steps: Arc::new(manifest.steps.clone()),
            scene: Some(manifest.hash.clone()),
        };
        if let Some(settings) = &settings {
            let film = film();
            choice.check(&settings.path, existing_video(settings, &film, &folder, &manifest))?;
        }
        if let Some(stream) = stream {
            if args.no_frames || args.resume || args.shard.is_some() {
                return Err(Error::Usage(
                    "--output: frames of a stream are gone: no --resume, no --shard, and no --no-frames".into(),
                ));
            }
            let video = settings.map(|settings| {
                let hidden = hidden::beside(&settings.path);
                let film = VideoJob { hidden, overwrite: true, source: None, ..film() };
                (settings, film)
            });
            return Ok(Outputs {
                folder,
                claim: None,
                stream: Some(stream),
                video,
                origin,
                to_render: Some(part.clone()),
                done: 0,
                rerender: 0,
                existing_video: None,
            });
        }
        if args.no_frames {
            let Some(settings) = settings else {
                return Err(Error::Usage("--no-frames leaves nothing to write: name a video with --video".into()));
            };
            let film = VideoJob { hidden: hidden::beside(&settings.path), overwrite: !args.resume, ..film() };
            let left = if film.overwrite { Some(part.clone()) } else { unmade(&settings, &film, part)? };
            let there = part.len() - left.as_ref().map_or(0, FrameList::len);
            return Ok(Outputs {
                folder,
                claim: None,
                stream: None,
                video: Some((settings, film)),
                origin,
                to_render: left,
                done: there,
                rerender: 0,
                existing_video: None,
            });
        }
        // Where a shard's files do not keep all, `polyfly stitch` makes the video of them.
        let is_left_to_stitch = args.shard.is_some() && (is_single || !keeps_all);
        let video = settings.filter(|_| !is_left_to_stitch).map(|settings| (settings, film()));
        let claim = Claim::inspect(folder.clone(), manifest, part, all, existing)?;
        let length = |left: &Option<FrameList>| left.as_ref().map_or(0, FrameList::len);
        let mut left = claim.remaining.clone();
        let is_made = |(settings, film): &(Settings, VideoJob)| film.part.is_none() && film.is_made(settings);
        if existing == Existing::Kept && left.is_some() && video.as_ref().is_some_and(is_made) {
            // It is of these very frames: those that are missing add nothing to it.
            let made = video.map(|(settings, _)| settings.path);
            let there = claim.existing_frames;
            return Ok(Outputs {
                folder,
                claim: Some(claim),
                stream: None,
                video: None,
                origin,
                to_render: left,
                done: there,
                rerender: 0,
                existing_video: made,
            });
        }
        if let (Some((settings, film)), true) = (&video, claim.existing_frames > 0 && !keeps_all) {
            let unmade = unmade(settings, film, part)?;
            let wanted: BTreeSet<u32> = [left, unmade].iter().flatten().flat_map(FrameList::iter).collect();
            left = FrameList::of_numbers(part.iter().filter(|n| wanted.contains(n)));
        }
        let (there, again) = (part.len() - length(&left), length(&left) - length(&claim.remaining));
        Ok(Outputs {
            folder,
            claim: Some(claim),
            stream: None,
            video,
            origin,
            to_render: left,
            done: there,
            rerender: again,
            existing_video: None,
        })
    }

    // How pictures of a format are written.
    fn format_options(&self, scene: &Scene, format: &Format, place: &str) -> Result<FormatOptions, Error> {
        let options = format
            .options(scene.output.bits, scene.film.tone)
            .map_err(|e| Error::Usage(format!("{place}: {e}; give other --bits")))?;
        Ok(FormatOptions { origin: Some(Arc::clone(&self.origin)), has_alpha: scene.world.sky.transparent, ..options })
    }

    /// The format of pictures, if there are to be any.
    ///
    /// # Errors
    /// It cannot have what is asked of it.
    pub fn picture_format(&self, scene: &Scene) -> Result<Option<(&'static Format, FormatOptions)>, Error> {
        let (format, place) = match (&self.stream, &self.claim) {
            (Some(stream), _) => {
                let none = || Error::Usage(format!("--output: no such format; expected -.{}", PICTURES.join(", -.")));
                (stream.format().ok_or_else(none)?, "--output".to_owned())
            }
            (None, Some(_)) => (self.folder.format, self.folder.pattern.to_string()),
            (None, None) => return Ok(None),
        };
        Ok(Some((format, self.format_options(scene, format, &place)?)))
    }

    // What of it keeps no alpha.
    fn opaque(&self) -> Vec<String> {
        let frames = match (&self.stream, &self.claim) {
            (Some(stream), _) => stream.format().filter(|format| !format.has_alpha).map(|_| "--output".to_owned()),
            (None, Some(_)) => (!self.folder.format.has_alpha).then(|| self.folder.pattern.to_string()),
            (None, None) => None,
        };
        let video = self.video.as_ref().filter(|(settings, _)| !settings.has_alpha);
        let video = video.map(|(settings, _)| settings.path.display().to_string());
        frames.into_iter().chain(video).collect()
    }

    /// Where frames go, not yet opened.
    ///
    /// # Errors
    /// A format cannot have what is asked of it; a stream cannot be opened.
    pub fn sinks(&self, scene: &Scene, quiet: bool) -> Result<Vec<Box<dyn Sink>>, Error> {
        let mut sinks: Vec<Box<dyn Sink>> = Vec::new();
        let picture = self.picture_format(scene)?;
        match (picture, &self.stream) {
            (Some((format, options)), Some(stream)) => {
                let to: Box<dyn Write + Send> = match stream.path() {
                    Some(path) => {
                        let open = std::fs::File::options().write(true).open(path);
                        Box::new(open.map_err(|e| OutputError::Write(path.to_owned(), e))?)
                    }
                    None => Box::new(open_stdout()?),
                };
                sinks.push(Box::new(StreamSink::new(stream.clone(), format, options, to)));
            }
            (Some((_, options)), None) => {
                let is_shared = self.claim.as_ref().is_some_and(Claim::is_shared);
                let owner = self.claim.as_ref().and_then(Claim::ownership);
                sinks.push(Box::new(FrameFiles::new(self.folder.clone(), options, is_shared, owner)));
            }
            (None, _) => {}
        }
        if scene.world.sky.transparent && !quiet {
            self.opaque().iter().for_each(|name| {
                remark(&format!("{name}: it has no alpha, and shows black where the sky is transparent (.png, .exr and others keep it)"));
            });
        }
        if let Some((settings, film)) = &self.video {
            if settings.is_embedded && !quiet {
                remark(NO_FFMPEG);
            }
            let ((width, height), (wide, tall)) = (film.size, film.sides());
            if (wide, tall) != (width, height) && !quiet {
                remark(&format!("video needs even sides: {width} x {height} is padded to {wide} x {tall}"));
            }
            if !settings.is_single() && !settings.codec.is_deterministic && !quiet {
                let (name, path) = (settings.codec.name, settings.path.display());
                remark(&format!(
                    "{path}: {name} is a hardware encoder: the video's bytes depend on the machine, the frames do not"
                ));
            }
            sinks.push(Box::new(VideoSink::new(settings.clone(), film.clone())));
        }
        Ok(sinks)
    }
}

// Standard output for pictures. Where the shell has closed it (`>&-`), the program begins with one that leads nowhere, open for
// reading and writing.
fn open_stdout() -> Result<std::io::Stdout, Error> {
    let stdout = std::io::stdout();
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{OFlags, fcntl_getfl, fstat, major, minor};
        const NULL: (u32, u32) = (1, 3);
        let is_both = fcntl_getfl(&stdout).is_ok_and(|flags| flags & OFlags::RWMODE == OFlags::RDWR);
        let is_null = fstat(&stdout).is_ok_and(|file| (major(file.st_rdev), minor(file.st_rdev)) == NULL);
        if is_both && is_null {
            let what = "standard output is closed, and the pictures would be lost (-o /dev/null throws them away)";
            return Err(OutputError::Write("-".into(), std::io::Error::other(what)).into());
        }
    }
    Ok(stdout)
}

/// What pictures of a format, and a video, need of frames together.
pub fn needs_of(picture: Option<&(&'static Format, FormatOptions)>, video: Option<&Settings>) -> PixelFormats {
    let picture = picture.map_or_else(PixelFormats::default, |(format, options)| (format.needs)(options));
    video.map_or(picture, |settings| picture.union(settings.needs()))
}

fn video_settings(scene: &Scene, args: &RenderArgs) -> Result<Option<Settings>, Error> {
    let Some(path) = scene.output.video.clone() else { return Ok(None) };
    video_name("--video", &path)?;
    let settings = encoding(path, scene.output.fps, &args.encoding, args.limit_memory)?;
    let high_bit_depth = settings.high_bit_depth.map(|high| HighBitDepth { tone: scene.film.tone, ..high });
    let has_alpha = scene.world.sky.transparent && settings.can_have_alpha();
    Ok(Some(Settings { high_bit_depth, has_alpha, ..settings }))
}

/// Whether a video can have that name.
pub fn video_name(flag: &str, path: &Path) -> Result<(), Error> {
    if is_raw(path) || Container::of(path).is_some() {
        return Ok(());
    }
    let all = CONTAINERS.map(|c| format!(".{}", c.extension)).join(", ");
    Err(Error::Usage(format!("{flag}: `{}` is no video: its name ends in {all} or .y4m", path.display())))
}

// What a film may take of the memory: its encoders where nobody has said how many they are, and the frames that wait for one.
const FILM_SHARE: u64 = 4;

/// How to encode a video of that name. The run may take `limit` MiB of memory, if that is given.
pub fn encoding(path: PathBuf, fps: f64, args: &VideoArgs, limit: Option<u64>) -> Result<Settings, Error> {
    if std::path::absolute(&path).is_ok_and(|path| path.to_str().is_none()) {
        let name = path.display();
        return Err(Error::Usage(format!("{name}: the whole path is not UTF-8, in which encoders are told of names")));
    }
    let bits = args.video_bits.as_deref().and_then(|bits| bits.parse().ok());
    let wishes = CodecWishes { codec: args.codec, bits, is_hdr: args.hdr, has_crf: args.crf.is_some() };
    let codec = Codec::choose(&path, wishes).map_err(Error::Usage)?;
    let ffmpeg = named_ffmpeg(args.ffmpeg.as_deref());
    let is_mp4 = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("mp4")) && codec.name == "h264";
    // Where somebody names one, it is that or none.
    let range = if args.hdr { DynamicRange::Hdr } else { DynamicRange::Standard };
    let high_bit_depth = args.is_deep().then_some(HighBitDepth { range, tone: Tone::Soft });
    let may_be_embedded = high_bit_depth.is_none() && cfg!(feature = "h264") && is_mp4 && ffmpeg.is_none();
    let share = memory::memory_limit(limit).map(|bytes| usize::try_from(bytes / FILM_SHARE).unwrap_or(usize::MAX));
    Ok(Settings {
        high_bit_depth,
        is_embedded: may_be_embedded && find_ffmpeg(None).is_err(),
        codec,
        fps,
        crf: args.crf,
        preset: args.preset.clone(),
        ffmpeg,
        timeout: Duration::from_secs(args.encoder_timeout.into()),
        segment: args.segment,
        threads: args.encoder_threads,
        encoders: match args.encoders {
            0 => std::thread::available_parallelism().map_or(1, usize::from).div_ceil(2),
            n => n as usize,
        },
        encoder_memory: share.filter(|_| args.encoders == 0),
        waiting: ((args.video_memory as usize) << 20).min(share.unwrap_or(usize::MAX)),
        ..Settings::of(path)
    })
}
