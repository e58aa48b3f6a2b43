//! `polyfly report`: a page of a run in one file, which needs nothing beside it: film, contact sheet, plots, machines, scene.

use super::plots::{self, AxisLabels, Series};
use crate::assets::source::open_regular;
use crate::cli::{Failure, ReportArgs};
use crate::film::image::Image;
use crate::output::OutputError;
use crate::output::opaque::opaque;
use crate::output::store::atomic::{folder_of, write_whole};
use crate::output::video::tag;
use crate::quote::brief;
use crate::render::sheet::{SHEET, SIDE, composed};
use crate::report::{Remarks, remark, size};
use crate::run::folder::RecordedFolder;
use crate::run::journal::{self, Entry, JournalFile, RunEntry};
use crate::run::ownership::clip;
use crate::scene::Tone;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use image::codecs::jpeg::JpegEncoder;
use image::{ImageEncoder, RgbaImage, imageops};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

// A film above this is linked to, not put into the page.
const LARGEST: u64 = 64 << 20;
const SHEET_QUALITY: u8 = 85;
// All but what stands for itself in links (RFC 3986, 2.3).
const IN_LINKS: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Makes the page.
pub fn run(args: &ReportArgs) -> Result<(), Failure> {
    let here = RecordedFolder::open(&args.folder)?;
    let (whole, _) = here.inspect()?;
    let told = journal::read(&here.folder.path(), &clip(&here.manifest), &mut Remarks { quiet: args.quiet });
    let path = args.output.clone().unwrap_or_else(|| here.folder.path().join("report.html"));
    let film = match &args.film {
        Some(film) => Some(film.clone()),
        None => last_film(&told, &here, args.quiet),
    };
    let page = page(&here, &whole, &told, film.as_deref().map(|film| (film, folder_of(&path))))?;
    write_whole(&path, |file| file.write_all(page.as_bytes()))?;
    if !args.quiet {
        remark(&format!("{}, {}", path.display(), size(page.len() as u64)));
    }
    Ok(())
}

// The last that was made of those that are still there. The journals may have come from anybody: a link is not followed, and
// a file of another folder counts only where it says itself that it is a film of this scene.
fn last_film(told: &[JournalFile], here: &RecordedFolder, quiet: bool) -> Option<PathBuf> {
    let mut runs: Vec<&RunEntry> = told.iter().filter_map(|t| t.run.as_ref()).collect();
    runs.sort_by(|a, b| a.at.total_cmp(&b.at));
    let is_file = |film: &&PathBuf| std::fs::symlink_metadata(film).is_ok_and(|what| what.is_file());
    let film = runs.into_iter().flat_map(|run| &run.films).rfind(is_file)?;
    let whole = |folder: &Path| folder.canonicalize().ok();
    let is_here = whole(folder_of(film)).is_some_and(|folder| Some(folder) == whole(&here.folder.path()));
    if is_here || is_of_scene(film, &here.manifest.hash) {
        return Some(film.clone());
    }
    if !quiet {
        let film = brief(&film.display().to_string());
        remark(&format!(
            "{film} is not shown: it is elsewhere, and does not say that it is of this scene; --film shows it"
        ));
    }
    None
}

// Whether a film's own tag names the scene. Near the beginning, where players look for what a film is.
fn is_of_scene(film: &Path, hash: &str) -> bool {
    let tag = tag::of_scene(hash);
    let mut bytes = Vec::new();
    let read = open_regular(film).and_then(|file| file.take(LARGEST).read_to_end(&mut bytes));
    read.is_ok() && bytes.windows(tag.len()).any(|window| window == tag.as_bytes())
}

// A film comes with the page's folder.
fn page(
    here: &RecordedFolder,
    whole: &BTreeSet<u32>,
    told: &[JournalFile],
    film: Option<(&Path, &Path)>,
) -> Result<String, Failure> {
    let mut frames: BTreeMap<u32, (&str, &Entry)> = BTreeMap::new();
    for told in told {
        // Of a frame that was made again the last time counts.
        for entry in &told.frames {
            let known = frames.get(&entry.frame).is_some_and(|(_, other)| other.at > entry.at);
            if !known {
                frames.insert(entry.frame, (&told.host, entry));
            }
        }
    }
    let runs: Vec<&RunEntry> = told.iter().filter_map(|t| t.run.as_ref()).collect();
    let manifest = &here.manifest;
    let title = scene_name(told).unwrap_or_else(|| folder_name(&here.folder.path()));
    let mut o = format!("{HEAD}<title>{0}</title>\n</head>\n<body>\n<h1>{0}</h1>\n", escaped(&title));
    if let Some((film, folder)) = film {
        o += &film_of(film, folder)?;
    }
    o += &table(&facts(here, whole, &frames, told, &runs));
    if let Some(sheet) = sheet(here, whole)? {
        let _ =
            write!(o, "<h2>Frames</h2>\n<img class=\"wide\" alt=\"frames from all over the clip\" src=\"{sheet}\">\n");
    }
    o += &figures(&frames, &runs);
    let mut hosts = String::new();
    for told in told {
        let run = told.run.as_ref();
        let devices = run.map_or_else(String::new, |r| {
            r.devices
                .iter()
                .map(|d| d.device.clone())
                .collect::<BTreeSet<_>>()
                .into_iter()
                .collect::<Vec<_>>()
                .join(", ")
        });
        let processor = run.and_then(|r| r.processor.clone()).unwrap_or_default();
        let threads = run.filter(|r| r.threads > 0).map_or_else(String::new, |r| r.threads.to_string());
        let seconds = run.map_or_else(|| "it was killed".into(), |r| format!("{:.2}", r.seconds));
        let cells = [told.host.clone(), processor, devices, threads, told.frames.len().to_string(), seconds];
        let _ = writeln!(hosts, "<tr>{}</tr>", cells.map(|c| format!("<td>{}</td>", escaped(&c))).concat());
    }
    if !hosts.is_empty() {
        o += "<h2>Runs</h2>\n<div class=\"scroll\"><table><tr><th>machine<th>processor<th>devices<th>threads<th>frames<th>seconds</tr>\n";
        o += &hosts;
        o += "</table></div>\n";
    }
    let scene = manifest.scene.as_deref().unwrap_or("It is too long to stand here.");
    let _ = write!(
        o,
        "<h2>Scene</h2>\n<details><summary>as it was resolved, in TOML</summary><pre>{}</pre></details>\n",
        escaped(scene)
    );
    if !manifest.files.is_empty() {
        let files: Vec<(String, String)> = manifest.files.iter().map(|(p, hash)| (p.clone(), hash.clone())).collect();
        o += "<details><summary>SHA-256 of the files that it names</summary>";
        o += &table(&files);
        o += "</details>\n";
    }
    let _ = write!(o, "<footer>made by polyfly {}</footer>\n</body>\n</html>\n", env!("CARGO_PKG_VERSION"));
    Ok(o)
}

// What the last run called its scene: the file's name without its folder and its ending.
fn scene_name(told: &[JournalFile]) -> Option<String> {
    const LONGEST: usize = 100;
    let at = |told: &JournalFile| told.frames.iter().map(|entry| entry.at).fold(0.0, f64::max);
    let last = told.iter().filter(|told| told.scene.is_some()).max_by(|a, b| at(a).total_cmp(&at(b)))?;
    let name = Path::new(last.scene.as_deref()?).file_stem()?.to_string_lossy().into_owned();
    (name != "-").then(|| name.chars().take(LONGEST).collect())
}

// What a folder is called, wherever it is seen from.
fn folder_name(folder: &Path) -> String {
    let whole = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    whole.file_name().map_or_else(|| whole.display().to_string(), |name| name.to_string_lossy().into_owned())
}

fn facts(
    here: &RecordedFolder,
    whole: &BTreeSet<u32>,
    frames: &BTreeMap<u32, (&str, &Entry)>,
    told: &[JournalFile],
    runs: &[&RunEntry],
) -> Vec<(String, String)> {
    let manifest = &here.manifest;
    let [width, height] = manifest.size;
    let mut times: Vec<f64> = frames.values().map(|(_, e)| e.ms).collect();
    times.sort_by(f64::total_cmp);
    let sum: f64 = times.iter().sum();
    let rays: u64 = frames.values().map(|(_, e)| e.rays + e.shadow_rays).sum();
    let total = here.frames.len();
    let mut all = vec![
        ("frames".to_owned(), format!("{total} of {width} × {height}, {} a second", manifest.fps)),
        ("files".to_owned(), here.folder.pattern.to_string()),
        ("whole".to_owned(), format!("{} of {total}", whole.len())),
    ];
    let mut add = |key: &str, value: String| all.push((key.to_owned(), value));
    if let (Some(min), Some(max)) = (times.first(), times.last()) {
        add("time on devices", format!("{:.2} s", sum / 1e3));
        let (middle, mean) = (times[times.len() / 2], sum / times.len() as f64);
        add("a frame", format!("{mean:.2} ms; median {middle:.2}, from {min:.2} to {max:.2}"));
    }
    if rays > 0 {
        add(
            "rays",
            format!("{:.1} million, {:.1} million a second", rays as f64 / 1e6, rays as f64 / sum.max(1e-9) / 1e3),
        );
    }
    let seconds: f64 = runs.iter().map(|r| r.seconds).sum();
    if seconds > 0.0 {
        add("time of runs", format!("{seconds:.2} s in {} of {}", runs.len(), told.len()));
    }
    if manifest.denoised {
        add("denoised", "by Open Image Denoise: outside the promise of equal bytes".into());
    }
    add("scene", manifest.hash.clone());
    all
}

fn table(rows: &[(String, String)]) -> String {
    let row = |(key, value): &(String, String)| format!("<tr><th>{}<td>{}</tr>\n", escaped(key), escaped(value));
    format!("<div class=\"scroll\"><table>\n{}</table></div>\n", rows.iter().map(row).collect::<String>())
}

// Plots of what was measured.
fn figures(frames: &BTreeMap<u32, (&str, &Entry)>, runs: &[&RunEntry]) -> String {
    let mut o = String::new();
    if frames.is_empty() {
        return o;
    }
    let mut by_host: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    for (&n, (host, entry)) in frames {
        by_host.entry(host).or_default().push((f64::from(n), entry.ms));
    }
    let curves: Vec<Series> = by_host.into_iter().map(|(host, points)| Series { name: host.into(), points }).collect();
    let time = AxisLabels {
        title: "Time of each frame on its device",
        x: "frame",
        y: "milliseconds",
        ..AxisLabels::default()
    };
    let of = |name: &str, value: &dyn Fn(&Entry) -> f64| Series {
        name: name.into(),
        points: frames.iter().map(|(&n, (_, entry))| (f64::from(n), value(entry))).collect(),
    };
    o += "<h2>Figures</h2>\n";
    o += &plots::lines(time, &curves, false);
    if frames.values().any(|(_, e)| e.stages.render_ms > 0.0) {
        let stages = [
            of("render", &|e| e.stages.render_ms),
            of("convert and encode", &|e| e.stages.convert_ms + e.stages.encode_ms),
            of("write", &|e| e.stages.write_ms),
        ];
        o += &plots::lines(
            AxisLabels { title: "Stages", x: "frame", y: "milliseconds", ..AxisLabels::default() },
            &stages,
            false,
        );
    }
    if frames.values().any(|(_, e)| e.rays > 0) {
        let rays =
            [of("camera, mirrors, glass", &|e| e.rays as f64 / 1e6), of("shadows", &|e| e.shadow_rays as f64 / 1e6)];
        o += &plots::lines(
            AxisLabels { title: "Rays", x: "frame", y: "million", ..AxisLabels::default() },
            &rays,
            false,
        );
    }
    let mut shares: BTreeMap<&str, (u64, f64)> = BTreeMap::new();
    for share in runs.iter().flat_map(|run| &run.devices) {
        let one = shares.entry(&share.device).or_default();
        *one = (one.0 + share.rays, one.1 + share.busy_seconds);
    }
    if shares.len() > 1 {
        let names: Vec<String> = shares.keys().map(|name| (*name).to_owned()).collect();
        let (rays, busy) = shares.values().fold((0, 0.0), |all, s| (all.0 + s.0, all.1 + s.1));
        let percent = |part: f64, all: f64| 100.0 * part / all.max(1e-9);
        let points = |of: &dyn Fn(&(u64, f64)) -> f64| (0..).map(f64::from).zip(shares.values().map(of)).collect();
        let series = [
            Series { name: "rays".into(), points: points(&|s| percent(s.0 as f64, rays as f64)) },
            Series { name: "time at work".into(), points: points(&|s| percent(s.1, busy)) },
        ];
        o += &plots::bars(
            AxisLabels { title: "Devices' shares", y: "per cent", ..AxisLabels::default() },
            &names,
            &series,
        );
    }
    o
}

// The film in the page, or a link to it where it is large.
fn film_of(film: &Path, folder: &Path) -> Result<String, Failure> {
    let failed = |e| OutputError::Read(film.to_owned(), e);
    let length = std::fs::metadata(film).map_err(failed)?.len();
    let ending = film.extension().map_or_else(String::new, |e| e.to_string_lossy().to_ascii_lowercase());
    let kind = match ending.as_str() {
        "mp4" => "video/mp4",
        "mov" => "video/quicktime",
        "webm" => "video/webm",
        "gif" => "image/gif",
        "webp" => "image/webp",
        _ => "",
    };
    if kind.is_empty() || length > LARGEST {
        let name = film.file_name().unwrap_or_default().to_string_lossy();
        return Ok(format!("<p><a href=\"{}\">{}</a>, {}</p>\n", link(film, folder), escaped(&name), size(length)));
    }
    let data = format!("data:{kind};base64,{}", STANDARD.encode(std::fs::read(film).map_err(failed)?));
    Ok(match kind.starts_with("video/") {
        true => format!("<video class=\"wide\" controls loop muted autoplay src=\"{data}\"></video>\n"),
        false => format!("<img class=\"wide\" alt=\"the film\" src=\"{data}\">\n"),
    })
}

// Where a file is, as a page in that folder names it: so it holds when both are moved, and tells nothing of the machine.
fn link(file: &Path, folder: &Path) -> String {
    // As they are without links, where they are there.
    let whole = |path: &Path| path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_default();
    let (file, folder) = (whole(file), whole(folder));
    let (to, from): (Vec<_>, Vec<_>) = (file.components().collect(), folder.components().collect());
    let shared = to.iter().zip(&from).take_while(|(a, b)| a == b).count();
    let up = from[shared..].iter().map(|_| "..".to_owned());
    let down = to[shared..].iter().map(|c| c.as_os_str().to_string_lossy().into_owned());
    // A first part with a colon would be a protocol.
    let name = std::iter::once(".".to_owned()).chain(up).chain(down);
    name.map(|part| utf8_percent_encode(&part, IN_LINKS).to_string()).collect::<Vec<_>>().join("/")
}

// Frames from all over the clip, as a picture in the page; light as the scene's tone curve shows it.
fn sheet(here: &RecordedFolder, whole: &BTreeSet<u32>) -> Result<Option<String>, Failure> {
    if whole.is_empty() {
        return Ok(None);
    }
    let tone = here.manifest.resolved().map_or(Tone::Soft, |scene| scene.film.tone);
    let there: Vec<u32> = whole.iter().copied().collect();
    let count = there.len().min(SHEET as usize);
    let mut small = Vec::new();
    for path in (0..count).map(|i| here.folder.pattern.path(there[i * there.len() / count])) {
        let shown = here.folder.format.shown(&path, tone, false).map_err(|e| OutputError::Read(path, e))?;
        small.extend(thumbnail(shown.size, opaque(&shown.rgba).into_owned()));
    }
    let sheet = composed(&small);
    let rgb: Vec<u8> = sheet.data().as_chunks::<4>().0.iter().flat_map(|p| [p[0], p[1], p[2]]).collect();
    let mut file = Vec::new();
    JpegEncoder::new_with_quality(&mut file, SHEET_QUALITY)
        .write_image(&rgb, sheet.width(), sheet.height(), image::ExtendedColorType::Rgb8)
        .map_err(|e| OutputError::Write(PathBuf::from("the contact sheet"), std::io::Error::other(e)))?;
    Ok(Some(format!("data:image/jpeg;base64,{}", STANDARD.encode(file))))
}

fn thumbnail((width, height): (u32, u32), rgba: Vec<u8>) -> Option<Image<u8>> {
    let longer = width.max(height);
    let side = |n: u32| ((u64::from(n) * u64::from(SIDE.min(longer))).div_ceil(u64::from(longer)) as u32).max(1);
    let small = imageops::thumbnail(&RgbaImage::from_raw(width, height, rgba)?, side(width), side(height));
    Some(Image::new(small.width(), small.height(), 4, small.into_raw()))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

const HEAD: &str = r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.3rem; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
table { border-collapse: collapse; font-size: .9rem; }
th { text-align: left; font-weight: 600; }
th, td { padding: .2rem 1rem .2rem 0; vertical-align: top; overflow-wrap: anywhere; }
.wide { width: 100%; border-radius: 6px; display: block; }
.scroll, pre { overflow-x: auto; }
svg { width: 100%; height: auto; border-radius: 6px; margin: .5rem 0; }
footer { margin: 2rem 0; font-size: .8rem; opacity: .7; }
</style>
"#;

#[cfg(test)]
#[test]
fn links_lead_from_the_page_to_the_film() {
    let of = |film: &str, folder: &str| link(Path::new(film), Path::new(folder));
    assert_eq!(of("/nowhere/a/my film #1.mkv", "/nowhere/a"), "./my%20film%20%231.mkv");
    assert_eq!(of("/nowhere/a/f.mkv", "/nowhere/b/c"), "./../../a/f.mkv");
    assert_eq!(of("/nowhere/a:b.mkv", "/nowhere"), "./a%3Ab.mkv");
}
