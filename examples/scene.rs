//! A scene built in code: a ring of the five solids around a mirrored ball, printed as TOML and rendered.
//! Run with `cargo run --release --example scene > ring.toml`; `polyfly ring.toml` makes the clip.
#![allow(clippy::print_stdout, reason = "an example shows what it has")]

use polyfly::scene::{Body, Camera, CameraPath, CylindricalPath, Floor, Lamps, Light, Material, Solid, Sphere};
use polyfly::scene::{TextureSource, World};
use polyfly::{Renderer, Scene};

fn main() -> Result<(), polyfly::Error> {
    let solids = [Solid::Tetrahedron, Solid::Hexahedron, Solid::Octahedron, Solid::Dodecahedron, Solid::Icosahedron];
    let bodies = solids.iter().enumerate().map(|(i, &solid)| {
        let turn = std::f64::consts::TAU * i as f64 / solids.len() as f64;
        // The same numbers on every platform.
        let (sin, cos) = libm::sincos(turn);
        Body {
            solid,
            centre: [3.0 * cos, 3.0 * sin, 0.2],
            material: Material::plain([0.6 + 0.4 * cos, 0.7, 0.6 + 0.4 * sin], 0.5, 0.4),
            radius: 1.1,
            lamps: Lamps::Each(4),
            ..Body::default()
        }
    });
    let ball = Sphere { material: Material::plain([0.9; 3], 0.8, 0.0), ..Sphere::default() };
    let mut scene = Scene::sample();
    scene.world = World {
        bodies: bodies.collect(),
        spheres: vec![ball],
        floor: Some(Floor {
            corners: [[-9.0, -9.0, -1.0], [-9.0, 9.0, -1.0], [9.0, 9.0, -1.0], [9.0, -9.0, -1.0]],
            texture: Some(TextureSource::Marble),
            material: Material::plain([1.0; 3], 0.2, 0.0),
            ..Floor::default()
        }),
        lights: vec![Light { position: [4.0, -5.0, 8.0], colour: [0.9; 3], radius: 0.0 }],
        ..World::default()
    };
    let eye = CylindricalPath { wphi: 1.0, ..CylindricalPath::at_rest(8.0, 3.0) };
    scene.camera = Camera {
        fov_deg: 50.0,
        path: CameraPath::Cylinder { eye, target: CylindricalPath::at_rest(0.0, 0.0) },
        ..Camera::default()
    };
    print!("{}", scene.to_toml());

    // Values out of range are reported before anything is rendered.
    (scene.render.width, scene.render.height) = (320, 180);
    let picture = Renderer::new(scene)?.still(0)?;
    eprintln!("{} x {} pixels", picture.width(), picture.height());
    Ok(())
}
