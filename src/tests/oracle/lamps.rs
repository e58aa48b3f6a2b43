//! The oracle's lamps: flat ones, and balls or tubes in the angle of an edge.

use super::{OnBar, Oracle, lin, top};
use crate::math::vec3::*;
use crate::scene::{Body, LampShape, Lamps};
use std::f64::consts::{FRAC_2_PI, FRAC_PI_2};

impl Oracle<'_> {
    // The radius of a body's lamps.
    fn lamp_radius(body: &Body) -> f64 {
        let spacing = body.solid.edge_length() * body.radius / f64::from(body.lamps.count().max(1));
        0.42 * (body.bar * body.radius).min(if body.lamps.is_strip() { f64::MAX } else { spacing })
    }

    // The distance along the edge from a place, as a share of its length, to the nearest lamp; 0 for a strip.
    fn to_lamp(body: &Body, along: f64) -> f64 {
        let n = f64::from(body.lamps.count());
        let away = |i: u32| (along - (f64::from(i) + 0.5) / n).abs();
        let nearest = (0..body.lamps.count()).map(away).fold(f64::INFINITY, f64::min);
        if body.lamps.is_strip() { 0.0 } else { nearest * body.solid.edge_length() * body.radius }
    }

    // How much of a row of lamps blends into a line for a footprint of this length along it: all of it from the lamps'
    // spacing on, nothing up to half of that.
    fn blends(body: &Body, length: f64) -> f64 {
        let n = f64::from(body.lamps.count()) / (body.solid.edge_length() * body.radius);
        if body.lamps.is_strip() { 1.0 } else { (((2.0 * length * n).powi(2) - 1.0) / 3.0).clamp(0.0, 1.0) }
    }

    // A profile filtered by a box of size `blur` relative to its own: the rest at x, the larger and the smaller size.
    fn smeared(x: f64, blur: f64) -> (f64, f64, f64) {
        let (large, small) = (blur.max(1.0), blur.min(1.0));
        (((large + small - x) / (2.0 * small)).clamp(0.0, 1.0), large, small)
    }

    // The light of flat lamps in a footprint, `over` across the edge, `along` it, `round` as a disc, and of the glow on the bar,
    // which covers `cover` of it.
    pub(super) fn discs(&self, body: &Body, at: &OnBar, [over, along, round]: [f64; 3], cover: f64) -> Vec3 {
        let radius = Self::lamp_radius(body);
        // In the middle of the bar's width, on this face and on the next one.
        let middle = 0.5 * body.bar * body.radius;
        let sides = [at.across - middle, at.across + middle];
        let row = Self::blends(body, along);
        let aside = Self::to_lamp(body, at.along) * (1.0 - row);
        let blur = (if body.lamps.is_strip() { over } else { round }) / (2.0 * radius);
        let [own, other] = sides.map(|side| Self::smeared(side.hypot(aside) / radius, blur));
        let shown = (own.0 + other.0) * Self::even_share(body, own, row, 1.0);
        Self::lamp_colour(body, (aside * aside + sides[0] * sides[0]) / (radius * radius), blur, own.0, shown, cover)
    }

    // The light of balls or a tube that touch both faces of the edge, and the share of the footprint that they hide. `width` is
    // that of the ray's cone.
    pub(super) fn domes(
        &self,
        body: &Body,
        at: &OnBar,
        [p, d, face]: [Vec3; 3],
        width: f64,
        cover: f64,
    ) -> (Vec3, f64) {
        let radius = Self::lamp_radius(body);
        let axis = sub(at.foot, scale(at.outward, radius / dot(face, at.outward).abs()));
        // The nearest points of two lines, that of the ray and the lamps' axis.
        let way = sub(p, axis);
        let between = cross(d, at.edge);
        let sine = length(between);
        let beside = dot(way, between) / sine;
        let t = -dot(cross(way, at.edge), between) / (sine * sine);
        let along = dot(add(way, scale(d, t)), at.edge) / (body.solid.edge_length() * body.radius);
        let row = Self::blends(body, width / sine);
        let aside = Self::to_lamp(body, at.along + along) * (1.0 - row) * sine;
        let blur = width / (2.0 * radius);
        let off = beside.hypot(aside) / radius;
        let own = Self::smeared(off, blur);
        let mut shown = own.0 * Self::even_share(body, own, row, sine);
        // At a silhouette the part of the spread lamp on the body shows all of its light.
        let outward = if dot(face, at.outward) > 0.0 { face } else { scale(face, -1.0) };
        let other = sub(scale(at.outward, 2.0 * dot(outward, at.outward)), outward);
        if dot(outward, d) < 0.0 && dot(other, d) > 0.0 {
            let to_edge = (dot(sub(at.foot, axis), between) / sine).abs() / radius;
            let away = (to_edge / blur.max(1.0)).min(1.0);
            let disc = 0.5 + FRAC_2_PI * away - (FRAC_2_PI - 0.5) * away.powi(3);
            let line = 0.5 + 0.5 * away;
            shown /= if blur > 1.0 { disc + (line - disc) * row } else { 1.0 };
        }
        (Self::lamp_colour(body, off * off, blur, own.0, shown, cover), shown.min(1.0))
    }

    // The share of a footprint in the light of a lamp, of a disc or of a line of them, whose spacing looks shorter by `sine`.
    fn even_share(body: &Body, own: (f64, f64, f64), row: f64, sine: f64) -> f64 {
        let per_length = f64::from(body.lamps.count()) / (body.solid.edge_length() * body.radius * sine);
        let fill = FRAC_PI_2 * Self::lamp_radius(body) * per_length;
        let fill = match body.lamps {
            Lamps::Strip => 1.0,
            Lamps::Each(_) if body.lamp_shape == LampShape::Dome => fill.min(1.0),
            Lamps::Each(_) => fill,
        };
        let (disc, line) = (1.0 / (own.1 * own.1 + own.2 * own.2 / 3.0), fill / own.1);
        disc + (line - disc) * row
    }

    // The light at a squared distance from a lamp's middle, in its radii, where the lamp fills `shown` of the footprint.
    fn lamp_colour(body: &Body, far2: f64, blur: f64, own: f64, shown: f64, cover: f64) -> Vec3 {
        let bright = (1.0 - far2).max(0.0);
        // Means of the core and of its square, over a strip and over a disc.
        let (mean, mean2) = if body.lamps.is_strip() { (2.0 / 3.0, 8.0 / 15.0) } else { (0.5, 1.0 / 3.0) };
        let even = (blur * blur).min(1.0);
        let between = |sharp: f64, mean: f64| sharp + (mean - sharp) * even;
        let tinted = between(1.2 + 1.4 * bright, 1.2 + 1.4 * mean) * shown;
        let white = between(1.6 * bright * bright, 1.6 * mean2) * shown;
        let colour = scale(lin(body.lamp_colour), body.lamp_intensity);
        let halo = 0.22 / far2.max(1.0) * (1.0 - own) * cover;
        let core = body.lamp_core;
        colour.map(|c| c * (tinted + halo + (1.0 - core) * white) + core * top(colour) * white)
    }
}
