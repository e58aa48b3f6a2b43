//! Makes the page's pictures: a draft while something moves, then better and better ones; a picture that nobody waits for any more is
//! given up.

use crate::cancel::Cancel;
use crate::cli::Failure;
use crate::error::Error;
use crate::film::image::Image;
use crate::math::vec3::{add, length, scale, sub};
use crate::render::{RenderOptions, Renderer};
use crate::scene::{Scene, Viewpoint};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

// Bounces of a draft.
const DRAFT_DEPTH: u32 = 6;
// A draft's sides may be this many times shorter.
const MAX_SHORTER: u32 = 8;

/// Samples of each level of refinement, as the scene says them: the first is the draft's, the last the scene's own.
pub fn levels(scene: &Scene) -> Vec<u32> {
    let own = scene.render.own_samples();
    let mut levels = vec![1];
    if scene.render.integrator.capabilities().random_samples {
        levels.extend([4, 16, 64, 256, 1024, 4096].into_iter().filter(|&n| n < own));
    }
    if own > 1 || scene.render.depth > DRAFT_DEPTH || scene.render.sampling.is_adaptive() {
        levels.push(own);
    }
    levels
}

/// A picture that is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct PreviewRequest {
    /// Who asks: a later wish of the same page takes the place of an earlier one.
    pub page: String,
    pub frame: u32,
    /// How good: a place in [`levels`].
    pub level: usize,
    /// How many times shorter its sides are.
    pub shorter: u32,
    /// From where; the scene's own camera if nothing is said.
    pub view: Option<Viewpoint>,
}

/// A picture that was made.
pub struct Preview {
    pub image: Image<u8>,
    pub version: u64,
    pub rays: u64,
    pub ms: f64,
    pub is_best: bool,
    /// What it was seen from.
    pub view: Viewpoint,
    /// Names of the devices that rendered it.
    pub devices: Vec<String>,
}

// What is being painted, so that a later wish can end it.
struct Current {
    page: String,
    cancel: Cancel,
}

/// Paints one picture at a time.
pub struct PreviewRenderer {
    options: RenderOptions,
    easel: Mutex<RendererCache>,
    current: Mutex<Option<Current>>,
    // The newest wish of each page.
    newest: Mutex<HashMap<String, u64>>,
}

#[derive(Default)]
struct RendererCache {
    version: u64,
    base: Option<Renderer>,
    // By level and size.
    variants: HashMap<(usize, u32), Renderer>,
}

impl PreviewRenderer {
    /// A painter on those devices.
    pub fn new(options: RenderOptions) -> PreviewRenderer {
        PreviewRenderer { options, easel: Mutex::default(), current: Mutex::default(), newest: Mutex::default() }
    }

    /// Paints; None where a later wish of the same page has come.
    ///
    /// # Errors
    /// A file that the scene names is missing or broken; devices that fail.
    pub fn paint(&self, scene: &Scene, version: u64, wish: &PreviewRequest) -> Result<Option<Preview>, Failure> {
        let number = {
            let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
            // Pages come and go.
            if newest.len() > 1000 {
                newest.clear();
            }
            let number = newest.entry(wish.page.clone()).or_default();
            *number += 1;
            *number
        };
        if let Some(current) = &*self.current.lock().unwrap_or_else(PoisonError::into_inner)
            && current.page == wish.page
        {
            current.cancel.abandon();
        }
        let is_newest = || {
            let newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
            newest.get(&wish.page).is_none_or(|n| *n == number)
        };
        let mut easel = self.easel.lock().unwrap_or_else(PoisonError::into_inner);
        if !is_newest() {
            return Ok(None);
        }
        let levels = levels(scene);
        let level = wish.level.min(levels.len() - 1);
        let renderer = easel.renderer(scene, version, &self.options, (&levels, level), wish)?;
        let frame = wish.frame.min(scene.output.frames - 1);
        let view = wish.view.unwrap_or_else(|| Viewpoint::of(&scene.camera, frame, scene.output.frames));
        renderer.set_camera(wish.view.map_or_else(|| scene.camera.clone(), |view| view.camera(&scene.camera)));
        let cancel = Cancel::new();
        renderer.set_cancel(cancel.clone());
        let current = Current { page: wish.page.clone(), cancel };
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = Some(current);
        // A wish that came before this could be ended.
        let made = if is_newest() { Some(renderer.watched_still(frame)) } else { None };
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let devices = renderer.device_names();
        match made {
            None | Some(Err(Error::Interrupted { .. })) => Ok(None),
            Some(Err(e)) => Err(e.into()),
            Some(Ok((image, stats))) => Ok(Some(Preview {
                image,
                version,
                rays: stats.rays,
                ms: stats.time.as_secs_f64() * 1e3,
                is_best: level + 1 == levels.len() && wish.shorter <= 1,
                view,
                devices,
            })),
        }
    }
}

impl RendererCache {
    fn renderer(
        &mut self,
        scene: &Scene,
        version: u64,
        options: &RenderOptions,
        (levels, level): (&[u32], usize),
        wish: &PreviewRequest,
    ) -> Result<&mut Renderer, Failure> {
        // What is far depends on how far the eye goes.
        let origin = self.base.as_ref().map_or([0.0; 3], |base| base.device_scene().origin);
        let reach = |scene: &Scene| scene.camera.path.reach(origin);
        let far = wish.view.map_or(0.0, |view| length(sub(view.eye, origin)));
        let is_known = self.version == version
            && self.base.as_ref().is_some_and(|base| match wish.view {
                Some(_) => far <= reach(base.scene()),
                // The very picture of a run.
                None => base.scene().camera == scene.camera,
            });
        if !is_known {
            self.variants.clear();
            let mut scene = scene.clone();
            if let Some(mut view) = wish.view.filter(|_| far > reach(&scene)) {
                view.eye = add(origin, scale(sub(view.eye, origin), 4.0));
                scene.camera = view.camera(&scene.camera);
            }
            self.base = Some(Renderer::prepare(scene, options.clone())?);
            self.version = version;
        }
        let Some(base) = &self.base else { return Err(Failure::usage("there is no scene".into())) };
        let shorter = wish.shorter.clamp(1, MAX_SHORTER);
        let is_draft = level == 0 && levels.len() > 1;
        let is_own = level + 1 == levels.len();
        Ok(self.variants.entry((level, shorter)).or_insert_with(|| {
            base.varied(|scene| {
                let render = &mut scene.render;
                (render.width, render.height) = (render.width.div_ceil(shorter), render.height.div_ceil(shorter));
                if !is_own {
                    render.set_samples(levels[level]);
                }
                if is_draft {
                    render.depth = render.depth.min(DRAFT_DEPTH);
                    scene.camera.shutter = 0.0;
                }
            })
        }))
    }
}
