#pragma once
#include <cstdint>
#if !defined(__CUDACC__)
#include <atomic>
#endif

#include "core/host_device.h"

namespace pc {

/// Lowers *target to `value` when `value` is smaller. Minima do not depend on the order of the calls, so
/// results made from them alone are the same for any thread count and device.
PC_HD inline void atomic_min(std::uint64_t* target, std::uint64_t value) {
#if defined(__CUDA_ARCH__)
  atomicMin(reinterpret_cast<unsigned long long*>(target), static_cast<unsigned long long>(value));
#elif !defined(__CUDACC__)
  const std::atomic_ref<std::uint64_t> shared(*target);
  std::uint64_t seen = shared.load(std::memory_order_relaxed);
  while (value < seen && !shared.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
#else
  // nvcc's host pass never runs this: the module launches kernels only.
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

/// Reads a value that other threads lower with atomic_min.
PC_HD inline std::uint64_t relaxed_load(const std::uint64_t* source) {
#if defined(__CUDACC__)
  return *static_cast<const volatile std::uint64_t*>(source);
#else
  return std::atomic_ref<std::uint64_t>(*const_cast<std::uint64_t*>(source)).load(std::memory_order_relaxed);
#endif
}

}  // namespace pc
