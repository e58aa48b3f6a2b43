//! LAMMPS data files: a header of counts and box, then sections. Atoms have the columns of their style; velocities and ellipsoids are
//! joined to them by id.

use super::format::{Head, Source};
use super::rows::{Rows, lines};
use super::step::{Cell, Column, Step, Wanted};
use super::values::BONDS;
use crate::assets::error::AssetError;
use crate::language::{Message, msg};
use std::collections::HashMap;

// The columns of atom styles, up to the coordinates.
const STYLES: [(&str, &[&str]); 10] = [
    ("angle", &["id", "mol", "type"]),
    ("atomic", &["id", "type"]),
    ("bond", &["id", "mol", "type"]),
    ("charge", &["id", "type", "q"]),
    ("dipole", &["id", "type", "q"]),
    ("ellipsoid", &["id", "type", "ellipsoidflag", "density"]),
    ("full", &["id", "mol", "type", "q"]),
    ("granular", &["id", "type", "diameter", "density"]),
    ("molecular", &["id", "mol", "type"]),
    ("sphere", &["id", "type", "diameter", "density"]),
];

// The columns of velocities: those of grains turn as well.
fn velocities(style: &str) -> &'static [&'static str] {
    match style {
        "sphere" | "granular" => &["id", "vx", "vy", "vz", "omegax", "omegay", "omegaz"],
        "ellipsoid" => &["id", "vx", "vy", "vz", "angmomx", "angmomy", "angmomz"],
        _ => &["id", "vx", "vy", "vz"],
    }
}

const ELLIPSOIDS: [&str; 8] = ["id", "shapex", "shapey", "shapez", "quatw", "quati", "quatj", "quatk"];

pub fn recognise(head: &Head) -> bool {
    // The head may end within a character.
    let text = String::from_utf8_lossy(head.bytes);
    let has = |word: &str| text.lines().skip(1).any(|line| without_remark(line).ends_with(word));
    has(" atoms") && has(" xlo xhi")
}

fn without_remark(line: &str) -> &str {
    line.split('#').next().unwrap_or_default().trim()
}

// A section: its name, its style, and its lines.
struct Section<'a> {
    name: &'a str,
    style: &'a str,
    text: &'a [u8],
    // The number of its first line.
    line: usize,
}

// The header's lines, and the sections. A section begins with a word between blank lines.
fn sections(bytes: &[u8]) -> Option<(Vec<&str>, Vec<Section<'_>>)> {
    let (mut head, mut sections, mut at, mut number) = (Vec::new(), Vec::<Section>::new(), 0, 1);
    let mut is_open = false;
    while at < bytes.len() {
        let line = lines(&bytes[at..], 1).unwrap_or(&bytes[at..]);
        let end = at + line.len();
        if line.first().is_some_and(u8::is_ascii_alphabetic) && number > 1 {
            let (name, style) =
                std::str::from_utf8(line).ok()?.trim().split_once('#').unwrap_or((std::str::from_utf8(line).ok()?, ""));
            sections.push(Section { name: name.trim(), style: style.trim(), text: &[], line: number + 1 });
            is_open = false;
        } else if let Some(section) = sections.last_mut() {
            match line.trim_ascii().is_empty() {
                // Blank lines before the rows.
                true if section.text.is_empty() => section.line = number + 1,
                true => is_open = false,
                false if section.text.is_empty() => (section.text, is_open) = (line, true),
                false if is_open => section.text = &bytes[end - line.len() - section.text.len()..end],
                false => return None,
            }
        } else {
            head.push(std::str::from_utf8(line).ok()?);
        }
        (at, number) = (end, number + 1);
    }
    Some((head, sections))
}

fn cell(head: &[&str]) -> Option<Cell> {
    let find = |end: &str| {
        let line = head.iter().find_map(|line| without_remark(line).strip_suffix(end))?;
        line.split_whitespace().map(|word| word.parse().ok()).collect::<Option<Vec<f64>>>()
    };
    let bound = |end: &str| find(end)?.first_chunk::<2>().copied();
    let [x, y, z] = [bound("xlo xhi")?, bound("ylo yhi")?, bound("zlo zhi")?];
    let [xy, xz, yz] = find("xy xz yz").map_or(Some([0.0; 3]), |tilts| tilts.first_chunk().copied())?;
    let vectors = [[x[1] - x[0], 0.0, 0.0], [xy, y[1] - y[0], 0.0], [xz, yz, z[1] - z[0]]];
    Some(Cell { origin: [x[0], y[0], z[0]], vectors, periodic: [true; 3] })
}

fn names(columns: &[&str]) -> Vec<String> {
    columns.iter().map(|&name| name.to_owned()).collect()
}

pub fn read(source: &Source, wanted: &Wanted) -> Result<Step, AssetError> {
    atoms(source, wanted).map_err(|what| source.fault(what))
}

fn atoms(source: &Source, wanted: &Wanted) -> Result<Step, Message> {
    let bytes = source.content.part(0..source.content.length()).map_err(Message::text)?;
    let damaged =
        || msg!("expected a header with `N atoms` and bounds, and sections with a name, a blank line and rows");
    let (head, sections) = sections(&bytes).ok_or_else(damaged)?;
    let count_of = |what: &str| {
        let found = head.iter().find_map(|line| without_remark(line).strip_suffix(what)?.trim().parse::<usize>().ok());
        found.ok_or_else(damaged)
    };
    let count = count_of(" atoms")?;
    let section = |name: &str| sections.iter().find(|section| section.name == name);
    let atoms = section("Atoms").ok_or_else(|| msg!("it has no section `Atoms`"))?;
    let first = lines(atoms.text, 1).and_then(|line| std::str::from_utf8(line).ok()).unwrap_or_default();
    let style = match (atoms.style, without_remark(first).split_whitespace().count()) {
        // Only this style has so few columns; three more are of images.
        ("", 5 | 8) => "atomic",
        (style, _) => style,
    };
    let (_, columns) = STYLES.iter().find(|(name, _)| *name == style).ok_or_else(|| {
        let styles = Message::one_of(&STYLES.map(|(name, _)| name.to_owned()));
        msg!("line {line}: expected the style of the atoms, `Atoms # sphere`: {styles}", line = atoms.line, styles)
    })?;
    let columns = [columns, &["x", "y", "z"][..]].concat();
    // Type labels have numbers in a section of their own.
    let labels =
        section("Atom Type Labels").map_or("", |section| std::str::from_utf8(section.text).unwrap_or_default());
    let labels: Vec<String> =
        labels.lines().filter_map(|line| Some(line.split_whitespace().nth(1)?.to_owned())).collect();
    let atoms = Rows { text: atoms.text, line: atoms.line, count, names: names(&columns) };
    let mut step = atoms.step(wanted, cell(&head), &labels)?;
    let mut places = HashMap::new();
    // Rows that belong to atoms by id.
    for (name, columns) in [("Velocities", velocities(style)), ("Ellipsoids", &ELLIPSOIDS)] {
        let Some(section) = section(name) else { continue };
        step.names.extend(names(&columns[1..]));
        let kept: Vec<usize> = (1..columns.len()).filter(|&at| wanted.has(columns[at])).collect();
        if kept.is_empty() {
            continue;
        }
        if places.is_empty() {
            let ids = atoms.read(&[0], &[])?.concat();
            places.extend(ids.iter().enumerate().map(|(i, id)| (id.to_bits(), i)));
        }
        let rows = if name == "Ellipsoids" { count_of(" ellipsoids")? } else { count };
        let rows = Rows { text: section.text, line: section.line, count: rows, names: names(columns) };
        let values = rows.read(&[&[0], &kept[..]].concat(), &[])?;
        let (ids, values) = values.split_first().ok_or_else(damaged)?;
        for (values, &at) in values.iter().zip(&kept) {
            // Atoms without a row have no value.
            let mut column = vec![f64::NAN; count];
            for (value, id) in values.iter().zip(ids) {
                if let Some(&place) = places.get(&id.to_bits()) {
                    column[place] = *value;
                }
            }
            step.columns.push(Column { name: columns[at].to_owned(), values: column });
        }
    }
    if let Some(section) = section("Bonds").filter(|_| wanted.has(BONDS)) {
        if places.is_empty() {
            let ids = atoms.read(&[0], &[])?.concat();
            places.extend(ids.iter().enumerate().map(|(i, id)| (id.to_bits(), i)));
        }
        let names = names(&["id", "bond", "atom1", "atom2"]);
        let rows = Rows { text: section.text, line: section.line, count: count_of(" bonds")?, names };
        let ends = rows.read(&[2, 3], &[])?;
        for (row, pair) in ends[0].iter().zip(&ends[1]).enumerate() {
            let place = |id: &f64| {
                let unknown = || msg!("line {line}: there is no atom {id}", line = section.line + row, id);
                places.get(&id.to_bits()).map(|&i| i as u32).ok_or_else(unknown)
            };
            step.bonds.push([place(pair.0)?, place(pair.1)?]);
        }
    }
    Ok(step)
}
