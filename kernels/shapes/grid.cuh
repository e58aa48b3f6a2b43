// A grid of cells over balls of a similar size, for devices whose lanes walk alone: a ray steps from cell to cell and
// asks the balls of each (Amanatides and Woo, "A fast voxel traversal algorithm for ray tracing", 1987). The builder
// lists a ball in all cells that its enlarged box touches, so a ray meets it in one of them (src/math/grid.rs). Hits do
// not depend on the order of their tests, so they are those of the tree.
#pragma once
#include "bvh.cuh"

#if POLYFLY_LANES == 1

// A ray's way along one axis: its cell, the number of cells that follow within the grid, where it crosses the next plane
// between cells, and the distance between planes.
struct AxisSteps {
  int cell, left;
  Real next, apart;
};
POLYFLY_FN AxisSteps axis_steps(Real place, Real inverse, Real offset, Real lower, Real side, Real per_length,
                                int cells) {
  const bool rises = inverse > Real(0.0f);
  const Real width = side * inverse;
  AxisSteps steps;
  steps.cell = to_index((place - lower) * per_length, to_real(cells - 1));
  steps.left = rises ? cells - 1 - steps.cell : steps.cell;
  steps.next = fma(to_real(rises ? steps.cell + 1 : steps.cell), width, fma(lower, inverse, offset));
  steps.apart = abs(width);
  return steps;
}

// The walk of a ray through the grid, which it enters at p.
struct GridWalk {
  const Grid& grid;
  const Vec inverse;
  Vec next, apart;
  int cell;
  int left;  // cells that follow along each axis, ten bits each; a step out of the grid takes the highest of them
  static constexpr int INSIDE_GRID = 1 << 9 | 1 << 19 | 1 << 29;
  static_assert(GRID_CELLS < 1 << 9);

  POLYFLY_METHOD GridWalk(const Grid& g, const BoxRay& w, Vec p) : grid(g), inverse(w.inverse) {
    const AxisSteps x = axis_steps(p.x, w.inverse.x, w.offset.x, g.lower[0], g.side[0], g.per_length[0], g.cells[0]);
    const AxisSteps y = axis_steps(p.y, w.inverse.y, w.offset.y, g.lower[1], g.side[1], g.per_length[1], g.cells[1]);
    const AxisSteps z = axis_steps(p.z, w.inverse.z, w.offset.z, g.lower[2], g.side[2], g.per_length[2], g.cells[2]);
    next = vec(x.next, y.next, z.next);
    apart = vec(x.apart, y.apart, z.apart);
    cell = x.cell + g.cells[0] * (y.cell + g.cells[1] * z.cell);
    left = INSIDE_GRID | x.left | y.left << 10 | z.left << 20;
  }
  // The distance at which the ray leaves the cell.
  POLYFLY_METHOD Real leave() const { return min(next.x, min(next.y, next.z)); }
  // Goes on to the next cell; false at the end of the grid.
  POLYFLY_METHOD bool step() {
    if (next.x <= next.y && next.x <= next.z) {
      left -= 1;
      cell += inverse.x > Real(0.0f) ? 1 : -1;
      next.x = next.x + apart.x;
    } else if (next.y <= next.z) {
      left -= 1 << 10;
      cell += inverse.y > Real(0.0f) ? grid.cells[0] : -grid.cells[0];
      next.y = next.y + apart.y;
    } else {
      left -= 1 << 20;
      const int layer = grid.cells[0] * grid.cells[1];
      cell += inverse.z > Real(0.0f) ? layer : -layer;
      next.z = next.z + apart.z;
    }
    return (left & INSIDE_GRID) == INSIDE_GRID;
  }
};

// Visits the balls that are in no cell, then those of the cells that the line crosses nearer than far().
template <class V>
POLYFLY_FN void walk_grid(const Scene& scene, Vec o, Vec d, V& visitor) {
  POLYFLY_NO_UNROLL
  for (int i = 0; i < scene.grid.large; ++i) visitor.visit(SHAPE_SPHERE, i);
  const BoxRay w = box_ray(o, d);
  Real enter;
  if (!visitor.active() || !intersect_aabb(w, scene.grid.centre, scene.grid.half, visitor.far(), enter)) return;
  GridWalk walk(scene.grid, w, fma(d, enter, o));
  for (;;) {
    // Empty cells have a loop of their own, so that lanes wait for each other before the balls' tests.
    int balls = scene.cells.at(walk.cell);
    while ((balls & CELL_BALLS) == 0) {
      if (visitor.far() < walk.leave() || !walk.step()) return;
      balls = scene.cells.at(walk.cell);
    }
    const int first = shift_down(balls, CELL_SHIFT);
    POLYFLY_NO_UNROLL
    for (int i = first; i < first + (balls & CELL_BALLS); ++i) visitor.visit(SHAPE_SPHERE, scene.cell_balls.at(i));
    if (!visitor.active() || visitor.far() < walk.leave() || !walk.step()) return;
  }
}

#endif
