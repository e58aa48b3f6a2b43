//! Ambient occlusion against exact form factors of simple surroundings.

use super::common::*;
use crate::scene::Scene;

// The camera's view of a floor point at the origin, with `things` around it. All objects are white.
fn openness(keys: &str, things: &str) -> f64 {
    let scene = around(keys, things);
    mean(&light(&scene))
}
fn around(keys: &str, things: &str) -> Scene {
    toml(&format!(
        "[output]\nsize = [4, 4]\n[render]\nintegrator = \"ao\"\nsamples = 4096\n{keys}\n\
         [camera]\nposition = [4, -0.5, 1]\nlook_at = [0, 0, 0]\nfov_deg = 0.1\n{things}\n\
         [floor]\ncorners = [[-1e4,-1e4,0],[-1e4,1e4,0],[1e4,1e4,0],[1e4,-1e4,0]]\ntint = [0.1, 0.5, 0.9]\n"
    ))
}
// A wall along x, on the floor at y = `distance`.
fn wall(distance: f64, height: f64) -> String {
    format!(
        "[[rectangle]]\ncenter = [0, {distance}, {}]\nfacing = [0, -1, 0]\nsize = [2e4, {height}]\nmaterial = \"metal\"\n",
        height / 2.0
    )
}
fn close(got: f64, expected: f64, what: &str) {
    assert!((got - expected).abs() < 0.003, "{what}: {got}, expected {expected}");
}

#[test]
fn an_open_floor_is_white_and_a_wall_hides_its_form_factor() {
    let far = "[[sphere]]\ncenter = [0, 0, -50]\n";
    close(openness("", far), 1.0, "an open floor");
    // An endless wall hides half of the hemisphere, at any distance.
    close(openness("", &wall(1.0, 9e3)), 0.5, "an endless wall");
    for (distance, height) in [(1.0, 1.0), (0.5, 2.0), (3.0, 1.0)] {
        let hidden = (1.0 - distance / f64::hypot(distance, height)) / 2.0;
        close(openness("", &wall(distance, height)), 1.0 - hidden, &format!("a wall of {height} at {distance}"));
    }
}

#[test]
fn a_ball_hides_its_form_factor_whatever_it_is_made_of() {
    for material in ["", "color = [0, 0, 0]", "material = \"glass\"", "material = \"metal\"", "transparency = 1"] {
        // Above the point, and aside: the cosine to the normal divided by the squared distance.
        for (centre, radius) in [([0.0, 0.0, 2.0], 0.8), ([-1.0, 1.5, 2.0], 1.1)] {
            let [x, y, z] = centre;
            let square: f64 = x * x + y * y + z * z;
            let hidden = radius * radius / square * (z / square.sqrt());
            let ball = format!("[[sphere]]\ncenter = [{x}, {y}, {z}]\nradius = {radius}\n{material}\n");
            close(openness("", &ball), 1.0 - hidden, &format!("a ball at {centre:?}, {material}"));
        }
    }
}

#[test]
fn surfaces_beyond_the_reach_do_not_occlude() {
    close(openness("ao_reach = 0.9", &wall(1.0, 9e3)), 1.0, "a wall beyond the reach");
    // The part of a wall within reach projects to a segment of the unit disc.
    for reach in [1.5, 4.0] {
        let a = 1.0 / reach;
        let hidden = (f64::acos(a) - a * f64::sqrt(1.0 - a * a)) / std::f64::consts::PI;
        close(openness(&format!("ao_reach = {reach}"), &wall(1.0, 9e3)), 1.0 - hidden, &format!("a reach of {reach}"));
    }
}

#[test]
fn the_background_is_the_sky_and_a_closed_room_is_black() {
    let sky = "[sky]\nzenith = [0.2, 0.4, 0.6]\nhorizon = [0.2, 0.4, 0.6]\n";
    let mut scene = around("", &format!("[[sphere]]\n{sky}"));
    scene.world.floor = None;
    let crate::scene::CameraPath::Fixed { look_at, .. } = &mut scene.camera.path else { panic!("a fixed camera") };
    *look_at = [8.0, 0.0, 1.0];
    let expected = [0.2, 0.4, 0.6].map(crate::math::srgb::linear);
    for (got, expected) in light(&scene).iter().zip(expected.into_iter().cycle()) {
        assert!((f64::from(*got) - expected).abs() < 1e-4, "{got}, expected {expected}");
    }
    let room = "[[body]]\nsolid = \"hexahedron\"\nradius = 20\ntransparency = 1\nlamps = 0\nbar = 0\n";
    close(openness("", room), 0.0, "a closed room");
}

// Whitted's view of a floor point in ambient light of 1, over the floor's albedo: the share of it that arrives.
fn ambient_share(keys: &str, things: &str) -> f64 {
    let with = |keys: &str| {
        let scene = toml(&format!(
            "[output]\nsize = [4, 4]\n[render]\nsamples = 8\nambient = [1, 1, 1]\nhighlight = 0\n{keys}\n\
             [sky]\nzenith = [0, 0, 0]\nhorizon = [0, 0, 0]\n\
             [camera]\nposition = [4, -0.5, 1]\nlook_at = [0, 0, 0]\nfov_deg = 0.1\n{things}\n\
             [floor]\ncorners = [[-1e4,-1e4,0],[-1e4,1e4,0],[1e4,1e4,0],[1e4,-1e4,0]]\ntint = [0.5, 0.5, 0.5]\n"
        ));
        mean(&light(&scene))
    };
    with(&format!("ao_samples = 64\n{keys}")) / with("")
}

#[test]
fn ambient_light_leaves_out_what_near_surfaces_hide() {
    let far = "[[sphere]]\ncenter = [0, 0, -50]\n";
    close(ambient_share("", far), 1.0, "an open floor");
    // An endless wall hides half of the hemisphere, and two that meet at a right angle three quarters.
    close(ambient_share("", &wall(1.0, 9e3)), 0.5, "an endless wall");
    let other = "[[rectangle]]\ncenter = [-2, 0, 4500]\nfacing = [1, 0, 0]\nsize = [2e4, 9e3]\nmaterial = \"metal\"\n";
    close(ambient_share("", &format!("{}{other}", wall(1.0, 9e3))), 0.25, "a corner");
    // Within a reach; fog changes nothing.
    let hidden =
        |reach: f64| (f64::acos(1.0 / reach) - f64::sqrt(1.0 - 1.0 / (reach * reach)) / reach) / std::f64::consts::PI;
    for fog in ["", "[air]\ndensity = 0.1\ncolor = [0, 0, 0]\n"] {
        let walls = format!("{}{fog}", wall(1.0, 9e3));
        close(ambient_share("ao_reach = 0.9", &walls), 1.0, "a wall beyond the reach");
        close(ambient_share("ao_reach = 1.5", &walls), 1.0 - hidden(1.5), "a wall within reach");
    }
    // Glass lets through what it lets through of the light of lights.
    let pane =
        "[[body]]\nsolid = \"hexahedron\"\nradius = 20\ncolor = [1, 1, 1]\ntransparency = 0.3\nlamps = 0\nbar = 0\n";
    close(ambient_share("", pane), 0.3, "a room of panes");
    close(ambient_share("shadows = false", pane), 1.0, "a room without shadows");
}

#[test]
fn occlusion_leaves_all_other_light() {
    for name in ["solids.toml", "heap.toml"] {
        let mut scene = sized(own(name), 61, 43, 2);
        scene.world.ambient = [0.0; 3];
        let without = render(&scene, 1);
        scene.render.ao_samples = 7;
        assert!(render(&scene, 1) == without, "{name}");
        // Paths and clay know no ambient light.
        scene.world.ambient = [0.5; 3];
        for integrator in [crate::scene::Integrator::Path, crate::scene::Integrator::AmbientOcclusion] {
            scene.render.integrator = integrator;
            scene.render.set_samples(1);
            let with = render(&scene, 1);
            scene.render.ao_samples = 0;
            assert!(render(&scene, 1) == with, "{name}, {integrator:?}");
            scene.render.ao_samples = 7;
        }
    }
}

#[test]
fn occluded_ambient_light_has_the_same_bytes_on_every_instruction_set() {
    for name in ["solids.toml", "heap.toml", "lagoon.toml", "glass.toml"] {
        let mut scene = sized(own(name), 61, 43, 2);
        (scene.render.ao_samples, scene.render.ao_reach, scene.world.ambient) = (3, Some(1.5), [0.5, 0.4, 0.3]);
        same_on_every_set(name, &scene, 1);
    }
}

#[test]
fn occlusion_has_the_same_bytes_on_every_instruction_set() {
    for name in ["solids.toml", "heap.toml", "lagoon.toml"] {
        let mut scene = own(name);
        scene.render.integrator = crate::scene::Integrator::AmbientOcclusion;
        (scene.render.width, scene.render.height) = (61, 43);
        scene.render.set_samples(3);
        same_on_every_set(name, &scene, 1);
        scene.render.set_adaptive(16, 24, 1.0);
        same_on_every_set(&format!("{name}, adaptive"), &scene, 0);
    }
}
