//! Hashes of frames in the manifest, and their audit.

use crate::common::{folder, polyfly, program, text, words};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::path::Path;
use std::process::{Command, Output};

const SMALL: [&str; 7] = ["scene.toml", "--size", "32x24", "--samples", "1", "--frames", "0-6"];

fn run(folder: &Path, more: &[&str]) {
    let own: &[&str] = if more.contains(&"--samples") { &SMALL[5..] } else { &SMALL[3..] };
    let run = polyfly(folder, &[&SMALL[..3], own, more].concat());
    assert!(run.status.success(), "{}", words(&run));
}

fn manifest(folder: &Path) -> Value {
    let text = std::fs::read_to_string(folder.join("manifest.json")).unwrap();
    let all: Value = serde_json::from_str(&text).unwrap();
    all["frames"].as_object().unwrap().values().next().unwrap().clone()
}

#[test]
fn the_manifest_has_the_hashes_that_a_run_prints() {
    let dir = folder();
    let printed = polyfly(dir.path(), &[&SMALL[..], &["--hash"]].concat());
    let printed = text(&printed.stdout);
    let expected: Vec<(&str, &str)> = printed.lines().map(|line| line.split_once("  ").unwrap()).collect();
    assert_eq!(expected.len(), 7);
    run(dir.path(), &["-o", "whole/%d.png"]);
    // Two shards, a run that lost a frame, and one whose manifest was not written at its end: the journal knows.
    run(dir.path(), &["-o", "parts/%d.png", "--shard", "1/2"]);
    run(dir.path(), &["-o", "parts/%d.png", "--shard", "2/2", "--resume"]);
    let parts = dir.path().join("parts");
    std::fs::remove_file(parts.join("3.png")).unwrap();
    run(dir.path(), &["-o", "parts/%d.png", "--resume"]);
    run(dir.path(), &["-o", "killed/%d.jpg"]);
    let path = dir.path().join("killed/manifest.json");
    let mut all: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let record = all["frames"].as_object_mut().unwrap().values_mut().next().unwrap();
    record.as_object_mut().unwrap().retain(|key, _| key != "hashes" && key != "root");
    std::fs::write(&path, all.to_string()).unwrap();
    run(dir.path(), &["-o", "killed/%d.jpg", "--resume"]);
    for name in ["whole", "parts", "killed"] {
        let found = manifest(&dir.path().join(name));
        let hashes = found["hashes"].as_object().unwrap();
        assert_eq!(hashes.len(), 7, "{name}");
        assert!(expected.iter().all(|(hash, n)| hashes[*n] == *hash), "{name}: {hashes:?}");
    }
    assert_eq!(manifest(&dir.path().join("whole"))["root"], manifest(&parts)["root"]);
    // The documentation's program computes the root again.
    let root = manifest(&parts)["root"].as_str().unwrap().to_owned();
    assert_eq!(root_by_python(&parts.join("manifest.json")), format!("{root} True\n"));
    let changed =
        std::fs::read_to_string(parts.join("manifest.json")).unwrap().replacen(expected[2].0, expected[3].0, 1);
    std::fs::write(parts.join("other.json"), changed).unwrap();
    assert!(root_by_python(&parts.join("other.json")).ends_with(" False\n"));
}

#[test]
fn a_still_needs_no_hash() {
    let dir = folder();
    let one = program(dir.path(), &[&SMALL[..5], &["--frames", "0", "-o", "still.png"]].concat()).output().unwrap();
    assert!(one.status.success(), "{}", words(&one));
    assert!(!dir.path().join("manifest.json").exists());
}

// Audits a folder: its exit code, and all that it says.
fn audit(folder: &Path, args: &[&str]) -> (i32, String) {
    let run: Output = polyfly(folder, &[&["verify"], args].concat());
    (run.status.code().unwrap(), text(&run.stdout) + &words(&run))
}

// What the program of the documentation prints of a manifest.
fn root_by_python(manifest: &Path) -> String {
    let page = include_str!("../../docs/verify.md");
    let script = page.split("```python\n").nth(1).unwrap().split("```").next().unwrap();
    text(&Command::new("python3").args(["-c", script]).arg(manifest).output().unwrap().stdout)
}

// Writes a manifest as a cheater does, with the root of the hashes that are in it.
fn sign(folder: &Path, mut all: Value) {
    let path = folder.join("manifest.json");
    std::fs::write(&path, all.to_string()).unwrap();
    let root = root_by_python(&path);
    let record = all["frames"].as_object_mut().unwrap().values_mut().next().unwrap();
    record["root"] = root.split(' ').next().unwrap().into();
    std::fs::write(&path, all.to_string()).unwrap();
}

// Changes one byte of a frame's pixels, in a file that has no checksum.
fn flip(file: &Path, at: usize) {
    let mut bytes = std::fs::read(file).unwrap();
    bytes[at] ^= 1;
    std::fs::write(file, bytes).unwrap();
}

#[test]
fn an_audit_finds_wrong_frames() {
    let dir = folder();
    let at = |name: &str| dir.path().join(name);
    run(dir.path(), &["-o", "good/%d.data"]);
    let (code, said) = audit(dir.path(), &["good", "--sample", "100%", "--nonce", "n"]);
    let root = manifest(&at("good"))["root"].as_str().unwrap().to_owned();
    assert!(
        code == 0 && said.contains(&root) && said.contains("7 of 7 frames rendered again, of frames 0-6"),
        "{said}"
    );
    // Other scenes' frames, frames of other numbers and of fewer samples, with manifests that agree with them.
    run(dir.path(), &["-o", "fewer/%d.data", "--samples", "2"]);
    run(dir.path(), &["-o", "other/%d.data", "--set", "body[0].color=tomato"]);
    let faked = |name: &str, change: &dyn Fn(&Path)| {
        let folder = at(name);
        std::fs::create_dir(&folder).unwrap();
        (0..7).for_each(|n| {
            assert!(std::fs::copy(at(&format!("good/{n}.data")), folder.join(format!("{n}.data"))).unwrap() > 0);
        });
        std::fs::copy(at("good/manifest.json"), folder.join("manifest.json")).unwrap();
        change(&folder);
        let (code, said) = audit(dir.path(), &[name, "--sample", "100%"]);
        assert_eq!(code, 70, "{name}: {said}");
        let (code, tiles) = audit(dir.path(), &[name, "--sample", "100%", "--tiles"]);
        assert!(code == 70 && tiles.contains("28 of 28 tiles"), "{name}: {tiles}");
        said
    };
    let copy = |from: &str, to: &Path| assert!(std::fs::copy(at(from), to).unwrap() > 0);
    let lie = |folder: &Path, n: &str, hash: &Value| {
        let text = std::fs::read_to_string(folder.join("manifest.json")).unwrap();
        let mut all: Value = serde_json::from_str(&text).unwrap();
        let record = all["frames"].as_object_mut().unwrap().values_mut().next().unwrap();
        record["hashes"][n] = hash.clone();
        sign(folder, all);
    };
    let said = faked("flipped", &|folder| flip(&folder.join("5.data"), 8 + 4 * (17 + 32 * 18)));
    assert!(said.contains("5.data: its pixels are not those of the manifest"), "{said}");
    assert!(said.contains("1 pixels are wrong; the first is (17, 18), in tile (1, 1)"), "{said}");
    let said = faked("number", &|folder| copy("good/2.data", &folder.join("4.data")));
    assert!(said.contains("4.data: its pixels are not those of the manifest, but those of frame 2"), "{said}");
    for (name, from) in [("samples", "fewer"), ("scene", "other")] {
        let said = faked(name, &|folder| {
            copy(&format!("{from}/3.data"), &folder.join("3.data"));
            lie(folder, "3", &manifest(&at(from))["hashes"]["3"]);
        });
        assert!(said.contains("3.data: the manifest's hash is not that of the scene's frame"), "{said}");
        assert!(said.contains("1 wrong") && !said.contains("2.data"), "{said}");
    }
    let said = faked("black", &|folder| {
        let mut bytes = std::fs::read(folder.join("0.data")).unwrap();
        bytes[8..].fill(0);
        std::fs::write(folder.join("0.data"), bytes).unwrap();
    });
    assert!(said.contains("the first is (0, 0)"), "{said}");
    // Which of two folders is right.
    let (code, said) = audit(dir.path(), &["good", "samples", "--sample", "0%"]);
    assert!(code == 70 && said.contains("disagree about frames 3") && !said.contains("good/3.data"), "{said}");
    assert!(audit(dir.path(), &["good", "other"]).0 == 65);
    // Another root, another scene, and a scene's own file.
    let text = std::fs::read_to_string(at("flipped/manifest.json")).unwrap().replace(&root, &"0".repeat(64));
    std::fs::write(at("flipped/manifest.json"), text).unwrap();
    assert!(audit(dir.path(), &["flipped"]).1.contains("`root`"));
    let flags = ["--scene", "scene.toml", "--size", "32x24", "--samples"];
    assert_eq!(audit(dir.path(), &[&["good", "--frames", "2-3"], &flags[..], &["1"]].concat()).0, 0);
    assert_eq!(audit(dir.path(), &[&["good", "--frames", "2-3"], &flags[..], &["2"]].concat()).0, 65);
}

#[test]
fn files_with_loss_are_rendered_and_encoded_again() {
    let dir = folder();
    for format in ["jpg", "exr"] {
        run(dir.path(), &["-o", &format!("{format}/%d.{format}")]);
        assert_eq!(audit(dir.path(), &[format, "--sample", "50%"]).0, 0);
        let at = |n: u32| dir.path().join(format!("{format}/{n}.{format}"));
        std::fs::copy(at(1), at(2)).unwrap();
        let (code, said) = audit(dir.path(), &[format, "--frames", "2"]);
        assert!(code == 70 && said.contains("pixels are wrong"), "{format}: {said}");
    }
}

#[test]
fn a_film_without_loss_has_the_frames() {
    let dir = folder();
    for (film, more) in [("f.y4m", &[][..]), ("f.mkv", &["--codec", "ffv1", "--overwrite"])] {
        run(dir.path(), &[&["-o", "frames/%d.png", "--video", film], more].concat());
        let (code, said) = audit(dir.path(), &["frames", film, "--sample", "0%"]);
        assert_eq!(code, 0, "{said}");
    }
    let mut raw = std::fs::read(dir.path().join("f.y4m")).unwrap();
    let last = raw.len() - 1;
    raw[last] ^= 1;
    std::fs::write(dir.path().join("f.y4m"), &raw).unwrap();
    let (code, said) = audit(dir.path(), &["frames", "f.y4m", "--sample", "0%"]);
    assert!(code == 70 && said.contains("f.y4m, frame 6: its pixel (30, 22)"), "{said}");
    run(dir.path(), &["-o", "frames/%d.png", "--video", "lossy.mp4", "--resume"]);
    let (code, said) = audit(dir.path(), &["frames", "lossy.mp4", "--sample", "0%"]);
    assert!(code == 64 && said.contains("with loss"), "{said}");
    assert!(audit(dir.path(), &["lossy.mp4"]).0 == 64 && audit(dir.path(), &["frames", "scene.toml"]).0 == 64);
}

#[test]
fn golden_hashes_have_no_tolerance() {
    let dir = folder();
    let golden = |more: &[&str]| {
        let flags = ["scene.toml", "--golden", "golden.txt", "--size", "32x24", "--samples", "1"];
        audit(dir.path(), &[&flags[..], more].concat())
    };
    let (code, said) = golden(&["--frames", "0"]);
    assert!(code == 74 && said.contains("golden.txt"), "{said}");
    assert_eq!(golden(&["--frames", "0,5", "--bless"]).0, 0);
    assert_eq!(golden(&["--frames", "6", "--bless"]).0, 0);
    let list = std::fs::read_to_string(dir.path().join("golden.txt")).unwrap();
    let printed = text(&polyfly(dir.path(), &[&SMALL[..5], &["--frames", "0,5,6", "--hash"]].concat()).stdout);
    assert_eq!(list.split_once('\n').unwrap().1, printed);
    assert_eq!(golden(&[]).0, 0);
    let (code, said) = golden(&["--set", "camera.fov_deg=61"]);
    assert!(code == 70 && said.contains("3 frames differ from golden.txt, the first is 0"), "{said}");
    assert_eq!(golden(&["--frames", "4"]).0, 70, "the list has no such frame");
    std::fs::write(dir.path().join("golden.txt"), "# list\n12 0\n").unwrap();
    let (code, said) = golden(&[]);
    assert!(code == 65 && said.contains("line 2"), "{said}");
}

#[test]
fn a_signature_is_over_the_root() {
    let dir = folder();
    run(dir.path(), &["-o", "f/%d.png"]);
    for name in ["key", "other"] {
        let made = Command::new("ssh-keygen")
            .args(["-q", "-t", "ed25519", "-N", "", "-f"])
            .arg(dir.path().join(name))
            .status();
        // Not all machines have it.
        let Ok(made) = made else { return };
        assert!(made.success());
    }
    let verify = |more: &[&str]| audit(dir.path(), &[&["f", "--sample", "0%"], more].concat());
    let (code, said) = verify(&["--signed-by", "key.pub"]);
    assert!(code == 70 && said.contains("no signature"), "{said}");
    assert_eq!((verify(&["--sign", "key"]).0, verify(&["--sign", "other"]).0), (0, 0));
    let line = std::fs::read_to_string(dir.path().join("key.pub")).unwrap();
    assert_eq!((verify(&["--signed-by", "key.pub"]).0, verify(&["--signed-by", &line]).0), (0, 0));
    let printed = Command::new("ssh-keygen").arg("-lf").arg(dir.path().join("key.pub")).output().unwrap();
    let path = dir.path().join("f/manifest.intoto.jsonl");
    let signed = std::fs::read_to_string(&path).unwrap();
    assert!(
        signed.lines().count() == 2 && signed.contains(text(&printed.stdout).split(' ').nth(1).unwrap()),
        "{signed}"
    );
    // A changed signature, another root, a key that is none.
    std::fs::write(&path, signed.replacen("\"sig\":\"", "\"sig\":\"AAAA", 1)).unwrap();
    assert!(verify(&["--signed-by", "key.pub"]).1.contains("invalid"));
    assert_eq!(verify(&["--signed-by", "other.pub"]).0, 0);
    std::fs::write(&path, signed).unwrap();
    std::fs::remove_file(dir.path().join("f/6.png")).unwrap();
    let frames = ["scene.toml", "--size", "32x24", "--samples", "1", "-o", "f/%d.png", "--frames", "6-7", "--resume"];
    assert!(polyfly(dir.path(), &frames).status.success());
    assert!(verify(&["--signed-by", "key.pub"]).1.contains("another root"));
    let (code, said) = verify(&["--sign", "key.pub"]);
    assert!(code == 65 && said.contains("no private key"), "{said}");
    assert_eq!(verify(&["--signed-by", "scene.toml"]).0, 65);
}

// Three of four workers are honest. The fourth one renders other frames than it says, and writes hashes that agree with them.
#[test]
fn a_worker_that_lies_is_named() {
    let dir = folder();
    let at = |name: &str| dir.path().join(name);
    let part = |k: u32| format!("{k}/4");
    let flags = ["scene.toml", "-q", "--size", "32x24", "--frames", "0-31", "-o", "farm/%d.data", "--samples", "2"];
    let workers: Vec<_> = (1..=4)
        .map(|k| {
            program(dir.path(), &[&flags[..], &["--shard", &part(k), "--resume"]].concat())
                .stdout(std::process::Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    let liar = workers[2].id();
    for mut worker in workers {
        assert!(worker.wait().unwrap().success());
    }
    let (code, said) = audit(dir.path(), &["farm", "--sample", "50%"]);
    assert!(code == 0 && said.matches("8 frames\t4 of 8").count() == 4, "{said}");
    // Old frames are those of the scene before its last change.
    for (lie, change) in [("samples", ["--samples", "1"]), ("old", ["--set", "camera.fov_deg=59.5"])] {
        let own: &[&str] = if lie == "samples" { &flags[..8] } else { &flags };
        let pattern = format!("{lie}/%d.data");
        let own: Vec<&str> = own.iter().map(|word| if *word == "farm/%d.data" { &*pattern } else { *word }).collect();
        assert!(polyfly(dir.path(), &[&own[..], &change, &["--shard", "3/4"]].concat()).status.success());
    }
    std::fs::create_dir(at("bits")).unwrap();
    for n in 16..24 {
        std::fs::copy(at(&format!("farm/{n}.data")), at(&format!("bits/{n}.data"))).unwrap();
        flip(&at(&format!("bits/{n}.data")), 8 + 4 * (n + 32 * 7) + 1);
    }
    let honest = std::fs::read_to_string(at("farm/manifest.json")).unwrap();
    for lie in ["samples", "old", "bits"] {
        let mut all: Value = serde_json::from_str(&honest).unwrap();
        let record = all["frames"].as_object_mut().unwrap().values_mut().next().unwrap();
        for n in 16..24 {
            let bytes = std::fs::read(at(&format!("{lie}/{n}.data"))).unwrap();
            std::fs::write(at(&format!("farm/{n}.data")), &bytes).unwrap();
            let hash: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
            record["hashes"][n.to_string()] = hash.into();
        }
        sign(&at("farm"), all);
        let (code, said) = audit(dir.path(), &["farm", "--sample", "25%"]);
        assert!(code == 70 && said.contains("8 frames\t2 of 8 frames"), "{lie}: {said}");
        let named = format!("-{liar}): the manifest's hash is not that of the scene's frame");
        assert_eq!((said.matches(&named).count(), said.matches("\t2 wrong\t").count()), (2, 1), "{lie}: {said}");
        assert_eq!(said.matches("\t0 wrong\t").count(), 3, "{lie}: {said}");
    }
}

#[test]
fn a_soak_counts_the_frames_of_each_device() {
    let dir = folder();
    let soak = polyfly(dir.path(), &["doctor", "--soak", "0s"]);
    let said = text(&soak.stdout);
    assert!(soak.status.success() && said.lines().count() >= 2, "{said}{}", words(&soak));
    assert!(said.lines().all(|line| line.ends_with("\t3 frames\t0 wrong")), "{said}");
    assert_eq!(polyfly(dir.path(), &["doctor", "--soak", "10"]).status.code(), Some(64));
}
