//! `polyfly figure PICTURE --again`: makes a figure once more from the scene that it carries, and says whether it is the same.

use crate::assets::source::read_regular;
use crate::cli::{Failure, FigureArgs, RenderArgs};
use crate::command::render;
use crate::command::scene_file::SceneText;
use crate::error::Error;
use crate::language::{Message, msg};
use crate::output::documents;
use crate::output::formats::Format;
use crate::output::{NameFile, OutputError};
use crate::report::print;
use crate::scene::Scene;
use crate::system::extension;
use std::path::{Path, PathBuf};

// What a figure says of itself: the line of the program, the frame and the hash, those of its data, and the scene.
struct Carried {
    text: String,
    frame: u32,
}

impl Carried {
    fn of(path: &Path) -> Result<Carried, Failure> {
        let read = |path: &Path| match documents::origin(&extension(path)) {
            Some(origin) => Ok(origin(&read_regular(path)?)),
            None => Format::of_file(path).map_or(Ok(None), |format| format.origin(path)),
        };
        let name = path.display();
        let text = read(path).map_err(|e| OutputError::Read(path.to_owned(), e))?;
        let frame = |text: &str| {
            let line = text.lines().next()?;
            line.split_once(", frame ")?.1.split_once(' ')?.0.parse().ok()
        };
        let found = text.and_then(|text| Some(Carried { frame: frame(&text)?, text }));
        found.ok_or_else(|| {
            Error::Usage(msg!("{name}: it carries no scene; figures of polyfly do, as .png, .exr, .pdf and .svg", name))
                .into()
        })
    }
    // The SHA-256 of the data.
    fn sums(&self) -> Vec<&str> {
        self.text.lines().filter(|line| line.starts_with("# SHA-256 of")).collect()
    }
}

pub fn run(args: &FigureArgs, mut all: RenderArgs) -> Result<(), Failure> {
    let path = Path::new(&args.file);
    let old = Carried::of(path)?;
    let name = path.display();
    // The scene has the data's name without its folder: that of the figure, or this one.
    let source = |folder: &Path| {
        let shown = msg!("the scene of {name}", name).to_string();
        SceneText { text: old.text.clone(), shown, folder: folder.to_owned(), ..SceneText::default() }
    };
    let data = |scene: &Scene| scene.world.particles.as_ref().map(|particles| particles.file(old.frame));
    let mut found = None;
    for folder in [path.parent().unwrap_or(Path::new("")), Path::new("")] {
        let text = source(folder);
        let scene = text.parse(&Default::default())?.scene;
        let is_there = data(&scene).is_none_or(|file| file.exists());
        if is_there || found.is_none() {
            found = Some((text, scene));
        }
        if is_there {
            break;
        }
    }
    let Some((text, scene)) = found else { return Ok(()) };
    let shown: PathBuf = data(&scene).unwrap_or_default();
    let folder = tempfile::tempdir().map_err(|e| OutputError::Read(PathBuf::from("tmp"), e))?;
    let made = folder.path().join(path.file_name().unwrap_or_default());
    all.output = Some(made.display().to_string());
    all.common.frames = Some(old.frame.to_string());
    render::write_quietly(&all, scene, &text)?;
    let new = Carried::of(&made)?;
    let read = |path: &Path| read_regular(path).reading(path);
    let different = |what: Message| Err(Failure::PicturesDiffer(what));
    if old.sums() != new.sums() {
        return different(msg!("{name}: its data has changed: {file}", name, file = shown.display()));
    }
    if read(path)? == read(&made)? {
        return Ok(print(&(msg!("{name}: the same to the byte", name).to_string() + "\n"))?);
    }
    let by =
        |text: &str| text.lines().next().and_then(|line| line.split(',').next()).unwrap_or_default().replace("# ", "");
    different(msg!(
        "{name}: its data is the same, and its bytes are others: {old} made it, this is {new}",
        name,
        old = by(&old.text),
        new = by(&new.text)
    ))
}
