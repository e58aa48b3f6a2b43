//! Scenes from files and stdin, changed by flags. Errors in files that a scene names get a position in the scene's
//! text.

use super::hint::Hint;
use super::usage;
use crate::assets::source::open_regular;
use crate::assets::{AssetError, particles};
use crate::cli::{CommonArgs, Failure, MissingTexture, SamplesArg, SceneArgs, assignment, home, language, shown};
use crate::error::{Error, outside};
use crate::language::{Message, msg};
use crate::quote::brief;
use crate::report::{fault, is_quiet, warn};
use crate::run::load::read_text;
use crate::run::sandbox::PathSandbox;
use crate::scene::builtin::default_scene;
use crate::scene::text::diagnostic::{Colours, Severity};
use crate::scene::text::tokens;
use crate::scene::{self, FileMention, Grammar, Look, ParseOptions, Parsed, Problem, Problems, Scene};
use crate::threads::shared_pool;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

#[derive(Clone, Default)]
pub struct SceneText {
    pub text: String,
    /// The name in messages.
    pub shown: String,
    /// The folder where relative paths start.
    pub folder: PathBuf,
    /// The look of the scene, once it is read.
    pub look: Option<Look>,
}

// The error about a file of particles that is given as a scene.
fn particles_for_scene(path: &Path) -> Option<Error> {
    let format = shared_pool().ok()?.install(|| particles::format_of(path))?;
    let name = brief(&path.display().to_string());
    Some(Error::misused(
        msg!("`{name}` holds particles ({format}), and no scene", name, format),
        msg!("`polyfly figure {name}` draws them; in a scene [particles] has their `path`", name),
    ))
}

impl SceneText {
    /// Reads a file, or stdin for `-`.
    pub fn read(name: &str) -> Result<SceneText, Failure> {
        if name == "-" {
            let text = read_text(std::io::stdin(), "stdin")?;
            return Ok(SceneText { text, shown: "stdin".into(), ..SceneText::default() });
        }
        SceneText::read_by(name, |path| File::open(path))
    }

    /// Reads a file; refuses a device or a pipe, which might never end.
    pub fn read_regular(name: &str) -> Result<SceneText, Failure> {
        SceneText::read_by(name, open_regular)
    }

    fn read_by(name: &str, open: fn(&Path) -> std::io::Result<File>) -> Result<SceneText, Failure> {
        let file = open(Path::new(name)).map_err(|e| match usage::no_file_help(name) {
            // A scene whose ending was left out is likelier than a job.
            Some(help)
                if e.kind() == std::io::ErrorKind::NotFound && !Path::new(name).with_extension("toml").exists() =>
            {
                Error::misused(msg!("there is no file `{name}`", name = brief(name)), help)
            }
            _ => Error::Read(name.into(), e),
        })?;
        let folder = Path::new(name).parent().unwrap_or(Path::new(""));
        let text = read_text(file, name).map_err(|e| particles_for_scene(Path::new(name)).unwrap_or(e))?;
        Ok(SceneText { text, shown: name.into(), folder: folder.to_owned(), look: None })
    }

    /// Parses the scene. Paths may start with `~`.
    pub fn parse(&self, args: &SceneArgs) -> Result<Parsed, Failure> {
        let read = scene::parse(&self.text, &self.shown, self.options(args));
        read.map_err(|e| particles_for_scene(Path::new(&self.shown)).map_or_else(|| e.into(), Failure::from))
    }
    fn options(&self, args: &SceneArgs) -> ParseOptions<'_> {
        let solids = args.solids.as_slice().try_into().unwrap_or(ParseOptions::SOLIDS);
        let look = args.asked_look();
        ParseOptions { folder: &self.folder, home: home(), solids, look }
    }

    pub fn warn(&self, list: Vec<Problem>) {
        if !list.is_empty() && !is_quiet() {
            fault(&self.problems(list).shown(Severity::Warning, Colours::Styled, language()));
        }
    }

    /// Adds a position to an error about a file that the text names.
    pub fn placed(&self, error: impl Into<Failure>) -> Failure {
        let error = error.into();
        let problems = match &error {
            Failure::Library(Error::Asset(asset)) => self.about(asset),
            Failure::Library(Error::Outside { file, key, here_too, .. }) => self.outside(file, key, *here_too),
            _ => None,
        };
        problems.map_or(error, |problems| Failure::from(Box::new(problems)))
    }

    /// A hint as a sentence, after the line that it is about.
    pub fn hint(&self, hint: &Hint) -> Message {
        let line = hint.element.and_then(|(list, index)| scene::line_of(&self.text, list, index));
        let line = line.map(|line| format!("{}:{line}", self.shown).into());
        Message::list(line.into_iter().chain([hint.what.clone()]), ": ")
    }

    // The position where the text names a file.
    fn mention(&self, file: &Path) -> Option<FileMention> {
        let options = ParseOptions { folder: &self.folder, home: home(), ..ParseOptions::default() };
        scene::mention_of(&self.text, file, options)
    }

    fn problems(&self, list: Vec<Problem>) -> Problems {
        Problems { name: self.shown.clone(), source: self.text.clone(), list }
    }

    // The error about a path outside the sandbox.
    fn outside(&self, file: &Path, key: &str, here_too: bool) -> Option<Problems> {
        let FileMention { span, name } = self.mention(file)?;
        let name = name.unwrap_or_else(|| format!("`{key}`").into());
        let expected = msg!("expected {what}", what = msg!("a path inside"));
        let problem = Problem::new(span, outside(name, here_too), expected)
            .help(msg!("put it inside, or give --allow-outside if you trust the scene"));
        Some(self.problems(vec![problem]))
    }

    // Warns of a missing file, and says what is shown instead.
    fn warn_of_missing(&self, file: &Path, instead: Message) {
        let (what, instead) = (msg!("there is no file `{name}`", name = brief(&file.display().to_string())), instead);
        match self.mention(file) {
            Some(FileMention { span, name }) => {
                let what = Message::list(name.into_iter().chain([what]), ": ");
                self.warn(vec![Problem::new(span, what, instead)]);
            }
            None => warn(Message::list([what, instead], ": ")),
        }
    }

    /// The problem of a file that the text names, with its position.
    pub fn about(&self, asset: &AssetError) -> Option<Problems> {
        let FileMention { span, name } = self.mention(&asset.path)?;
        let what = Message::list(name.into_iter().chain([asset.what.clone()]), ": ");
        let problem = Problem::new(span, what, asset.path.display().to_string());
        Some(self.problems(vec![problem.help(asset.remedy.clone())]))
    }
}

/// Reads a scene, applies the flags, and checks where its files are.
pub fn load_scene(name: &str, common: &CommonArgs, args: &SceneArgs) -> Result<(Scene, SceneText), Failure> {
    let (scene, source, outside) = read_scene(name, common, args)?;
    match outside.into_iter().next() {
        Some(error) => Err(source.placed(error)),
        None => Ok((scene, source)),
    }
}

/// The sample scene with what flags change of it.
pub fn sample_scene(args: &SceneArgs) -> Result<Scene, Failure> {
    let shown = "the sample scene".to_owned();
    let source = SceneText { text: default_scene(Grammar::Tokens, None), shown, ..SceneText::default() };
    Ok(applied(&source, args)?.scene)
}

/// Reads a scene and applies the flags. Also returns an error for each file that the scene must not read.
pub fn read_scene(
    name: &str,
    common: &CommonArgs,
    args: &SceneArgs,
) -> Result<(Scene, SceneText, Vec<Error>), Failure> {
    let source = SceneText::read(name)?;
    let Parsed { scene, grammar, look, .. } = applied(&source, args)?;
    let source = SceneText { look, ..source };
    let sandbox = PathSandbox::of(name, common.allow_outside);
    let outside = sandbox.map(|sandbox| sandbox.reading(&scene, grammar, args.texture.is_none()));
    Ok((scene, source, outside.unwrap_or_default()))
}

// The scene of a text with what flags change of it. Its warnings are shown.
fn applied(source: &SceneText, args: &SceneArgs) -> Result<Parsed, Failure> {
    let parsed = source.parse(args)?;
    let grammar = parsed.grammar;
    let mut changes = args.set.clone();
    // The look of tokens decides what goes with adaptive samples.
    if let (Grammar::Tokens, Some(SamplesArg::Range(min, max))) = (grammar, args.samples) {
        changes.push(format!("render.samples={min}..{max}"));
    }
    let (written, Parsed { mut scene, warnings, look, .. }) = match changes[..] {
        [] => (source.clone(), parsed),
        _ => changed(source, parsed, args, &changes)?,
    };
    written.warn(warnings);
    args.override_scene(&mut scene)?;
    replace_missing(args, &mut scene).into_iter().for_each(|(file, instead)| source.warn_of_missing(&file, instead));
    Ok(Parsed { scene, warnings: Vec::new(), grammar, look })
}

/// Replaces pictures whose files are missing, if `--missing-texture` asks for that. Returns the files, and what is shown
/// instead.
pub fn replace_missing(args: &SceneArgs, scene: &mut Scene) -> Vec<(PathBuf, Message)> {
    let mut missing = BTreeSet::new();
    let is_missing = |e: std::io::Error| matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
    if args.missing_texture == MissingTexture::StandIn {
        scene.visit_files(|_, path| {
            if std::fs::metadata(&*path).is_err_and(is_missing) {
                missing.insert(path.clone());
            }
        });
    }
    missing.into_iter().filter_map(|file| scene.replace_picture(&file).map(|instead| (file, instead))).collect()
}

// Applies assignments of keys and parses the scene again.
fn changed(
    source: &SceneText,
    parsed: Parsed,
    args: &SceneArgs,
    changes: &[String],
) -> Result<(SceneText, Parsed), Failure> {
    let (mut text, folder) = match parsed.grammar {
        Grammar::Toml => (source.text.clone(), source.folder.clone()),
        // Its paths are already resolved. Its look stays a look, which gives way to the keys that are set.
        Grammar::Tokens => {
            let text =
                tokens::in_toml(&source.text, source.options(args)).map_err(|list| Box::new(source.problems(list)))?;
            (text, PathBuf::new())
        }
    };
    for change in changes {
        let (key, value) = assignment(change)?;
        text = scene::text::edit::set(&text, key, Some(value))
            .map_err(|e| Error::about(format!("--set {}", brief(change)), e.message()))?;
    }
    let source =
        SceneText { text, shown: shown(msg!("{name} (as --set has it)", name = source.shown)), folder, look: None };
    let parsed = source.parse(args)?;
    Ok((source, parsed))
}
