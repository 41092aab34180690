#include "ops/lad/beam_sums_device.h"

#include <algorithm>
#include <cstring>

#include "core/memory.h"
#include "core/parallel.h"

namespace pc {

namespace {

using beam_sums_kernel::BeamList;
using beam_sums_kernel::BeamPart;
using beam_sums_kernel::Grid;
using beam_sums_kernel::HostBeams;
using beam_sums_kernel::HostCells;
using beam_sums_kernel::HostGrid;

constexpr std::size_t kBlock = 1024, kBatch = std::size_t{1} << 17;  // beams

HostGrid host_of(const Grid& grid, bool with_reach) {
  const std::uint64_t layers = grid.factors_stride > 0 ? grid.lattice.nz : 1;
  return {grid, grid.factors == nullptr ? 0 : layers * kZenithBins, with_reach};
}

/// Some beams of a scan as lists.
class BeamBatch {
 public:
  BeamBatch(const BeamRows& rows, Span<const std::uint32_t> pulses, bool with_angles, OpContext& ctx)
      : rules_{rows.shared(), rows.partial_misses()},
        rays_(pulses.size),
        misses_(pulses.size),
        zenith_(with_angles ? pulses.size : 0),
        first_hit_(pulses.size + 1) {
    std::vector<std::vector<double>> ranges((pulses.size + kBlock - 1) / kBlock), shares(ranges.size());
    parallel_for(ctx, pulses.size, kBlock, [&](std::size_t begin, std::size_t end) {
      PulseBeam beam;
      for (std::size_t n = begin; n < end; ++n) {
        rows.beam(pulses[n], &beam);
        rays_[n] = beam.ray;
        misses_[n] = beam.misses;
        if (with_angles) zenith_[n] = static_cast<std::uint32_t>(zenith_bin(beam.ray.direction));
        first_hit_[n + 1] = beam.hits;
        auto& to = ranges[begin / kBlock];
        to.insert(to.end(), beam.ranges.begin(), beam.ranges.begin() + beam.hits);
        if (!rules_.by_shares) continue;
        auto& parts = shares[begin / kBlock];
        parts.insert(parts.end(), beam.shares.begin(), beam.shares.begin() + beam.hits);
      }
    });
    first_hit_[0] = 0;
    for (std::size_t n = 0; n < pulses.size; ++n) first_hit_[n + 1] += first_hit_[n];
    for (const auto& block : ranges) ranges_.insert(ranges_.end(), block.begin(), block.end());
    for (const auto& block : shares) shares_.insert(shares_.end(), block.begin(), block.end());
  }

  HostBeams host() const {
    return {{rules_, rays_.data(), misses_.data(), zenith_.data(), first_hit_.data(), ranges_.data(),
             rules_.by_shares ? shares_.data() : nullptr},
            rays_.size(),
            ranges_.size()};
  }

 private:
  beam_sums_kernel::Rules rules_;
  std::vector<LatticeRay> rays_;
  std::vector<std::uint32_t> misses_, zenith_, first_hit_;
  std::vector<double> ranges_, shares_;
};

/// The voxels that beams reach, ascending, and their sums by the CPU.
struct SumsOfCells {
  std::vector<std::uint32_t> cells;
  std::vector<double> sums, reach;

  SumsOfCells(const Grid& grid, const HostBeams& beams, bool with_reach) {
    std::vector<BeamPart> parts;
    for (std::size_t i = 0; i < beams.count; ++i)
      beam_sums_kernel::for_each_part(grid, beams.list, i,
                                      [&](const BeamPart& part) { parts.push_back(part); });
    std::stable_sort(parts.begin(), parts.end(),
                     [](const BeamPart& a, const BeamPart& b) { return a.cell < b.cell; });
    for (const BeamPart& part : parts) {
      if (cells.empty() || cells.back() != part.cell) {
        cells.push_back(static_cast<std::uint32_t>(part.cell));
        sums.resize(sums.size() + beam_sums_kernel::kSums, 0);
        reach.resize(reach.size() + (with_reach ? beam_sums_kernel::kReachSums : 0), 0);
      }
      beam_sums_kernel::add(sums.data() + sums.size() - beam_sums_kernel::kSums,
                            with_reach ? reach.data() + reach.size() - beam_sums_kernel::kReachSums : nullptr,
                            part);
    }
  }
};

}  // namespace

BeamSumsDevice::BeamSumsDevice(const Grid& grid, bool with_reach, OpContext& ctx,
                               std::vector<std::string>& warnings)
    : grid_(host_of(grid, with_reach)),
      ctx_(ctx),
      gpu_(ctx, "Tracing beams", warnings),
      opened_(nullptr, [](void*) {}) {
  open();
}

bool BeamSumsDevice::open() {
  opened_.reset();
  return gpu_.run([&](const auto& table, const auto& control, auto& error) {
    void* opened = nullptr;
    const GpuStatus status = table.open_beam_sums(&grid_, &control, &opened, &error);
    if (status == GpuStatus::kOk) opened_ = {opened, table.close_beam_sums};
    return status;
  });
}

bool BeamSumsDevice::try_out(const BeamRows& rows, Span<const std::uint32_t> pulses) {
  if (!usable()) return false;
  std::vector<std::uint32_t> some;
  const std::size_t count = std::min(pulses.size, kGpuSample);
  for (std::size_t k = 1; k <= count; ++k) some.push_back(pulses[pulses.size * k / count - 1]);
  const BeamBatch batch(rows, {some.data(), some.size()}, grid_.grid.factors != nullptr, ctx_);
  const SumsOfCells wanted(grid_.grid, batch.host(), grid_.with_reach);
  std::vector<double> sums(wanted.sums.size()), reach(wanted.reach.size());
  const HostBeams beams = batch.host();
  const HostCells cells{wanted.cells.data(), wanted.cells.size(), sums.data(),
                        grid_.with_reach ? reach.data() : nullptr};
  const auto call = [&](const auto& table, const auto& control, auto& error) {
    const GpuStatus added = table.add_beams(opened_.get(), &beams, &control, &error);
    return added == GpuStatus::kOk ? table.read_beam_sums(opened_.get(), &cells, &control, &error) : added;
  };
  const bool agrees = gpu_.run(call, [&] { return sums == wanted.sums && reach == wanted.reach; }) && open();
  if (!agrees) opened_.reset();
  return agrees;
}

bool BeamSumsDevice::add(const BeamRows& rows, Span<const std::uint32_t> pulses) {
  for (std::size_t first = 0; first < pulses.size && usable(); first += kBatch)
    if (!add_batch(rows, pulses.subspan(first, std::min(kBatch, pulses.size - first)))) opened_.reset();
  return usable();
}

bool BeamSumsDevice::add_batch(const BeamRows& rows, Span<const std::uint32_t> pulses) {
  const BeamBatch batch(rows, pulses, grid_.grid.factors != nullptr, ctx_);
  const HostBeams beams = batch.host();
  return gpu_.run([&](const auto& table, const auto& control, auto& error) {
    return table.add_beams(opened_.get(), &beams, &control, &error);
  });
}

bool BeamSumsDevice::read(VoxelSums* sums, ReachSums* reach) {
  if (!usable()) return false;
  const HostCells all{nullptr, grid_.grid.lattice.layer() * grid_.grid.lattice.nz,
                      reinterpret_cast<double*>(sums), reinterpret_cast<double*>(reach)};
  return gpu_.run([&](const auto& table, const auto& control, auto& error) {
    return table.read_beam_sums(opened_.get(), &all, &control, &error);
  });
}

}  // namespace pc
