// Compares the kernels' reciprocal and square root with the exactly rounded ones, for all mantissas over
// the exponents in use: nvcc -fmad=false -Ikernels tests/arithmetic.cu -o arithmetic && ./arithmetic
#include <cstdio>

namespace polyfly {
#include "lane.cuh"
}

__global__ void compare(int exponent, unsigned long long* wrong) {
  const int mantissa = blockIdx.x * blockDim.x + threadIdx.x;
  for (int sign = 0; sign < 2; ++sign) {
    const float x = polyfly::from_bits((sign << 31) | ((exponent + 127) << 23) | mantissa);
    if (polyfly::bits(polyfly::reciprocal(x)) != polyfly::bits(__frcp_rn(x))) atomicAdd(&wrong[0], 1ull);
    if (sign == 0 && polyfly::bits(polyfly::sqrt(x)) != polyfly::bits(__fsqrt_rn(x))) atomicAdd(&wrong[1], 1ull);
  }
}

int main() {
  unsigned long long* wrong;
  if (cudaMallocManaged(&wrong, 16) != cudaSuccess) return 2;
  wrong[0] = wrong[1] = 0;
  const int first = -100, last = 122;  // DOMAIN_MIN to DOMAIN_MAX
  for (int exponent = first; exponent <= last; ++exponent) compare<<<(1 << 23) / 256, 256>>>(exponent, wrong);
  if (cudaDeviceSynchronize() != cudaSuccess) return 2;
  printf("%d exponents: %llu reciprocals and %llu square roots differ\n", last - first + 1, wrong[0], wrong[1]);
  return wrong[0] + wrong[1] ? 1 : 0;
}
