#include <algorithm>

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

/// A cloth on the device. Its steps are those of cloth_bands.cpp with the same functions. Particles with equal
/// x + kRowDelay y have their ties corrected in one launch; a particle falls kAhead launches before that and lands kAhead
/// after it, when no other particle has a tie to it that is still to be corrected. The steps of one call follow each
/// other kStepDelay launches apart.
class DeviceCloth {
 public:
  static constexpr std::uint32_t kStepsAtATime = 32;

  DeviceCloth(const HostDrop& host, const GpuControl& control)
      : nx_(host.nx),
        ny_(host.ny),
        cells_(static_cast<std::size_t>(host.nx) * host.ny),
        stiffness_(cloth_kernel::stiffness_of(host.rigidness)),
        control_(control),
        terrain_(cells_),
        now_(cells_),
        kept_(cells_),
        least_(kStepsAtATime) {
    for (std::uint32_t y = 0; y < host.ny; ++y) {
      poll(control);
      check(cudaMemcpy(terrain_.data() + y * std::size_t{nx_}, host.terrain + y * host.stride,
                       nx_ * sizeof(float), cudaMemcpyHostToDevice),
            "copy data");
    }
    lay_out(host.start);
  }

  static std::uint64_t bytes(const HostDrop& host) {
    return 7 * sizeof(float) * static_cast<std::uint64_t>(host.nx) * host.ny;
  }

  void keep() { copy(now_, kept_); }
  void undo() { copy(kept_, now_); }

  void download(float* height) const { now_.height.download(height, cells_, control_); }

  // Functions with device code are public because nvcc requires it.

  void lay_out(float start) {
    float *const height = now_.height.data(), *const previous = now_.previous.data(),
                 *const grip = now_.grip.data();
    const float free = stiffness_.both;
    for_each_index(cells_, [=] __device__(std::size_t i) {
      height[i] = previous[i] = start;
      grip[i] = free;
    });
  }

  void steps(std::uint32_t count, float* furthest) {
    std::uint32_t least[kStepsAtATime];
    std::fill(least, least + count, 0xffffffffU);
    least_.upload(least, count, control_);
    const std::int64_t last = std::int64_t{nx_} - 1 + kDelay * (std::int64_t{ny_} - 1);
    for (std::int64_t at = -kAhead; at <= last + kAhead + kStepDelay * (count - 1); ++at) {
      advance(at, count);
      if (at % kLaunchesBetweenPolls == 0) {
        finish_launches();
        poll(control_);
      }
    }
    finish_launches();
    least_.download(least, count, control_);
    // Bits of non-negative floats are ordered like their values; the smallest complement is the largest movement.
    for (std::uint32_t step = 0; step < count; ++step) furthest[step] = float_of(~least[step]);
  }

  /// One launch: a thread for every row and step.
  void advance(std::int64_t at, std::uint32_t count) {
    const cloth_kernel::ClothArrays cloth{
        now_.height.data(), now_.previous.data(), now_.grip.data(), terrain_.data(), nx_, ny_};
    const cloth_kernel::Stiffness stiffness = stiffness_;
    std::uint32_t* const least = least_.data();
    start_for_each_index(static_cast<std::size_t>(ny_) * count, [=] __device__(std::size_t i) {
      const auto y = static_cast<std::uint32_t>(i % cloth.ny);
      const auto step = static_cast<std::uint32_t>(i / cloth.ny);
      const std::int64_t x = at - kDelay * y - kStepDelay * step;
      const auto inside = [&](std::int64_t column) { return column >= 0 && column < cloth.nx; };
      const std::size_t row = y * static_cast<std::size_t>(cloth.nx);
      if (inside(x + kAhead)) {
        const std::size_t cell = row + static_cast<std::size_t>(x + kAhead);
        const cloth_kernel::Motion moved =
            cloth_kernel::fall({cloth.height[cell], cloth.previous[cell]}, cloth.grip[cell]);
        cloth.height[cell] = moved.height;
        cloth.previous[cell] = moved.previous;
      }
      if (inside(x)) cloth_kernel::pull_ties(cloth, static_cast<std::uint32_t>(x), y);
      if (inside(x - kAhead)) {
        const std::size_t cell = row + static_cast<std::size_t>(x - kAhead);
        const cloth_kernel::Landing end = cloth_kernel::land({cloth.height[cell], cloth.previous[cell]},
                                                             cloth.grip[cell], cloth.ground[cell], stiffness);
        cloth.height[cell] = end.height;
        cloth.grip[cell] = end.grip;
        if (end.moved > 0) atomic_min(least + step, ~bits_of(end.moved));
      }
    });
  }

 private:
  static constexpr std::int64_t kLaunchesBetweenPolls = 256;
  static constexpr std::int64_t kDelay = cloth_kernel::kRowDelay;
  /// One more than the farthest tie is away in launches.
  static constexpr std::int64_t kAhead = cloth_kernel::kReach * (1 + kDelay) + 1;
  static constexpr std::int64_t kStepDelay = 2 * kAhead + 1;

  struct State {
    explicit State(std::size_t cells) : height(cells), previous(cells), grip(cells) {}
    DeviceBuffer<float> height, previous, grip;
  };

  void copy(const State& from, State& to) const {
    const auto one = [&](const DeviceBuffer<float>& source, DeviceBuffer<float>& target) {
      check(cudaMemcpy(target.data(), source.data(), cells_ * sizeof(float), cudaMemcpyDeviceToDevice),
            "copy data");
    };
    one(from.height, to.height);
    one(from.previous, to.previous);
    one(from.grip, to.grip);
  }

  std::uint32_t nx_, ny_;
  std::size_t cells_;
  cloth_kernel::Stiffness stiffness_;
  const GpuControl& control_;
  DeviceBuffer<float> terrain_;
  State now_, kept_;
  DeviceBuffer<std::uint32_t> least_;
};

}  // namespace

GpuStatus cloth_raster(const HostRaster* host, const GpuControl* control, GpuError* error) {
  return guarded(error, [&] {
    const std::size_t cells = host->pass.lattice.cells();
    const std::uint64_t chunk = std::min(kChunk, host->count);
    reserve_check(cells * 8 + host->floor_count * 4 + chunk * sizeof(Vec3d));
    const DeviceBuffer<float> floor(host->pass.outliers.floor, host->floor_count, *control);
    const DeviceBuffer<std::uint64_t> nearest(host->pass.nearest, cells, *control);
    DeviceBuffer<Vec3d> points(chunk);
    RasterPass pass = host->pass;
    pass.outliers.floor = host->floor_count == 0 ? nullptr : floor.data();
    pass.nearest = nearest.data();
    for (std::uint64_t begin = 0; begin < host->count; begin += points.size()) {
      const std::uint64_t count = std::min<std::uint64_t>(points.size(), host->count - begin);
      points.upload(host->pass.points + begin, count, *control);
      pass.points = points.data();
      for_each_index(count, [pass] __device__(std::size_t i) { cloth_kernel::offer_nearest(i, pass); });
    }
    nearest.download(host->pass.nearest, cells, *control);
  });
}

GpuStatus cloth_drop(HostDrop* host, const GpuControl* control, GpuError* error) {
  return guarded(error, [&] {
    reserve_check(DeviceCloth::bytes(*host));
    DeviceCloth cloth(*host, *control);
    const cloth_kernel::Drop drop =
        cloth_kernel::drop_until_settled(host->iterations, DeviceCloth::kStepsAtATime, cloth);
    cloth.download(host->height);
    host->iterations_run = drop.steps;
    host->settled = drop.settled;
  });
}

}  // namespace pc::cuda
