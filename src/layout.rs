//! The flat arrays that the kernels read: the same structs as kernels/types.cuh, filled from a scene.
#![expect(unsafe_code, reason = "arrays of plain numbers are shared with the kernels by address")]

mod shapes;
mod world;

use crate::assets::Assets;
use crate::bvh::{self, Group, Kind, NO_TREE};
use crate::scene::Scene;
use crate::scene::{Integrator, Material, MaterialKind, Tone};
use crate::texture::{Picture, linear, srgb};
use crate::vector::{Vec3, add, length, scale, single, sub};
use rayon::prelude::*;
use shapes::{flatten_body, flatten_floor, floor_point, lamp_radius};
pub use world::World;

/// A read-only array as the kernels see it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Array<T> {
    /// First element.
    pub data: *const T,
    /// Number of elements.
    pub len: i32,
    pad: i32,
}

// SAFETY: an Array is an address and a length; nothing in Rust reads through it, the kernels only read,
// and whoever calls a kernel keeps the memory alive and unchanged meanwhile.
unsafe impl<T: Sync> Sync for Array<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Send for Array<T> {}

impl<T> Array<T> {
    /// The array at `data`, which may be an address on a device.
    pub fn new(data: *const T, len: usize) -> Array<T> {
        Array { data, len: len as i32, pad: 0 }
    }
}

/// kernels/types.cuh: Slab.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, Default)]
pub struct SlabData {
    n: [f32; 3],
    lo: f32,
    hi: f32,
    middle: f32,
    half: f32,
    pad: f32,
}

/// kernels/types.cuh: Body.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, Default)]
pub struct BodyData {
    centre: [f32; 3],
    radius: f32,
    colour: [f32; 3],
    local: f32,
    reflect: f32,
    transmit: f32,
    ior: f32,
    bar: f32,
    bar_to_edge: f32,
    lamp_spacing: f32,
    lamps_a_length: f32,
    lamp_sharpness: f32,
    lamp_colour: [f32; 3],
    lamps: i32,
    bar_colour: [f32; 3],
    code_in: i32,
    first_slab: i32,
    slabs: i32,
    ior_inward: f32,
    shade: f32,
}

/// kernels/types.cuh: Light.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, Default)]
pub struct LightData {
    position: [f32; 3],
    pad0: f32,
    colour: [f32; 3],
    pad1: f32,
}

/// kernels/types.cuh: Patch.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, Default)]
pub struct PatchData {
    n: [f32; 3],
    d: f32,
    u: [f32; 4],
    v: [f32; 4],
    side: i32,
    density: f32,
    pad: [i32; 2],
}

/// kernels/types.cuh: Level.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, Default)]
pub struct LevelData {
    first: i32,
    width: i32,
    height: i32,
    pad: i32,
}

/// kernels/types.cuh: Node.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, Default)]
pub struct NodeData {
    lo0: [f32; 3],
    child0: i32,
    hi0: [f32; 3],
    child1: i32,
    lo1: [f32; 3],
    pad0: i32,
    hi1: [f32; 3],
    pad1: i32,
}

impl NodeData {
    /// Both children: lower and upper corner, and the code; the boxes are widened by `margin`.
    pub fn new(a: ([f32; 3], [f32; 3], i32), b: ([f32; 3], [f32; 3], i32), margin: f32) -> NodeData {
        let (down, up) = (|p: [f32; 3]| p.map(|x| x - margin), |p: [f32; 3]| p.map(|x| x + margin));
        NodeData {
            lo0: down(a.0),
            child0: a.2,
            hi0: up(a.1),
            child1: b.2,
            lo1: down(b.0),
            hi1: up(b.1),
            ..NodeData::default()
        }
    }
    /// The children's codes.
    pub fn children(&self) -> [i32; 2] {
        [self.child0, self.child1]
    }
}

/// kernels/types.cuh: Ball.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BallData {
    /// Its middle.
    pub centre: [f32; 3],
    /// Its radius.
    pub radius: f32,
}

/// kernels/types.cuh: Triangle.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, Default)]
pub struct TriangleData {
    a: [f32; 3],
    paint: i32,
    ab: [f32; 3],
    pad0: f32,
    ac: [f32; 3],
    pad1: f32,
}

/// kernels/types.cuh: Material.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MaterialData {
    albedo: [f32; 3],
    shine: f32,
    mirror: [f32; 3],
    fuzz: f32,
    transmit: [f32; 3],
    ior: f32,
    emission: [f32; 3],
    fresnel: f32,
}

/// kernels/types.cuh: Emitter.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, Default)]
pub struct EmitterData {
    centre: [f32; 3],
    radius: f32,
    colour: [f32; 3],
    keep: f32,
    other: i32,
    inverse: f32,
    triangle: i32,
    pad: f32,
}

/// kernels/types.cuh: Scene, without its arrays.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "kernels/types.cuh documents the fields")]
pub struct Constants {
    pub floor_tint: [f32; 3],
    pub floor_reflect: f32,
    pub ambient: [f32; 3],
    pub cutoff: f32,
    pub zenith: [f32; 3],
    pub highlight: f32,
    pub horizon: [f32; 3],
    pub glow_scale: f32,
    pub glow_size: i32,
    pub depth: i32,
    pub width: i32,
    pub height: i32,
    pub samples: i32,
    pub sample_step: f32,
    pub knee: f32,
    pub sky_slope: f32,
    pub sky_base: f32,
    pub each: i32,
    pub path: i32,
    pub root: i32,
    pub shadows: i32,
    pub first_sample: i32,
    pad: [i32; 2],
}

/// kernels/types.cuh: Scene.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "kernels/types.cuh documents the fields")]
pub struct SceneData {
    pub slabs: Array<SlabData>,
    pub bodies: Array<BodyData>,
    pub lights: Array<LightData>,
    pub patches: Array<PatchData>,
    pub levels: Array<LevelData>,
    pub texels: Array<i32>,
    pub glow: Array<i32>,
    pub curve: Array<i32>,
    pub nodes: Array<NodeData>,
    pub balls: Array<BallData>,
    pub paints: Array<i32>,
    pub triangles: Array<TriangleData>,
    pub materials: Array<MaterialData>,
    pub emitters: Array<EmitterData>,
    pub sums: Array<i64>,
    pub rest: Constants,
}

/// kernels/types.cuh: Inline. A few elements in place.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug)]
pub struct Inline<T, const N: usize> {
    data: [T; N],
    len: i32,
    pad: [i32; 3],
}

impl<T: Copy + Default, const N: usize> Inline<T, N> {
    fn of(values: &[T]) -> Option<Inline<T, N>> {
        let mut data = [T::default(); N];
        data.get_mut(..values.len())?.copy_from_slice(values);
        Some(Inline { data, len: values.len() as i32, pad: [0; 3] })
    }
}

/// kernels/types.cuh: Scene with POLYFLY_INLINE_SCENE. What a GPU gets of a small scene.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug)]
pub struct SmallScene {
    slabs: Inline<SlabData, 40>,
    bodies: Inline<BodyData, 8>,
    lights: Inline<LightData, 8>,
    patches: Inline<PatchData, 2>,
    levels: Array<LevelData>,
    texels: Array<i32>,
    glow: Array<i32>,
    curve: Array<i32>,
    rest: Constants,
}

impl SmallScene {
    /// The scene in place, if it fits; its larger arrays stay where `scene` has them.
    pub fn new(layout: &Layout, scene: &SceneData) -> Option<SmallScene> {
        (scene.rest.root == NO_TREE && scene.rest.path == 0 && scene.rest.shadows == 1).then_some(())?;
        Some(SmallScene {
            slabs: Inline::of(&layout.slabs)?,
            bodies: Inline::of(&layout.bodies)?,
            lights: Inline::of(&layout.lights)?,
            patches: Inline::of(&layout.patches)?,
            levels: scene.levels,
            texels: scene.texels,
            glow: scene.glow,
            curve: scene.curve,
            rest: scene.rest,
        })
    }
}

/// kernels/types.cuh: Frame. One frame's camera.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FrameData {
    eye: [f32; 3],
    spread: f32,
    forward: [f32; 3],
    number: i32,
    right: [f32; 3],
    lens: f32,
    down: [f32; 3],
    focus: f32,
}

/// kernels/types.cuh: Counts.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Camera, reflected and transmitted rays.
    pub rays: u64,
    /// Rays from surfaces to lights.
    pub shadow_rays: u64,
    /// Rays of the busiest thread, from a GPU.
    pub most: u64,
    pad: u64,
}

// kernels/render.cpp asserts the same numbers.
const _: () = {
    assert!(size_of::<SlabData>() == 32);
    assert!(size_of::<BodyData>() == 112 && std::mem::offset_of!(BodyData, lamp_colour) == 64);
    assert!(size_of::<LightData>() == 32);
    assert!(size_of::<PatchData>() == 64);
    assert!(size_of::<LevelData>() == 16);
    assert!(size_of::<NodeData>() == 64);
    assert!(size_of::<BallData>() == 16);
    assert!(size_of::<TriangleData>() == 48);
    assert!(size_of::<MaterialData>() == 64);
    assert!(size_of::<EmitterData>() == 48);
    assert!(
        size_of::<SceneData>() == 368
            && std::mem::offset_of!(SceneData, rest) + std::mem::offset_of!(Constants, glow_size) == 304
    );
    assert!(size_of::<SmallScene>() == 2816);
    assert!(size_of::<FrameData>() == 64);
    assert!(size_of::<Counts>() == 32);
};

/// Where lamp light is worth computing: points on the floor, and the lamps.
pub struct GlowPlan {
    /// Texels along a side of the map.
    pub size: usize,
    /// Texel centres, with the floor patch they lie on, in texel order.
    pub points: Vec<([f32; 3], usize)>,
    /// The floor's upward normal by patch.
    pub normals: Vec<[f32; 3]>,
    /// Lamp positions, x y z each.
    pub lamps: Vec<f32>,
    /// Lamp strengths, r g b each.
    pub colours: Vec<f32>,
    /// Squared length added to squared distances, so that a lamp on the floor stays finite.
    pub softening: f32,
}

/// A scene's arrays in host memory.
#[derive(Clone)]
pub struct Layout {
    /// Face planes of all bodies.
    pub slabs: Vec<SlabData>,
    /// Bodies.
    pub bodies: Vec<BodyData>,
    /// Lights.
    pub lights: Vec<LightData>,
    /// The floor.
    pub patches: Vec<PatchData>,
    /// Mip levels of its picture.
    pub levels: Vec<LevelData>,
    /// Their texels, two words each.
    pub texels: Vec<i32>,
    /// Lamp light on the floor, texels alike.
    pub glow: Vec<i32>,
    /// Square root of linear light -> sRGB byte.
    pub curve: Vec<i32>,
    /// Balls, meshes and the tree.
    pub world: World,
    rest: Constants,
}

/// Most bodies, balls and triangles: what fits a leaf's code and the numbers of surfaces.
pub const MOST_BODIES: usize = 1 << 20;
/// See [`MOST_BODIES`].
pub const MOST_PRIMITIVES: usize = (1 << 26) - 1;

/// A scene with more elements than the kernels can count.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the scene has {count} {what}; at most {most} can be rendered")]
pub struct TooMany {
    /// Of what.
    pub what: &'static str,
    /// How many.
    pub count: usize,
    /// How many there may be.
    pub most: usize,
}

/// Checks the counts against the kernels' 32-bit codes.
pub fn check_counts(bodies: usize, balls: usize, triangles: usize) -> Result<(), TooMany> {
    let kinds =
        [("bodies", bodies, MOST_BODIES), ("balls", balls, MOST_PRIMITIVES), ("triangles", triangles, MOST_PRIMITIVES)];
    match kinds.into_iter().find(|(_, count, most)| count > most) {
        Some((what, count, most)) => Err(TooMany { what, count, most }),
        None => Ok(()),
    }
}

const CURVE_LAST: usize = 1023;
// Shadow rays spent on the lamp light before the first frame.
const GLOW_RAYS: usize = 4 << 20;
// Radiance of a lamp's disc averaged over its area, as lamp_light in kernels/shade.cuh shapes it.
const LAMP_RADIANCE: f64 = 2.4;

impl Layout {
    /// Flattens a scene and what it names.
    pub fn new(scene: &Scene, assets: &Assets) -> Layout {
        let texture = assets.texture.as_ref();
        let mut slabs = Vec::new();
        let bodies: Vec<BodyData> =
            (0..scene.bodies.len()).map(|k| flatten_body(scene, assets, k, &mut slabs)).collect();
        let world = World::new(scene, assets, &bodies);
        let lights = scene.lights.iter().map(|l| LightData {
            position: single(brought_near(l.position, f64::from(world.reach))),
            colour: colour(l.colour),
            ..LightData::default()
        });
        let (mut levels, mut texels) = (Vec::new(), Vec::new());
        for level in texture.iter().flat_map(|t| &t.levels) {
            levels.push(LevelData {
                first: (texels.len() / 2) as i32,
                width: level.width as i32,
                height: level.height as i32,
                pad: 0,
            });
            push_texels(&mut texels, level);
        }
        let curve = (0..=CURVE_LAST).map(|i| {
            let root = i as f64 / CURVE_LAST as f64;
            let value = match scene.tone {
                Tone::Clip { gamma } if gamma > 0.0 => libm::pow(root, 2.0 / gamma),
                _ => srgb(root * root),
            };
            (value * 255.0).round() as i32
        });
        let floor = scene.floor.as_ref();
        // Path tracing has as much of a grid as its samples fill.
        let grid = scene.samples_a_pixel().isqrt();
        let rest = Constants {
            floor_tint: floor.map_or([0.0; 3], |f| colour(f.tint)),
            floor_reflect: floor.map_or(0.0, |f| f.reflection as f32),
            ambient: colour(scene.ambient),
            cutoff: scene.cutoff as f32,
            zenith: colour(scene.zenith),
            highlight: scene.highlight as f32,
            horizon: colour(scene.horizon),
            glow_scale: 0.0,
            glow_size: 0,
            depth: scene.depth as i32,
            width: scene.width as i32,
            height: scene.height as i32,
            samples: grid as i32,
            sample_step: (1.0 / f64::from(grid)) as f32,
            knee: if scene.tone == Tone::Soft { 0.7 } else { 1.0 },
            sky_slope: if scene.sky_from_below { 0.5 } else { 1.0 },
            sky_base: if scene.sky_from_below { 0.5 } else { 0.0 },
            each: scene.samples_a_pixel() as i32,
            path: i32::from(scene.integrator != Integrator::Whitted),
            root: world.root,
            shadows: i32::from(scene.shadows),
            first_sample: 0,
            pad: [0; 2],
        };
        Layout {
            slabs,
            bodies,
            lights: lights.collect(),
            patches: floor.map(flatten_floor).unwrap_or_default(),
            levels,
            texels,
            glow: Vec::new(),
            curve: curve.collect(),
            world,
            rest,
        }
    }

    /// The struct that the kernels get, with addresses in host memory; it lives no longer than `self`.
    pub fn host(&self) -> SceneData {
        struct Host;
        impl Place for Host {
            type Error = std::convert::Infallible;
            fn put<T>(&mut self, values: &[T]) -> Result<Array<T>, Self::Error> {
                Ok(Array::new(values.as_ptr(), values.len()))
            }
        }
        match self.place(&mut Host) {
            Ok(data) => data,
            Err(never) => match never {},
        }
    }

    /// The same with arrays where `to` puts them.
    pub fn place<P: Place>(&self, to: &mut P) -> Result<SceneData, P::Error> {
        Ok(SceneData {
            slabs: to.put(&self.slabs)?,
            bodies: to.put(&self.bodies)?,
            lights: to.put(&self.lights)?,
            patches: to.put(&self.patches)?,
            levels: to.put(&self.levels)?,
            texels: to.put(&self.texels)?,
            glow: to.put(&self.glow)?,
            curve: to.put(&self.curve)?,
            nodes: to.put(&self.world.nodes)?,
            balls: to.put(&self.world.balls)?,
            paints: to.put(&self.world.paints)?,
            triangles: to.put(&self.world.triangles)?,
            materials: to.put(&self.world.materials)?,
            emitters: to.put(&self.world.emitters)?,
            sums: Array::new(std::ptr::null(), 0),
            rest: self.rest,
        })
    }

    /// The same scene with other particles, for [`Layout::set_world`].
    pub fn new_world(&self, scene: &Scene, assets: &Assets) -> World {
        World::new(scene, assets, &self.bodies)
    }
    /// Puts other particles in place of those that are there.
    pub fn set_world(&mut self, world: World) {
        self.rest.root = world.root;
        self.world = world;
    }

    /// What to compute for the lamp light on the floor, if there are lamps and a floor.
    pub fn glow_plan(&self, scene: &Scene) -> Option<GlowPlan> {
        let floor = scene.floor.as_ref()?;
        let all = lamps_of(scene, |_| false);
        let (lamps, colours): (Vec<_>, Vec<_>) = all.iter().copied().unzip();
        let (lamps, colours) = (lamps.concat(), colours.concat());
        let count = all.len();
        // Path tracing asks the lamps themselves.
        if count == 0 || scene.integrator != Integrator::Whitted {
            return None;
        }
        let size = [128, 64, 32, 16].into_iter().find(|s| s * s * count <= GLOW_RAYS).unwrap_or(8);
        let texel = |i: usize| (i as f64 + 0.5) / size as f64;
        let points = (0..size * size).map(|i| {
            let (u, v) = (texel(i % size), texel(i / size));
            let (p, patch) = floor_point(floor, u, v);
            (single(p), patch.min(self.patches.len() - 1))
        });
        let extent = floor.corners.iter().map(|&c| length(sub(c, floor.corners[0]))).fold(0.0, f64::max);
        Some(GlowPlan {
            size,
            points: points.collect(),
            normals: self.patches.iter().map(|p| p.n).collect(),
            lamps,
            colours,
            softening: ((extent / size as f64) * (extent / size as f64) * 0.25) as f32,
        })
    }

    /// Takes the lamp light in: linear r, g, b for each texel.
    pub fn set_glow(&mut self, size: usize, light: &[f32]) {
        let most = light.iter().fold(0.0f32, |a, &b| a.max(b));
        if most <= 0.0 {
            return;
        }
        self.glow.clear();
        for p in light.chunks_exact(3) {
            push_texel(&mut self.glow, [p[0], p[1], p[2]].map(|c| (c / most * 65535.0).round() as u16));
        }
        self.rest.glow_scale = most;
        self.rest.glow_size = size as i32;
    }
}

/// Puts arrays where a device finds them.
pub trait Place {
    /// Why it cannot.
    type Error;
    /// Puts one array.
    fn put<T>(&mut self, values: &[T]) -> Result<Array<T>, Self::Error>;
}

// Where the lamps are, and how strong they are: linear, by colour. A lamp shines to both sides of its bar, which lets
// nothing through: of a body that is lit inside too, each has a place outside and one inside.
fn lamps_of(scene: &Scene, inside: impl Fn(usize) -> bool) -> Vec<([f32; 3], [f32; 3])> {
    let mut lamps = Vec::new();
    for (k, body) in scene.bodies.iter().enumerate().filter(|(_, b)| b.lamps > 0 && b.bar > 0.0) {
        let sides: &[f64] = if inside(k) { &[1.01, 0.99] } else { &[1.01] };
        // Rows of very many lamps are taken as fewer, brighter ones.
        let taken = body.lamps.min(16);
        let lamp = lamp_radius(body);
        let strength = LAMP_RADIANCE * lamp * lamp * f64::from(body.lamps) / f64::from(taken);
        let vertices = body.solid.vertices();
        for [a, b] in body.solid.edges() {
            for i in 0..taken {
                let t = (f64::from(i) + 0.5) / f64::from(taken);
                let on_edge = add(scale(vertices[a], 1.0 - t), scale(vertices[b], t));
                // Just off the edge, so that its own bar does not stand in the way.
                for side in sides {
                    let p = add(body.centre, scale(on_edge, body.radius * side));
                    lamps.push((single(p), body.lamp_colour.map(|c| (linear(c) * strength) as f32)));
                }
            }
        }
    }
    lamps
}

// A light beyond ten million times the scene's reach stands in the same direction at that distance: single precision
// tells no other, and shadow rays stay exact.
fn brought_near(position: Vec3, reach: f64) -> Vec3 {
    let (limit, far) = (1.0e7 * reach, length(position));
    if reach > 0.0 && far > limit { scale(position, limit / far) } else { position }
}

/// The camera of frame n.
pub fn frame(scene: &Scene, n: u32) -> FrameData {
    let view = scene.camera.view(n, scene.frames);
    let focal = scene.camera.focal(scene.width);
    FrameData {
        eye: single(view.eye),
        spread: (1.0 / (focal * f64::from(scene.samples))) as f32,
        forward: single(scale(view.forward, focal)),
        right: single(view.right),
        down: single(scale(view.up, -1.0)),
        number: n as i32,
        lens: scene.camera.lens as f32,
        focus: (focal / scene.camera.focus) as f32,
    }
}

fn colour(srgb: Vec3) -> [f32; 3] {
    srgb.map(|c| linear(c) as f32)
}

fn push_texel(words: &mut Vec<i32>, [r, g, b]: [u16; 3]) {
    words.push((u32::from(r) | u32::from(g) << 16) as i32);
    words.push(i32::from(b));
}
fn push_texels(words: &mut Vec<i32>, level: &Picture) {
    words.reserve(level.texels.len() * 2);
    for &texel in &level.texels {
        push_texel(words, texel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_beyond_the_codes_are_refused() {
        assert_eq!(check_counts(MOST_BODIES, MOST_PRIMITIVES, MOST_PRIMITIVES), Ok(()));
        for (bodies, balls, triangles, what) in
            [(MOST_BODIES + 1, 0, 0, "bodies"), (0, 1 << 26, 0, "balls"), (0, 0, 1 << 26, "triangles")]
        {
            assert_eq!(check_counts(bodies, balls, triangles).map_err(|e| e.what), Err(what));
        }
        // The largest numbers still fit the codes of leaves, of rays and of surfaces (kernels/bvh.cuh, types.cuh).
        let last = MOST_PRIMITIVES as i64 - 1;
        let numbers = [last << 5 | 31, (1 << 26) + 4 * (2 * last) + 1, (1 << 26) + 2 * last, 12 * (last + 1)];
        assert!(numbers.iter().all(|&n| n <= i64::from(i32::MAX)), "{numbers:?}");
    }
}
