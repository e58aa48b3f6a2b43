//! polyfly for a page: functions that WebAssembly exports, called by page/worker.js.
//!
//! A call writes its argument to the memory of [`polyfly_input`]. It returns the length of its result, which
//! starts at [`polyfly_output`]: JSON, or bytes. JSON with a field `error` says why a call has failed.
#![expect(unsafe_code, reason = "exports functions by their names, and gives out addresses of its memory")]

mod scene;

use polyfly::{Devices, Error, FrameSteps, Image, RenderOptions, Renderer};
use serde_json::{Value, json};
use std::cell::RefCell;

#[derive(Default)]
struct Page {
    input: Vec<u8>,
    output: Vec<u8>,
    // The scene's text, and its renderer at its own size.
    text: String,
    renderer: Option<Renderer>,
    steps: Option<FrameSteps>,
    picture: Image<u8>,
}

thread_local! {
    static PAGE: RefCell<Page> = RefCell::default();
}

// Runs a call whose result is JSON.
fn json_bytes(call: impl FnOnce(&mut Page) -> Result<Value, String>) -> usize {
    bytes(|page| call(page).unwrap_or_else(|error| json!({ "error": error })).to_string().into_bytes())
}

// Runs a call whose result is bytes.
fn bytes(call: impl FnOnce(&mut Page) -> Vec<u8>) -> usize {
    PAGE.with_borrow_mut(|page| {
        page.output = call(page);
        page.output.len()
    })
}

fn why(error: Error) -> String {
    error.to_string()
}

/// Memory for the argument of the next call.
#[unsafe(no_mangle)]
pub extern "C" fn polyfly_input(length: usize) -> *mut u8 {
    PAGE.with_borrow_mut(|page| {
        page.input = vec![0; length];
        page.input.as_mut_ptr()
    })
}

/// The start of the last call's result.
#[unsafe(no_mangle)]
pub extern "C" fn polyfly_output() -> *const u8 {
    PAGE.with_borrow(|page| page.output.as_ptr())
}

/// The scenes inside the program that read no file.
#[unsafe(no_mangle)]
pub extern "C" fn polyfly_scenes() -> usize {
    json_bytes(|_| Ok(scene::list()))
}

/// Reads a scene's text: its size, frames and sampling, and all faults with their places.
#[unsafe(no_mangle)]
pub extern "C" fn polyfly_read() -> usize {
    json_bytes(|page| Ok(scene::read(&String::from_utf8_lossy(&page.input))))
}

/// Opens a frame of the scene whose text is the argument, at a size. `samples` are those along a pixel's side; 0 takes the
/// scene's own. Returns the rows of each step, and whether steps are finished pixels.
#[unsafe(no_mangle)]
pub extern "C" fn polyfly_open(width: u32, height: u32, samples: u32, frame: u32) -> usize {
    json_bytes(|page| {
        let text = String::from_utf8_lossy(&page.input);
        if page.renderer.is_none() || page.text != text {
            (page.renderer, page.steps, page.text) = (None, None, text.into_owned());
            let scene =
                scene::parsed(&page.text).map_err(|faults| format!("the scene has {} faults", faults.len()))?.scene;
            let options = RenderOptions::new().devices(Devices::Cpu);
            page.renderer = Some(Renderer::with_options(scene, options).map_err(why)?);
        }
        let renderer = page.renderer.as_ref().ok_or("no scene is open")?;
        let samples = (samples > 0).then_some(samples);
        let steps = FrameSteps::new(&renderer.resized(width, height, samples), frame).map_err(why)?;
        Ok(round(page.steps.insert(steps)))
    })
}

fn round(steps: &FrameSteps) -> Value {
    let rows: Vec<_> = (0..steps.count()).map(|step| steps.rows(step)).map(|rows| [rows.start, rows.end]).collect();
    json!({ "steps": rows, "pixels": steps.are_pixels() })
}

/// Renders a step of the open frame. Without such a step there are no bytes.
#[unsafe(no_mangle)]
pub extern "C" fn polyfly_render(step: usize) -> usize {
    bytes(|page| page.steps.as_mut().and_then(|steps| steps.render(step).ok()).unwrap_or_default())
}

/// Adds the bytes of a step, the argument, to the open frame.
#[unsafe(no_mangle)]
pub extern "C" fn polyfly_add(step: usize) -> usize {
    json_bytes(|page| {
        let steps = page.steps.as_mut().ok_or("no frame is open")?;
        steps.add(step, &page.input).map_err(why)?;
        Ok(json!({}))
    })
}

/// Ends a round. Returns the steps of the next one, or the size and the hash of the picture.
#[unsafe(no_mangle)]
pub extern "C" fn polyfly_finish() -> usize {
    json_bytes(|page| {
        let steps = page.steps.as_mut().ok_or("no frame is open")?;
        let Some(picture) = steps.finish().map_err(why)? else { return Ok(round(steps)) };
        (page.picture, page.steps) = (picture, None);
        let (width, height) = (page.picture.width(), page.picture.height());
        Ok(json!({ "width": width, "height": height, "hash": page.picture.sha256() }))
    })
}

/// Goes to the next round of the open frame, whose light another worker adds. Returns its steps.
#[unsafe(no_mangle)]
pub extern "C" fn polyfly_skip_round() -> usize {
    json_bytes(|page| {
        let steps = page.steps.as_mut().ok_or("no frame is open")?;
        steps.skip_round().map_err(why)?;
        Ok(round(steps))
    })
}

/// The finished picture: RGBA, 8 bits per channel.
#[unsafe(no_mangle)]
pub extern "C" fn polyfly_pixels() -> usize {
    bytes(|page| page.picture.data().to_vec())
}

/// The finished picture as a PNG.
#[unsafe(no_mangle)]
pub extern "C" fn polyfly_png() -> usize {
    bytes(|page| encoded(&page.picture).unwrap_or_default())
}

fn encoded(picture: &Image<u8>) -> Result<Vec<u8>, png::EncodingError> {
    let pixels = picture.data().as_chunks::<4>().0;
    let is_opaque = pixels.iter().all(|p| p[3] == 255);
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, picture.width(), picture.height());
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_color(if is_opaque { png::ColorType::Rgb } else { png::ColorType::Rgba });
    encoder.set_filter(png::Filter::Adaptive);
    let mut writer = encoder.write_header()?;
    match is_opaque {
        true => writer.write_image_data(&pixels.iter().flat_map(|p| [p[0], p[1], p[2]]).collect::<Vec<u8>>())?,
        false => writer.write_image_data(picture.data())?,
    }
    writer.finish()?;
    Ok(file)
}
