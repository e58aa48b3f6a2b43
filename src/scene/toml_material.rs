//! The materials of a scene in TOML.

use super::diagnostic::{Problem, Rule};
use super::material::{Material, MaterialKind, MeasuredMetal};
use super::toml::Validator;
use super::toml_keys::MaterialKeys;

/// What is made of a material, which is not the same of all.
#[derive(Clone, Copy, PartialEq)]
pub enum MaterialUse {
    /// A body: it shines by its lamps, not all over.
    Body,
    /// A floor: it does not shine, and it is thin.
    Floor,
    /// A sphere, a mesh or particles.
    Thing,
}

// What a material is called, and what it is.
#[derive(Clone, Copy, PartialEq)]
enum Name {
    Plain,
    Diffuse,
    Metal(Option<MeasuredMetal>),
    Glass,
    Light,
}

fn names(of: MaterialUse) -> Vec<(Name, &'static str)> {
    let mut names =
        vec![(Name::Plain, "plain"), (Name::Diffuse, "diffuse"), (Name::Metal(None), "metal"), (Name::Glass, "glass")];
    names.extend((of == MaterialUse::Thing).then_some((Name::Light, "light")));
    names.extend(MeasuredMetal::ALL.iter().map(|&(metal, name)| (Name::Metal(Some(metal)), name)));
    names
}

// The keys that a material has, beside its name.
fn keys_of(name: Name, of: MaterialUse, colour_key: &'static str) -> Vec<&'static str> {
    match name {
        Name::Plain if of == MaterialUse::Floor => {
            vec![colour_key, "reflection", "transparency", "roughness", "highlight"]
        }
        Name::Plain => vec![colour_key, "reflection", "transparency", "ior", "roughness", "highlight"],
        Name::Diffuse => vec![colour_key],
        Name::Metal(None) => vec![colour_key, "fuzz", "roughness"],
        Name::Metal(Some(_)) => vec!["roughness"],
        Name::Glass if of == MaterialUse::Floor => vec![colour_key, "ior"],
        Name::Glass => vec![colour_key, "ior", "abbe", "tint_distance"],
        Name::Light => vec![colour_key, "strength"],
    }
}

/// All materials of such a thing, each with its keys.
pub fn materials(of: MaterialUse, colour_key: &'static str) -> Vec<(&'static str, Vec<&'static str>)> {
    names(of).into_iter().map(|(name, word)| (word, keys_of(name, of, colour_key))).collect()
}

impl Validator {
    pub fn material(&mut self, keys: &MaterialKeys, of: MaterialUse) -> Material {
        let name = self.one_of("material", keys.kind, &names(of));
        let colour_key = keys.colour_key;
        // A key that this material does not have would be ignored: better to say so.
        let has = keys_of(name, of, colour_key);
        let spans = [
            (colour_key, keys.colour.as_ref().map(|at| at.span())),
            ("highlight", keys.highlight.as_ref().map(|at| at.span())),
            ("fuzz", keys.fuzz.as_ref().map(|at| at.span())),
            ("roughness", keys.roughness.as_ref().map(|at| at.span())),
            ("strength", keys.strength.as_ref().map(|at| at.span())),
            ("ior", keys.ior.as_ref().map(|at| at.span())),
            ("abbe", keys.abbe.as_ref().map(|at| at.span())),
            ("tint_distance", keys.tint_distance.as_ref().map(|at| at.span())),
            ("reflection", keys.reflection.as_ref().map(|at| at.span())),
            ("transparency", keys.transparency.as_ref().map(|at| at.span())),
        ];
        // Highlights of spheres were read, and did nothing, beside any material.
        for (key, span) in spans {
            if let (Some(span), false) = (span, has.contains(&key) || key == "highlight") {
                let expected = format!("expected no more than {}", has.join(", "));
                self.problems.push(Problem::new(span, format!("this material has no `{key}`"), expected));
            }
        }
        if let (Some(fuzz), Some(_)) = (keys.fuzz, keys.roughness) {
            let what = "`fuzz` and `roughness` both say how wide it mirrors";
            self.problems.push(Problem::new(fuzz.span(), what, "expected one of them"));
        }
        let highlight = self.optional("highlight", keys.highlight, Rule::Brightness);
        let fallback = if name == Name::Glass || of == MaterialUse::Floor { [1.0; 3] } else { [0.8; 3] };
        let colour = self.triple(colour_key, keys.colour, fallback, Rule::Fraction);
        let ior = self.number("ior", keys.ior, if name == Name::Glass { 1.5 } else { 1.0 }, Rule::Index);
        let kind = match name {
            Name::Plain => MaterialKind::Plain {
                reflection: self.number("reflection", keys.reflection, 0.0, Rule::Fraction),
                transparency: self.number("transparency", keys.transparency, 0.0, Rule::Fraction),
                ior,
            },
            Name::Diffuse => MaterialKind::default(),
            Name::Metal(measured) => {
                MaterialKind::Metal { fuzz: self.number("fuzz", keys.fuzz, 0.0, Rule::Fraction), measured }
            }
            Name::Glass => MaterialKind::Glass {
                ior,
                abbe: self.optional("abbe", keys.abbe, Rule::Within(5.0, 200.0)),
                tint_distance: self.optional("tint_distance", keys.tint_distance, Rule::Length),
            },
            Name::Light => {
                MaterialKind::Light { strength: self.number("strength", keys.strength, 1.0, Rule::Brightness) }
            }
        };
        Material {
            colour: if let Name::Metal(Some(metal)) = name { metal.colour() } else { colour },
            kind,
            roughness: self.number("roughness", keys.roughness, 0.0, Rule::Fraction),
            highlight: if name == Name::Diffuse { Some(0.0) } else { highlight },
        }
    }
}
