//! The keys on the page's timeline: those of the camera's path and of values over time, and edits that change them.

use crate::scene::text::edit::{Edit, value_at};
use crate::scene::{CameraKey, CameraPath, Scene, number, path_text, triple};
use serde_json::{Value, json};
use toml_edit::Array;

/// The name of the camera's keys, beside those of values.
pub const CAMERA: &str = "camera.key";
// Points of a value's curve.
const POINTS: u32 = 60;

// The path within the program: `body.0.radius` of `body[0].radius`.
fn inner(path: &str) -> String {
    path.replace('[', ".").replace(']', "")
}

/// Whether this value has keys.
pub fn is_over_time(scene: &Scene, path: &str) -> bool {
    scene.tracks.all().iter().any(|track| track.path == inner(path))
}

/// A value at a frame; None if it has no keys.
pub fn value_at_frame(scene: &Scene, path: &str, frame: u32) -> Option<Vec<f64>> {
    let track = scene.tracks.all().iter().find(|track| track.path == inner(path))?;
    Some(track.at(f64::from(frame) / f64::from(scene.output.frames))[..track.count].to_vec())
}

/// Sets a value: at a frame, if it changes over the clip.
pub fn put(text: &str, scene: &Scene, of: &str, frame: u32, value: &[f64]) -> Option<Vec<Edit>> {
    let value = numbers(value);
    if is_over_time(scene, of) {
        return inserted(text, scene, of, frame, Some(value));
    }
    Some(vec![Edit::Set(of.to_owned(), value)])
}

// A number, or a list of them.
fn numbers(value: &[f64]) -> String {
    let texts: Vec<String> = value.iter().map(|x| number(*x)).collect();
    if let [one] = &texts[..] { one.clone() } else { format!("[{}]", texts.join(", ")) }
}

fn camera_keys(scene: &Scene) -> &[CameraKey] {
    match &scene.camera.path {
        CameraPath::Keys { keys, .. } => keys,
        _ => &[],
    }
}

// The times of keys, as shares of the clip.
fn times(scene: &Scene, of: &str) -> Vec<f64> {
    match of {
        CAMERA => camera_keys(scene).iter().map(|key| key.time).collect(),
        _ => {
            let track = scene.tracks.all().iter().find(|track| track.path == inner(of));
            let track = track.filter(|track| track.beats.is_none());
            track.map(|track| track.keys.iter().map(|key| key.time).collect()).unwrap_or_default()
        }
    }
}

// The key at a frame.
fn key_at(scene: &Scene, times: &[f64], frame: u32) -> Option<usize> {
    let frames = f64::from(scene.output.frames);
    times.iter().position(|time| (time * frames - f64::from(frame)).abs() < 0.5)
}

/// The rows of the timeline: the camera's keys, and those of each value with its curve.
pub fn rows(scene: &Scene) -> Value {
    let curve = |i: u32, track: &crate::scene::keys::track::Track| track.at(f64::from(i) / f64::from(POINTS))[0];
    let values = scene.tracks.all().iter().map(|track| {
        let curve: Vec<f64> = (0..=POINTS).filter(|_| track.count == 1).map(|i| curve(i, track)).collect();
        let of = path_text(&track.path);
        let times = times(scene, &of);
        let values: Vec<f64> =
            track.keys.iter().map(|key| key.value[0]).filter(|_| track.count == 1).take(times.len()).collect();
        json!({ "of": of, "times": times, "curve": curve, "values": values })
    });
    let camera = json!({ "of": CAMERA, "times": times(scene, CAMERA), "curve": [], "values": [] });
    json!(std::iter::once(camera).chain(values).collect::<Vec<_>>())
}

/// Makes a key of a value at a frame: with `value`, or with the value that it has there. One that did not change over the clip needs a
/// value then. A key that is there gets it.
pub fn inserted(text: &str, scene: &Scene, of: &str, frame: u32, value: Option<String>) -> Option<Vec<Edit>> {
    let frames = scene.output.frames;
    let time = f64::from(frame) / f64::from(frames);
    let track = scene.tracks.all().iter().find(|track| track.path == inner(of));
    if track.is_some_and(|track| track.beats.is_some()) {
        return None;
    }
    let Some(track) = track else {
        let value = value?;
        let second = if frame == 0 { 0.5 } else { time };
        return Some(vec![Edit::Set(of.to_owned(), format!("{{ keys = [[0.0, {value}], [{second:?}, {value}]] }}"))]);
    };
    let value = value.unwrap_or_else(|| numbers(&track.at(time)[..track.count]));
    let times = times(scene, of);
    let here = key_at(scene, &times, frame);
    let index = here.unwrap_or_else(|| times.iter().filter(|other| **other < time).count());
    let path = format!("{of}.keys[{index}]");
    let key = match here {
        Some(_) => changed(text, &path, 1, &value)?,
        None => format!("[{time:?}, {value}]"),
    };
    Some(here.map(|_| Edit::Remove(path.clone())).into_iter().chain([Edit::Insert(path, key)]).collect())
}

// A key of a value with another time or value.
fn changed(text: &str, path: &str, part: usize, value: &str) -> Option<String> {
    let mut key: Array = value_at(text, path)?.parse::<toml_edit::Value>().ok()?.as_array()?.clone();
    key.replace(part, value.parse::<toml_edit::Value>().ok()?);
    Some(key.to_string())
}

/// Moves a key to a frame and, if it is one of numbers, a value. A key that is there is replaced.
pub fn moved(
    text: &str,
    scene: &Scene,
    of: &str,
    index: usize,
    (frame, value): (u32, Option<f64>),
) -> Option<Vec<Edit>> {
    let times = times(scene, of);
    times.get(index)?;
    let time = format!("{:?}", f64::from(frame) / f64::from(scene.output.frames));
    let mut left: Vec<(usize, f64)> = times.iter().copied().enumerate().filter(|(i, _)| *i != index).collect();
    let there = key_at(scene, &times, frame).filter(|there| *there != index);
    left.retain(|(i, _)| Some(*i) != there);
    if left.is_empty() {
        return Some(Vec::new());
    }
    let to = left.iter().filter(|(_, other)| other * f64::from(scene.output.frames) < f64::from(frame)).count();
    let list = if of == CAMERA { CAMERA.to_owned() } else { format!("{of}.keys") };
    let path = |i: usize| format!("{list}[{i}]");
    let mut edits: Vec<Edit> = Vec::new();
    if of == CAMERA && there.is_none() && to == index {
        return Some(vec![Edit::Set(format!("{}.time", path(index)), time)]);
    }
    let mut gone: Vec<usize> = [Some(index), there].into_iter().flatten().collect();
    gone.sort_unstable();
    edits.extend(gone.into_iter().rev().map(|i| Edit::Remove(path(i))));
    if of == CAMERA {
        edits.push(Edit::Insert(path(to), value_at(text, &path(index))?));
        edits.push(Edit::Set(format!("{}.time", path(to)), time));
    } else {
        let mut key = changed(text, &path(index), 0, &time)?.parse::<toml_edit::Value>().ok()?.as_array()?.clone();
        if let Some(value) = value {
            key.replace(1, number(value).parse::<toml_edit::Value>().ok()?);
        }
        edits.push(Edit::Insert(path(to), key.to_string()));
    }
    Some(edits)
}

/// Removes a key. One alone is none: the value, or the camera, stays as the other key has it.
pub fn removed(text: &str, scene: &Scene, of: &str, index: usize) -> Option<Vec<Edit>> {
    let count = times(scene, of).len();
    let list = if of == CAMERA { CAMERA.to_owned() } else { format!("{of}.keys") };
    if count > 2 {
        return Some(vec![Edit::Remove(format!("{list}[{index}]"))]);
    }
    let other = 1_usize.checked_sub(index)?;
    if of == CAMERA {
        let key = camera_keys(scene).get(other)?;
        let mut edits = vec![Edit::Remove(CAMERA.to_owned()), Edit::Remove("camera.closed".to_owned())];
        let mut set = |key: &str, value: String| edits.push(Edit::Set(format!("camera.{key}"), value));
        set("position", triple(key.position));
        set("look_at", triple(key.look_at));
        if key.fov_deg != scene.camera.fov_deg {
            set("fov_deg", number(key.fov_deg));
        }
        return Some(edits);
    }
    let key = value_at(text, &format!("{list}[{other}]"))?.parse::<toml_edit::Value>().ok()?;
    let mut value = key.as_array()?.get(1)?.clone();
    value.decor_mut().clear();
    Some(vec![Edit::Set(of.to_owned(), value.to_string())])
}

/// Makes the clip loop, as far as that needs no decision.
pub fn looped(scene: &Scene) -> Vec<Edit> {
    let edit = |(path, value): (String, Option<String>)| match value {
        Some(value) => Edit::Set(path, value),
        None => Edit::Remove(path),
    };
    scene.loop_problems().into_iter().flat_map(|problem| problem.mend).map(edit).collect()
}
