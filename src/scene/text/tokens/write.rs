//! Writes a scene as the coursework's tokens, if they can express it.

use crate::language::{Message, count, msg};
use crate::scene::keys::names::Names;
use crate::scene::{
    Body, Camera, CameraPath, CylindricalPath, Floor, Lamps, Light, Look, Material, Output, ParseOptions,
    RenderSettings, Rotation, Sampling, Scene, World,
};

// What tokens can say of a scene, with all other keys as the look has them.
fn as_tokens(scene: &Scene, look: Look) -> Scene {
    let Scene { world, camera, render, output, .. } = scene;
    let body = |b: &Body| {
        let (reflection, transparency) = b.material.shares();
        Body {
            solid: b.solid,
            centre: b.centre,
            on: b.on,
            radius: b.radius,
            material: Material::plain(b.material.colour, reflection, transparency),
            lamps: Lamps::Each(b.lamps.count()),
            rotation: Rotation { angle_deg: 0.0, ..b.rotation },
            ..Body::default()
        }
    };
    let floor = |f: &Floor| Floor {
        corners: f.corners,
        texture: f.texture.clone(),
        material: Material::plain(f.material.colour, f.material.shares().0, 0.0),
        ..Floor::default()
    };
    let &RenderSettings { width, height, depth, .. } = render;
    let sampling = Sampling::PerAxis(render.own_samples());
    let mut expressed = Scene {
        world: World {
            bodies: world.bodies.iter().map(body).collect(),
            floor: world.floor.as_ref().map(floor),
            lights: world.lights.iter().map(|light| Light { radius: 0.0, ..*light }).collect(),
            ..World::default()
        },
        camera: Camera { fov_deg: camera.fov_deg, path: camera.path.clone(), ..Camera::default() },
        render: RenderSettings { width, height, depth, sampling, ..RenderSettings::default() },
        output: Output { frames: output.frames, files: output.files.clone(), ..Output::default() },
        ..Scene::default()
    };
    look.apply(&mut expressed, &Look::tokens_give);
    expressed
}

// The look that leaves fewest differences between the scene and its tokens; of two, that which tokens have by default.
fn look_of(scene: &Scene) -> Look {
    let looks = Look::NAMES.iter().map(|(look, ..)| *look);
    looks.min_by_key(|&look| differences(scene, &as_tokens(scene, look)).len()).unwrap_or(Look::Film)
}

// All that tokens do not say of the scene.
fn differences(scene: &Scene, expressed: &Scene) -> Vec<Message> {
    let Scene { world, camera, render, film, figure, output, tracks } = scene;
    let mut no = Vec::new();
    let mut refuse = |is_so: bool, why: Message| no.extend(is_so.then_some(why));
    let count = world.bodies.len();
    refuse(count != 3, msg!("it has {count}, and the tokens hold just three", count = count!(count, "body", "bodies")));
    for (i, (body, expressed)) in world.bodies.iter().zip(&expressed.world.bodies).enumerate() {
        refuse(
            body != expressed,
            msg!(
                "{body}: it has lamps, bars, an index of refraction or a motion of its own",
                body = world.name_of("body", i)
            ),
        );
    }
    refuse(world.floor.is_none(), msg!("it has no floor"));
    if let (Some(floor), Some(expressed)) = (&world.floor, &expressed.world.floor) {
        refuse(floor.material != expressed.material, msg!("its floor is not plain and clear"));
        let extent = |f: &Floor| (f.shape, f.fade, f.ground, f.relief.clone());
        refuse(extent(floor) != extent(expressed), msg!("its floor has an extent, a fading or a relief of its own"));
    }
    refuse(world.air.is_foggy(), msg!("it has fog"));
    let has_more = world.materials().next().is_some();
    refuse(has_more, msg!("it has spheres, ellipsoids, rectangles, meshes or particles"));
    refuse(figure.is_some(), msg!("it has a [figure]"));
    refuse(
        *render != expressed.render,
        msg!("its integrator, adaptive samples, shadows or cut-off are not the default"),
    );
    refuse(
        *film != expressed.film,
        msg!("the keys of its film (exposure, bloom, tone and so on) are not those of `look = \"film\"` or \"plain\""),
    );
    refuse(
        *camera != expressed.camera || !matches!(camera.path, CameraPath::Cylinder { .. }),
        msg!(
            "its camera stands still, follows keys or an orbit, or has a lens, another shutter, projection, both eyes or `fov_axis`"
        ),
    );
    refuse(world.lights != expressed.world.lights, msg!("it has lights with a radius"));
    let count = world.lights.len();
    refuse(count > 4, msg!("it has {count} lights, and the tokens hold at most four", count));
    let light = |world: &World| (world.highlight, world.ambient, world.sky.clone());
    refuse(
        light(world) != light(&expressed.world),
        msg!("its ambient light, highlight or sky are not those of `look = \"film\"` or \"plain\""),
    );
    refuse(!tracks.is_empty(), msg!("some of its values change over the clip"));
    refuse(*output != expressed.output, msg!("it names a video, the bits of a channel, or a loop"));
    no
}

/// The scene in the full dialect, or all reasons why it cannot be expressed.
pub fn write(scene: &Scene) -> Result<String, Vec<Message>> {
    let Scene { world, camera, render, output, .. } = scene;
    let mut no = differences(scene, &as_tokens(scene, look_of(scene)));
    let mut refuse = |is_so: bool, why: Message| no.extend(is_so.then_some(why));
    let paths = match &camera.path {
        CameraPath::Cylinder { eye, target } => Some((eye, target)),
        _ => None,
    };
    let &RenderSettings { width, height, depth, .. } = render;
    let texture = world.floor.as_ref().and_then(|f| f.texture.as_ref());
    let (texture, files) = (texture.map_or("none".to_owned(), |t| t.to_string()), output.files.to_string());
    for path in [&texture, &files] {
        refuse(path.contains(char::is_whitespace), msg!("the path `{path}` has white space in it", path));
    }
    let (Some(floor), Some((eye, target)), true) = (&world.floor, paths, no.is_empty()) else { return Err(no) };
    let path = |p: &CylindricalPath| list(&[p.r0, p.z0, p.phi0, p.ar, p.az, p.wr, p.wz, p.wphi, p.pr, p.pz]);
    let mut lines = vec![
        format!("{}\n{files}", output.frames),
        format!("{width} {height} {}", camera.fov_deg),
        path(eye),
        path(target),
    ];
    lines.extend(world.bodies.iter().map(|b| {
        let (reflection, transparency) = b.material.shares();
        let (centre, colour, lamps) = (list(&b.centre), list(&b.material.colour), b.lamps.count());
        format!("{centre}  {colour}  {} {reflection} {transparency} {lamps}", b.radius)
    }));
    let (corners, tint) = (floor.corners.map(|p| list(&p)).join("  "), list(&floor.material.colour));
    lines.push(format!("{corners}  {texture}  {tint}  {}", floor.material.shares().0));
    lines.push(world.lights.len().to_string());
    lines.extend(world.lights.iter().map(|light| format!("{}  {}", list(&light.position), list(&light.colour))));
    lines.push(format!("{depth} {}\n", render.own_samples()));
    Ok(lines.join("\n"))
}

fn list(values: &[f64]) -> String {
    values.iter().map(f64::to_string).collect::<Vec<_>>().join(" ")
}

/// The value of `--solids` that these tokens need; None if the bodies are the default three.
pub fn solids_flag(scene: &Scene) -> Option<String> {
    let solids: Vec<_> = scene.world.bodies.iter().map(|b| b.solid).collect();
    (solids != ParseOptions::SOLIDS).then(|| solids.iter().map(|solid| solid.name()).collect::<Vec<_>>().join(","))
}

/// The value of `--look` that these tokens need; None if they have the look of their dialect.
pub fn look_flag(scene: &Scene) -> Option<&'static str> {
    let look = look_of(scene);
    (look != Look::Film).then(|| look.name())
}
