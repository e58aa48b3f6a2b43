//! The air: clear, or a uniform fog.

use super::diagnostic::Rule;
use super::keys::keys;
use crate::math::vec3::Vec3;

keys! {
    /// What fills the space between surfaces, and the inside of glass: clear air, or a uniform fog.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Air in "air" {
        /// How dense the fog is: over a distance d light falls to exp(-density d). 0: the air is clear.
        pub density: f64 = 0.0, rule(Rule::Brightness), group("Fog"), slider(0.0, 1.0), animated();
        /// How much of the light of lamps and balls of light the air scatters on a length of 1: they glow. `density` for white fog;
        /// without fog the air is as thin as can be, and the sky stays.
        pub glow: f64 = 0.0, rule(Rule::Brightness), group("Fog"), slider(0.0, 1.0), animated();
        /// Color of the fog, which all that is far away turns to; the sky altogether.
        pub colour as "color": Vec3 = [0.8; 3], colour(), rule(Rule::Fraction), animated();
    }
}

impl Air {
    pub(crate) fn is_foggy(&self) -> bool {
        self.density > 0.0
    }
    pub(crate) fn glows(&self) -> bool {
        self.glow > 0.0
    }
}
