#pragma once
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "core/device_error.cuh"

/// In place of cuda/core/launch.cuh: the indices of a launch one after another, the last one first, because kernels must not
/// depend on their order.
namespace pc::cuda {

/// Few, so that tests have several launches, the last one not full.
constexpr std::uint64_t kSearches = 1000;

template <class Function>
void start_for_each_index(std::size_t count, Function function, cudaStream_t = nullptr) {
  while (count > 0) function(--count);
}

inline void finish_launches() {}

template <class Function>
void for_each_index(std::size_t count, Function function) {
  start_for_each_index(count, function);
}

}  // namespace pc::cuda
