//! Reliefs of floors and of bodies' faces: maps of heights, normals and roughness, loaded or procedural, as slopes and microfacets with mip levels.

use super::error::AssetError;
use super::files::Files;
use super::grid::Grid;
use super::patterns::{self, Made};
use super::source;
use super::texture::Texture;
use crate::math::vec3::{Vec3, add, dot, length, scale};
use crate::scene::{Body, Bumps, Floor, FloorShape, MapSource, Relief, uv_gradients};
use rayon::prelude::*;
use std::path::Path;

/// A relief in the kernels' format.
#[derive(Clone, Debug)]
pub struct ReliefMaps {
    /// Red and green: slopes along u and v; [`LEVEL`] is flat. Blue: the square of GGX's alpha.
    pub maps: Texture,
    /// Factor from the distance of red and green to [`LEVEL`], in 65535ths, to a height over the picture's width.
    pub slope: f32,
    /// The square of alpha at the maximum of blue.
    pub alpha: f32,
    /// Heights from 0 to 65535 with their mip levels, for a surface that is displaced.
    pub heights: Option<Vec<Grid<u16>>>,
    /// The height between their 0 and 65535.
    pub depth: f32,
}

/// Red and green of a flat relief.
pub const LEVEL: u16 = 32768;

const MAX_SIDE: u32 = 8192;
const BUILTIN_SIDE: u32 = 512;
const FINE_SIDE: u32 = 1024;

// Slopes along u and v, the squared slope in space, and the square of alpha.
type Cell = [f32; 4];

fn load(source: &MapSource, files: &Files) -> Result<Grid<f32>, AssetError> {
    let (side, value): (u32, Box<dyn Fn(f64, f64) -> f64 + Sync>) = match source {
        MapSource::File(path) => {
            let grey = open(path, files)?.into_luma16();
            let cells = grey.pixels().map(|p| f32::from(p.0[0]) / 65535.0).collect();
            return Ok(Grid { width: grey.width(), height: grey.height(), cells });
        }
        MapSource::Ripples => (BUILTIN_SIDE, Box::new(patterns::ripples)),
        MapSource::Tiles => (BUILTIN_SIDE, Box::new(patterns::tiles)),
        MapSource::Puddles => (BUILTIN_SIDE, Box::new(patterns::puddles)),
        MapSource::Slate => (FINE_SIDE, Box::new(patterns::slate)),
        MapSource::Brushed => (FINE_SIDE, Box::new(patterns::brushed)),
        MapSource::Scratches => (FINE_SIDE, Box::new(patterns::scratches())),
        MapSource::Dust => (FINE_SIDE, Box::new(patterns::dust())),
    };
    static MADE: Made<MapSource, f32> = Made::new();
    Ok(MADE.get(source, || Grid::over_square(side, |u, v| value(u, v) as f32)))
}

fn lerp(a: f32, b: f32, t: f32) -> f32 {
    a + (b - a) * t
}

fn open(path: &Path, files: &Files) -> Result<image::DynamicImage, AssetError> {
    files.read_picture("relief", path, MAX_SIDE)
}

/// The surface under a relief.
pub struct Surface {
    // The gradients of u and v.
    u: Vec3,
    v: Vec3,
    // Whether its picture repeats.
    repeats: bool,
    roughness: f64,
}
impl Surface {
    /// A floor; of a bent one its first half.
    pub fn of_floor(floor: &Floor) -> Surface {
        let [u, v] = uv_gradients(&floor.corners, [0, 1, 3]);
        Surface { u, v, repeats: floor.shape == FloorShape::Endless, roughness: floor.material.roughness }
    }
    /// A face of a body.
    pub fn of_body(body: &Body) -> Surface {
        let per_length = 0.5 / body.radius;
        let (u, v) = ([per_length, 0.0, 0.0], [0.0, per_length, 0.0]);
        Surface { u, v, repeats: false, roughness: body.material.roughness }
    }
    fn square(&self, along_u: f32, along_v: f32) -> f32 {
        let slope = add(scale(self.u, f64::from(along_u)), scale(self.v, f64::from(along_v)));
        dot(slope, slope) as f32
    }
}

impl ReliefMaps {
    pub fn of(relief: &Relief, surface: &Surface, files: &Files) -> Result<ReliefMaps, AssetError> {
        let Bump { slopes, heights } = bump(relief, surface, files)?;
        let roughness = relief.roughness_map.as_ref().map(|map| load(map, files)).transpose()?;
        let sizes = [slopes.as_ref().map(|g| (g.width, g.height)), roughness.as_ref().map(|g| (g.width, g.height))];
        let side = |of: fn((u32, u32)) -> u32| sizes.iter().flatten().map(|&s| of(s)).max().unwrap_or(1);
        let (width, height) = (side(|s| s.0), side(|s| s.1));
        // A wide map and a tall map become one map with the larger side of each.
        let maps = relief.files();
        if let Some(last) = maps.last() {
            let bytes = maps.iter().map(|file| std::fs::metadata(file).map_or(0, |facts| facts.len())).sum();
            source::check_pixels("relief", last, bytes, (width, height), files.limits)?;
        }
        let finest = Grid::new(width, height, |x, y| {
            let (u, v) = ((f64::from(x) + 0.5) / f64::from(width), (f64::from(y) + 0.5) / f64::from(height));
            let [along_u, along_v] = slopes
                .as_ref()
                .map_or([0.0; 2], |s| s.sample(u, v, |a, b, t| [lerp(a[0], b[0], t), lerp(a[1], b[1], t)]));
            let rough = surface.roughness * f64::from(roughness.as_ref().map_or(1.0, |r| r.sample(u, v, lerp)));
            [along_u, along_v, surface.square(along_u, along_v), (rough * rough * rough * rough) as f32]
        });
        let mean = |four: [Cell; 4]| [0, 1, 2, 3].map(|i| four.iter().map(|c| c[i]).sum::<f32>() * 0.25);
        let heights = heights.filter(|_| relief.displaced).map(coded_heights);
        let depth = relief.depth().unwrap_or_default() as f32;
        Ok(ReliefMaps { heights, depth, ..coded(&finest.into_levels(mean), surface) })
    }
}

// Heights with their means over larger and larger cells.
fn coded_heights(map: Grid<f32>) -> Vec<Grid<u16>> {
    let code = |&height: &f32| (f64::from(height) * 65535.0).round() as u16;
    let coded = |l: Grid<f32>| Grid { width: l.width, height: l.height, cells: l.cells.par_iter().map(code).collect() };
    map.into_levels(|four| four.iter().sum::<f32>() * 0.25).into_iter().map(coded).collect()
}

// Slopes along u and v, from heights or from normals.
#[derive(Default)]
struct Bump {
    slopes: Option<Grid<[f32; 2]>>,
    heights: Option<Grid<f32>>,
}

fn bump(relief: &Relief, surface: &Surface, files: &Files) -> Result<Bump, AssetError> {
    Ok(match &relief.bumps {
        Bumps::Flat => Bump::default(),
        Bumps::Heights { map, depth } => {
            let heights = load(map, files)?;
            let (w, h) = (i64::from(heights.width), i64::from(heights.height));
            // A map that does not repeat has ends, where the difference is one-sided.
            let ends = relief.tiles == 1 && !surface.repeats;
            let around =
                |at: i64, last: i64| if ends { ((at - 1).max(0), (at + 1).min(last)) } else { (at - 1, at + 1) };
            let steepness = depth * f64::from(relief.tiles);
            let slope = |low: f32, high: f32, steps: i64, texels: i64| {
                (f64::from(high - low) * steepness * texels as f64 / steps.max(1) as f64) as f32
            };
            let slopes = Grid::new(heights.width, heights.height, |x, y| {
                let (x, y) = (i64::from(x), i64::from(y));
                let ((left, right), (above, below)) = (around(x, w - 1), around(y, h - 1));
                [
                    slope(heights.at(left, y), heights.at(right, y), right - left, w),
                    slope(heights.at(x, above), heights.at(x, below), below - above, h),
                ]
            });
            Bump { slopes: Some(slopes), heights: Some(heights) }
        }
        Bumps::Normals(path) => {
            let picture = open(path, files)?.into_rgb16();
            let per_u = 1.0 / length(surface.u);
            let per_v = 1.0 / length(surface.v);
            let cells = picture.pixels().map(|p| {
                let [x, y, z] = p.0.map(|c| f64::from(c) / 65535.0 * 2.0 - 1.0);
                let z = z.max(0.05);
                // v runs down the picture.
                [(-x / z * per_u) as f32, (y / z * per_v) as f32]
            });
            let slopes = Grid { width: picture.width(), height: picture.height(), cells: cells.collect() };
            Bump { slopes: Some(slopes), heights: None }
        }
    })
}

// Texels. Slopes that a coarser level loses make it rough: microfacets whose slopes have the variance s^2 along
// each of two axes have an alpha of sqrt(2) s (Olano and Baker, "LEAN mapping", 2010).
fn coded(levels: &[Grid<Cell>], surface: &Surface) -> ReliefMaps {
    let alpha2 = |c: &Cell| (c[3] + (c[2] - surface.square(c[0], c[1])).max(0.0)).min(1.0);
    let steepest = levels[0].cells.iter().fold(0.0f32, |a, c| a.max(c[0].abs()).max(c[1].abs())).max(1e-20);
    let alpha = levels.iter().flat_map(|l| &l.cells).fold(0.0f32, |a, c| a.max(alpha2(c))).max(1e-20);
    let slope = |s: f32| (f64::from(LEVEL) + f64::from(s / steepest) * 32767.0).round() as u16;
    let texel = |c: &Cell| [slope(c[0]), slope(c[1]), (f64::from(alpha2(c) / alpha) * 65535.0).round() as u16];
    let picture =
        |l: &Grid<Cell>| Grid { width: l.width, height: l.height, cells: l.cells.par_iter().map(texel).collect() };
    ReliefMaps {
        maps: Texture { levels: levels.iter().map(picture).collect(), paints: false },
        slope: (f64::from(steepest) * 65535.0 / 32767.0) as f32,
        alpha,
        heights: None,
        depth: 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Material;

    const PLAIN: Relief = Relief {
        bumps: Bumps::Flat,
        roughness_map: None,
        tiles: 1,
        drift: [0.0; 2],
        offset: [0.0; 2],
        glitter: 0.0,
        displaced: false,
    };

    fn maps(relief: Relief, roughness: f64) -> ReliefMaps {
        let material = Material { roughness, ..Material::plain([1.0; 3], 0.5, 0.0) };
        let floor = Floor { relief: Some(relief), material, ..Floor::default() };
        ReliefMaps::of(floor.relief.as_ref().unwrap(), &Surface::of_floor(&floor), &Files::default()).unwrap()
    }

    // Far away, ripples are a flat, rough mirror: their slopes vanish, and their variance becomes alpha's square.
    #[test]
    fn what_is_too_small_to_see_makes_it_rough() {
        let bumps = Bumps::Heights { map: MapSource::Ripples, depth: 0.05 };
        let m = maps(Relief { bumps, tiles: 4, ..PLAIN }, 0.0);
        let (finest, coarsest) = (&m.maps.levels[0], m.maps.levels.last().unwrap());
        assert!(finest.cells.iter().all(|t| t[2] == 0));
        let [u, v, rough] = coarsest.cells[0];
        assert!(u.abs_diff(LEVEL) < 64 && v.abs_diff(LEVEL) < 64, "{u} {v}");
        // The floor is ten units wide.
        let slope = |t: u16| (f64::from(t) - 32768.0) / 65535.0 * f64::from(m.slope) / 10.0;
        let square = |t: &[u16; 3]| slope(t[0]) * slope(t[0]) + slope(t[1]) * slope(t[1]);
        let variance = finest.cells.iter().map(square).sum::<f64>() / finest.cells.len() as f64;
        let alpha2 = f64::from(rough) / 65535.0 * f64::from(m.alpha);
        assert!((alpha2 / variance - 1.0).abs() < 0.01 && variance > 1e-4, "{alpha2} {variance}");
    }

    #[test]
    fn a_roughness_map_scales_the_roughness() {
        let m = maps(Relief { roughness_map: Some(MapSource::Puddles), ..PLAIN }, 0.6);
        assert!((f64::from(m.alpha) - 0.6 * 0.6 * 0.6 * 0.6).abs() < 1e-6);
        let texels = &m.maps.levels[0].cells;
        let wet = texels.iter().filter(|t| t[2] == 0).count() as f64 / texels.len() as f64;
        let dry = texels.iter().filter(|t| t[2] == 65535).count() as f64 / texels.len() as f64;
        assert!((0.1..0.6).contains(&wet) && (0.2..0.8).contains(&dry), "{wet} {dry}");
        assert!(texels.iter().all(|t| t[0] == LEVEL && t[1] == LEVEL));
    }
}
