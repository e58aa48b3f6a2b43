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
#include "../kernels/lane.cuh"

POLYFLY_FN Real real(u32 x) { return from_bits(Int((int)x)); }
POLYFLY_FN int bit(Mask m, int i) { return lane(m, i) ? 1 : 0; }

// Whether an operation gives these bits in all lanes.
POLYFLY_FN bool is_right(int op, u32 x, u32 y, u32 z, u32 expected) {
  const Real a = real(x), b = real(y), c = real(z);
  const Int i = Int((int)x), j = Int((int)y);
  for (int at = 0; at < POLYFLY_LANES; ++at) {
    int got = 0;
    switch (op) {
      case 0: got = lane(bits(a + b), at); break;
      case 1: got = lane(bits(a - b), at); break;
      case 2: got = lane(bits(a * b), at); break;
      case 3: got = lane(bits(a / b), at); break;
      case 4: got = lane(bits(-a), at); break;
      case 5: got = lane(bits(fma(a, b, c)), at); break;
      case 6: got = lane(bits(reciprocal(a)), at); break;
      case 7: got = lane(bits(sqrt(a)), at); break;
      case 8: {
        const float root = square_root(lane(a, at));
        std::memcpy(&got, &root, 4);
        break;
      }
      case 9: got = lane(bits(min(a, b)), at); break;
      case 10: got = lane(bits(max(a, b)), at); break;
      case 11: got = bit(a < b, at); break;
      case 12: got = bit(a == b, at); break;
      case 13: got = bit(a != b, at); break;
      case 14: got = lane(bits(select(a < b, b, c)), at); break;
      case 15: got = lane(bits(abs(a)), at); break;
      case 16: got = lane(bits(to_real(i)), at); break;
      case 17: got = lane(to_int(a), at); break;
      case 18: got = lane(to_index(a, b), at); break;
      case 19: got = lane(wrap_add(i, j), at); break;
      case 20: got = lane(wrap_mul(i, j), at); break;
      case 21: got = lane(shift_down(i, (int)y), at); break;
      default: got = lane(shift_up(i, (int)y), at); break;
    }
    if ((u32)got != expected) return false;
  }
  return true;
}

const char* const NAMES[] = {"add",    "sub", "mul",  "div",     "neg",    "fma",      "reciprocal", "sqrt",     "square_root", "min",        "max",     "less",
                             "equal",  "unequal", "select", "abs", "to_real", "to_int", "to_index",   "wrap_add", "wrap_mul",    "shift_down", "shift_up"};

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
