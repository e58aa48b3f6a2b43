//! The keys of materials, in all tables.

use crate::language::msg;
use crate::math::vec3::Vec3;
use crate::scene::keys::key::MaterialUse;
use crate::scene::keys::kinds::{Kind, quoted};
use crate::scene::keys::read::{Given, Table};
use crate::scene::keys::words::{one_of, words_schema};
use crate::scene::keys::write::Lines;
use crate::scene::keys::{Key, Keys, Value, Visit, keys};
use crate::scene::text::diagnostic::Rule;
use crate::scene::world::material::{Coat, Grain, Material, MaterialKind, MeasuredMetal, ThinFilm, above_one};
use std::sync::LazyLock;

// The names of materials.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Name {
    Plain,
    Diffuse,
    Metal(Option<MeasuredMetal>),
    Glass,
    Light,
}

// The materials for a use, with their descriptions.
fn names(of: MaterialUse) -> Vec<(Name, &'static str, &'static str)> {
    let mut names = vec![
        (Name::Plain, "plain", "diffuse, with shares of reflected and transmitted light"),
        (Name::Diffuse, "diffuse", "diffuse without highlights"),
        (Name::Metal(None), "metal", "a mirror in its color"),
        (Name::Glass, "glass", "clear glass: Fresnel's equations with its `ior`"),
    ];
    let light = (Name::Light, "light", "emits its color; neither bodies nor floors are made of it");
    names.extend((of == MaterialUse::Object).then_some(light));
    let measured = |(metal, name)| (Name::Metal(Some(metal)), name, "a mirror with the metal's measured color");
    names.extend(MeasuredMetal::ALL.map(measured));
    names
}

const FILM: [&str; 2] = ["film_nm", "film_ior"];
const COAT: [&str; 2] = ["coat", "coat_ior"];
const ROUGH_METAL: [&str; 3] = ["roughness", "anisotropy", "grain"];

// The keys of a material, besides its name.
fn keys_of(name: Name, of: MaterialUse) -> Vec<&'static str> {
    let is_floor = of == MaterialUse::Floor;
    let colour = if is_floor { "tint" } else { "color" };
    match name {
        Name::Plain if is_floor => {
            [&[colour, "reflection", "transparency", "roughness", "highlight"], &FILM[..], &COAT].concat()
        }
        Name::Plain => {
            [&[colour, "reflection", "transparency", "ior", "roughness", "highlight"], &FILM[..], &COAT].concat()
        }
        Name::Diffuse => [&[colour], &COAT[..]].concat(),
        Name::Metal(None) => [&[colour, "fuzz"], &ROUGH_METAL[..], &FILM, &COAT].concat(),
        Name::Metal(Some(_)) => [&ROUGH_METAL[..], &FILM, &COAT].concat(),
        Name::Glass if is_floor => vec![colour, "ior"],
        Name::Glass => vec![colour, "ior", "abbe", "tint_distance", FILM[0], FILM[1]],
        Name::Light => vec![colour, "strength"],
    }
}

keys! {
    // The keys of a material in the text.
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct MaterialKeys in "material" {
        /// The color, which multiplies the texture.
        tint: Option<Vec3> = None, colour(), rule(Rule::Fraction), group("Picture"), spelled(), animated();
        /// Its color.
        color: Option<Vec3> = None, colour(), rule(Rule::Fraction), group("Material"), spelled(), animated();
        /// The material.
        material: Option<Name> = None, holds(Some("'plain'")), group("Material"), spelled();
        /// Share of the light that is reflected.
        reflection: Option<f64> = None, rule(Rule::Fraction), spelled(), animated();
        /// Share of the light that is transmitted.
        transparency: Option<f64> = None, rule(Rule::Fraction), spelled(), animated();
        /// Index of refraction, at 587.6 nm with dispersion; the default of glass is 1.5.
        ior: Option<f64> = None, rule(Rule::Index), holds(Some("1")), spelled(), animated();
        /// Abbe number: smaller numbers make wider rainbows; by default no dispersion. Diamond has 55, flint glass 36.
        abbe: Option<f64> = None, rule(Rule::Within(5.0, 200.0)), slider(10.0, 100.0), spelled(), animated();
        /// Distance within the glass after which light has its color (Beer's law); by default the surfaces tint, whatever the distance.
        tint_distance: Option<f64> = None, rule(Rule::Length), slider(0.05, 5.0), spelled(), animated();
        /// Fuzz of the reflection, as in "Ray Tracing in One Weekend" (path tracing).
        fuzz: Option<f64> = None, rule(Rule::Fraction), holds(Some("0")), spelled(), animated();
        /// Emitted light: a factor of the color.
        strength: Option<f64> = None, rule(Rule::Brightness), holds(Some("1")), slider(0.0, 20.0), spelled(), animated();
        /// Roughness of the reflection, 0 (a clear mirror) to 1: the square root of GGX's alpha.
        roughness: Option<f64> = None, rule(Rule::Fraction), holds(Some("0")), spelled(), animated();
        grain: Grain = Grain::default(), flat();
        /// Weight of the highlights; by default the scene's.
        highlight: Option<f64> = None, rule(Rule::Brightness), slider(0.0, 2.0), spelled(), animated();
        film: ThinFilm = ThinFilm::default(), flat();
        coat: Coat = Coat::default(), flat();
    }
}

// The names of all keys.
static ALL: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| MaterialKeys::default().lines().entries.iter().map(|entry| entry.key.name).collect());

impl Kind for Name {
    fn parse(given: &mut Given) -> Option<Name> {
        one_of(given, &names(given.key.material_of))
    }
    fn text(&self, _: &Key) -> String {
        let names = names(MaterialUse::Object);
        quoted(names.iter().find(|(name, ..)| name == self).map_or("", |(_, word, _)| word))
    }
    fn schema(key: &Key) -> serde_json::Value {
        words_schema(&names(key.material_of))
    }
}

impl MaterialKeys {
    // Visits the keys of materials for a use.
    fn visit_of(&mut self, of: MaterialUse, visit: &mut Visit) {
        const NAME: Key = Key { group: "Material", holds: Some("'plain'"), ..Key::new("material", "The material.") };
        let name = match of {
            MaterialUse::Body => const { &Key { material_of: MaterialUse::Body, ..NAME } },
            MaterialUse::Floor => const { &Key { material_of: MaterialUse::Floor, ..NAME } },
            MaterialUse::Object => const { &NAME },
        };
        self.visit(&mut |key, field| match key.name {
            "tint" if of != MaterialUse::Floor => {}
            "material" => visit(name, field),
            _ => visit(key, field),
        });
    }
    // Refuses keys that the material does not have, since they would have no effect.
    fn check_for(&self, of: MaterialUse, table: &mut Table) {
        let name = self.material.unwrap_or(Name::Plain);
        if of == MaterialUse::Floor && self.tint.is_some() {
            table.problem_at(
                "color",
                msg!("`{first}` and `{second}` are the same", first = "tint", second = "color"),
                msg!("one of them"),
            );
        }
        let has = keys_of(name, of);
        for &key in ALL.iter().filter(|key| **key != "tint" || of == MaterialUse::Floor) {
            // Older versions accepted highlights of spheres with any material, without effect.
            let is_free = ["material", "highlight"].contains(&key) || (key == "color" && has.contains(&"tint"));
            if !is_free && !has.contains(&key) {
                let keys = has.join(", ");
                table.problem_at(key, msg!("this material has no `{key}`", key), msg!("no more than {keys}", keys));
            }
        }
        // A value over time that begins with 0 has others later.
        let is_there = |key: &str, value: Option<f64>| value.is_some_and(|x| x > 0.0) || table.is_animated(key);
        let (coat, film) = (is_there("coat", Some(self.coat.share)), is_there("film_nm", Some(self.film.nm)));
        let (clear, fuzz) = (is_there("transparency", self.transparency), is_there("fuzz", self.fuzz));
        if coat && clear {
            table.problem_at(
                "coat",
                msg!("`coat` and `transparency`: a coat lies on opaque surfaces"),
                msg!("one of them"),
            );
        }
        if coat && film {
            table.problem_at(
                "coat",
                msg!("`coat` and `film_nm`: a surface has one of them on top"),
                msg!("one of them"),
            );
        }
        if table.has("roughness") && fuzz {
            table.problem_at(
                "fuzz",
                msg!("`fuzz` and `roughness` both set how far its reflection spreads"),
                msg!("one of them"),
            );
        }
        let (reflection, transparency) = (self.reflection.unwrap_or(0.0), self.transparency.unwrap_or(0.0));
        if let Some(what) = above_one("reflection", reflection, transparency) {
            let span = table.span_of("transparency").or(table.span_of("reflection")).unwrap_or(table.span.clone());
            table.warn(span, what, msg!("the body adds light of its own"));
        }
    }
    // The material of the keys.
    fn resolve(mut self, of: MaterialUse) -> Material {
        let name = self.material.unwrap_or(Name::Plain);
        if of == MaterialUse::Floor {
            self.color = self.tint.or(self.color);
        }
        let is_bright = name == Name::Glass || of == MaterialUse::Floor;
        let ior = self.ior.unwrap_or(if name == Name::Glass { 1.5 } else { 1.0 });
        let kind = match name {
            Name::Plain => MaterialKind::Plain {
                reflection: self.reflection.unwrap_or(0.0),
                transparency: self.transparency.unwrap_or(0.0),
                ior,
            },
            Name::Diffuse => MaterialKind::default(),
            Name::Metal(measured) => MaterialKind::Metal { fuzz: self.fuzz.unwrap_or(0.0), measured },
            Name::Glass => MaterialKind::Glass { ior, abbe: self.abbe, tint_distance: self.tint_distance },
            Name::Light => MaterialKind::Light { strength: self.strength.unwrap_or(1.0) },
        };
        let usual = if is_bright { [1.0; 3] } else { [0.8; 3] };
        Material {
            colour: if let Name::Metal(Some(metal)) = name { metal.colour() } else { self.color.unwrap_or(usual) },
            kind,
            roughness: self.roughness.unwrap_or(0.0),
            highlight: if name == Name::Diffuse { Some(0.0) } else { self.highlight },
            coat: self.coat,
            grain: self.grain,
            film: self.film,
        }
    }
    // Converts a material to its keys.
    fn of_material(material: &Material, of: MaterialUse) -> MaterialKeys {
        let colour = Some(material.colour);
        let Material { highlight, film, coat, grain, .. } = *material;
        let mut keys = MaterialKeys { highlight, film, coat, grain, ..MaterialKeys::default() };
        keys.roughness = (material.roughness > 0.0).then_some(material.roughness);
        match of {
            MaterialUse::Floor => keys.tint = colour,
            _ => keys.color = colour,
        }
        match material.kind {
            MaterialKind::Plain { reflection, transparency, ior } => {
                (keys.reflection, keys.transparency) = (Some(reflection), Some(transparency));
                keys.ior = (of != MaterialUse::Floor).then_some(ior);
            }
            MaterialKind::Metal { fuzz, measured } => {
                keys.material = Some(Name::Metal(measured));
                if measured.is_some() {
                    (keys.tint, keys.color) = (None, None);
                } else {
                    keys.fuzz = (material.roughness == 0.0).then_some(fuzz);
                }
            }
            MaterialKind::Glass { ior, abbe, tint_distance } => {
                keys.material = Some(Name::Glass);
                (keys.ior, keys.abbe, keys.tint_distance) = (Some(ior), abbe, tint_distance);
            }
            MaterialKind::Light { strength } => {
                (keys.material, keys.strength) = (Some(Name::Light), Some(strength));
            }
        }
        keys
    }
}

impl Value for Material {
    fn read(&mut self, key: &'static Key, table: &mut Table) {
        let (of, mut keys) = (key.material_of, MaterialKeys::default());
        keys.visit_of(of, &mut |key, field| field.read(key, table));
        keys.check_for(of, table);
        *self = keys.resolve(of);
    }
    fn put(&mut self, key: &'static Key, path: &str, value: Vec3) {
        if ALL.contains(&path) {
            let of = key.material_of;
            let mut keys = MaterialKeys::of_material(self, of);
            keys.visit_of(of, &mut |key, field| field.put(key, path, value));
            // The floor's color has two names.
            keys.tint = keys.tint.filter(|_| path != "color");
            *self = keys.resolve(of);
        }
    }
    fn list(&self, key: &'static Key, lines: &mut Lines) {
        let of = key.material_of;
        MaterialKeys::of_material(self, of).visit_of(of, &mut |key, field| field.list(key, lines));
        lines.materials = Some((of, |of| {
            let keys = names(of).into_iter().map(|(name, word, _)| (word.to_owned(), keys_of(name, of).into()));
            keys.collect::<serde_json::Map<_, _>>().into()
        }));
    }
}
