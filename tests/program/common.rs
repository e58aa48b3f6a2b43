//! What tests of the program share.

use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The program, about to run in a folder.
pub fn program(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_polyfly"));
    command.args(args).current_dir(folder).env_remove("POLYFLY_ISA").stdin(Stdio::null());
    command
}

/// What became of it.
pub fn polyfly(folder: &Path, args: &[&str]) -> Output {
    program(folder, args).output().unwrap()
}

/// A folder with the sample scene in it.
pub fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let scene = polyfly(dir.path(), &["--default", "toml"]).stdout;
    std::fs::write(dir.path().join("scene.toml"), scene).unwrap();
    dir
}

/// What a program has printed.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What it has said beside that.
pub fn words(run: &Output) -> String {
    text(&run.stderr)
}
