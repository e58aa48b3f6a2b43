//! docs/vectors.txt: the operations of the kernels' own text, compiled for each set, give these bits.

use crate::common::{compiled, text};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

const SETS: [(&str, &[&str]); 5] = [
    ("scalar", &["-DPOLYFLY_LANES=1"]),
    // As GPUs: a reciprocal or a root outside of their domain is NaN.
    ("domain", &["-DPOLYFLY_LANES=1", "-DPOLYFLY_DOMAIN=\"../tests/domain/domain.cuh\""]),
    ("baseline", &["-DPOLYFLY_LANES=4"]),
    ("avx2", &["-DPOLYFLY_LANES=8", "-mavx2", "-mfma"]),
    ("avx512", &["-DPOLYFLY_LANES=16", "-mavx512f", "-mavx512dq", "-mavx512bw", "-mavx512vl"]),
];

#[test]
fn the_kernels_operations_have_the_bits_of_the_vectors() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("docs/vectors.txt");
    // The control: one result of each operation has another last bit.
    let mut changed = BTreeMap::new();
    let file = std::fs::read_to_string(&path).unwrap();
    let mut lines: Vec<String> = file.lines().map(str::to_owned).collect();
    for (number, line) in (1..).zip(&mut lines).take_while(|(_, line)| !line.starts_with("# Frames")) {
        let Some((name, result)) = line.split_once(' ').filter(|_| !line.starts_with('#')) else { continue };
        let last = u32::from_str_radix(result.rsplit(' ').next().unwrap(), 16).unwrap();
        if !changed.contains_key(name) {
            changed.insert(name.to_owned(), number);
            let start = line.rfind(' ').unwrap();
            line.replace_range(start.., &format!(" {:x}", last ^ 1));
        }
    }
    assert_eq!(changed.len(), 23);
    let mut wrong: Vec<u32> = changed.into_values().collect();
    wrong.sort_unstable();
    let folder = tempfile::tempdir().unwrap();
    let control = folder.path().join("control.txt");
    std::fs::write(&control, lines.join("\n")).unwrap();
    for (set, flags) in SETS {
        let is_here = match set {
            #[cfg(target_arch = "x86_64")]
            "avx2" => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            #[cfg(target_arch = "x86_64")]
            "avx512" => is_x86_feature_detected!("avx512vl") && is_x86_feature_detected!("avx512dq"),
            #[cfg(not(target_arch = "x86_64"))]
            "avx2" | "avx512" => false,
            _ => true,
        };
        if !is_here {
            continue;
        }
        let parts = [
            "tests/vectors.cpp",
            "tests/domain/domain.cuh",
            "kernels/operations.cuh",
            "kernels/operations.def",
            "kernels/lane.cuh",
            "kernels/platform.cuh",
        ];
        let made = compiled(&format!("vectors-{set}"), "vectors", &parts, |program| {
            let mut command = Command::new("c++");
            command.args(["-std=c++17", "-O2", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-w"]);
            command.args(flags).arg("-o").arg(program).arg(root.join("tests/vectors.cpp"));
            command
        });
        let check = |file: &Path| {
            let run = Command::new(made.join("vectors")).arg(file).output().unwrap();
            assert!(run.status.success(), "{set}: {}", text(&run.stderr));
            text(&run.stdout).lines().map(|line| line.parse().unwrap()).collect::<Vec<u32>>()
        };
        assert_eq!(check(&path), Vec::<u32>::new(), "{set}: lines of docs/vectors.txt");
        assert_eq!(check(&control), wrong, "{set}: lines that were changed");
    }
}

#[test]
fn roots_and_quotients_are_rounded_correctly_from_what_opencl_promises() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let made = compiled("rounding", "rounding", &["tests/rounding.cpp", "kernels/rounding.cuh"], |program| {
        let mut command = Command::new("c++");
        command.args(["-std=c++17", "-O2", "-ffp-contract=off", "-fno-math-errno"]);
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("fma") {
            command.arg("-mfma");
        }
        command.arg("-o").arg(program).arg(root.join("tests/rounding.cpp"));
        command
    });
    let wrong = |arguments: &[&str]| -> Vec<u32> {
        let run = Command::new(made.join("rounding")).args(arguments).output().unwrap();
        assert!(run.status.success(), "{}", text(&run.stderr));
        text(&run.stdout).split_whitespace().map(|count| count.parse().unwrap()).collect()
    };
    assert_eq!(wrong(&[]), [0, 0, 0], "reciprocals, roots, quotients");
    // The control: from worse approximations some are wrong.
    let control = wrong(&["worse"]);
    assert!(control.len() == 3 && control.iter().all(|&count| count > 0), "{control:?}");
}
