//! The style of a figure: values for the keys that the scene does not give.

use super::keys::read::Table;
use super::limits::MAX_SIDE;
use super::{FigureStyle, Scene, Sky, Tone};
use crate::language::msg;
use crate::math::srgb::srgb;
use crate::math::vec3::Vec3;

// Linear ambient light, with occlusion and without. The headlight is the rest of one, so that no color is brighter than the map's.
const OCCLUDED: f64 = 0.72;
const LIT: f64 = 0.4;
const WHITE: Vec3 = [1.0; 3];
const DARK: Vec3 = [0.09, 0.09, 0.1];
/// Samples along a pixel's side, and occlusion rays of each.
const SAMPLES: u32 = 3;
const OCCLUSION: u32 = 4;

/// Gives what the figure and its style say to the keys that the scene's text has not given. The style is spent then: the scene
/// has its values.
pub(crate) fn apply(scene: &mut Scene, table: &mut Table) {
    let Some(figure) = &mut scene.figure else { return };
    let style = figure.style.take();
    if figure.width.is_some() {
        match figure.size() {
            Some(size) if !table.gives("output.size") => (scene.render.width, scene.render.height) = size,
            Some(_) => {}
            None => table.problem_at(
                "figure.width",
                msg!("the figure has too many pixels"),
                msg!("at most {most} pixels a side", most = MAX_SIDE),
            ),
        }
    }
    if figure.view.is_some() && scene.world.particles.is_none() {
        table.problem_at(
            "figure.view",
            msg!("`view` frames particles, and there are none"),
            msg!("[particles] with a `path`"),
        );
    }
    let of_style = style.filter(|_| !table.gives("sky"));
    let ground = figure.background.or(of_style.map(|style| if style == FigureStyle::Dark { DARK } else { WHITE }));
    if let Some(ground) = ground {
        let transparent = scene.world.sky.transparent;
        scene.world.sky = Sky { zenith: ground, horizon: ground, transparent, ..Sky::default() };
    }
    let Some(style) = style else { return };
    let ambient = if style == FigureStyle::Plain { LIT } else { OCCLUDED };
    let (world, render, film) = (&mut scene.world, &mut scene.render, &mut scene.film);
    let set = |key: &str, field: &mut dyn FnMut()| {
        if !table.gives(key) {
            field();
        }
    };
    set("render.ambient", &mut || world.ambient = [srgb(ambient); 3]);
    set("render.highlight", &mut || world.highlight = 0.0);
    if let Some(particles) = &mut world.particles {
        set("particles.highlight", &mut || particles.material.highlight = Some(0.0));
    }
    set("render.samples", &mut || render.set_sample_grid(SAMPLES));
    match style {
        FigureStyle::Plain => set("render.shadows", &mut || render.shadows = false),
        // Occlusion is a shadow too. The headlight casts none that can be seen.
        FigureStyle::Journal | FigureStyle::Dark => {
            set("render.ao_samples", &mut || render.ao_samples = OCCLUSION);
        }
    }
    set("film.tone", &mut || film.tone = Tone::Clip { gamma: 0.0 });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn a_style_gives_way_to_the_scene() {
        let parse = |text: &str| Scene::parse(text, "a.toml", Path::new("")).map(|parsed| parsed.scene);
        let text = "[particles]\npath = \"a.csv\"\n[figure]\nstyle = \"journal\"\nwidth = \"85 mm\"\nview = \"iso\"\n";
        let scene = parse(text).unwrap();
        assert_eq!((scene.render.width, scene.render.height), (1004, 753));
        assert_eq!((scene.render.ao_samples, scene.world.sky.zenith), (OCCLUSION, WHITE));
        assert_eq!(scene.figure.as_ref().unwrap().style, None);
        // The scene's own text has all of it.
        assert_eq!(parse(&scene.to_toml()).unwrap(), scene);
        let own =
            parse(&format!("{text}background = \"black\"\n[render]\nao_samples = 0\n[output]\nsize = [64, 48]\n"))
                .unwrap();
        assert_eq!((own.render.ao_samples, own.render.width, own.world.sky.zenith), (0, 64, [0.0; 3]));
        let fault = |text: &str| parse(text).unwrap_err().to_string();
        assert!(fault("[figure]\nview = \"iso\"\n[floor]\n").contains("`view` frames particles"));
        assert!(fault("[figure]\nwidth = \"85\"\n[floor]\n").contains("a number with a unit"));
        assert!(fault("[figure]\nview = \"up\"\n[floor]\n").contains("[azimuth, elevation]"));
        assert!(fault("[figure]\nwidth = \"90 m\"\n[floor]\n").contains("a number with a unit"));
        assert!(fault("[figure]\nwidth = \"9000 in\"\n[floor]\n").contains("too many pixels"));
    }
}
