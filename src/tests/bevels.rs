//! Bevels: the shading normal near the edges of all solids, against its definition.
use super::common::*;
use crate::math::vec3::{Vec3, add, dot, normalise, scale, sub};
use crate::scene::Solid;

const BEVEL: f64 = 0.1;

// A solid mirror under a sky whose light grows linearly from 0 at the nadir to 1 at the zenith.
fn mirror(solid: Solid, bevel: f64, eye: Vec3, target: Vec3) -> crate::scene::Scene {
    toml(&format!(
        "[output]\nsize = [4, 4]\n[render]\nsamples = 2\ncutoff = 0\nambient = [0, 0, 0]\nhighlight = 0\n\
         [sky]\nzenith = [1, 1, 1]\nhorizon = [0, 0, 0]\nfrom_below = true\n\
         [camera]\nposition = {eye:?}\nlook_at = {target:?}\nfov_deg = 0.02\n\
         [[body]]\nsolid = \"{}\"\nmaterial = \"metal\"\ncolor = [1, 1, 1]\nbar = 0\nbevel = {bevel}\naxis = [1, 2, 3]\nangle_deg = 25\n",
        solid.name()
    ))
}

#[test]
fn the_normal_turns_evenly_to_the_middle_at_the_edge() {
    for solid in Solid::ALL {
        let body = mirror(solid, BEVEL, [9.0, 0.0, 0.0], [0.0; 3]).world.bodies.remove(0);
        let (vertices, normals) = (body.vertices(), body.normals());
        for [a, b] in solid.edges().into_iter().step_by(3) {
            let sides: Vec<usize> = (0..normals.len())
                .filter(|&face| solid.faces()[face].contains(&a) && solid.faces()[face].contains(&b))
                .collect();
            let middle = scale(add(vertices[a], vertices[b]), 0.5);
            for (face, other) in [(sides[0], sides[1]), (sides[1], sides[0])] {
                let (n, beyond) = (normals[face], normals[other]);
                let into = normalise(sub(scale(n, solid.inradius()), middle));
                for share in [0.03, 0.3, 0.7, 0.97, 1.2] {
                    let point = add(middle, scale(into, share * BEVEL));
                    let turned = normalise(add(n, scale(beyond, f64::max(1.0 - share, 0.0))));
                    let eye = add(point, scale(normalise(add(turned, scale(into, 0.3))), 3.0));
                    let d = normalise(sub(point, eye));
                    let expected = 0.5 + 0.5 * sub(d, scale(turned, 2.0 * dot(d, turned)))[2];
                    let got = mean(&light(&mirror(solid, BEVEL, eye, point)));
                    assert!((got - expected).abs() < 0.004, "{solid:?} at {share}: {got}, expected {expected}");
                }
            }
        }
    }
}

// A bevel that is too narrow to see changes nothing, and no bevel is a razor edge.
#[test]
fn a_narrow_bevel_is_a_razor_edge() {
    let seen = |bevel| light(&sized(mirror(Solid::Hexahedron, bevel, [5.0, 4.0, 3.0], [0.0; 3]), 16, 16, 2));
    let wide = |mut scene: crate::scene::Scene| {
        scene.camera.fov_deg = 30.0;
        light(&sized(scene, 64, 64, 2))
    };
    assert_eq!(seen(0.0), seen(1e-30));
    let at = |bevel| wide(mirror(Solid::Hexahedron, bevel, [5.0, 4.0, 3.0], [0.0; 3]));
    assert_eq!(at(0.0), at(1e-30));
    assert_ne!(at(0.0), at(0.1));
}
