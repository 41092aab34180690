#include <algorithm>
#include <utility>

#include "core/device_buffer.cuh"
#include "core/float_bits.h"
#include "core/launch.cuh"
#include "ops/ground/cloth_simulation.cuh"
#include "ops/ground/cloth_simulation_kernel.h"

namespace pc::cuda {

namespace {

using cloth_kernel::HostDrop;
using cloth_kernel::HostRaster;
using cloth_kernel::RasterPass;

constexpr std::uint64_t kChunk = std::uint64_t{1} << 20;  // points per launch: 24 MB copied

/// Runs one of the two passes over all points, chunk by chunk.
template <class Offer>
void run_pass(const HostRaster& host, RasterPass pass, DeviceBuffer<Vec3d>& points, const GpuControl& control,
              Offer offer) {
  for (std::uint64_t begin = 0; begin < host.count; begin += points.size()) {
    const std::uint64_t count = std::min<std::uint64_t>(points.size(), host.count - begin);
    points.upload(host.pass.points + begin, count, control);
    pass.points = points.data();
    for_each_index(count, [pass, offer] __device__(std::size_t i) { offer(i, pass); });
  }
}

struct OfferLowest {
  __device__ void operator()(std::size_t i, const RasterPass& pass) const {
    cloth_kernel::offer_lowest(i, pass);
  }
};
struct OfferNearest {
  __device__ void operator()(std::size_t i, const RasterPass& pass) const {
    cloth_kernel::offer_nearest(i, pass);
  }
};

/// A cloth on the device. Its steps are those of cloth_drop.cpp: the same functions, one kernel each.
class DeviceCloth {
 public:
  DeviceCloth(const HostDrop& host, const GpuControl& control)
      : nx_(host.nx),
        ny_(host.ny),
        cells_(static_cast<std::size_t>(host.nx) * host.ny),
        terrain_(cells_),
        previous_(cells_),
        current_(cells_),
        a_(cells_),
        b_(cells_),
        least_(1) {
    for (std::uint32_t y = 0; y < host.ny; ++y) {
      poll(control);
      check(cudaMemcpy(terrain_.data() + y * std::size_t{nx_}, host.terrain + y * host.stride,
                       nx_ * sizeof(float), cudaMemcpyHostToDevice),
            "copy data");
    }
    lay_out(host.start);
  }

  static std::uint64_t bytes(const HostDrop& host) {
    return 5 * sizeof(float) * static_cast<std::uint64_t>(host.nx) * host.ny;
  }

  /// One step; returns the largest movement of a free particle.
  float step(std::uint32_t sweeps, const GpuControl& control) {
    fall();
    for (std::uint32_t sweep = 0; sweep < sweeps; ++sweep) {
      poll(control);
      relax();
    }
    return collide(control);
  }

  void download(float* height, const GpuControl& control) const {
    current_.download(height, cells_, control);
  }

  // Functions with device code are public because nvcc requires it.

  void lay_out(float start) {
    float* const previous = previous_.data();
    float* const current = current_.data();
    for_each_index(cells_, [=] __device__(std::size_t i) { previous[i] = current[i] = start; });
  }

  void fall() {
    const float *const previous = previous_.data(), *const current = current_.data(),
                       *const ground = terrain_.data();
    float* const out = a_.data();
    for_each_index(cells_, [=] __device__(std::size_t i) {
      out[i] = cloth_kernel::fall(current[i], previous[i], ground[i]);
    });
  }

  void relax() {
    const float *const in = a_.data(), *const current = current_.data(), *const ground = terrain_.data();
    float* const out = b_.data();
    const std::uint32_t nx = nx_, ny = ny_;
    for_each_index(cells_, [=] __device__(std::size_t i) {
      const float free = cloth_kernel::is_free(current[i], ground[i]) ? 1.0F : 0.0F;
      out[i] = cloth_kernel::relax_at(in, nx, ny, static_cast<std::uint32_t>(i % nx),
                                      static_cast<std::uint32_t>(i / nx), free);
    });
    std::swap(a_, b_);
  }

  /// Ends a step. The previous heights are no longer needed: their buffer receives the next ones.
  float collide(const GpuControl& control) {
    const std::uint32_t nothing = 0xffffffffU;
    least_.upload(&nothing, 1, control);
    const float *const fallen = a_.data(), *const current = current_.data(), *const ground = terrain_.data();
    float* const next = previous_.data();
    std::uint32_t* const least = least_.data();
    for_each_index(cells_, [=] __device__(std::size_t i) {
      const cloth_kernel::Landing end = cloth_kernel::land(fallen[i], current[i], ground[i]);
      next[i] = end.height;
      // Bits of non-negative floats are ordered like their values; the smallest complement is the largest movement.
      if (end.moved > 0) atomic_min(least, ~bits_of(end.moved));
    });
    std::swap(previous_, current_);
    std::uint32_t complement = 0;
    least_.download(&complement, 1, control);
    return float_of(~complement);
  }

 private:
  std::uint32_t nx_, ny_;
  std::size_t cells_;
  DeviceBuffer<float> terrain_, previous_, current_, a_, b_;
  DeviceBuffer<std::uint32_t> least_;
};

}  // namespace

GpuStatus cloth_raster(const HostRaster* host, const GpuControl* control, GpuError* error) {
  return guarded(error, [&] {
    const std::size_t cells = host->pass.lattice.cells();
    const std::uint64_t chunk = std::min(kChunk, host->count);
    reserve_check(cells * 12 + host->floor_count * 4 + chunk * sizeof(Vec3d));
    const DeviceBuffer<float> floor(host->pass.outliers.floor, host->floor_count, *control);
    const DeviceBuffer<std::uint32_t> lowest(host->pass.lowest, cells, *control);
    const DeviceBuffer<std::uint64_t> nearest(host->pass.nearest, cells, *control);
    DeviceBuffer<Vec3d> points(chunk);
    RasterPass pass = host->pass;
    pass.outliers.floor = host->floor_count == 0 ? nullptr : floor.data();
    pass.lowest = lowest.data();
    pass.nearest = nearest.data();
    run_pass(*host, pass, points, *control, OfferLowest{});
    run_pass(*host, pass, points, *control, OfferNearest{});
    lowest.download(host->pass.lowest, cells, *control);
    nearest.download(host->pass.nearest, cells, *control);
  });
}

GpuStatus cloth_drop(HostDrop* host, const GpuControl* control, GpuError* error) {
  return guarded(error, [&] {
    reserve_check(DeviceCloth::bytes(*host));
    DeviceCloth cloth(*host, *control);
    const cloth_kernel::Drop drop = cloth_kernel::drop_until_settled(
        host->iterations, [&] { return cloth.step(host->sweeps, *control); });
    cloth.download(host->height, *control);
    host->iterations_run = drop.steps;
    host->settled = drop.settled;
  });
}

}  // namespace pc::cuda
