//! What is drawn of particles beside themselves: bonds, arrows and trails; and planes that cut particles open.

use crate::math::vec3::Vec3;
use crate::scene::keys::keys;
use crate::scene::text::diagnostic::Rule;

keys! {
    /// Bonds between particles, as cylinders.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Bonds in "bonds" {
        /// The longest distance of the middles of particles between which there are bonds. By default the bonds are those of the file, or, if it
        /// has none, between particles that touch.
        pub cutoff: Option<f64> = None, rule(Rule::Length);
        /// The radius of the cylinders; by default a third of that of the smaller particle.
        pub radius: Option<f64> = None, rule(Rule::Length);
        /// What their radii are proportional to, which the greatest one has: a value of the lines of a VTP file, such as `force`; else a value or an
        /// expression of particles, whose mean at both ends counts.
        pub width_by: String = String::new();
        /// The color of all; by default each half has that of its particle.
        pub colour as "color": Option<Vec3> = None, colour(), rule(Rule::Fraction);
    }
}

keys! {
    /// An arrow at the middle of each particle.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Arrows in "arrows" {
        /// What they show: a vector of the file such as `velocity` or `force`, or one of `columns`.
        pub by: String = "velocity".into();
        /// The length of an arrow divided by that of its vector.
        pub scale: f64 = 1.0, rule(Rule::Length);
        /// The radius of the shafts; by default a third of the particle's. Short arrows are thinner.
        pub radius: Option<f64> = None, rule(Rule::Length);
        /// The color of all; by default each has that of its particle.
        pub colour as "color": Option<Vec3> = None, colour(), rule(Rule::Fraction);
    }
}

keys! {
    /// The path of each particle over the time steps before.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Trails in "trails" {
        /// How many time steps a path goes back, each as far from the next as those of two frames.
        pub steps: u32 = 10, rule(Rule::Whole(1, 1000)), slider(1.0, 100.0);
        /// The radius; by default a third of the particle's.
        pub radius: Option<f64> = None, rule(Rule::Length);
        /// Which of the particles that are shown have one: a condition such as `id <= 10`.
        pub only as "where": String = String::new();
        /// The color of all; by default each has that of its particle.
        pub colour as "color": Option<Vec3> = None, colour(), rule(Rule::Fraction);
    }
}

keys! {
    /// A plane that cuts particles open.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Cut in "cut" {
        /// A point of the plane.
        pub point: Vec3 = [0.0; 3], rule(Rule::Coordinate), animated();
        /// The direction in which everything beyond the plane is cut away.
        pub normal: Vec3 = [1.0, 0.0, 0.0], direction(), rule(Rule::Coordinate), animated();
    }
}
