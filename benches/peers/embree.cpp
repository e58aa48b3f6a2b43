// Embree's speed on one thread: single rays, and packets of a pixel's 16 rays. Build: g++ -O3 -march=native benches/peers/embree.cpp -lembree3;
// run it with the mesh's file.
#include "rays.h"

#include <embree3/rtcore.h>

int main(int argc, char** argv) {
  Mesh mesh;
  if (argc < 2 || !read_mesh(argv[1], mesh)) return 64;
  RTCDevice device = rtcNewDevice("threads=1");
  RTCScene scene = rtcNewScene(device);
  RTCGeometry geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_TRIANGLE);
  void* points = rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, 12, mesh.points.size() / 3);
  void* indices = rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, 12, mesh.indices.size() / 3);
  memcpy(points, mesh.points.data(), 4 * mesh.points.size());
  memcpy(indices, mesh.indices.data(), 4 * mesh.indices.size());
  rtcCommitGeometry(geometry);
  rtcAttachGeometry(scene, geometry);
  rtcSetSceneBuildQuality(scene, RTC_BUILD_QUALITY_HIGH);
  const double start = now();
  rtcCommitScene(scene);
  printf("tree: %.3f s\n", now() - start);

  RTCIntersectContext context;
  rtcInitIntersectContext(&context);
  context.flags = RTC_INTERSECT_CONTEXT_FLAG_COHERENT;
  time_rays("single rays", [&](const float (*directions)[3]) {
    int met = 0;
    for (int s = 0; s < RAYS; ++s) {
      RTCRayHit ray = {};
      ray.ray = {EYE[0], EYE[1], EYE[2], 0, directions[s][0], directions[s][1], directions[s][2], 0, INFINITY, ~0u, 0, 0};
      ray.hit.geomID = RTC_INVALID_GEOMETRY_ID;
      rtcIntersect1(scene, &context, &ray);
      met += ray.hit.geomID != RTC_INVALID_GEOMETRY_ID;
    }
    return met;
  });
  time_rays("packets of 16", [&](const float (*directions)[3]) {
    alignas(64) int valid[16];
    alignas(64) RTCRayHit16 rays = {};
    for (int s = 0; s < RAYS; ++s) {
      valid[s] = -1;
      rays.ray.org_x[s] = EYE[0], rays.ray.org_y[s] = EYE[1], rays.ray.org_z[s] = EYE[2];
      rays.ray.dir_x[s] = directions[s][0], rays.ray.dir_y[s] = directions[s][1], rays.ray.dir_z[s] = directions[s][2];
      rays.ray.tfar[s] = INFINITY, rays.ray.mask[s] = ~0u;
      rays.hit.geomID[s] = RTC_INVALID_GEOMETRY_ID;
    }
    rtcIntersect16(valid, scene, &context, &rays);
    int met = 0;
    for (unsigned id : rays.hit.geomID) met += id != RTC_INVALID_GEOMETRY_ID;
    return met;
  });
}
