//! The cells of a grid over balls, which the GPU fills itself: it counts, and the host decides by the totals whether a grid suits the balls.
#![expect(unsafe_code, reason = "launches kernels, whose arguments the compiler cannot check")]

use super::api::{Api, Context, DeviceMemory, Module, Stream, arguments};
use super::functions::{BuildStream, kernels};
use super::modules::{CELLS, THREADS};
use crate::device::DeviceError;
use crate::device::memory::PinnedMemory;
use crate::gpu_types::{Array, CELLS_A_RUN, CellPlan, CellTotals, Sphere};
use crate::math::grid::Lattice;

kernels! {
    /// The kernels of kernels/entry/cells.cuh.
    struct Steps of CELLS, THREADS;
    count = c"polyfly_count_balls",
    place = c"polyfly_place_cells",
    list = c"polyfly_list_balls",
}

/// Fills cells, for all scenes.
pub struct CellKernels<A: Api> {
    kernels: Steps<A>,
    pub on: BuildStream<A>,
    totals: A::Memory,
}

/// Cells, and the numbers of their balls.
pub struct Cells<A: Api> {
    pub cells: Array<i32>,
    pub balls: Array<i32>,
    pub memory: Vec<A::Memory>,
}

impl<A: Api> CellKernels<A> {
    pub fn load(context: &A::Context) -> Result<CellKernels<A>, DeviceError> {
        let totals = context.memory(size_of::<CellTotals>())?;
        Ok(CellKernels { kernels: Steps::load(context)?, on: BuildStream::new(context)?, totals })
    }

    /// Fills cells with the balls from number `first` on. None if a grid does not suit them. The GPU is done when this returns.
    pub fn fill(
        &self,
        context: &A::Context,
        (lattice, first): (&Lattice, u32),
        spheres: &Array<Sphere>,
    ) -> Result<Option<Cells<A>>, DeviceError> {
        let plan = plan(lattice, first, spheres.len.cast_unsigned() - first);
        let (mut memory, mut totals) = (Vec::new(), context.pinned(size_of::<CellTotals>())?);
        let listed = self.fill_into(context, (lattice, &plan), spheres, (&mut memory, &mut totals));
        if listed.is_err() {
            // The GPU may still write to this memory, so wait before it is freed.
            let _ = context.synchronize();
        }
        let Some(listed) = listed? else { return Ok(None) };
        let array =
            |i: usize, len: usize| memory.get(i).map(|m: &A::Memory| Array::new(m.address(0) as *const i32, len));
        let (cells, balls) = (array(0, lattice.cells()), array(1, listed));
        Ok(cells.zip(balls).map(|(cells, balls)| Cells { cells, balls, memory }))
    }

    // Fills the cells, then the list, whose memory it allocates one after the other. Returns the list's length.
    fn fill_into(
        &self,
        context: &A::Context,
        (lattice, plan): (&Lattice, &CellPlan),
        spheres: &Array<Sphere>,
        (memory, read): (&mut Vec<A::Memory>, &mut A::Pinned),
    ) -> Result<Option<usize>, DeviceError> {
        let balls = plan.balls.cast_unsigned();
        let bytes = size_of::<i32>() * lattice.cells();
        let numbers = context.memory(bytes)?;
        let (at, cells, totals) = (spheres.data as u64, numbers.address(0), self.totals.address(0));
        let zeros = self.on.stream.fill(&numbers, 0, bytes, 0);
        memory.push(numbers);
        zeros?;
        self.on.stream.fill(&self.totals, 0, size_of::<CellTotals>(), 0)?;
        self.on.launch(self.kernels.count, balls, arguments![*plan, at, cells])?;
        let runs = plan.runs.cast_unsigned();
        self.on.launch(self.kernels.place, runs, arguments![*plan, cells, totals])?;
        // SAFETY: `fill` keeps `read` until this has been waited for.
        unsafe { self.on.stream.copy(read.bytes_mut(), &self.totals, 0)? };
        self.on.wait()?;
        let found: CellTotals = bytemuck::pod_read_unaligned(read.bytes());
        if !lattice.suits(balls as usize, found.listed, found.full as usize, found.most as usize) {
            return Ok(None);
        }
        let listed = found.listed as usize;
        let list = context.memory(size_of::<i32>() * listed)?;
        let to = list.address(0);
        memory.push(list);
        self.on.launch(self.kernels.list, balls, arguments![*plan, at, cells, to])?;
        self.on.wait()?;
        Ok(Some(listed))
    }
}

/// The cells in the kernels' format, for so many balls from number `first` on.
pub fn plan(lattice: &Lattice, first: u32, balls: u32) -> CellPlan {
    CellPlan {
        margin: lattice.margin,
        lower: lattice.lower,
        side: lattice.side,
        cells: lattice.counts.map(|n| n as i32),
        first: first.cast_signed(),
        balls: balls.cast_signed(),
        runs: lattice.cells().div_ceil(CELLS_A_RUN as usize) as i32,
    }
}
