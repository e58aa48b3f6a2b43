//! One frame of a scene in a text: its picture, its linear light, and the layers of its first surfaces.

use polyfly::{Renderer, Scene};
use std::io::Write;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = "[[body]]\nsolid = \"icosahedron\"\nlamps = 9\n[floor]\ntexture = \"@checker\"\n\
                corners = [[-5, -5, -1.5], [-5, 5, -1.5], [5, 5, -1.5], [5, -5, -1.5]]\n";
    let mut scene = Scene::parse(text, "my scene", std::path::Path::new(""))?.scene;
    (scene.render.width, scene.render.height) = (96, 72);
    let mut renderer = Renderer::new(scene)?;
    let picture = renderer.still(0)?;
    let (light, layers) = renderer.still_linear(0)?;
    let brightest = light.data().iter().fold(0.0, |peak: f32, &x| peak.max(x));
    let mut out = std::io::stdout().lock();
    writeln!(out, "{} x {} pixels, light up to {brightest:.2}", picture.width(), picture.height())?;
    writeln!(out, "layers: {}", layers.is_some())?;
    Ok(())
}
