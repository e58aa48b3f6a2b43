//! An animation into a sink of one's own: a curve of how bright the frames are, drawn while they come.
//! Run with `cargo run --release --example sink`.

use polyfly::{
    FrameList, FrameReport, OutputError, PixelFormats, Progress, RenderedFrame, Renderer, RunReport, Scene, Sink,
};
use std::io::Write;

/// Writes a bar for each frame, as long as its mean linear luminance.
struct Brightness<W>(W);

impl<W: Write + Send> Sink for Brightness<W> {
    // The renderer makes no more than what some sink asks for.
    fn needs(&self) -> PixelFormats {
        PixelFormats { linear: true, ..PixelFormats::default() }
    }
    fn frame(&mut self, frame: &RenderedFrame) -> Result<(), OutputError> {
        let Some(light) = frame.linear() else { return Ok(()) };
        let luminance = |p: &[f32]| 0.2126 * p[0] + 0.7152 * p[1] + 0.0722 * p[2];
        let sum: f32 = light.data().chunks_exact(light.channels()).map(luminance).sum();
        let mean = sum / (frame.width * frame.height) as f32;
        let bar = "#".repeat((mean * 100.0) as usize);
        writeln!(self.0, "{:>4} {mean:.3} {bar}", frame.number).map_err(|e| OutputError::Custom(e.into()))
    }
}

/// Hears of the run.
struct Tell;

impl Progress for Tell {
    fn frame(&mut self, frame: &FrameReport) {
        eprintln!("frame {}: {} rays in {:.1?}", frame.frame, frame.stats.rays, frame.stats.time);
    }
    fn end(&mut self, run: &RunReport) {
        eprintln!("{} frames in {:.1?}", run.frames, run.time);
    }
}

fn main() -> Result<(), polyfly::Error> {
    let mut scene = Scene::sample();
    (scene.render.width, scene.render.height, scene.output.frames) = (160, 120, 24);
    let mut renderer = Renderer::new(scene)?;
    renderer.run(&FrameList::all(24), vec![Box::new(Brightness(std::io::stdout()))], &mut Tell)?;
    Ok(())
}
