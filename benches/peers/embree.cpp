// Embree's single-ray speed on the mesh of scripts/measure/mesh.py, one thread, the rays of a pinhole camera as
// benches/record gives them to polyfly. Build: g++ -O3 -march=native benches/peers/embree.cpp -lembree3 -o embree-bench;
// run: embree-bench FILE.ply
#include <embree3/rtcore.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  if (argc < 2) return 64;
  FILE* file = fopen(argv[1], "rb");
  if (!file) return 74;
  size_t vertices = 0, faces = 0;
  char line[256];
  while (fgets(line, sizeof line, file) && strncmp(line, "end_header", 10)) {
    sscanf(line, "element vertex %zu", &vertices);
    sscanf(line, "element face %zu", &faces);
  }
  RTCDevice device = rtcNewDevice("threads=1");
  RTCScene scene = rtcNewScene(device);
  RTCGeometry mesh = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_TRIANGLE);
  float* points = (float*)rtcSetNewGeometryBuffer(mesh, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, 12, vertices);
  unsigned* indices = (unsigned*)rtcSetNewGeometryBuffer(mesh, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, 12, faces);
  if (fread(points, 12, vertices, file) != vertices) return 65;
  for (size_t i = 0; i < faces; ++i) {
    unsigned char count;
    if (fread(&count, 1, 1, file) != 1 || count != 3 || fread(indices + 3 * i, 4, 3, file) != 3) return 65;
  }
  rtcCommitGeometry(mesh);
  rtcAttachGeometry(scene, mesh);
  rtcSetSceneBuildQuality(scene, RTC_BUILD_QUALITY_HIGH);
  auto clock = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
  double start = clock();
  rtcCommitScene(scene);
  printf("embree build %.3f s on one thread\n", clock() - start);

  const int width = 1240, height = 960, samples = 4;
  const float eye[3] = {2.9f, 0.0f, 0.8f};
  const float far = std::sqrt(eye[0] * eye[0] + eye[2] * eye[2]),
              focal = width / (2 * std::tan(20.0f * 3.14159265f / 180));
  const float forward[3] = {-eye[0] / far, 0, -eye[2] / far}, right[3] = {0, 1, 0},
              up[3] = {-eye[2] / far, 0, eye[0] / far};
  size_t rays = 0, met = 0;
  start = clock();
  RTCIntersectContext context;
  rtcInitIntersectContext(&context);
  context.flags = RTC_INTERSECT_CONTEXT_FLAG_COHERENT;
  for (int ty = 0; ty < height; ty += 16)
    for (int tx = 0; tx < width; tx += 16)
      for (int y = ty; y < ty + 16 && y < height; ++y)
        for (int x = tx; x < tx + 16 && x < width; ++x)
          for (int s = 0; s < samples * samples; ++s) {
            const float px = x + (s % samples + 0.5f) / samples - width / 2.0f,
                        py = y + (s / samples + 0.5f) / samples - height / 2.0f;
            float d[3], square = 0;
            for (int c = 0; c < 3; ++c) {
              d[c] = forward[c] * focal + right[c] * px - up[c] * py;
              square += d[c] * d[c];
            }
            const float scale = 1 / std::sqrt(square);
            RTCRayHit ray = {};
            ray.ray = {eye[0], eye[1], eye[2], 0, d[0] * scale, d[1] * scale, d[2] * scale, 0, INFINITY, ~0u, 0, 0};
            ray.hit.geomID = RTC_INVALID_GEOMETRY_ID;
            rtcIntersect1(scene, &context, &ray);
            ++rays;
            met += ray.hit.geomID != RTC_INVALID_GEOMETRY_ID;
          }
  const double seconds = clock() - start;
  printf("embree single ray, one thread: %.2f Mrays/s, %zu of %zu rays meet the mesh\n", rays / seconds / 1e6, met,
         rays);
  return 0;
}
