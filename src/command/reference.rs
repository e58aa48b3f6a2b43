//! `polyfly reference`: the pages of the documentation that are made of the program's own declarations, in Markdown.

use super::shell::flags;
use super::template::filled;
use crate::cli::{Exit, ReferencePage};
use crate::output::formats::{FORMATS, Reader};
use crate::output::video::codecs::{CODECS, Codec};
use crate::output::video::containers::{CONTAINERS, Join};

pub fn page(page: ReferencePage) -> String {
    match page {
        ReferencePage::Scene => crate::scene::keys::reference::page(&crate::scene::text::toml::SCHEMA),
        ReferencePage::Flags => flags(),
        ReferencePage::ExitCodes => exit_codes(),
        ReferencePage::Formats => formats(),
    }
}

fn exit_codes() -> String {
    let row = |code: &Exit| {
        let cells = code.explanation().replace("\n\n", " | ").replace('\n', " ");
        format!("| {code} | {cells} |\n")
    };
    filled(include_str!("reference/exit-codes.in"), &[("CODES", Exit::ALL.iter().map(row).collect())])
}

fn formats() -> String {
    let [mut pictures, mut films, mut codecs] = [const { String::new() }; 3];
    for format in FORMATS {
        let bits = format.bits.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ");
        let stores = if matches!(format.read, Reader::Light(_)) { "linear light, layers" } else { "the picture" };
        let origin = yes(format.text.is_some());
        let [exact, alpha] = [format.is_exact, format.has_alpha].map(yes);
        pictures += &format!("| `.{}` | {bits} | {exact} | {alpha} | {stores} | {origin} |\n", format.extension);
    }
    for container in &CONTAINERS {
        let held = Codec::of(container).map(|codec| format!("`{}`", codec.name)).collect::<Vec<_>>().join(", ");
        let (held, join) = match container.join {
            Join::Copied => (held, ""),
            Join::Palette => ("its own".into(), "256 colors, chosen for the clip"),
            Join::Webp => ("its own".into(), "an animated WebP"),
        };
        films += &format!("| `.{}` | {held} | {join} |\n", container.extension);
    }
    films += "| `.y4m` | raw | 8 bits, 4:2:0 |\n";
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
        codecs += &format!(
            "| {name} | {} | {held} | {ten} | {hdr} | {alpha} | {fast} | {standard} | {small} | {hardware} |\n",
            codec.about
        );
    }
    let parts = [("PICTURES", pictures), ("FILMS", films), ("CODECS", codecs)];
    filled(include_str!("reference/formats.in"), &parts)
}

fn yes(is_so: bool) -> &'static str {
    if is_so { "yes" } else { "" }
}
