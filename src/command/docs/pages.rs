//! The pages of the documentation, in the order of its navigation, and the pictures that they show. All are inside the program.

use crate::cli::ReferencePage;
use crate::command::reference::page as generated;

/// A group of pages in the navigation.
pub struct Section {
    pub title: &'static str,
    pub pages: &'static [Page],
}

/// A page, written in Markdown.
pub struct Page {
    /// Its name for `polyfly docs`.
    pub name: &'static str,
    /// Its title in the navigation.
    pub title: &'static str,
    /// Its file in the repository.
    pub source: &'static str,
    text: Text,
}

enum Text {
    Stored(&'static str),
    // Generated from the program's own declarations; a test compares the file with it.
    Generated(fn() -> String),
}

impl Page {
    pub fn markdown(&self) -> String {
        match self.text {
            Text::Stored(text) => text.to_owned(),
            Text::Generated(make) => make(),
        }
    }

    /// Its place in the site.
    pub fn path(&self) -> String {
        let name = self.source.strip_prefix("docs/").unwrap_or(self.source);
        match name {
            "README.md" => "index.html".to_owned(),
            _ => name.replace(".md", ".html").to_lowercase(),
        }
    }

    pub fn language(&self) -> &'static str {
        if self.source.starts_with("docs/ru/") { "ru" } else { "en" }
    }
}

/// All pages.
pub fn pages() -> impl Iterator<Item = &'static Page> {
    SECTIONS.iter().flat_map(|section| section.pages)
}

macro_rules! page {
    ($name:literal, $title:literal, $source:literal) => {
        Page {
            name: $name,
            title: $title,
            source: $source,
            text: Text::Stored(include_str!(concat!("../../../", $source))),
        }
    };
    ($name:literal, $title:literal, $source:literal, $make:expr) => {
        Page { name: $name, title: $title, source: $source, text: Text::Generated($make) }
    };
}

/// The navigation.
pub const SECTIONS: &[Section] = &[
    Section {
        title: "Begin",
        pages: &[
            page!("start", "Start", "docs/README.md"),
            page!("first-hour", "First hour", "docs/first-hour.md"),
            page!("install", "Install", "docs/install.md"),
            page!("try", "In a browser", "docs/try.md"),
        ],
    },
    Section {
        title: "Scenes",
        pages: &[
            page!("scenes", "Guide", "docs/scenes.md"),
            page!("looks", "Looks", "docs/looks.md"),
            page!("gallery", "Gallery", "docs/gallery.md", || generated(ReferencePage::Gallery)),
            page!("rendering", "What is computed", "docs/rendering.md"),
            page!("particles", "Particles", "docs/particles.md"),
        ],
    },
    Section {
        title: "Reference",
        pages: &[
            page!("keys", "Keys of a scene", "docs/reference/scene.md", || generated(ReferencePage::Scene)),
            page!("options", "Flags", "docs/reference/flags.md", || generated(ReferencePage::Flags)),
            page!("flags", "Flags that go together", "docs/flags.md"),
            page!("exit-codes", "Exit codes", "docs/reference/exit-codes.md", || generated(ReferencePage::ExitCodes)),
            page!("formats", "File formats", "docs/reference/formats.md", || generated(ReferencePage::Formats)),
        ],
    },
    Section {
        title: "Work",
        pages: &[
            page!("studio", "Studio", "docs/studio.md"),
            page!("runs", "Runs", "docs/runs.md"),
            page!("compare", "Comparing pictures", "docs/compare.md"),
            page!("farm", "Farm", "docs/farm.md"),
            page!("python", "Python", "docs/python.md"),
        ],
    },
    Section {
        title: "Tutorials",
        pages: &[
            page!("student", "For a student", "docs/tutorials/student.md"),
            page!("student-ru", "Студенту", "docs/ru/student.md"),
            page!("film", "For a film maker", "docs/tutorials/film.md"),
            page!("researcher", "For a researcher", "docs/tutorials/researcher.md"),
            page!("cluster", "For a cluster", "docs/tutorials/cluster.md"),
            page!("library", "The library", "docs/tutorials/library.md"),
        ],
    },
    Section {
        title: "Inside",
        pages: &[
            page!("exactness", "Exactness", "docs/arithmetic.md"),
            page!("how-it-works", "How it works", "docs/how-it-works.md"),
            page!("architecture", "Architecture", "docs/architecture.md"),
            page!("rays", "Pending rays", "docs/rays.md"),
            page!("figures", "Figures", "docs/figures.md"),
            page!("record", "The record", "docs/record.md"),
            page!("versions", "What a version promises", "docs/versions.md"),
            page!("security", "Security", "SECURITY.md"),
            page!("contributing", "Contributing", "CONTRIBUTING.md"),
            page!("changelog", "Changes", "CHANGELOG.md"),
            page!("glossary", "Glossary", "docs/glossary.md"),
        ],
    },
];

macro_rules! pictures {
    ($($name:literal)*) => { &[$(($name, include_bytes!(concat!("../../../docs/", $name)))),*] };
}

/// The pictures of the pages: their places below docs/, which are those in the site, and their contents.
pub const PICTURES: &[(&str, &[u8])] = pictures! {
    "caustics.webp"
    "chess.webp"
    "clay.webp"
    "coursework.webp"
    "crystal.webp"
    "cse260.webp"
    "cube.webp"
    "default.webp"
    "gallery.webp"
    "garland.webp"
    "glass.webp"
    "hall.webp"
    "heap.webp"
    "hero.webp"
    "infinity.webp"
    "jewels.webp"
    "lagoon.webp"
    "lamps.webp"
    "last-light.webp"
    "metals.webp"
    "mist.webp"
    "neon.webp"
    "pebbles.webp"
    "prism.webp"
    "solids.webp"
    "stage.webp"
    "table.webp"
    "walk.webp"
    "weekend-final.webp"
    "weekend.webp"
    "looks/agx-contrast.webp"
    "looks/agx-saturation.webp"
    "looks/aperture-five.webp"
    "looks/aperture-ratio.webp"
    "looks/aperture-round.webp"
    "looks/aperture-six.webp"
    "looks/balance-12000.webp"
    "looks/balance-4000.webp"
    "looks/balance-6504.webp"
    "looks/bar-copper.webp"
    "looks/bar-none.webp"
    "looks/bar-thin.webp"
    "looks/bar-usual.webp"
    "looks/bar-white.webp"
    "looks/bar-wide.webp"
    "looks/bevel-glass.webp"
    "looks/bevel-metal.webp"
    "looks/bevel-none.webp"
    "looks/bevel-wide.webp"
    "looks/bloom-narrow.webp"
    "looks/bloom-none.webp"
    "looks/bloom-strong.webp"
    "looks/bloom-wide.webp"
    "looks/body-brushed.webp"
    "looks/body-dust.webp"
    "looks/body-scratches.webp"
    "looks/body-slate.webp"
    "looks/coat-billiard.webp"
    "looks/coat-floor.webp"
    "looks/coat-gold.webp"
    "looks/exposure-auto.webp"
    "looks/exposure-bright.webp"
    "looks/exposure-dark.webp"
    "looks/exposure-zero.webp"
    "looks/film-oil.webp"
    "looks/film-soap.webp"
    "looks/film-titanium.webp"
    "looks/floor-checker.webp"
    "looks/floor-concrete.webp"
    "looks/floor-marble.webp"
    "looks/floor-reflection.webp"
    "looks/floor-roughness.webp"
    "looks/floor-round.webp"
    "looks/floor-square.webp"
    "looks/floor-wood.webp"
    "looks/fog-height.webp"
    "looks/fog-thin.webp"
    "looks/fov-axis.webp"
    "looks/fov-orthographic.webp"
    "looks/fov-narrow.webp"
    "looks/fov-wide.webp"
    "looks/glare-blades.webp"
    "looks/glare-four.webp"
    "looks/glare-six.webp"
    "looks/glare-streak.webp"
    "looks/glow-strong.webp"
    "looks/grain.webp"
    "looks/integrator-ao.webp"
    "looks/integrator-whitted.webp"
    "looks/lamps-chase.webp"
    "looks/lamps-color.webp"
    "looks/lamps-disc.webp"
    "looks/lamps-dome.webp"
    "looks/lamps-hue.webp"
    "looks/lamps-inside.webp"
    "looks/lamps-intensity.webp"
    "looks/lamps-none.webp"
    "looks/lamps-outside.webp"
    "looks/lamps-pulse.webp"
    "looks/lamps-strip.webp"
    "looks/lamps-three.webp"
    "looks/lamps-twelve.webp"
    "looks/lens-focus.webp"
    "looks/lens-none.webp"
    "looks/lens-shutter.webp"
    "looks/lens-wide.webp"
    "looks/light-small.webp"
    "looks/light-large.webp"
    "looks/look-film.webp"
    "looks/look-plain.webp"
    "looks/material-abbe.webp"
    "looks/material-brushed-level.webp"
    "looks/material-brushed.webp"
    "looks/material-chromium.webp"
    "looks/material-copper.webp"
    "looks/material-diffuse.webp"
    "looks/material-glass.webp"
    "looks/material-gold.webp"
    "looks/material-ior.webp"
    "looks/material-metal.webp"
    "looks/material-plain.webp"
    "looks/material-reflection.webp"
    "looks/material-roughness-20.webp"
    "looks/material-roughness-60.webp"
    "looks/material-silver.webp"
    "looks/material-tint.webp"
    "looks/material-titanium.webp"
    "looks/material-transparency.webp"
    "looks/noise-few.webp"
    "looks/noise-guided.webp"
    "looks/pane-color.webp"
    "looks/pane-depth.webp"
    "looks/pane-half.webp"
    "looks/pane-mirror.webp"
    "looks/relief-displaced.webp"
    "looks/relief-puddles.webp"
    "looks/relief-ripples.webp"
    "looks/relief-small.webp"
    "looks/relief-tiles.webp"
    "looks/sky-dusk.webp"
    "looks/sky-night.webp"
    "looks/sky-overcast.webp"
    "looks/sky-studio.webp"
    "looks/sky-sun-haze.webp"
    "looks/sky-sun-high.webp"
    "looks/sky-sun-low.webp"
    "looks/sky-sun-set.webp"
    "looks/solid-cube.webp"
    "looks/solid-dodecahedron.webp"
    "looks/solid-octahedron.webp"
    "looks/solid-tetrahedron.webp"
    "looks/template-infinity.webp"
    "looks/template-sea.webp"
    "looks/tone-agx.webp"
    "looks/tone-clip.webp"
    "looks/tone-filmic.webp"
    "looks/tone-neutral.webp"
    "looks/tone-soft.webp"
    "looks/vignette-none.webp"
    "looks/vignette-strong.webp"
    "studio.webp"
    "cost.svg"
    "cse260-speed-up.svg"
    "cse260-work.svg"
    "particles.svg"
};
