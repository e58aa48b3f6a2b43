//! What a scene says that its author may not have meant, by arithmetic alone.

use crate::math::vec3::{Vec3, dot, length, sub};
use crate::render::frames::FrameList;
use crate::scene::{Scene, View};

// Places of things that are compared with views: fewer views of more things.
const COMPARED: usize = 2_000_000;
const MAX_VIEWS: usize = 10_000;
// A white that is shown darker than this is told of, of 255.
const NEARLY_WHITE: f64 = 250.0;

/// Hints, a sentence each.
pub fn hints(scene: &Scene) -> Vec<String> {
    let mut hints = of_camera(scene);
    hints.extend(of_sky(scene));
    hints
}

// Where a camera cannot look, or stands where it may not have been meant to; what it never sees.
fn of_camera(scene: &Scene) -> Vec<String> {
    let frames = scene.output.frames;
    let world = &scene.world;
    let views = (COMPARED / (1 + world.spheres.len() + world.bodies.len())).clamp(1, MAX_VIEWS);
    let step = (frames as usize).div_ceil(views);
    let mut blind = Vec::new();
    let mut inside = vec![Vec::new(); world.spheres.len()];
    let mut is_seen = vec![false; world.bodies.len() + world.spheres.len()];
    let tall = f64::from(scene.render.height) / f64::from(scene.render.width);
    for n in (0..frames).step_by(step) {
        let view = scene.camera.view(n, frames);
        if scene.camera.is_blind(n, frames) {
            blind.push(n);
        }
        for (i, sphere) in world.spheres.iter().enumerate() {
            if length(sub(view.eye, sphere.centre)) < sphere.radius {
                inside[i].push(n);
            }
        }
        let time = f64::from(n) / f64::from(frames);
        let bodies = world.bodies.iter().map(|body| (body.at(time).centre, body.radius));
        let things = bodies.chain(world.spheres.iter().map(|s| (s.centre, s.radius)));
        for (seen, (centre, radius)) in is_seen.iter_mut().zip(things) {
            *seen = *seen || is_in_sight(&view, tall, centre, radius);
        }
    }
    let list =
        |frames: &[u32]| FrameList::of_numbers(frames.iter().copied()).map_or_else(String::new, |l| l.to_string());
    let mut hints = Vec::new();
    if !blind.is_empty() {
        hints.push(format!("the eye is where it looks at, so that the view has no direction: frames {}", list(&blind)));
    }
    for (i, frames) in inside.iter().enumerate().filter(|(_, frames)| !frames.is_empty()) {
        hints.push(format!("the eye is inside of ball {}: frames {}", i + 1, list(frames)));
    }
    let unseen = |range: std::ops::Range<usize>| {
        let first = range.start;
        range.filter(|&i| !is_seen[i]).map(move |i| (i - first + 1).to_string()).collect::<Vec<_>>()
    };
    let bodies = world.bodies.len();
    for (name, unseen) in [("body", unseen(0..bodies)), ("ball", unseen(bodies..is_seen.len()))] {
        // Of a heap some are always behind: the first few are enough.
        match &unseen[..] {
            [] => {}
            [one] => hints.push(format!("{name} {one} is never in the camera's sight")),
            few if few.len() <= 8 => hints.push(format!("{name} {} are never in the camera's sight", few.join(", "))),
            many => hints.push(format!(
                "{name} {} and {} more are never in the camera's sight",
                many[..3].join(", "),
                many.len() - 3
            )),
        }
    }
    hints
}

// Whether a ball reaches into the pyramid that the picture shows, `tall` times as high as wide.
fn is_in_sight(view: &View, tall: f64, centre: Vec3, radius: f64) -> bool {
    let to = sub(centre, view.eye);
    let ahead = dot(to, view.forward);
    let across = libm::tan(view.fov_deg.to_radians() / 2.0);
    let within = |side: f64, slope: f64| side.abs() - ahead * slope <= radius * libm::sqrt(1.0 + slope * slope);
    ahead > -radius && within(dot(to, view.right), across) && within(dot(to, view.up), across * tall)
}

// A white sky that the tone curve does not show as white.
fn of_sky(scene: &Scene) -> Option<String> {
    let (sky, tone) = (&scene.world.sky, scene.film.tone);
    let is_white = sky.image.is_none() && sky.zenith.iter().chain(&sky.horizon).all(|&x| x == 1.0);
    let shown = 255.0 * tone.encode(tone.tone_map([1.0; 3])[0].clamp(0.0, 1.0));
    (is_white && shown < NEARLY_WHITE).then(|| {
        format!(
            "the sky's white is shown as {shown:.0} of 255: the tone curve \"{}\" keeps room for what is brighter; `tone = \"clip\"` in \
             [film] shows it as it is",
            tone.name()
        )
    })
}
