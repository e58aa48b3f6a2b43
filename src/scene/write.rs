//! Writes a resolved scene in either grammar, so that reading it again gives the same scene.

use super::{
    Adaptive, Body, Bumps, Camera, CameraPath, CylindricalPath, Exposure, FilmSettings, Floor, FloorShape, Integrator,
    LampPattern, LampSamples, LampSides, Material, MaterialKind, Motion, Relief, RenderSettings, Scene, Tone, World,
    defaults,
};
use crate::math::vec3::Vec3;
use std::fmt::Write;

// f64's shortest form that reads back as itself; TOML wants a point or an exponent in it.
struct N(f64);
impl std::fmt::Display for N {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.0)
    }
}
struct V(Vec3);
impl std::fmt::Display for V {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "[{}, {}, {}]", N(self.0[0]), N(self.0[1]), N(self.0[2]))
    }
}
// A text as TOML's basic string.
struct S<'a>(&'a str);
impl std::fmt::Display for S<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", toml::Value::String(self.0.to_owned()))
    }
}

/// The scene in TOML, every value spelled out.
pub fn toml(scene: &Scene) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write_toml(scene, &mut out);
    out
}

fn write_toml(scene: &Scene, o: &mut String) -> std::fmt::Result {
    writeln!(o, "[output]\nframes = {}", scene.output.frames)?;
    writeln!(o, "path = {}", S(&scene.output.files.to_string()))?;
    writeln!(o, "size = [{}, {}]", scene.render.width, scene.render.height)?;
    if let Some(bits) = scene.output.bits {
        writeln!(o, "bits = {bits}")?;
    }
    if let Some(video) = &scene.output.video {
        writeln!(o, "video = {}", S(&video.display().to_string()))?;
    }
    writeln!(o, "fps = {}", N(scene.output.fps))?;
    if scene.output.is_loop {
        writeln!(o, "loop = true")?;
    }
    writeln!(o, "\n[render]")?;
    if scene.render.is_path() {
        writeln!(o, "integrator = \"path\"")?;
    }
    match (scene.render.adaptive, scene.render.integrator) {
        (Some(Adaptive { min, max, noise }), _) => {
            writeln!(o, "samples = \"{min}..{max}\" # of each pixel\nnoise = {}", N(noise))?;
        }
        (None, Integrator::Whitted) => {
            writeln!(o, "samples = {} # along each side of a pixel", scene.render.samples)?;
        }
        (None, Integrator::Path { samples, noise }) => {
            writeln!(o, "samples = {samples} # of each pixel\nnoise = {}", N(noise))?;
        }
    }
    if !scene.render.shadows {
        writeln!(o, "shadows = false")?;
    }
    writeln!(o, "light_samples = {}\nclamp = {}", scene.render.light_samples, N(scene.render.clamp))?;
    match scene.render.lamp_samples {
        LampSamples::Floor => {}
        LampSamples::Drawn(n) => writeln!(o, "lamp_samples = {n}")?,
        LampSamples::All => writeln!(o, "lamp_samples = \"all\"")?,
    }
    writeln!(
        o,
        "depth = {}\ncutoff = {}\nhighlight = {}",
        scene.render.depth,
        N(scene.render.cutoff),
        N(scene.world.highlight)
    )?;
    writeln!(o, "ambient = {}", V(scene.world.ambient))?;
    write_film(&scene.film, o)?;
    writeln!(o, "\n[sky]\nzenith = {}\nhorizon = {}", V(scene.world.sky.zenith), V(scene.world.sky.horizon))?;
    if scene.world.sky.from_below {
        writeln!(o, "from_below = true")?;
    }
    if let Some(image) = &scene.world.sky.image {
        writeln!(o, "image = {}", S(&image.to_string()))?;
    }
    writeln!(o, "rotation_deg = {}\nintensity = {}", N(scene.world.sky.rotation_deg), N(scene.world.sky.intensity))?;
    if scene.world.sky.transparent {
        writeln!(o, "transparent = true")?;
    }
    write_camera(&scene.camera, o)?;
    for b in &scene.world.bodies {
        writeln!(o, "\n[[body]]\nsolid = \"{}\"", b.solid.name())?;
        writeln!(o, "center = {}\nradius = {}", V(b.centre), N(b.radius))?;
        write_material(&b.material, false, o)?;
        let lamps = if b.strip { S("strip").to_string() } else { b.lamps.to_string() };
        writeln!(o, "lamps = {lamps}\nlamp_color = {}", V(b.lamp_colour))?;
        writeln!(o, "lamp_intensity = {}\nbar = {}", N(b.lamp_intensity), N(b.bar))?;
        writeln!(o, "bar_color = {}\nbar_reflection = {}", V(b.bar_colour), N(b.bar_reflection))?;
        if let Some(inside) = b.reflection_inside {
            writeln!(o, "reflection_inside = {}", N(inside))?;
        }
        writeln!(o, "axis = {}\nangle_deg = {}", V(b.rotation.axis), N(b.rotation.angle_deg))?;
        writeln!(o, "turns = {}\ndrift = {}", N(b.motion.turns), V(b.motion.drift))?;
        if b.lamp_sides != LampSides::Both {
            writeln!(o, "lamp_sides = {}", S(b.lamp_sides.name()))?;
        }
        if b.lamp_pattern != LampPattern::Steady {
            let (name, cycles) = b.lamp_pattern.name_and_cycles();
            writeln!(o, "lamp_pattern = \"{name}\"\nlamp_cycles = {}", N(cycles))?;
        }
        if let Some(path) = &b.motion.path {
            write_path("body.path", path, o)?;
        }
    }
    for s in &scene.world.spheres {
        writeln!(o, "\n[[sphere]]\ncenter = {}\nradius = {}", V(s.centre), N(s.radius))?;
        write_material(&s.material, false, o)?;
    }
    for r in &scene.world.rectangles {
        writeln!(o, "\n[[rectangle]]\ncenter = {}\nsize = [{}, {}]", V(r.centre), N(r.size[0]), N(r.size[1]))?;
        writeln!(o, "facing = {}\nangle_deg = {}", V(r.facing), N(r.angle_deg))?;
        write_material(&r.material, false, o)?;
    }
    for m in &scene.world.meshes {
        writeln!(o, "\n[[mesh]]\npath = {}\nscale = {}", S(&m.path.display().to_string()), N(m.scale))?;
        writeln!(o, "offset = {}\nz_up = {}\nsmooth = {}", V(m.offset), m.z_up, m.smooth)?;
        write_material(&m.material, false, o)?;
    }
    if let Some(p) = &scene.world.particles {
        writeln!(o, "\n[particles]\npath = {}\nfirst = {}\nstep = {}", S(&p.path), p.first, p.step)?;
        writeln!(o, "color_by = \"{}\"\nlegend = {}", p.colour_by.name(), p.legend)?;
        if let Some([low, high]) = p.range {
            writeln!(o, "range = [{}, {}]", N(low), N(high))?;
        }
        write_material(&p.material, false, o)?;
    }
    if let Some(floor) = &scene.world.floor {
        writeln!(o, "\n[floor]\ncorners = [{}]", floor.corners.map(|p| V(p).to_string()).join(", "))?;
        if let Some(texture) = &floor.texture {
            writeln!(o, "texture = {}", S(&texture.to_string()))?;
        }
        write_material(&floor.material, true, o)?;
        writeln!(o, "size = \"{}\"\nfade = {}", floor.shape.name(), N(floor.fade))?;
        if let Some(relief) = &floor.relief {
            write_relief(relief, o)?;
        }
    }
    for light in &scene.world.lights {
        writeln!(o, "\n[[light]]\nposition = {}\ncolor = {}", V(light.position), V(light.colour))?;
        writeln!(o, "radius = {}", N(light.radius))?;
    }
    Ok(())
}

fn write_film(film: &FilmSettings, o: &mut String) -> std::fmt::Result {
    match film.exposure {
        Exposure::Stops(stops) => writeln!(o, "\n[film]\nexposure = {}", N(stops))?,
        Exposure::Auto => writeln!(o, "\n[film]\nexposure = \"auto\"")?,
    }
    writeln!(o, "white_balance = {}", N(film.white_balance))?;
    writeln!(o, "filter = \"{}\"", film.filter.name())?;
    writeln!(o, "bloom = {}\nbloom_radius = {}", N(film.bloom), N(film.bloom_radius))?;
    writeln!(o, "vignette = {}\ngrain = {}", N(film.vignette), N(film.grain))?;
    writeln!(o, "dither = {}", film.is_dithered())?;
    writeln!(o, "tone = \"{}\"", film.tone.name())?;
    if let Tone::Clip { gamma } = film.tone {
        writeln!(o, "gamma = {}", N(gamma))?;
    }
    Ok(())
}

fn write_camera(camera: &Camera, o: &mut String) -> std::fmt::Result {
    writeln!(o, "\n[camera]\nfov_deg = {}", N(camera.fov_deg))?;
    if let CameraPath::Fixed { position, look_at } = camera.path {
        writeln!(o, "position = {}\nlook_at = {}", V(position), V(look_at))?;
    }
    if camera.lens > 0.0 {
        writeln!(o, "lens = {}", N(camera.lens))?;
    }
    if camera.focus != 1.0 {
        writeln!(o, "focus = {}", N(camera.focus))?;
    }
    if camera.shutter > 0.0 {
        writeln!(o, "shutter = {}", N(camera.shutter))?;
    }
    match &camera.path {
        CameraPath::Fixed { .. } => {}
        CameraPath::Orbit(orbit) => {
            writeln!(o, "\n[camera.orbit]\ncenter = {}\ndistance = {}", V(orbit.centre), N(orbit.distance))?;
            writeln!(o, "elevation_deg = {}\nazimuth_deg = {}", N(orbit.elevation_deg), N(orbit.azimuth_deg))?;
            writeln!(o, "turns = {}\nease = {}", N(orbit.turns), N(orbit.ease))?;
        }
        CameraPath::Keys { keys, closed } => {
            if *closed {
                writeln!(o, "closed = true")?;
            }
            for k in keys {
                writeln!(o, "\n[[camera.key]]\ntime = {}\nposition = {}", N(k.time), V(k.position))?;
                writeln!(o, "look_at = {}\nfov_deg = {}", V(k.look_at), N(k.fov_deg))?;
            }
        }
        CameraPath::Cylinder { eye, target } => {
            for (name, path) in [("eye", eye), ("target", target)] {
                write_path(&format!("camera.{name}"), path, o)?;
            }
        }
    }
    Ok(())
}

fn write_path(table: &str, path: &CylindricalPath, o: &mut String) -> std::fmt::Result {
    writeln!(o, "\n[{table}]")?;
    writeln!(o, "r = {}\nz = {}\nphi_deg = {}", N(path.r0), N(path.z0), N(path.phi0.to_degrees()))?;
    writeln!(o, "r_amplitude = {}\nz_amplitude = {}", N(path.ar), N(path.az))?;
    writeln!(o, "r_cycles = {}\nz_cycles = {}\nphi_cycles = {}", N(path.wr), N(path.wz), N(path.wphi))?;
    writeln!(o, "r_phase_deg = {}\nz_phase_deg = {}", N(path.pr.to_degrees()), N(path.pz.to_degrees()))
}

fn write_relief(relief: &Relief, o: &mut String) -> std::fmt::Result {
    writeln!(o, "\n[floor.relief]\ntiles = {}", relief.tiles)?;
    match &relief.bumps {
        Bumps::Flat => {}
        Bumps::Heights { map, depth } => writeln!(o, "bump = {}\ndepth = {}", S(&map.to_string()), N(*depth))?,
        Bumps::Normals(path) => writeln!(o, "normal_map = {}", S(&path.display().to_string()))?,
    }
    for (key, [u, v]) in [("drift", relief.drift), ("offset", relief.offset)] {
        if [u, v] != [0.0; 2] {
            writeln!(o, "{key} = [{}, {}]", N(u), N(v))?;
        }
    }
    match &relief.roughness_map {
        Some(map) => writeln!(o, "roughness_map = {}", S(&map.to_string())),
        None => Ok(()),
    }
}

fn write_material(m: &Material, of_floor: bool, o: &mut String) -> std::fmt::Result {
    let is_named = matches!(m.kind, MaterialKind::Metal { measured: Some(_), .. });
    if !is_named {
        writeln!(o, "{} = {}", if of_floor { "tint" } else { "color" }, V(m.colour))?;
    }
    match m.kind {
        MaterialKind::Plain { reflection, transparency, .. } if of_floor => {
            writeln!(o, "reflection = {}\ntransparency = {}", N(reflection), N(transparency))?;
        }
        MaterialKind::Plain { reflection, transparency, ior } => {
            writeln!(o, "reflection = {}\ntransparency = {}\nior = {}", N(reflection), N(transparency), N(ior))?;
        }
        MaterialKind::Metal { measured: Some(metal), .. } => writeln!(o, "material = \"{}\"", metal.name())?,
        MaterialKind::Metal { fuzz, .. } => {
            writeln!(o, "material = \"metal\"")?;
            if m.roughness == 0.0 {
                writeln!(o, "fuzz = {}", N(fuzz))?;
            }
        }
        MaterialKind::Glass { ior, abbe, tint_distance } => {
            writeln!(o, "material = \"glass\"\nior = {}", N(ior))?;
            for (key, value) in [("abbe", abbe), ("tint_distance", tint_distance)] {
                if let Some(value) = value {
                    writeln!(o, "{key} = {}", N(value))?;
                }
            }
        }
        MaterialKind::Light { strength } => writeln!(o, "material = \"light\"\nstrength = {}", N(strength))?,
    }
    if m.roughness > 0.0 {
        writeln!(o, "roughness = {}", N(m.roughness))?;
    }
    match m.highlight {
        Some(highlight) => writeln!(o, "highlight = {}", N(highlight)),
        None => Ok(()),
    }
}

/// The scene as the full dialect's tokens, or all the reasons why it cannot be said in them.
pub fn tokens(scene: &Scene) -> Result<String, Vec<String>> {
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
            && !b.strip
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
    if scene.world.materials().next().is_some() {
        no.push("it has spheres, rectangles, meshes or particles".into());
    }
    let plain = RenderSettings {
        width: scene.render.width,
        height: scene.render.height,
        samples: scene.render.samples,
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
            b.lamps
        )?;
    }
    write!(o, "{}", floor.corners.map(|p| list(&p)).join("  "))?;
    writeln!(o, "  {texture}  {}  {}", list(&floor.material.colour), floor.material.shares().0)?;
    writeln!(o, "{}", scene.world.lights.len())?;
    for light in &scene.world.lights {
        writeln!(o, "{}  {}", list(&light.position), list(&light.colour))?;
    }
    writeln!(o, "{} {}", scene.render.depth, scene.render.samples)
}

/// The names that `--solids` needs so that these tokens mean the same scene, unless they are the usual ones.
pub fn solids_flag(scene: &Scene) -> Option<String> {
    let names: Vec<&str> = scene.world.bodies.iter().map(|b| b.solid.name()).collect();
    (scene.world.bodies.iter().map(|b| b.solid).ne(super::tokens::SOLIDS)).then(|| names.join(","))
}
