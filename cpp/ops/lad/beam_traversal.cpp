#include "ops/lad/beam_traversal.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <numbers>
#include <numeric>
#include <optional>

#include "core/error.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "core/processor.h"
#include "ops/lad/beam_rows.h"
#include "ops/lad/beam_slabs.h"
#include "ops/lad/beam_sums_device.h"
#include "ops/lad/level_walk.h"
#include "ops/lad/voxel_sums.h"

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)
#define PC_WIDE_SUMS __attribute__((target("avx2"), flatten, noinline))
#endif

namespace pc {

namespace {

/// A pulse may pass thousands of dropped columns before its first voxel.
constexpr std::size_t kPulseGrain = 1024;
/// Pulses and voxels between two looks at the cancel flag.
constexpr std::size_t kPollPulses = 256;
constexpr std::size_t kPollVoxels = std::size_t{1} << 12;  // each may be the first in a page of memory
using beam_sums_kernel::Beam;
using beam_sums_kernel::Grid;
using beam_sums_kernel::ReturnCursor;
using beam_sums_kernel::Rules;

/// The pulses of a scan that reach the grid.
struct EnteringPulses {
  BulkVector<std::uint32_t> pulses;
  BulkVector<SlabSpan> spans;  ///< of the same; empty if there is one slab
  std::vector<std::uint64_t> zenith_count;

  bool meets(std::size_t n, std::size_t slab) const {
    return spans.empty() || (spans[n].first <= slab && slab <= spans[n].last);
  }
};

/// How far a beam counts in the voxels that it crosses, metres.
double end_of(const PulseBeam& beam, bool to_the_end) {
  return to_the_end || beam.misses > 0 ? HUGE_VAL : beam.ranges[beam.hits - 1];
}

/// Where a beam enters its first voxel; nothing if it ends before.
std::optional<double> entry_of(const VoxelLattice& lattice, const LatticeRay& ray, double end) {
  std::optional<double> found;
  const VoxelBlock whole{{0, 0, 0}, {lattice.nx, lattice.ny, lattice.nz}};
  walk_voxels(lattice, ray, whole, [&](std::size_t, std::uint32_t, double enter, double) {
    if (!(end < enter)) found = enter;
    return false;
  });
  return found;
}

/// Keeps what blocks of kPulseGrain entries begin with; the room of the others is freed.
template <class T>
BulkVector<T> without_gaps(const BulkVector<T>& entries, const std::vector<std::uint32_t>& found) {
  BulkVector<T> out(std::accumulate(found.begin(), found.end(), std::size_t{0}));
  T* to = out.data();
  for (std::size_t block = 0; block < found.size(); ++block)
    to = std::copy_n(entries.data() + block * kPulseGrain, found[block], to);
  return out;
}

EnteringPulses entering(const BeamRows& rows, const VoxelLattice& lattice, const BeamSlabs& slabs,
                        OpContext& ctx) {
  const std::size_t blocks = (rows.size() + kPulseGrain - 1) / kPulseGrain;
  ctx.begin_phase("Tracing beams", rows.size());
  const bool to_the_end = rows.shared() && !rows.partial_misses(), several = slabs.slabs().size() > 1;
  EnteringPulses out{BulkVector<std::uint32_t>(rows.size()), BulkVector<SlabSpan>(several ? rows.size() : 0),
                     std::vector<std::uint64_t>(kZenithBins, 0)};
  std::vector<std::uint32_t> found(blocks, 0);
  std::vector<std::vector<std::uint64_t>> counts(static_cast<std::size_t>(ctx.threads()),
                                                 std::vector<std::uint64_t>(kZenithBins, 0));
  parallel_for_worker(ctx, rows.size(), kPulseGrain, [&](std::size_t begin, std::size_t end, int worker) {
    std::size_t to = begin;
    PulseBeam beam;
    for (std::size_t pulse = begin; pulse < end; ++pulse) {
      if (!rows.beam(pulse, &beam)) continue;
      const double last = end_of(beam, to_the_end);
      const std::optional<double> enter = entry_of(lattice, beam.ray, last);
      if (!enter) continue;
      out.pulses[to] = static_cast<std::uint32_t>(pulse);
      if (several) out.spans[to] = slabs.span(beam.ray, *enter, last);
      ++to;
      ++counts[static_cast<std::size_t>(worker)][zenith_bin(beam.ray.direction)];
    }
    found[begin / kPulseGrain] = static_cast<std::uint32_t>(to - begin);
  });
  out.pulses = without_gaps(out.pulses, found);
  if (several) out.spans = without_gaps(out.spans, found);
  for (const auto& one : counts) {
    for (std::size_t bin = 0; bin < kZenithBins; ++bin) out.zenith_count[bin] += one[bin];
  }
  return out;
}

/// factors  empty, of all layers, or of each
Grid grid_of(const GridFrame& frame, Span<const double> factors) {
  const VoxelLattice& lattice = frame.lattice();
  require(factors.empty() || factors.size == kZenithBins || factors.size == lattice.nz * kZenithBins,
          "factors of chords must be those of all layers or of each");
  for (const double factor : factors)
    require(std::isfinite(factor) && factor > 0, "factors of chords must be above 0");
  return {lattice, 1 / frame.diagonal(), factors.data, factors.size > kZenithBins ? kZenithBins : 0};
}

/// Adds the pulses of one scan to the voxels of a slab.
class SlabSums {
 public:
  SlabSums(const Grid& grid, const BeamSlabs& slabs, std::size_t number, VoxelSums* sums, ReachSums* reach,
           OpContext& ctx)
      : grid_(grid),
        slab_(slabs.slabs()[number]),
        number_(number),
        sums_(sums),
        reach_(reach),
        late_(sums, reach),
        ctx_(ctx),
        is_plain_(grid.lattice.offsets.size == 0 && grid.lattice.kept.size == 0 && grid.factors == nullptr) {}

  void add_pulses(const BeamRows& rows, const EnteringPulses& entered) {
#if defined(PC_WIDE_SUMS)
    if (has_avx2()) return add_pulses_wide(rows, entered);
#endif
    add_each(rows, entered);
  }

 private:
#if defined(PC_WIDE_SUMS)
  /// The same in registers of four numbers; no sum is contracted, so every bit is the same.
  PC_WIDE_SUMS void add_pulses_wide(const BeamRows& rows, const EnteringPulses& entered) {
    add_each(rows, entered);
  }
#endif
  void add_each(const BeamRows& rows, const EnteringPulses& entered) {
    const Rules rules{rows.shared(), rows.partial_misses()};
    PulseBeam beam;
    for (std::size_t n = 0; n < entered.pulses.size(); ++n) {
      if (n % kPollPulses == 0)
        ctx_.checkpoint(), ctx_.advance(std::min(kPollPulses, entered.pulses.size() - n));
      if (!entered.meets(n, number_)) continue;
      rows.beam(entered.pulses[n], &beam);
      if (is_plain_ && !rules.by_shares) {
        add_plain(beam);
      } else {
        add_parts(rules, beam);
      }
    }
    late_.finish();
  }

  void poll() {
    if (++voxels_ % kPollVoxels == 0) ctx_.checkpoint();
  }
  /// The same as add_parts for returns that count alike in a lattice whose columns are neither raised nor dropped.
  void add_plain(const PulseBeam& beam) {
    const Beam view = beam.view();
    LevelWalk walk(grid_.lattice, beam.ray, slab_, end_of(beam, false));
    ReturnCursor returns(view);
    double coming = beam.hits > 0 ? beam.ranges[0] : HUGE_VAL;
    VoxelChords chords;
    while (walk.next(&chords)) {
      if ((voxels_ += chords.count) >= kPollVoxels) ctx_.checkpoint(), voxels_ = 0;
      for (std::size_t n = 0; n < chords.count; ++n) prefetch(sums_ + chords.voxel[n]);
      for (std::size_t n = 0; n < chords.count; ++n) {
        const double enter = chords.enter[n], leave = chords.leave[n],
                     u = (leave - enter) * grid_.per_diagonal;
        if (!(enter < leave)) continue;
        if (coming < leave) {
          const auto shares = returns.at(enter, leave);
          coming = shares.coming;
          add_shares(chords.voxel[n], u, shares.inside, shares.behind);
        } else {
          add_passed(sums_[chords.voxel[n]], u);
          if (reach_ != nullptr) reach_[chords.voxel[n]].reach_squared += 1;
        }
      }
    }
  }
  void add_shares(std::size_t voxel, double u, std::uint32_t inside, std::uint32_t behind) {
    const double transmitted = inside == 0 ? 1 : static_cast<double>(behind) / (inside + behind);
    add(sums_[voxel], u, transmitted, inside, 1);
    if (reach_ == nullptr) return;
    reach_[voxel].reach_squared += 1;
    reach_[voxel].reach_intercepted += 1 - transmitted;
  }
  void add_parts(const Rules& rules, const PulseBeam& beam) {
    const double* const factor =
        grid_.factors == nullptr ? nullptr : grid_.factors + zenith_bin(beam.ray.direction);
    beam_sums_kernel::for_each_part(grid_, slab_, rules, beam.view(), factor, [&](const BeamPart& part) {
      poll();
      late_.push(part);
    });
  }

  const Grid& grid_;
  const VoxelBlock& slab_;
  std::size_t number_;
  VoxelSums* sums_;
  ReachSums* reach_;
  LateSums late_;
  OpContext& ctx_;
  bool is_plain_;
  std::size_t voxels_ = 0;
};

/// False if the CPU must sum up.
bool summed_on_device(const Grid& grid, const std::deque<BeamRows>& rows,
                      const std::deque<EnteringPulses>& entered, BeamTraversalResult& out, OpContext& ctx) {
  if (ctx.device() != Device::kCuda || out.beam_count == 0) return false;
  const bool with_reach = out.reach.size() > 0;
  BeamSumsDevice device(grid, with_reach, ctx, out.warnings);
  ctx.begin_phase("Summing up voxels", out.beam_count);
  const auto first = std::find_if(entered.begin(), entered.end(),
                                  [](const EnteringPulses& e) { return e.pulses.size() > 0; });
  if (!device.try_out(rows[static_cast<std::size_t>(first - entered.begin())], first->pulses.view()))
    return false;
  for (std::size_t scan = 0; scan < rows.size(); ++scan)
    if (!device.add(rows[scan], entered[scan].pulses.view())) return false;
  const auto sums = out.sums.view(), reach = out.reach.view();
  if (device.read(reinterpret_cast<VoxelSums*>(sums.data),
                  with_reach ? reinterpret_cast<ReachSums*>(reach.data) : nullptr))
    return true;
  std::fill(sums.begin(), sums.end(), 0.0);
  std::fill(reach.begin(), reach.end(), 0.0);
  return false;
}

}  // namespace

BeamTraversalResult beam_traversal(const std::vector<BeamScan>& scans, const VoxelBox& grid,
                                   Span<const double> factors, OpContext& ctx) {
  const GridFrame frame(grid);
  const Grid lattice = grid_of(frame, factors);
  const BeamSlabs slabs(frame.lattice(), ctx.threads());
  const bool shared =
      std::any_of(scans.begin(), scans.end(), [](const BeamScan& s) { return s.intensity != nullptr; });
  BeamTraversalResult out{Column<double>(checked_bytes(frame.cells(), kVoxelSumFields)),
                          Column<double>(shared ? checked_bytes(frame.cells(), kReachSumFields) : 0),
                          std::vector<std::uint64_t>(kZenithBins, 0),
                          0,
                          {},
                          {}};
  auto* const sums = reinterpret_cast<VoxelSums*>(out.sums.view().data);
  auto* const reach = shared ? reinterpret_cast<ReachSums*>(out.reach.view().data) : nullptr;
  std::deque<BeamRows> rows;
  std::deque<EnteringPulses> entered;
  for (const BeamScan& scan : scans) {
    rows.emplace_back(scan, frame, ctx);
    entered.push_back(entering(rows.back(), frame.lattice(), slabs, ctx));
    out.scans.push_back(rows.back().counts());
    out.beam_count += entered.back().pulses.size();
    for (std::size_t bin = 0; bin < kZenithBins; ++bin)
      out.zenith_count[bin] += entered.back().zenith_count[bin];
  }
  if (summed_on_device(lattice, rows, entered, out, ctx)) return out;
  ctx.begin_phase("Summing up voxels", out.beam_count * slabs.slabs().size());
  parallel_for(ctx, slabs.slabs().size(), 1, [&](std::size_t begin, std::size_t) {
    SlabSums slab(lattice, slabs, begin, sums, reach, ctx);
    for (std::size_t scan = 0; scan < scans.size(); ++scan) slab.add_pulses(rows[scan], entered[scan]);
  });
  return out;
}

std::uint64_t beam_traversal_bytes(std::uint64_t rows, std::uint64_t cells) {
  constexpr std::uint64_t kPerRow =
      1 + 4 + 2 + 8 + 16 + 4;  // state, entering pulse, its slabs, groups, keys while they are sorted, shares
  return rows * kPerRow + cells * (sizeof(VoxelSums) + sizeof(ReachSums));
}

}  // namespace pc
