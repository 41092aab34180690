#pragma once
#include <cstdint>
#if !defined(__CUDACC__)
#include <atomic>
#endif

#include "core/host_device.h"

namespace pc {

/// Lowers *target to `value` if `value` is smaller. Minima do not depend on the order of the calls, so results computed
/// only from them are the same for any thread count and device.
PC_HD inline void atomic_min(std::uint64_t* target, std::uint64_t value) {
#if defined(__CUDA_ARCH__)
  atomicMin(reinterpret_cast<unsigned long long*>(target), static_cast<unsigned long long>(value));
#elif !defined(__CUDACC__)
  const std::atomic_ref<std::uint64_t> shared(*target);
  std::uint64_t seen = shared.load(std::memory_order_relaxed);
  while (value < seen && !shared.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
#else
  // nvcc's host pass never runs this: pc_cuda only launches kernels.
  if (value < *target) *target = value;
#endif
}

PC_HD inline void atomic_min(std::uint32_t* target, std::uint32_t value) {
#if defined(__CUDA_ARCH__)
  atomicMin(target, value);
#elif !defined(__CUDACC__)
  const std::atomic_ref<std::uint32_t> shared(*target);
  std::uint32_t seen = shared.load(std::memory_order_relaxed);
  while (value < seen && !shared.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
#else
  if (value < *target) *target = value;
#endif
}

/// Replaces *target by `wanted` if it equals `expected`; returns the previous value.
PC_HD inline std::uint64_t atomic_claim(std::uint64_t* target, std::uint64_t expected, std::uint64_t wanted) {
#if defined(__CUDA_ARCH__)
  return atomicCAS(reinterpret_cast<unsigned long long*>(target), static_cast<unsigned long long>(expected),
                   static_cast<unsigned long long>(wanted));
#elif !defined(__CUDACC__)
  std::atomic_ref<std::uint64_t>(*target).compare_exchange_strong(expected, wanted,
                                                                  std::memory_order_relaxed);
  return expected;
#else
  if (*target == expected) *target = wanted;
  return expected;
#endif
}

PC_HD inline void atomic_increment(std::uint32_t* target) {
#if defined(__CUDA_ARCH__)
  atomicAdd(target, 1U);
#elif !defined(__CUDACC__)
  std::atomic_ref<std::uint32_t>(*target).fetch_add(1, std::memory_order_relaxed);
#else
  ++*target;
#endif
}

/// Reads a value that other threads lower with atomic_min.
PC_HD inline std::uint64_t relaxed_load(const std::uint64_t* source) {
#if defined(__CUDACC__)
  return *static_cast<const volatile std::uint64_t*>(source);
#else
  return std::atomic_ref<std::uint64_t>(*const_cast<std::uint64_t*>(source)).load(std::memory_order_relaxed);
#endif
}

}  // namespace pc
