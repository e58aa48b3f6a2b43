//! `polyfly reference`: the pages of the documentation that are made of the program's own declarations, in Markdown.

use super::shell::flags;
use crate::cli::{Exit, ReferencePage};
use crate::output::formats::{FORMATS, Reader};
use crate::output::video::codecs::{CODECS, Codec};
use crate::output::video::containers::{CONTAINERS, Join};

/// A page.
pub fn page(page: ReferencePage) -> String {
    match page {
        ReferencePage::Scene => crate::scene::keys::reference::page(&crate::scene::text::toml::SCHEMA),
        ReferencePage::Flags => flags(),
        ReferencePage::ExitCodes => exit_codes(),
        ReferencePage::Formats => formats(),
    }
}

const EXIT_CODES: &str = "# Exit codes

What the program's exit code says, for scripts and queues. The numbers from 64 to 75 are those of sysexits.h. `polyfly explain 65` explains
one. This page is made of the program's own declarations: `scripts/generate` regenerates it.

| code | meaning | what to do |
|---|---|---|
";

fn exit_codes() -> String {
    let row = |code: &Exit| {
        let cells = code.explanation().replace("\n\n", " | ").replace('\n', " ");
        format!("| {code} | {cells} |\n")
    };
    EXIT_CODES.to_owned() + &Exit::ALL.iter().map(row).collect::<String>()
}

const FORMATS_HEAD: &str = "# File formats

What polyfly writes and reads. This page is made of the program's own declarations: `scripts/generate` regenerates it.

## Pictures

A picture's format follows from its extension. The first number of bits is the default; `bits` under `[output]` selects another. The
program reads all of them too (`convert`, `compare`, `stitch`).

| extension | bits per channel | lossless | alpha | stores | holds its scene |
|---|---|---|---|---|---|
";

const FILMS: &str = "
## Films

A film's container follows from its extension, its codec from `--codec`. `.mp4` is made without ffmpeg too, by the built-in OpenH264, and so is
`.y4m`, raw video.

| extension | codecs, the default first | |
|---|---|---|
";

const CODECS_HEAD: &str = "
## Codecs

`--encode fast`, `standard` (the default) and `small` choose quality and preset: the three films look about the same, and a smaller one takes
longer. `--crf` replaces its quality. The bytes of films by hardware encoders depend on the machine. The built-in OpenH264
works alike for all choices; an animated WebP is packed less or more.

| codec | what it is | in | 10 bits | HDR10 | alpha | `fast` | `standard` | `small` | hardware |
|---|---|---|---|---|---|---|---|---|---|
";

const READ: &str = "
## Files that scenes name

| what | formats |
|---|---|
| a texture of the floor or of bodies | `.data`, PNG, JPEG; or built in: `@checker`, `@concrete`, `@marble`, `@slate`, `@wood` |
| a relief | PNG, JPEG; or built in: `@ripples`, `@tiles`, `@puddles`, `@slate`, `@brushed`, `@scratches`, `@dust` |
| the sky | equirectangular `.hdr`, `.exr`, PNG, JPEG; or built in: `@sun`, `@studio`, `@dusk`, `@night`, `@overcast` |
| a mesh | OBJ with its MTL, PLY in text or binary |
| particles | `.bin` of the `sphere` code (both layouts), tables as text in `.csv`, `.xyzr` and `.txt` |

## Tables of particles

A row for each particle. Columns stand between commas, semicolons or white space. If the first row has words, they name the columns, in any order and
in capitals or not; other columns are ignored. Without names the first four columns are x y z r. Lines that begin with `#` are ignored.

| column | what it is |
|---|---|
| `x`, `y`, `z` | the center; needed |
| `r` or `radius` | the radius, above 0; needed |
| `vx`, `vy`, `vz` | the velocity; all three, or none |
| `p` or `pressure` | the pressure |

`color_by` under `[particles]`, and `--color-by` of `polyfly particles`, take `nothing`, `velocity` (the speed), `pressure` or `radius`. A file without the
columns that are asked for is refused.

## `.data`

The coursework's format: int32 width and int32 height, little endian, then rows of RGBA from the top, a byte each.
";

fn formats() -> String {
    let mut text = FORMATS_HEAD.to_owned();
    for format in FORMATS {
        let bits = format.bits.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ");
        let stores = if matches!(format.read, Reader::Light(_)) { "linear light, layers" } else { "the picture" };
        let origin = yes(format.text.is_some());
        let [exact, alpha] = [format.is_exact, format.has_alpha].map(yes);
        text += &format!("| `.{}` | {bits} | {exact} | {alpha} | {stores} | {origin} |\n", format.extension);
    }
    text += FILMS;
    for container in &CONTAINERS {
        let codecs = Codec::of(container).map(|codec| format!("`{}`", codec.name)).collect::<Vec<_>>().join(", ");
        let (codecs, join) = match container.join {
            Join::Copied => (codecs, ""),
            Join::Palette => ("its own".into(), "256 colors, chosen for the clip"),
            Join::Webp => ("its own".into(), "an animated WebP"),
        };
        text += &format!("| `.{}` | {codecs} | {join} |\n", container.extension);
    }
    text += "| `.y4m` | raw | 8 bits, 4:2:0 |\n";
    text += CODECS_HEAD;
    for codec in CODECS {
        let name = codec.alias.map_or(format!("`{}`", codec.name), |alias| format!("`{}`, `{alias}`", codec.name));
        let level = |(crf, preset): (u32, &str)| {
            let crf = codec.crf.map(|_| format!("crf {crf}"));
            let preset = codec.preset.filter(|_| !preset.is_empty()).map(|_| preset.to_owned());
            crf.into_iter().chain(preset).collect::<Vec<_>>().join(", ")
        };
        let [fast, standard, small] = codec.encodes.map(level);
        let [ten, hdr] = [codec.ten_bits.is_some(), codec.hdr10.is_some()].map(yes);
        let [alpha, hardware] = [codec.alpha.is_some(), codec.is_hardware].map(yes);
        let held = codec.containers.iter().map(|one| format!("`.{one}`")).collect::<Vec<_>>().join(", ");
        text += &format!(
            "| {name} | {} | {held} | {ten} | {hdr} | {alpha} | {fast} | {standard} | {small} | {hardware} |\n",
            codec.about
        );
    }
    text + READ
}

fn yes(is_so: bool) -> &'static str {
    if is_so { "yes" } else { "" }
}
