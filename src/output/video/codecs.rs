//! The table of video codecs. Flags, checks, help and ffmpeg's arguments all come from the rows of [`CODECS`].

use super::containers::Container;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PixelKind {
    EightBits,
    TenBits,
    Alpha,
}

/// The pixel format of an encoder's input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PixelFormat {
    /// ffmpeg's name of the pixel format.
    pub name: &'static str,
    /// The preset that this format needs.
    pub preset: Option<&'static str>,
    /// An ffmpeg filter that prepares frames, such as an upload to a GPU.
    pub filter: Option<&'static str>,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Codec {
    /// The name in `--codec`.
    pub name: &'static str,
    pub alias: Option<&'static str>,
    /// The description on the help page.
    pub about: &'static str,
    pub encoder: &'static str,
    /// The extensions of files that can hold it.
    pub containers: &'static [&'static str],
    /// ffmpeg's muxer for segments: fragmented files, or rows of pictures.
    pub segment_format: &'static str,
    /// ffmpeg's arguments before the input, such as the device of a hardware encoder.
    pub device: &'static str,
    pub eight_bits: PixelFormat,
    pub ten_bits: Option<PixelFormat>,
    pub alpha: Option<PixelFormat>,
    /// ffmpeg's flag of the quality, where lower is better.
    pub crf: Option<&'static str>,
    /// ffmpeg's flag of the preset or profile.
    pub preset: Option<&'static str>,
    /// Quality and preset of `--encode fast`, `standard` and `small`. A codec without their flags ignores them; an
    /// empty preset is the encoder's own.
    pub encodes: [(u32, &'static str); 3],
    /// More arguments. `{threads}` and `{frame_threads}` stand for numbers, `{hdr10}` for [`Codec::hdr10`] in an
    /// HDR10 video.
    pub arguments: &'static str,
    /// The mastering metadata of an HDR10 video; empty if color tags suffice; None if the codec does not support
    /// HDR10.
    pub hdr10: Option<&'static str>,
    /// Whether films are made to be edited, and not to be streamed: an index may come last.
    pub is_master: bool,
    /// Whether hardware encodes. The encoded bytes then depend on the machine and may vary between runs.
    pub is_hardware: bool,
}

// HDR10 in H.265: BT.2020's primaries, mastered on a display of 1000 cd/m², which is also the maximum of every pixel.
const HDR10: &str = ":hdr10=1:repeat-headers=1:colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc:\
    master-display=G(8500,39850)B(6550,2300)R(35400,14600)WP(15635,16450)L(10000000,1):max-cll=1000,0";

const fn pixels(name: &'static str) -> PixelFormat {
    PixelFormat { name, preset: None, filter: None }
}

// The defaults of software encoders; each row states what differs.
const SOFTWARE: Codec = Codec {
    name: "",
    alias: None,
    about: "",
    encoder: "",
    containers: &["mp4", "mov", "mkv"],
    segment_format: "mp4",
    device: "",
    eight_bits: pixels("yuv420p"),
    ten_bits: Some(pixels("yuv420p10le")),
    alpha: None,
    crf: None,
    preset: None,
    encodes: [(0, ""); 3],
    arguments: "",
    hdr10: None,
    is_master: false,
    is_hardware: false,
};

// The defaults of NVIDIA's hardware encoders.
const NVENC: Codec = Codec {
    ten_bits: Some(pixels("p010le")),
    crf: Some("-cq"),
    preset: Some("-preset"),
    arguments: "-rc vbr -b:v 0",
    is_hardware: true,
    ..SOFTWARE
};

// The defaults of AMD's and Intel's hardware encoders through VA-API. The filter uploads frames, and `vaapi` names
// the uploaded format.
const VAAPI: Codec = Codec {
    device: "-vaapi_device /dev/dri/renderD128",
    eight_bits: PixelFormat { name: "vaapi", preset: None, filter: Some("format=nv12,hwupload") },
    ten_bits: Some(PixelFormat { name: "vaapi", preset: None, filter: Some("format=p010,hwupload") }),
    crf: Some("-qp"),
    arguments: "-rc_mode CQP",
    is_hardware: true,
    ..SOFTWARE
};

/// All codecs. The first one of a container is its default.
pub const CODECS: &[Codec] = &[
    Codec {
        name: "h264",
        alias: Some("avc"),
        about: "H.264 by x264, or by OpenH264 where there is no ffmpeg: plays everywhere",
        encoder: "libx264",
        crf: Some("-crf"),
        preset: Some("-preset"),
        encodes: [(21, "ultrafast"), (20, "superfast"), (18, "veryfast")],
        ..SOFTWARE
    },
    Codec {
        name: "h265",
        alias: Some("hevc"),
        about: "H.265 by x265",
        encoder: "libx265",
        crf: Some("-crf"),
        preset: Some("-preset"),
        encodes: [(21, "ultrafast"), (22, "fast"), (24, "slow")],
        arguments: "-tag:v hvc1 -x265-params log-level=error:pools={threads}:frame-threads={frame_threads}{hdr10}",
        hdr10: Some(HDR10),
        ..SOFTWARE
    },
    Codec {
        name: "vp9",
        about: "VP9 by libvpx",
        encoder: "libvpx-vp9",
        containers: &["mp4", "mkv", "webm"],
        crf: Some("-crf"),
        preset: Some("-cpu-used"),
        encodes: [(24, "4"), (24, "4"), (25, "2")],
        arguments: "-b:v 0 -row-mt 1",
        hdr10: Some(""),
        ..SOFTWARE
    },
    Codec {
        name: "av1",
        about: "AV1 by SVT-AV1",
        encoder: "libsvtav1",
        containers: &["mp4", "mkv", "webm"],
        crf: Some("-crf"),
        preset: Some("-preset"),
        encodes: [(29, "10"), (30, "8"), (31, "6")],
        arguments: "-svtav1-params lp={threads}",
        hdr10: Some(""),
        ..SOFTWARE
    },
    Codec {
        name: "prores",
        about: "ProRes 422 HQ, for editing: 10 bits a channel, each frame coded alone",
        encoder: "prores_aw",
        containers: &["mov"],
        segment_format: "mov",
        eight_bits: pixels("yuv422p10le"),
        ten_bits: Some(pixels("yuv422p10le")),
        alpha: Some(PixelFormat { preset: Some("4"), ..pixels("yuva444p10le") }),
        // Profiles by number: 3 is 422 HQ, 4 is 4444.
        preset: Some("-profile:v"),
        encodes: [(0, "3"); 3],
        arguments: "-vendor apl0",
        is_master: true,
        ..SOFTWARE
    },
    Codec {
        name: "dnxhr",
        about: "DNxHR HQ, for editing: each frame coded alone",
        encoder: "dnxhd",
        containers: &["mov"],
        segment_format: "mov",
        eight_bits: pixels("yuv422p"),
        ten_bits: Some(PixelFormat { preset: Some("dnxhr_hqx"), ..pixels("yuv422p10le") }),
        preset: Some("-profile:v"),
        encodes: [(0, "dnxhr_hq"); 3],
        is_master: true,
        ..SOFTWARE
    },
    Codec {
        name: "ffv1",
        about: "FFV1, without loss",
        encoder: "ffv1",
        preset: Some("-coder"),
        encodes: [(0, ""), (0, ""), (0, "range_def")],
        containers: &["mkv", "gif"],
        segment_format: "mov",
        alpha: Some(pixels("yuva420p")),
        arguments: "-level 3 -g 1 -slicecrc 1",
        ..SOFTWARE
    },
    Codec {
        name: "webp",
        about: "WebP, each frame a picture",
        encoder: "libwebp",
        containers: &["webp"],
        segment_format: "image2pipe",
        ten_bits: None,
        alpha: Some(pixels("yuva420p")),
        preset: Some("-compression_level"),
        encodes: [(0, "0"), (0, ""), (0, "6")],
        arguments: "-quality 82",
        ..SOFTWARE
    },
    Codec {
        name: "utvideo",
        about: "Ut Video, without loss, for editing: the fastest master, half as large again as ffv1",
        encoder: "utvideo",
        containers: &["mkv", "mov"],
        segment_format: "mov",
        eight_bits: pixels("yuv422p"),
        ten_bits: None,
        arguments: "-pred median",
        is_master: true,
        ..SOFTWARE
    },
    Codec {
        name: "h264_nvenc",
        about: "H.264 by an NVIDIA GPU",
        encoder: "h264_nvenc",
        ten_bits: None,
        encodes: [(20, "p1"), (20, "p5"), (20, "p7")],
        ..NVENC
    },
    Codec {
        name: "hevc_nvenc",
        alias: Some("h265_nvenc"),
        about: "H.265 by an NVIDIA GPU",
        encoder: "hevc_nvenc",
        encodes: [(23, "p1"), (23, "p5"), (23, "p7")],
        arguments: "-rc vbr -b:v 0 -tag:v hvc1",
        ..NVENC
    },
    Codec {
        name: "av1_nvenc",
        about: "AV1 by an NVIDIA GPU",
        encoder: "av1_nvenc",
        containers: &["mp4", "mkv"],
        encodes: [(30, "p1"), (30, "p5"), (30, "p7")],
        ..NVENC
    },
    Codec {
        name: "h264_vaapi",
        about: "H.264 by an AMD or Intel GPU on Linux",
        encoder: "h264_vaapi",
        ten_bits: None,
        encodes: [(20, ""); 3],
        ..VAAPI
    },
    Codec {
        name: "hevc_vaapi",
        alias: Some("h265_vaapi"),
        about: "H.265 by an AMD or Intel GPU on Linux",
        encoder: "hevc_vaapi",
        encodes: [(22, ""); 3],
        arguments: "-rc_mode CQP -tag:v hvc1",
        ..VAAPI
    },
];

impl Codec {
    /// The codec of this name, in any case.
    pub fn named(name: &str) -> Option<&'static Codec> {
        let is_named =
            |codec: &&Codec| [Some(codec.name), codec.alias].iter().flatten().any(|own| own.eq_ignore_ascii_case(name));
        CODECS.iter().find(is_named)
    }

    /// The codecs of a container, the default first.
    pub fn of(container: &Container) -> impl Iterator<Item = &'static Codec> {
        CODECS.iter().filter(|codec| codec.containers.contains(&container.extension))
    }

    /// The encoder's pixel format for a kind of frames, or the nearest one.
    pub fn pixel_format(&self, kind: PixelKind) -> PixelFormat {
        let own = match kind {
            PixelKind::EightBits => None,
            PixelKind::TenBits => self.ten_bits,
            PixelKind::Alpha => self.alpha,
        };
        own.unwrap_or(self.eight_bits)
    }
}

#[cfg(test)]
mod tests {
    use super::super::containers::CONTAINERS;
    use super::*;

    #[test]
    fn each_row_is_complete_and_has_a_name_of_its_own() {
        let mut names: Vec<&str> = CODECS.iter().flat_map(|c| [Some(c.name), c.alias]).flatten().collect();
        assert!(CODECS.iter().all(|c| Codec::named(&c.name.to_uppercase()) == Some(c)));
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
        for codec in CODECS {
            let Codec { name, about, encoder, containers, .. } = codec;
            assert!(!about.is_empty() && !encoder.is_empty(), "{name}");
            assert!(containers.iter().all(|own| CONTAINERS.iter().any(|c| c.extension == *own)), "{name}");
            assert!(codec.hdr10.is_none() || codec.ten_bits.is_some(), "{name}");
        }
    }
}
