// Operations by number, for tests and for the canary of a device.
#pragma once
#include "lane.cuh"

POLYFLY_FN Real real_of(u32 x) { return from_bits(Int((int)x)); }
POLYFLY_FN int bit_of(Mask m, int i) { return lane(m, i) ? 1 : 0; }

POLYFLY_FN u32 operation(int which, u32 x, u32 y, u32 z, int at) {
  const Real a = real_of(x), b = real_of(y), c = real_of(z);
  const Int i = Int((int)x), j = Int((int)y);
  int number = 0;
#define OPERATION(name, result) \
  if (which == number++) return (u32)(result);
#include "operations.def"
  return 0;
}
