//! Edits of the camera's keys in TOML that make it show a given view at a frame. A spline gets one more key; any
//! other path is moved and rotated through the view.

use crate::math::vec3::{Vec3, length, sub};
use crate::scene::camera::CameraKey;
use crate::scene::text::edit::Edit;
use crate::scene::{Camera, CameraPath, CylindricalPath, View};
use std::f64::consts::{PI, TAU};

/// A position and a direction of view.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viewpoint {
    /// The position of the camera.
    pub eye: Vec3,
    /// The point that the camera looks at.
    pub look_at: Vec3,
    /// Field of view along the camera's axis, degrees.
    pub fov_deg: f64,
}

impl Viewpoint {
    /// The viewpoint of a camera at a frame. The look-at point is that of the path.
    pub fn of(camera: &Camera, frame: u32, frames: u32) -> Viewpoint {
        let View { eye, fov_deg, .. } = camera.view(frame, frames);
        Viewpoint { eye, look_at: camera.look_at(frame, frames), fov_deg }
    }
    /// A camera at rest with this view.
    pub fn camera(&self, from: &Camera) -> Camera {
        let path = CameraPath::Fixed { position: self.eye, look_at: self.look_at };
        Camera { fov_deg: self.fov_deg, path, shake: None, ..from.clone() }
    }
}

// A number with four decimals at most, as people write it.
fn number(x: f64) -> String {
    format!("{:?}", (x * 1e4).round() / 1e4 + 0.0)
}
fn triple(v: Vec3) -> String {
    format!("[{}]", v.map(number).join(", "))
}
// The angle within half a turn.
fn wrapped(angle: f64) -> f64 {
    (angle + PI).rem_euclid(TAU) - PI
}

/// Edits that make the camera show `view` at a frame.
pub fn edits_through(camera: &Camera, frame: u32, frames: u32, view: &Viewpoint) -> Vec<Edit> {
    let now = Viewpoint::of(camera, frame, frames);
    let mut edits: Vec<Edit> = Vec::new();
    let mut set = |key: &str, value: String| edits.push(Edit::Set(key.to_owned(), value));
    match &camera.path {
        CameraPath::Keys { keys, .. } => return key_at(keys, camera.fov_deg, frame, frames, view),
        CameraPath::Fixed { .. } => {
            set("camera.position", triple(view.eye));
            set("camera.look_at", triple(view.look_at));
        }
        CameraPath::Cylinder { eye, target } => {
            let time = TAU * f64::from(frame) / f64::from(frames);
            for (name, path, to) in [("eye", eye, view.eye), ("target", target, view.look_at)] {
                for (key, value) in cylinder_through(path, time, to) {
                    set(&format!("camera.{name}.{key}"), number(value));
                }
            }
        }
        CameraPath::Orbit(orbit) => {
            let (before, after) = (sub(now.eye, now.look_at), sub(view.eye, view.look_at));
            let azimuth = |v: Vec3| libm::atan2(v[1], v[0]);
            let distance = length(after);
            set("camera.orbit.center", triple(view.look_at));
            set("camera.orbit.distance", number(distance));
            set("camera.orbit.elevation_deg", number(libm::asin((after[2] / distance).clamp(-1.0, 1.0)).to_degrees()));
            let turn = wrapped(azimuth(after) - azimuth(before)).to_degrees();
            set("camera.orbit.azimuth_deg", number((orbit.azimuth_deg + turn).rem_euclid(360.0)));
        }
    }
    if (view.fov_deg - now.fov_deg).abs() > 1e-6 {
        set("camera.fov_deg", number(view.fov_deg));
    }
    edits
}

// Edits a key at the frame, or inserts one. Other keys stay.
fn key_at(keys: &[CameraKey], fov_deg: f64, frame: u32, frames: u32, view: &Viewpoint) -> Vec<Edit> {
    let time = f64::from(frame) / f64::from(frames);
    let (position, look_at, fov) = (triple(view.eye), triple(view.look_at), number(view.fov_deg));
    let is_here = |key: &CameraKey| (key.time - time).abs() * f64::from(frames) < 0.5;
    let Some(here) = keys.iter().position(is_here) else {
        let index = keys.iter().filter(|key| key.time < time).count();
        let fov = if (view.fov_deg - fov_deg).abs() > 1e-6 { format!(", fov_deg = {fov}") } else { String::new() };
        let table = format!("{{ time = {time:?}, position = {position}, look_at = {look_at}{fov} }}");
        return vec![Edit::Insert(format!("camera.key[{index}]"), table)];
    };
    let set = |key: &str, value: String| Edit::Set(format!("camera.key[{here}].{key}"), value);
    let mut edits = vec![set("position", position), set("look_at", look_at)];
    if (view.fov_deg - keys[here].fov_deg).abs() > 1e-6 {
        edits.push(set("fov_deg", fov));
    }
    // A key between two frames moves to the frame of the view.
    if (keys[here].time - time).abs() > 1e-9 {
        edits.push(set("time", format!("{time:?}")));
    }
    edits
}

fn cylinder_through(path: &CylindricalPath, time: f64, to: Vec3) -> Vec<(&'static str, f64)> {
    // A negative distance puts the point on the other side of the axis.
    let r = path.r0 + path.ar * libm::sin(path.wr * time + path.pr);
    let z = path.z0 + path.az * libm::sin(path.wz * time + path.pz);
    let phi = path.phi0 + path.wphi * time;
    let (across, around) = (libm::hypot(to[0], to[1]), libm::atan2(to[1], to[0]));
    let mut keys = Vec::new();
    let far = if r < 0.0 { -across } else { across };
    if (far - r).abs() > 1e-6 {
        keys.push(("r", path.r0 + far - r));
    }
    if (to[2] - z).abs() > 1e-6 {
        keys.push(("z", path.z0 + to[2] - z));
    }
    let turn = wrapped(if r < 0.0 { around + PI } else { around } - phi);
    // On the axis, the angle is undefined.
    if across > 1e-6 && turn.abs() > 1e-9 {
        keys.push(("phi_deg", (path.phi0 + turn).to_degrees().rem_euclid(360.0)));
    }
    keys
}
