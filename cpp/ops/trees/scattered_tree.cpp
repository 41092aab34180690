#include "ops/trees/scattered_tree.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "core/nth_smallest.h"
#include "core/position_hash.h"
#include "ops/trees/least_of.h"
#include "spatial/kd_tree.h"

namespace pc {

namespace {

constexpr std::size_t kFewest = 30, kSamples = 500, kPollPoints = 1 << 16;

/// Points, chosen by their position.
std::vector<Vec3d> sample(Span<const Vec3d> points, const OpContext& ctx) {
  using Keyed = std::pair<std::uint64_t, std::size_t>;
  LeastOf<Keyed, std::less<>> least(kSamples, {});
  for (std::size_t i = 0; i < points.size; ++i) {
    if (i % kPollPoints == 0) ctx.checkpoint();
    least.add({position_hash(points[i]), i});
  }
  std::vector<Vec3d> chosen;
  for (const auto& [hash, row] : least.take()) chosen.push_back(points[row]);
  return chosen;
}

}  // namespace

double tree_scatter(Span<const Vec3d> points, const GroundHeights& ground, OpContext& ctx) {
  if (points.size < kFewest) return std::nan("");
  Box3d box;
  for (const Vec3d& p : points) box.add(p);
  const double ground_m = ground.spacing({(box.min.x + box.max.x) / 2, (box.min.y + box.max.y) / 2});
  if (!(ground_m > 0)) return std::nan("");
  const KdTree tree(points, ctx);
  std::vector<double> nearest;
  for (const Vec3d& p : sample(points, ctx)) {
    const double squared = tree.view().nearest_elsewhere(p);
    if (std::isfinite(squared)) nearest.push_back(squared);
  }
  if (nearest.empty()) return std::nan("");
  return std::sqrt(nth_smallest(nearest.data(), nearest.size(), nearest.size() / 2)) / ground_m;
}

}  // namespace pc
