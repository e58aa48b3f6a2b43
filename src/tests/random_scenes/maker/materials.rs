//! Materials of random scenes.

use super::{MaterialUse, SceneMaker};

impl SceneMaker<'_> {
    pub(super) fn material(&mut self, of: MaterialUse) {
        let colour = self.colour();
        let key = if of == MaterialUse::Floor { self.one_of(&["color", "tint"]) } else { "color" };
        // The oracle's Whitted tracer supports only plain materials, and glass for bodies.
        let which = match of {
            _ if self.wild => self.below(7),
            MaterialUse::Body => self.one_of(&[0, 0, 0, 0, 3]),
            _ => 0,
        };
        if which == 4 && of != MaterialUse::Thing {
            return self.add(format_args!("{key} = {colour}\nmaterial = \"diffuse\""));
        }
        if which < 5 {
            self.add(format_args!("{key} = {colour}"));
        }
        match which {
            0 | 1 | 6 => {
                let (r, t, ior, rough) = (self.share(), self.share(), self.ior(), self.share());
                let coated = self.wild && self.some(0.2);
                let t = if self.wild { t } else { t.min(1.0 - r) } * f64::from(u8::from(!coated));
                // The oracle's floor is opaque.
                if self.wild || of != MaterialUse::Floor {
                    self.add(format_args!("transparency = {t}"));
                }
                self.add(format_args!("reflection = {r}"));
                if of != MaterialUse::Floor {
                    self.add(format_args!("ior = {ior}"));
                }
                if self.some(0.3) {
                    self.add(format_args!("roughness = {rough}"));
                }
                if self.some(0.2) {
                    let highlight = self.one_of(&[0.0, 1.0, 1e3]);
                    self.add(format_args!("highlight = {highlight}"));
                }
                if of == MaterialUse::Body && self.some(0.3) {
                    let inside = self.share();
                    self.add(format_args!("reflection_inside = {inside}"));
                }
                self.thin_film_or_coat(coated);
            }
            2 => {
                let key = self.one_of(&["fuzz", "roughness"]);
                let wide = self.share();
                self.add(format_args!("material = \"metal\"\n{key} = {wide}"));
                self.finish_metal();
            }
            3 => {
                let ior = self.ior();
                self.add(format_args!("material = \"glass\"\nior = {ior}"));
                if of != MaterialUse::Floor && self.some(0.4) {
                    let abbe = self.one_of(&[5, 20, 200]);
                    self.add(format_args!("abbe = {abbe}"));
                }
                if of != MaterialUse::Floor && self.some(0.4) {
                    let distance = self.length(0.01, 2.0);
                    self.add(format_args!("tint_distance = {distance:e}"));
                }
                if of != MaterialUse::Floor {
                    self.thin_film();
                }
            }
            4 => {
                let strength = if self.path { self.one_of(&[0.0, 1.0, 20.0, 1e6]) } else { 1.0 };
                self.add(format_args!("material = \"light\"\nstrength = {strength:e}"));
            }
            _ => {
                let names = ["gold", "silver", "copper", "aluminium", "chromium", "iron", "titanium", "platinum"];
                let (name, wide) = (self.one_of(&names), self.share());
                self.add(format_args!("material = \"{name}\"\nroughness = {wide}"));
                self.finish_metal();
            }
        }
    }

    fn finish_metal(&mut self) {
        if self.some(0.3) {
            let anisotropy = self.share();
            let grain = self.one_of(&["[1, 0, 0]", "[0, 0, 1]", "[1, -2, 1e6]", "[1e-6, 1e-6, 0]"]);
            self.add(format_args!("anisotropy = {anisotropy}\ngrain = {grain}"));
        }
        let coated = self.some(0.3);
        self.thin_film_or_coat(coated);
    }

    fn thin_film_or_coat(&mut self, coated: bool) {
        if !coated {
            return self.thin_film();
        }
        let (coat, ior) = (self.one_of(&[0.3, 1.0, 1.0]), self.one_of(&[1.0, 1.33, 1.5, 4.0]));
        self.add(format_args!("coat = {coat}\ncoat_ior = {ior}"));
    }

    // The oracle has no films.
    fn thin_film(&mut self) {
        if self.wild && self.some(0.3) {
            let (nm, ior) = (self.one_of(&[1, 120, 380, 2000]), self.one_of(&[1.0, 1.33, 2.4, 4.0]));
            self.add(format_args!("film_nm = {nm}\nfilm_ior = {ior}"));
        }
    }
}
