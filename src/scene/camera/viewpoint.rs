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

/// A number with four decimals at most, as people write it.
pub fn number(x: f64) -> String {
    format!("{:?}", (x * 1e4).round() / 1e4 + 0.0)
}
/// A point of such numbers.
pub fn triple(v: Vec3) -> String {
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

// The number of keys for each cycle of a path that was none of keys, and for all.
const SAMPLED: f64 = 8.0;
const MOST_SAMPLED: f64 = 64.0;

/// Edits that make a key of the camera's path at a frame, which shows `view`. A path without keys gets some first, on which the
/// camera goes as before: a camera that stands still has two.
pub fn key_through(camera: &Camera, frame: u32, frames: u32, view: &Viewpoint) -> Vec<Edit> {
    if let CameraPath::Keys { keys, .. } = &camera.path {
        return key_at(keys, camera.fov_deg, frame, frames, view);
    }
    let last = f64::from(frames - 1) / f64::from(frames);
    let key = |time: f64| {
        let (position, look_at, fov_deg, _) = camera.path.at(time * f64::from(frames), frames, camera.fov_deg);
        CameraKey { time, position, look_at, fov_deg }
    };
    let is_closed = length(sub(key(0.0).position, key(1.0).position)) < 1e-6;
    let times: Vec<f64> = match camera.path {
        CameraPath::Fixed { .. } if frames == 1 => vec![0.0, 0.5],
        CameraPath::Fixed { .. } if frame == 0 => vec![0.0, last],
        CameraPath::Fixed { .. } => vec![0.0],
        _ => {
            let count = (SAMPLED * camera.path.cycles().ceil()).min(MOST_SAMPLED);
            let sampled = (0..count as u32).map(|i| f64::from(i) / count);
            sampled.chain([last].into_iter().filter(|&last| !is_closed && last > 1.0 - 1.0 / count)).collect()
        }
    };
    let keys: Vec<CameraKey> = times.into_iter().map(key).collect();
    let mut edits: Vec<Edit> =
        ["position", "look_at", "orbit", "eye", "target"].map(|key| Edit::Remove(format!("camera.{key}"))).into();
    edits.extend((0..).zip(&keys).map(|(i, key)| inserted(i, key, camera.fov_deg)));
    if is_closed && !matches!(camera.path, CameraPath::Fixed { .. }) {
        edits.push(Edit::Set("camera.closed".to_owned(), "true".to_owned()));
    }
    edits.extend(key_at(&keys, camera.fov_deg, frame, frames, view));
    edits
}

impl CameraPath {
    // The cycles of what changes fastest, at least one.
    fn cycles(&self) -> f64 {
        match self {
            CameraPath::Cylinder { eye, target } => {
                [eye, target].iter().flat_map(|path| [path.wr, path.wz, path.wphi]).map(f64::abs).fold(1.0, f64::max)
            }
            CameraPath::Orbit(orbit) => orbit.turns.abs().max(1.0),
            CameraPath::Fixed { .. } | CameraPath::Keys { .. } => 1.0,
        }
    }
}

// Inserts a key. A field of view that is the camera's is left out.
fn inserted(index: usize, key: &CameraKey, fov_deg: f64) -> Edit {
    let fov = if (key.fov_deg - fov_deg).abs() > 1e-6 {
        format!(", fov_deg = {}", number(key.fov_deg))
    } else {
        String::new()
    };
    let (position, look_at) = (triple(key.position), triple(key.look_at));
    let table = format!("{{ time = {:?}, position = {position}, look_at = {look_at}{fov} }}", key.time);
    Edit::Insert(format!("camera.key[{index}]"), table)
}

// Edits a key at the frame, or inserts one. Other keys stay.
fn key_at(keys: &[CameraKey], fov_deg: f64, frame: u32, frames: u32, view: &Viewpoint) -> Vec<Edit> {
    let time = f64::from(frame) / f64::from(frames);
    let is_here = |key: &CameraKey| (key.time - time).abs() * f64::from(frames) < 0.5;
    let Some(here) = keys.iter().position(is_here) else {
        let index = keys.iter().filter(|key| key.time < time).count();
        let key = CameraKey { time, position: view.eye, look_at: view.look_at, fov_deg: view.fov_deg };
        return vec![inserted(index, &key, fov_deg)];
    };
    let set = |key: &str, value: String| Edit::Set(format!("camera.key[{here}].{key}"), value);
    let mut edits = vec![set("position", triple(view.eye)), set("look_at", triple(view.look_at))];
    if (view.fov_deg - keys[here].fov_deg).abs() > 1e-6 {
        edits.push(set("fov_deg", number(view.fov_deg)));
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
