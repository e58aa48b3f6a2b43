//! Random scenes of all features, with magnitudes up to what is accepted: every instruction set gives the same bytes, and
//! tame ones are what the oracle sees.
//!
//! POLYFLY_RANDOM_SCENES=N tries more of them.

use super::common::*;
use super::second_opinion::agree;
use crate::scene::Scene;
use std::fmt::Write;
use std::path::Path;

struct Maker<'a> {
    draws: Draws,
    // Of the scene's units.
    unit: f64,
    wild: bool,
    dir: &'a Path,
    text: String,
}

impl Maker<'_> {
    fn below(&mut self, n: usize) -> usize {
        ((self.draws.next() * n as f32) as usize).min(n - 1)
    }
    fn chance(&mut self, share: f32) -> bool {
        self.draws.next() < share
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
        let p = [0; 3].map(|_| self.length(-reach, reach));
        format!("[{:e}, {:e}, {:e}]", p[0], p[1], p[2])
    }
    fn colour(&mut self) -> String {
        let c = [0; 3].map(|_| self.one_of(&[0.0, 1.0, 0.3, 0.8, 0.55]));
        format!("[{}, {}, {}]", c[0], c[1], c[2])
    }
    fn share(&mut self) -> f64 {
        self.one_of(&[0.0, 0.0, 0.3, 0.5, 0.9, 1.0])
    }
    fn ior(&mut self) -> f64 {
        if self.wild { self.one_of(&[1.0, 1.0, 1.5, 0.6, 0.01, 100.0]) } else { self.one_of(&[1.0, 1.0, 1.5, 0.8]) }
    }
    fn add(&mut self, line: std::fmt::Arguments) {
        let _ = self.text.write_fmt(line);
        self.text.push('\n');
    }
    fn material(&mut self, path: bool) {
        let colour = self.colour();
        // The oracle's Whitted knows plain materials only.
        let which = if self.wild { self.below(6) } else { 0 };
        if which < 5 {
            self.add(format_args!("color = {colour}"));
        }
        match which {
            5 => {
                let wide = self.share();
                self.add(format_args!("material = \"gold\"\nroughness = {wide}"));
            }
            0 | 1 => {
                let (r, t, ior) = (self.share(), self.share(), self.ior());
                let t = if self.wild { t } else { t.min(1.0 - r) };
                self.add(format_args!("reflection = {r}\ntransparency = {t}\nior = {ior}"));
            }
            2 => {
                let key = self.one_of(&["fuzz", "roughness"]);
                let wide = self.share();
                self.add(format_args!("material = \"metal\"\n{key} = {wide}"));
            }
            3 => {
                let ior = self.ior();
                let more = self.one_of(&["", "abbe = 20", "tint_distance = 0.3", "abbe = 5\ntint_distance = 2"]);
                self.add(format_args!("material = \"glass\"\nior = {ior}\n{more}"));
            }
            _ => {
                let strength = if path { self.one_of(&[0.0, 1.0, 20.0, 1e6]) } else { 1.0 };
                self.add(format_args!("material = \"light\"\nstrength = {strength:e}"));
            }
        }
    }
    fn bodies(&mut self) {
        let most = self.one_of(&[0, 1, 2, 4, 12]);
        for _ in 0..most {
            let solid = self.one_of(&["tetrahedron", "cube", "octahedron", "dodecahedron", "icosahedron"]);
            let (centre, radius, colour) = (self.point(2.5), self.length(0.3, 2.0), self.colour());
            self.add(format_args!(
                "[[body]]\nsolid = \"{solid}\"\ncenter = {centre}\nradius = {radius:e}\ncolor = {colour}"
            ));
            let (r, t, ior) = (self.share(), self.share(), self.ior());
            let t = if self.wild { t } else { t.min(1.0 - r) };
            let (bar, lamps) =
                (self.one_of(&[0.0, 0.02, 0.05]), if self.wild { self.one_of(&[0, 0, 3, 40]) } else { 0 });
            let rough = self.share();
            match self.below(if self.wild { 8 } else { 5 }) {
                0 => self.add(format_args!("material = \"glass\"\nior = {ior}")),
                5 => self.add(format_args!("material = \"glass\"\nior = {ior}\nabbe = 9\ntint_distance = {radius:e}")),
                6 => self.add(format_args!("material = \"metal\"\nroughness = {rough}")),
                7 => self.add(format_args!("reflection = {r}\ntransparency = {t}\nior = {ior}\nroughness = {rough}")),
                _ => self.add(format_args!("reflection = {r}\ntransparency = {t}\nior = {ior}")),
            }
            self.add(format_args!("bar = {bar}\nlamps = {lamps}"));
            if self.wild && self.chance(0.2) {
                self.add(format_args!("axis = [1, 2, 3]\nangle_deg = 40"));
            }
            if self.wild && self.chance(0.2) {
                self.add(format_args!("lamp_color = [1e6, 3, 0]"));
            }
        }
    }
    fn spheres(&mut self, path: bool) {
        let most = self.one_of(&[0, 1, 3, 20]);
        for _ in 0..most {
            let (centre, radius) = (self.point(2.5), self.length(0.02, 0.8));
            // Some hold much of the scene, the eye too.
            let radius = if self.wild && self.chance(0.1) { radius * 30.0 } else { radius };
            self.add(format_args!("[[sphere]]\ncenter = {centre}\nradius = {radius:e}"));
            self.material(path);
        }
    }
    fn mesh(&mut self, path: bool) {
        if !self.chance(0.4) {
            return;
        }
        let mut obj = String::new();
        let triangles = self.one_of(&[1, 5, 60]);
        for i in 0..triangles {
            let middle = [0; 3].map(|_| self.between(-2.0, 2.0));
            for _ in 0..3 {
                let corner = middle.map(|x| x + self.between(-0.6, 0.6));
                let _ = writeln!(obj, "v {} {} {}", corner[0], corner[1], corner[2]);
            }
            let _ = writeln!(obj, "f {} {} {}", 3 * i + 1, 3 * i + 2, 3 * i + 3);
        }
        let file = self.dir.join("m.obj");
        std::fs::write(&file, obj).unwrap();
        let unit = self.unit;
        self.add(format_args!("[[mesh]]\npath = \"{}\"\nscale = {unit:e}", file.display()));
        self.material(path);
    }
    fn particles(&mut self, path: bool) {
        if !self.chance(0.4) {
            return;
        }
        let mut table = String::from("x,y,z,r,p\n");
        for i in 0..self.one_of(&[1, 30, 300]) {
            let p = [0; 3].map(|_| self.length(-2.0, 2.0));
            let _ = writeln!(table, "{:e},{:e},{:e},{:e},{i}", p[0], p[1], p[2], self.length(0.02, 0.3));
        }
        let file = self.dir.join("p.csv");
        std::fs::write(&file, table).unwrap();
        let by = self.one_of(&["nothing", "radius", "pressure"]);
        self.add(format_args!("[particles]\npath = \"{}\"\ncolor_by = \"{by}\"", file.display()));
        self.material(path);
    }
    fn floor(&mut self) {
        if !self.chance(0.6) {
            return;
        }
        let (z, bend, size) =
            (self.length(-2.5, 0.0), self.one_of(&[0.0, 0.0, 0.7]) * self.unit, self.length(2.0, 8.0));
        let texture = if self.wild { self.one_of(&["none", "@checker", "@wood"]) } else { "none" };
        let mirrors = match self.share() {
            _ if self.wild && self.chance(0.2) => "material = \"metal\"".to_owned(),
            _ if self.wild && self.chance(0.1) => "material = \"copper\"".to_owned(),
            share if self.wild && self.chance(0.2) => format!("reflection = {share}\ntransparency = 0.4"),
            _ if self.wild && self.chance(0.1) => "material = \"glass\"".to_owned(),
            share => format!("reflection = {share}"),
        };
        let is_rough = self.wild && mirrors != "material = \"glass\"" && self.chance(0.3);
        self.add(format_args!(
            "[floor]\ncorners = [[{a:e},{a:e},{z:e}],[{a:e},{b:e},{c:e}],[{b:e},{b:e},{z:e}],[{b:e},{a:e},{z:e}]]\n\
             texture = \"{texture}\"\n{mirrors}",
            a = -size,
            b = size,
            c = z + bend
        ));
        if is_rough {
            let roughness = 0.1 + 0.9 * self.share();
            self.add(format_args!("roughness = {roughness}"));
        }
        if self.wild && bend == 0.0 && self.chance(0.3) {
            let (shape, fade) = (self.one_of(&["round", "infinite"]), self.length(0.5, 20.0));
            self.add(format_args!("size = \"{shape}\"\nfade = {fade:e}"));
        }
        if self.wild && self.chance(0.3) {
            let tiles = self.one_of(&[1, 3]);
            self.add(format_args!("[floor.relief]\nbump = \"@tiles\"\ndepth = 0.1\ntiles = {tiles}"));
            if is_rough && self.chance(0.5) {
                self.add(format_args!("roughness_map = \"@puddles\""));
            }
        }
    }
    fn lights(&mut self) {
        for _ in 0..self.one_of(&[0, 1, 2, 9]) {
            let far = if self.wild { self.one_of(&[1.0, 1.0, 1e3, 1e7, 1e9]) } else { 1.0 };
            let reach = (6.0_f64 * far).min(0.9e12 / self.unit);
            let position = self.point(reach);
            let colour =
                if self.wild { self.one_of(&["[1, 1, 1]", "[0.3, 0.9, 0]", "[1e6, 1e6, 5]"]) } else { "[0.9, 0.8, 1]" };
            self.add(format_args!("[[light]]\nposition = {position}\ncolor = {colour}"));
            if self.wild && self.chance(0.3) {
                let radius = self.length(0.01, 2.0);
                self.add(format_args!("radius = {radius:e}"));
            }
        }
    }
}

pub fn random_scene(seed: u64, wild: bool, dir: &Path) -> Scene {
    let mut draws = Draws(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    (0..8).for_each(|_| {
        draws.next();
    });
    let mut m = Maker { draws, unit: 1.0, wild, dir, text: String::new() };
    let path = wild && m.chance(0.5);
    if wild && m.chance(0.6) {
        m.unit = m.one_of(&[1e-6, 1e-3, 1e3, 1e6, 1e9, 3e10]);
    }
    let (samples, depth) = if path { (m.one_of(&[1, 3]), m.one_of(&[0, 4, 40])) } else { (1, m.one_of(&[1, 5, 12])) };
    let samples =
        if wild && m.chance(0.25) { m.one_of(&["\"1..6\"", "\"2..9\""]).to_owned() } else { samples.to_string() };
    let cutoff = if wild { m.one_of(&[0.002, 0.02, 1e-6]) } else { 0.01 };
    let depth = if cutoff < 1e-5 { depth.min(6) } else { depth };
    m.add(format_args!(
        "[output]\nframes = 1\nsize = [48, 36]\n[render]\nsamples = {samples}\ndepth = {depth}\ncutoff = {cutoff:e}"
    ));
    if path {
        m.add(format_args!("integrator = \"path\""));
    }
    if wild && m.chance(0.2) {
        m.add(format_args!("shadows = false"));
    }
    if wild && !path && m.chance(0.3) {
        let lamp_samples = m.one_of(&["1", "5", "\"all\""]);
        m.add(format_args!("lamp_samples = {lamp_samples}"));
    }
    if wild && m.chance(0.2) {
        m.add(format_args!("ambient = [1e6, 1, 0]\nhighlight = 50"));
    }
    let (eye, fov) = (m.point(3.5), if wild { m.one_of(&[1.0, 50.0, 120.0, 170.0]) } else { 60.0 });
    let (lens, focus) = (if wild && m.chance(0.3) { 0.1 * m.unit } else { 0.0 }, m.unit);
    m.add(format_args!(
        "[camera]\nposition = {eye}\nlook_at = [0, 0, 0]\nfov_deg = {fov}\nlens = {lens:e}\nfocus = {focus:e}"
    ));
    if wild && m.chance(0.2) {
        let filter = m.one_of(&["tent", "blackman-harris"]);
        m.add(format_args!("[film]\nfilter = \"{filter}\""));
    }
    if wild && m.chance(0.2) {
        m.add(format_args!("[sky]\nimage = \"@dusk\""));
    }
    // A scene of nothing is refused.
    let radius = m.length(0.3, 0.9);
    m.add(format_args!("[[sphere]]\nradius = {radius:e}\nreflection = 0.2"));
    m.bodies();
    m.spheres(path);
    m.mesh(path);
    m.particles(path);
    m.floor();
    m.lights();
    toml(&m.text)
}

fn how_many(usual: u64) -> u64 {
    std::env::var("POLYFLY_RANDOM_SCENES").ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

#[test]
fn random_scenes_have_the_same_bytes_on_every_instruction_set() {
    let dir = tempfile::tempdir().unwrap();
    let (scenes, mut eventful) = (how_many(60), 0);
    for seed in 0..scenes {
        let scene = random_scene(seed, true, dir.path());
        let picture = same_on_every_set(&format!("random scene {seed}"), &scene, 0);
        let bad = light(&scene).into_iter().find(|x| !x.is_finite() || *x < 0.0);
        assert_eq!(bad, None, "random scene {seed}: light is finite, and not negative");
        let colours: std::collections::HashSet<&[u8]> = picture.chunks(4).collect();
        eventful += u64::from(colours.len() > 12);
    }
    assert!(eventful * 3 > scenes, "{eventful} of {scenes} scenes show more than a few colours");
}

#[test]
fn random_tame_scenes_are_what_the_oracle_sees() {
    let dir = tempfile::tempdir().unwrap();
    for seed in 0..12 {
        let scene = random_scene(seed, false, dir.path());
        agree(&format!("random scene {seed}"), &scene, 0);
    }
}
