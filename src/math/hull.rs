//! The convex hull of a few points.

use crate::math::vec3::{Vec3, add, cross, dot, length, normalise, scale, sub};

/// A face of a convex hull: the points p with normal . p = distance.
#[derive(Clone, Debug, PartialEq)]
pub struct Face {
    /// The unit normal, outward.
    pub normal: Vec3,
    /// The distance of its plane from the origin, along the normal.
    pub distance: f64,
    /// The numbers of its corners, counter-clockwise seen from outside.
    pub corners: Vec<usize>,
}

/// The most points that hulls are made of.
pub const MOST: usize = 128;

/// The tolerance for points with six digits.
pub const FLAT: f64 = 1e-5;

/// The faces of the convex hull: planes through three of the points, with no point in front of them. None if all points are in a plane.
/// `tolerance`: how far apart points of one plane are, over the size of the hull. It tries all triples, so the points must be few.
pub fn faces(points: &[Vec3], tolerance: f64) -> Option<Vec<Face>> {
    let middle = scale(points.iter().copied().fold([0.0; 3], add), 1.0 / points.len().max(1) as f64);
    let size = points.iter().map(|&p| length(sub(p, middle))).fold(0.0, f64::max);
    let mut faces: Vec<Face> = Vec::new();
    for a in 0..points.len() {
        for b in a + 1..points.len() {
            for c in b + 1..points.len() {
                if faces.iter().any(|face| [a, b, c].iter().all(|i| face.corners.contains(i))) {
                    continue;
                }
                let across = cross(sub(points[b], points[a]), sub(points[c], points[a]));
                if length(across) <= tolerance * size * size {
                    continue;
                }
                let mut normal = normalise(across);
                if dot(normal, sub(points[a], middle)) < 0.0 {
                    normal = scale(normal, -1.0);
                }
                let distance = dot(normal, points[a]);
                if points.iter().any(|&p| dot(normal, p) > distance + tolerance * size) {
                    continue;
                }
                let on = (0..points.len()).filter(|&i| dot(normal, points[i]) > distance - tolerance * size).collect();
                faces.push(Face { normal, distance, corners: ring(points, on, normal) });
            }
        }
    }
    (faces.len() > 3).then_some(faces)
}

/// The corners of the body behind planes, given by normals and distances from the origin: where three of them meet behind all others.
pub fn corners(planes: &[(Vec3, f64)]) -> Vec<Vec3> {
    let mut corners = Vec::new();
    for (i, &(a, da)) in planes.iter().enumerate() {
        for (j, &(b, db)) in planes.iter().enumerate().skip(i + 1) {
            for &(c, dc) in &planes[j + 1..] {
                let volume = dot(a, cross(b, c));
                if volume.abs() < 1e-9 {
                    continue;
                }
                let sum = add(add(scale(cross(b, c), da), scale(cross(c, a), db)), scale(cross(a, b), dc));
                let p = scale(sum, 1.0 / volume);
                if planes.iter().all(|&(n, d)| dot(n, p) <= d + 1e-6 * (d.abs() + length(p))) {
                    corners.push(p);
                }
            }
        }
    }
    corners
}

// Sorts the corners of a face around its normal.
fn ring(points: &[Vec3], on: Vec<usize>, n: Vec3) -> Vec<usize> {
    let sum = on.iter().fold([0.0; 3], |sum, &i| add(sum, points[i]));
    let centre = scale(sum, 1.0 / on.len() as f64);
    let x = normalise(sub(points[on[0]], centre));
    let y = cross(n, x);
    let mut on: Vec<(f64, usize)> = on
        .into_iter()
        .map(|i| {
            let p = sub(points[i], centre);
            (libm::atan2(dot(p, y), dot(p, x)), i)
        })
        .collect();
    on.sort_by(|a, b| a.0.total_cmp(&b.0));
    on.into_iter().map(|(_, i)| i).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::platonic::Solid;

    #[test]
    fn hulls_leave_out_what_is_inside() {
        let mut points = Solid::Hexahedron.vertices();
        points.extend([[0.0; 3], [0.1, 0.2, 0.3], points[0]]);
        let cube = faces(&points, 1e-6).unwrap();
        assert_eq!(cube.len(), 6);
        let far: Vec<Vec3> = points.iter().map(|&p| add(p, [5.0, -7.0, 9.0])).collect();
        let moved = faces(&far, 1e-6).unwrap();
        assert_eq!(moved.len(), 6);
        assert!(moved.iter().all(|face| far.iter().all(|&p| dot(face.normal, p) < face.distance + 1e-9)));
        assert_eq!(faces(&points[..4], 1e-6).map(|faces| faces.len()), None);
        let planes: Vec<(Vec3, f64)> = moved.iter().map(|face| (face.normal, face.distance)).collect();
        let again = corners(&planes);
        assert!(again.len() == 8 && again.iter().all(|&p| far[..8].iter().any(|&q| length(sub(p, q)) < 1e-9)));
    }
}
