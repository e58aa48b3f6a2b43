// Computes the operations of docs/vectors.txt by the kernels' own text, on every lane, and prints the numbers of the lines whose
// result has other bits. Compiled once a set of kernels, by src/tests/vectors.rs, and on a GPU by nvcc:
//   nvcc -x cu -std=c++17 -fmad=false -DPOLYFLY_LANES=1 tests/vectors.cpp -o vectors && ./vectors docs/vectors.txt
#include <cstdio>
#include <cstdlib>
#include <cstring>
#if defined(__x86_64__) && !defined(__CUDACC__)
#include <immintrin.h>
#endif

namespace polyfly {
#include "../kernels/operations.cuh"

// Whether an operation gives these bits in all lanes.
POLYFLY_FN bool is_right(int op, u32 x, u32 y, u32 z, u32 expected) {
  for (int at = 0; at < POLYFLY_LANES; ++at)
    if (operation(op, x, y, z, at) != expected) return false;
  return true;
}

#define OPERATION(name, result) #name,
const char* const NAMES[] = {
#include "../kernels/operations.def"
};

#ifdef __CUDACC__
__global__ void check(int op, u32 x, u32 y, u32 z, u32 expected, bool* right) { *right = is_right(op, x, y, z, expected); }
static bool run(int op, u32 x, u32 y, u32 z, u32 expected) {
  static bool* right = nullptr;
  if (!right && cudaMallocManaged(&right, 1) != cudaSuccess) return false;
  *right = false;
  check<<<1, 1>>>(op, x, y, z, expected, right);
  return cudaDeviceSynchronize() == cudaSuccess && *right;
}
#else
static bool run(int op, u32 x, u32 y, u32 z, u32 expected) { return is_right(op, x, y, z, expected); }
#endif
}  // namespace polyfly

int main(int, char** words) {
  std::FILE* file = std::fopen(words[1], "r");
  if (!file) return 2;
  // Longer lines are those of frames, which come last.
  char line[256], name[32];
  int read = 0;
  for (int number = 1; std::fgets(line, sizeof line, file) && std::strncmp(line, "frame", 5) != 0; ++number) {
    unsigned x = 0, y = 0, z = 0, expected = 0;
    if (line[0] == '#' || std::sscanf(line, "%31s %x %x %x = %x", name, &x, &y, &z, &expected) != 5) continue;
    int op = 0;
    while (op < 23 && std::strcmp(name, polyfly::NAMES[op]) != 0) ++op;
    if (op == 23) return 3;
    ++read;
    if (!polyfly::run(op, x, y, z, expected)) std::printf("%d\n", number);
  }
  std::fprintf(stderr, "%d operations\n", read);
  return read > 0 ? 0 : 4;
}
