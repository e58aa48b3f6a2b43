//! The camera of a random scene.

use super::SceneMaker;
use crate::scene::limits::{FARTHEST, MIN_LENGTH};

impl SceneMaker<'_> {
    pub(super) fn camera(&mut self, transparent: bool) {
        let fov = if self.is_round() {
            self.one_of(&[360.0, 360.0, 180.0, 220.0, 90.0, 1e-9])
        } else if self.wild {
            self.one_of(&[1.0, 35.0, 50.0, 90.0, 120.0, 170.0, 1e-9, 1e-20])
        } else {
            60.0
        };
        self.add(format_args!("[camera]\nfov_deg = {fov}"));
        if self.wild && self.some(0.3) {
            let axis = self.one_of(&["horizontal", "vertical", "diagonal"]);
            self.add(format_args!("fov_axis = \"{axis}\""));
        }
        let projection = self.projection;
        if projection != "perspective" {
            self.add(format_args!("projection = \"{projection}\""));
        }
        if projection == "fisheye" {
            let mapping = self.one_of(&["equidistant", "equisolid"]);
            self.add(format_args!("mapping = \"{mapping}\""));
        }
        if projection == "orthographic" && self.chance(0.6) {
            let width = (self.one_of(&[0.05, 3.0, 8.0, 1e3]) * self.unit).clamp(MIN_LENGTH, FARTHEST);
            self.add(format_args!("width = {width:e}"));
        }
        if self.is_stereo {
            let stereo = self.one_of(&["side-by-side", "over-under"]);
            let eyes = self.one_of(&[0.0, 0.065, 1.0, 1e3]) * self.unit;
            self.add(format_args!("stereo = \"{stereo}\"\neye_distance = {eyes:e}"));
            if self.chance(0.5) {
                let convergence = (self.one_of(&[0.01, 2.0, 1e6]) * self.unit).clamp(MIN_LENGTH, FARTHEST);
                self.add(format_args!("convergence = {convergence:e}"));
            }
        }
        if projection == "perspective" && self.some(0.3) {
            let (lens, focus) =
                (self.one_of(&[0.1, 1e-4, 3.0]) * self.unit, self.one_of(&[1.0, 1e-3, 50.0]) * self.unit);
            let focus = focus.clamp(MIN_LENGTH, FARTHEST);
            self.add(format_args!("lens = {lens:e}\nfocus = {focus:e}"));
            if self.some(0.6) {
                let (blades, turn, ratio) =
                    (self.one_of(&[0, 3, 5, 16]), self.one_of(&[0.0, 17.0, -90.0, 1e4]), self.one_of(&[1.0, 2.0, 0.1]));
                self.add(format_args!(
                    "aperture_blades = {blades}\naperture_rotation_deg = {turn}\naperture_ratio = {ratio}"
                ));
            }
        }
        if self.fast || !self.uneven && !transparent && self.some(0.2) {
            let shutter = if self.fast { 1.0 } else { self.one_of(&[0.0, 0.5, 1.0]) };
            self.add(format_args!("shutter = {shutter}"));
        }
        let shake =
            self.some(0.2).then(|| (self.one_of(&[0.0, 0.3, 45.0]), self.one_of(&[1, 7, 10_000]), self.below(9)));
        self.path();
        if let Some((angle, cycles, seed)) = shake {
            self.add(format_args!("[camera.shake]\nangle_deg = {angle}\ncycles = {cycles}\nseed = {seed}"));
        }
    }
    fn path(&mut self) {
        match if self.fast {
            3
        } else if self.wild {
            self.below(6)
        } else {
            0
        } {
            3 => {
                let (center, distance) = (self.point(1.0), self.length(1.0, 6.0));
                let (elevation, azimuth) = (self.one_of(&[0.0, 20.0, -90.0, 90.0]), self.one_of(&[0.0, 90.0, -33.0]));
                let (turns, ease) = if self.fast { (0.25, 0.0) } else { (self.turns(), self.share()) };
                self.add(format_args!(
                    "[camera.orbit]\ncenter = {center}\ndistance = {distance:e}\nelevation_deg = {elevation}\n\
                     azimuth_deg = {azimuth}\nturns = {turns}\nease = {ease}"
                ));
            }
            4 => {
                let closed = self.chance(0.5);
                self.add(format_args!("closed = {closed}"));
                for time in [0.1, 0.4, 0.9] {
                    let (position, look_at, fov) = (self.point(3.5), self.point(0.5), self.between(20.0, 100.0));
                    self.add(format_args!(
                        "[[camera.key]]\ntime = {time}\nposition = {position}\nlook_at = {look_at}\nfov_deg = {fov}"
                    ));
                }
            }
            5 => {
                self.cylinder("camera.eye", 4.0);
                self.cylinder("camera.target", 0.5);
            }
            _ => {
                let (position, at) =
                    (self.point(3.5), if self.some(0.2) { self.point(1.0) } else { "[0, 0, 0]".to_owned() });
                self.add(format_args!("position = {position}\nlook_at = {at}"));
            }
        }
    }
    pub(super) fn cylinder(&mut self, table: &str, reach: f64) {
        let (r, z, phi) = (self.length(0.2, reach), self.length(-reach, reach), self.one_of(&[0.0, 90.0, 211.0]));
        let (ar, az) = (self.length(0.0, reach), self.length(0.0, reach));
        let (wr, wz, wphi) = (self.turns(), self.turns(), self.turns());
        let (pr, pz) = (self.one_of(&[0.0, 45.0]), self.one_of(&[0.0, 180.0]));
        self.add(format_args!(
            "[{table}]\nr = {r:e}\nz = {z:e}\nphi_deg = {phi}\nr_amplitude = {ar:e}\nz_amplitude = {az:e}\nr_cycles = {wr}\n\
             z_cycles = {wz}\nphi_cycles = {wphi}\nr_phase_deg = {pr}\nz_phase_deg = {pz}"
        ));
    }
}
