//! The program's jobs, one a file, and what they share. Here, and in cli and report, live the environment, standard
//! streams and signals; the rooms below know none of them.

mod balance;
mod bench;
mod check;
mod convert;
mod doctor;
mod dry_run;
mod farm;
pub(crate) mod generate;
mod hints;
mod machine;
mod missing;
mod page;
mod particles;
mod plots;
mod preview;
mod render;
mod request;
mod shell;
mod stitch;
pub mod stop;
mod studio;
mod usage;
mod verify;

use crate::assets::AssetError;
use crate::cli::{Command, Failure, SceneArgs, home};
use crate::error::Error;
use crate::output::OutputError;
use crate::quote::brief;
use crate::report::{fault, print};
use crate::run::load::read_text;
use crate::run::sandbox::PathSandbox;
use crate::scene::diagnostic::{Colours, Severity, message};
use crate::scene::{self, FilePlace, Grammar, ParseOptions, Parsed, Problem, Problems, Scene};
use crate::threads;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Reads the command line, does the job, turns errors into exit codes.
pub fn main() -> ExitCode {
    stop::listen_early();
    stop::take_own_signals();
    if environment("POLYFLY_TEST_POOLS").is_some() {
        threads::forbid_global_pool();
    }
    let (words, is_quiet) = without_quiet(std::env::args_os().collect());
    let mut cli = match usage::parse(&words) {
        Ok(cli) => cli,
        Err(e) if e.use_stderr() => {
            let (what, help) = usage::translate_error(&e, &words);
            fault(&message(Severity::Error, &what, help.as_deref(), Colours::Styled));
            return ExitCode::from(64);
        }
        // Help and version, on stdout.
        Err(e) => {
            let _ = e.print();
            return ExitCode::SUCCESS;
        }
    };
    if !matches!(cli.command, None | Some(Command::Stitch(_))) {
        stop::end_at_once();
    }
    let defaults = match cli.command {
        None => cli.take_defaults(environment),
        Some(_) => Ok(()),
    };
    if is_quiet || environment("POLYFLY_QUIET").is_some_and(|v| v != "0") {
        cli.be_quiet();
    }
    let result = match (&cli.command, cli.render.default) {
        _ if defaults.is_err() => defaults,
        (Some(Command::Convert(args)), _) => convert::run(args),
        (Some(Command::Check(args)), _) => check::run(args),
        (Some(Command::Preview(args)), _) => preview::run(args),
        (Some(Command::Studio(args)), _) => studio::run(args),
        (Some(Command::Verify(args)), _) => verify::run(args),
        (Some(Command::Bench(args)), _) => bench::run(args),
        (Some(Command::Particles(args)), _) => particles::run(args),
        (Some(Command::Doctor), _) => doctor::run(),
        (Some(Command::Missing(args)), _) => missing::run(args),
        (Some(Command::Stitch(args)), _) => stitch::run(args),
        (Some(Command::Status(args)), _) => missing::status(args),
        (Some(Command::Report(args)), _) => page::run(args),
        (Some(Command::Farm(args)), _) => farm::run(args),
        (Some(Command::Completions(args)), _) => output(&shell::completions(args.shell)),
        (Some(Command::Man), _) => output(&shell::manual()),
        (Some(Command::Schema), _) => output(&shell::schema()),
        (Some(Command::Reference(args)), _) => output(&shell::reference(args.page)),
        (None, Some(grammar)) => output(&scene::builtin::default_scene(grammar.into())),
        (None, None) => render::run(&cli.render),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            let (text, help) = (e.to_string(), e.help());
            fault(&match &e {
                Failure::Library(Error::Scene(problems)) => problems.shown(Severity::Error, Colours::Styled),
                _ => message(Severity::Error, &text, help.as_deref(), Colours::Styled),
            });
            ExitCode::from(e.exit_code())
        }
    }
}

// The words without -q and --quiet, which may stand anywhere, and whether they were there.
fn without_quiet(words: Vec<OsString>) -> (Vec<OsString>, bool) {
    let end = words.iter().position(|w| w == "--").unwrap_or(words.len());
    let is_quiet = |(i, word): (usize, &OsString)| i > 0 && i < end && (word == "-q" || word == "--quiet");
    let rest: Vec<_> = words.iter().enumerate().filter(|w| !is_quiet(*w)).map(|(_, word)| word.clone()).collect();
    let is_there = rest.len() < words.len();
    (rest, is_there)
}

/// A value of the environment; an empty one counts as none.
pub fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|v| !v.is_empty())
}

/// The ffmpeg program, if the user named one: by flag, or in the environment.
fn named_ffmpeg(flag: Option<&Path>) -> Option<PathBuf> {
    flag.map(Path::to_owned).or_else(|| environment("POLYFLY_FFMPEG").map(PathBuf::from))
}

/// A scene's text, for faults that show only when what it names is looked at.
struct SceneText {
    text: String,
    shown: String,
    folder: PathBuf,
}

impl SceneText {
    /// The same error; that of a file which the text names, with the place where it does.
    fn placed(&self, error: impl Into<Failure>) -> Failure {
        let error = error.into();
        let problem = match &error {
            Failure::Library(Error::Asset(asset)) => self.about(asset),
            Failure::Library(Error::Outside { file, place, here_too, .. }) => self.of_outside(file, place, *here_too),
            _ => None,
        };
        problem.map_or(error, |problems| Failure::from(Box::new(problems)))
    }

    // Where the text names a file.
    fn place(&self, file: &Path) -> Option<FilePlace> {
        let home = home();
        let reading = ParseOptions { folder: &self.folder, home: home.as_deref(), ..ParseOptions::default() };
        scene::place_of(&self.text, file, reading)
    }

    fn one(&self, problem: Problem) -> Problems {
        Problems { name: self.shown.clone(), source: self.text.clone(), list: vec![problem] }
    }

    // Something outside of where it may be.
    fn of_outside(&self, file: &Path, key: &str, here_too: bool) -> Option<Problems> {
        let FilePlace { span, name } = self.place(file)?;
        let also = if here_too { " and of this one" } else { "" };
        let what = format!("{} leads outside of the scene's folder{also}", name.unwrap_or_else(|| format!("`{key}`")));
        Some(self.one(Problem::new(span, what, "expected a path inside").help(crate::error::ALLOW_OUTSIDE)))
    }

    /// What is wrong with a file that the text names, where it does.
    fn about(&self, asset: &AssetError) -> Option<Problems> {
        let FilePlace { span, name } = self.place(&asset.path)?;
        let (place, file) = (asset.at.as_ref(), asset.path.display());
        let expected = place.map_or_else(|| file.to_string(), |at| format!("{file}, {at}"));
        let what = name.map_or_else(|| asset.what.clone(), |name| format!("{name}: {}", asset.what));
        let problem = Problem::new(span, what, expected);
        Some(self.one(match &asset.remedy {
            Some(remedy) => problem.help(remedy.as_str()),
            None => problem,
        }))
    }
}

/// Reads a scene and changes it as the flags say.
fn load_scene(name: &str, args: &SceneArgs) -> Result<(Scene, SceneText), Failure> {
    let (text, shown) = scene_text(name)?;
    let folder = if name == "-" { Path::new("") } else { Path::new(name).parent().unwrap_or(Path::new("")) };
    let home = home();
    let reading = ParseOptions { folder, home: home.as_deref(), solids: args.token_solids() };
    let parsed = scene::parse(&text, &shown, reading)?;
    let grammar = parsed.grammar;
    let (written, Parsed { mut scene, warnings, .. }) = match args.set[..] {
        [] => (None, parsed),
        _ => {
            let (text, parsed) = changed(&text, parsed, &shown, reading, &args.set)?;
            (Some(text), parsed)
        }
    };
    if !args.quiet {
        warn_of(&shown, written.as_ref().unwrap_or(&text), warnings);
    }
    let text = SceneText { folder: folder.to_owned(), text, shown };
    if let Some(fence) = PathSandbox::of(name, args.allow_outside) {
        fence.reading(&scene, grammar, args.texture.is_none()).map_err(|e| text.placed(e))?;
    }
    args.override_scene(&mut scene)?;
    Ok((scene, text))
}

/// Says what may not be meant in a text of that name.
fn warn_of(name: &str, text: &str, list: Vec<Problem>) {
    if !list.is_empty() {
        let all = Problems { name: name.to_owned(), source: text.to_owned(), list };
        fault(&all.shown(Severity::Warning, Colours::Styled));
    }
}

// The scene again, with what `--set` says.
fn changed(
    text: &str,
    parsed: Parsed,
    shown: &str,
    reading: ParseOptions,
    changes: &[String],
) -> Result<(String, Parsed), Failure> {
    let (mut text, folder) = match parsed.grammar {
        Grammar::Toml => (text.to_owned(), reading.folder),
        // Its paths are whole already.
        Grammar::Tokens => (parsed.scene.to_toml(), Path::new("")),
    };
    for change in changes {
        let wrong = |why: String| Failure::usage(format!("--set {}: {why}", brief(change)));
        let Some((key, value)) = change.split_once('=') else {
            return Err(wrong("expected KEY=VALUE, such as film.exposure=0.5".into()));
        };
        text = scene::edit::set(&text, key.trim(), Some(value)).map_err(|e| wrong(e.to_string()))?;
    }
    let parsed = scene::parse(&text, &format!("{shown} (as --set has it)"), ParseOptions { folder, ..reading })?;
    Ok((text, parsed))
}

// The text of a scene, and the name to call it by.
fn scene_text(name: &str) -> Result<(String, String), Failure> {
    let shown = if name == "-" { "stdin" } else { name };
    if name == "-" {
        return Ok((read_text(std::io::stdin(), shown)?, shown.into()));
    }
    let file = std::fs::File::open(name).map_err(|e| match usage::job_help(name) {
        Some(help) if e.kind() == std::io::ErrorKind::NotFound => {
            Error::Misused { what: format!("there is no file `{}`", brief(name)), help }
        }
        _ => Error::Read(shown.into(), e),
    })?;
    Ok((read_text(file, shown)?, shown.into()))
}

/// Prints on stdout.
fn output(text: &str) -> Result<(), Failure> {
    print(text).map_err(|e| OutputError::Write("stdout".into(), e).into())
}
