// tinybvh's speed on one thread: single rays in its tree of eight children a node. Build: g++ -O3 -march=native -I FOLDER-OF-tiny_bvh.h
// benches/peers/tinybvh.cpp; run it with the mesh's file.
#include "rays.h"

#define TINYBVH_IMPLEMENTATION
#include <tiny_bvh.h>

int main(int argc, char** argv) {
  Mesh mesh;
  if (argc < 2 || !read_mesh(argv[1], mesh)) return 64;
  std::vector<tinybvh::bvhvec4> corners;
  for (unsigned index : mesh.indices) {
    const float* point = &mesh.points[3 * index];
    corners.emplace_back(point[0], point[1], point[2], 0.0f);
  }
  const double start = now();
  tinybvh::BVH8_CPU tree;
  tree.BuildHQ(corners.data(), corners.size() / 3);
  printf("tinybvh %d.%d.%d, tree: %.3f s\n", TINY_BVH_VERSION_MAJOR, TINY_BVH_VERSION_MINOR, TINY_BVH_VERSION_SUB, now() - start);
  const tinybvh::bvhvec3 eye(EYE[0], EYE[1], EYE[2]);
  time_rays("single rays", [&](const float (*directions)[3]) {
    int met = 0;
    for (int s = 0; s < RAYS; ++s) {
      tinybvh::Ray ray(eye, tinybvh::bvhvec3(directions[s][0], directions[s][1], directions[s][2]));
      tree.Intersect(ray);
      met += ray.hit.t < BVH_FAR;
    }
    return met;
  });
}
