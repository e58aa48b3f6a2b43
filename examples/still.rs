//! A still to memory: the sample scene's first frame, as bytes and in linear light.
//! Run with `cargo run --release --example still`.
#![allow(clippy::print_stdout, reason = "an example shows what it has")]

use polyfly::{Renderer, Scene};

fn main() -> Result<(), polyfly::Error> {
    let mut scene = Scene::sample();
    (scene.render.width, scene.render.height) = (320, 240);
    let mut renderer = Renderer::new(scene)?;

    // 8 bits a channel after the tone curve: what files and windows show.
    let picture = renderer.still(0)?;
    println!("{} x {} pixels, {} bytes", picture.width(), picture.height(), picture.data().len());
    println!("the center is {:?}", picture.pixel(160, 120));

    // Linear light before it, and what the first surfaces are.
    let (light, layers) = renderer.still_linear(0)?;
    println!("its light is {:?}", light.pixel(160, 120));
    if let Some(layers) = layers {
        println!("its distance is {:?}, its normal {:?}", layers.depth.pixel(160, 120), layers.normal.pixel(160, 120));
    }
    Ok(())
}
