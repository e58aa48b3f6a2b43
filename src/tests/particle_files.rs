//! Files of particles by the programs that write them (tests/particles/make.py), against what their own readers say of them.

use crate::assets::files::Files;
use crate::assets::particles::{self, ColouredSpheres, FileSteps, Step, Wanted, read_steps};
use crate::scene::Scene;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/particles")
}

// A step as its writer's reader has it: columns by name, and its number.
struct Expected {
    number: Option<u64>,
    columns: BTreeMap<String, Vec<f64>>,
}

fn expected() -> BTreeMap<String, Vec<Expected>> {
    let text = std::fs::read_to_string(folder().join("expected.json")).unwrap();
    let all: BTreeMap<String, Vec<BTreeMap<String, serde_json::Value>>> = serde_json::from_str(&text).unwrap();
    let numbers = |text: &serde_json::Value| {
        let words = text.as_str().unwrap().split_whitespace();
        words.map(|word| word.parse().unwrap()).collect()
    };
    let step = |mut step: BTreeMap<String, serde_json::Value>| Expected {
        number: step.remove("number").and_then(|number| number.as_u64()),
        columns: step.iter().map(|(name, text)| (name.clone(), numbers(text))).collect(),
    };
    all.into_iter().map(|(name, steps)| (name, steps.into_iter().map(step).collect())).collect()
}

fn read(name: &str, bytes: &[u8]) -> Result<Vec<Step>, String> {
    read_steps(&folder().join(name), bytes).map_err(|e| e.to_string())
}

// The columns of a step, with those of positions and radii.
fn columns(step: &Step) -> BTreeMap<String, Vec<f64>> {
    let mut all: BTreeMap<String, Vec<f64>> =
        step.columns.iter().map(|column| (column.name.clone(), column.values.clone())).collect();
    for (axis, name) in ["position.x", "position.y", "position.z"].into_iter().enumerate() {
        all.insert(name.to_owned(), step.positions.iter().map(|p| p[axis]).collect());
    }
    if !step.radii.is_empty() {
        all.insert("radius".to_owned(), step.radii.clone());
    }
    all
}

// Rows in the order of their ids, if there are any: LAMMPS sorts atoms as it reads them.
fn sorted(mut columns: BTreeMap<String, Vec<f64>>) -> BTreeMap<String, Vec<f64>> {
    if let Some(ids) = columns.get("id").cloned() {
        let mut order: Vec<usize> = (0..ids.len()).collect();
        order.sort_by(|&a, &b| ids[a].total_cmp(&ids[b]));
        columns.values_mut().for_each(|values| *values = order.iter().map(|&i| values[i]).collect());
    }
    columns
}

#[test]
fn files_of_other_programs_hold_what_their_own_readers_say() {
    let all = expected();
    assert!(all.len() >= 42, "{}", all.len());
    for (name, steps) in all {
        let all =
            |file: &FileSteps| (0..file.count()).map(|k| file.read(k, &Wanted::all())).collect::<Result<Vec<_>, _>>();
        let read = particles::open(&folder().join(&name), &Files::default(), all).unwrap();
        assert!(read.len() >= steps.len(), "{name}: {} steps", read.len());
        for (i, (step, expected)) in read.iter().zip(steps).enumerate() {
            let (found, expected_columns) = (sorted(columns(step)), sorted(expected.columns));
            assert_eq!(found.contains_key("radius"), expected_columns.contains_key("radius"), "{name}");
            for (column, values) in expected_columns {
                let found = found.get(&column).unwrap_or_else(|| panic!("{name}: no {column} in {:?}", found.keys()));
                let bits = |values: &[f64]| values.iter().map(|x| (x + 0.0).to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(found), bits(&values), "{name}, step {i}, {column}: {found:?}, {values:?}");
            }
            if expected.number.is_some() {
                assert_eq!(step.number, expected.number, "{name}");
            }
        }
    }
}

#[test]
fn files_hold_the_bonds_that_their_writers_gave_them() {
    for (name, expected) in [
        ("bond.data", vec![[1, 2], [2, 5]]),
        ("full.data", vec![[1, 2], [2, 5]]),
        ("atomic.data", Vec::new()),
        ("bonds.gsd", vec![[0, 1], [2, 1], [3, 1]]),
        ("lines.vtp", vec![[0, 1], [1, 2], [3, 0]]),
        ("lines_zlib.vtp", vec![[0, 1], [1, 2], [3, 0]]),
    ] {
        let of = |wanted: Wanted| {
            let step = particles::open(&folder().join(name), &Files::default(), |file| file.read(0, &wanted)).unwrap();
            // By their numbers in the file.
            let ids = step.column(&["id"]).map_or_else(
                || (0..step.count() as u32).collect(),
                |ids| ids.iter().map(|&id| id as u32).collect::<Vec<_>>(),
            );
            step.bonds.iter().map(|pair| pair.map(|i| ids[i as usize])).collect::<Vec<_>>()
        };
        assert_eq!(of(Wanted::all()), expected, "{name}");
        assert_eq!(of(Wanted::only(["id"])), Vec::<[u32; 2]>::new(), "{name}");
    }
    // Each part of a line has the line's value.
    for name in ["lines.vtp", "lines_zlib.vtp"] {
        let step = read(name, &std::fs::read(folder().join(name)).unwrap()).unwrap().remove(0);
        let force = &step.bond_columns[0];
        assert_eq!((force.name.as_str(), &force.values[..]), ("force", &[1.5, 1.5, -3.0][..]));
    }
    let text = std::fs::read_to_string(folder().join("bond.data")).unwrap();
    let fault = read("bond.data", text.replace("\n2 1 2 5\n", "\n2 1 2 55\n").as_bytes()).unwrap_err();
    assert!(fault.contains("line 40: there is no atom 55"), "{fault}");
}

#[test]
fn a_cut_file_is_refused_or_its_steps_are_whole() {
    for name in expected().into_keys().filter(|name| !name.contains('%')) {
        let bytes = std::fs::read(folder().join(&name)).unwrap();
        let whole = read(&name, &bytes).unwrap();
        // Every byte of a small file.
        for cut in (0..bytes.len()).step_by(1 + bytes.len() / 2000) {
            let Ok(steps) = read(&name, &bytes[..cut]) else { continue };
            assert!(steps.len() <= whole.len(), "{name} cut to {cut} bytes");
            for (step, whole) in steps.iter().zip(&whole) {
                // A file may end where its columns do.
                let same = step.columns.iter().all(|column| whole.columns.contains(column));
                assert!(step.positions == whole.positions && same, "{name} cut to {cut} bytes");
                assert!(step.radii.is_empty() || step.radii == whole.radii, "{name} cut to {cut} bytes");
            }
        }
    }
}

#[test]
fn a_promise_of_many_particles_takes_no_memory() {
    for (file, from, to, what) in [
        (
            "custom.dump",
            "ATOMS\n11",
            "ATOMS\n1000000000000000000",
            "LAMMPS dump, step 0: line 25: it ends after 11 whole rows",
        ),
        ("ase.xyz", "3\n", "1000000000000000000\n", "XYZ: line 6: it ends after 3 whole rows"),
        ("full.data", "7 atoms", "1000000000000000000 atoms", "LAMMPS data: line 26: it ends after 7 whole rows"),
        ("grid.vtk", "POINTS 6", "POINTS 1000000000000000000", "VTK: byte 70: `POINTS"),
        ("ascii.vtp", "Points=\"6\"", "Points=\"1000000000000000000\"", "VTK XML: `position` is broken"),
    ] {
        let text = std::fs::read_to_string(folder().join(file)).unwrap();
        assert!(text.contains(from), "{from} in {text}");
        let fault = read("a", text.replacen(from, to, 1).as_bytes()).unwrap_err();
        assert!(fault.contains(what), "{fault}");
    }
    let mut gsd = std::fs::read(folder().join("frames.gsd")).unwrap();
    let index = u64::from_le_bytes(gsd[8..16].try_into().unwrap()) as usize;
    // The rows of all blocks.
    for entry in gsd[index..].chunks_exact_mut(32).take_while(|entry| entry[16..24] != [0; 8]) {
        entry[8..16].copy_from_slice(&(1u64 << 60).to_le_bytes());
    }
    assert!(read("a", &gsd).unwrap_err().contains("a: GSD, step 0: it"));
    let npy = std::fs::read(folder().join("fortran.npy")).unwrap();
    let header = std::str::from_utf8(&npy[10..128]).unwrap().replacen("(7,", "(7000000000000,", 1);
    let header = [&npy[..10], format!("{:<117}\n", header.trim_end()).as_bytes(), &npy[128..]].concat();
    assert!(read("a", &header).unwrap_err().contains("npy: it ends at byte 212"));
}

#[test]
fn a_list_of_time_steps_has_their_times_and_joins_their_pieces() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["pieces_0.vtp", "pieces_1.vtp", "pieces.pvtp", "ascii.vtp"] {
        std::fs::copy(folder().join(name), dir.path().join(name)).unwrap();
    }
    let path = dir.path().join("a.pvd");
    let list = |sets: &str| {
        let text = format!(
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\">\n<Collection>\n{sets}</Collection>\n</VTKFile>\n"
        );
        std::fs::write(&path, &text).unwrap();
        read_steps(&path, text.as_bytes())
    };
    let set = |time: &str, file: &str| format!("<DataSet timestep=\"{time}\" part=\"0\" file=\"{file}\"/>\n");
    let pieces = [set("0.5", "pieces_0.vtp"), set("0.5", "pieces_1.vtp")].concat();
    let steps = list(&[pieces, set("1.5", "pieces.pvtp"), set("2", "ascii.vtp")].concat()).unwrap();
    assert_eq!(steps.iter().map(|step| step.time).collect::<Vec<_>>(), [Some(0.5), Some(1.5), Some(2.0)]);
    assert_eq!((&steps[0].positions, &steps[0].columns), (&steps[1].positions, &steps[1].columns));
    assert_eq!(particles::files_of(&path).len(), 7);
    // Data that changes is other data.
    let fault = |sets: &str| list(sets).unwrap_err().to_string();
    for (sets, what) in [
        (set("0", "../a.vtp"), "cannot read"),
        (set("0", "/etc/passwd"), "it names /etc/passwd, which is not in its folder"),
        (set("0", "a.pvd"), "it is named by files of its own kind"),
        (set("x", "ascii.vtp"), "VTK XML list: line 4: `timestep` is no number"),
        ("<DataSet/>".to_owned(), "line 4: <DataSet> has no `file`"),
        (String::new(), "it names no files: expected <DataSet file"),
        ([set("0", "pieces_0.vtp"), set("0", "ascii.vtp")].concat(), "its pieces have other columns: "),
    ] {
        let found = fault(&sets);
        assert!(found.contains(what), "{found}");
    }
    let packed = std::fs::read_to_string(folder().join("ascii.vtp")).unwrap();
    let packed = packed.replacen("<VTKFile", "<VTKFile compressor=\"vtkOther\"", 1);
    assert!(read("a.vtp", packed.as_bytes()).unwrap_err().contains("it is packed by vtkOther; expected vtkZLib"));
}

#[test]
fn trails_join_the_steps_before_whatever_their_order() {
    let dir = tempfile::tempdir().unwrap();
    // Two particles: in every second step the other one comes first.
    let rows = |step: usize| {
        let row = |id: usize| format!("{id} {} {id} 0 0.5\n", step * id);
        if step.is_multiple_of(2) { row(1) + &row(2) } else { row(2) + &row(1) }
    };
    let head = |step: usize| {
        format!(
            "ITEM: TIMESTEP\n{step}\nITEM: NUMBER OF ATOMS\n2\nITEM: BOX BOUNDS ff ff ff\n0 9\n0 9\n0 9\nITEM: ATOMS id x y z radius\n"
        )
    };
    let dump: String = (0..5).map(|step| head(step) + &rows(step)).collect();
    std::fs::write(dir.path().join("run.dump"), dump).unwrap();
    for step in 2..5 {
        std::fs::write(
            dir.path().join(format!("s{step}.csv")),
            format!("id,x,y,z,r\n{}", rows(step).replace(' ', ",")),
        )
        .unwrap();
    }
    let ends = |keys: &str, frame: u32| {
        let text =
            format!("[output]\nframes = 3\n[particles]\n{keys}\n[particles.trails]\nsteps = 3\nwhere = \"id == 2\"\n");
        let scene = Scene::parse(&text, "a.toml", dir.path()).unwrap().scene;
        let particles = scene.world.particles.unwrap();
        let read = ColouredSpheres::load(&particles, frame, 3, None, &Files::default()).unwrap();
        read.shaped.rods.iter().map(|rod| rod.ends.map(|end| end[0])).collect::<Vec<_>>()
    };
    let expected = [[8.0, 6.0], [6.0, 4.0], [4.0, 2.0]];
    let dump = "path = \"run.dump\"\nfirst = 2\n";
    assert_eq!(ends(dump, 2), expected);
    // The file begins at step 0, and the series at step 2.
    assert_eq!(ends(dump, 0), [[4.0, 2.0], [2.0, 0.0]]);
    assert_eq!(ends("path = \"s%d.csv\"\nfirst = 2\n", 2), expected[..2]);
    assert_eq!(ends("path = \"s*.csv\"\n", 1), expected[1..2]);
    // Every second step; and the way from one to the next.
    assert_eq!(ends("path = \"run.dump\"\nstep = 2\n", 2), [[8.0, 4.0], [4.0, 0.0]]);
    assert_eq!(ends(&format!("{dump}interpolate = 2\n"), 1), [[5.0, 4.0], [4.0, 2.0], [2.0, 0.0]]);
}
