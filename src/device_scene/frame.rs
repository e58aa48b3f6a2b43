//! The camera of a frame, as kernels have it.

use crate::gpu_types::{
    FrameParams, PROJECTION_EQUIDISTANT, PROJECTION_EQUISOLID, PROJECTION_ORTHOGRAPHIC, PROJECTION_PANORAMA,
    PROJECTION_PERSPECTIVE, STEREO_BELOW, STEREO_BESIDE, STEREO_NONE,
};
use crate::math::vec3::{Vec3, scale, sub, to_f32};
use crate::scene::{FisheyeMapping, Projection, Scene, Stereo};

// The angle between parallel camera rays, so that their cones have a width and do not grow.
const PARALLEL: f64 = 1.0 / (1 << 24) as f64;
// The picture's width over its distance that decides how wide stars are in mirrors of an orthographic picture.
const ORTHOGRAPHIC_SKY: f64 = 1.4;

/// The camera of frame n at a moment, in frames from the clip's start, relative to `origin`.
pub fn frame_params_at(scene: &Scene, origin: Vec3, n: u32, moment: f64) -> FrameParams {
    let camera = scene.camera_at(moment);
    let view = camera.view_at(moment, scene.output.frames);
    let (width, height) = camera.stereo.eye_size((scene.render.width, scene.render.height));
    let side = scene.render.filtered_side();
    let per_pixel = view.per_pixel(width, height);
    // The distance of the picture in pixels, its scale, and the rays' cones.
    let (focal, unit, pixel_footprint, cone_width) = match view.projection {
        Projection::Perspective => {
            let focal = view.focal(width, height);
            (focal, 1.0, 1.0 / (focal * side), 0.0)
        }
        Projection::Orthographic => {
            let unit = view.units_per_pixel(width, height);
            (f64::from(width) / ORTHOGRAPHIC_SKY, unit, PARALLEL, unit / (PARALLEL * side))
        }
        Projection::Panorama | Projection::Fisheye => (1.0, 1.0, view.pixel_angle(width, height) / side, 0.0),
    };
    let blades = f64::from(camera.aperture_blades);
    let half = if blades > 0.0 { std::f64::consts::PI / blades } else { 0.0 };
    FrameParams {
        eye: to_f32(sub(view.eye, origin)),
        pixel_footprint: pixel_footprint as f32,
        forward: to_f32(scale(view.forward, focal)),
        right: to_f32(scale(view.right, unit)),
        down: to_f32(scale(view.up, -unit)),
        number: n as i32,
        lens: camera.lens as f32,
        // A point of the widest lens, times this, is a number.
        focus: (focal / camera.focus).min(1e36 / camera.lens) as f32,
        squeeze: (1.0 / camera.aperture_ratio) as f32,
        blades: blades as f32,
        per_blade: if blades > 0.0 { (1.0 / blades) as f32 } else { 0.0 },
        // Down and not up. A turn that rounds to 1 is 0.
        blade_turn: (1.0 - camera.blade_turn()).rem_euclid(1.0) as f32 % 1.0,
        blade: [libm::cos(half) as f32, libm::sin(half) as f32],
        projection: match view.projection {
            Projection::Perspective => PROJECTION_PERSPECTIVE,
            Projection::Orthographic => PROJECTION_ORTHOGRAPHIC,
            Projection::Panorama => PROJECTION_PANORAMA,
            Projection::Fisheye => match view.mapping {
                FisheyeMapping::Equidistant => PROJECTION_EQUIDISTANT,
                FisheyeMapping::Equisolid => PROJECTION_EQUISOLID,
            },
        },
        cone_width: cone_width as f32,
        per_pixel: per_pixel as f32,
        rim: (0.5 * view.fov_axis.pixels(width, height)) as f32,
        stereo: match camera.stereo {
            Stereo::None => STEREO_NONE,
            Stereo::SideBySide => STEREO_BESIDE,
            Stereo::OverUnder => STEREO_BELOW,
        },
        half_eyes: (0.5 * camera.eye_distance) as f32,
        toe: camera.convergence.map_or(0.0, |distance| focal / distance) as f32,
    }
}
