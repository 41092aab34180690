#include <cuda_runtime.h>

#include <cstdio>

#include "core/device_error.cuh"
#include "core/device_info.cuh"

namespace pc::cuda {

namespace {

/// Lowest architecture that pc_cuda has code for, as 10 major + minor; __CUDA_ARCH_LIST__ has 100 major + 10 minor.
constexpr int lowest_architecture() {
  constexpr int list[] = {__CUDA_ARCH_LIST__};
  int lowest = list[0];
  for (const int architecture : list) lowest = architecture < lowest ? architecture : lowest;
  return lowest / 10;
}

void read_device(GpuProbe* out) {
  int count = 0;
  check(cudaGetDeviceCount(&count), "be found");
  if (count == 0) throw DeviceError(cudaErrorNoDevice, "no CUDA device found");
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, 0), "describe itself");
  const int capability = properties.major * 10 + properties.minor;
  if (capability < lowest_architecture()) {
    char text[kGpuErrorBytes];
    std::snprintf(text, sizeof text, "%s has compute capability %d.%d; this program needs %d.%d or newer",
                  properties.name, properties.major, properties.minor, lowest_architecture() / 10,
                  lowest_architecture() % 10);
    throw DeviceError(cudaErrorNoKernelImageForDevice, text);
  }
  out->compute_capability = capability;
  out->total_bytes = properties.totalGlobalMem;
  std::snprintf(out->name, sizeof out->name, "%s", properties.name);
  out->device_count = count;
}

}  // namespace

GpuStatus probe(GpuProbe* out, GpuError* error) {
  *out = GpuProbe{};
  return guarded(error, [&] {
    check(cudaRuntimeGetVersion(&out->runtime_version), "tell the version of its runtime");
    check(cudaDriverGetVersion(&out->driver_version), "tell the version of its driver");
    read_device(out);
  });
}

GpuStatus memory(std::uint64_t* free_bytes, std::uint64_t* total_bytes, GpuError* error) {
  return guarded(error, [&] {
    std::size_t free_now = 0, total = 0;
    check(cudaMemGetInfo(&free_now, &total), "tell its free memory");
    *free_bytes = free_now;
    *total_bytes = total;
  });
}

}  // namespace pc::cuda
