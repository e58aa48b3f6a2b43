//! `polyfly report`: a self-contained HTML page about a run, with film, contact sheet, plots, machines and scene.

use super::measured::median;
use super::missing::last_entries;
use super::output_file::OutputFile;
use super::plots::{Plot, Series, Style};
use super::template::filled;
use crate::assets::source::read_regular;
use crate::cli::{Failure, ReportArgs, shown};
use crate::film::image::Image;
use crate::language::{Message, ToMessage, msg};
use crate::output::OutputError;
use crate::output::opaque::opaque;
use crate::output::store::atomic::folder_of;
use crate::output::video::{Settings, tag};
use crate::quote::brief;
use crate::render::frames::FrameList;
use crate::render::sheet::{SHEET, composed, small_sides};
use crate::report::{Remarks, remark, size};
use crate::run::folder::RecordedFolder;
use crate::run::journal::{self, Entry, RecordedRun, RunEntry};
use crate::scene::Tone;
use crate::system::extension;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use image::codecs::jpeg::JpegEncoder;
use image::{ImageEncoder, RgbaImage, imageops};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

// A film of more bytes is linked, not embedded.
const LARGEST: u64 = 64 << 20;
const SHEET_QUALITY: u8 = 85;
// All characters except the unreserved ones of RFC 3986, 2.3.
const IN_LINKS: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

pub fn run(args: &ReportArgs) -> Result<(), Failure> {
    let here = RecordedFolder::open(&args.folder)?;
    let path = args.output.clone().unwrap_or_else(|| here.folder.path().join("report.html"));
    // Without a name, the page replaces the folder's earlier one.
    let file = OutputFile::create(&path, args.overwrite || args.output.is_none())?;
    let whole = here.inspect()?.whole;
    let runs = journal::read(&here.folder.path(), &here.manifest.clip(), &mut Remarks);
    let film = args.film.clone().or_else(|| last_film(&runs, &here));
    let film = film.map_or_else(|| Ok(String::new()), |film| film_of(&film, folder_of(&path)))?;
    let page = Recorded { frames: last_entries(&runs), here, whole, recorded: runs }.page(film)?;
    file.write(page.as_bytes())?;
    remark(Message::list([path.display().to_message(), size(page.len() as u64)], ", "));
    Ok(())
}

// The newest film that still exists and shows this scene: its tag names the scene, or it is a file beside the frames that
// has not changed since a run made it. Journals may come from anyone, so links are not followed.
fn last_film(runs: &[RecordedRun], here: &RecordedFolder) -> Option<PathBuf> {
    let mut runs: Vec<&RunEntry> = runs.iter().filter_map(|recorded| recorded.run.as_ref()).collect();
    runs.sort_by(|a, b| b.at.total_cmp(&a.at));
    let whole = |folder: &Path| folder.canonicalize().ok();
    let is_here = |film: &Path| whole(folder_of(film)).is_some_and(|at| Some(at) == whole(&here.folder.path()));
    let is_file = |film: &Path| std::fs::symlink_metadata(film).is_ok_and(|what| what.is_file());
    let mut others = Vec::new();
    for (run, film) in runs.into_iter().flat_map(|run| run.films.iter().rev().map(move |film| (run, film))) {
        if !is_file(film) || others.contains(&film) {
            continue;
        }
        if is_of_scene(film, &here.manifest.hash) || is_here(film) && run.made(film) {
            return Some(film.clone());
        }
        others.push(film);
    }
    let film = brief(&others.first()?.display().to_string());
    remark(shown(msg!("{film} is not shown: nothing says that it is of this scene; --film shows it", film)));
    None
}

// Whether a film's tag names the scene. Bytes of large films are not searched for a tag.
fn is_of_scene(film: &Path, hash: &str) -> bool {
    let is_small = std::fs::metadata(film).is_ok_and(|file| file.len() <= LARGEST);
    let ways = [false, true].into_iter().filter(|&is_embedded| !is_embedded || is_small);
    let read = |is_embedded| tag::read(film, &Settings { is_embedded, ..Settings::of(film.to_owned()) });
    ways.into_iter().find_map(read).is_some_and(|tag| tag.is_of_scene(hash))
}

struct Recorded {
    here: RecordedFolder,
    whole: BTreeSet<u32>,
    recorded: Vec<RecordedRun>,
    // The last record of each frame, with the machine that made it.
    frames: BTreeMap<u32, (usize, Entry)>,
}

impl Recorded {
    fn runs(&self) -> impl Iterator<Item = &RunEntry> {
        self.recorded.iter().filter_map(|recorded| recorded.run.as_ref())
    }

    fn page(&self, film: String) -> Result<String, Failure> {
        let manifest = &self.here.manifest;
        let title = scene_name(&self.recorded).unwrap_or_else(|| folder_name(&self.here.folder.path()));
        let sheet = self.sheet()?.map_or_else(String::new, |sheet| {
            let (heading, alt) = (shown(msg!("Frames")), shown(msg!("frames from all over the clip")));
            format!("<h2>{heading}</h2>\n<img class=\"wide\" alt=\"{alt}\" src=\"{sheet}\">\n")
        });
        let files = table(manifest.files.iter());
        let files = format!(
            "<details><summary>{}</summary>{files}</details>\n",
            shown(msg!("SHA-256 of the files that it names"))
        );
        Ok(filled(
            include_str!("page.html"),
            &[
                ("TITLE", escaped(&title)),
                ("FILM", film),
                ("FACTS", table(self.facts().iter().map(|(key, value)| (key, value)))),
                ("SHEET", sheet),
                ("FIGURES", self.figures()),
                ("RUNS", self.table_of_runs()),
                ("LANGUAGE", shown(msg!("en"))),
                ("SCENE_HEADING", shown(msg!("Scene"))),
                ("RESOLVED", shown(msg!("as it was resolved, in TOML"))),
                (
                    "SCENE",
                    manifest
                        .scene_text()
                        .map_or_else(|| shown(msg!("It is too long to stand here.")), |text| escaped(&text)),
                ),
                ("FILES", if manifest.files.is_empty() { String::new() } else { files }),
                ("MADE_BY", shown(msg!("made by polyfly {version}", version = env!("CARGO_PKG_VERSION")))),
            ],
        ))
    }

    fn table_of_runs(&self) -> String {
        let mut rows = String::new();
        for RecordedRun { host, run, frames, .. } in &self.recorded {
            let count = frames.len().to_string();
            let cells = match run {
                None => {
                    let none = String::new;
                    [host.clone(), none(), none(), none(), count, shown(msg!("it was killed"))]
                }
                Some(run) => {
                    let devices: BTreeSet<&str> = run.devices.iter().map(|d| d.device.as_str()).collect();
                    let devices = devices.into_iter().collect::<Vec<_>>().join(", ");
                    let threads = if run.threads > 0 { run.threads.to_string() } else { String::new() };
                    let (processor, seconds) =
                        (run.processor.clone().unwrap_or_default(), format!("{:.2}", run.seconds));
                    [host.clone(), processor, devices, threads, count, seconds]
                }
            };
            rows += &format!("<tr>{}</tr>\n", cells.map(|c| format!("<td>{}</td>", escaped(&c))).concat());
        }
        if rows.is_empty() {
            return rows;
        }
        let (heading, heads) = (
            shown(msg!("Runs")),
            shown(msg!("<tr><th>machine<th>processor<th>devices<th>threads<th>frames<th>seconds</tr>")),
        );
        format!("<h2>{heading}</h2>\n<div class=\"scroll\"><table>{heads}\n{rows}</table></div>\n")
    }

    fn facts(&self) -> Vec<(String, String)> {
        let manifest = &self.here.manifest;
        let [width, height] = manifest.size;
        let mut times: Vec<f64> = self.frames.values().map(|(_, e)| e.ms).collect();
        let middle = if times.is_empty() { 0.0 } else { median(&mut times) };
        let sum: f64 = times.iter().sum();
        let rays: u64 = self.frames.values().map(|(_, e)| e.rays + e.shadow_rays).sum();
        let total = self.here.frames.len();
        let mut all = Vec::new();
        let mut add = |key: Message, value: Message| all.push((shown(key), shown(value)));
        let fps = manifest.fps;
        add(msg!("frames"), msg!("{total} of {width} × {height}, {fps} a second", total, width, height, fps));
        add(msg!("files"), Message::text(&self.here.folder.pattern));
        add(msg!("whole"), msg!("{part} of {total}", part = self.whole.len(), total));
        if let [min, .., max] | [min @ max] = times[..] {
            add(msg!("time on devices"), msg!("{number} s", number = format_args!("{:.2}", sum / 1e3)));
            let times = [sum / times.len() as f64, middle, min, max];
            let [mean, middle, min, max] = times.map(|time| format!("{time:.2}"));
            add(
                msg!("a frame"),
                msg!("{mean} ms; median {median}, from {min} to {max}", mean, median = middle, min, max),
            );
        }
        if rays > 0 {
            let counts = [rays as f64 / 1e6, rays as f64 / sum.max(1e-9) / 1e3];
            let [millions, rate] = counts.map(|count| format!("{count:.1}"));
            add(msg!("rays"), msg!("{count} million, {rate} million a second", count = millions, rate));
        }
        let seconds: f64 = self.runs().map(|r| r.seconds).sum();
        if seconds > 0.0 {
            let (seconds, runs, all) = (format!("{seconds:.2}"), self.runs().count(), self.recorded.len());
            add(msg!("time of runs"), msg!("{seconds} s in {runs} of {all}", seconds, runs, all));
        }
        if manifest.denoised {
            add(msg!("denoised"), msg!("by Open Image Denoise: outside the promise of equal bytes"));
        }
        add(msg!("scene"), Message::text(&manifest.hash));
        all
    }

    fn figures(&self) -> String {
        if self.frames.is_empty() {
            return String::new();
        }
        let entries = || self.frames.values().map(|(_, entry)| entry);
        let of = |name: Message, value: &dyn Fn(&Entry) -> f64| {
            Series::new(shown(name), entries().map(|entry| (f64::from(entry.frame), value(entry))))
        };
        let over_frames = |title: Message, y: Message, series: &[Series]| {
            let (title, x, y) = (shown(title), shown(msg!("frame")), shown(y));
            Plot { title: &title, x: &x, y: &y, series, ..Plot::default() }.svg()
        };
        let mut by_host: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
        for (run, entry) in self.frames.values() {
            let host = &self.recorded[*run].host;
            by_host.entry(host).or_default().push((f64::from(entry.frame), entry.ms));
        }
        let curves: Vec<Series> = by_host.into_iter().map(|(host, points)| Series::new(host, points)).collect();
        let mut text = format!("<h2>{}</h2>\n", shown(msg!("Figures")));
        text += &over_frames(msg!("Time of each frame on its device"), msg!("milliseconds"), &curves);
        if entries().any(|e| e.stages.render_ms > 0.0) {
            let stages = [
                of(msg!("render"), &|e| e.stages.render_ms),
                of(msg!("convert and encode"), &|e| e.stages.convert_ms + e.stages.encode_ms),
                of(msg!("write"), &|e| e.stages.write_ms),
            ];
            text += &over_frames(msg!("Stages"), msg!("milliseconds"), &stages);
        }
        if entries().any(|e| e.rays > 0) {
            let primary = of(msg!("camera, mirrors, glass"), &|e| e.rays as f64 / 1e6);
            let shadows = of(msg!("shadows"), &|e| e.shadow_rays as f64 / 1e6);
            text += &over_frames(msg!("Rays"), msg!("million"), &[primary, shadows]);
        }
        let mut shares: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
        for share in self.runs().flat_map(|run| &run.devices) {
            let one = shares.entry(&share.device).or_default();
            *one = (one.0 + share.rays as f64, one.1 + share.busy_seconds);
        }
        if shares.len() > 1 {
            let names: Vec<String> = shares.keys().map(|name| (*name).to_owned()).collect();
            let percents = |name: Message, of: fn(&(f64, f64)) -> f64| {
                let all = shares.values().map(of).sum::<f64>().max(1e-9);
                Series::new(shown(name), (0..).map(f64::from).zip(shares.values().map(|share| 100.0 * of(share) / all)))
            };
            let series = &[percents(msg!("rays"), |share| share.0), percents(msg!("time at work"), |share| share.1)];
            let (title, y, style) = (shown(msg!("Devices' shares")), shown(msg!("per cent")), Style::Bars(&names));
            text += &Plot { title: &title, y: &y, style, series, ..Plot::default() }.svg();
        }
        text
    }

    // A contact sheet as a picture for the page. Linear light passes through the scene's tone curve.
    fn sheet(&self) -> Result<Option<String>, Failure> {
        let Some(whole) = FrameList::of_numbers(self.whole.iter().copied()) else { return Ok(None) };
        let folder = &self.here.folder;
        let tone = self.here.manifest.resolved().map_or(Tone::Soft, |scene| scene.film.tone);
        let mut small = Vec::new();
        for path in whole.spread(SHEET as usize).iter().map(|frame| folder.pattern.path(frame)) {
            let shown = folder.format.shown(&path, tone, false).map_err(|e| OutputError::Read(path, e))?;
            small.extend(thumbnail(shown.size, opaque(&shown.rgba).into_owned()));
        }
        let sheet = composed(&small);
        let rgb: Vec<u8> = sheet.data().as_chunks::<4>().0.iter().flat_map(|p| [p[0], p[1], p[2]]).collect();
        let mut file = Vec::new();
        JpegEncoder::new_with_quality(&mut file, SHEET_QUALITY)
            .write_image(&rgb, sheet.width(), sheet.height(), image::ExtendedColorType::Rgb8)
            .map_err(|e| OutputError::Write("report.html".into(), std::io::Error::other(e)))?;
        Ok(Some(format!("data:image/jpeg;base64,{}", STANDARD.encode(file))))
    }
}

// The scene's name in the last run: the file name without folder and extension.
fn scene_name(runs: &[RecordedRun]) -> Option<String> {
    const MAX_CHARACTERS: usize = 100;
    let at = |run: &RecordedRun| run.frames.iter().map(|entry| entry.at).fold(0.0, f64::max);
    let last = runs.iter().filter(|run| run.scene.is_some()).max_by(|a, b| at(a).total_cmp(&at(b)))?;
    let name = Path::new(last.scene.as_deref()?).file_stem()?.to_string_lossy().into_owned();
    (name != "-").then(|| name.chars().take(MAX_CHARACTERS).collect())
}

// The name of a folder, however its path is written.
fn folder_name(folder: &Path) -> String {
    let whole = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    whole.file_name().map_or_else(|| whole.display().to_string(), |name| name.to_string_lossy().into_owned())
}

fn table<'a>(rows: impl Iterator<Item = (&'a String, &'a String)>) -> String {
    let rows: String = rows.map(|(k, v)| format!("<tr><th>{}<td>{}</tr>\n", escaped(k), escaped(v))).collect();
    format!("<div class=\"scroll\"><table>\n{rows}</table></div>\n")
}

// The film embedded in the page, or a link to it if it is large.
fn film_of(film: &Path, folder: &Path) -> Result<String, Failure> {
    let failed = |e| OutputError::Read(film.to_owned(), e);
    let length = std::fs::metadata(film).map_err(failed)?.len();
    let kind = match extension(film).as_str() {
        "mp4" => "video/mp4",
        "mov" => "video/quicktime",
        "webm" => "video/webm",
        "gif" => "image/gif",
        "webp" => "image/webp",
        _ => "",
    };
    if kind.is_empty() || length > LARGEST {
        let name = film.file_name().unwrap_or_default().to_string_lossy();
        return Ok(format!(
            "<p><a href=\"{}\">{}</a>, {}</p>\n",
            link(film, folder),
            escaped(&name),
            shown(size(length))
        ));
    }
    let data = format!("data:{kind};base64,{}", STANDARD.encode(read_regular(film).map_err(failed)?));
    Ok(match kind.starts_with("video/") {
        true => format!("<video class=\"wide\" controls loop muted autoplay src=\"{data}\"></video>\n"),
        false => format!("<img class=\"wide\" alt=\"{}\" src=\"{data}\">\n", shown(msg!("the film"))),
    })
}

// A relative link from the page's folder to a file. It stays valid if both move, and reveals no other path of the
// machine.
fn link(file: &Path, folder: &Path) -> String {
    // Symbolic links are resolved if the paths exist.
    let whole = |path: &Path| path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_default();
    let (file, folder) = (whole(file), whole(folder));
    let (to, from): (Vec<_>, Vec<_>) = (file.components().collect(), folder.components().collect());
    let shared = to.iter().zip(&from).take_while(|(a, b)| a == b).count();
    let up = from[shared..].iter().map(|_| "..".to_owned());
    let down = to[shared..].iter().map(|c| c.as_os_str().to_string_lossy().into_owned());
    // A colon in the first part would make it a URL scheme, so the link begins with `./`.
    let name = std::iter::once(".".to_owned()).chain(up).chain(down);
    name.map(|part| utf8_percent_encode(&part, IN_LINKS).to_string()).collect::<Vec<_>>().join("/")
}

fn thumbnail(size: (u32, u32), rgba: Vec<u8>) -> Option<Image<u8>> {
    let (width, height) = small_sides(size);
    let small = imageops::thumbnail(&RgbaImage::from_raw(size.0, size.1, rgba)?, width, height);
    Some(Image::new(small.width(), small.height(), 4, small.into_raw()))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
#[test]
fn links_lead_from_the_page_to_the_film() {
    let of = |film: &str, folder: &str| link(Path::new(film), Path::new(folder));
    assert_eq!(of("/nowhere/a/my film #1.mkv", "/nowhere/a"), "./my%20film%20%231.mkv");
    assert_eq!(of("/nowhere/a/f.mkv", "/nowhere/b/c"), "./../../a/f.mkv");
    assert_eq!(of("/nowhere/a:b.mkv", "/nowhere"), "./a%3Ab.mkv");
}
