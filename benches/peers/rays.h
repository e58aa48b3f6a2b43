// What benches/record gives to other programs' trees: the mesh of benches/peers/mesh.py, and the rays of a pinhole camera in the order of tiles
// of 16 x 16 pixels, 16 rays a pixel, as polyfly traces them.
#pragma once
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <vector>

struct Mesh {
  std::vector<float> points;       // three a vertex
  std::vector<unsigned> indices;   // three a triangle
};

inline bool read_mesh(const char* path, Mesh& mesh) {
  FILE* file = fopen(path, "rb");
  if (!file) return false;
  size_t vertices = 0, faces = 0;
  char line[256];
  while (fgets(line, sizeof line, file) && strncmp(line, "end_header", 10)) {
    sscanf(line, "element vertex %zu", &vertices);
    sscanf(line, "element face %zu", &faces);
  }
  mesh.points.resize(3 * vertices);
  mesh.indices.resize(3 * faces);
  bool whole = fread(mesh.points.data(), 12, vertices, file) == vertices;
  for (size_t i = 0; whole && i < faces; ++i) {
    unsigned char count;
    whole = fread(&count, 1, 1, file) == 1 && count == 3 && fread(&mesh.indices[3 * i], 4, 3, file) == 3;
  }
  fclose(file);
  return whole;
}

// Seconds of the processor that this process has taken, so that other processes do not count.
inline double now() { return double(clock()) / CLOCKS_PER_SEC; }

constexpr int WIDTH = 1240, HEIGHT = 960, GRID = 4, RAYS = GRID * GRID;
constexpr float EYE[3] = {2.9f, 0.0f, 0.8f};

// Calls `trace(directions)` for each pixel, which returns how many of its rays meet the mesh, and prints rays a second.
template <class Trace>
void time_rays(const char* name, Trace trace) {
  const float far = std::sqrt(EYE[0] * EYE[0] + EYE[2] * EYE[2]), focal = WIDTH / (2 * std::tan(20.0f * 3.14159265f / 180));
  const float forward[3] = {-EYE[0] / far, 0, -EYE[2] / far}, right[3] = {0, 1, 0}, up[3] = {-EYE[2] / far, 0, EYE[0] / far};
  size_t met = 0;
  const double start = now();
  for (int ty = 0; ty < HEIGHT; ty += 16)
    for (int tx = 0; tx < WIDTH; tx += 16)
      for (int y = ty; y < ty + 16 && y < HEIGHT; ++y)
        for (int x = tx; x < tx + 16 && x < WIDTH; ++x) {
          float directions[RAYS][3];
          for (int s = 0; s < RAYS; ++s) {
            const float px = x + (s % GRID + 0.5f) / GRID - WIDTH / 2.0f, py = y + (s / GRID + 0.5f) / GRID - HEIGHT / 2.0f;
            float square = 0;
            for (int c = 0; c < 3; ++c) {
              directions[s][c] = forward[c] * focal + right[c] * px - up[c] * py;
              square += directions[s][c] * directions[s][c];
            }
            for (float& c : directions[s]) c /= std::sqrt(square);
          }
          met += trace(directions);
        }
  const size_t rays = size_t(WIDTH) * HEIGHT * RAYS;
  printf("%s: %.2f Mrays/s, %zu of %zu rays meet the mesh\n", name, rays / (now() - start) / 1e6, met, rays);
}
