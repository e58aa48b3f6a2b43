//! ffmpeg's arguments, computed from the settings alone.

use super::codecs::PixelKind;
use super::ffmpeg::words;
use super::high_bit_depth::DynamicRange;
use super::settings::Settings;
use crate::system::command_word;
use std::path::Path;

/// Arguments that describe the raw frames on standard input.
pub fn input_arguments(settings: &Settings, (width, height): (u32, u32)) -> Vec<String> {
    let (numerator, denominator) = rational(settings.fps);
    let format = match settings.pixel_kind() {
        PixelKind::TenBits => "yuv420p10le",
        PixelKind::Alpha => "yuva420p",
        PixelKind::EightBits => "yuv420p",
    };
    let frames = format!(
        "{} -f rawvideo -pix_fmt {format} -video_size {width}x{height} -framerate {numerator}/{denominator} -i pipe:0",
        settings.codec.device
    );
    words(&frames).collect()
}

// A fragmented file stays playable if the program is killed.
const FRAGMENTED: &str = "-movflags +frag_keyframe+empty_moov+default_base_moof";

/// Arguments of the encoding, in front of the output's name.
pub fn output_arguments(settings: &Settings) -> Vec<String> {
    let (codec, kind, threads) = (settings.codec, settings.pixel_kind(), settings.options.encoder_threads);
    let format = codec.pixel_format(kind);
    let is_hdr = settings.high_bit_depth == Some(DynamicRange::Hdr);
    let (space, primaries, curve) =
        if is_hdr { ("bt2020nc", "bt2020", "smpte2084") } else { ("bt709", "bt709", "bt709") };
    let upload = format.filter.map_or_else(String::new, |filter| format!(",{filter}"));
    let colours = format!(
        "-an -vf setparams=colorspace={space}:color_primaries={primaries}:color_trc={curve}:range=tv{upload} \
         -colorspace {space} -color_primaries {primaries} -color_trc {curve} -color_range tv -chroma_sample_location center \
         -c:v {} -pix_fmt {}",
        codec.encoder, format.name
    );
    let mut arguments: Vec<String> = words(&colours).collect();
    if let Some(flag) = codec.crf {
        arguments.extend([flag.into(), settings.crf().to_string()]);
    }
    if let Some(flag) = codec.preset.filter(|_| !settings.preset().is_empty()) {
        arguments.extend([flag, settings.preset()].map(str::to_owned));
    }
    let own = codec
        .arguments
        .replace("{threads}", &threads.to_string())
        .replace("{frame_threads}", &threads.div_ceil(2).min(4).to_string())
        .replace("{hdr10}", codec.hdr10.filter(|_| is_hdr).unwrap_or_default());
    let clock = match codec.segment_format {
        "mp4" | "mov" => format!("-video_track_timescale {} {FRAGMENTED}", clock(settings.fps).0),
        _ => String::new(),
    };
    // The number of threads is fixed, because the encoded bytes depend on it.
    let rest = format!("-filter_threads 1 -threads {threads} {own} {clock} -f {}", codec.segment_format);
    arguments.extend(words(&rest));
    arguments
}

/// ffmpeg's command line for a segment, quoted for the system's shell. Raw frames come from standard input.
pub fn command_line(settings: &Settings, sides: (u32, u32), program: &Path) -> String {
    let mut words = vec![program.display().to_string(), "-hide_banner".into(), "-y".into()];
    words.extend(input_arguments(settings, sides));
    words.extend(output_arguments(settings));
    words.push(format!("SEGMENT.{}", settings.codec.segment_format));
    words.iter().map(|word| command_word(word)).collect::<Vec<_>>().join(" ")
}

/// Ticks per second and ticks per frame of the video's clock, fine enough for the frame rates of other programs.
pub fn clock(fps: f64) -> (u64, u64) {
    let (numerator, denominator) = rational(fps);
    let mut fold = 1;
    while numerator.max(1) * fold < 10_000 {
        fold *= 2;
    }
    (numerator * fold, denominator * fold)
}

/// A frame rate as a fraction: an integer, an integer over 1.001, or thousandths.
pub fn rational(fps: f64) -> (u64, u64) {
    if fps.fract() == 0.0 {
        return (fps as u64, 1);
    }
    let ntsc = (fps * 1.001).round();
    if ntsc >= 1.0 && (ntsc / 1.001 - fps).abs() < 0.005 {
        return (ntsc as u64 * 1000, 1001);
    }
    ((fps * 1000.0).round() as u64, 1000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::video::codecs::Codec;
    use crate::output::video::encode::Encode;
    use crate::output::video::options::VideoOptions;

    fn line(settings: &Settings) -> String {
        output_arguments(settings).join(" ")
    }

    // The arguments between those that all codecs share.
    fn own(name: &str, encode: Encode) -> String {
        let settings = Settings {
            encode,
            codec: Codec::named(name).unwrap(),
            options: VideoOptions { encoder_threads: 4, ..VideoOptions::new() },
            ..Settings::of("x.mp4".into())
        };
        line(&settings).split(" -chroma_sample_location center ").nth(1).unwrap().to_owned()
    }

    #[test]
    fn each_choice_has_its_quality_and_preset() {
        for (encode, words) in
            [(Encode::Fast, "-crf 21 -preset ultrafast"), (Encode::Standard, "-crf 20 -preset superfast")]
        {
            assert!(own("h264", encode).contains(words), "{}", own("h264", encode));
        }
        assert!(own("ffv1", Encode::Small).contains("-coder range_def"));
        assert_eq!(own("prores", Encode::Fast), own("prores", Encode::Small));
        assert!(
            own("webp", Encode::Small).contains("-compression_level 6") && !own("webp", Encode::Fast).contains("mov")
        );
    }

    #[test]
    fn colours_quality_and_fragments_are_named() {
        let plain = Settings::of("x.mp4".into());
        for part in ["setparams=colorspace=bt709", "-color_range tv", "empty_moov", "-f mp4"] {
            assert!(line(&plain).contains(part), "{part}");
        }
        let asked = Settings { options: VideoOptions::new().crf(7).preset("slow"), ..plain.clone() };
        assert!(line(&asked).contains("-crf 7 -preset slow"));
        let high = Some(DynamicRange::Hdr);
        let hdr = Settings { codec: Codec::named("h265").unwrap(), high_bit_depth: high, ..plain.clone() };
        assert!(line(&hdr).contains("colorspace=bt2020nc") && line(&hdr).contains("-pix_fmt yuv420p10le"));
        assert!(line(&hdr).contains("frame-threads=4:hdr10=1") && line(&hdr).contains("max-cll=1000,0"));
        let part = Settings { options: VideoOptions::new().crf(7), encode: Encode::Small, ..plain.clone() };
        assert!(line(&part).contains("-crf 7 -preset veryfast"), "the choice says what is not asked for");
        let deep = Settings { codec: Codec::named("dnxhr").unwrap(), high_bit_depth: high, ..plain.clone() };
        assert!(line(&deep).contains("-pix_fmt yuv422p10le -profile:v dnxhr_hqx"));
        let clear = Settings { codec: Codec::named("prores").unwrap(), has_alpha: true, ..plain };
        assert!(line(&clear).contains("-pix_fmt yuva444p10le -profile:v 4 ") && line(&clear).contains("-f mov"));
    }

    #[test]
    fn a_chip_has_its_device_before_the_input_and_its_upload_after_the_colours() {
        let mut settings = Settings { codec: Codec::named("hevc_vaapi").unwrap(), ..Settings::of("x.mp4".into()) };
        let input = input_arguments(&settings, (4, 2)).join(" ");
        assert!(input.starts_with("-vaapi_device /dev/dri/renderD128 -f rawvideo -pix_fmt yuv420p "), "{input}");
        assert!(line(&settings).contains(":range=tv,format=nv12,hwupload -colorspace"));
        settings.high_bit_depth = Some(DynamicRange::Standard);
        assert!(line(&settings).contains(",format=p010,hwupload "));
    }

    #[test]
    fn frame_rates_are_fractions() {
        assert_eq!(rational(30.0), (30, 1));
        assert_eq!(rational(29.97), (30000, 1001));
        assert_eq!(rational(23.976), (24000, 1001));
        assert_eq!(rational(12.5), (12500, 1000));
        assert_eq!(rational(0.001), (1, 1000), "not never");
        assert_eq!(
            [30.0, 29.97, 24.0, 0.001].map(clock),
            [(15360, 512), (30000, 1001), (12288, 512), (16384, 16_384_000)]
        );
        let ntsc = Settings { fps: 29.97, ..Settings::of("x.mp4".into()) };
        assert!(input_arguments(&ntsc, (4, 2)).contains(&"30000/1001".to_owned()));
    }
}
