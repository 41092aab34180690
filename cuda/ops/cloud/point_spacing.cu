#include <algorithm>

#include "core/device_buffer.cuh"
#include "core/launch.cuh"
#include "ops/cloud/point_spacing.cuh"
#include "ops/cloud/point_spacing_kernel.h"

namespace pc::cuda {

namespace {

using point_spacing_kernel::HostPass;
using point_spacing_kernel::Pass;

constexpr std::uint64_t kChunk = std::uint64_t{1}
                                 << 20;  // points per launch: 24 MB copied, under 50 ms computed

/// The pass's tables in device memory, and a Pass that points at them.
struct DeviceTables {
  DeviceTables(const HostPass& host, const GpuControl& control)
      : samples(host.pass.samples, host.sample_count, control),
        sample_rows(host.pass.sample_rows, host.sample_count, control),
        best_bits(host.pass.best_bits, host.sample_count, control),
        inverse_size(host.pass.grid.inverse_size, host.pass.grid.level_count, control),
        filter(host.pass.grid.filter, host.filter_words, control),
        bucket_begin(host.pass.grid.bucket_begin, host.bucket_count + 1, control),
        entries(host.pass.grid.entries, host.entry_count, control),
        unbounded(host.pass.grid.unbounded, host.pass.grid.unbounded_count, control) {}

  static std::uint64_t bytes(const HostPass& host) {
    return host.sample_count * (sizeof(Vec3d) + 16) + host.pass.grid.level_count * 8 + host.filter_words * 8 +
           (host.bucket_count + 1) * 4 + host.entry_count * sizeof(ball_grid::Entry) +
           host.pass.grid.unbounded_count * 4;
  }

  Pass pass(const HostPass& host) const {
    Pass pass = host.pass;
    pass.samples = samples.data();
    pass.sample_rows = sample_rows.data();
    pass.best_bits = best_bits.data();
    pass.grid.inverse_size = inverse_size.data();
    pass.grid.filter = filter.data();
    pass.grid.bucket_begin = bucket_begin.data();
    pass.grid.entries = entries.data();
    pass.grid.unbounded = unbounded.data();
    return pass;
  }

  DeviceBuffer<Vec3d> samples;
  DeviceBuffer<std::uint64_t> sample_rows;
  DeviceBuffer<std::uint64_t> best_bits;
  DeviceBuffer<double> inverse_size;
  DeviceBuffer<std::uint64_t> filter;
  DeviceBuffer<std::uint32_t> bucket_begin;
  DeviceBuffer<ball_grid::Entry> entries;
  DeviceBuffer<std::uint32_t> unbounded;
};

}  // namespace

GpuStatus point_spacing_pass(const HostPass* host, const GpuControl* control, GpuError* error) {
  return guarded(error, [&] {
    const std::uint64_t chunk = std::min(kChunk, host->count);
    const std::uint64_t row_chunk = host->pass.rows == nullptr ? 0 : chunk;
    reserve_check(DeviceTables::bytes(*host) + chunk * sizeof(Vec3d) + row_chunk * sizeof(std::uint64_t));
    const DeviceTables tables(*host, *control);
    DeviceBuffer<Vec3d> points(chunk);
    DeviceBuffer<std::uint64_t> rows(row_chunk);
    Pass pass = tables.pass(*host);
    pass.points = points.data();
    pass.rows = host->pass.rows == nullptr ? nullptr : rows.data();
    std::uint64_t unreported = 0;  // reported after the whole pass: a fallback would count its points again
    for (std::uint64_t begin = 0; begin < host->count; begin += chunk) {
      const std::uint64_t count = std::min(chunk, host->count - begin);
      points.upload(host->pass.points + begin, count, *control);
      if (row_chunk != 0) rows.upload(host->pass.rows + begin, count, *control);
      pass.first_row = host->pass.first_row + begin;
      for_each_index(count, [pass] __device__(std::size_t i) { point_spacing_kernel::visit_point(i, pass); });
      unreported += count;
    }
    tables.best_bits.download(host->pass.best_bits, host->sample_count, *control);
    control->advance(control->user, unreported);
  });
}

}  // namespace pc::cuda
