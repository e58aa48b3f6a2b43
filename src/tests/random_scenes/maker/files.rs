//! Shapes of random scenes from files: meshes and particles.

use super::{MaterialUse, SceneMaker};
use std::fmt::Write;

impl SceneMaker<'_> {
    pub(super) fn mesh(&mut self) {
        if !self.chance(0.4) {
            return;
        }
        let mut obj = String::new();
        let normals = self.some(0.5);
        let triangles = self.one_of(&[1, 5, 60]);
        for i in 0..triangles {
            let middle = [0; 3].map(|_| self.between(-2.0, 2.0));
            for _ in 0..3 {
                let corner = middle.map(|x| x + self.between(-0.6, 0.6));
                let _ = writeln!(obj, "v {} {} {}", corner[0], corner[1], corner[2]);
                let normal = [0; 3].map(|_| self.between(-1.0, 1.0));
                if normals {
                    let _ = writeln!(obj, "vn {} {} {}", normal[0], normal[1], normal[2]);
                }
            }
            let corners = [1, 2, 3].map(|k| 3 * i + k);
            let corners = corners.map(|k| if normals { format!("{k}//{k}") } else { k.to_string() });
            let _ = writeln!(obj, "f {}", corners.join(" "));
        }
        std::fs::write(self.dir.join("m.obj"), obj).unwrap();
        let scale = self.unit;
        self.add(format_args!("[[mesh]]\npath = \"m.obj\"\nscale = {scale:e}"));
        if self.some(0.3) {
            let (offset, up, smooth) = (self.point(1.0), self.chance(0.5), self.chance(0.7));
            self.add(format_args!("offset = {offset}\nz_up = {up}\nsmooth = {smooth}"));
        }
        self.material(MaterialUse::Thing);
    }
    pub(super) fn particles(&mut self) {
        if !self.chance(0.4) {
            return;
        }
        let by = self.one_of(&["nothing", "radius", "pressure", "velocity", "2*p - `vel.z`"]);
        let count = self.one_of(&[1, 30, 300]);
        let (first, step) = (self.one_of(&[0, 4]), self.one_of(&[1, 3]));
        let series = self.frames > 1 && self.chance(0.5);
        let (turned, ellipsoids) = (self.some(0.5), self.some(0.2));
        for frame in 0..if series { self.frames } else { 1 } {
            let mut table = String::from("x,y,z,r,p,vx,vy,vz,type");
            table += if turned { ",qw,qx,qy,qz" } else { "" };
            table += if ellipsoids { ",shapex,shapey,shapez\n" } else { "\n" };
            for i in 0..count {
                let p = [0; 3].map(|_| self.length(-2.0, 2.0));
                let _ = write!(table, "{:e},{:e},{:e},{:e},{i},", p[0], p[1], p[2], self.length(0.02, 0.3));
                let _ = write!(table, "{i},0,{},{}", self.between(-1.0, 1.0), i % 2);
                if turned {
                    let turn = [0; 4].map(|_| self.between(-1.0, 1.0));
                    let _ = write!(table, ",{},{},{},{}", turn[0], turn[1], turn[2], turn[3]);
                }
                if ellipsoids {
                    let size = [0; 3].map(|_| self.length(0.05, 0.6));
                    let _ = write!(table, ",{:e},{:e},{:e}", size[0], size[1], size[2]);
                }
                table.push('\n');
            }
            let name = if series { format!("p{}.csv", first + frame * step) } else { "p.csv".to_owned() };
            std::fs::write(self.dir.join(name), table).unwrap();
        }
        if series {
            self.add(format_args!(
                "[particles]\npath = \"p%d.csv\"\nfirst = {first}\nstep = {step}\ncolor_by = \"{by}\""
            ));
        } else {
            self.add(format_args!("[particles]\npath = \"p.csv\"\ncolor_by = \"{by}\""));
        }
        if self.chance(0.2) {
            let (ends, radius) = (format!("[{}, {}]", self.point(0.3), self.point(0.3)), self.length(0.02, 0.2));
            let long = [
                format!("{{ vertices = {ends}, rounding = {radius:e} }}"),
                format!("{{ vertices = {ends}, radius = {radius:e} }}"),
            ];
            let shape = self.one_of(&["\"capsule\"", "\"cylinder\"", &long[0], &long[1]]);
            self.add(format_args!("shape = {shape}"));
        } else if self.some(0.4) {
            let reach = [0; 2].map(|_| self.length(0.1, 0.4));
            let corners = format!(
                "[[{0:e}, 0, 0], [-{0:e}, {1:e}, 0], [0, -{1:e}, {0:e}], [0, 0, -{0:e}], [{1:e}, {1:e}, {1:e}]]",
                reach[0], reach[1]
            );
            let round = format!("{{ vertices = {corners}, rounding = {:e} }}", self.length(0.01, 0.1));
            let solid = self.one_of(&["tetrahedron", "cube", "octahedron", "dodecahedron", "icosahedron", "sphere"]);
            let solid = format!("\"{solid}\"");
            let shape = self.one_of(&[&solid, &corners, &round]);
            self.add(format_args!("shape = {shape}"));
        }
        if self.some(0.3) {
            self.add(format_args!("range = [0.5, 20]"));
        }
        for line in [
            "columns = { vel = [\"vy\", \"vz\", \"vx\"] }",
            "scale = \"symlog\"",
            "radius = 0.125",
            "radii = { 0 = 0.25, 1 = 0.125 }",
            "where = \"type == 0 || p >= 20\"",
            "every = 3",
            "images = [1, 1, 1]",
            "interpolate = 2",
        ] {
            if self.some(0.15) {
                self.add(format_args!("{line}"));
            }
        }
        if self.some(0.3) {
            let map = self.one_of(&["\"magma_r\"", "\"tableau10\"", "[\"navy\", [1, 0.5, 0]]"]);
            self.add(format_args!("map = {map}"));
        }
        let is_plane = !self.is_round() && !self.is_stereo;
        if by != "nothing" && is_plane && self.some(0.3) {
            self.add(format_args!("legend = true"));
        }
        self.material(MaterialUse::Thing);
        self.links();
        if is_plane && self.some(0.4) {
            self.figure();
        }
    }
    // Bonds, arrows, trails and cuts of particles.
    fn links(&mut self) {
        let shines = self.text.rsplit("[particles]").next().is_some_and(|part| part.contains("\"light\""));
        let (bonds, arrows) = (self.some(0.3), self.some(0.25));
        let trails = self.some(0.2);
        let headers = [bonds.then_some("bonds"), arrows.then_some("arrows"), trails.then_some("trails")];
        for header in headers.into_iter().flatten() {
            self.add(format_args!("[particles.{header}]"));
            if header == "trails" {
                let (steps, only) = (self.one_of(&[1, 2, 7]), self.one_of(&["p > 3", "type == 0"]));
                self.add(format_args!("steps = {steps}\nwhere = \"{only}\""));
            } else if self.chance(0.6) {
                let key = if header == "bonds" { "cutoff" } else { "scale" };
                let (length, by) = (self.length(0.05, 0.6), self.one_of(&["velocity", "vel"]));
                self.add(format_args!("{key} = {length:e}"));
                match header {
                    "arrows" => self.add(format_args!("by = \"{by}\"")),
                    _ => self.add(format_args!("width_by = \"{by}\"")),
                }
            }
            if self.chance(0.5) {
                let (radius, colour) = (self.length(0.01, 0.1), self.colour());
                self.add(format_args!("radius = {radius:e}\ncolor = {colour}"));
            }
        }
        for _ in 0..if shines || self.chance(0.65) { 0 } else { self.one_of(&[1, 1, 2, 3]) } {
            let (point, normal) = (self.point(1.0), [0; 3].map(|_| self.between(-1.0, 1.0)));
            self.add(format_args!("[[particles.cut]]\npoint = {point}\nnormal = {normal:?}"));
        }
    }
    // A figure of the particles.
    fn figure(&mut self) {
        self.add(format_args!("[figure]"));
        let view = self.one_of(&["\"iso\"", "\"+x\"", "\"-z\"", "[20, -70.5]"]);
        let side = self.one_of(&["right", "left", "bottom", "corner", "none"]);
        self.add(format_args!("legend = \"{side}\""));
        if self.chance(0.6) {
            let style = self.one_of(&["journal", "plain", "dark"]);
            self.add(format_args!("view = {view}\nstyle = \"{style}\""));
        }
        if self.chance(0.5) {
            let background = self.colour();
            self.add(format_args!("background = {background}\naxes = true\nscale_bar = \"mm\""));
        }
        if self.chance(0.5) {
            let (width, height) = (self.one_of(&["20 mm", "3 in", "120 pt"]), self.one_of(&["2.5 cm", "90 pt"]));
            self.add(format_args!("width = \"{width}\"\nheight = \"{height}\"\ndpi = 72"));
        }
        if self.chance(0.5) {
            let (panel, furniture) = (self.some(0.3), self.some(0.2));
            if panel {
                self.add(format_args!("panel = \"b\""));
            }
            if furniture {
                self.add(format_args!("furniture = \"separate\""));
            }
            self.add(format_args!("title = \"(a)\"\nlabel = \"m^-1\"\ntime_label = \"step {{step}}\""));
        }
    }
}
