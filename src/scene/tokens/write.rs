//! Writes a scene as the coursework's tokens, where they can say it.

use crate::scene::{
    Body, Camera, CameraPath, CylindricalPath, FilmSettings, Floor, FloorShape, LampPattern, LampSides, Material,
    MaterialKind, Motion, ParseOptions, RenderSettings, Sampling, Scene, World, defaults,
};
use std::fmt::Write;

/// The scene as the full dialect's tokens, or all the reasons why it cannot be said in them.
pub fn write(scene: &Scene) -> Result<String, Vec<String>> {
    let mut no = Vec::new();
    if scene.world.bodies.len() != 3 {
        no.push(format!("it has {} bodies, and the tokens hold just three", scene.world.bodies.len()));
    }
    for (i, b) in scene.world.bodies.iter().enumerate() {
        let plain = b.lamp_colour == Body::LAMP_COLOUR
            && b.bar == Body::BAR
            && b.bar_colour == Body::BAR_COLOUR
            && (b.lamp_intensity, b.bar_reflection) == (1.0, Body::BAR_REFLECTION)
            && matches!(b.material.kind, MaterialKind::Plain { ior: 1.0, .. })
            && b.material.roughness == 0.0
            && b.material.highlight.is_none()
            && !b.lamps.is_strip()
            && b.reflection_inside.is_none()
            && b.rotation.angle_deg == 0.0
            && b.motion == Motion::default()
            && b.lamp_sides == LampSides::Both
            && b.lamp_pattern == LampPattern::Steady;
        if !plain {
            no.push(format!("body {} has lamps, bars, an index of refraction or a motion of its own", i + 1));
        }
    }
    let floor = scene.world.floor.as_ref();
    if floor.is_none() {
        no.push("it has no floor".into());
    }
    let is_plain = |f: &Floor| f.material == Material::plain(f.material.colour, f.material.shares().0, 0.0);
    if floor.is_some_and(|f| !is_plain(f)) {
        no.push("its floor is not plain and clear".into());
    }
    if floor.is_some_and(|f| f.shape != FloorShape::Square || f.fade > 0.0 || f.relief.is_some()) {
        no.push("its floor is round, fades, goes to the horizon or is not flat".into());
    }
    if scene.world.air.is_foggy() {
        no.push("it has fog".into());
    }
    if scene.world.materials().next().is_some() {
        no.push("it has spheres, ellipsoids, rectangles, meshes or particles".into());
    }
    let plain = RenderSettings {
        width: scene.render.width,
        height: scene.render.height,
        sampling: Sampling::PerAxis(scene.render.own_samples()),
        depth: scene.render.depth,
        ..RenderSettings::default()
    };
    if scene.render != plain {
        no.push("its integrator, adaptive samples, shadows or cut-off are not the default".into());
    }
    if scene.film != FilmSettings::default() {
        no.push("its film (exposure, bloom, tone and so on) is not the default".into());
    }
    let (camera, still) = (&scene.camera, Camera::default());
    let paths = match &camera.path {
        CameraPath::Cylinder { eye, target }
            if (camera.lens, camera.focus, camera.shutter) == (still.lens, still.focus, still.shutter) =>
        {
            Some((eye, target))
        }
        _ => None,
    };
    if paths.is_none() {
        no.push("its camera stands still, follows keys or an orbit, or has a lens or a shutter".into());
    }
    if scene.world.lights.iter().any(|l| l.radius > 0.0) {
        no.push("it has lights with a radius".into());
    }
    if scene.world.lights.len() > 4 {
        no.push(format!("it has {} lights, and the tokens hold at most four", scene.world.lights.len()));
    }
    let world = World::default();
    if (scene.world.highlight, scene.world.ambient, &scene.world.sky) != (world.highlight, world.ambient, &world.sky) {
        no.push("its ambient light, highlight or sky is not the default".into());
    }
    if scene.output.video.is_some()
        || scene.output.fps != defaults::FPS
        || scene.output.bits.is_some()
        || scene.output.is_loop
    {
        no.push("it names a video, the bits of a channel, or a loop".into());
    }
    let texture = floor.and_then(|f| f.texture.as_ref()).map_or("none".to_owned(), |t| t.to_string());
    for path in [&texture, &scene.output.files.to_string()] {
        if path.contains(char::is_whitespace) {
            no.push(format!("the path `{path}` has white space in it"));
        }
    }
    let (Some(floor), Some(paths), true) = (floor, paths, no.is_empty()) else { return Err(no) };
    let mut out = String::new();
    let _ = write_tokens(scene, floor, paths, &texture, &mut out);
    Ok(out)
}

fn list(values: &[f64]) -> String {
    values.iter().map(f64::to_string).collect::<Vec<_>>().join(" ")
}

fn write_tokens(
    scene: &Scene,
    floor: &Floor,
    (eye, target): (&CylindricalPath, &CylindricalPath),
    texture: &str,
    o: &mut String,
) -> std::fmt::Result {
    writeln!(o, "{}\n{}", scene.output.frames, scene.output.files)?;
    writeln!(o, "{} {} {}", scene.render.width, scene.render.height, scene.camera.fov_deg)?;
    let path = |p: &CylindricalPath| list(&[p.r0, p.z0, p.phi0, p.ar, p.az, p.wr, p.wz, p.wphi, p.pr, p.pz]);
    writeln!(o, "{}\n{}", path(eye), path(target))?;
    for b in &scene.world.bodies {
        let (reflection, transparency) = b.material.shares();
        writeln!(
            o,
            "{}  {}  {} {reflection} {transparency} {}",
            list(&b.centre),
            list(&b.material.colour),
            b.radius,
            b.lamps.count()
        )?;
    }
    write!(o, "{}", floor.corners.map(|p| list(&p)).join("  "))?;
    writeln!(o, "  {texture}  {}  {}", list(&floor.material.colour), floor.material.shares().0)?;
    writeln!(o, "{}", scene.world.lights.len())?;
    for light in &scene.world.lights {
        writeln!(o, "{}  {}", list(&light.position), list(&light.colour))?;
    }
    writeln!(o, "{} {}", scene.render.depth, scene.render.own_samples())
}

/// The names that `--solids` needs so that these tokens mean the same scene, unless they are the usual ones.
pub fn solids_flag(scene: &Scene) -> Option<String> {
    let names: Vec<&str> = scene.world.bodies.iter().map(|b| b.solid.name()).collect();
    (scene.world.bodies.iter().map(|b| b.solid).ne(ParseOptions::SOLIDS)).then(|| names.join(","))
}
