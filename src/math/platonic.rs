//! The five Platonic solids: vertices at exactly the circumradius, outward faces, edges, face planes.

use crate::math::hull;
use crate::math::vec3::{Vec3, dot, length, normalise, sub};
use std::sync::OnceLock;

/// One of the five Platonic solids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Solid {
    /// 4 triangles.
    Tetrahedron,
    /// 6 squares: the cube.
    Hexahedron,
    /// 8 triangles.
    Octahedron,
    /// 12 pentagons.
    Dodecahedron,
    /// 20 triangles.
    Icosahedron,
}

impl Solid {
    /// All five, by number of faces.
    pub const ALL: [Solid; 5] =
        [Solid::Tetrahedron, Solid::Hexahedron, Solid::Octahedron, Solid::Dodecahedron, Solid::Icosahedron];

    /// The name in scenes.
    pub fn name(self) -> &'static str {
        match self {
            Solid::Tetrahedron => "tetrahedron",
            Solid::Hexahedron => "hexahedron",
            Solid::Octahedron => "octahedron",
            Solid::Dodecahedron => "dodecahedron",
            Solid::Icosahedron => "icosahedron",
        }
    }

    /// The corners of the solid with circumradius 1 around the origin.
    pub fn vertices(self) -> Vec<Vec3> {
        let phi = (1.0 + 5.0_f64.sqrt()) / 2.0;
        let signs = [1.0, -1.0];
        let mut corners: Vec<Vec3> = Vec::new();
        let cube = || signs.into_iter().flat_map(|x| signs.into_iter().flat_map(move |y| signs.map(|z| [x, y, z])));
        // (0, a, b) with all signs, and its cyclic shifts.
        let mut cyclic = |a: f64, b: f64| {
            for (s, t) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
                let (a, b) = (s * a, t * b);
                corners.extend([[0.0, a, b], [b, 0.0, a], [a, b, 0.0]]);
            }
        };
        match self {
            Solid::Tetrahedron => {
                corners = vec![[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]];
            }
            Solid::Hexahedron => corners = cube().collect(),
            Solid::Octahedron => {
                for axis in 0..3 {
                    for s in signs {
                        let mut corner = [0.0; 3];
                        corner[axis] = s;
                        corners.push(corner);
                    }
                }
            }
            Solid::Dodecahedron => {
                cyclic(1.0 / phi, phi);
                corners.extend(cube());
            }
            Solid::Icosahedron => cyclic(1.0, phi),
        }
        corners.into_iter().map(normalise).collect()
    }

    /// Faces as rings of vertex numbers, counter-clockwise seen from outside.
    ///
    /// The faces follow from the vertices alone: they are those of their hull.
    pub fn faces(self) -> &'static [Vec<usize>] {
        static FOUND: [OnceLock<Vec<Vec<usize>>>; 5] = [const { OnceLock::new() }; 5];
        FOUND[self as usize].get_or_init(|| self.find_faces())
    }

    fn find_faces(self) -> Vec<Vec<usize>> {
        let faces = hull::faces(&self.vertices(), 1e-9).unwrap_or_default();
        faces.into_iter().map(|face| face.corners).collect()
    }

    /// Edges as pairs of vertex numbers, each once.
    pub fn edges(self) -> Vec<[usize; 2]> {
        let mut edges = Vec::new();
        for face in self.faces() {
            for (i, &a) in face.iter().enumerate() {
                let b = face[(i + 1) % face.len()];
                if a < b {
                    edges.push([a, b]);
                }
            }
        }
        edges
    }

    /// Edge length at circumradius 1.
    pub fn edge_length(self) -> f64 {
        let v = self.vertices();
        let [a, b] = self.edges()[0];
        length(sub(v[a], v[b]))
    }

    /// Outward unit normal of each face.
    pub fn normals(self) -> Vec<Vec3> {
        let v = self.vertices();
        self.faces()
            .iter()
            .map(|f| normalise(f.iter().fold([0.0; 3], |s, &i| [s[0] + v[i][0], s[1] + v[i][1], s[2] + v[i][2]])))
            .collect()
    }

    /// Distance of the faces from the center at circumradius 1.
    pub fn inradius(self) -> f64 {
        dot(self.normals()[0], self.vertices()[self.faces()[0][0]])
    }

    /// Radius of a face's inscribed circle at circumradius 1.
    pub fn face_radius(self) -> f64 {
        let (half_edge, inradius) = (0.5 * self.edge_length(), self.inradius());
        (1.0 - half_edge * half_edge - inradius * inradius).sqrt()
    }

    /// Sine of the angle between the normals of two faces that share an edge.
    pub fn edge_sine(self) -> f64 {
        let cosine = self.edge_cosine();
        (1.0 - cosine * cosine).sqrt()
    }

    /// Cosine of the same angle.
    pub fn edge_cosine(self) -> f64 {
        let n = self.normals();
        // Neighbors are the faces whose normals are closest.
        n[1..].iter().map(|&m| dot(n[0], m)).fold(-1.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::vec3::cross;

    #[test]
    fn every_vertex_lies_at_the_circumradius() {
        for solid in Solid::ALL {
            for p in solid.vertices() {
                assert!((length(p) - 1.0).abs() < 1e-15, "{solid:?} {p:?}");
            }
        }
    }

    #[test]
    fn counts_obey_euler() {
        let known = [(4, 6, 4), (8, 12, 6), (6, 12, 8), (20, 30, 12), (12, 30, 20)];
        for (solid, (v, e, f)) in Solid::ALL.into_iter().zip(known) {
            assert_eq!((solid.vertices().len(), solid.edges().len(), solid.faces().len()), (v, e, f), "{solid:?}");
        }
    }

    #[test]
    fn meshes_are_closed_and_face_outward() {
        for solid in Solid::ALL {
            let (v, faces) = (solid.vertices(), solid.faces());
            let mut directed = std::collections::HashSet::new();
            for face in faces {
                let n = cross(sub(v[face[1]], v[face[0]]), sub(v[face[2]], v[face[1]]));
                assert!(length(n) > 1e-3, "{solid:?}: degenerate face {face:?}");
                assert!(dot(n, v[face[0]]) > 0.0, "{solid:?}: face {face:?} looks inward");
                for (i, &a) in face.iter().enumerate() {
                    assert!(
                        directed.insert((a, face[(i + 1) % face.len()])),
                        "{solid:?}: an edge is used twice one way"
                    );
                }
            }
            assert!(directed.iter().all(|&(a, b)| directed.contains(&(b, a))), "{solid:?} has a hole");
        }
    }

    #[test]
    fn all_edges_are_as_long() {
        for solid in Solid::ALL {
            let v = solid.vertices();
            for [a, b] in solid.edges() {
                assert!((length(sub(v[a], v[b])) - solid.edge_length()).abs() < 1e-12);
            }
        }
    }
}
