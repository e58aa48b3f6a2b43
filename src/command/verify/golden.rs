//! `polyfly verify SCENE --golden FILE`: frames against a list of hashes.

use crate::cli::{Failure, VerifyArgs};
use crate::command::scene_file::load_scene;
use crate::language::{count, msg};
use crate::render::{RenderOptions, Renderer};
use crate::report::{print, remark};
use std::path::Path;

pub fn run(args: &VerifyArgs, list: &Path) -> Result<(), Failure> {
    let [name] = &args.scenes[..] else {
        return Err(Failure::usage(msg!("--golden: a list has the hashes of one scene; name one")));
    };
    let (scene, text) = load_scene(name, &args.common, &args.changes)?;
    let frames = args.common.frames.as_ref().map(|_| args.common.frame_list(&scene)).transpose()?;
    let mut renderer = Renderer::prepare(scene, RenderOptions::new()).map_err(|e| text.placed(e))?;
    let wrong = renderer.golden(list, frames.as_ref(), args.bless)?;
    if args.bless {
        remark(msg!("{path}: written", path = list.display()));
        return Ok(());
    }
    for difference in &wrong {
        print(&format!("{}  {}\n", difference.found, difference.frame))?;
    }
    if wrong.is_empty() {
        return Ok(());
    }
    let path = list.display();
    Err(Failure::WrongFrames(vec![
        msg!(
            "{frames} differ from {path}, the first is {first}",
            frames = count!(wrong.len(), "frame", "frames"),
            path,
            first = wrong[0].frame
        ),
        msg!("after a look at them: `polyfly verify {scene} --golden {path} --bless`", scene = name, path),
    ]))
}
