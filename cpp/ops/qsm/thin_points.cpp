#include "ops/qsm/thin_points.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "core/error.h"

namespace pc {

namespace {

constexpr double kLeastEdge = 1e-4, kLeastExtent = 1e-6, kMostExtent = 1e9;
constexpr double kEdgeShare = 0.25, kGrowth = 1.15, kClose = 1.01;
constexpr int kMostRounds = 400;
constexpr std::size_t kPerPoll = std::size_t{1} << 16;

struct Cell {
  std::int64_t x, y, z;
  bool operator==(const Cell& other) const { return x == other.x && y == other.y && z == other.z; }
};

bool below(const Vec3d& a, const Vec3d& b) { return std::tie(a.x, a.y, a.z) < std::tie(b.x, b.y, b.z); }

std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

/// Occupied voxels and the lowest point of each; open addressing, at most half full.
class Voxels {
 public:
  Voxels(std::uint64_t most, const Vec3d& origin) : most_(most), origin_(origin) {
    std::size_t slots = 16;
    while (slots < 2 * (most + 1)) slots *= 2;
    cells_.resize(slots);
    lowest_.resize(slots);
    used_.resize(slots);
  }

  /// False as soon as more than `most` voxels are occupied.
  bool fill(const BulkVector<Vec3d>& points, double edge, const OpContext& ctx) {
    std::fill(used_.begin(), used_.end(), std::uint8_t{0});
    count_ = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (i % kPerPoll == 0) ctx.checkpoint();
      if (!add(points[i], edge)) return false;
    }
    return true;
  }
  BulkVector<Vec3d> points() const {
    BulkVector<Vec3d> out;
    out.reserve(count_);
    for (std::size_t i = 0; i < used_.size(); ++i)
      if (used_[i] != 0) out.push_back(lowest_[i]);
    std::sort(out.begin(), out.end(), below);
    return out;
  }

 private:
  static std::int64_t index(double offset, double edge) {
    return static_cast<std::int64_t>(std::fmin(std::floor(offset / edge), 9e18));
  }

  bool add(const Vec3d& p, double edge) {
    const Cell cell{index(p.x - origin_.x, edge), index(p.y - origin_.y, edge), index(p.z - origin_.z, edge)};
    const std::uint64_t hash =
        mixed(static_cast<std::uint64_t>(cell.x) ^
              mixed(static_cast<std::uint64_t>(cell.y) ^ mixed(static_cast<std::uint64_t>(cell.z))));
    for (std::size_t at = hash & (used_.size() - 1);; at = (at + 1) & (used_.size() - 1)) {
      if (used_[at] == 0) {
        if (++count_ > most_) return false;
        used_[at] = 1;
        cells_[at] = cell;
        lowest_[at] = p;
        return true;
      }
      if (cells_[at] == cell) {
        if (below(p, lowest_[at])) lowest_[at] = p;
        return true;
      }
    }
  }

  std::uint64_t most_, count_ = 0;
  Vec3d origin_;
  BulkVector<Cell> cells_;
  BulkVector<Vec3d> lowest_;
  BulkVector<std::uint8_t> used_;
};

Box3d box_of(const BulkVector<Vec3d>& points) {
  Box3d box{points[0], points[0]};
  for (const Vec3d& p : points) {
    require(std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z), "points to thin must be finite");
    box.min = {std::min(box.min.x, p.x), std::min(box.min.y, p.y), std::min(box.min.z, p.z)};
    box.max = {std::max(box.max.x, p.x), std::max(box.max.y, p.y), std::max(box.max.z, p.z)};
  }
  return box;
}

/// The smallest edge found that fits, and with it filled voxels. `edge` is the first one tried.
double fitting_edge(Voxels& voxels, const BulkVector<Vec3d>& points, double edge, const OpContext& ctx) {
  const auto fits = [&](double tried) { return voxels.fill(points, tried, ctx); };
  double fitting = edge, narrow = 0;  // narrow: the largest edge that is known not to fit
  for (int round = 0; !fits(fitting); ++round, fitting *= kGrowth) {
    require(round < kMostRounds, "no voxel thins the points to the budget");
    narrow = fitting;
  }
  while (narrow == 0 && fitting > kLeastEdge) {
    const double half = std::max(kLeastEdge, fitting / 2);
    if (fits(half))
      fitting = half;
    else
      narrow = half;
  }
  while (narrow > 0 && fitting > kClose * narrow) {
    const double middle = std::sqrt(fitting * narrow);
    (fits(middle) ? fitting : narrow) = middle;
  }
  require(fits(fitting), "voxels that fitted do so again");
  return fitting;
}

}  // namespace

ThinnedPoints thin_points(BulkVector<Vec3d>&& points, std::uint64_t max_points, OpContext& ctx) {
  require(max_points > 0, "max_points must be at least 1");
  if (points.size() <= max_points) return {std::move(points), std::nan("")};
  const Box3d box = box_of(points);
  double volume = 1;
  for (const double extent : {box.max.x - box.min.x, box.max.y - box.min.y, box.max.z - box.min.z}) {
    require(extent <= kMostExtent, "the points of a tree are more than 1e9 m apart");
    volume *= std::max(extent, kLeastExtent);
  }
  const double first = std::max(kLeastEdge, kEdgeShare * std::cbrt(volume / static_cast<double>(max_points)));
  Voxels voxels(max_points, box.min);
  const double edge = fitting_edge(voxels, points, first, ctx);
  return {voxels.points(), edge};
}

}  // namespace pc
