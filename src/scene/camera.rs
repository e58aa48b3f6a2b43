//! The camera: its paths, the lens, and the view of each frame.

pub(super) mod shake;
pub(super) mod view;
pub(super) mod viewpoint;

use super::camera::shake::Shake;
use super::camera::view::{FisheyeMapping, FovAxis, Projection, Stereo, View};
use super::keys::read::Table;
use super::keys::{keys, written_as};
use super::text::diagnostic::Rule;
use crate::language::{Message, msg};
use crate::math::vec3::{Vec3, add, cross, length, normalise, sub};

keys! {
    /// r(t) = r0 + ar sin(wr t + pr), z(t) = z0 + az sin(wz t + pz), phi(t) = phi0 + wphi t,
    /// in the scene's units and radians; the frequencies count cycles a clip (coursework item 4).
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct CylindricalPath in "path" {
        /// Distance from the axis.
        pub r0 as "r": f64 = 0.0, rule(Rule::Coordinate), spelled();
        /// Height.
        pub z0 as "z": f64 = 0.0, rule(Rule::Coordinate), spelled();
        /// Angle around the axis at the start of the clip.
        pub phi0 as "phi_deg": f64 = 0.0, angle(), unit("degrees"), slider(-180.0, 360.0), spelled();
        /// Amplitude of the distance.
        pub ar as "r_amplitude": f64 = 0.0, rule(Rule::Coordinate), slider(0.0, 5.0), spelled();
        /// Amplitude of the height.
        pub az as "z_amplitude": f64 = 0.0, rule(Rule::Coordinate), slider(0.0, 5.0), spelled();
        /// Oscillations of the distance over the clip.
        pub wr as "r_cycles": f64 = 0.0, slider(-4.0, 4.0), spelled();
        /// Oscillations of the height over the clip.
        pub wz as "z_cycles": f64 = 0.0, slider(-4.0, 4.0), spelled();
        /// Turns over the clip.
        pub wphi as "phi_cycles": f64 = 0.0, slider(-4.0, 4.0), spelled();
        /// Phase of the distance at the start.
        pub pr as "r_phase_deg": f64 = 0.0, angle(), unit("degrees"), slider(-180.0, 360.0), spelled();
        /// Phase of the height at the start.
        pub pz as "z_phase_deg": f64 = 0.0, angle(), unit("degrees"), slider(-180.0, 360.0), spelled();
    }
}

impl CylindricalPath {
    /// A point at rest at radius r and height z.
    pub fn at_rest(r: f64, z: f64) -> CylindricalPath {
        CylindricalPath { r0: r, z0: z, ..CylindricalPath::default() }
    }
    /// The point at time t, 0 to 2 pi over a clip.
    pub fn at(&self, t: f64) -> Vec3 {
        let r = self.r0 + self.ar * libm::sin(self.wr * t + self.pr);
        let z = self.z0 + self.az * libm::sin(self.wz * t + self.pz);
        let phi = self.angle(t);
        [r * libm::cos(phi), r * libm::sin(phi), z]
    }
    fn angle(&self, t: f64) -> f64 {
        self.phi0 + self.wphi * t
    }
}

keys! {
    /// A point on the camera's path, with its time.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct CameraKey in "key" {
        /// The time as a share of the clip: 0 is the first frame, 1 would be the frame after the last.
        pub time: f64 = 0.0, rule(Rule::Fraction), required(), spelled();
        /// The eye.
        pub position: Vec3 = [0.0; 3], rule(Rule::Coordinate), required(), spelled();
        /// The point that the camera looks at.
        pub look_at: Vec3 = [0.0; 3], rule(Rule::Coordinate), required(), spelled();
        /// Field of view along the camera's `fov_axis`; by default the camera's.
        pub fov_deg: f64 = 70.0, rule(Rule::Around), unit("degrees"), spelled();
    }
}

/// The path of the camera.
#[derive(Clone, Debug, PartialEq)]
pub enum CameraPath {
    /// The coursework's path: camera and look-at point move on cylinders.
    Cylinder {
        /// The path of the camera's position.
        eye: CylindricalPath,
        /// The path of the look-at point.
        target: CylindricalPath,
    },
    /// A camera at rest.
    Fixed {
        /// The position of the camera.
        position: Vec3,
        /// The point that the camera looks at.
        look_at: Vec3,
    },
    /// A circle around a point.
    Orbit(Orbit),
    /// A spline through keys in order of time (Catmull and Rom, "A class of local interpolating splines", 1974).
    Keys {
        /// At least two.
        keys: Vec<CameraKey>,
        /// Whether the camera returns to the first key after the last one, so that the clip loops.
        closed: bool,
    },
}

keys! {
    /// A circle around a point, which the camera looks at.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Orbit in "orbit" {
        /// The center of the circle, which the camera looks at.
        pub centre as "center": Vec3 = [0.0; 3], rule(Rule::Coordinate), spelled();
        /// Distance to the center.
        pub distance: f64 = 7.0, rule(Rule::Length), slider(0.5, 20.0), spelled(), animated();
        /// Elevation above the center.
        pub elevation_deg: f64 = 15.0, rule(Rule::Within(-90.0, 90.0)), unit("degrees"), spelled(), animated();
        /// Angle at the start, counterclockwise from +x, seen from above.
        pub azimuth_deg: f64 = 0.0, unit("degrees"), slider(-180.0, 180.0), spelled(), animated();
        /// Turns over the clip.
        pub turns: f64 = 1.0, slider(-4.0, 4.0), spelled();
        /// Easing at start and end, 0 (none) to 1.
        pub ease: f64 = 0.0, rule(Rule::Fraction), spelled();
    }
}

impl Orbit {
    // The position and its angle at a time, 0 to 1 over the clip.
    fn at(&self, time: f64) -> (Vec3, f64) {
        let (whole, part) = (time.floor(), time - time.floor());
        let eased = whole + part + self.ease * (part * part * (3.0 - 2.0 * part) - part);
        let angle = self.azimuth_deg.to_radians() + 2.0 * std::f64::consts::PI * self.turns * eased;
        let height = self.elevation_deg.to_radians();
        let (across, up) = (self.distance * libm::cos(height), self.distance * libm::sin(height));
        (add(self.centre, [across * libm::cos(angle), across * libm::sin(angle), up]), angle)
    }
}

keys! {
    /// Where the camera stands, where it looks, and how wide.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Camera in "camera" {
        /// How the scene comes into the picture: `perspective`; `orthographic`, by parallel rays from the plane of the eye; `panorama`, all
        /// around, with longitudes and latitudes as columns and rows (equirectangular); `fisheye`, a circle, as for domes.
        pub projection: Projection = Projection::Perspective, group("Lens");
        /// What the distance from the middle of a fisheye grows with: the angle (`equidistant`), or the sine of its half (`equisolid`).
        pub mapping: FisheyeMapping = FisheyeMapping::Equidistant, when("projection", &["fisheye"]), refused();
        /// Width of an orthographic picture; by default it shows at the look-at point what `fov_deg` shows there.
        pub width: Option<f64> = None, rule(Rule::Length), slider(0.5, 50.0), unit("units"),
            when("projection", &["orthographic"]), refused(), animated();
        /// Field of view along `fov_axis`, below 180; camera keys have their own. Of a panorama 360 by default, and of a fisheye 180; both up to 360.
        pub fov_deg: f64 = View::FOV_DEG, rule(Rule::Around), unit("degrees"), spelled(), animated();
        /// The axis of the picture along which fields of view are measured.
        pub fov_axis: FovAxis = FovAxis::Horizontal;
        /// A picture for each eye, the left one first: `side-by-side` or `over-under`. The eyes of a panorama turn with the direction.
        pub stereo: Stereo = Stereo::None, group("Stereo");
        /// Distance between the eyes.
        pub eye_distance: f64 = 0.065, rule(Rule::NotNegative), slider(0.0, 0.5), unit("units"),
            when("stereo", &["side-by-side", "over-under"]), animated();
        /// Distance at which both eyes see the same: nearer things stand before the screen; by default none, and the eyes' views are parallel.
        pub convergence: Option<f64> = None, rule(Rule::Length), slider(0.5, 20.0), unit("units"),
            when("stereo", &["side-by-side", "over-under"]), animated();
        /// Where it goes.
        pub path: CameraPath = CameraPath::from(PathKeys::default()), flat(), group("Path");
        /// Radius of the lens; 0: a pinhole.
        pub lens: f64 = 0.0, rule(Rule::NotNegative), slider(0.0, 0.5), group("Lens"), animated();
        /// Distance from the eye to the plane in focus.
        pub focus: f64 = 1.0, rule(Rule::Length), slider(0.1, 20.0), animated();
        /// Blades of the aperture: what is out of focus has the shape of a polygon with as many sides, 3 to 16, whose corners
        /// are `lens` from its center; 0: it is round. Glare has its rays where the blades are.
        pub aperture_blades: u32 = 0, rule(Rule::Whole(0, Camera::MAX_BLADES)), slider(0.0, 16.0);
        /// Turn of the aperture, counterclockwise in the picture; at 0 one corner is at the top.
        pub aperture_rotation_deg: f64 = 0.0, unit("degrees"), slider(-180.0, 180.0), animated();
        /// Height of the aperture over its width, as of an anamorphic lens: above 1, what is out of focus is narrower.
        pub aperture_ratio: f64 = 1.0, rule(Rule::Within(0.1, 10.0)), slider(0.5, 2.0), animated();
        /// Open time of the shutter as a share of a frame: motion blur of camera, bodies and lamps; 0: no motion blur.
        pub shutter: f64 = 0.0, rule(Rule::Fraction), animated();
        /// A camera held by hand: it turns a little in all directions.
        pub shake: Option<Shake> = None, group("Shake");
    }

    fn check(&mut self, table: &mut Table) {
        if !table.has("fov_deg") {
            self.fov_deg = self.projection.fov_deg();
        }
        self.check_fields_of_view(table);
        if matches!(self.aperture_blades, 1 | 2) {
            let what = msg!("`{key}` is {what}", key = "aperture_blades", what = self.aperture_blades);
            table.problem_at("aperture_blades", what, msg!("3 to 16 for a polygon, or 0 for a round aperture"));
        }
        if let CameraPath::Keys { keys, .. } = &mut self.path {
            if table.is_animated("fov_deg") {
                table.problem_at(
                    "fov_deg",
                    msg!("`fov_deg` over time beside `[[camera.key]]`"),
                    msg!("`fov_deg` in the camera's keys"),
                );
            }
            let given = |i: usize| table.has(&format!("key.{i}.fov_deg"));
            keys.iter_mut().enumerate().filter(|(i, _)| !given(*i)).for_each(|(_, key)| key.fov_deg = self.fov_deg);
        }
    }
}

keys! {
    // The keys of the camera's path.
    #[derive(Clone, Debug, PartialEq)]
    struct PathKeys in "camera path" {
        /// The eye.
        position: Option<Vec3> = None, rule(Rule::Coordinate), way("fixed"), group("Path");
        /// The point that the camera looks at.
        look_at: Option<Vec3> = None, rule(Rule::Coordinate), way("fixed");
        /// The path of the eye on a cylinder.
        eye: Option<CylindricalPath> = Some(CylindricalPath::at_rest(7.0, 3.0)), way("cylinder");
        /// The path of the look-at point.
        target: Option<CylindricalPath> = Some(CylindricalPath::at_rest(0.0, 0.0)), way("cylinder");
        /// A circle around a point.
        orbit: Option<Orbit> = None, way("orbit");
        /// A point on the camera's path, with its time; between keys the camera follows a Catmull-Rom spline.
        key: Vec<CameraKey> = Vec::new(), way("keys");
        /// After the last key the camera returns to the first, and the clip loops.
        closed: bool = false, way("keys"), last();
    }

    fn check(&mut self, table: &mut Table) {
        for (key, other) in [("look_at", "position"), ("position", "look_at")] {
            if !table.has(key) {
                table.problem_at(
                    other,
                    msg!("the camera has no `{key}`", key),
                    msg!("both `position` and `look_at`, or neither and the paths"),
                );
            }
        }
        let is_other = table.has("position") || !self.key.is_empty();
        if is_other {
            table.problem_at("orbit", msg!("the camera has an orbit and keys or a `position`"), msg!("one of them"));
        }
        let is_other = is_other || table.has("orbit");
        for name in ["eye", "target"] {
            if let Some(span) = table.first_span_in(name).filter(|_| is_other) {
                table.problem(
                    span,
                    msg!("the camera has [camera.{name}] and an orbit, keys or a `position`", name),
                    msg!("one of them: the others would be ignored"),
                );
            }
        }
        if table.is_faultless() {
            self.check_keys(table);
        }
    }
}

impl PathKeys {
    fn check_keys(&self, table: &mut Table) {
        let (Some(first), Some(last)) = (self.key.first(), self.key.last()) else {
            return table.problem_at(
                "closed",
                msg!("the camera has `closed` and no keys"),
                msg!("[[camera.key]] tables for it to close"),
            );
        };
        let mut wrong = |i: usize, what: Message, expected: Message| {
            let span = table.span_of(&format!("key.{i}")).unwrap_or_default();
            table.problem(span, what, expected);
        };
        if self.key.len() == 1 {
            wrong(
                0,
                msg!("the camera has one key"),
                msg!("at least two [[camera.key]]; a camera that stands still has `position` and `look_at`"),
            );
        }
        if self.position.is_some() {
            wrong(0, msg!("the camera has keys and a `position`"), msg!("one of them"));
        }
        for (i, pair) in self.key.windows(2).enumerate().filter(|(_, pair)| pair[1].time <= pair[0].time) {
            wrong(
                i + 1,
                msg!(
                    "this key's time, {time}, is not after the one before, {before}",
                    time = pair[1].time,
                    before = pair[0].time
                ),
                msg!("times that grow from key to key"),
            );
        }
        if self.closed && self.key.len() > 1 && last.time - first.time >= 1.0 {
            wrong(
                self.key.len() - 1,
                msg!("no time is left to close the loop"),
                msg!("its time below 1: the way back to the first key takes the rest of the clip"),
            );
        }
    }
}

written_as!(CameraPath, PathKeys);

impl From<PathKeys> for CameraPath {
    fn from(PathKeys { position, look_at, eye, target, orbit, key: keys, closed }: PathKeys) -> CameraPath {
        match (position.zip(look_at), orbit) {
            _ if keys.len() > 1 => CameraPath::Keys { keys, closed },
            (Some((position, look_at)), _) => CameraPath::Fixed { position, look_at },
            (None, Some(orbit)) => CameraPath::Orbit(orbit),
            _ => CameraPath::Cylinder { eye: eye.unwrap_or_default(), target: target.unwrap_or_default() },
        }
    }
}

impl From<&CameraPath> for PathKeys {
    fn from(path: &CameraPath) -> PathKeys {
        let mut keys = PathKeys { eye: None, target: None, ..PathKeys::default() };
        match path.clone() {
            CameraPath::Cylinder { eye, target } => (keys.eye, keys.target) = (Some(eye), Some(target)),
            CameraPath::Fixed { position, look_at } => (keys.position, keys.look_at) = (Some(position), Some(look_at)),
            CameraPath::Orbit(orbit) => keys.orbit = Some(orbit),
            CameraPath::Keys { keys: all, closed } => (keys.key, keys.closed) = (all, closed),
        }
        keys
    }
}

impl CameraPath {
    // Position, look-at point and field of view of a frame; and the angle that defines "right" for a camera that
    // looks straight down.
    fn at(&self, moment: f64, frames: u32, fov_deg: f64) -> (Vec3, Vec3, f64, f64) {
        match self {
            CameraPath::Cylinder { eye, target } => {
                let t = 2.0 * std::f64::consts::PI * moment / f64::from(frames);
                (eye.at(t), target.at(t), fov_deg, eye.angle(t))
            }
            // A camera at rest has the angle of the default path's first frame.
            CameraPath::Fixed { position, look_at } => (*position, *look_at, fov_deg, 0.0),
            CameraPath::Keys { keys, closed } => {
                let key = between(keys, *closed, moment / f64::from(frames));
                (key.position, key.look_at, key.fov_deg.max(0.01), 0.0)
            }
            CameraPath::Orbit(orbit) => {
                let (eye, angle) = orbit.at(moment / f64::from(frames));
                (eye, orbit.centre, fov_deg, angle)
            }
        }
    }
    /// A bound of the camera's distance from `origin` over the clip.
    pub(crate) fn reach(&self, origin: Vec3) -> f64 {
        let away = |point: Vec3| length(sub(point, origin));
        match self {
            CameraPath::Cylinder { eye: p, .. } => p.r0.abs() + p.ar.abs() + p.z0.abs() + p.az.abs() + length(origin),
            CameraPath::Fixed { position, .. } => away(*position),
            CameraPath::Orbit(orbit) => away(orbit.centre) + orbit.distance,
            // A spline leaves the hull of its keys by less than half of its size.
            CameraPath::Keys { keys, .. } => 2.0 * keys.iter().map(|k| away(k.position)).fold(0.0, f64::max),
        }
    }
    // A bound of the distance from the eye to the look-at point, and one of the field of view, over the clip.
    fn farthest(&self, fov_deg: f64) -> (f64, f64) {
        match self {
            CameraPath::Cylinder { target, .. } => {
                (self.reach([0.0; 3]) + CameraPath::Cylinder { eye: *target, target: *target }.reach([0.0; 3]), fov_deg)
            }
            CameraPath::Fixed { position, look_at } => (length(sub(*look_at, *position)), fov_deg),
            CameraPath::Orbit(orbit) => (orbit.distance, fov_deg),
            CameraPath::Keys { keys, .. } => {
                let most = |of: &dyn Fn(&CameraKey) -> f64| 2.0 * keys.iter().map(of).fold(0.0, f64::max);
                (most(&|k| length(sub(k.look_at, k.position))), most(&|k| k.fov_deg).min(179.9))
            }
        }
    }
}

// The spline's point at a time, by cubic Hermite pieces. The slope at a key is that between its neighbors.
fn between(keys: &[CameraKey], closed: bool, time: f64) -> CameraKey {
    let n = keys.len();
    // Key i, which may be out of range. A closed path continues with the same keys one clip later; otherwise there is
    // none.
    let key = |i: i64| -> Option<CameraKey> {
        let (round, at) = (i.div_euclid(n as i64), i.rem_euclid(n as i64) as usize);
        (closed || round == 0).then(|| CameraKey { time: keys[at].time + round as f64, ..keys[at] })
    };
    // Before the first key of a closed path, the clip is in the last piece.
    let time = if closed && time < keys[0].time { time + 1.0 } else { time };
    let last = keys.iter().rposition(|k| k.time <= time).unwrap_or(0) as i64;
    let (Some(a), Some(b)) = (key(last), key(last + 1)) else { return keys[last as usize] };
    if time <= a.time {
        return a;
    }
    let (before, after) = (key(last - 1).unwrap_or(a), key(last + 2).unwrap_or(b));
    let span = b.time - a.time;
    let t = (time - a.time) / span;
    let (t2, t3) = (t * t, t * t * t);
    let mix = |value: &dyn Fn(&CameraKey) -> f64| {
        let slope = |from: &CameraKey, to: &CameraKey| (value(to) - value(from)) / (to.time - from.time);
        let (m0, m1) = (slope(&before, &b) * span, slope(&a, &after) * span);
        value(&a) * (2.0 * t3 - 3.0 * t2 + 1.0)
            + m0 * (t3 - 2.0 * t2 + t)
            + value(&b) * (3.0 * t2 - 2.0 * t3)
            + m1 * (t3 - t2)
    };
    CameraKey {
        time,
        position: [0, 1, 2].map(|i| mix(&|k| k.position[i])),
        look_at: [0, 1, 2].map(|i| mix(&|k| k.look_at[i])),
        fov_deg: mix(&|k| k.fov_deg),
    }
}

// The minimum distance between the camera and its look-at point, in units. Below it, the camera has no direction.
const NEAREST: f64 = 1e-9;

impl Camera {
    /// Whether its picture is one plane.
    pub fn is_in_a_plane(&self) -> bool {
        !self.projection.is_round() && self.stereo == Stereo::None
    }

    // A plane has fields of view below 180 degrees.
    fn check_fields_of_view(&self, table: &mut Table) {
        let keys = if let CameraPath::Keys { keys, .. } = &self.path { &keys[..] } else { &[] };
        let of_keys = keys.iter().enumerate().map(|(i, key)| (format!("key.{i}.fov_deg"), key.fov_deg));
        for (path, fov_deg) in [("fov_deg".to_owned(), self.fov_deg)].into_iter().chain(of_keys) {
            if !self.projection.is_round() && !Rule::FieldOfView.allows(fov_deg) {
                let what = msg!("`{key}` is {what}", key = "fov_deg", what = fov_deg);
                table.problem_at(&path, what, Rule::FieldOfView.expected());
            }
        }
    }

    /// Maximum number of blades of the aperture.
    pub const MAX_BLADES: u32 = 16;

    /// The direction of the middle of the aperture's first side, in turns from right to up, 0 to 1.
    pub(crate) fn blade_turn(&self) -> f64 {
        let half_side = if self.aperture_blades > 0 { 0.5 / f64::from(self.aperture_blades) } else { 0.0 };
        (0.25 + half_side + self.aperture_rotation_deg / 360.0).rem_euclid(1.0)
    }

    /// A bound of the distance from `origin` at which rays begin over the clip, in pictures of this size.
    pub(crate) fn reach(&self, origin: Vec3, (width, height): (u32, u32)) -> f64 {
        let picture = match self.projection {
            Projection::Orthographic => {
                let (distance, fov_deg) = self.path.farthest(self.fov_deg);
                let view = View { fov_deg, distance, ..self.view(0, 1) };
                0.5 * view.units_per_pixel(width, height) * FovAxis::Diagonal.pixels(width, height)
            }
            _ => 0.0,
        };
        let eyes = if self.stereo == Stereo::None { 0.0 } else { 0.5 * self.eye_distance };
        self.path.reach(origin) + self.lens + eyes + picture
    }

    /// The view of frame `frame` of a clip of `frames`.
    pub fn view(&self, frame: u32, frames: u32) -> View {
        self.view_at(f64::from(frame), frames)
    }

    /// Whether the camera is at its look-at point, and so has no direction.
    pub fn is_blind(&self, frame: u32, frames: u32) -> bool {
        let (eye, target, ..) = self.path.at(f64::from(frame), frames, self.fov_deg);
        length(sub(target, eye)) <= NEAREST
    }

    /// The look-at point of the path.
    pub fn look_at(&self, frame: u32, frames: u32) -> Vec3 {
        self.path.at(f64::from(frame), frames, self.fov_deg).1
    }

    /// The view at a moment, in frames from the start of a clip of `frames`.
    pub fn view_at(&self, moment: f64, frames: u32) -> View {
        let (eye, target, fov_deg, phi) = self.path.at(moment, frames, self.fov_deg);
        let (sin, cos) = (libm::sin(phi), libm::cos(phi));
        let to = sub(target, eye);
        // Without a direction, the camera looks at the cylinder's axis.
        let forward = if length(to) > NEAREST { normalise(to) } else { [-cos, -sin, 0.0] };
        let sideways = cross(forward, [0.0, 0.0, 1.0]);
        // If the camera looks straight up or down, "right" is the limit for nearby directions: the tangent of the
        // path's circle.
        let right = if length(sideways) > 1e-9 { normalise(sideways) } else { [-sin, cos, 0.0] };
        let up = cross(right, forward);
        let [right, up, forward] = match &self.shake {
            Some(shake) => shake.turned([right, up, forward], moment / f64::from(frames)),
            None => [right, up, forward],
        };
        let Camera { projection, mapping, width, fov_axis, stereo, eye_distance, convergence, .. } = *self;
        // Splines leave the range of the keys.
        let is_spline = matches!(self.path, CameraPath::Keys { .. });
        let fov_deg = if is_spline { fov_deg.min(if projection.is_round() { 360.0 } else { 179.9 }) } else { fov_deg };
        View {
            eye,
            right,
            up,
            forward,
            fov_deg,
            fov_axis,
            projection,
            mapping,
            width,
            distance: length(to),
            stereo,
            half_eyes: 0.5 * eye_distance,
            convergence,
        }
    }
}
