//! A scene prepared for rendering: its files, its arrays, and the CPU's kernels.

use super::framing::Extent;
use super::moments::Moments;
use crate::assets::Assets;
use crate::device::Moment;
use crate::device_scene::{DeviceScene, frame_params_at};
use crate::error::Error;
use crate::film::post::steady::View;
use crate::gpu_types::FrameParams;
use crate::kernels::Isa;
use crate::scene::Scene;
use std::sync::Arc;

/// The moments of the latest frames, which the next ones may have too.
pub type Recent = Vec<(u32, Vec<Moment>)>;

#[derive(Clone)]
pub struct PreparedScene {
    pub scene: Scene,
    /// The content of the scene's files.
    pub assets: Assets,
    /// The scene's arrays, of the first time step if there are several.
    pub first: Arc<DeviceScene>,
    /// How far the particles of a figure reach that is framed by itself.
    pub extent: Option<Extent>,
    pub isa: Isa,
    pub pool: Arc<rayon::ThreadPool>,
}

impl PreparedScene {
    /// The arrays of an animated frame: the particles of its time step from `assets`, its bodies, and the light map.
    pub fn at_frame(&self, number: u32, assets: &Assets) -> Result<DeviceScene, Error> {
        let here = self.scene.at(f64::from(number));
        let mut scene = self.first.at_time(&here, assets)?;
        if self.scene.lamplight_changes() {
            self.isa.bake_lightmap(&mut scene, &here);
        }
        Ok(scene)
    }

    /// The scene and the camera at a frame's moments.
    pub fn moments_of(&self, number: u32) -> Result<Vec<Moment>, Error> {
        if !self.scene.is_animated() {
            return Ok(self.views_of(number, &self.first));
        }
        let moments = Moments::of(&self.scene, number);
        let assets = self.assets.at_frame(&self.scene, number)?;
        let mut all = self.views_at(number, moments, &Arc::new(self.at_frame(number, &assets)?));
        if all.len() > 1 && self.scene.moves() {
            for (i, moment) in (0..).zip(&mut all) {
                let here = self.scene.at(moments.time(&self.scene, number, i));
                moment.scene = Arc::new(moment.scene.at_time(&here, &assets)?);
            }
        }
        Ok(all)
    }

    /// The same of a frame in which only the camera moves.
    pub fn views_of(&self, number: u32, scene: &Arc<DeviceScene>) -> Vec<Moment> {
        self.views_at(number, Moments::of(&self.scene, number), scene)
    }

    fn views_at(&self, number: u32, moments: Moments, scene: &Arc<DeviceScene>) -> Vec<Moment> {
        let (whole, origin) = (&self.scene, self.first.origin);
        let camera = |i| frame_params_at(whole, origin, number, moments.time(whole, number, i));
        let moment = |i| Moment { pixels: moments.pixels(i), ..Moment::new(Arc::clone(scene), camera(i)) };
        (0..moments.count()).map(moment).collect()
    }

    /// The moments of all frames that a picture is made of. If there are several, the first moment of each has its view.
    pub fn moments_of_all(&self, frames: &[u32], recent: &mut Recent) -> Result<Vec<Moment>, Error> {
        recent.retain(|(number, _)| frames.contains(number));
        let mut all = Vec::new();
        for &frame in frames {
            if let Some((_, moments)) = recent.iter().find(|(number, _)| *number == frame) {
                all.extend_from_slice(moments);
                continue;
            }
            let mut moments = self.moments_of(frame)?;
            if let Some(first) = moments.first_mut().filter(|_| frames.len() > 1) {
                first.view = Some(Arc::new(self.view(frame, &first.camera)));
                recent.push((frame, moments.clone()));
            }
            all.extend(moments);
        }
        Ok(all)
    }

    /// The camera and the bodies of a frame's first moment, which its layers are of.
    pub fn view(&self, number: u32, camera: &FrameParams) -> View {
        let first = Moments::of(&self.scene, number).time(&self.scene, number, 0);
        View::new(&self.scene.at(first), self.first.origin, camera)
    }
}
