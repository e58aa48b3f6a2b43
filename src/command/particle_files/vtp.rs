//! Particles as VTK's `.vtp`: points with their values, in raw bytes behind the XML.

use crate::assets::particles::{Column, Step};
use std::fmt::Write;

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

// The columns of vectors come together again: three of a name with .x, .y and .z in a row.
fn arrays(step: &Step) -> Vec<(String, usize, Vec<f64>)> {
    let mut all = Vec::new();
    all.extend((!step.radii.is_empty()).then(|| ("radius".to_owned(), 1, step.radii.clone())));
    let mut rest = &step.columns[..];
    while let Some((first, more)) = rest.split_first() {
        let base = first.name.strip_suffix(".x").unwrap_or(&first.name);
        let is_vector = |three: &&[Column; 3]| {
            three.iter().zip(["x", "y", "z"]).all(|(column, axis)| column.name == format!("{base}.{axis}"))
        };
        if let Some([x, y, z]) = rest.first_chunk::<3>().filter(is_vector) {
            let rows = x.values.iter().zip(&y.values).zip(&z.values);
            all.push((base.to_owned(), 3, rows.flat_map(|((x, y), z)| [*x, *y, *z]).collect()));
            rest = &rest[3..];
        } else {
            all.push((first.name.clone(), 1, first.values.clone()));
            rest = more;
        }
    }
    all
}

/// The bytes of a step.
pub fn write(step: &Step) -> Vec<u8> {
    let count = step.count();
    let mut data = Vec::new();
    // A cell for each point, without which VTK shows none. They stand first, so that a file that was cut lacks a value.
    let mut whole = |name: &str, numbers: &mut dyn Iterator<Item = u64>| {
        let offset = data.len();
        data.extend((8 * count as u64).to_le_bytes());
        data.extend(numbers.flat_map(u64::to_le_bytes));
        format!("<DataArray type=\"Int64\" Name=\"{name}\" format=\"appended\" offset=\"{offset}\"/>\n")
    };
    let cells = whole("connectivity", &mut (0..count as u64)) + &whole("offsets", &mut (1..=count as u64));
    let mut array = |name: &str, across: usize, values: &[f64]| {
        let offset = data.len();
        data.extend((8 * values.len() as u64).to_le_bytes());
        data.extend(values.iter().flat_map(|x| x.to_le_bytes()));
        let name = escaped(name);
        format!(
            "<DataArray type=\"Float64\" Name=\"{name}\" NumberOfComponents=\"{across}\" format=\"appended\" offset=\"{offset}\"/>\n"
        )
    };
    let points = array("Points", 3, step.positions.as_flattened());
    let values: String = arrays(step).iter().map(|(name, across, values)| array(name, *across, values)).collect();
    let mut text = String::from(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<PolyData>\n",
    );
    if let Some(time) = step.time {
        // Writing to memory cannot fail.
        let _ = writeln!(
            text,
            "<FieldData><DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">{time}</DataArray></FieldData>"
        );
    }
    let _ = write!(
        text,
        "<Piece NumberOfPoints=\"{count}\" NumberOfVerts=\"{count}\" NumberOfLines=\"0\" NumberOfStrips=\"0\" NumberOfPolys=\"0\">\n\
         <Points>\n{points}</Points>\n<PointData>\n{values}</PointData>\n<Verts>\n{cells}</Verts>\n</Piece>\n</PolyData>\n\
         <AppendedData encoding=\"raw\">\n_"
    );
    [text.as_bytes(), &data, b"\n</AppendedData>\n</VTKFile>\n"].concat()
}
