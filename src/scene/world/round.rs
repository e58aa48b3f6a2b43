//! Bevelled bodies: how far their round corners reach.

use crate::math::vec3::{Vec3, add, cross, dot, scale};
use crate::scene::{Body, Rotation};

// Moments of a turn at which a body is asked how far it reaches.
const MOMENTS: u32 = 4096;
// Active faces are found after a few rounds.
const ROUNDS: u32 = 20;

/// Narrower bevels, in circumradii, are in the shading alone.
pub const ROUND_FROM: f64 = 0.03;

impl Body {
    /// Whether its bevels are in its shape.
    pub(crate) fn is_round(&self) -> bool {
        self.bevel >= ROUND_FROM
    }

    /// The width of its bevels as kernels have it, measured from the adjacent face's plane: those of a face's edges meet in its
    /// middle at most. None if it has razor edges; kernels can't tell a bevel below a hundred-thousandth of the radius from them.
    pub(crate) fn bevel_width(&self) -> Option<f64> {
        let widest = self.solid.inradius() * (1.0 - self.solid.edge_cosine());
        let width = (self.bevel * self.solid.edge_sine()).min(widest);
        (width > 1e-5).then_some(width * self.radius)
    }

    /// How far a body with bevels of this width reaches in a direction while it turns.
    pub(crate) fn round_reach(&self, width: f64, direction: Vec3) -> f64 {
        let (turns, axis) = (self.motion.turns.clamp(-1.0, 1.0), self.rotation.axis);
        let is_still = turns == 0.0 || axis == [0.0; 3];
        let (faces, corners) = (self.normals(), self.vertices());
        let inradius = self.solid.inradius() * self.radius;
        let at = |moment: u32| {
            // The direction turns the other way.
            let angle_deg = -360.0 * turns * f64::from(moment) / f64::from(MOMENTS);
            let seen = Rotation { axis, angle_deg }.apply(direction);
            // First the faces of the corner that reaches farthest.
            let farthest = corners.iter().max_by(|a, b| dot(**a, seen).total_cmp(&dot(**b, seen)));
            let corner = farthest.copied().unwrap_or_default();
            let active = faces.iter().map(|&n| dot(n, corner) > (1.0 - 1e-9) * inradius).collect();
            support(&faces, inradius / width - 1.0, active, seen) * width
        };
        (0..=if is_still { 0 } else { MOMENTS }).map(at).fold(f64::MIN, f64::max)
    }
}

// How far the points q reach along u for which the squares of n.q - depth, where that is above 0, sum up to 1 at most: lengths are in
// widths of the bevel. For the active faces, whose terms are above 0, they fill an ellipsoid; its farthest point says which faces are.
fn support(faces: &[Vec3], depth: f64, mut active: Vec<bool>, u: Vec3) -> f64 {
    let mut reached = depth + 1.0;
    for _ in 0..ROUNDS {
        let chosen = || faces.iter().zip(&active).filter(|(_, is)| **is).map(|(n, _)| *n);
        let column = |k: usize| chosen().fold([0.0; 3], |sum, n| add(sum, scale(n, n[k])));
        let [a, b, c] = [0, 1, 2].map(column);
        let determinant = dot(a, cross(b, c));
        if determinant < 1e-9 {
            break;
        }
        // Of a symmetrical matrix, so rows are columns.
        let solve = |v: Vec3| {
            let minors = [cross(b, c), cross(c, a), cross(a, b)];
            scale([0, 1, 2].map(|k| dot(minors[k], v)), 1.0 / determinant)
        };
        // The middle of the ellipsoid, and from there to its farthest point.
        let middle = scale(solve(chosen().fold([0.0; 3], add)), depth);
        let low: f64 = chosen().map(|n| dot(n, middle) - depth).map(|term| term * term).sum();
        let way = solve(u);
        let q = add(middle, scale(way, (f64::max(1.0 - low, 0.0) / dot(u, way)).sqrt()));
        reached = dot(q, u);
        let next: Vec<bool> = faces.iter().map(|&n| dot(n, q) - depth > -1e-9).collect();
        if next == active {
            break;
        }
        active = next;
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::vec3::normalise;
    use crate::scene::{Motion, Solid};

    fn body(solid: Solid, bevel: f64) -> Body {
        Body { solid, bevel, radius: 2.0, ..Body::default() }
    }
    // The point of the round surface in a direction from the center.
    fn surface(body: &Body, width: f64, direction: Vec3) -> Vec3 {
        let inradius = body.solid.inradius() * body.radius;
        let is_inside = |t: f64| {
            let terms = body.normals().into_iter().map(|n| (1.0 + (t * dot(n, direction) - inradius) / width).max(0.0));
            terms.map(|term| term * term).sum::<f64>() < 1.0
        };
        let (mut inside, mut outside) = (0.0, body.radius);
        for _ in 0..50 {
            let t = 0.5 * (inside + outside);
            if is_inside(t) { inside = t } else { outside = t }
        }
        scale(direction, inside)
    }

    #[test]
    fn round_bodies_reach_as_far_as_their_surface() {
        // Directions all around.
        let around: Vec<Vec3> = (0..4000)
            .map(|i| {
                let (z, angle) = (1.0 - f64::from(2 * i + 1) / 4000.0, 2.399_963 * f64::from(i));
                let r = f64::sqrt(1.0 - z * z);
                [r * libm::cos(angle), r * libm::sin(angle), z]
            })
            .collect();
        for solid in Solid::ALL {
            for bevel in [0.01, 0.1, 0.3, 1.0] {
                let body = body(solid, bevel);
                let width = body.bevel_width().unwrap();
                let seen: Vec<Vec3> = around.iter().map(|&d| surface(&body, width, d)).collect();
                let corners = body.vertices().into_iter().map(normalise).chain(body.normals());
                for u in around.iter().copied().step_by(97).chain(corners) {
                    // From the best of them by ever smaller steps.
                    let mut best = seen.iter().copied().max_by(|a, b| dot(*a, u).total_cmp(&dot(*b, u))).unwrap();
                    let mut step = 0.05;
                    while step > 1e-5 {
                        let sides = [0, 1, 2].into_iter().flat_map(|k| [-step, step].map(|by| (k, by)));
                        let tried = sides.map(|(k, by)| {
                            let mut near = normalise(best);
                            near[k] += by;
                            surface(&body, width, normalise(near))
                        });
                        let next = tried.max_by(|a, b| dot(*a, u).total_cmp(&dot(*b, u))).unwrap();
                        if dot(next, u) > dot(best, u) { best = next } else { step *= 0.5 }
                    }
                    let (got, most) = (body.round_reach(width, u), dot(best, u));
                    assert!((-1e-9..1e-4).contains(&(got - most)), "{solid:?}, {bevel}, {u:?}: {got}, not {most}");
                }
                for n in body.normals() {
                    let off = body.round_reach(width, n) - solid.inradius() * body.radius;
                    assert!(off.abs() < 1e-12, "{solid:?}, {bevel}: {off} off on a face");
                }
            }
        }
    }

    #[test]
    fn a_turning_round_body_reaches_as_far_as_in_its_farthest_moment() {
        for turns in [0.2, -0.13, 3.0] {
            let mut body = body(Solid::Hexahedron, 0.1);
            body.rotation = Rotation { axis: [1.0, 0.3, 0.0], angle_deg: 20.0 };
            body.motion = Motion { turns, ..Motion::default() };
            let (width, down) = (body.bevel_width().unwrap(), [0.0, 0.0, -1.0]);
            let at = |i: u32| {
                let still = Body { motion: Motion::default(), ..body.at(f64::from(i) / 9999.0) };
                still.round_reach(width, down)
            };
            let (most, got) = ((0..10_000).map(at).fold(f64::MIN, f64::max), body.round_reach(width, down));
            assert!((got - most).abs() < 1e-5, "{turns}: {got}, not {most}");
        }
    }
}
