//! A scene prepared for rendering: its files, its arrays, and the CPU's kernels.

use super::framing::Extent;
use super::moments::Moments;
use crate::assets::Assets;
use crate::device::Moment;
use crate::device_scene::kept::KeptArrays;
use crate::device_scene::{DeviceScene, frame_params_at};
use crate::error::Error;
use crate::film::post::steady::View;
use crate::gpu_types::FrameParams;
use crate::kernels::Isa;
use crate::scene::{Scene, World};
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

/// What a scene that is changed a little may keep of what it was prepared with: not its shapes and particles, which may be large.
pub struct Kept {
    scene: Scene,
    assets: Assets,
    arrays: KeptArrays,
}

impl Kept {
    pub fn pictures(&self) -> (&World, &Assets) {
        (&self.scene.world, &self.assets)
    }
    pub fn arrays(&self) -> &KeptArrays {
        &self.arrays
    }
    /// Whether lamps light the floor of `scene` as they do here.
    pub fn is_lit_as(&self, scene: &Scene) -> bool {
        let Scene { film, camera, output, .. } = &self.scene;
        let like = Scene { film: *film, camera: camera.clone(), output: output.clone(), ..scene.clone() };
        like == self.scene
    }
}

impl PreparedScene {
    pub fn kept(self) -> Kept {
        let assets = Assets { particles: None, ..self.assets };
        Kept { scene: self.scene, assets, arrays: DeviceScene::clone(&self.first).kept() }
    }

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::{RenderOptions, Renderer};

    const TEXT: &str = "[output]\nframes = 2\nsize = [48, 36]\n[render]\nsamples = 1\ndepth = 4\n[film]\nexposure = 0.5\n\
        [sky]\nimage = \"@dusk\"\n[camera]\nposition = [0, -6, 2]\nlook_at = [0, 0, 0]\n\
        [[body]]\nsolid = \"cube\"\nlamps = 3\nbar = 0.1\nreflection = 0.3\ntexture = \"@wood\"\n\
        [[light]]\nposition = [4, 2, 6]\n\
        [floor]\ncorners = [[-3, -3, -1], [-3, 3, -1], [3, 3, -1], [3, -3, -1]]\ntexture = \"@marble\"\n\
        [floor.relief]\nbump = \"@ripples\"\ndepth = 0.05\n";

    // The letters say what stays: the floor's texture, its relief, the pictures of bodies, the sky, the light of lamps on the floor.
    #[test]
    fn what_stays_is_kept_and_the_picture_is_that_of_a_new_start() {
        let scene = |from: &str, to: &str| {
            assert!(TEXT.contains(from), "{from}");
            crate::tests::common::toml(&TEXT.replace(from, to))
        };
        let prepared = |scene: Scene, before| Renderer::prepare_after(scene, RenderOptions::on_cpu(), before).unwrap();
        let same = |a: Option<*const ()>, b: Option<*const ()>, letter| if a == b { letter } else { '-' };
        for (from, to, stays) in [
            ("exposure = 0.5", "exposure = 1.5\ntone = \"agx\"\nfilter = \"tent\"", "trbsl"),
            ("exposure = 0.5", "exposure = 1.5\ntone = \"agx\"", "trbsl"),
            ("[0, -6, 2]", "[1, -5, 2]", "trbsl"),
            ("lamps = 3", "lamps = 3\nlamp_intensity = 3", "trbs-"),
            ("reflection = 0.3", "reflection = 0.3\nradius = 0.7", "tr-s-"),
            ("texture = \"@wood\"", "", "tr-s-"),
            ("[4, 2, 6]", "[-4, 2, 6]", "trbs-"),
            ("\"@marble\"", "\"@slate\"", "--bs-"),
            ("depth = 0.05", "depth = 0.2", "t-bs-"),
            ("@dusk\"", "@dusk\"\nrotation_deg = 90", "trb--"),
        ] {
            let (first, changed) = (prepared(scene("", ""), None).prepared, scene(from, to));
            assert!(first.first.constants.lightmap_size > 0);
            let pictures = |assets: &Assets| {
                let texture = assets.texture.as_ref().map(|of| Arc::as_ptr(of).cast::<()>());
                let relief = assets.relief.as_ref().map(|of| Arc::as_ptr(of).cast::<()>());
                let sky = assets.sky.as_ref().map(|of| Arc::as_ptr(of).cast::<()>());
                [texture, relief, Some(Arc::as_ptr(&assets.finishes).cast()), sky]
            };
            let (before, kept) = (pictures(&first.assets), first.clone().kept());
            let lit = if kept.is_lit_as(&changed) { 'l' } else { '-' };
            let mut renderer = prepared(changed.clone(), Some(kept));
            let now = pictures(&renderer.prepared.assets);
            let found: String = (0..4).map(|i| same(before[i], now[i], ['t', 'r', 'b', 's'][i])).chain([lit]).collect();
            let mut fresh = prepared(changed, None);
            assert_eq!(renderer.prepared.first.constants.lightmap_size, fresh.prepared.first.constants.lightmap_size);
            let [kept, fresh] = [&mut renderer, &mut fresh].map(|renderer| renderer.still(0).unwrap().data().to_vec());
            assert!(kept == fresh, "{to}: another picture");
            assert_eq!(found, stays, "{to}");
        }
    }
}
