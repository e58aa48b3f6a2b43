// Numbers that several threads change.
#pragma once
#include "../platform.cuh"

// What a thread has written before, others see that find what it writes after.
#ifdef __CUDACC__
POLYFLY_FN u32 fetch_add(u32* at, u32 n) { return atomicAdd(at, n); }
POLYFLY_FN u64 fetch_add(u64* at, u64 n) { return atomicAdd(at, n); }
POLYFLY_FN void raise_to(u32* at, u32 n) { atomicMax(at, n); }
POLYFLY_FN u32 exchange(u32* at, u32 n) {
  __threadfence();
  const u32 before = atomicExch(at, n);
  __threadfence();
  return before;
}
POLYFLY_FN int highest_bit(u64 x) { return 63 - __clzll((i64)x); }
#elif defined(POLYFLY_SPIRV)
POLYFLY_FN u32 fetch_add(u32* at, u32 n) { return atomic_add((SharedWord)at, DEVICE_SCOPE, RELAXED, n); }
POLYFLY_FN u64 fetch_add(u64* at, u64 n) { return atomic_add((SharedLong)at, DEVICE_SCOPE, RELAXED, n); }
POLYFLY_FN void raise_to(u32* at, u32 n) { atomic_max((SharedWord)at, DEVICE_SCOPE, RELAXED, n); }
POLYFLY_FN void raise_to(u64* at, u64 n) { atomic_max((SharedLong)at, DEVICE_SCOPE, RELAXED, n); }
POLYFLY_FN u32 exchange(u32* at, u32 n) { return atomic_exchange((SharedWord)at, DEVICE_SCOPE, ACQUIRE_RELEASE, n); }
POLYFLY_FN int highest_bit(u64 x) { return 63 - __builtin_clzll(x); }
#else
template <class T>
POLYFLY_FN T fetch_add(T* at, T n) {
  const T before = *at;
  *at = before + n;
  return before;
}
POLYFLY_FN void raise_to(u32* at, u32 n) { *at = *at > n ? *at : n; }
POLYFLY_FN u32 exchange(u32* at, u32 n) {
  const u32 before = *at;
  *at = n;
  return before;
}
POLYFLY_FN int highest_bit(u64 x) { return 63 - __builtin_clzll(x); }
#endif
