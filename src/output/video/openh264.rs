//! H.264 without ffmpeg. OpenH264 encodes on one thread, so that the same frames give the same file everywhere;
//! muxide writes the .mp4.

use super::encoder::VideoWriter;
use super::mp4;
use super::settings::Settings;
use super::spherical::FilmViews;
use crate::language::msg;
use crate::output::error::{NameFile, OutputError};
use crate::output::store::atomic::{persist, temporary};
use muxide::api::{Metadata, Muxer, MuxerBuilder, VideoCodec};
use openh264::OpenH264API;
use openh264::encoder::{
    BitRate, Complexity, Encoder, EncoderConfig, FrameRate, FrameType, IntraFramePeriod, Profile, QpRange,
    RateControlMode, UsageType, VuiConfig,
};
use openh264::formats::YUVSlices;
use std::fmt::Display;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

// The offset from x264's crf to OpenH264's quantizer at similar quality, and the usual quantizer. SSIM of a hundred
// frames of the sample scene at 320 x 180: x264 at 18 0.977, OpenH264 at 18 0.991 and at 22 0.984.
const COARSER: u32 = 4;
const USUAL: u32 = 22;
// Maximum bytes of a film: muxide keeps it in memory, and its .mp4 has 32-bit offsets.
const LARGEST: u64 = 4_000_000_000;
// OpenH264's smallest quantizer at constant quality, and its largest.
const QUANTISERS: (u32, u32) = (12, 51);

pub struct OpenH264 {
    encoder: Encoder,
    muxer: Muxer<BufWriter<File>>,
    file: NamedTempFile,
    path: PathBuf,
    size: (usize, usize),
    fps: f64,
    frames: u64,
    views: FilmViews,
    bytes: Vec<u8>,
    // The bytes left until the maximum.
    room: u64,
}

impl OpenH264 {
    /// Opens the encoder, and encodes a frame as a trial. OpenH264 takes at most 3840 x 2160 pixels.
    pub fn start(settings: &Settings, (width, height): (u32, u32), tag: &str) -> Result<OpenH264, OutputError> {
        let size = (width as usize, height as usize);
        let grey = vec![128; size.0 * size.1 * 3 / 2];
        let mut trial = encoder(settings)?;
        encoded(&mut trial, &grey, size, &mut Vec::new())
            .map_err(|e| refused(format!("the trial encode of one frame failed: {e}")))?;
        let file = temporary(&settings.path).writing(&settings.path)?;
        let writer = BufWriter::new(file.reopen().writing(&settings.path)?);
        let muxer = MuxerBuilder::new(writer)
            .video(VideoCodec::H264, width, height, settings.fps)
            .with_metadata(Metadata::new().with_title(tag))
            .with_fast_start(true)
            .build()
            .map_err(refused)?;
        let path = settings.path.clone();
        Ok(OpenH264 {
            encoder: encoder(settings)?,
            muxer,
            file,
            path,
            size,
            fps: settings.fps,
            frames: 0,
            views: settings.views,
            bytes: Vec::new(),
            room: LARGEST,
        })
    }
}

impl VideoWriter for OpenH264 {
    fn write(&mut self, yuv: &[u8]) -> Result<(), OutputError> {
        let is_key = encoded(&mut self.encoder, yuv, self.size, &mut self.bytes).map_err(refused)?;
        self.room = self.room.checked_sub(self.bytes.len() as u64).ok_or_else(|| {
            refused(
                "its films have at most 4 GB: install ffmpeg, which `polyfly stitch` makes them with, or raise --crf",
            )
        })?;
        let at = self.frames as f64 / self.fps;
        self.muxer.write_video(at, &self.bytes, is_key).map_err(refused)?;
        self.frames += 1;
        Ok(())
    }

    fn persist(mut self, path: &Path) -> Result<(), OutputError> {
        self.muxer.finish_in_place().map_err(refused)?;
        drop(self.muxer.into_writer().into_inner().writing(&self.path)?);
        let found = mp4::frames(self.file.path()).unwrap_or(0);
        if found != self.frames {
            return Err(refused(format!("the film has {found} of {} frames", self.frames)));
        }
        self.views.write(self.file.path()).writing(path)?;
        self.file.as_file().sync_all().writing(path)?;
        persist(self.file, path).map(drop).writing(path)
    }
    fn keep(self, path: &Path) -> Option<u64> {
        let frames = self.frames;
        (frames > 0 && self.persist(path).is_ok()).then_some(frames)
    }
}

fn refused(why: impl Display) -> OutputError {
    let why = why.to_string();
    OutputError::encoder(msg!("the built-in encoder: {why}", why))
}

fn encoder(settings: &Settings) -> Result<Encoder, OutputError> {
    let quantiser = settings.options.crf.map_or(USUAL, |crf| crf + COARSER).clamp(QUANTISERS.0, QUANTISERS.1) as u8;
    let config = EncoderConfig::new()
        .usage_type(UsageType::CameraVideoRealTime)
        .profile(Profile::High)
        // All choices of `--encode` are alike: the lowest complexity saves a fifth of the time and adds 1.4 % of the bytes.
        .complexity(Complexity::High)
        // Constant quality at any bit rate.
        .rate_control_mode(RateControlMode::Bufferbased)
        .qp(QpRange::new(quantiser, quantiser))
        .bitrate(BitRate::from_bps(200_000_000))
        .skip_frames(false)
        .scene_change_detect(false)
        .adaptive_quantization(false)
        .background_detection(false)
        .max_frame_rate(FrameRate::from_hz(settings.fps as f32))
        .intra_frame_period(IntraFramePeriod::from_num_frames(settings.options.segment))
        .num_threads(1)
        .vui(VuiConfig::bt709());
    Encoder::with_api_config(OpenH264API::from_source(), config).map_err(refused)
}

// Encodes a frame. Returns whether it is a key frame, and its bytes.
fn encoded(
    encoder: &mut Encoder,
    yuv: &[u8],
    (width, height): (usize, usize),
    to: &mut Vec<u8>,
) -> Result<bool, String> {
    let (luma, chroma) = yuv.split_at(width * height);
    let (blue, red) = chroma.split_at(chroma.len() / 2);
    let planes = YUVSlices::new((luma, blue, red), (width, height), (width, width / 2, width / 2));
    let stream = encoder.encode(&planes).map_err(|e| e.to_string())?;
    to.clear();
    stream.write_vec(to);
    Ok(matches!(stream.frame_type(), FrameType::IDR))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_film_that_grows_too_large_is_kept_as_far_as_it_came() {
        let dir = tempfile::tempdir().unwrap();
        let settings = Settings { is_embedded: true, ..Settings::of(dir.path().join("x.mp4")) };
        let mut film = OpenH264::start(&settings, (32, 16), "tag").unwrap();
        let grey = vec![128; 32 * 16 * 3 / 2];
        film.write(&grey).unwrap();
        film.room = 0;
        let message = film.write(&grey).unwrap_err().to_string();
        assert!(message.contains("at most 4 GB: install ffmpeg"), "{message}");
        assert_eq!(film.keep(&settings.path), Some(1));
        assert_eq!(mp4::frames(&settings.path), Some(1));
    }
}
