//! Videos: of frames as they are rendered, of frames that lie in a folder, and of both.
//!
//! An encoded video is made in [segments](super::segments) and joined; a raw one is written as it comes.

use super::container::{CONTAINERS, Container, Join};
use super::ffmpeg::{Ffmpeg, find_ffmpeg};
use super::files::{folder_of, prepare};
use super::film::VideoJob;
#[cfg(feature = "h264")]
use super::film::embedded;
use super::folder::sweep;
#[cfg(feature = "h264")]
use super::h264::H264;
use super::segments::{QueuedFrame, Segments};
use super::tag::Tag;
use super::y4m::{Y4m, rational};
use super::{Already, Outcome, OutputError, PixelFormats, RenderedFrame, RunInfo, Sink, alpha, deep};
use crate::scene::Tone;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Video compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Codec {
    /// H.264 by x264, or by OpenH264 where there is no ffmpeg: plays everywhere.
    #[cfg_attr(feature = "cli", value(alias = "avc"))]
    H264,
    /// H.265 by x265.
    #[cfg_attr(feature = "cli", value(alias = "hevc"))]
    H265,
    /// AV1 by SVT-AV1.
    Av1,
    /// VP9 by libvpx.
    Vp9,
    /// ProRes 422, for editing: 10 bits a channel, all frames by themselves.
    Prores,
    /// FFV1, without loss.
    Ffv1,
}

/// What a video's brightest codes mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DynamicRange {
    /// BT.709: what the tone curve shows as white.
    Standard,
    /// HDR10: BT.2020's colours and the perceptual quantiser, light itself up to 1000 candelas a square metre.
    Hdr,
}

/// A video of ten bits a channel, made of light.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HighBitDepth {
    /// What its codes mean.
    pub range: DynamicRange,
    /// The scene's tone curve; of no account in HDR.
    pub tone: Tone,
}

/// How to encode.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The video file: one of [`super::container::CONTAINERS`], or `.y4m`.
    pub path: PathBuf,
    /// Frames a second.
    pub fps: f64,
    /// Quality; the codec's usual one if not given.
    pub crf: Option<u32>,
    /// The encoder's speed preset.
    pub preset: Option<String>,
    /// Compression.
    pub codec: Codec,
    /// The ffmpeg program, if the user named one.
    pub ffmpeg: Option<PathBuf>,
    /// How long ffmpeg may take over one frame, or to end, before it is ended.
    pub timeout: Duration,
    /// Frames of a segment.
    pub segment: u32,
    /// Threads of an encoder; what it makes depends on them a little.
    pub threads: u32,
    /// Most encoders side by side; what they make does not depend on them.
    pub encoders: usize,
    /// Most memory that these may take, bytes, as far as that is told by [`Settings::encoder_bytes`]; None where somebody has
    /// said how many there are to be.
    pub encoder_memory: Option<usize>,
    /// Ten bits a channel; None for eight.
    pub deep: Option<HighBitDepth>,
    /// With the alpha of the pictures: only where [`Settings::can_have_alpha`].
    pub has_alpha: bool,
    /// Without ffmpeg, by the encoder that is built in.
    pub is_embedded: bool,
    /// Most memory for frames that wait for an encoder, bytes.
    pub waiting: usize,
}

impl Settings {
    /// What the file is; raw video counts as the first.
    pub fn container(&self) -> &'static Container {
        Container::of(&self.path).unwrap_or(&CONTAINERS[0])
    }
    /// The format of segments: they are rows of boxes whatever the file will be.
    pub fn segment_format(&self) -> &'static str {
        if matches!(self.codec, Codec::Prores | Codec::Ffv1) { "mov" } else { "mp4" }
    }
    /// What it needs of frames.
    pub fn needs(&self) -> PixelFormats {
        let (is_deep, has_alpha) = (self.deep.is_some(), self.has_alpha);
        PixelFormats { yuv420: !is_deep && !has_alpha, rgba8: has_alpha, linear: is_deep, ..PixelFormats::default() }
    }
    /// Whether such a video can keep what is transparent: animated WebP, GIF (all or nothing), and ProRes, which is 4444 then.
    pub fn can_have_alpha(&self) -> bool {
        let is_kept = self.container().join != Join::Copied || self.codec == Codec::Prores;
        is_kept && self.deep.is_none() && !self.is_single()
    }
    /// A frame's planes, as [`Video::feed`] takes them.
    ///
    /// # Errors
    /// It has no light, and ten bits are asked for.
    pub fn planes<'a>(&self, frame: &'a RenderedFrame) -> Result<Cow<'a, [u8]>, OutputError> {
        if self.has_alpha {
            return Ok(Cow::Owned(alpha::planes(frame.isa, frame.rgba8(), (frame.width, frame.height))));
        }
        let Some(HighBitDepth { range, tone }) = self.deep else { return Ok(Cow::Borrowed(frame.yuv420())) };
        let none = || OutputError::Write(self.path.clone(), std::io::Error::other("the frame has no linear light"));
        Ok(Cow::Owned(deep::planes(frame.linear().ok_or_else(none)?, tone, range)?))
    }
    /// Bytes of a frame's planes.
    pub fn frame_bytes(&self, (width, height): (u32, u32)) -> usize {
        let halves = if self.has_alpha { 5 } else { 3 };
        width as usize * height as usize * halves / 2 * if self.deep.is_some() { 2 } else { 1 }
    }
    /// Bytes that one encoder takes, about: `benches/encoders` measures it.
    pub fn encoder_bytes(&self, sides: (u32, u32)) -> usize {
        let looks_far = self.codec != Codec::H264
            || self.preset.as_ref().is_some_and(|preset| !["ultrafast", "superfast", "veryfast"].contains(&&**preset));
        let frames = if looks_far { 150 } else { 55 } + 8 * self.threads as usize;
        (72 << 20) + frames * self.frame_bytes(sides)
    }
    /// A grey frame.
    pub fn grey(&self, size: (u32, u32)) -> Vec<u8> {
        match self.deep {
            None => vec![128; self.frame_bytes(size)],
            Some(_) => 512_u16.to_le_bytes().repeat(self.frame_bytes(size) / 2),
        }
    }
    /// Whether it is made in one piece, frame by frame: there are no segments that a later run could go on from.
    pub fn is_single(&self) -> bool {
        self.is_embedded || self.is_raw()
    }
    /// Whether the file holds the frames as they are.
    pub fn is_raw(&self) -> bool {
        is_raw(&self.path)
    }
}

/// Whether a video of that name holds the frames as they are.
pub fn is_raw(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("y4m"))
}

/// Arguments that describe the raw frames on standard input.
pub fn input_arguments(settings: &Settings, (width, height): (u32, u32)) -> Vec<String> {
    let (numerator, denominator) = rational(settings.fps);
    let format = match (settings.deep, settings.has_alpha) {
        (Some(_), _) => "yuv420p10le",
        (None, true) => "yuva420p",
        (None, false) => "yuv420p",
    };
    let size = format!("{width}x{height}");
    let rate = format!("{numerator}/{denominator}");
    ["-f", "rawvideo", "-pix_fmt", format, "-video_size", &size, "-framerate", &rate, "-i", "pipe:0"]
        .map(str::to_owned)
        .into()
}

/// Ticks of the video's clock in a second, and of a frame: so many that other programs' rates fit them too.
pub fn clock(fps: f64) -> (u64, u64) {
    let (numerator, denominator) = rational(fps);
    let mut fold = 1;
    while numerator.max(1) * fold < 10_000 {
        fold *= 2;
    }
    (numerator * fold, denominator * fold)
}

// What HDR10 says of itself in H.265: BT.2020's primaries on a screen of 1000 candelas, which no pixel is brighter than.
const HDR10: &str = ":hdr10=1:repeat-headers=1:colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc:\
    master-display=G(8500,39850)B(6550,2300)R(35400,14600)WP(15635,16450)L(10000000,1):max-cll=1000,0";

/// Arguments that describe the encoding; the output's name comes after them.
pub fn output_arguments(settings: &Settings) -> Vec<String> {
    // Quality and speed, where the encoder has them, and the names of these flags.
    let (encoder, format, crf, preset): (&str, &str, Option<u32>, Option<(&str, &str)>) = match settings.codec {
        Codec::H264 => ("libx264", "yuv420p", Some(18), Some(("-preset", "veryfast"))),
        Codec::H265 => ("libx265", "yuv420p", Some(22), Some(("-preset", "fast"))),
        Codec::Av1 => ("libsvtav1", "yuv420p", Some(30), Some(("-preset", "8"))),
        Codec::Vp9 => ("libvpx-vp9", "yuv420p", Some(24), Some(("-cpu-used", "4"))),
        Codec::Prores if settings.has_alpha => ("prores_ks", "yuva444p10le", None, Some(("-profile:v", "4444"))),
        Codec::Prores => ("prores_ks", "yuv422p10le", None, Some(("-profile:v", "hq"))),
        Codec::Ffv1 if settings.has_alpha => ("ffv1", "yuva420p", None, None),
        Codec::Ffv1 => ("ffv1", "yuv420p", None, None),
    };
    let format = if settings.deep.is_some() && format == "yuv420p" { "yuv420p10le" } else { format };
    let is_hdr = settings.deep.is_some_and(|deep| deep.range == DynamicRange::Hdr);
    let (space, primaries, curve) =
        if is_hdr { ("bt2020nc", "bt2020", "smpte2084") } else { ("bt709", "bt709", "bt709") };
    let tags = format!("setparams=colorspace={space}:color_primaries={primaries}:color_trc={curve}:range=tv");
    let mut arguments: Vec<String> = [
        "-an",
        "-vf",
        tags.as_str(),
        "-colorspace",
        space,
        "-color_primaries",
        primaries,
        "-color_trc",
        curve,
        "-color_range",
        "tv",
        "-chroma_sample_location",
        "center",
        "-c:v",
        encoder,
        "-pix_fmt",
        format,
    ]
    .map(str::to_owned)
    .into();
    if let Some(crf) = crf {
        arguments.extend(["-crf".into(), settings.crf.unwrap_or(crf).to_string()]);
    }
    if let Some((flag, usual)) = preset {
        arguments.extend([flag.into(), settings.preset.as_deref().unwrap_or(usual).to_owned()]);
    }
    // Fixed, for what an encoder makes depends on it: the machine has no say.
    let threads = settings.threads;
    arguments.extend(["-filter_threads".into(), "1".into(), "-threads".into(), threads.to_string()]);
    match settings.codec {
        Codec::H264 => {}
        Codec::H265 => {
            let frames = threads.div_ceil(2).min(4);
            let mut own = format!("log-level=error:pools={threads}:frame-threads={frames}");
            if is_hdr {
                own += HDR10;
            }
            arguments.extend(["-tag:v".into(), "hvc1".into(), "-x265-params".into(), own]);
        }
        Codec::Av1 => arguments.extend(["-svtav1-params".into(), format!("lp={threads}")]),
        Codec::Vp9 => arguments.extend(["-b:v", "0", "-row-mt", "1"].map(str::to_owned)),
        Codec::Prores => arguments.extend(["-vendor", "apl0"].map(str::to_owned)),
        Codec::Ffv1 => arguments.extend(["-level", "3", "-g", "1", "-slicecrc", "1"].map(str::to_owned)),
    }
    arguments.extend(["-video_track_timescale".into(), clock(settings.fps).0.to_string()]);
    // Fragments: what is on disk stays playable if we are killed.
    let fragments = ["-movflags", "+frag_keyframe+empty_moov+default_base_moof", "-f", settings.segment_format()];
    arguments.extend(fragments.map(str::to_owned));
    arguments
}

/// ffmpeg's command line for a segment of a video of that size, as a shell takes it: raw frames come on standard input.
pub fn command_line(settings: &Settings, sides: (u32, u32), ffmpeg: &Ffmpeg) -> String {
    let mut words = vec![ffmpeg.program.display().to_string(), "-hide_banner".into(), "-y".into()];
    words.extend(input_arguments(settings, sides));
    words.extend(output_arguments(settings));
    words.push(format!("SEGMENT.{}", settings.segment_format()));
    let is_plain = |word: &String| word.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_./:=+,".contains(&b));
    let quoted = |word: String| if is_plain(&word) { word } else { format!("'{}'", word.replace('\'', r"'\''")) };
    words.into_iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// A video being made.
pub struct Video {
    settings: Settings,
    film: VideoJob,
    // How many of the film's frames have been fed or passed.
    next: usize,
    kind: Kind,
}

enum Kind {
    Raw(Y4m),
    #[cfg(feature = "h264")]
    Embedded(Box<H264>),
    Encoded(Box<Segments>, Tag),
}

impl Video {
    /// Opens it, and encodes one frame as a trial before anything is rendered.
    ///
    /// # Errors
    /// The file cannot be made; ffmpeg is missing, or refuses the settings.
    pub fn open(settings: Settings, film: VideoJob) -> Result<Video, OutputError> {
        prepare(&settings.path)?;
        sweep(folder_of(&settings.path));
        let (width, height) = film.sides();
        let kind = if settings.is_raw() {
            Kind::Raw(Y4m::start(&settings.path, width, height, settings.fps)?)
        } else if settings.is_embedded {
            #[cfg(not(feature = "h264"))]
            return Err(OutputError::NoEncoder("this program was built without its own encoder".into()));
            #[cfg(feature = "h264")]
            Kind::Embedded(Box::new(H264::start(
                &settings,
                (width, height),
                &film.tag(&settings, &embedded()).to_string(),
            )?))
        } else {
            let ffmpeg = find_ffmpeg(settings.ffmpeg.as_deref())?;
            let tag = film.tag(&settings, &ffmpeg);
            Kind::Encoded(Box::new(Segments::open(&settings, &film, ffmpeg)?), tag)
        };
        Ok(Video { settings, film, next: 0, kind })
    }

    /// Adds a frame: its planes one after the other. Those of the film before it that were not fed are taken from where they
    /// lie.
    ///
    /// # Errors
    /// The video failed; [`Video::autopsy`] tells why.
    pub fn feed(&mut self, number: u32, yuv: &[u8]) -> Result<(), OutputError> {
        let Some(ahead) = self.film.frames[self.next..].iter().position(|&n| n == number) else { return Ok(()) };
        self.pass(ahead)?;
        self.next += 1;
        match &mut self.kind {
            Kind::Raw(y4m) => y4m.feed(yuv),
            #[cfg(feature = "h264")]
            Kind::Embedded(film) => film.feed(yuv),
            Kind::Encoded(segments, _) => segments.feed(self.next - 1, yuv),
        }
    }

    // The next frames were not fed.
    fn pass(&mut self, frames: usize) -> Result<(), OutputError> {
        for at in self.next..self.next + frames {
            let number = self.film.frames[at];
            if self.settings.is_single() && self.film.stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            match &mut self.kind {
                Kind::Raw(y4m) => y4m.feed(&self.film.planes(number, &self.settings)?)?,
                #[cfg(feature = "h264")]
                Kind::Embedded(film) => film.feed(&self.film.planes(number, &self.settings)?)?,
                Kind::Encoded(segments, _) => segments.put(at, QueuedFrame::OnDisk(number))?,
            }
            self.next += 1;
        }
        Ok(())
    }

    /// What is known of the failure, after `feed` failed. What is encoded until then is kept and named.
    pub fn autopsy(self, cause: OutputError) -> OutputError {
        let path = partial(&self.settings.path);
        match self.kind {
            Kind::Raw(y4m) => match y4m.keep(&path) {
                Some(frames) => kept(cause, frames, &path),
                None => cause,
            },
            #[cfg(feature = "h264")]
            Kind::Embedded(film) => match film.finish(&path) {
                Ok(frames) if frames > 0 => kept(cause, frames, &path),
                _ => cause,
            },
            Kind::Encoded(segments, tag) => match segments.finish(true, &path, &tag) {
                Err(known) => known,
                Ok(_) => cause,
            },
        }
    }

    /// Ends the video and gives it its name; a clip cut short goes to `NAME.partial.mp4`, and so does what there is of one
    /// that cannot be closed. None where the rest of it is made by others.
    ///
    /// # Errors
    /// It cannot be closed.
    pub fn finish(mut self, cut_short: bool) -> Result<Option<PathBuf>, OutputError> {
        if !cut_short && let Err(cause) = self.pass(self.film.frames.len() - self.next) {
            return Err(self.autopsy(cause));
        }
        // A disk may be full only now.
        if let Kind::Raw(y4m) = &mut self.kind
            && let Err(cause) = y4m.flush()
        {
            return Err(self.autopsy(cause));
        }
        let cut_short = cut_short || self.next < self.film.frames.len();
        let path = if cut_short { partial(&self.settings.path) } else { self.settings.path.clone() };
        let made = match self.kind {
            Kind::Raw(y4m) => y4m.finish(&path).map(|()| Some(path)),
            #[cfg(feature = "h264")]
            Kind::Embedded(film) if !cut_short => {
                self.film.name(&self.settings, |path| film.finish(path).map(drop)).map(Some)
            }
            #[cfg(feature = "h264")]
            Kind::Embedded(film) => film.finish(&path).map(|_| Some(path)),
            Kind::Encoded(segments, tag) => segments.finish(cut_short, &path, &tag),
        }?;
        if made.as_ref() == Some(&self.settings.path) {
            self.film.remove_beginning(&self.settings);
        }
        Ok(made)
    }
}

/// The name of a video that is not whole.
pub fn partial(path: &Path) -> PathBuf {
    let extension = path.extension().map_or_else(|| "mp4".into(), |e| e.to_string_lossy().into_owned());
    path.with_extension(format!("partial.{extension}"))
}

/// A failure that names what is kept all the same.
pub fn kept(cause: OutputError, frames: u64, path: &Path) -> OutputError {
    cause.reworded(|what| format!("{what}; its first {frames} frames are kept in {}", path.display()))
}

/// A video as a sink: opened when the run begins.
pub struct VideoSink {
    settings: Settings,
    film: VideoJob,
    open: Option<Video>,
}

impl VideoSink {
    /// The video that the settings name.
    pub fn new(settings: Settings, film: VideoJob) -> VideoSink {
        VideoSink { settings, film, open: None }
    }
}

impl Sink for VideoSink {
    fn needs(&self) -> PixelFormats {
        self.settings.needs()
    }
    fn open(&mut self, _run: &RunInfo) -> Result<(), OutputError> {
        self.open = Some(Video::open(self.settings.clone(), self.film.clone())?);
        Ok(())
    }
    fn frame(&mut self, frame: &RenderedFrame) -> Result<(), OutputError> {
        let Some(video) = &mut self.open else { return Ok(()) };
        match self.settings.planes(frame).and_then(|planes| video.feed(frame.number, &planes)) {
            Ok(()) => Ok(()),
            Err(cause) => Err(match self.open.take() {
                Some(dead) => dead.autopsy(cause),
                None => cause,
            }),
        }
    }
    // It reads frames that others have made meanwhile.
    fn completed_frames(&self) -> Option<Already> {
        self.film.source.is_some().then(|| -> Already { Box::new(|_| true) })
    }
    // The frames are worth something without it.
    fn is_essential(&self) -> bool {
        false
    }
    fn finish(self: Box<Self>, outcome: Outcome) -> Result<Option<PathBuf>, OutputError> {
        self.open.map_or(Ok(None), |video| video.finish(outcome == Outcome::Aborted))
    }
}

#[cfg(test)]
mod tests {
    use super::super::segments;
    use super::*;
    use std::sync::Arc;

    fn settings(codec: Codec) -> Settings {
        Settings {
            path: "x.mp4".into(),
            fps: 25.0,
            crf: None,
            preset: None,
            codec,
            ffmpeg: None,
            timeout: Duration::from_secs(9),
            segment: 60,
            threads: 4,
            encoders: 1,
            encoder_memory: None,
            waiting: 1 << 20,
            is_embedded: false,
            has_alpha: false,
            deep: None,
        }
    }

    #[test]
    fn arguments_are_tagged_and_fragmented() {
        let line = output_arguments(&settings(Codec::H264)).join(" ");
        for part in ["-c:v libx264", "-crf 18", "-preset veryfast", "colorspace=bt709", "-color_range tv", "empty_moov"]
        {
            assert!(line.contains(part), "{part} is not in {line}");
        }
        assert!(output_arguments(&settings(Codec::H265)).join(" ").contains("-tag:v hvc1"));
        let asked = Settings { crf: Some(7), preset: Some("slow".into()), ..settings(Codec::H264) };
        assert!(output_arguments(&asked).join(" ").contains("-crf 7 -preset slow"));
    }

    #[test]
    fn frame_rates_are_fractions() {
        assert!(
            input_arguments(&Settings { fps: 29.97, ..settings(Codec::H264) }, (4, 2))
                .contains(&"30000/1001".to_owned())
        );
        assert_eq!(
            [30.0, 29.97, 24.0, 0.001].map(clock),
            [(15360, 512), (30000, 1001), (12288, 512), (16384, 16_384_000)]
        );
    }

    fn film(frames: u32, size: (u32, u32)) -> VideoJob {
        VideoJob {
            steps: Arc::default(),
            frames: (0..frames).collect(),
            part: None,
            size,
            source: None,
            tone: Tone::Soft,
            hidden: ".polyfly".into(),
            overwrite: false,
            replaces_others: false,
            stop: Arc::default(),
            scene: Some("a".into()),
        }
    }

    #[test]
    fn encoders_have_room_in_the_memory() {
        let (long, short) = (film(3000, (1240, 960)), film(59, (1240, 960)));
        let mine = Settings { encoders: 16, ..settings(Codec::H264) };
        let each = mine.encoder_bytes(long.sides());
        // What ffmpeg 7.0 and 5.1 take with four threads is 171 and 207 MiB.
        assert!((200 << 20..300 << 20).contains(&each), "{each}");
        assert!(Settings { codec: Codec::H265, ..mine.clone() }.encoder_bytes(long.sides()) > each);
        let side_by_side =
            |film, memory| segments::encoder_count(&Settings { encoder_memory: memory, ..mine.clone() }, film);
        assert_eq!([None, Some(3 * each), Some(1)].map(|memory| side_by_side(&long, memory)), [16, 3, 1]);
        assert_eq!(side_by_side(&short, None), 1);
        // Frames that wait come on top.
        assert!(segments::peak_memory(&mine, &long) > 16 * each as u64);
    }

    #[test]
    fn segments_are_those_of_the_same_frames_and_settings() {
        let film = film(3, (31, 20));
        let ffmpeg = Ffmpeg { program: "ffmpeg".into(), version: "7".into() };
        let mine = settings(Codec::H264);
        let key = film.key(&mine, &ffmpeg);
        let machine = Settings { encoders: 9, waiting: 1, path: "y.mp4".into(), ..mine.clone() };
        let longer = VideoJob { frames: vec![0, 1, 2, 3], ..film.clone() };
        assert_eq!([film.key(&machine, &ffmpeg), longer.key(&mine, &ffmpeg)], [key.clone(), key.clone()]);
        assert_ne!(film.tag(&mine, &ffmpeg), longer.tag(&mine, &ffmpeg));
        for other in [
            Settings { crf: Some(20), ..mine.clone() },
            Settings { threads: 2, ..mine.clone() },
            Settings { segment: 30, ..mine.clone() },
            Settings { fps: 24.0, ..mine.clone() },
        ] {
            assert_ne!(film.key(&other, &ffmpeg), key, "{other:?}");
        }
        assert_ne!(VideoJob { scene: Some("b".into()), ..film.clone() }.key(&mine, &ffmpeg), key);
        assert_ne!(film.key(&mine, &Ffmpeg { version: "8".into(), ..ffmpeg }), key);
    }
}
