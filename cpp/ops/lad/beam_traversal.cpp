#include "ops/lad/beam_traversal.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <numbers>

#include "core/error.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "core/processor.h"
#include "ops/lad/beam_rows.h"

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
/// The returns of a beam, from voxel to voxel along it.
class ReturnCursor {
 public:
  explicit ReturnCursor(const PulseBeam& beam) : beam_(beam) {}
  struct Shares {
    std::uint32_t inside, behind;
  };
  /// Of the voxel between two distances; calls must go along the beam.
  Shares at(double enter, double leave) {
    while (next_ < beam_.hits && beam_.ranges[next_] < enter) ++next_;
    std::uint32_t behind = next_;
    while (behind < beam_.hits && beam_.ranges[behind] < leave) ++behind;
    return {behind - next_, beam_.hits - behind + beam_.misses};
  }

 private:
  const PulseBeam& beam_;
  std::uint32_t next_ = 0;
};

/// The shares of the pulse along a beam.
class ShareCursor {
 public:
  explicit ShareCursor(const PulseBeam& beam) : beam_(beam) {}
  struct Shares {
    double reach, inside;
    std::uint32_t hits;
  };
  /// Of the voxel between two distances; calls must go along the beam.
  Shares at(double enter, double leave) {
    for (; next_ < beam_.hits && beam_.ranges[next_] < enter; ++next_) before_ += beam_.shares[next_];
    double inside = 0;
    std::uint32_t behind = next_;
    for (; behind < beam_.hits && beam_.ranges[behind] < leave; ++behind) inside += beam_.shares[behind];
    return {1 - before_, inside, behind - next_};
  }

 private:
  const PulseBeam& beam_;
  std::uint32_t next_ = 0;
  double before_ = 0;
};

/// The pulses of a scan that reach the grid.
struct EnteringPulses {
  BulkVector<std::uint32_t> pulses;
  std::vector<std::uint64_t> zenith_count;
};

VoxelBlock whole(const VoxelLattice& g) { return {{0, 0, 0}, {g.nx, g.ny, g.nz}}; }

bool reaches(const VoxelLattice& lattice, const PulseBeam& beam, bool to_the_end) {
  bool found = false;
  ReturnCursor returns(beam);
  walk_voxels(lattice, beam.ray, whole(lattice), [&](std::size_t, std::uint32_t, double enter, double leave) {
    const auto [inside, behind] = returns.at(enter, leave);
    found = to_the_end || inside + behind > 0;
    return false;  // a beam that ends before its first voxel ends before all
  });
  return found;
}

std::size_t zenith_bin(const Vec3d& direction) {
  const double angle = std::acos(std::min(1.0, std::abs(direction.z)));
  const double bin = angle / (std::numbers::pi / 2) * static_cast<double>(kZenithBins);
  return std::min(kZenithBins - 1, static_cast<std::size_t>(bin));
}

EnteringPulses entering(const BeamRows& rows, const VoxelLattice& lattice, OpContext& ctx) {
  const std::size_t blocks = (rows.size() + kPulseGrain - 1) / kPulseGrain;
  ctx.begin_phase("Tracing beams", rows.size());
  const bool to_the_end = rows.shared() && !rows.partial_misses();
  EnteringPulses out{BulkVector<std::uint32_t>(rows.size()), std::vector<std::uint64_t>(kZenithBins, 0)};
  std::vector<std::uint32_t> found(blocks, 0);
  std::vector<std::vector<std::uint64_t>> counts(static_cast<std::size_t>(ctx.threads()),
                                                 std::vector<std::uint64_t>(kZenithBins, 0));
  parallel_for_worker(ctx, rows.size(), kPulseGrain, [&](std::size_t begin, std::size_t end, int worker) {
    std::size_t to = begin;
    PulseBeam beam;
    for (std::size_t pulse = begin; pulse < end; ++pulse) {
      if (!rows.beam(pulse, &beam) || !reaches(lattice, beam, to_the_end)) continue;
      out.pulses[to++] = static_cast<std::uint32_t>(pulse);
      ++counts[static_cast<std::size_t>(worker)][zenith_bin(beam.ray.direction)];
    }
    found[begin / kPulseGrain] = static_cast<std::uint32_t>(to - begin);
  });
  std::size_t to = 0;
  for (std::size_t block = 0; block < blocks; ++block) {
    std::copy_n(out.pulses.data() + block * kPulseGrain, found[block], out.pulses.data() + to);
    to += found[block];
  }
  out.pulses.resize(to);
  for (const auto& one : counts) {
    for (std::size_t bin = 0; bin < kZenithBins; ++bin) out.zenith_count[bin] += one[bin];
  }
  return out;
}

/// Cuts a grid into slabs along its axis of most cells. Voxels of different slabs are summed up by different threads. The
/// sums do not depend on the cuts: walk_voxels gives a slab the chords of the whole grid.
std::vector<VoxelBlock> slabs_of(const VoxelLattice& lattice, int threads) {
  const VoxelBlock all = whole(lattice);
  const std::size_t axis = static_cast<std::size_t>(std::max_element(all.hi, all.hi + 3) - all.hi);
  const std::uint32_t wanted =
      threads == 1 ? 1U : 2U * static_cast<std::uint32_t>(threads);  // two: to share the load
  const std::uint32_t count = std::min(wanted, all.hi[axis]);
  std::vector<VoxelBlock> slabs(count, all);
  for (std::uint32_t s = 0; s < count; ++s) {
    slabs[s].lo[axis] = static_cast<std::uint32_t>(std::uint64_t{all.hi[axis]} * s / count);
    slabs[s].hi[axis] = static_cast<std::uint32_t>(std::uint64_t{all.hi[axis]} * (s + 1) / count);
  }
  return slabs;
}

void add(VoxelSums& sums, double u, double transmitted, std::uint32_t inside, double reach) {
  // Powers by pairs: shorter chains of products than one by one.
  const double square = u * u, cube = square * u, fourth = square * square;
  const double powers[kChordMoments] = {1,      u,          square,          cube,
                                        fourth, fourth * u, fourth * square, fourth * cube};
  for (std::size_t m = 0; m < kChordMoments; ++m) sums.moment[m] += reach * powers[m];
  sums.transmitted += transmitted;
  sums.transmitted_squared += transmitted * transmitted;
  sums.hits += inside;
}

/// A beam in a voxel.
struct VoxelPart {
  std::size_t cell;
  double u, reach,
      inside;  ///< chord / diagonal; shares of the pulse that reach the voxel and that end inside
  double transmitted;
  std::uint32_t hits;
};

/// Sums up beams in voxels in the order in which they come, each a few steps later: its voxel is in the cache by then.
class LateSums {
 public:
  LateSums(VoxelSums* sums, ReachSums* reach) : sums_(sums), reach_(reach) {}
  void push(const VoxelPart& part) {
    prefetch(reinterpret_cast<const char*>(sums_ + part.cell));
    VoxelPart& place = waiting_[pushed_++ % kLate];
    if (pushed_ > kLate) add_part(place);
    place = part;
  }
  void finish() {
    for (std::size_t n = pushed_ > kLate ? pushed_ - kLate : 0; n < pushed_; ++n)
      add_part(waiting_[n % kLate]);
    pushed_ = 0;
  }

 private:
  static constexpr std::size_t kLate = 16;
  static void prefetch([[maybe_unused]] const char* sums) {
#if defined(__GNUC__)
    __builtin_prefetch(sums, 1);
    __builtin_prefetch(sums + sizeof(VoxelSums) - 1, 1);
#endif
  }
  void add_part(const VoxelPart& part) {
    add(sums_[part.cell], part.u, part.transmitted, part.hits, part.reach);
    if (reach_ == nullptr) return;
    reach_[part.cell].reach_squared += part.reach * part.reach;
    reach_[part.cell].reach_intercepted += part.reach * part.inside;
  }

  VoxelSums* sums_;
  ReachSums* reach_;
  std::array<VoxelPart, kLate> waiting_{};
  std::size_t pushed_ = 0;
};

/// Adds the pulses of one scan to the voxels of a slab.
class SlabSums {
 public:
  SlabSums(const GridFrame& frame, const VoxelBlock& slab, VoxelSums* sums, ReachSums* reach, OpContext& ctx)
      : lattice_(frame.lattice()),
        slab_(slab),
        late_(sums, reach),
        ctx_(ctx),
        per_diagonal_(1 / frame.diagonal()) {}

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
    PulseBeam beam;
    for (std::size_t n = 0; n < entered.pulses.size(); ++n) {
      if (n % kPollPulses == 0)
        ctx_.checkpoint(), ctx_.advance(std::min(kPollPulses, entered.pulses.size() - n));
      rows.beam(entered.pulses[n], &beam);
      if (rows.shared()) {
        add_by_shares(beam, rows.partial_misses());
      } else {
        add_alike(beam);
      }
    }
    late_.finish();
  }

  void poll() {
    if (++voxels_ % kPollVoxels == 0) ctx_.checkpoint();
  }
  /// Every return and miss counts alike.
  void add_alike(const PulseBeam& beam) {
    ReturnCursor returns(beam);
    walk_voxels(lattice_, beam.ray, slab_,
                [&](std::size_t column, std::uint32_t k, double enter, double leave) {
                  poll();
                  const auto [inside, behind] = returns.at(enter, leave);
                  const std::uint32_t reach = inside + behind;
                  if (reach == 0) return false;
                  const double transmitted = inside == 0 ? 1 : static_cast<double>(behind) / reach;
                  late_.push({column + k * lattice_.layer(), (leave - enter) * per_diagonal_, 1,
                              1 - transmitted, transmitted, inside});
                  return true;
                });
  }
  void add_by_shares(const PulseBeam& beam, bool partial_misses) {
    ShareCursor shares(beam);
    const double last = beam.hits > 0 ? beam.ranges[beam.hits - 1] : 0;
    const bool ends = partial_misses && beam.misses == 0;
    walk_voxels(lattice_, beam.ray, slab_,
                [&](std::size_t column, std::uint32_t k, double enter, double leave) {
                  poll();
                  if (ends && last < enter) return false;
                  const auto [reach, inside, hits] = shares.at(enter, leave);
                  late_.push({column + k * lattice_.layer(), (leave - enter) * per_diagonal_, reach, inside,
                              reach - inside, hits});
                  return true;
                });
  }

  const VoxelLattice& lattice_;
  const VoxelBlock& slab_;
  LateSums late_;
  OpContext& ctx_;
  double per_diagonal_;
  std::size_t voxels_ = 0;
};

}  // namespace

BeamTraversalResult beam_traversal(const std::vector<BeamScan>& scans, const VoxelBox& grid, OpContext& ctx) {
  const GridFrame frame(grid);
  const std::vector<VoxelBlock> slabs = slabs_of(frame.lattice(), ctx.threads());
  const bool shared =
      std::any_of(scans.begin(), scans.end(), [](const BeamScan& s) { return s.intensity != nullptr; });
  BeamTraversalResult out{Column<double>(checked_bytes(frame.cells(), kVoxelSumFields)),
                          Column<double>(shared ? checked_bytes(frame.cells(), kReachSumFields) : 0),
                          std::vector<std::uint64_t>(kZenithBins, 0),
                          0,
                          {}};
  auto* const sums = reinterpret_cast<VoxelSums*>(out.sums.view().data);
  auto* const reach = shared ? reinterpret_cast<ReachSums*>(out.reach.view().data) : nullptr;
  std::deque<BeamRows> rows;
  std::deque<EnteringPulses> entered;
  for (const BeamScan& scan : scans) {
    rows.emplace_back(scan, frame, ctx);
    entered.push_back(entering(rows.back(), frame.lattice(), ctx));
    out.scans.push_back(rows.back().counts());
    out.beam_count += entered.back().pulses.size();
    for (std::size_t bin = 0; bin < kZenithBins; ++bin)
      out.zenith_count[bin] += entered.back().zenith_count[bin];
  }
  ctx.begin_phase("Summing up voxels", out.beam_count * slabs.size());
  parallel_for(ctx, slabs.size(), 1, [&](std::size_t begin, std::size_t) {
    SlabSums slab(frame, slabs[begin], sums, reach, ctx);
    for (std::size_t scan = 0; scan < scans.size(); ++scan) slab.add_pulses(rows[scan], entered[scan]);
  });
  return out;
}

std::uint64_t beam_traversal_bytes(std::uint64_t rows, std::uint64_t cells) {
  constexpr std::uint64_t kPerRow =
      1 + 4 + 8 + 16 + 4;  // state, entering pulse, groups, keys while they are sorted, shares
  return rows * kPerRow + cells * (sizeof(VoxelSums) + sizeof(ReachSums));
}

}  // namespace pc
