//! Entry points of the kernels that only tests call.
#![expect(unsafe_code, reason = "calls the kernels through their C entries")]

use crate::device_scene::HostScene;
use crate::gpu_types::{CellPlan, CellTotals, FrameParams, LAYOUT, Sphere, TreeWork};
use crate::kernels::{Isa, entries};

/// How [`Isa::closest_hits`] finds a ray's closest hit. Sets of several lanes have no grid, and take the tree for it.
#[derive(Clone, Copy, Debug)]
pub enum Way {
    Tree,
    InTurn,
    Grid,
}

impl Isa {
    /// Pairs of random numbers of a pixel's first samples, u and v each.
    pub fn get_2d(
        &self,
        scene: &HostScene,
        frame: &FrameParams,
        (x, y): (i32, i32),
        pair: i32,
        n: usize,
    ) -> Vec<[f32; 2]> {
        let mut out = vec![[0.0; 2]; n];
        // SAFETY: two numbers for each of n samples.
        unsafe {
            (self.entries.get_2d)(&scene.arrays, frame, x, y, pair, n as i32, out.as_flattened_mut().as_mut_ptr())
        };
        out
    }

    /// The closest hit of each ray: its distance and its surface's number, found in one of three ways.
    /// Origins and directions are x, y, z each.
    pub fn closest_hits(
        &self,
        scene: &HostScene,
        origins: &[f32],
        directions: &[f32],
        way: Way,
    ) -> (Vec<f32>, Vec<i32>) {
        assert_eq!(origins.len(), directions.len());
        let n = origins.len() / 3;
        let (mut t, mut surfaces) = (vec![0.0; n], vec![0; n]);
        // SAFETY: three numbers for each ray, one distance and one surface.
        unsafe {
            (self.entries.closest_hits)(
                &scene.arrays,
                origins.as_ptr(),
                directions.as_ptr(),
                n as i32,
                way as i32,
                t.as_mut_ptr(),
                surfaces.as_mut_ptr(),
            );
        }
        (t, surfaces)
    }

    /// The cells of a grid, their totals and the balls of all cells, as a GPU's kernels make them.
    pub fn cells(&self, plan: &CellPlan, spheres: &[Sphere]) -> (Vec<u32>, CellTotals, Vec<i32>) {
        assert!(plan.first >= 0 && plan.balls >= 0 && spheres.len() >= (plan.first + plan.balls) as usize);
        let mut cells = vec![0; plan.cells.iter().product::<i32>() as usize];
        let (mut totals, mut list) = (CellTotals::default(), Vec::new());
        for step in 1..=3 {
            if step == 3 {
                list.resize(totals.listed as usize, -1);
            }
            // SAFETY: a number for each cell, and one for each ball of all cells, which step 3 alone writes.
            unsafe {
                let (spheres, cells) = (spheres.as_ptr(), cells.as_mut_ptr());
                (self.entries.cells)(plan, spheres, step, cells, &raw mut totals, list.as_mut_ptr());
            }
        }
        (cells, totals, list)
    }

    /// A step of making a tree.
    ///
    /// # Safety
    /// The arrays are as long as the step needs.
    pub unsafe fn tree_step(&self, work: *const TreeWork, step: usize, threads: i32) {
        // SAFETY: as the caller promises.
        unsafe { (self.entries.tree_step)(work, step as i32, threads) }
    }

    /// Fused multiply-add of each triple: the length must be a multiple of the lanes.
    pub fn fused(&self, a: &[f32], b: &[f32], c: &[f32]) -> Vec<f32> {
        let n = a.len();
        assert!(b.len() == n && c.len() == n && n.is_multiple_of(self.lanes));
        let mut r = vec![0.0; n];
        // SAFETY: all four arrays hold n floats, and the kernel touches only whole groups of lanes below n.
        unsafe { (self.entries.fused)(a.as_ptr(), b.as_ptr(), c.as_ptr(), r.as_mut_ptr(), n as i32) };
        r
    }

    /// The first size or offset of a struct that differs between this object and Rust.
    pub fn layout_difference(&self) -> Option<String> {
        let mut theirs = [0i32; 512];
        assert!(LAYOUT.len() <= theirs.len());
        // SAFETY: the entry writes a number for each struct and field of types.def, which are those of LAYOUT.
        let n = unsafe { (self.entries.layout)(theirs.as_mut_ptr()) } as usize;
        if n != LAYOUT.len() {
            return Some(format!("{n} sizes and places, {} expected", LAYOUT.len()));
        }
        let differs = LAYOUT.iter().zip(&theirs).find(|((_, ours), theirs)| *ours != **theirs as usize);
        differs.map(|((name, ours), theirs)| format!("{name}: {theirs}, {ours} expected"))
    }
}

/// Calls of a reciprocal or square root outside its domain, over all threads, in the kernels of the set `domain`.
pub struct Stray {
    /// The caller's position in the source.
    pub place: String,
    /// The argument of the first call.
    pub argument: f32,
    /// The number of calls.
    pub calls: u64,
}

/// All calls since the program began.
pub fn strays() -> Vec<Stray> {
    let stray = |k| {
        let (mut file, mut line, mut argument) = (std::ptr::null(), 0, 0.0);
        // SAFETY: writes through three addresses of this call's own; a name that is not null is a constant of the object.
        let calls = unsafe { entries::polyfly_stray_domain(k, &raw mut file, &raw mut line, &raw mut argument) };
        // SAFETY: as above.
        let name = (!file.is_null()).then(|| unsafe { std::ffi::CStr::from_ptr(file) }.to_string_lossy())?;
        let name = name.rsplit("/../").next().unwrap_or_default();
        Some(Stray { place: format!("{name}:{line}"), argument, calls })
    };
    let mut all: Vec<Stray> = (0..512).filter_map(stray).collect();
    all.sort_by(|a, b| a.place.cmp(&b.place));
    all
}

/// An operation of the set `domain`: reciprocal, square root, minimum, maximum, and the bits of a conversion to an integer.
pub fn domain_operation(which: i32, a: f32, b: f32) -> f32 {
    // SAFETY: numbers in, a number out.
    unsafe { entries::polyfly_operation_domain(which, a, b) }
}

#[test]
fn both_sides_lay_the_structs_out_alike() {
    for isa in Isa::available() {
        assert_eq!(isa.layout_difference(), None, "{isa:?}");
    }
}
