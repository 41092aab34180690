#pragma once
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/device_error.cuh"

namespace pc::cuda {

/// Searches of a tree per launch: under 50 ms also where each passes a few hundred boxes.
constexpr std::uint64_t kSearches = std::uint64_t{1} << 17;

template <class Function>
__global__ void index_kernel(std::size_t count, Function function) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    function(i);
  }
}

/// Starts function(i) on the device for i in [0, count), after all that the stream does.
template <class Function>
void start_for_each_index(std::size_t count, Function function, cudaStream_t stream = nullptr) {
  if (count == 0) return;
  constexpr std::size_t kThreads = 256, kMaxBlocks = 65535;
  const std::size_t blocks = std::min(kMaxBlocks, (count + kThreads - 1) / kThreads);
  index_kernel<<<static_cast<unsigned>(blocks), static_cast<unsigned>(kThreads), 0, stream>>>(count,
                                                                                              function);
  check(cudaGetLastError(), "start a computation");
}

/// Waits for all launches.
inline void finish_launches() { check(cudaDeviceSynchronize(), "finish a computation"); }

/// Calls function(i) on the device for i in [0, count) and waits. `count` must be small enough for 50 ms, because a
/// cancel is checked between launches.
template <class Function>
void for_each_index(std::size_t count, Function function) {
  if (count == 0) return;
  start_for_each_index(count, function);
  finish_launches();
}

}  // namespace pc::cuda
