//! `polyfly figure`: from a file of particles to what a journal prints.

use crate::common::{folder, names, polyfly, text, words};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

const SMALL: [&str; 4] = ["--width", "60 mm", "--set", "figure.dpi=100"];

fn packing(dir: &Path) {
    let run = polyfly(dir, &["particles", "generate", "60", "p.csv"]);
    assert!(run.status.success(), "{}", words(&run));
}

fn figure(dir: &Path, more: &[&str]) -> std::process::Output {
    let args = ["figure", "p.csv", "--cpu", "--color-by", "pressure", "--label", "Pressure (kg m^-1 s^-2)"];
    polyfly(dir, &[&args, &SMALL[..], more].concat())
}

#[test]
fn a_figure_has_its_size_in_print_and_its_scene() {
    let dir = folder();
    packing(dir.path());
    let run = figure(dir.path(), &[]);
    assert!(run.status.success(), "{}", words(&run));
    let file = std::fs::read(dir.path().join("p.png")).unwrap();
    let decoder = png::Decoder::new(std::io::Cursor::new(&file)).read_info().unwrap();
    let info = decoder.info();
    // 60 mm at 100 dots an inch, which are 3,937 a meter.
    assert_eq!((info.width, info.height), (236, 177));
    assert_eq!(info.pixel_dims.map(|dims| (dims.xppu, dims.yppu)), Some((3933, 3933)));
    let facts: String = info.utf8_text.iter().filter_map(|chunk| chunk.get_text().ok()).collect();
    let hash = |bytes: &[u8]| Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let data = hash(&std::fs::read(dir.path().join("p.csv")).unwrap());
    assert!(facts.contains(&format!("frame 0: {data}\n")) && facts.contains("[figure]"), "{facts}");
    // The scene that is printed makes the same file, and so does the one in the picture.
    let printed = figure(dir.path(), &["--print-scene"]);
    let scene = text(&printed.stdout);
    assert!(scene.contains("style = \"journal\"") && scene.contains("color_by = \"pressure\""), "{scene}");
    std::fs::write(dir.path().join("s.toml"), scene).unwrap();
    for args in [&["s.toml", "--cpu", "-o", "q.png"][..], &["figure", "s.toml", "--cpu", "-o", "r.png"]] {
        let run = polyfly(dir.path(), args);
        assert!(run.status.success(), "{}", words(&run));
    }
    for other in ["q.png", "r.png"] {
        assert!(std::fs::read(dir.path().join(other)).unwrap() == file, "{other}");
    }
    // JPEG and TIFF know it too.
    for (name, dots) in [("a.jpg", &b"JFIF\0\x01\x02\x01\0\x64\0\x64"[..]), ("a.tiff", &b"\x1a\x01\x05\0"[..])] {
        assert!(figure(dir.path(), &["-o", name]).status.success());
        let bytes = std::fs::read(dir.path().join(name)).unwrap();
        assert!(bytes.windows(dots.len()).any(|window| window == dots), "{name}");
    }
}

#[test]
fn a_figure_replaces_no_file_of_others() {
    let dir = folder();
    packing(dir.path());
    for name in ["f.png", "f.pdf", "f.svg"] {
        std::fs::write(dir.path().join(name), "mine").unwrap();
        let run = figure(dir.path(), &["-o", name]);
        assert!(!run.status.success() && words(&run).contains("--overwrite"), "{name}: {}", words(&run));
        assert_eq!(std::fs::read(dir.path().join(name)).unwrap(), b"mine");
        assert!(figure(dir.path(), &["-o", name, "--overwrite"]).status.success());
    }
    for (more, code, said) in [
        (&["--view", "up"][..], 65, "[azimuth, elevation]"),
        (&["--set", "figure.width=85"], 65, "a number with a unit"),
        (&["--style", "jurnal"], 65, "did you mean"),
        (&["--step", "3"], 65, "it has steps 0-0"),
        (&["--set", "figure.lable=x"], 65, "label"),
        (&["-o", "x.docx"], 64, "docx"),
    ] {
        let run = figure(dir.path(), more);
        let is_so = run.status.code() == Some(code) && words(&run).contains(said);
        assert!(is_so, "{more:?}: {:?} {}", run.status.code(), words(&run));
    }
    let left = names(dir.path()).into_iter().filter(|name| name.starts_with('x')).count();
    assert_eq!(left, 0);
}

// The first stream whose unpacked content has this text.
fn stream(pdf: &[u8], with: &str) -> String {
    let starts = pdf.windows(7).enumerate().filter(|(_, window)| *window == b"stream\n").map(|(i, _)| i + 7);
    let found = starts.filter_map(|start| {
        let mut out = Vec::new();
        let unpacked = flate2::read::ZlibDecoder::new(&pdf[start..]).read_to_end(&mut out);
        if unpacked.is_err() {
            out = pdf[start..].to_vec();
        }
        Some(String::from_utf8_lossy(&out).into_owned()).filter(|text| text.contains(with))
    });
    found.min_by_key(String::len).unwrap_or_default()
}

// The bytes of a string in a PDF, which has octal numbers and letters behind backslashes.
fn literal(text: &str) -> Vec<u8> {
    let (mut bytes, mut rest) = (Vec::new(), text);
    while let Some(first) = rest.chars().next() {
        let escaped = rest.strip_prefix('\\').unwrap_or_default();
        let octal = escaped.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok());
        let (byte, length) = match (octal, escaped.chars().next()) {
            (Some(byte), _) => (byte, 4),
            (None, Some(letter)) => {
                let named = [('n', 10), ('r', 13), ('t', 9), ('b', 8), ('f', 12)];
                (named.iter().find(|(name, _)| *name == letter).map_or(letter as u8, |(_, byte)| *byte), 2)
            }
            (None, None) => (first as u8, first.len_utf8()),
        };
        bytes.push(byte);
        rest = &rest[length..];
    }
    bytes
}

#[test]
fn a_pdf_has_its_text_and_its_font() {
    let dir = folder();
    packing(dir.path());
    let run = figure(dir.path(), &["-o", "f.pdf", "--set", "figure.title=(a) After"]);
    assert!(run.status.success() && run.stderr.is_empty(), "{}", words(&run));
    let pdf = std::fs::read(dir.path().join("f.pdf")).unwrap();
    assert!(pdf.starts_with(b"%PDF-1.") && pdf.ends_with(b"%%EOF"));
    let whole = String::from_utf8_lossy(&pdf);
    assert!(whole.contains("/Scene "));
    // 60 mm are 170.1 points.
    assert!(whole.contains("/MediaBox [0 0 170.0") && whole.contains("/FontFile2") && whole.contains("/Width 236"));
    // Glyphs and their letters.
    let map = stream(&pdf, "beginbfchar");
    let pairs = map.lines().filter_map(|line| {
        let (glyph, letter) = line.trim().strip_prefix('<')?.split_once("> <")?;
        let letter = u32::from_str_radix(letter.trim_end_matches('>'), 16).ok().and_then(char::from_u32)?;
        Some((glyph.to_owned(), letter))
    });
    let letters: BTreeMap<String, char> = pairs.collect();
    let content = stream(&pdf, "Tj");
    let mut shown = String::new();
    for string in content.lines().filter_map(|line| line.strip_suffix(" Tj")) {
        let bytes = literal(string.trim_start_matches('(').trim_end_matches(')'));
        let glyphs = bytes.chunks(2).map(|glyph| glyph.iter().map(|byte| format!("{byte:02X}")).collect::<String>());
        shown.extend(glyphs.filter_map(|glyph| letters.get(&glyph)));
        shown.push('\n');
    }
    for wanted in ["(a) After", "Pressure (kg m", "−1", "6000"] {
        assert!(shown.contains(wanted), "{wanted} in {shown}\n{content}");
    }
}

// Whether all elements are closed in turn. Returns the text between them.
fn text_of(svg: &str) -> String {
    let (mut open, mut words) = (Vec::new(), String::new());
    for part in svg.split('<').skip(1) {
        let (tag, after) = part.split_once('>').unwrap();
        assert!(tag.matches('"').count() % 2 == 0 && !after.contains('>'), "{tag}");
        words.push_str(after);
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name)),
            None if tag.ends_with('/') => {}
            None => open.push(tag.split(' ').next().unwrap()),
        }
    }
    assert!(open.is_empty(), "{open:?}");
    words
}

#[test]
fn an_svg_is_whole_and_has_its_text() {
    let dir = folder();
    packing(dir.path());
    let run = figure(dir.path(), &["-o", "f.svg", "--set", "figure.title=<a> & \"b\""]);
    assert!(run.status.success(), "{}", words(&run));
    let svg = std::fs::read_to_string(dir.path().join("f.svg")).unwrap();
    let words = text_of(&svg);
    for wanted in ["&lt;a&gt; &amp; &quot;b&quot;", "Pressure (kg m", "6000"] {
        assert!(words.contains(wanted), "{wanted}");
    }
    assert!(
        svg.contains("width=\"170.079pt\"") && svg.contains("data:image/png;base64,") && svg.contains("@font-face")
    );
    // The picture and its marks are those of the PNG, which is made by other code.
    assert!(svg.matches("<polygon").count() > 256);
}

#[test]
fn a_figure_is_made_again_from_what_it_carries() {
    let dir = folder();
    packing(dir.path());
    let again = |name: &str| {
        let run = polyfly(dir.path(), &["figure", name, "--again"]);
        (run.status.code().unwrap(), text(&run.stdout), words(&run))
    };
    let figures = ["f.png", "f.pdf", "f.svg"];
    for name in figures {
        let run = figure(dir.path(), &["-o", name, "--set", "figure.title=(é)\\n", "--set", "figure.panel=b"]);
        assert!(run.status.success(), "{}", words(&run));
        assert_eq!(again(name).1, format!("{name}: the same to the byte\n"), "{}", again(name).2);
    }
    assert!(text_of(&std::fs::read_to_string(dir.path().join("f.svg")).unwrap()).contains("(b) (é)"));
    // A picture that is painted over, and data that changes.
    let mut bytes = std::fs::read(dir.path().join("f.pdf")).unwrap();
    let end = bytes.len();
    bytes[end - 2] = b' ';
    std::fs::write(dir.path().join("f.pdf"), bytes).unwrap();
    let (code, _, said) = again("f.pdf");
    assert!(code == 1 && said.contains("its data is the same, and its bytes are others"), "{said}");
    let table = std::fs::read_to_string(dir.path().join("p.csv")).unwrap();
    std::fs::write(dir.path().join("p.csv"), table.replacen('1', "2", 1)).unwrap();
    for name in figures {
        let (code, _, said) = again(name);
        assert!(code == 1 && said.contains("its data has changed: p.csv"), "{said}");
    }
    std::fs::remove_file(dir.path().join("p.csv")).unwrap();
    assert_eq!(again("f.png").0, 65);
    let (code, _, said) = again("scene.toml");
    assert!(code == 64 && said.contains("it carries no scene"), "{said}");
}

#[test]
fn a_scene_with_a_figure_becomes_a_document_too() {
    let dir = folder();
    packing(dir.path());
    assert!(figure(dir.path(), &["-o", "a.svg"]).status.success());
    let scene = figure(dir.path(), &["--print-scene"]);
    std::fs::write(dir.path().join("f.toml"), &scene.stdout).unwrap();
    let run = polyfly(dir.path(), &["f.toml", "-o", "b.svg"]);
    assert!(run.status.success(), "{}", words(&run));
    let [a, b] = ["a.svg", "b.svg"].map(|name| std::fs::read(dir.path().join(name)).unwrap());
    assert!(a == b);
    let refused = polyfly(dir.path(), &["f.toml", "-o", "b.svg"]);
    assert!(words(&refused).contains("b.svg already exists"), "{}", words(&refused));
    let many =
        polyfly(dir.path(), &["f.toml", "-o", "c.pdf", "--set", "output.frames=2", "--set", "output.path=%d.png"]);
    assert!(many.status.code() == Some(64) && words(&many).contains("c.pdf shows one frame"), "{}", words(&many));
}

#[test]
fn picture_and_furniture_may_be_apart() {
    let dir = folder();
    packing(dir.path());
    let apart = ["--set", "figure.furniture=separate"];
    assert!(figure(dir.path(), &[&["-o", "a.svg"], &apart[..]].concat()).status.success());
    assert!(figure(dir.path(), &["-o", "b.svg"]).status.success());
    let read = |name: &str| std::fs::read(dir.path().join(name)).unwrap();
    let [a, b] = ["a.svg", "b.svg"].map(|name| String::from_utf8(read(name)).unwrap());
    // The same text and shapes, and the picture in one of them alone.
    let shapes = |svg: &str| svg.split("<text").skip(1).map(str::to_owned).collect::<Vec<_>>();
    assert!(!a.contains("<image") && b.contains("<image") && shapes(&a) == shapes(&b) && a.len() + 10_000 < b.len());
    assert!(figure(dir.path(), &[&["-o", "c.ppm"], &apart[..]].concat()).status.success());
    let run = polyfly(dir.path(), &["convert", "a.png", "d.ppm"]);
    assert!(run.status.success() && read("c.ppm") == read("d.ppm"), "{}", words(&run));
    assert!(figure(dir.path(), &["-o", "e.ppm"]).status.success());
    assert!(read("c.ppm") != read("e.ppm"));
    let pdf = figure(dir.path(), &[&["-o", "f.pdf"], &apart[..]].concat());
    assert!(pdf.status.success() && !String::from_utf8_lossy(&read("f.pdf")).contains("/XObject"), "{}", words(&pdf));
}
