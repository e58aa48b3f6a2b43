//! Tables of particles as text: CSV, or columns between white space.

use super::set::ParticleSet;
use crate::assets::error::AssetError;
use crate::quote::brief;
use std::path::Path;

/// Whether a file of that name is a table, and not a file of the `sphere` code.
pub fn is_table(path: &Path) -> bool {
    let extension = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
    matches!(extension.as_deref(), Some("csv" | "xyzr" | "txt"))
}

// The names of columns.
const NAMES: [&[&str]; 8] = [&["x"], &["y"], &["z"], &["r", "radius"], &["vx"], &["vy"], &["vz"], &["p", "pressure"]];

/// Reads columns by name (x, y, z, r or radius, vx, vy, vz, p or pressure) if the first line has words, else x y z r.
pub fn read_table(path: &Path, bytes: &[u8]) -> Result<ParticleSet, AssetError> {
    let broken = |what: String| AssetError::new(path, what);
    let text = std::str::from_utf8(bytes).map_err(|e| broken(format!("byte {}: expected text", e.valid_up_to())))?;
    let first = text.lines().find(|l| !l.trim().is_empty() && !l.starts_with('#')).unwrap_or("");
    let delimiter = [',', ';'].into_iter().find(|&d| first.contains(d));
    // Columns between white space; several blanks count as one.
    let clean: String;
    let input = match delimiter {
        Some(_) => text,
        None => {
            clean = text.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ") + "\n").collect();
            &clean
        }
    };
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .delimiter(delimiter.map_or(b' ', |d| d as u8))
        .trim(csv::Trim::All)
        .comment(Some(b'#'))
        .flexible(true)
        .from_reader(input.as_bytes());
    let mut columns: Option<[Option<usize>; 8]> = None;
    let (mut set, mut lines) = (ParticleSet::default(), Vec::new());
    for record in reader.records() {
        let record = record.map_err(|e| broken(e.to_string()))?;
        let line = record.position().map_or(0, csv::Position::line);
        if record.iter().all(str::is_empty) {
            continue;
        }
        if columns.is_none() {
            let has_names = record.iter().any(|w| w.parse::<f64>().is_err());
            let find = |names: &[&str]| record.iter().position(|w| names.contains(&w.to_ascii_lowercase().as_str()));
            let plain = [Some(0), Some(1), Some(2), Some(3), None, None, None, None];
            let found = if has_names { NAMES.map(find) } else { plain };
            if found[..4].iter().any(Option::is_none) {
                return Err(broken(format!("line {line}: expected columns x, y, z and r (or radius)")));
            }
            columns = Some(found);
            if has_names {
                continue;
            }
        }
        let Some(columns) = &columns else { continue };
        let value = |c: usize| -> Result<Option<f64>, AssetError> {
            let Some(at) = columns[c] else { return Ok(None) };
            let name = NAMES[c][0];
            let word =
                record.get(at).ok_or_else(|| broken(format!("line {line}: it has no `{name}` (column {})", at + 1)))?;
            let x = word.parse().map_err(|_| {
                broken(format!("line {line}, column {}: `{}` is not a number for `{name}`", at + 1, brief(word)))
            })?;
            Ok(Some(x))
        };
        let all = [value(0)?, value(1)?, value(2)?, value(3)?, value(4)?, value(5)?, value(6)?, value(7)?];
        if let [Some(x), Some(y), Some(z), Some(r), ..] = all {
            set.positions.push([x, y, z]);
            set.radii.push(r);
            lines.push(line);
        }
        if let [_, _, _, _, Some(x), Some(y), Some(z), _] = all {
            set.velocities.push([x, y, z]);
        }
        set.pressures.extend(all[7]);
    }
    set.check(path, |i| format!("line {}", lines[i]))
}
