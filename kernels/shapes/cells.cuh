// Makes the cells of a grid over balls (grid.cuh): counts the balls of each, gives each cell its part of a list, and fills
// the list. A thread has a ball, or a run of cells. The cells of a ball are those of src/math/grid.rs, by the same
// operations in double precision. Threads are not in order, and so are neither the parts of the list nor the balls of a
// cell: what a ray hits does not depend on it.
#pragma once
#include "../types.cuh"
#include "shared.cuh"

// The cell of a coordinate along an axis, within the grid.
POLYFLY_FN int cell_at(const CellPlan& plan, int axis, double x) {
  const double at = (x - (double)plan.lower[axis]) / (double)plan.side[axis], last = (double)(plan.cells[axis] - 1);
  return (int)(at < 0.0 ? 0.0 : at > last ? last : at);
}
// The distance from a ball's center to a cell along an axis, squared.
POLYFLY_FN double squared_gap(const CellPlan& plan, int axis, int cell, double centre) {
  const double side = (double)plan.side[axis];
  const double from = (double)plan.lower[axis] + (double)cell * side - centre, past = -(from + side);
  const double gap = from > past ? from : past;
  return gap > 0.0 ? gap * gap : 0.0;
}

// Calls f with each cell that is nearer to the ball than its radius and the margin.
template <class F>
POLYFLY_FN void each_cell(const CellPlan& plan, const Sphere& ball, F f) {
  const double far = (double)ball.radius + plan.margin;
  int first[3], last[3];
  for (int i = 0; i < 3; ++i) {
    first[i] = cell_at(plan, i, (double)ball.centre[i] - far);
    last[i] = cell_at(plan, i, (double)ball.centre[i] + far);
  }
  POLYFLY_NO_UNROLL
  for (int z = first[2]; z <= last[2]; ++z) {
    const double above = squared_gap(plan, 2, z, (double)ball.centre[2]);
    POLYFLY_NO_UNROLL
    for (int y = first[1]; y <= last[1]; ++y) {
      const double beside = above + squared_gap(plan, 1, y, (double)ball.centre[1]);
      POLYFLY_NO_UNROLL
      for (int x = first[0]; x <= last[0]; ++x)
        if (beside + squared_gap(plan, 0, x, (double)ball.centre[0]) <= far * far)
          f(x + plan.cells[0] * (y + plan.cells[1] * z));
    }
  }
}

// Step 1, for ball i of the grid: counts it in its cells, which begin as zeros.
POLYFLY_FN void count_ball(const CellPlan& plan, const Sphere* spheres, u32* cells, int i) {
  each_cell(plan, spheres[plan.first + i], [&](int at) POLYFLY_LAMBDA { fetch_add(cells + at, 1u); });
}

// Step 2, for a run of cells: their numbers of balls become the codes of empty cells, which begin where their parts of the
// list do. The totals tell whether a grid suits the balls; they begin as zeros.
POLYFLY_FN void place_cells(const CellPlan& plan, u32* cells, CellTotals* totals, int run) {
  const int all = plan.cells[0] * plan.cells[1] * plan.cells[2], first = run * CELLS_A_RUN;
  const int end = first + CELLS_A_RUN < all ? first + CELLS_A_RUN : all;
  u32 listed = 0, full = 0, most = 0;
  for (int at = first; at < end; ++at) {
    const u32 balls = cells[at];
    listed += balls;
    full += balls > 0 ? 1u : 0u;
    most = most > balls ? most : balls;
  }
  if (listed == 0) return;
  u32 start = (u32)fetch_add(&totals->listed, (u64)listed);
  fetch_add(&totals->full, full);
  raise_to(&totals->most, most);
  for (int at = first; at < end; ++at) {
    const u32 balls = cells[at];
    cells[at] = start << CELL_SHIFT;
    start += balls;
  }
}

// Step 3, for ball i of the grid: lists it in its cells.
POLYFLY_FN void list_ball(const CellPlan& plan, const Sphere* spheres, u32* cells, int* list, int i) {
  each_cell(plan, spheres[plan.first + i], [&](int at) POLYFLY_LAMBDA {
    const u32 code = fetch_add(cells + at, 1u);
    list[(code >> CELL_SHIFT) + (code & CELL_BALLS)] = plan.first + i;
  });
}
