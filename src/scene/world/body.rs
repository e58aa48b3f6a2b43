//! Bodies: Platonic solids of panes, bars and lamps.

use crate::language::msg;
use crate::math::vec3::Vec3;
use crate::scene::keys::key::MaterialUse;
use crate::scene::keys::keys;
use crate::scene::keys::read::Table;
use crate::scene::keys::words::{Names, WordList};
use crate::scene::limits::MAX_LAMPS;
use crate::scene::text::diagnostic::Rule;
use crate::scene::world::floor::TextureSource;
use crate::scene::world::material::above_one;
use crate::scene::world::relief::{self, Relief};
use crate::scene::{LampPattern, LampShape, LampSides, Lamps, Material, Motion, Rest, Rotation, Solid, Support};

keys! {
    /// A solid of panes, bars and lamps.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Body in "body" {
        /// The solid.
        pub solid: Solid = Solid::Hexahedron, required(), group("Shape");
        /// Its center.
        pub centre as "center": Vec3 = [0.0; 3], rule(Rule::Coordinate), spelled(), animated();
        /// Stands on the floor: the height of its center follows, so that its lowest point over the whole clip touches the floor.
        pub on: Option<Support> = None;
        /// Lies on this part of it: a face. Its rotation and its turns are about the vertical then.
        pub rest: Option<Rest> = None;
        /// Circumradius: the distance of every vertex from the center.
        pub radius: f64 = 1.0, rule(Rule::Length), slider(0.1, 5.0), spelled(), animated();
        /// Width of the bevel on each side of an edge, which is round then and catches the light; below 0.03 in the shading alone. At most the radius of a face's inscribed circle counts, with which a cube is a ball. 0: razor edges.
        pub bevel: f64 = 0.0, rule(Rule::Fraction), unit("circumradii"), slider(0.0, 0.2), animated();
        /// How its panes look; their color tints what passes through them.
        pub material: Material = Material::default(), flat(), material_of(MaterialUse::Body);
        /// The texture of each face, as wide as the body's circumscribed sphere: a .data, PNG or JPEG file, or @checker, @concrete, @marble, @slate or @wood. It multiplies the color. A picture with alpha lies in the middle of each face as paint, as wide as the face's inscribed circle, and covers it where it is opaque.
        pub texture: Option<TextureSource> = None, group("Picture");
        /// Relief of each face, without `drift`, `glitter` and `displaced`.
        pub relief: Option<Relief> = None, group("Picture");
        /// Lamps per edge, or "strip": a strip of light along the whole edge.
        pub lamps: Lamps = Lamps::Each(0), rule(Rule::Whole(0, MAX_LAMPS)), slider(0.0, 40.0), group("Lamps"), spelled();
        /// Color of the lamps.
        pub lamp_colour as "lamp_color": Vec3 = Body::LAMP_COLOUR, colour(), rule(Rule::Brightness), spelled(), animated();
        /// Multiplies the lamps' light.
        pub lamp_intensity: f64 = 1.0, rule(Rule::Within(0.0, Body::MAX_LAMP_INTENSITY)), slider(0.0, 20.0), spelled(), animated();
        /// Shape of the lamps.
        pub lamp_shape: LampShape = LampShape::Dome, group("Lamps");
        /// Share of white in the middle of the lamps; the rest of their light has their color.
        pub lamp_core: f64 = 0.0, rule(Rule::Fraction), group("Lamps"), animated();
        /// Width of the bars on each side of an edge; 0: no bars.
        pub bar: f64 = Body::BAR, rule(Rule::Fraction), unit("circumradii"), slider(0.0, 0.2), group("Bars"), spelled(), animated();
        /// Color of the bars.
        pub bar_colour as "bar_color": Vec3 = Body::BAR_COLOUR, colour(), rule(Rule::Fraction), spelled(), animated();
        /// Share of the light that the outer side of the bars reflects; the inner side, and bars after two bounces, are dull.
        pub bar_reflection: f64 = Body::BAR_REFLECTION, rule(Rule::Fraction), spelled(), animated();
        /// Share that is reflected inside, if it differs from outside: a one-way mirror. At most the rest is transmitted there.
        pub reflection_inside: Option<f64> = None, rule(Rule::Fraction), when("material", &["plain"]), refused(), group("Material"), animated();
        /// How it is turned, at the clip's start.
        pub rotation: Rotation = Rotation::default(), flat();
        /// How it moves over the clip.
        pub motion: Motion = Motion::default(), flat();
        /// The sides of the bars that have lamps.
        pub lamp_sides: LampSides = LampSides::Both, group("Lamps");
        /// How its lamps change over the clip.
        pub lamp_pattern: LampPattern = LampPattern::default(), flat();
    }

    fn check(&mut self, table: &mut Table) {
        if self.rest.is_some() && self.on.is_none() {
            table.problem_at(
                "rest",
                msg!("`rest` without `on`: there is nothing that it could lie on"),
                msg!("it beside {what}", what = "`on = \"floor\"`"),
            );
        }
        let turns = self.rotation.angle_deg != 0.0 || self.motion.turns != 0.0 || table.is_animated("angle_deg");
        if self.rest.is_some() && turns && self.rotation.axis[..2] != [0.0; 2] {
            table.problem_at(
                "axis",
                msg!("its face would leave the floor as it turns"),
                msg!("a vertical axis, `[0, 0, 1]`, or no `rest`"),
            );
        }
        relief::check(self.relief.as_ref(), &self.material, table);
        let flat = Relief::default();
        let relief = self.relief.as_ref().unwrap_or(&flat);
        let of_floors = [
            ("drift", relief.drifts(), msg!("the relief of a body does not drift")),
            ("glitter", relief.glitter > 0.0, msg!("the relief of a body does not glitter")),
            ("displaced", relief.displaced, msg!("the faces of a body stay flat")),
        ];
        for (key, _, what) in of_floors.into_iter().filter(|(_, is_given, _)| *is_given) {
            table.problem_at(&format!("relief.{key}"), what, msg!("`{key}` in [floor.relief] alone", key));
        }
        let (_, transparency) = self.material.shares();
        // The inside of a one-way mirror may transmit less than the outside.
        if let (Some(inside), Some(span)) = (self.reflection_inside, table.span_of("reflection_inside"))
            && let Some(what) = above_one("reflection_inside", inside, transparency)
        {
            let passes = ((1.0 - inside) * 1e6).round() / 1e6;
            table.warn(span, what, msg!("from inside only {share} passes", share = passes));
        }
    }
}

impl Names for Solid {
    const NAMES: &'static WordList<Solid> = &[
        (Solid::Tetrahedron, "tetrahedron", ""),
        (Solid::Hexahedron, "hexahedron", ""),
        (Solid::Octahedron, "octahedron", ""),
        (Solid::Dodecahedron, "dodecahedron", ""),
        (Solid::Icosahedron, "icosahedron", ""),
        (Solid::Hexahedron, "cube", "the hexahedron"),
    ];
}

impl Body {
    /// Whether its bars have lamps.
    pub(crate) fn has_lamps(&self) -> bool {
        self.bar > 0.0 && self.lamps != Lamps::Each(0)
    }
    /// Reflection and transmission of panes from inside. A one-way mirror transmits at most what it does not reflect,
    /// so that their sum is at most one.
    pub(crate) fn shares_inside(&self) -> (f64, f64) {
        let (reflection, transparency) = self.material.shares();
        match self.reflection_inside {
            Some(inside) => (inside, transparency.min(1.0 - inside)),
            None => (reflection, transparency),
        }
    }
    /// Default width of the bars, in circumradii.
    pub const BAR: f64 = 0.045;
    /// Default color of the bars.
    pub const BAR_COLOUR: Vec3 = [0.28, 0.27, 0.29];
    /// Default reflection of the bars.
    pub const BAR_REFLECTION: f64 = 0.35;
    /// Maximum of `lamp_intensity`.
    pub const MAX_LAMP_INTENSITY: f64 = 1000.0;
    /// Default color of the lamps.
    pub const LAMP_COLOUR: Vec3 = [1.0, 0.93, 0.82];
}
