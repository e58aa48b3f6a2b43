//! Tests of rays against triangles and convex bodies, with each instruction set of this machine.

type TestTriangles = unsafe extern "C" fn(i32, *const f32, i32, *const f32, i32, *mut f32);
type TestSlabs = unsafe extern "C" fn(*const f32, i32, *const f32, i32, *const Slab, i32, *mut f32);

/// The largest number of lanes.
pub const LANES: usize = 16;

/// An instruction set.
#[derive(Clone, Copy)]
pub struct Set {
    /// Its name, as the program's.
    pub name: &'static str,
    triangles: TestTriangles,
    slabs: TestSlabs,
}

macro_rules! set {
    ($name:literal) => {{
        unsafe extern "C" {
            #[link_name = concat!("polyfly_triangles_", $name)]
            fn triangles(test: i32, rays: *const f32, n: i32, figures: *const f32, count: i32, distances: *mut f32);
            #[link_name = concat!("polyfly_slabs_", $name)]
            fn slabs(
                rays: *const f32,
                n: i32,
                bodies: *const f32,
                count: i32,
                slabs: *const Slab,
                all: i32,
                distances: *mut f32,
            );
        }
        Set { name: $name, triangles, slabs }
    }};
}

/// Three tests of a triangle, as triangles.cuh has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    /// Cramer's rule; a triangle is its three vertices.
    Naive,
    /// Moeller and Trumbore; the same.
    Optimized,
    /// A map to the unit triangle; a triangle is the twelve numbers of the map.
    Unit,
}

impl Test {
    /// All, with their names.
    pub const ALL: [(Test, &str); 3] = [(Test::Naive, "naive"), (Test::Optimized, "optimized"), (Test::Unit, "unit")];

    /// The numbers of a triangle.
    pub fn numbers(self) -> usize {
        if self == Test::Unit { 12 } else { 9 }
    }
}

/// Two parallel planes, as in kernels/types.def.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(16))]
pub struct Slab {
    /// The unit normal.
    pub normal: [f32; 3],
    /// The lower plane's distance from the body's center, and the upper one's.
    pub planes: [f32; 2],
    /// Their middle, and half of what is between them.
    pub middle_and_half: [f32; 2],
}

impl Slab {
    /// All words, for another device.
    pub fn words(&self) -> [f32; 8] {
        let ([x, y, z], [low, high], [middle, half]) = (self.normal, self.planes, self.middle_and_half);
        [x, y, z, low, high, middle, half, 0.0]
    }
}

/// Rays in columns: the coordinates x, y, z of origins, then those of directions, as many of each.
#[derive(Clone, Debug, Default)]
pub struct Rays(Vec<f32>);

impl Rays {
    /// These rays, the last one repeated up to a multiple of [`LANES`].
    pub fn new(rays: &[[f32; 6]]) -> Rays {
        let n = rays.len().next_multiple_of(LANES);
        let column = |k: usize| (0..n).map(move |i| rays[i.min(rays.len() - 1)][k]);
        Rays((0..6).flat_map(column).collect())
    }
    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len() / 6
    }
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    /// The columns.
    pub fn columns(&self) -> &[f32] {
        &self.0
    }
}

impl Set {
    /// The sets that this machine supports, the widest first.
    pub fn available() -> Vec<Set> {
        let mut sets = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            let has_all = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vl");
            if has_all {
                sets.push(set!("avx512"));
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                sets.push(set!("avx2"));
            }
        }
        #[cfg(target_arch = "aarch64")]
        sets.push(set!("neon"));
        #[cfg(not(target_arch = "aarch64"))]
        sets.push(set!("baseline"));
        sets.push(set!("scalar"));
        sets
    }

    /// One lane that counts its operations.
    pub fn counting() -> Set {
        set!("counting")
    }

    /// The distance along each ray to the nearest of the triangles.
    pub fn triangles(&self, test: Test, rays: &Rays, figures: &[f32], distances: &mut Vec<f32>) {
        assert!(figures.len().is_multiple_of(test.numbers()));
        distances.resize(rays.len(), 0.0);
        let (n, count) = (rays.len() as i32, (figures.len() / test.numbers()) as i32);
        // SAFETY: six columns of n numbers, which all lanes divide, so many triangles, and a distance for each ray.
        unsafe {
            (self.triangles)(test as i32, rays.0.as_ptr(), n, figures.as_ptr(), count, distances.as_mut_ptr());
        }
    }

    /// The same for bodies: a center and a number of slabs each, and the slabs of one after the other.
    pub fn slabs(&self, rays: &Rays, bodies: &[[f32; 4]], slabs: &[Slab], distances: &mut Vec<f32>) {
        assert_eq!(bodies.iter().map(|body| body[3] as usize).sum::<usize>(), slabs.len());
        distances.resize(rays.len(), 0.0);
        let (n, count, all) = (rays.len() as i32, bodies.len() as i32, slabs.len() as i32);
        let (figures, to) = (bodies.as_ptr().cast(), distances.as_mut_ptr());
        // SAFETY: as above; the bodies have as many slabs as there are.
        unsafe { (self.slabs)(rays.0.as_ptr(), n, figures, count, slabs.as_ptr(), all, to) };
    }
}
