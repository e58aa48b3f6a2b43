//! Renders the page's pictures: a draft during changes, then finer ones. Pictures that the page no longer needs are
//! abandoned.

use super::aim::{Aim, Loaded, element_of};
use super::stamps::{Stamp, files_of};
use crate::assets::files::Files;
use crate::assets::particles::picking::ShownParticles;
use crate::cancel::Cancel;
use crate::cli::Failure;
use crate::error::Error;
use crate::film::image::Image;
use crate::language::msg;
use crate::math::vec3::{add, scale, sub};
use crate::render::stats::ms;
use crate::render::{RenderOptions, Renderer};
use crate::scene::{Scene, Viewpoint};
use crate::threads::lock;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

// Bounces of a draft.
const DRAFT_DEPTH: u32 = 6;
// Maximum reduction of a draft's sides.
const MAX_DOWNSCALE: u32 = 8;

/// Samples of each refinement level, in the scene's unit. The first is the draft's, the last the scene's own.
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
    /// The requesting page. A later request of the same page replaces an earlier one.
    page: String,
    frame: u32,
    /// The refinement level: an index into [`levels`].
    level: usize,
    /// The divisor of the sides.
    downscale: Option<u32>,
    /// The camera, parsed by [`viewpoint`]; the scene's own by default.
    view: Option<String>,
    /// The path of an object whose outline comes with the picture.
    picked: Option<String>,
}

/// Parses seven numbers: the camera's position, the point that it looks at, and the field of view.
pub fn viewpoint(text: &str) -> Result<Viewpoint, Failure> {
    let numbers: Vec<f64> = text.split(',').map(str::parse).collect::<Result<_, _>>().unwrap_or_default();
    match numbers[..] {
        [a, b, c, d, e, f, fov_deg]
            if numbers.iter().all(|x| x.is_finite() && x.abs() < 1e12) && fov_deg > 0.0 && fov_deg <= 360.0 =>
        {
            Ok(Viewpoint { eye: [a, b, c], look_at: [d, e, f], fov_deg })
        }
        _ => Err(Failure::usage(msg!("view: expected seven numbers"))),
    }
}

/// Renders one picture at a time.
pub struct PreviewRenderer {
    options: RenderOptions,
    cache: Mutex<RendererCache>,
    requests: Mutex<PreviewRequests>,
    // What the latest picture shows: without the particles, which are read once somebody picks, the scene's files, and their particles' number.
    shown: Mutex<(Loaded, Files, usize)>,
    particles: Mutex<Option<(Arc<ShownParticles>, Option<SystemTime>)>>,
}

// When a frame's file of particles was written.
fn time_of(scene: &Scene, frame: u32) -> Option<SystemTime> {
    let path = scene.world.particles.as_ref()?.file(frame);
    std::fs::metadata(path).and_then(|facts| facts.modified()).ok()
}

#[derive(Default)]
struct PreviewRequests {
    // The number of each page's newest request.
    newest: HashMap<String, u64>,
    // What is being rendered.
    current: Option<Current>,
}

struct Current {
    page: String,
    level: usize,
    cancel: Cancel,
}

impl PreviewRequests {
    // Adds a page's request and cancels its earlier one. Returns the request's number.
    fn add(&mut self, page: &str) -> u64 {
        if let Some(current) = self.current.as_ref().filter(|current| current.page == page) {
            current.cancel.abandon();
        }
        // Limits the map, because pages come and go.
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
    // The files of its scene, and when they were written.
    named: Vec<(PathBuf, Option<Stamp>)>,
    // By level and size.
    variants: HashMap<(usize, u32), Renderer>,
}

impl PreviewRenderer {
    pub fn new(options: RenderOptions) -> PreviewRenderer {
        PreviewRenderer {
            options,
            cache: Mutex::default(),
            requests: Mutex::default(),
            shown: Mutex::default(),
            particles: Mutex::default(),
        }
    }

    /// What the latest picture shows, with the particles of a frame if they are known.
    pub fn known(&self, scene: &Scene, frame: u32) -> Loaded {
        let held = self.particles.try_lock().ok().and_then(|held| held.clone());
        let are_there = |(particles, time): &(Arc<ShownParticles>, _)| {
            let now = scene.world.particles.as_ref();
            now.is_some_and(|now| particles.are_of(now, frame) && *time == time_of(scene, frame))
        };
        Loaded { particles: held.filter(are_there).map(|held| held.0), ..lock(&self.shown).0.clone() }
    }

    /// The same. The particles are read if they are not known.
    pub fn loaded(&self, scene: &Scene, frame: u32) -> Loaded {
        let known = self.known(scene, frame);
        let Some(particles) = scene.world.particles.as_ref().filter(|_| known.particles.is_none()) else {
            return known;
        };
        let mut held = lock(&self.particles);
        // Another thread may have read them.
        let time = time_of(scene, frame);
        let is_there = held.as_ref().is_some_and(|(held, of)| held.are_of(particles, frame) && *of == time);
        if !is_there {
            // Memory is free for the next ones first. What cannot be read, the picture has complained of.
            *held = None;
            let (_, files, count) = lock(&self.shown).clone();
            let read = ShownParticles::load(particles, frame, count, &files).ok();
            *held = read.map(|particles| (Arc::new(particles), time));
        }
        Loaded { particles: held.as_ref().map(|held| Arc::clone(&held.0)), ..known }
    }

    /// Ends the refinement that is being rendered, because the scene is about to change. Drafts are shown while something is dragged.
    pub fn abandon(&self) {
        lock(&self.requests).current.iter().filter(|now| now.level > 0).for_each(|now| now.cancel.abandon());
    }

    /// Renders a picture. Returns it with its statistics; None if the page has sent a newer request, or the scene changes.
    pub fn paint(
        &self,
        scene: &Scene,
        version: u64,
        request: &PreviewRequest,
    ) -> Result<Option<(Image<u8>, Value)>, Failure> {
        let asked = request.view.as_deref().map(viewpoint).transpose()?;
        let number = lock(&self.requests).add(&request.page);
        let is_newest = || lock(&self.requests).newest.get(&request.page).is_none_or(|n| *n == number);
        let mut cache = lock(&self.cache);
        if !is_newest() {
            return Ok(None);
        }
        let (levels, downscale) = (levels(scene), request.downscale.unwrap_or(1));
        let level = request.level.min(levels.len() - 1);
        let renderer = cache.renderer((scene, version), &self.options, (&levels, level), (asked, downscale))?;
        let assets = &renderer.prepared.assets;
        let (meshes, origin) = (Arc::clone(&assets.meshes), renderer.prepared.first.origin);
        let count = assets.particles.as_ref().map_or(0, |particles| particles.count);
        *lock(&self.shown) = (Loaded { meshes, origin, particles: None }, assets.files.clone(), count);
        let frame = request.frame.min(scene.output.frames - 1);
        let camera = scene.camera_at(f64::from(frame));
        let view = asked.unwrap_or_else(|| Viewpoint::of(&camera, frame, scene.output.frames));
        let shown = &mut renderer.prepared.scene;
        (shown.camera, shown.tracks) = match asked {
            Some(view) => (view.camera(&camera), scene.tracks.without("camera.")),
            None => (scene.camera.clone(), scene.tracks.clone()),
        };
        let cancel = Cancel::new();
        renderer.set_cancel(cancel.clone());
        lock(&self.requests).current = Some(Current { page: request.page.clone(), level, cancel });
        // A newer request may have come before there was anything to cancel.
        let painted = if is_newest() { Some(renderer.watched_still(frame)) } else { None };
        lock(&self.requests).current = None;
        let devices = renderer.device_names();
        match painted {
            None | Some(Err(Error::Interrupted { .. })) => Ok(None),
            Some(Err(e)) => Err(e.into()),
            Some(Ok((image, stats))) => {
                let (width, height, is_best) =
                    (image.width(), image.height(), level + 1 == levels.len() && downscale <= 1);
                let place = request.picked.as_deref().and_then(element_of);
                let outline =
                    place.map(|place| Aim::new(scene, frame, asked, &self.known(scene, frame)).outline(place));
                let facts = json!({
                    "width": width, "height": height, "picture": version, "rays": stats.rays, "ms": ms(stats.time),
                    "best": is_best, "eye": view.eye, "look_at": view.look_at, "fov_deg": view.fov_deg, "across": camera.width,
                    "frame": request.frame, "devices": devices,
                    "outline": outline, "of": request.picked,
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
        (view, downscale): (Option<Viewpoint>, u32),
    ) -> Result<&mut Renderer, Failure> {
        // Far distances in the prepared scene depend on how far the camera goes.
        let origin = self.base.as_ref().map_or([0.0; 3], |base| base.prepared.first.origin);
        let reach = |scene: &Scene| scene.camera_reach(origin);
        let size = (scene.render.width, scene.render.height);
        let far = view.map_or(0.0, |view| view.camera(&scene.camera).reach(origin, size));
        let is_known = self.version == version
            && self.base.as_ref().is_some_and(|base| match view {
                Some(_) => far <= reach(base.scene()),
                // The same picture as that of a run.
                None => base.scene().camera == scene.camera,
            });
        if !is_known {
            // Their memory is free for the next ones.
            self.variants.clear();
            let named = files_of(scene);
            let kept = self.base.take().filter(|_| named == self.named).map(|base| base.prepared.kept());
            let mut scene = scene.clone();
            if let Some(mut view) = view.filter(|_| far > reach(&scene)) {
                view.eye = add(origin, scale(sub(view.eye, origin), 4.0));
                scene.camera = view.camera(&scene.camera);
            }
            self.base = Some(Renderer::prepare_after(scene, options.clone(), kept)?);
            (self.version, self.named) = (version, named);
        }
        let Some(base) = &self.base else { return Err(Failure::usage(msg!("there is no scene"))) };
        let downscale = downscale.clamp(1, MAX_DOWNSCALE);
        let is_draft = level == 0 && levels.len() > 1;
        let is_own = level + 1 == levels.len();
        Ok(self.variants.entry((level, downscale)).or_insert_with(|| {
            base.varied(|scene| {
                let render = &mut scene.render;
                (render.width, render.height) = (render.width.div_ceil(downscale), render.height.div_ceil(downscale));
                if !is_own {
                    render.set_samples(levels[level]);
                    scene.film.denoise_frames = 0;
                }
                if is_draft {
                    render.depth = render.depth.min(DRAFT_DEPTH);
                    scene.close_shutter();
                }
            })
        }))
    }
}
