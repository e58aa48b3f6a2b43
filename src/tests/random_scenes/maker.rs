//! Generates random scenes with all features: a text in TOML, and the files that it names.

mod camera;
mod changes;
mod files;
mod materials;
mod shapes;

use crate::scene::limits::{FARTHEST, MIN_LENGTH};
use crate::tests::common::Draws;
use std::fmt::Write;
use std::path::Path;

/// A scene, and the frame to render.
pub struct Made {
    pub text: String,
    pub frame: u32,
}

/// The scene of a seed. A tame scene has only what the oracle supports, in sizes around 1. A wild scene uses all
/// keys, with magnitudes up to the limits.
pub fn make(seed: u64, wild: bool, dir: &Path) -> Made {
    let mut draws = Draws(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    (0..8).for_each(|_| {
        draws.next();
    });
    let mut m = SceneMaker {
        draws,
        unit: 1.0,
        wild,
        path: false,
        ao: false,
        uneven: false,
        fast: false,
        frames: 1,
        projection: "perspective",
        is_stereo: false,
        dir,
        text: String::new(),
    };
    m.path = wild && m.chance(0.5);
    m.ao = wild && !m.path && m.chance(0.2);
    if wild && m.chance(0.6) {
        m.unit = m.one_of(&[1e-6, 1e-3, 1e3, 1e6, 1e9, 3e10]);
    }
    if wild && m.chance(0.5) {
        m.frames = m.one_of(&[2, 3, 7]);
    }
    m.fast = m.frames > 1 && m.some(0.3);
    let frame = m.below(m.frames as usize) as u32;
    if m.some(0.5) {
        m.projection = m.one_of(&["orthographic", "orthographic", "panorama", "fisheye"]);
    }
    m.is_stereo = m.projection != "orthographic" && m.some(0.25);
    m.output_and_render();
    m.film();
    // A transparent sky excludes a shutter.
    let transparent = wild && !m.uneven && !m.fast && m.chance(0.1);
    m.sky(transparent);
    if !transparent {
        m.air();
    }
    m.camera(transparent);
    // An empty scene is invalid.
    let radius = m.length(0.3, 0.9);
    m.add(format_args!("[[sphere]]\nradius = {radius:e}\nreflection = 0.2"));
    m.shapes();
    m.floor();
    m.lights();
    m.standing();
    if m.some(0.4) {
        m.over_time();
    }
    if m.chance(0.05) {
        m.text = m.text.replace("color", "colour").replace("center", "centre");
    }
    Made { text: m.text, frame }
}

struct SceneMaker<'a> {
    draws: Draws,
    // The scene's unit of length.
    unit: f64,
    wild: bool,
    path: bool,
    ao: bool,
    // Adaptive sampling is on.
    uneven: bool,
    // So much moves while the shutter is open that pixels have their own moments.
    fast: bool,
    frames: u32,
    projection: &'static str,
    is_stereo: bool,
    dir: &'a Path,
    text: String,
}

// The available materials depend on the shape.
#[derive(Clone, Copy, PartialEq)]
enum MaterialUse {
    Body,
    Thing,
    Floor,
}

impl SceneMaker<'_> {
    // Whether pixels are angles.
    fn is_round(&self) -> bool {
        matches!(self.projection, "panorama" | "fisheye")
    }
    fn below(&mut self, n: usize) -> usize {
        ((self.draws.next() * n as f32) as usize).min(n - 1)
    }
    fn chance(&mut self, share: f32) -> bool {
        self.draws.next() < share
    }
    // True with this probability in wild scenes; never in tame ones.
    fn some(&mut self, share: f32) -> bool {
        self.wild && self.chance(share)
    }
    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * f64::from(self.draws.next())
    }
    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
    fn length(&mut self, low: f64, high: f64) -> f64 {
        self.between(low, high) * self.unit
    }
    fn point(&mut self, reach: f64) -> String {
        let mut p = [0; 3].map(|_| self.length(-reach, reach));
        // Axis-aligned lines and planes test the handling of exact zeros.
        if self.some(0.15) {
            p[self.below(3)] = 0.0;
        }
        if self.some(0.1) {
            p[self.below(3)] = 0.0;
        }
        format!("[{:e}, {:e}, {:e}]", p[0], p[1], p[2])
    }
    fn colour(&mut self) -> String {
        let c = [0; 3].map(|_| self.one_of(&[0.0, 1.0, 0.3, 0.8, 0.55]));
        format!("[{}, {}, {}]", c[0], c[1], c[2])
    }
    fn bright(&mut self) -> &'static str {
        self.one_of(&["[1, 1, 1]", "[0.3, 0.9, 0]", "[0, 0, 0]", "[30, 2, 0.1]", "[1e6, 3, 0]"])
    }
    fn share(&mut self) -> f64 {
        self.one_of(&[0.0, 0.0, 0.3, 0.5, 0.9, 1.0])
    }
    fn ior(&mut self) -> f64 {
        if self.wild { self.one_of(&[1.0, 1.0, 1.5, 0.6, 0.01, 100.0]) } else { self.one_of(&[1.0, 1.0, 1.5, 0.8]) }
    }
    fn turns(&mut self) -> f64 {
        self.one_of(&[0.0, 1.0, 0.25, -0.5, 3.7])
    }
    fn add(&mut self, line: std::fmt::Arguments) {
        let _ = self.text.write_fmt(line);
        self.text.push('\n');
    }
    // A picture of a few random pixels.
    fn picture(&mut self, name: &str) -> String {
        let (w, h) = self.one_of(&[(1, 1), (5, 3), (16, 16), (8, 32)]);
        let pixels = image::RgbImage::from_fn(w, h, |_, _| image::Rgb([0; 3].map(|_| self.below(256) as u8)));
        pixels.save(self.dir.join(name)).unwrap();
        name.to_owned()
    }

    fn output_and_render(&mut self) {
        let size = if self.wild { self.one_of(&["[32, 24]", "[33, 21]", "[17, 35]"]) } else { "[48, 36]" };
        let (samples, depth) =
            if self.path { (self.one_of(&[1, 3]), self.one_of(&[0, 4, 40])) } else { (1, self.one_of(&[1, 5, 12])) };
        self.uneven = !self.fast && self.some(0.2);
        let samples = if self.fast {
            if self.path || self.ao { "4" } else { "2" }.to_owned()
        } else if self.uneven {
            self.one_of(&["\"1..6\"", "\"2..9\""]).to_owned()
        } else if self.some(0.2) {
            "2".to_owned()
        } else {
            samples.to_string()
        };
        let cutoff = if self.wild { self.one_of(&[0.002, 0.02, 1e-6]) } else { 0.01 };
        let depth = if cutoff < 1e-5 { depth.min(6) } else { depth };
        let frames = self.frames;
        self.add(format_args!(
            "[output]\nframes = {frames}\nsize = {size}\n[render]\nsamples = {samples}\ndepth = {depth}\ncutoff = {cutoff:e}"
        ));
        if self.path {
            self.add(format_args!("integrator = \"path\""));
            if self.chance(0.2) {
                let clamp = self.one_of(&[0.0, 0.5, 10.0]);
                self.add(format_args!("clamp = {clamp}"));
            }
        } else if self.ao {
            self.add(format_args!("integrator = \"ao\""));
            if self.chance(0.6) {
                let reach = self.length(0.2, 3.0);
                self.add(format_args!("ao_reach = {reach:e}"));
            }
        } else if self.some(0.3) {
            let lamp_samples = self.one_of(&["1", "5", "\"all\"", "0"]);
            self.add(format_args!("lamp_samples = {lamp_samples}"));
        }
        if (self.uneven && self.chance(0.5)) || ((self.path || self.ao) && self.chance(0.1)) {
            let noise = self.one_of(&[0.0, 0.5, 8.0]);
            self.add(format_args!("noise = {noise}"));
            self.uneven = true;
        }
        if !self.path && !self.ao && self.some(0.2) {
            let (rays, reach) = (self.one_of(&[1, 2, 5]), self.length(0.2, 3.0));
            self.add(format_args!("ao_samples = {rays}"));
            if self.chance(0.6) {
                self.add(format_args!("ao_reach = {reach:e}"));
            }
        }
        if !self.ao && self.some(0.3) {
            self.add(format_args!("caustics = true"));
        }
        if self.some(0.2) {
            self.add(format_args!("shadows = false"));
        }
        if self.some(0.2) {
            let rays = self.one_of(&[1, 2, 7]);
            self.add(format_args!("light_samples = {rays}"));
        }
        if self.some(0.2) {
            self.add(format_args!("ambient = [1e6, 1, 0]\nhighlight = 50"));
        }
    }

    fn film(&mut self) {
        // Sometimes in the old table of the keys.
        let early = self.some(0.05);
        if !early {
            self.add(format_args!("[film]"));
        }
        if self.some(0.4) {
            let tone = self.one_of(&["soft", "clip", "neutral", "filmic", "agx"]);
            self.add(format_args!("tone = \"{tone}\""));
            if !early && self.some(0.2) {
                let look = self.one_of(&["film", "plain"]);
                self.add(format_args!("look = \"{look}\""));
            }
            if tone == "agx" && !early && self.chance(0.5) {
                let (contrast, saturation) = (self.one_of(&[0.25, 1.2, 4.0]), self.one_of(&[0.0, 1.3, 4.0]));
                self.add(format_args!("contrast = {contrast}\nsaturation = {saturation}"));
            }
            if tone == "clip" {
                let gamma = self.one_of(&[0.0, 1.0, 2.2]);
                self.add(format_args!("gamma = {gamma}"));
            }
        }
        if early {
            self.add(format_args!("[film]"));
        }
        if self.some(0.2) {
            let filter = self.one_of(&["box", "tent", "blackman-harris"]);
            self.add(format_args!("filter = \"{filter}\""));
        }
        if self.some(0.2) {
            let exposure = self.one_of(&["-3", "1.5", "20", "\"auto\""]);
            self.add(format_args!("exposure = {exposure}"));
        }
        if self.some(0.1) {
            let kelvin = self.one_of(&[3000, 6504, 12000]);
            self.add(format_args!("white_balance = {kelvin}"));
        }
        if self.some(0.15) {
            let (bloom, radius) = (self.share(), self.one_of(&[0.01, 0.1, 0.5]));
            self.add(format_args!("bloom = {bloom}\nbloom_radius = {radius}"));
        }
        if self.some(0.15) {
            let (glare, length, rays) = (self.share(), self.one_of(&[0.0, 0.1, 1.0]), self.one_of(&[0, 1, 4, 32]));
            self.add(format_args!("glare = {glare}\nglare_length = {length}\nglare_rays = {rays}"));
        }
        if self.some(0.1) {
            let (streak, length) = (self.share(), self.one_of(&[0.0, 0.5, 4.0]));
            self.add(format_args!("streak = {streak}\nstreak_length = {length}"));
        }
        if self.some(0.1) {
            let denoise = self.one_of(&["none", "guided"]);
            self.add(format_args!("denoise = \"{denoise}\""));
            let is_plane = !self.is_round() && !self.is_stereo;
            let frames = if is_plane { self.one_of(&[0, 0, 1, 2]) } else { 0 };
            self.add(format_args!("denoise_frames = {frames}"));
        }
        if self.some(0.1) {
            let (vignette, grain) = (self.share(), self.share());
            if !self.is_round() {
                self.add(format_args!("vignette = {vignette}"));
            }
            self.add(format_args!("grain = {grain}"));
        }
        if self.some(0.2) {
            let dither = self.one_of(&[true, false]);
            self.add(format_args!("dither = {dither}"));
        }
    }

    fn air(&mut self) {
        if self.some(0.2) {
            let (density, colour) = (self.one_of(&[0.0, 0.02, 0.3, 50.0]), self.one_of(&["0.8", "[0.2, 0.5, 0.9]"]));
            let glow = self.one_of(&[0.0, 0.0, 0.05, 3.0]);
            self.add(format_args!("[air]\ndensity = {density}\nglow = {glow}\ncolor = {colour}"));
            if self.some(0.5) {
                let height = self.one_of(&[0.001, 3.0, 1e6]);
                self.add(format_args!("height = {height}"));
            }
        }
    }
    fn sky(&mut self, transparent: bool) {
        if !self.wild {
            return;
        }
        self.add(format_args!("[sky]"));
        if self.chance(0.4) {
            let image = match self.below(7) {
                0 => self.picture("sky.png"),
                1 => "@studio".to_owned(),
                2 => "@night".to_owned(),
                3 => "@overcast".to_owned(),
                4 => "@sun".to_owned(),
                _ => "@dusk".to_owned(),
            };
            let (turn, intensity) = (self.one_of(&[0.0, 77.0, -1000.0]), self.one_of(&[1.0, 0.0, 25.0, 1e6]));
            self.add(format_args!("image = \"{image}\"\nrotation_deg = {turn}\nintensity = {intensity:e}"));
            if image == "@sun" {
                let (height, size) = (self.one_of(&[-18.0, 0.0, 30.0, 90.0]), self.one_of(&[0.1, 0.53, 30.0]));
                let (turbidity, ground) = (self.one_of(&[1.0, 2.0, 10.0]), self.colour());
                self.add(format_args!("sun_elevation_deg = {height}\nsun_size_deg = {size}"));
                self.add(format_args!("turbidity = {turbidity}\nground = {ground}"));
            }
        } else if self.chance(0.5) {
            let (zenith, horizon) = (self.bright(), self.bright());
            self.add(format_args!("zenith = {zenith}\nhorizon = {horizon}"));
            let below = self.chance(0.5);
            self.add(format_args!("from_below = {below}"));
        }
        if transparent {
            self.add(format_args!("transparent = true"));
        }
    }

    fn bodies(&mut self) {
        for _ in 0..self.one_of(&[0, 1, 2, 4, 12]) {
            let solid = self.one_of(&["tetrahedron", "cube", "octahedron", "dodecahedron", "icosahedron"]);
            let (center, radius) = (self.point(2.5), self.length(0.3, 2.0));
            self.add(format_args!("[[body]]\nsolid = \"{solid}\"\ncenter = {center}\nradius = {radius:e}"));
            let before = self.text.len();
            self.material(MaterialUse::Body);
            let material = &self.text[before..];
            let rough = material.contains("roughness = ") && !material.contains("roughness = 0\n");
            let bar = self.one_of(&[0.0, 0.02, 0.05]);
            self.add(format_args!("bar = {bar}"));
            if self.wild && self.chance(0.3) {
                let bevel = self.one_of(&[1e-30, 0.01, 0.1, 1.0]);
                self.add(format_args!("bevel = {bevel:e}"));
            }
            if self.wild && self.chance(0.15) {
                let own = self.picture("floor.png");
                let texture = self.one_of(&["@checker", "@slate", "@wood", &own]).to_owned();
                self.add(format_args!("texture = \"{texture}\""));
            }
            if self.some(0.5) {
                let lamps = self.one_of(&["0", "3", "40", "\"strip\""]);
                self.add(format_args!("lamps = {lamps}"));
                self.lamps();
            }
            if self.some(0.2) {
                let (colour, reflection) = (self.colour(), self.share());
                self.add(format_args!("bar_color = {colour}\nbar_reflection = {reflection}"));
            }
            if self.some(0.3) {
                let axis = self.one_of(&["[1, 2, 3]", "[1, -1, 0]", "[0, 0, 1]", "[0, 1, 0]"]);
                let angle = self.one_of(&[40.0, 45.0, 90.0, -120.0]);
                self.add(format_args!("axis = {axis}\nangle_deg = {angle}"));
            }
            if self.frames > 1 && self.some(0.3) {
                let (turns, drift) = (self.turns(), self.point(1.0));
                self.add(format_args!("turns = {turns}\ndrift = {drift}"));
                if self.chance(0.3) {
                    self.cylinder("body.path", 1.0);
                }
            }
            if self.wild && self.chance(0.15) {
                self.add(format_args!("[body.relief]"));
                self.maps(rough, false);
            }
        }
    }
    fn lamps(&mut self) {
        if self.chance(0.5) {
            let (colour, intensity) = (self.bright(), self.one_of(&[0.0, 1.0, 7.5, 1000.0]));
            self.add(format_args!("lamp_color = {colour}\nlamp_intensity = {intensity}"));
        }
        if self.chance(0.5) {
            let (shape, core) = (self.one_of(&["dome", "disc"]), self.share());
            self.add(format_args!("lamp_shape = \"{shape}\"\nlamp_core = {core}"));
        }
        if self.chance(0.4) {
            let sides = self.one_of(&["both", "outside", "inside"]);
            self.add(format_args!("lamp_sides = \"{sides}\""));
        }
        if self.chance(0.5) {
            let pattern = self.one_of(&["pulse", "hue", "chase"]);
            let cycles = self.turns();
            self.add(format_args!(
                "lamp_pattern = \"{pattern}\"\nlamp_cycles = {cycles}\nlamp_phase = {}",
                0.3 * cycles
            ));
        }
    }

    fn spheres(&mut self) {
        for _ in 0..self.one_of(&[0, 1, 3, 20]) {
            let (center, radius) = (self.point(2.5), self.length(0.02, 0.8));
            // Some contain much of the scene, including the camera.
            let radius = if self.some(0.1) { radius * 30.0 } else { radius };
            self.add(format_args!("[[sphere]]\ncenter = {center}\nradius = {radius:e}"));
            self.material(MaterialUse::Thing);
        }
    }
    fn ellipsoids(&mut self) {
        for _ in 0..if self.chance(0.3) { self.one_of(&[1, 2, 4]) } else { 0 } {
            let (center, [a, b, c]) = (self.point(2.5), [0; 3].map(|_| self.length(0.05, 1.2)));
            let axis = self.one_of(&["[0, 0, 1]", "[1, 1, 0]", "[1, -2, 0.5]"]);
            let angle = self.one_of(&[0.0, 30.0, 90.0]);
            self.add(format_args!(
                "[[ellipsoid]]\ncenter = {center}\nradii = [{a:e}, {b:e}, {c:e}]\naxis = {axis}\nangle_deg = {angle}"
            ));
            self.material(MaterialUse::Thing);
        }
    }
    fn rectangles(&mut self) {
        if !self.some(0.4) {
            return;
        }
        for _ in 0..self.one_of(&[1, 2, 5]) {
            let (center, w, h) = (self.point(3.0), self.length(0.1, 4.0), self.length(0.1, 4.0));
            let facing = self.one_of(&["[0, 0, -1]", "[1, 1, 0]", "[1, -2, 0.5]"]);
            let angle = self.one_of(&[0.0, 30.0, 90.0]);
            self.add(format_args!(
                "[[rectangle]]\ncenter = {center}\nsize = [{w:e}, {h:e}]\nfacing = {facing}\nangle_deg = {angle}"
            ));
            let before = self.text.len();
            self.material(MaterialUse::Thing);
            if self.wild && !self.text[before..].contains("\"light\"") && self.chance(0.3) {
                let texture = self.one_of(&["@checker", "@wood"]);
                self.add(format_args!("texture = \"{texture}\""));
            }
        }
    }
    fn floor(&mut self) {
        if !self.chance(0.6) {
            return;
        }
        let (z, bend, size) =
            (self.length(-2.5, 0.0), self.one_of(&[0.0, 0.0, 0.7]) * self.unit, self.length(2.0, 8.0));
        let texture = match if self.wild { self.below(5) } else { 0 } {
            1 => "@checker".to_owned(),
            2 => "@wood".to_owned(),
            3 => "@marble".to_owned(),
            4 => self.picture("floor.png"),
            _ => "none".to_owned(),
        };
        self.add(format_args!(
            "[floor]\ncorners = [[{a:e},{a:e},{z:e}],[{a:e},{b:e},{c:e}],[{b:e},{b:e},{z:e}],[{b:e},{a:e},{z:e}]]\n\
             texture = \"{texture}\"",
            a = -size,
            b = size,
            c = z + bend
        ));
        let before = self.text.len();
        self.material(MaterialUse::Floor);
        let rough = self.text[before..].contains("roughness = ") && !self.text[before..].contains("roughness = 0\n");
        let coated = self.text[before..].contains("coat = ");
        if bend == 0.0 && self.some(0.5) {
            let (shape, fade) = (self.one_of(&["square", "round", "infinite"]), self.one_of(&[0.0, 0.5, 3.0, 20.0]));
            let fade = if coated && shape != "infinite" { 0.0 } else { fade * self.unit };
            self.add(format_args!("size = \"{shape}\"\nfade = {fade:e}"));
        }
        if self.some(0.3) {
            let colour = self.colour();
            self.add(format_args!("ground = {colour}"));
        }
        if self.some(0.4) {
            self.relief(rough, bend == 0.0);
        }
    }
    fn relief(&mut self, rough: bool, plane: bool) {
        let before = self.text.len();
        self.add(format_args!("[floor.relief]"));
        self.maps(rough, true);
        if plane && self.text[before..].contains("bump = ") && self.chance(0.4) {
            self.add(format_args!("displaced = true"));
        }
    }
    // The maps of a relief.
    fn maps(&mut self, rough: bool, drifts: bool) {
        match self.below(4) {
            0 => {
                let map = self.picture("normals.png");
                self.add(format_args!("normal_map = \"{map}\""));
            }
            which => {
                let bump = if which == 1 {
                    self.picture("bumps.png")
                } else {
                    self.one_of(&["@ripples", "@tiles", "@puddles", "@slate", "@brushed", "@scratches", "@dust"]).into()
                };
                let depth = (self.one_of(&[0.001, 0.1, 2.0]) * self.unit).max(MIN_LENGTH);
                self.add(format_args!("bump = \"{bump}\"\ndepth = {depth:e}"));
            }
        }
        let tiles = self.one_of(&[1, 3, 40]);
        self.add(format_args!("tiles = {tiles}"));
        if rough && self.chance(0.5) {
            let map = self.one_of(&["@puddles", "@tiles", "@dust", "@scratches"]);
            self.add(format_args!("roughness_map = \"{map}\""));
        } else if drifts && self.chance(0.4) {
            let (u, v) = (self.turns(), self.turns());
            self.add(format_args!("drift = [{u}, {v}]"));
        }
        if drifts && self.chance(0.3) {
            self.add(format_args!("glitter = 0.9"));
        }
        if self.chance(0.3) {
            self.add(format_args!("offset = [0.25, -3]"));
        }
    }

    fn lights(&mut self) {
        for _ in 0..self.one_of(&[0, 1, 2, 9]) {
            let far = if self.wild { self.one_of(&[1.0, 1.0, 1e3, 1e7, 1e9]) } else { 1.0 };
            let reach = (6.0_f64 * far).min(0.9 * FARTHEST / self.unit);
            let position = self.point(reach);
            let colour = if self.wild { self.bright() } else { "[0.9, 0.8, 1]" };
            self.add(format_args!("[[light]]\nposition = {position}\ncolor = {colour}"));
            if self.some(0.3) {
                let radius = self.length(0.01, 2.0);
                self.add(format_args!("radius = {radius:e}"));
            }
        }
    }
}
