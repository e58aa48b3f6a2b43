//! The air: clear, or a uniform fog, with or without a top.

use crate::math::vec3::Vec3;
use crate::scene::keys::keys;
use crate::scene::text::diagnostic::Rule;

keys! {
    /// What fills the space between surfaces, and the inside of glass: clear air, or a uniform fog.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Air in "air" {
        /// How dense the fog is: over a distance d light falls to exp(-density d). 0: the air is clear.
        pub density: f64 = 0.0, rule(Rule::Brightness), group("Fog"), slider(0.0, 1.0), animated();
        /// How much of the light of lamps and balls of light the air scatters on a length of 1: they glow. Set it to
        /// `density` for white fog; without fog the air dims nothing, and the sky stays visible.
        pub glow: f64 = 0.0, rule(Rule::Brightness), group("Fog"), slider(0.0, 1.0), animated();
        /// Color of the fog, to which distant surfaces fade.
        pub colour as "color": Vec3 = [0.8; 3], colour(), rule(Rule::Fraction), animated(), without("density");
        /// The height z of the fog's top: the air above it is clear, and the sky, its sun and its stars are seen through the fog, the less the
        /// nearer to the horizon. Without it the fog has no end and hides the sky.
        pub height: Option<f64> = None, rule(Rule::Length), slider(1.0, 100.0), animated(), without("density");
    }
}

impl Air {
    pub(crate) fn is_foggy(&self) -> bool {
        self.density > 0.0
    }
    /// Whether the fog has no end above, so that nothing of the sky is seen.
    pub(crate) fn hides_sky(&self) -> bool {
        self.is_foggy() && self.height.is_none()
    }
    pub(crate) fn glows(&self) -> bool {
        self.glow > 0.0
    }
}
