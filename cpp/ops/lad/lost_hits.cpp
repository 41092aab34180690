#include "ops/lad/lost_hits.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <map>
#include <vector>

#include "core/error.h"
#include "core/linear_solve.h"
#include "core/parallel.h"
#include "core/position_hash.h"
#include "ops/cloud/select_hits.h"
#include "spatial/kd_tree.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 14;
constexpr double kSamples = 50'000;
constexpr std::uint32_t kNeighbors = 20;
/// Two returns of one pulse, whose coordinates are rounded, lie nearer than this share of the farthest neighbour.
constexpr double kSamePulse = 0.01;
constexpr double kOpposite = -0.9;  // cosine
constexpr double kSameRange = 0.002;
constexpr std::size_t kFewest = 5;
/// Directions farther apart than this show nothing of one surface, rad.
constexpr double kWidest = 0.1;

/// Calls visit(direction, range) for the beams of a scan that have a direction; the range of a miss is 0.
template <class Visit>
void for_each_beam(const ViewedScan& scan, OpContext& ctx, const Visit& visit) {
  for (const ViewRows& rows : scan.rows) {
    require(is_finite(rows.shift), "the shift of a scan must be finite");
    const HitMask mask = hit_mask(rows.positions.size, rows.is_miss, rows.deleted, ctx);
    const Vec3d to_origin = rows.shift - scan.origin;
    for (std::size_t i = 0; i < rows.positions.size; ++i) {
      if (i % kGrain == 0) ctx.checkpoint();
      const Vec3d along = rows.positions[i] + to_origin;
      const double squared = dot(along, along);
      if (!(squared > 0) || !std::isfinite(squared)) continue;
      const double length = std::sqrt(squared);
      visit(along * (1 / length), (mask.skip[i] & kSkipMiss) != 0 ? 0 : length);
    }
  }
}

/// A patch of directions about 40 mrad wide, as the hash of its place.
std::uint64_t patch_of(const Vec3d& direction) {
  constexpr double kPatches = 25;
  return position_hash({std::floor(kPatches * direction.x), std::floor(kPatches * direction.y),
                        std::floor(kPatches * direction.z)});
}

/// The beams that are looked at, with those around them: all, or those of patches drawn by their place.
struct Beams {
  BulkVector<Vec3d> direction;
  BulkVector<double> range;  ///< 0 = miss
  std::size_t size = 0, hits = 0;

  Beams(const ViewedScan& scan, OpContext& ctx) {
    std::uint64_t rows = 0;
    for (const ViewRows& part : scan.rows) rows += part.positions.size;
    std::map<std::uint64_t, std::uint64_t> patches;  // by hash: beams, then 0 for those that are not taken
    const bool all = rows <= kMostLookedThrough;
    if (!all) {
      for_each_beam(scan, ctx, [&](const Vec3d& unit, double) { ++patches[patch_of(unit)]; });
      rows = 0;
      for (auto& [patch, count] : patches) {
        if (rows + count > kMostLookedThrough) count = 0;
        rows += count;
      }
    }
    direction = BulkVector<Vec3d>(rows);
    range = BulkVector<double>(rows);
    for_each_beam(scan, ctx, [&](const Vec3d& unit, double length) {
      if (!all && patches[patch_of(unit)] == 0) return;
      direction[size] = unit;
      range[size++] = length;
      if (length > 0) ++hits;
    });
  }
};

/// The hits nearest to a direction.
class Neighborhood {
 public:
  Neighborhood(const Beams& beams, const Vec3d& direction, const std::uint64_t* rows, const double* squared,
               std::uint32_t count)
      : direction_(direction) {
    if (count == 0 || squared[count - 1] > kWidest * kWidest) return;
    const double nearest = kSamePulse * kSamePulse * squared[count - 1];
    for (std::uint32_t n = 0; n < count; ++n) {
      const std::uint64_t row = rows[n];
      if (squared[n] <= nearest) continue;
      hits_[size_] = beams.direction[row];
      inverse_[size_++] = 1 / beams.range[row];
    }
  }
  /// Whether there are enough, on both sides, and all in one plane.
  bool is_surface() const { return size_ >= kFewest && has_both_sides() && is_plane(); }

 private:
  bool has_both_sides() const {
    for (std::size_t a = 0; a < size_; ++a) {
      const Vec3d one = hits_[a] - direction_;
      for (std::size_t b = a + 1; b < size_; ++b) {
        const Vec3d other = hits_[b] - direction_;
        const double lengths = std::sqrt(dot(one, one) * dot(other, other));
        if (dot(one, other) <= kOpposite * lengths) return true;
      }
    }
    return false;
  }
  /// On a plane 1 / range is linear in the place across the direction.
  bool is_plane() const {
    const Vec3d up = std::abs(direction_.z) < 0.9 ? Vec3d{0, 0, 1} : Vec3d{1, 0, 0};
    const Vec3d side = cross(direction_, up), other = cross(direction_, side);
    std::array<double, 3 * kNeighbors> rows{};
    double mean = 0;
    for (std::size_t n = 0; n < size_; ++n) {
      const Vec3d& u = hits_[n];
      rows[3 * n] = 1;
      rows[3 * n + 1] = dot(u, side) / kWidest;
      rows[3 * n + 2] = dot(u, other) / kWidest;
      mean += inverse_[n] / static_cast<double>(size_);
    }
    const LeastSquares fit =
        solve_least_squares({{rows.data(), 3 * size_}, size_, 3}, {inverse_.data(), size_});
    double squared = 0;
    for (std::size_t n = 0; n < size_; ++n) {
      double error = -inverse_[n];
      for (std::size_t k = 0; k < 3; ++k) error += rows[3 * n + k] * fit.x[k];
      squared += error * error;
    }
    return squared <= kSameRange * kSameRange * mean * mean * static_cast<double>(size_ - 3);
  }

  const Vec3d& direction_;
  std::array<Vec3d, kNeighbors> hits_{};
  std::array<double, kNeighbors> inverse_{};  // 1 / range
  std::size_t size_ = 0;
};

}  // namespace

LostHits lost_hits(const ViewedScan& scan, OpContext& ctx) {
  require(is_finite(scan.origin), "the origin of a scan must be finite");
  const Beams beams(scan, ctx);
  LostHits out;
  if (beams.size == 0) return out;
  // By their directions, so that the order of the rows does not matter.
  const double share = kSamples / static_cast<double>(beams.size);
  const auto most = share < 1 ? static_cast<std::uint64_t>(share * 0x1p64) : ~std::uint64_t{0};
  std::vector<std::size_t> looked_at;
  for (std::size_t i = 0; i < beams.size; ++i) {
    if (i % kGrain == 0) ctx.checkpoint();
    if (position_hash(beams.direction[i]) <= most) looked_at.push_back(i);
  }
  // Hits that are left lie far apart in a thinned scan, so the nearest hits are wanted, and not those among the nearest beams.
  BulkVector<Vec3d> hits(beams.hits);
  BulkVector<std::uint32_t> row_of(beams.hits);
  for (std::size_t i = 0, n = 0; i < beams.size; ++i) {
    if (beams.range[i] == 0) continue;
    hits[n] = beams.direction[i];
    row_of[n++] = static_cast<std::uint32_t>(i);
  }
  const KdTree tree(hits.view(), ctx);
  std::atomic<std::uint64_t> between{0}, lost{0};
  ctx.begin_phase("Looking for lost hits", looked_at.size());
  parallel_for(ctx, looked_at.size(), 256, [&](std::size_t begin, std::size_t end) {
    std::array<double, kNeighbors> squared{};
    std::array<std::uint64_t, kNeighbors> near{};
    std::array<std::uint64_t, kNeighbors> slots{};
    std::uint64_t found = 0, missed = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t beam = looked_at[i];
      const Vec3d& direction = beams.direction[beam];
      const std::uint32_t count =
          tree.view().knn(direction, kNeighbors, kd_tree::kNoRow, squared.data(), near.data(), slots.data());
      for (std::uint32_t n = 0; n < count; ++n) near[n] = row_of[near[n]];
      if (!Neighborhood(beams, direction, near.data(), squared.data(), count).is_surface()) continue;
      ++found;
      if (beams.range[beam] == 0) ++missed;
    }
    between += found;
    lost += missed;
  });
  out.looked_at = looked_at.size();
  out.between = between;
  out.lost = lost;
  return out;
}

}  // namespace pc
