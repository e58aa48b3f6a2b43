//! Frames of docs/vectors.txt, whose bits are known: an oracle for every device.

use crate::error::Error;
use crate::scene::Scene;
use std::path::Path;

/// A known frame.
pub struct Vector {
    pub name: &'static str,
    pub frame: u32,
    pub scene: Scene,
    /// RGBA of the scene's own size, hexadecimal.
    #[cfg(test)]
    pub rgba: &'static str,
    /// The hash of the frame at another size.
    pub large: ((u32, u32), &'static str),
}

/// The frames of the file.
pub fn all() -> Result<Vec<Vector>, Error> {
    let text = include_str!("../../docs/vectors.txt");
    text.split("\nframe ").skip(1).map(parse).collect()
}

fn parse(text: &'static str) -> Result<Vector, Error> {
    let (name, frame) = text.lines().next().and_then(|line| line.split_once(' ')).unwrap_or_default();
    let lines = text.lines().filter_map(|line| line.strip_prefix("| "));
    let scene = Scene::parse(&lines.map(|line| line.to_owned() + "\n").collect::<String>(), name, Path::new(""))?.scene;
    let (size, large) =
        text.lines().rev().find_map(|line| line.strip_prefix("sha256 ")?.split_once(' ')).unwrap_or_default();
    let (width, height) = size.split_once('x').unwrap_or_default();
    let side = |text: &str| text.parse().unwrap_or(1);
    let large = ((side(width), side(height)), large);
    Ok(Vector {
        name,
        frame: frame.parse().unwrap_or_default(),
        scene,
        #[cfg(test)]
        rgba: text.lines().find_map(|line| line.strip_prefix("rgba ")).unwrap_or_default(),
        large,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::Isa;
    use crate::math::hash::hex;
    use crate::tests::common::renderer;

    #[test]
    fn frames_have_these_bits_on_every_set() {
        let vectors = all().unwrap();
        assert_eq!(vectors.iter().map(|vector| vector.name).collect::<Vec<_>>(), ["mirrors", "paths", "glass"]);
        for Vector { name, frame, scene, rgba, .. } in vectors {
            let on = |isa: Isa, scene: &Scene, frame: u32| hex(renderer(scene, isa, 0).still(frame).unwrap().data());
            for isa in Isa::tested() {
                assert_eq!(on(isa, &scene, frame), rgba, "{name}, {}", isa.name);
            }
            // The control: a body of another size.
            let mut changed = scene.clone();
            changed.world.bodies[0].radius *= 1.02;
            assert_ne!(on(Isa::available()[0], &changed, frame), rgba, "{name}");
        }
    }
}
