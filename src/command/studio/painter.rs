//! Makes the page's pictures: a draft while something moves, then better and better ones; a picture that nobody waits for any more is
//! given up.

use crate::cancel::Cancel;
use crate::cli::Failure;
use crate::error::Error;
use crate::film::image::Image;
use crate::math::vec3::{add, length, scale, sub};
use crate::render::stats::ms;
use crate::render::{RenderOptions, Renderer};
use crate::scene::{Scene, Viewpoint};
use crate::threads::lock;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Mutex;

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

#[derive(Deserialize)]
pub struct PreviewRequest {
    /// Who asks: a later wish of the same page takes the place of an earlier one.
    page: String,
    frame: u32,
    /// The level of refinement: an index into [`levels`].
    level: usize,
    /// By how much the sides are divided.
    shorter: Option<u32>,
    /// The camera, as [`viewpoint`] reads it; the scene's own if not given.
    view: Option<String>,
}

/// Seven numbers: the eye, the point that it looks at, the field of view.
pub fn viewpoint(text: &str) -> Result<Viewpoint, Failure> {
    let numbers: Vec<f64> = text.split(',').map(str::parse).collect::<Result<_, _>>().unwrap_or_default();
    match numbers[..] {
        [a, b, c, d, e, f, fov_deg]
            if numbers.iter().all(|x| x.is_finite() && x.abs() < 1e12) && fov_deg > 0.0 && fov_deg < 180.0 =>
        {
            Ok(Viewpoint { eye: [a, b, c], look_at: [d, e, f], fov_deg })
        }
        _ => Err(Failure::usage("view: expected seven numbers")),
    }
}

/// Paints one picture at a time.
pub struct PreviewRenderer {
    options: RenderOptions,
    cache: Mutex<RendererCache>,
    wishes: Mutex<Wishes>,
}

#[derive(Default)]
struct Wishes {
    // The number of each page's newest.
    newest: HashMap<String, u64>,
    // The page whose picture is being painted, and what ends that.
    current: Option<(String, Cancel)>,
}

impl Wishes {
    // A number for a page's wish, whose earlier one is given up.
    fn add(&mut self, page: &str) -> u64 {
        if let Some((_, cancel)) = self.current.as_ref().filter(|(of, _)| of == page) {
            cancel.abandon();
        }
        // Pages come and go.
        if self.newest.len() > 1000 {
            self.newest.clear();
        }
        let number = self.newest.entry(page.to_owned()).or_default();
        *number += 1;
        *number
    }
}

#[derive(Default)]
struct RendererCache {
    version: u64,
    base: Option<Renderer>,
    // By level and size.
    variants: HashMap<(usize, u32), Renderer>,
}

impl PreviewRenderer {
    pub fn new(options: RenderOptions) -> PreviewRenderer {
        PreviewRenderer { options, cache: Mutex::default(), wishes: Mutex::default() }
    }

    /// Paints: the picture, and what the page shows of it. None where a later wish of the same page has come.
    pub fn paint(
        &self,
        scene: &Scene,
        version: u64,
        wish: &PreviewRequest,
    ) -> Result<Option<(Image<u8>, Value)>, Failure> {
        let asked = wish.view.as_deref().map(viewpoint).transpose()?;
        let number = lock(&self.wishes).add(&wish.page);
        let is_newest = || lock(&self.wishes).newest.get(&wish.page).is_none_or(|n| *n == number);
        let mut cache = lock(&self.cache);
        if !is_newest() {
            return Ok(None);
        }
        let (levels, shorter) = (levels(scene), wish.shorter.unwrap_or(1));
        let level = wish.level.min(levels.len() - 1);
        let renderer = cache.renderer((scene, version), &self.options, (&levels, level), (asked, shorter))?;
        let frame = wish.frame.min(scene.output.frames - 1);
        let view = asked.unwrap_or_else(|| Viewpoint::of(&scene.camera, frame, scene.output.frames));
        renderer.prepared.scene.camera = asked.map_or_else(|| scene.camera.clone(), |view| view.camera(&scene.camera));
        let cancel = Cancel::new();
        renderer.set_cancel(cancel.clone());
        lock(&self.wishes).current = Some((wish.page.clone(), cancel));
        // A later wish may have come before there was anything to cancel.
        let made = if is_newest() { Some(renderer.watched_still(frame)) } else { None };
        lock(&self.wishes).current = None;
        let devices = renderer.device_names();
        match made {
            None | Some(Err(Error::Interrupted { .. })) => Ok(None),
            Some(Err(e)) => Err(e.into()),
            Some(Ok((image, stats))) => {
                let (width, height, is_best) =
                    (image.width(), image.height(), level + 1 == levels.len() && shorter <= 1);
                let facts = json!({
                    "width": width, "height": height, "version": version, "rays": stats.rays, "ms": ms(stats.time),
                    "best": is_best, "eye": view.eye, "look_at": view.look_at, "fov_deg": view.fov_deg,
                    "frame": wish.frame, "devices": devices,
                });
                Ok(Some((image, facts)))
            }
        }
    }
}

impl RendererCache {
    fn renderer(
        &mut self,
        (scene, version): (&Scene, u64),
        options: &RenderOptions,
        (levels, level): (&[u32], usize),
        (view, shorter): (Option<Viewpoint>, u32),
    ) -> Result<&mut Renderer, Failure> {
        // What is far depends on how far the eye goes.
        let origin = self.base.as_ref().map_or([0.0; 3], |base| base.prepared.first.origin);
        let reach = |scene: &Scene| scene.camera.path.reach(origin);
        let far = view.map_or(0.0, |view| length(sub(view.eye, origin)));
        let is_known = self.version == version
            && self.base.as_ref().is_some_and(|base| match view {
                Some(_) => far <= reach(base.scene()),
                // The very picture of a run.
                None => base.scene().camera == scene.camera,
            });
        if !is_known {
            self.variants.clear();
            let mut scene = scene.clone();
            if let Some(mut view) = view.filter(|_| far > reach(&scene)) {
                view.eye = add(origin, scale(sub(view.eye, origin), 4.0));
                scene.camera = view.camera(&scene.camera);
            }
            self.base = Some(Renderer::prepare(scene, options.clone())?);
            self.version = version;
        }
        let Some(base) = &self.base else { return Err(Failure::usage("there is no scene")) };
        let shorter = shorter.clamp(1, MAX_SHORTER);
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
