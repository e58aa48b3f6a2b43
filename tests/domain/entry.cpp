// The entries of every set, and those that tests alone call.
#include "../../kernels/entry/render.cpp"

namespace polyfly {
extern "C" {

u64 POLYFLY_NAME(stray)(int k, const char** file, int* line, float* argument) {
  const Stray& stray = strays[k];
  const u64 calls = __atomic_load_n(&stray.calls, __ATOMIC_ACQUIRE);
  if (calls > 0) *file = stray.file, *line = stray.line, *argument = stray.argument;
  return calls;
}

float POLYFLY_NAME(operation)(int which, float a, float b) {
  switch (which) {
    case 0:
      return reciprocal(a);
    case 1:
      return sqrt(a);
    case 2:
      return min(a, b);
    case 3:
      return max(a, b);
    default:
      return from_bits(to_int(a));
  }
}
}
}  // namespace polyfly
