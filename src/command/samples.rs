//! `polyfly new` and `polyfly scenes`: scenes that are inside the program become files.

use super::convert::grammar_of;
use super::output_file::OutputFile;
use crate::cli::{Failure, NewArgs, ScenesArgs, ScenesCommand};
use crate::error::Error;
use crate::language::{Message, msg};
use crate::quote::printable;
use crate::report::{print, remark};
use crate::scene::builtin::{self, Builtin, SAMPLES, TEMPLATES};
use crate::scene::{self, Grammar, ParseOptions, tokens};
use crate::system::command_word;
use std::path::Path;

pub fn new(args: &NewArgs) -> Result<(), Failure> {
    let is_stdout = args.file.as_os_str() == "-";
    let grammar = if is_stdout { Some(Grammar::Toml) } else { grammar_of(&args.file) };
    let grammar = grammar.ok_or_else(|| {
        Failure::usage(msg!(
            "{name}: expected a file that ends in .toml or, for the coursework's tokens, .txt",
            name = args.file.display()
        ))
    })?;
    let usual = match grammar {
        Grammar::Toml => TEMPLATES[0].name(),
        Grammar::Tokens => "coursework",
    };
    let template = found(TEMPLATES, args.template.as_deref().unwrap_or(usual))?;
    if is_stdout {
        if let Some((name, _)) = template.files().next() {
            let template = template.name();
            remark(msg!(
                "it reads {name}: `polyfly new FILE.toml --template {template}` writes that file too",
                name,
                template
            ));
        }
        return Ok(print(template.text())?);
    }
    let mut text = own_text(template, &args.file)?;
    if grammar == Grammar::Tokens {
        let parsed = scene::parse(&text, template.file, ParseOptions::default())?;
        text = tokens::write(&parsed.scene).map_err(Failure::NotExpressible)?;
    }
    tell(&args.file, &write(template, &args.file, &text, args.overwrite)?);
    Ok(())
}

/// A template's text for a file: its comments name the file, and its frames have a folder of their own.
pub fn own_text(template: &Builtin, file: &Path) -> Result<String, Failure> {
    let name = Path::new(file.file_name().unwrap_or_default());
    let in_shell = |ending| command_word(&printable(&name.with_extension(ending).to_string_lossy()));
    let text = template.text().replace("my.toml", &in_shell("toml")).replace("my.txt", &in_shell("txt"));
    let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    // A name that would be a pattern, or tokens would break, is no folder's.
    if stem.contains(['%', '#']) || stem.contains(char::is_whitespace) {
        return Ok(text);
    }
    let path = scene::keys::kinds::quoted(&format!("output/{stem}/%04d.png"));
    Ok(scene::text::edit::set(&text, "output.path", Some(&path)).map_err(|e| Error::about(stem, e.message()))?)
}

pub fn run(args: &ScenesArgs) -> Result<(), Failure> {
    match &args.command {
        None => {
            let width = SAMPLES.iter().map(|sample| sample.name().len()).max().unwrap_or_default();
            let line = |sample: &Builtin| format!("{:width$}  {}\n", sample.name(), sample.about());
            print(&SAMPLES.iter().map(line).collect::<String>())?;
            remark(msg!(
                "`polyfly scenes copy NAME` writes one into this folder, `polyfly scenes show NAME` prints it"
            ));
            Ok(())
        }
        Some(ScenesCommand::Show { name }) => Ok(print(found(SAMPLES, name)?.text())?),
        Some(ScenesCommand::Copy { name, file, overwrite }) => {
            let sample = found(SAMPLES, name)?;
            let file = match file {
                Some(folder) if folder.is_dir() => folder.join(sample.file),
                Some(file) => file.clone(),
                None => sample.file.into(),
            };
            let grammar = grammar_of(Path::new(sample.file));
            if grammar_of(&file) != grammar {
                let ending = if grammar == Some(Grammar::Toml) { ".toml" } else { ".txt" };
                return Err(Failure::usage(msg!(
                    "{name}: expected a file that ends in {ending}, or a folder",
                    name = file.display(),
                    ending
                )));
            }
            tell(&file, &write(sample, &file, sample.text(), *overwrite)?);
            Ok(())
        }
    }
}

/// The scene of that name. Flags take names of scenes only.
pub fn found<'a>(scenes: &'a [Builtin], name: &str) -> Result<&'a Builtin, Failure> {
    builtin::named(scenes, name).ok_or_else(|| Failure::usage(msg!("there is no scene {name}", name)))
}

/// Writes a scene and the files that it reads beside it, or nothing where one of them exists with another content. Returns their paths.
pub fn write(scene: &Builtin, file: &Path, text: &str, overwrite: bool) -> Result<Vec<String>, Failure> {
    let beside = scene.files().map(|(name, content)| (file.with_file_name(name), content));
    let files = [(file.to_owned(), text.as_bytes())].into_iter().chain(beside);
    let files: Vec<_> = files.map(|(path, bytes)| (path, bytes.into())).collect();
    OutputFile::write_all(&files, overwrite)?;
    Ok(files.iter().map(|(path, _)| path.display().to_string()).collect())
}

// Says what was written, and how it is rendered.
fn tell(file: &Path, written: &[String]) {
    let [scene, film] = [file, &file.with_extension("mp4")].map(|path| command_word(&path.to_string_lossy()));
    remark(msg!(
        "{files}: `polyfly {scene} --frames 0` renders the first frame, `polyfly {scene} --video {film}` the film",
        files = Message::all_of(written),
        scene,
        film
    ));
}
