// The cells of a grid over balls on a GPU: a thread a ball, or a run of cells.
#pragma once
#include "../shapes/cells.cuh"
#include "threads.cuh"

POLYFLY_POST polyfly_count_balls(const __grid_constant__ CellPlan plan, const Sphere* spheres, u32* cells) {
  const int i = thread_x();
  if (i < plan.balls) count_ball(plan, spheres, cells, i);
}

POLYFLY_POST polyfly_place_cells(const __grid_constant__ CellPlan plan, u32* cells, CellTotals* totals) {
  const int run = thread_x();
  if (run < plan.runs) place_cells(plan, cells, totals, run);
}

POLYFLY_POST polyfly_list_balls(const __grid_constant__ CellPlan plan, const Sphere* spheres, u32* cells, int* list) {
  const int i = thread_x();
  if (i < plan.balls) list_ball(plan, spheres, cells, list, i);
}
