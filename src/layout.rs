//! The flat arrays that the kernels read: the same structs as kernels/types.cuh, filled from a scene.
#![expect(unsafe_code, reason = "arrays of plain numbers are shared with the kernels by address")]

mod shapes;

use crate::scene::Scene;
use crate::texture::{Picture, Texture, linear, srgb};
use crate::vector::{Vec3, add, length, scale, single, sub};
use shapes::{flatten_body, flatten_floor, floor_point, lamp_radius};

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
    pad: i32,
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
    pad0: f32,
    right: [f32; 3],
    pad1: f32,
    down: [f32; 3],
    pad2: f32,
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
    assert!(
        size_of::<SceneData>() == 224
            && std::mem::offset_of!(SceneData, rest) + std::mem::offset_of!(Constants, glow_size) == 192
    );
    assert!(size_of::<SmallScene>() == 2784);
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
    rest: Constants,
}

const CURVE_LAST: usize = 1023;
// Shadow rays spent on the lamp light before the first frame.
const GLOW_RAYS: usize = 4 << 20;
// Radiance of a lamp's disc averaged over its area, as lamp_light in kernels/shade.cuh shapes it.
const LAMP_RADIANCE: f64 = 2.4;

impl Layout {
    /// Flattens a scene; `texture` is its floor's picture, loaded.
    pub fn new(scene: &Scene, texture: Option<&Texture>) -> Layout {
        let mut slabs = Vec::new();
        let bodies: Vec<BodyData> =
            scene.bodies.iter().enumerate().map(|(k, b)| flatten_body(scene, k, b, &mut slabs)).collect();
        let lights = scene.lights.iter().map(|l| LightData {
            position: single(l.position),
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
            (srgb(root * root) * 255.0).round() as i32
        });
        let floor = scene.floor.as_ref();
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
            samples: scene.samples as i32,
            sample_step: (1.0 / f64::from(scene.samples)) as f32,
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
            rest,
        }
    }

    /// The struct that the kernels get, with addresses in host memory; it lives no longer than `self`.
    pub fn host(&self) -> SceneData {
        fn array<T>(v: &[T]) -> Array<T> {
            Array::new(v.as_ptr(), v.len())
        }
        self.at(
            array(&self.slabs),
            array(&self.bodies),
            array(&self.lights),
            array(&self.patches),
            array(&self.levels),
            [array(&self.texels), array(&self.glow), array(&self.curve)],
        )
    }

    /// The same with arrays elsewhere; `words` are texels, glow and curve.
    pub fn at(
        &self,
        slabs: Array<SlabData>,
        bodies: Array<BodyData>,
        lights: Array<LightData>,
        patches: Array<PatchData>,
        levels: Array<LevelData>,
        words: [Array<i32>; 3],
    ) -> SceneData {
        let [texels, glow, curve] = words;
        SceneData { slabs, bodies, lights, patches, levels, texels, glow, curve, rest: self.rest }
    }

    /// What to compute for the lamp light on the floor, if there are lamps and a floor.
    pub fn glow_plan(&self, scene: &Scene) -> Option<GlowPlan> {
        let floor = scene.floor.as_ref()?;
        let (mut lamps, mut colours) = (Vec::new(), Vec::new());
        for body in scene.bodies.iter().filter(|b| b.lamps > 0 && b.bar > 0.0) {
            // Rows of very many lamps are taken as fewer, brighter ones.
            let taken = body.lamps.min(16);
            let lamp = lamp_radius(body);
            let strength = LAMP_RADIANCE * lamp * lamp * f64::from(body.lamps) / f64::from(taken);
            let vertices = body.solid.vertices();
            for [a, b] in body.solid.edges() {
                for i in 0..taken {
                    let t = (f64::from(i) + 0.5) / f64::from(taken);
                    let on_edge = add(scale(vertices[a], 1.0 - t), scale(vertices[b], t));
                    // Just outside the body, so that its own bar does not stand in the way.
                    let p = add(body.centre, scale(on_edge, body.radius * 1.01));
                    lamps.extend(single(p));
                    colours.extend(body.lamp_colour.map(|c| (linear(c) * strength) as f32));
                }
            }
        }
        let count = lamps.len() / 3;
        if count == 0 {
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
            softening: ((extent / size as f64).powi(2) * 0.25) as f32,
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
        ..FrameData::default()
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
