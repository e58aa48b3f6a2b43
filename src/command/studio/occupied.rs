//! What is in the way of a run of the scene's file, and the ways past it. The page asks which one to go.

use super::document::Document;
use crate::cli::Failure;
use crate::error::Error;
use crate::language::{Message, msg};
use crate::render::RenderOptions;
use crate::run::{Existing, RunRequest};
use crate::scene::Scene;
use crate::scene::text::edit::Edit;
use std::path::Path;

// Numbers that are tried for another folder.
const MAX_NUMBER: u32 = 100;

pub struct Occupied {
    /// What is there.
    pub what: Message,
    /// Whether the run can keep it.
    pub can_resume: bool,
    /// Edits of the scene that give the run another folder; none if the page has other changes, which they would write too.
    pub elsewhere: Vec<Edit>,
}

fn plan(document: &Document, scene: Scene, options: &RenderOptions, existing: Existing) -> Result<(), Error> {
    let request = RunRequest {
        is_checked: true,
        existing,
        replaces_video: existing == Existing::Overwritten,
        options: options.clone(),
        sandbox: document.sandbox(),
        ..RunRequest::new(scene)
    };
    request.plan(&mut ()).map(drop)
}

/// What is in the way of a run; None if nothing is.
///
/// # Errors
/// The run would fail whatever is done with existing files.
pub fn look(document: &Document, options: &RenderOptions) -> Result<Option<Occupied>, Failure> {
    let scene = document.written_scene()?;
    let may = |existing| plan(document, scene.clone(), options, existing);
    let Err(error) = may(Existing::Refused) else { return Ok(None) };
    let can_resume = may(Existing::Kept).is_ok();
    if !can_resume && may(Existing::Overwritten).is_err() {
        return Err(error.into());
    }
    let path = scene.output.files.path(0);
    let path = path.parent().filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new(".")).display();
    let what = match error {
        Error::OtherScene(..) => error.message(),
        _ if can_resume => msg!("{path} has frames of this scene already", path),
        _ => msg!("{path} has frames, or the film, of another run", path),
    };
    let is_free = |edits: &Vec<Edit>| {
        document.saved_scene(edits).is_ok_and(|scene| plan(document, scene, options, Existing::Refused).is_ok())
    };
    let elsewhere =
        (2..MAX_NUMBER).map(|n| document.numbered_output(n)).find(is_free).filter(|_| document.is_written());
    Ok(Some(Occupied { what, can_resume, elsewhere: elsewhere.unwrap_or_default() }))
}
