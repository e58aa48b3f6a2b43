//! The camera of a scene in TOML.

use super::diagnostic::{Problem, Rule};
use super::toml::Validator;
use super::toml_keys::*;
use super::{Camera, CameraPath, CylindricalPath, Key, Orbit};
use toml::Spanned;

impl Validator {
    pub fn path(&mut self, raw: &RawPath, r: f64, z: f64) -> CylindricalPath {
        CylindricalPath {
            r0: self.number("r", &raw.r, r, Rule::Coordinate),
            z0: self.number("z", &raw.z, z, Rule::Coordinate),
            phi0: self.angle("phi_deg", &raw.phi_deg),
            ar: self.number("r_amplitude", &raw.r_amplitude, 0.0, Rule::Coordinate),
            az: self.number("z_amplitude", &raw.z_amplitude, 0.0, Rule::Coordinate),
            wr: self.number("r_cycles", &raw.r_cycles, 0.0, Rule::Finite),
            wz: self.number("z_cycles", &raw.z_cycles, 0.0, Rule::Finite),
            wphi: self.number("phi_cycles", &raw.phi_cycles, 0.0, Rule::Finite),
            pr: self.angle("r_phase_deg", &raw.r_phase_deg),
            pz: self.angle("z_phase_deg", &raw.z_phase_deg),
        }
    }
    pub fn camera(&mut self, raw: &RawCamera) -> Camera {
        let fixed = [&raw.position, &raw.look_at];
        for (key, value, other) in [("look_at", 0, 1), ("position", 1, 0)] {
            if let (Some(given), None) = (fixed[value], fixed[other]) {
                self.problems.push(Problem::new(
                    given.span(),
                    format!("the camera has no `{key}`"),
                    "expected both `position` and `look_at`, or neither and the paths",
                ));
            }
        }
        let fov_deg = self.number("fov_deg", &raw.fov_deg, 70.0, Rule::FieldOfView);
        let eye = self.within("path", |c| c.path(&raw.eye, 7.0, 3.0));
        let target = self.within("path", |c| c.path(&raw.target, 0.0, 0.0));
        let fixed = raw.position.as_ref().zip(raw.look_at.as_ref()).map(|(position, look_at)| CameraPath::Fixed {
            position: self.vector("position", position, Rule::Coordinate),
            look_at: self.vector("look_at", look_at, Rule::Coordinate),
        });
        let orbit = raw.orbit.as_ref().map(|orbit| self.within("orbit", |c| c.orbit(orbit.get_ref())));
        if let (Some(orbit), true) = (&raw.orbit, raw.position.is_some() || !raw.key.is_empty()) {
            let what = "the camera has an orbit and keys or a `position`";
            self.problems.push(Problem::new(orbit.span(), what, "expected one of them"));
        }
        for (name, path) in [("eye", &raw.eye), ("target", &raw.target)] {
            if let (Some(span), true) =
                (path.first_key(), raw.position.is_some() || raw.orbit.is_some() || !raw.key.is_empty())
            {
                let what = format!("the camera has [camera.{name}] and an orbit, keys or a `position`");
                self.problems.push(Problem::new(span, what, "expected one of them: the others would not count"));
            }
        }
        let before = self.problems.len();
        let keys: Vec<Key> = self.within("key", |c| raw.key.iter().map(|k| c.key(k, fov_deg)).collect());
        if self.problems.len() == before {
            self.check_keys(raw, &keys);
        }
        let path = match fixed {
            _ if keys.len() > 1 => CameraPath::Keys { keys, closed: raw.closed.as_ref().is_some_and(|c| *c.get_ref()) },
            Some(fixed) => fixed,
            None if orbit.is_some() => orbit.map_or(Camera::default().path, CameraPath::Orbit),
            None => CameraPath::Cylinder { eye, target },
        };
        Camera {
            fov_deg,
            path,
            lens: self.number("lens", &raw.lens, 0.0, Rule::NotNegative),
            focus: self.number("focus", &raw.focus, 1.0, Rule::Length),
            shutter: self.number("shutter", &raw.shutter, 0.0, Rule::Fraction),
        }
    }
    pub fn orbit(&mut self, raw: &RawOrbit) -> Orbit {
        Orbit {
            centre: self.triple("center", &raw.center, [0.0; 3], Rule::Coordinate),
            distance: self.number("distance", &raw.distance, 7.0, Rule::Length),
            elevation_deg: self.number("elevation_deg", &raw.elevation_deg, 15.0, Rule::Within(-90.0, 90.0)),
            azimuth_deg: self.number("azimuth_deg", &raw.azimuth_deg, 0.0, Rule::Finite),
            turns: self.number("turns", &raw.turns, 1.0, Rule::Finite),
            ease: self.number("ease", &raw.ease, 0.0, Rule::Fraction),
        }
    }
    fn key(&mut self, spanned: &Spanned<RawKey>, fov_deg: f64) -> Key {
        let raw = spanned.get_ref();
        self.require("time", "camera key", spanned.span(), &raw.time);
        self.require("position", "camera key", spanned.span(), &raw.position);
        self.require("look_at", "camera key", spanned.span(), &raw.look_at);
        Key {
            time: self.number("time", &raw.time, 0.0, Rule::Fraction),
            position: self.triple("position", &raw.position, [0.0; 3], Rule::Coordinate),
            look_at: self.triple("look_at", &raw.look_at, [0.0; 3], Rule::Coordinate),
            fov_deg: self.number("fov_deg", &raw.fov_deg, fov_deg, Rule::FieldOfView),
        }
    }
    fn check_keys(&mut self, raw: &RawCamera, keys: &[Key]) {
        let Some(first) = raw.key.first() else {
            if let Some(closed) = &raw.closed {
                let what = "the camera has `closed` and no keys";
                self.problems.push(Problem::new(closed.span(), what, "expected [[camera.key]] tables for it to close"));
            }
            return;
        };
        if keys.len() == 1 {
            let expected =
                "expected at least two [[camera.key]]; a camera that stands still has `position` and `look_at`";
            self.problems.push(Problem::new(first.span(), "the camera has one key", expected));
        }
        if raw.position.is_some() {
            let what = "the camera has keys and a `position`";
            self.problems.push(Problem::new(first.span(), what, "expected one of the two"));
        }
        for (pair, spanned) in keys.windows(2).zip(&raw.key[1..]) {
            if pair[1].time <= pair[0].time {
                let what = format!("this key's time, {}, is not after the one before, {}", pair[1].time, pair[0].time);
                self.problems.push(Problem::new(spanned.span(), what, "expected times that grow from key to key"));
            }
        }
        let closes = raw.closed.as_ref().is_some_and(|c| *c.get_ref())
            && keys.len() > 1
            && keys[keys.len() - 1].time - keys[0].time >= 1.0;
        if let (true, Some(last)) = (closes, raw.key.last()) {
            let expected = "expected its time below 1: the way back to the first key takes the rest of the clip";
            self.problems.push(Problem::new(last.span(), "no time is left to close the loop", expected));
        }
    }
}
