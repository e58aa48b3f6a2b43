//! Writes a scene as the coursework's tokens, if they can express it.

use crate::scene::{
    Body, Camera, CameraPath, CylindricalPath, FilmSettings, FloorShape, Lamps, Material, Output, ParseOptions,
    RenderSettings, Rotation, Sampling, Scene, World,
};

/// The scene in the full dialect, or all reasons why it cannot be expressed.
pub fn write(scene: &Scene) -> Result<String, Vec<String>> {
    let Scene { world, camera, render, film, output } = scene;
    let mut no = Vec::new();
    let mut refuse = |is_so: bool, why: &str| no.extend(is_so.then(|| why.to_owned()));
    let count = world.bodies.len();
    refuse(count != 3, &format!("it has {count} bodies, and the tokens hold just three"));
    for (i, b) in world.bodies.iter().enumerate() {
        let (reflection, transparency) = b.material.shares();
        let plain = Body {
            solid: b.solid,
            centre: b.centre,
            on: b.on,
            radius: b.radius,
            material: Material::plain(b.material.colour, reflection, transparency),
            lamps: Lamps::Each(b.lamps.count()),
            rotation: Rotation { angle_deg: 0.0, ..b.rotation },
            ..Body::default()
        };
        let why = format!("body {} has lamps, bars, an index of refraction or a motion of its own", i + 1);
        refuse(*b != plain, &why);
    }
    refuse(world.floor.is_none(), "it has no floor");
    if let Some(f) = &world.floor {
        let plain = Material::plain(f.material.colour, f.material.shares().0, 0.0);
        refuse(f.material != plain, "its floor is not plain and clear");
        let is_plain = f.shape == FloorShape::Square && f.fade <= 0.0 && f.relief.is_none();
        refuse(!is_plain, "its floor is round, fades, goes to the horizon or is not flat");
    }
    refuse(world.air.is_foggy(), "it has fog");
    let has_more = world.materials().next().is_some();
    refuse(has_more, "it has spheres, ellipsoids, rectangles, meshes or particles");
    let &RenderSettings { width, height, depth, .. } = render;
    let sampling = Sampling::PerAxis(render.own_samples());
    let plain = RenderSettings { width, height, depth, sampling, ..RenderSettings::default() };
    refuse(*render != plain, "its integrator, adaptive samples, shadows or cut-off are not the default");
    refuse(*film != FilmSettings::default(), "its film (exposure, bloom, tone and so on) is not the default");
    let is_still = *camera == Camera { fov_deg: camera.fov_deg, path: camera.path.clone(), ..Camera::default() };
    let paths = match &camera.path {
        CameraPath::Cylinder { eye, target } if is_still => Some((eye, target)),
        _ => None,
    };
    refuse(
        paths.is_none(),
        "its camera stands still, follows keys or an orbit, or has a lens, a shutter or another `fov_axis`",
    );
    refuse(world.lights.iter().any(|l| l.radius > 0.0), "it has lights with a radius");
    let count = world.lights.len();
    refuse(count > 4, &format!("it has {count} lights, and the tokens hold at most four"));
    let usual = World::default();
    let is_usual = (world.highlight, world.ambient, &world.sky) == (usual.highlight, usual.ambient, &usual.sky);
    refuse(!is_usual, "its ambient light, highlight or sky is not the default");
    let plain = Output { frames: output.frames, files: output.files.clone(), ..Output::default() };
    refuse(*output != plain, "it names a video, the bits of a channel, or a loop");
    let texture = world.floor.as_ref().and_then(|f| f.texture.as_ref());
    let (texture, files) = (texture.map_or("none".to_owned(), |t| t.to_string()), output.files.to_string());
    for path in [&texture, &files] {
        refuse(path.contains(char::is_whitespace), &format!("the path `{path}` has white space in it"));
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
