//! The keys of materials, wherever they stand.

use super::diagnostic::Rule;
use super::keys::kinds::{Kind, one_of, quoted, words_schema};
use super::keys::read::{Context, Table, TomlValue};
use super::keys::schema::Declaration;
use super::keys::write::Lines;
use super::keys::{Key, Keys, Value, keys};
use super::material::{Material, MaterialKind, MeasuredMetal};
use crate::math::vec3::Vec3;

/// What is made of a material, which is not the same of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MaterialUse {
    /// A body: it shines by its lamps, not all over.
    Body,
    /// A floor: it does not shine, and it is thin.
    Floor,
    /// Anything else.
    Object,
}

// What a material is called.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Name {
    Plain,
    Diffuse,
    Metal(Option<MeasuredMetal>),
    Glass,
    Light,
}

impl MaterialUse {
    // The materials that it may be made of, and what they are.
    fn names(self) -> Vec<(Name, &'static str, &'static str)> {
        let mut names = vec![
            (Name::Plain, "plain", "diffuse, with shares of reflected and transmitted light"),
            (Name::Diffuse, "diffuse", "diffuse without highlights"),
            (Name::Metal(None), "metal", "a mirror in its color"),
            (Name::Glass, "glass", "clear glass: Fresnel's equations with its `ior`"),
        ];
        names.extend((self == MaterialUse::Object).then_some((
            Name::Light,
            "light",
            "emits its color; neither bodies nor floors are made of it",
        )));
        names.extend(
            MeasuredMetal::ALL
                .map(|(metal, name)| (Name::Metal(Some(metal)), name, "a mirror with the metal's measured color")),
        );
        names
    }
    fn colour_key(self) -> &'static str {
        if self == MaterialUse::Floor { "tint" } else { "color" }
    }
    // The keys that a material has, beside its name.
    fn keys_of(self, name: Name) -> Vec<&'static str> {
        let (colour, is_floor) = (self.colour_key(), self == MaterialUse::Floor);
        match name {
            Name::Plain if is_floor => vec![colour, "reflection", "transparency", "roughness", "highlight"],
            Name::Plain => vec![colour, "reflection", "transparency", "ior", "roughness", "highlight"],
            Name::Diffuse => vec![colour],
            Name::Metal(None) => vec![colour, "fuzz", "roughness"],
            Name::Metal(Some(_)) => vec!["roughness"],
            Name::Glass if is_floor => vec![colour, "ior"],
            Name::Glass => vec![colour, "ior", "abbe", "tint_distance"],
            Name::Light => vec![colour, "strength"],
        }
    }
}

keys! {
    // A material as it is written.
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct MaterialKeys in "material" {
        /// The color, which multiplies the texture.
        tint: Option<Vec3> = None, colour(), rule(Rule::Fraction), holds("[1.0, 1.0, 1.0]"), group("Picture"), spelled();
        /// Its color.
        color: Option<Vec3> = None, colour(), rule(Rule::Fraction), holds("[0.8, 0.8, 0.8]"), group("Material"), spelled();
        /// The material.
        material: Option<Name> = None, holds("'plain'"), group("Material"), spelled();
        /// Share of the light that is reflected.
        reflection: Option<f64> = None, rule(Rule::Fraction), holds("0"), spelled();
        /// Share of the light that is transmitted.
        transparency: Option<f64> = None, rule(Rule::Fraction), holds("0"), spelled();
        /// Index of refraction, at 587.6 nm with dispersion; the default of glass is 1.5.
        ior: Option<f64> = None, rule(Rule::Index), holds("1"), spelled();
        /// Abbe number: smaller numbers make wider rainbows; by default no dispersion. Diamond has 55, flint glass 36.
        abbe: Option<f64> = None, rule(Rule::Within(5.0, 200.0)), slider(10.0, 100.0), spelled();
        /// Distance within the glass after which light has its color (Beer's law); by default the surfaces tint, whatever the distance.
        tint_distance: Option<f64> = None, rule(Rule::Length), slider(0.05, 5.0), spelled();
        /// Fuzz of the reflection, as in "Ray Tracing in One Weekend" (path tracing).
        fuzz: Option<f64> = None, rule(Rule::Fraction), holds("0"), spelled();
        /// Emitted light: a factor of the color.
        strength: Option<f64> = None, rule(Rule::Brightness), holds("1"), slider(0.0, 20.0), spelled();
        /// Roughness of the reflection, 0 (a clear mirror) to 1: the square root of GGX's alpha.
        roughness: Option<f64> = None, rule(Rule::Fraction), holds("0"), spelled();
        /// Weight of the highlights; by default the scene's.
        highlight: Option<f64> = None, rule(Rule::Brightness), slider(0.0, 2.0), spelled();
    }
}

impl Kind for Name {
    fn parse(value: &TomlValue, key: &Key, context: &mut Context) -> Option<Name> {
        one_of(value, key, context, key.material_use.names().into_iter().map(|(name, word, _)| (name, word)))
    }
    fn text(&self, _: &Key) -> String {
        let names = MaterialUse::Object.names();
        quoted(names.iter().find(|(name, ..)| name == self).map_or("", |(_, word, _)| word))
    }
    fn schema(key: &Key) -> serde_json::Value {
        words_schema(key.material_use.names().into_iter().map(|(_, word, about)| (word, about)))
    }
}

// The key of the material's name, by what is made of it.
fn name_key(of: MaterialUse) -> &'static Key {
    const NAME: Key = Key::new("material", "The material.").holds("'plain'").group("Material");
    match of {
        MaterialUse::Body => const { &NAME.material_of(MaterialUse::Body) },
        MaterialUse::Floor => const { &NAME.material_of(MaterialUse::Floor) },
        MaterialUse::Object => const { &NAME },
    }
}

impl MaterialKeys {
    // Its keys, where it is made of something.
    fn of(&mut self, of: MaterialUse) -> impl Iterator<Item = (&'static Key, &mut dyn Value)> {
        let fields = self.fields().into_iter().filter(move |(key, _)| key.name != "tint" || of == MaterialUse::Floor);
        fields.map(move |(key, field)| (if key.name == "material" { name_key(of) } else { key }, field))
    }
    // What it means. A key that the material does not have would be ignored: better to say so.
    fn resolve(mut self, of: MaterialUse, table: &mut Table) -> Material {
        let (name, colour_key) = (self.material.unwrap_or(Name::Plain), of.colour_key());
        if of == MaterialUse::Floor {
            if self.tint.is_some() {
                table.problem_at("color", "`tint` and `color` are the same", "expected one of them");
            }
            self.color = self.tint.or(self.color);
        }
        let has = of.keys_of(name);
        for (key, _) in MaterialKeys::default().of(of) {
            // Highlights of spheres were read, and did nothing, beside any material.
            let is_free = ["material", "highlight"].contains(&key.name);
            let called = if key.name == "color" { colour_key } else { key.name };
            if !is_free && !has.contains(&called) {
                let what = format!("this material has no `{}`", key.name);
                table.problem_at(key.name, what, format!("expected no more than {}", has.join(", ")));
            }
        }
        if table.has("roughness") {
            table.problem_at("fuzz", "`fuzz` and `roughness` both say how wide it mirrors", "expected one of them");
        }
        let is_bright = name == Name::Glass || of == MaterialUse::Floor;
        let ior = self.ior.unwrap_or(if name == Name::Glass { 1.5 } else { 1.0 });
        let (colour, kind) = match name {
            Name::Plain => {
                let (reflection, transparency) = (self.reflection.unwrap_or(0.0), self.transparency.unwrap_or(0.0));
                (None, MaterialKind::Plain { reflection, transparency, ior })
            }
            Name::Diffuse => (None, MaterialKind::default()),
            Name::Metal(measured) => {
                let kind = MaterialKind::Metal { fuzz: self.fuzz.unwrap_or(0.0), measured };
                (measured.map(MeasuredMetal::colour), kind)
            }
            Name::Glass => (None, MaterialKind::Glass { ior, abbe: self.abbe, tint_distance: self.tint_distance }),
            Name::Light => (None, MaterialKind::Light { strength: self.strength.unwrap_or(1.0) }),
        };
        Material {
            colour: colour.or(self.color).unwrap_or(if is_bright { [1.0; 3] } else { [0.8; 3] }),
            kind,
            roughness: self.roughness.unwrap_or(0.0),
            highlight: if name == Name::Diffuse { Some(0.0) } else { self.highlight },
        }
    }
    // How a material is written.
    fn written(material: &Material, of: MaterialUse) -> MaterialKeys {
        let colour = Some(material.colour);
        let mut keys = match of {
            MaterialUse::Floor => MaterialKeys { tint: colour, ..MaterialKeys::default() },
            _ => MaterialKeys { color: colour, ..MaterialKeys::default() },
        };
        match material.kind {
            MaterialKind::Plain { reflection, transparency, ior } => {
                (keys.reflection, keys.transparency) = (Some(reflection), Some(transparency));
                keys.ior = (of != MaterialUse::Floor).then_some(ior);
            }
            MaterialKind::Metal { measured: Some(metal), .. } => {
                keys = MaterialKeys { material: Some(Name::Metal(Some(metal))), ..MaterialKeys::default() };
            }
            MaterialKind::Metal { fuzz, .. } => {
                keys.material = Some(Name::Metal(None));
                keys.fuzz = (material.roughness == 0.0).then_some(fuzz);
            }
            MaterialKind::Glass { ior, abbe, tint_distance } => {
                keys.material = Some(Name::Glass);
                (keys.ior, keys.abbe, keys.tint_distance) = (Some(ior), abbe, tint_distance);
            }
            MaterialKind::Light { strength } => {
                (keys.material, keys.strength) = (Some(Name::Light), Some(strength));
            }
        }
        keys.roughness = (material.roughness > 0.0).then_some(material.roughness);
        keys.highlight = material.highlight;
        keys
    }
}

impl Value for Material {
    fn read(&mut self, key: &'static Key, table: &mut Table) {
        let mut keys = MaterialKeys::default();
        keys.of(key.material_use).for_each(|(key, field)| field.read(key, table));
        *self = keys.resolve(key.material_use, table);
    }
    fn write(&self, key: &'static Key, out: &mut Lines) {
        MaterialKeys::written(self, key.material_use)
            .of(key.material_use)
            .for_each(|(key, field)| field.write(key, out));
    }
    fn declare(&self, key: &'static Key, out: &mut Declaration) {
        let of = key.material_use;
        MaterialKeys::default().of(of).for_each(|(key, field)| field.declare(key, out));
        if of == MaterialUse::Floor {
            out.without_default("color");
        }
        let materials: serde_json::Map<_, _> =
            of.names().into_iter().map(|(name, word, _)| (word.to_owned(), of.keys_of(name).into())).collect();
        out.materials(materials.into());
    }
}
