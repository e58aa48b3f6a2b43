//! The tree over many shapes, which the GPU makes itself (kernels/shapes/tree.cuh) and the host improves near its root.
#![expect(unsafe_code, reason = "launches kernels, whose arguments the compiler cannot check")]

use super::api::{Api, Context, DeviceMemory, Module, Stream, arguments};
use super::functions::{BuildStream, kernels};
use super::modules::{THREADS, TREE};
use crate::device::DeviceError;
use crate::device_scene::lazy::Span;
use crate::gpu_types::{
    AREAS, Array, KEYS_A_RUN, Node, PAIRS_A_RUN, SHAPE_SPHERE, Scene as GpuScene, TreeSize, TreeTotals, TreeWork,
    Triangle,
};
use crate::math::bvh::{Bounds, MAX_DEPTH, ROOM_ABOVE, Subtree, TRAVERSAL_COST};
use crate::math::ploc::{self, Cluster};
use crate::math::reinsertion::{self, MOVED};
use std::collections::HashMap;

kernels! {
    /// The rows of kernels/shapes/tree_steps.def.
    struct Steps of TREE, THREADS;
    begin_runs = c"polyfly_begin_runs",
    merge_runs = c"polyfly_merge_runs",
    begin_clusters = c"polyfly_begin_clusters",
    join_clusters = c"polyfly_join_clusters",
    count_areas = c"polyfly_count_areas",
    list_top = c"polyfly_list_top",
    replace_top = c"polyfly_replace_top",
    link_pairs = c"polyfly_link_pairs",
    measure_pairs = c"polyfly_measure_pairs",
    place_nodes = c"polyfly_place_nodes",
    save_elements = c"polyfly_save_elements",
    place_elements = c"polyfly_place_elements",
}

/// Makes trees, with memory for each tree of a scene, which is kept for the next time step.
pub struct TreeKernels<A: Api> {
    steps: Steps<A>,
    pub on: BuildStream<A>,
    scratch: Vec<Scratch<A>>,
}

struct Scratch<A: Api> {
    memory: A::Memory,
    len: usize,
}

/// A tree before its nodes have a place.
pub struct Measured {
    work: TreeWork,
    root: Cluster,
    /// The number of its nodes.
    pub nodes: usize,
}

impl Measured {
    /// The root, if the first node has this number.
    pub fn root(&self, first_node: usize) -> Subtree {
        Subtree { child: first_node as i32, bounds: self.root.bounds() }
    }
}

/// Shapes of which the first `large` are not in the tree; and the bounds of the others.
pub struct Grove<'a> {
    pub span: Span,
    pub large: u32,
    pub bounds: Bounds,
    /// What boxes are larger by.
    pub margin: f32,
    /// The host's threads.
    pub pool: &'a rayon::ThreadPool,
}

// Arrays one after the other in scratch memory.
struct Arrays {
    base: u64,
    len: usize,
}

impl Arrays {
    fn take<T>(&mut self, count: usize) -> *mut T {
        let at = self.base + self.len as u64;
        self.len += (count * size_of::<T>()).next_multiple_of(256);
        at as *mut T
    }
}

impl<A: Api> TreeKernels<A> {
    pub fn load(context: &A::Context) -> Result<TreeKernels<A>, DeviceError> {
        Ok(TreeKernels { steps: Steps::load(context)?, on: BuildStream::new(context)?, scratch: Vec::new() })
    }

    /// Makes the tree number `at` of a scene, over shapes of its arrays. None if it is too deep.
    pub fn measure(
        &mut self,
        context: &A::Context,
        at: usize,
        grove: &Grove,
        arrays: &GpuScene,
    ) -> Result<Option<Measured>, DeviceError> {
        let (_, len) = plan(grove, arrays, 0);
        if self.scratch.get(at).is_none_or(|scratch| scratch.len < len) {
            self.scratch.truncate(at);
            self.scratch.push(Scratch { memory: context.memory(len)?, len });
        }
        let scratch = &self.scratch[at];
        let (mut work, _) = plan(grove, arrays, scratch.memory.address(0));
        let measured = self.make(&mut work, scratch, grove.pool);
        if measured.is_err() {
            // The GPU may still write to the host's memory, so wait before it is freed.
            let _ = context.synchronize();
        }
        let totals = measured?;
        let size = totals.size;
        let fits = size.elements == work.count.cast_unsigned() && size.depth as usize + ROOM_ABOVE <= MAX_DEPTH;
        let root = bytemuck::cast(totals.root);
        Ok(fits.then_some(Measured { work, root, nodes: size.nodes as usize }))
    }

    fn make(
        &self,
        work: &mut TreeWork,
        scratch: &Scratch<A>,
        pool: &rayon::ThreadPool,
    ) -> Result<TreeTotals, DeviceError> {
        let offset = |address: u64| (address - scratch.memory.address(0)) as usize;
        let count = work.count.cast_unsigned();
        let (pairs, runs) = (count - 1, count.div_ceil(KEYS_A_RUN as u32));
        let arrived = || self.on.stream.fill(&scratch.memory, offset(work.arrived as u64), 4 * count as usize, 0xff);
        arrived()?;
        self.on.stream.fill(&scratch.memory, offset(work.areas as u64), 4 * AREAS as usize, 0)?;
        self.on.stream.fill(&scratch.memory, offset(work.totals as u64), size_of::<TreeTotals>(), 0)?;
        self.step(self.steps.begin_runs, work, runs)?;
        let mut sorted = *work;
        while sorted.run < sorted.count {
            self.step(self.steps.merge_runs, &sorted, runs)?;
            std::mem::swap(&mut sorted.keys, &mut sorted.other_keys);
            std::mem::swap(&mut sorted.numbers, &mut sorted.other_numbers);
            sorted.run *= 2;
        }
        (work.keys, work.numbers) = (sorted.keys, sorted.numbers);
        self.step(self.steps.begin_clusters, work, count)?;
        self.step(self.steps.join_clusters, work, count)?;
        self.step(self.steps.count_areas, work, pairs.div_ceil(PAIRS_A_RUN as u32))?;
        let areas: Vec<u32> = self.read(scratch, offset(work.areas as u64), AREAS as usize)?;
        // As many as the host asks for, or all.
        let mut listed = 0;
        let enough = areas.iter().enumerate().rev().find(|&(_, &clusters)| {
            listed += clusters as usize;
            listed >= MOVED
        });
        work.least_area = enough.map_or(0, |(area, _)| area as i32);
        self.step(self.steps.list_top, work, pairs)?;
        self.improve(work, scratch, listed + 1, pool)?;
        arrived()?;
        self.step(self.steps.link_pairs, work, pairs)?;
        self.step(self.steps.measure_pairs, work, count)?;
        let totals = self.read(scratch, offset(work.totals as u64), 1)?;
        totals.into_iter().next().ok_or_else(|| DeviceError::Failed("a tree has no size".into()))
    }

    // Improves a tree near its root; so many pairs are listed.
    fn improve(
        &self,
        work: &TreeWork,
        scratch: &Scratch<A>,
        listed: usize,
        pool: &rayon::ThreadPool,
    ) -> Result<(), DeviceError> {
        let offset = |address: u64| (address - scratch.memory.address(0)) as usize;
        let [numbers, pairs, totals] = [work.top_numbers as u64, work.top_pairs as u64, work.totals as u64].map(offset);
        let of_numbers: Vec<u32> = self.read(scratch, numbers, listed)?;
        let of_pairs: Vec<[Cluster; 2]> = self.read(scratch, pairs, listed)?;
        let root: Vec<Cluster> = self.read(scratch, totals, 1)?;
        let known: HashMap<u32, [Cluster; 2]> = of_numbers.into_iter().zip(of_pairs).collect();
        let pair = |number| known.get(&number).copied().unwrap_or_default();
        let top = root.first().and_then(|root| pool.install(|| reinsertion::improved_top(root, &pair)));
        let Some(top) = top else { return Ok(()) };
        // SAFETY: the arrays are not page-locked.
        unsafe {
            self.on.stream.write(&scratch.memory, numbers, bytemuck::cast_slice(&top.numbers))?;
            self.on.stream.write(&scratch.memory, pairs, bytemuck::cast_slice(&top.pairs))?;
            self.on.stream.write(&scratch.memory, totals, bytemuck::bytes_of(&top.root))?;
        }
        self.step(self.steps.replace_top, work, top.numbers.len() as u32)
    }

    /// Puts a tree's nodes into an array from number `first` on, and sorts its shapes.
    pub fn place(&self, tree: &mut Measured, nodes: u64, first: usize) -> Result<(), DeviceError> {
        let work = &mut tree.work;
        (work.nodes, work.first_node) = (nodes as *mut Node, first as i32);
        let count = work.count.cast_unsigned();
        self.step(self.steps.place_nodes, work, count - 1)?;
        self.step(self.steps.save_elements, work, count)?;
        self.step(self.steps.place_elements, work, count)
    }

    // Reads an array, when the stream's work so far is done.
    fn read<T: bytemuck::Pod>(&self, scratch: &Scratch<A>, offset: usize, len: usize) -> Result<Vec<T>, DeviceError> {
        let mut values = vec![T::zeroed(); len];
        // SAFETY: it is waited for here, or by `measure` if that fails.
        unsafe { self.on.stream.copy(bytemuck::cast_slice_mut(&mut values), &scratch.memory, offset)? };
        self.on.wait()?;
        Ok(values)
    }

    fn step(&self, step: A::Function, work: &TreeWork, threads: u32) -> Result<(), DeviceError> {
        self.on.launch(step, threads, arguments![*work, threads.cast_signed()])
    }
}

// What the kernels work on, in scratch memory from an address on; and the length of that.
fn plan(grove: &Grove, scene: &GpuScene, scratch: u64) -> (TreeWork, usize) {
    fn after<T>(array: &Array<T>, first: usize) -> *mut T {
        array.data.wrapping_add(first).cast_mut()
    }
    let Grove { span, large, bounds, margin, .. } = grove;
    let tree = span.after(*large);
    let count = tree.count;
    let mut at = Arrays { base: scratch, len: 0 };
    let (lower, size) = ploc::cube(bounds);
    let is_spheres = tree.kind == SHAPE_SPHERE;
    // Pairs near the root are listed before these two are needed, which are larger.
    let (sizes, saved) = (at.take::<TreeSize>(2 * count), at.take::<Triangle>(count));
    let work = TreeWork {
        lower,
        size,
        shapes: if is_spheres {
            after(&scene.spheres, tree.first).cast()
        } else {
            after(&scene.triangles, tree.first).cast()
        },
        materials: if is_spheres { after(&scene.sphere_materials, tree.first) } else { std::ptr::null_mut() },
        sizes,
        saved: saved.cast(),
        top_pairs: sizes.cast(),
        saved_materials: at.take(count),
        keys: at.take(count),
        numbers: at.take(count),
        other_keys: at.take(count),
        other_numbers: at.take(count),
        clusters: at.take(count),
        unused: at.take(count),
        kept: at.take(count),
        arrived: at.take(count),
        pairs: at.take(2 * count),
        pair_places: at.take(count),
        element_places: at.take(count),
        areas: at.take(AREAS as usize),
        top_numbers: at.take(count),
        totals: at.take(1),
        nodes: std::ptr::null_mut(),
        kind: tree.kind,
        count: count as i32,
        first: tree.first as i32,
        first_node: 0,
        leaf_size: tree.leaf_size().cast_signed(),
        run: KEYS_A_RUN,
        least_area: 0,
        step: TRAVERSAL_COST,
        margin: *margin,
    };
    (work, at.len)
}
