//! Shared by the tests of the program.

use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
#[cfg(unix)]
use std::time::{Duration, Instant};

/// The program, ready to run in a folder. Work outside of its thread pools makes it panic.
pub fn program(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_polyfly"));
    add_args(&mut command, args)
        .current_dir(folder)
        .env_remove("POLYFLY_ISA")
        .env("POLYFLY_TEST_POOLS", "1")
        // Messages are those of no country, whatever the tester's language is.
        .env("LC_ALL", "C")
        .stdin(Stdio::null());
    command
}

/// Adds arguments. `test:segment=7` is no flag: small films would have one segment, and devices would share few frames in one way.
pub fn add_args<'a>(command: &'a mut Command, args: &[&str]) -> &'a mut Command {
    let options: Vec<&str> = args.iter().filter_map(|word| word.strip_prefix("test:")).collect();
    command.args(args.iter().filter(|word| !word.starts_with("test:"))).env("POLYFLY_TEST_OPTIONS", options.join(","))
}

/// The result of a command.
pub fn polyfly(folder: &Path, args: &[&str]) -> Output {
    program(folder, args).output().unwrap()
}

/// A folder with the sample scene in it.
pub fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let (tokens, scene) = (dir.path().join("default.txt"), dir.path().join("scene.toml"));
    std::fs::write(&tokens, polyfly(dir.path(), &["--default"]).stdout).unwrap();
    std::fs::write(scene, polyfly(dir.path(), &["convert", "default.txt", "--look", "plain", "--to", "toml"]).stdout)
        .unwrap();
    std::fs::remove_file(tokens).unwrap();
    dir
}

/// The standard output of a program.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The standard error of a program.
pub fn words(run: &Output) -> String {
    text(&run.stderr)
}

/// Polls until the condition holds.
#[cfg(unix)]
pub fn wait_for(mut what: impl FnMut() -> bool) {
    let start = Instant::now();
    while !what() {
        assert!(start.elapsed() < Duration::from_secs(60), "it never came");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Sends a signal that the child must hear: waiting for one that it ignores would never end.
#[cfg(unix)]
pub fn signal(child: &std::process::Child, name: &str) {
    // Ignored signals, as Linux reports them: SIGHUP is bit 1, SIGINT bit 2.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|l| u64::from_str_radix(l.strip_prefix("SigIgn:")?.trim(), 16).ok());
    assert_eq!(
        ignored.unwrap_or(0) & 3,
        0,
        "the tests were started with SIGINT or SIGHUP ignored (`&` in a script, nohup), and polyfly keeps that"
    );
    let done = Command::new("kill").args(["-s", name, &child.id().to_string()]).status().unwrap();
    assert!(done.success());
}

/// Names in a folder, without polyfly's own files.
pub fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| name != ".polyfly" && name != "manifest.json");
    names.sort();
    names
}

/// Writes a shell script; returns its path. A separate process writes it: a child that another test starts meanwhile would inherit the
/// open file for a moment, and executing the script would fail ("text file busy").
#[cfg(unix)]
pub fn shell_script(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    let write = r#"printf '#!/bin/sh\n%s\n' "$1" >"$0" && chmod 755 "$0""#;
    let written = Command::new("sh").args(["-c", write]).arg(&path).arg(text).status().unwrap();
    assert!(written.success());
    path.display().to_string()
}

/// Names and bytes of the frames in a folder, without hidden files and the manifest.
pub fn frames(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap())
        .map(|e| (e.file_name().to_string_lossy().into_owned(), e.path()))
        .filter(|(name, _)| !name.starts_with('.') && name != "manifest.json")
        .map(|(name, path)| (name, std::fs::read(path).unwrap()))
        .collect();
    files.sort();
    files
}

/// A library of our own making, compiled once for all tests and test runs, and again when its sources have changed. `parts` are the folders and
/// files, below the repository's root, that it is made of.
pub fn compiled(name: &str, library: &str, parts: &[&str], compile: impl FnOnce(&Path) -> Command) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut hash = Sha256::new();
    parts.iter().for_each(|part| hash_sources(&root.join(part), &mut hash));
    let key: String = hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{key}"));
    std::fs::create_dir_all(&folder).unwrap();
    // One process compiles, the others wait for it.
    let lock = std::fs::File::create(folder.join("lock")).unwrap();
    lock.lock().unwrap();
    if !folder.join(library).exists() {
        let unfinished = folder.join("unfinished");
        let status = compile(&unfinished).status().expect("a compiler is needed");
        assert!(status.success(), "{name} does not compile");
        std::fs::rename(unfinished, folder.join(library)).unwrap();
    }
    folder
}

fn hash_sources(path: &Path, hash: &mut Sha256) {
    if path.is_dir() {
        let mut entries: Vec<PathBuf> = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        entries.iter().for_each(|entry| hash_sources(entry, hash));
    } else if path.extension().is_none_or(|extension| extension != "ptx") {
        hash.update(path.as_os_str().as_encoded_bytes());
        hash.update(std::fs::read(path).unwrap());
    }
}
