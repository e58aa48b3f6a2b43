//! Finds likely mistakes in a scene without rendering it.

use super::hidden::Hidden;
use super::hint::Hint;
use crate::language::{Message, msg};
use crate::math::vec3::{Vec3, dot, length, sub};
use crate::render::frames::FrameList;
use crate::scene::{Integrator, Material, Projection, Scene, SkySource, View, element};

// Maximum number of pairs of a view and a body that are tested. With many bodies, fewer views are tested.
const COMPARED: usize = 2_000_000;
const MAX_VIEWS: usize = 10_000;
// A white sky below this code, of 255, causes a warning.
const NEARLY_WHITE: f64 = 250.0;
// A field of view below this, in degrees, may be one in radians.
const NARROW_DEG: f64 = 2.0;

/// Likely mistakes, one sentence each.
pub fn hints(scene: &Scene) -> Vec<Hint> {
    let others = of_sky(scene).into_iter().chain(of_sun(scene)).chain(of_grain(scene));
    of_camera(scene).into_iter().chain(others.map(Hint::from)).collect()
}

// Checks where the camera stands and looks, which bodies it never sees, and which lights are hidden.
fn of_camera(scene: &Scene) -> Vec<Hint> {
    let (frames, world) = (scene.output.frames, &scene.world);
    let shapes = 1 + world.spheres.len() + world.bodies.len() + world.ellipsoids.len();
    let views = (COMPARED / shapes / (1 + world.lights.len())).clamp(1, MAX_VIEWS);
    let step = (frames as usize).div_ceil(views);
    let (mut blind, mut hidden) = (Vec::new(), Hidden::default());
    let mut inside = vec![Vec::new(); world.spheres.len()];
    let (mut bodies_seen, mut balls_seen) = (vec![false; world.bodies.len()], vec![false; world.spheres.len()]);
    let size = scene.camera.stereo.eye_size((scene.render.width, scene.render.height));
    for n in (0..frames).step_by(step) {
        let camera = scene.camera_at(f64::from(n));
        let view = camera.view(n, frames);
        if camera.is_blind(n, frames) {
            blind.push(n);
        }
        let now = scene.at(f64::from(n));
        for (body, is_seen) in now.world.bodies.iter().zip(&mut bodies_seen) {
            *is_seen |= is_in_sight(&view, size, body.centre, body.radius);
        }
        for ((sphere, is_seen), inside) in now.world.spheres.iter().zip(&mut balls_seen).zip(&mut inside) {
            *is_seen |= is_in_sight(&view, size, sphere.centre, sphere.radius);
            if length(sub(view.eye, sphere.centre)) < sphere.radius {
                inside.push(n);
            }
        }
        hidden.look(n, &now.world, view.eye);
    }
    let list = |frames: &[u32]| FrameList::of_numbers(frames.iter().copied()).map(|list| list.to_string());
    let mut hints = Vec::<Hint>::new();
    let view = scene.camera_at(0.0).view(0, frames);
    let fov = view.fov_deg;
    if fov < NARROW_DEG && view.projection == Projection::Perspective {
        hints.push(
            msg!(
                "the camera's view is {fov} degrees wide; {fov} radians are {degrees} degrees",
                fov,
                degrees = format_args!("{:.1}", fov.to_degrees())
            )
            .into(),
        );
    }
    hints.extend(list(&blind).map(|frames| {
        Hint::from(msg!(
            "the camera is at the point that it looks at, so its view has no direction: frames {frames}",
            frames
        ))
    }));
    for (i, inside) in inside.iter().enumerate() {
        let ball = || world.name_of("sphere", i);
        hints.extend(list(inside).map(|frames| {
            Hint::of("sphere", i, msg!("the eye is inside of {ball}: frames {frames}", ball = ball(), frames))
        }));
    }
    hints.extend(hidden.hints(scene));
    for (list, is_seen) in [("body", bodies_seen), ("sphere", balls_seen)] {
        let unseen: Vec<usize> = (0..is_seen.len()).filter(|&i| !is_seen[i]).collect();
        let names = |some: &[usize]| Message::list(some.iter().map(|&i| element(list, i, None)), ", ");
        // In a heap, some bodies are always hidden, so only the first few are listed.
        let which = match &unseen[..] {
            [] => continue,
            [one] => world.name_of(list, *one),
            few if few.len() <= 8 => names(few),
            many => Message::list([names(&many[..3]), msg!("and {count} more", count = many.len() - 3)], " "),
        };
        hints.push(msg!("{which}: never in the camera's sight", which).into());
    }
    hints
}

// Whether a ball reaches into the view's frustum or box, for a picture of this size.
fn is_in_sight(view: &View, (width, height): (u32, u32), centre: Vec3, radius: f64) -> bool {
    if view.projection.is_round() {
        return true;
    }
    let to = sub(centre, view.eye);
    let ahead = dot(to, view.forward);
    let within = |side: f64, pixels: u32| {
        let half = 0.5 * f64::from(pixels);
        let (slope, near) = match view.projection {
            Projection::Orthographic => (0.0, half * view.units_per_pixel(width, height)),
            _ => (half / view.focal(width, height), 0.0),
        };
        side.abs() - ahead * slope - near <= radius * libm::sqrt(1.0 + slope * slope)
    };
    ahead > -radius && within(dot(to, view.right), width) && within(dot(to, view.up), height)
}

// Checks whether the tone curve shows a white sky as white.
fn of_sky(scene: &Scene) -> Option<Message> {
    let (sky, tone) = (&scene.world.sky, scene.film.tone);
    let is_white = sky.image.is_none() && sky.zenith.iter().chain(&sky.horizon).all(|&x| x == 1.0);
    let shown = 255.0 * tone.encode(tone.tone_map([1.0; 3])[0].clamp(0.0, 1.0));
    (is_white && shown < NEARLY_WHITE).then(|| {
        msg!(
            "the sky's white is shown as {code} of 255: the tone curve \"{tone}\" keeps room for what is brighter; `tone = \"clip\"` in [film] shows it as it is",
            code = format_args!("{shown:.0}"),
            tone = tone.name()
        )
    })
}

// Checks whether paths must meet the small sun behind glass by chance.
fn of_sun(scene: &Scene) -> Option<Message> {
    let (sky, render) = (&scene.world.sky, &scene.render);
    let is_glass = |m: &Material| m.shares().1 > 0.0 && m.ior() != 1.0;
    let is_rare = sky.image == Some(SkySource::Sun) && sky.intensity > 0.0;
    let in_bodies = || scene.world.bodies.iter().filter(|body| is_glass(&body.material)).count();
    let in_all = || scene.world.all_materials().filter(|m| is_glass(m)).count();
    // Caustics find the sun behind bodies.
    let is_bent = || in_all() > if render.caustics { in_bodies() } else { 0 };
    (render.integrator == Integrator::Path && render.clamp == 0.0 && is_rare && is_bent())
        .then(|| {
            msg!(
                "paths meet the sun behind glass by chance, which leaves white dots: `caustics = true` in [render] finds it behind the flat faces of bodies, and `clamp = 1` dims the dots of other glass",
            )
        })
}

// Checks whether a metal has a grain, but never a roughness.
fn of_grain(scene: &Scene) -> Option<Message> {
    let smooth = |frame: u32| {
        let now = scene.at(f64::from(frame));
        let all = now.world.all_materials();
        all.map(|m| m.grain.anisotropy > 0.0 && m.roughness == 0.0).collect::<Vec<bool>>()
    };
    let frames = scene.output.frames;
    let mut always = smooth(0);
    for frame in (0..frames).step_by(frames.div_ceil(8).max(1) as usize).skip(1) {
        // Few scenes have a grain.
        if !always.contains(&true) {
            return None;
        }
        always.iter_mut().zip(smooth(frame)).for_each(|(all, now)| *all &= now);
    }
    always.contains(&true).then(|| {
        msg!(
            "`anisotropy` changes nothing where `roughness` is 0: a smooth metal shows no grain; give it a `roughness`"
        )
    })
}
