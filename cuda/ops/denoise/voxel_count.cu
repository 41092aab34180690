#include <algorithm>

#include "core/device_buffer.cuh"
#include "core/launch.cuh"
#include "ops/denoise/voxel_count.cuh"
#include "ops/denoise/voxel_count_kernel.h"

namespace pc::cuda {

namespace {

using voxel_count_kernel::HostPass;
using voxel_count_kernel::Table;

constexpr std::uint64_t kChunk = std::uint64_t{1} << 20;  // points per launch: 24 MB copied

std::uint64_t slots_for(std::uint64_t points) {
  std::uint64_t slots = 1024;
  while (slots < 2 * points) slots *= 2;
  return slots;
}

struct CountPoint {
  const Vec3d* points;
  voxel_count_kernel::Cells cells;
  Table table;

  __device__ void operator()(std::size_t i) const {
    voxel_count_kernel::count_point(points[i], cells, table);
  }
};

struct LabelPoint {
  const Vec3d* points;
  voxel_count_kernel::Cells cells;
  Table table;
  std::uint32_t min_points;
  std::uint8_t* labels;

  __device__ void operator()(std::size_t i) const {
    voxel_count_kernel::label_point(points[i], cells, table, min_points, labels + i);
  }
};

}  // namespace

GpuStatus voxel_count(const HostPass* host, const GpuControl* control, GpuError* error) {
  return guarded(error, [&] {
    const std::uint64_t slots = slots_for(host->count), chunk = std::min(kChunk, host->count);
    reserve_check(slots * (sizeof(std::uint64_t) + sizeof(std::uint32_t)) + chunk * sizeof(Vec3d) +
                  host->count);
    const DeviceBuffer<std::uint64_t> keys(slots);
    const DeviceBuffer<std::uint32_t> counts(slots);
    check(cudaMemset(keys.data(), 0xff, slots * sizeof(std::uint64_t)), "clear memory");  // kNoCell
    check(cudaMemset(counts.data(), 0, slots * sizeof(std::uint32_t)), "clear memory");
    DeviceBuffer<Vec3d> points(chunk);
    const DeviceBuffer<std::uint8_t> labels(host->count);
    const Table table{keys.data(), counts.data(), slots - 1};
    const auto each_chunk = [&](const auto& run) {
      for (std::uint64_t begin = 0; begin < host->count; begin += chunk) {
        const std::uint64_t count = std::min(chunk, host->count - begin);
        points.upload(host->points + begin, count, *control);
        run(begin, count);
      }
    };
    each_chunk([&](std::uint64_t, std::uint64_t count) {
      for_each_index(count, CountPoint{points.data(), host->cells, table});
    });
    each_chunk([&](std::uint64_t begin, std::uint64_t count) {
      for_each_index(count,
                     LabelPoint{points.data(), host->cells, table, host->min_points, labels.data() + begin});
    });
    labels.download(host->labels, host->count, *control);
    control->advance(control->user, 2 * host->count);
  });
}

}  // namespace pc::cuda
