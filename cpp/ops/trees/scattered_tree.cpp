#include "ops/trees/scattered_tree.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/nth_smallest.h"
#include "core/position_hash.h"
#include "spatial/kd_tree.h"

namespace pc {

namespace {

constexpr std::size_t kFewest = 30, kSamples = 500;

/// Rows, chosen by their position.
std::vector<std::size_t> sample(Span<const Vec3d> points) {
  std::vector<std::pair<std::uint64_t, std::size_t>> keyed;
  keyed.reserve(points.size);
  for (std::size_t i = 0; i < points.size; ++i) keyed.emplace_back(position_hash(points[i]), i);
  const std::size_t count = std::min(keyed.size(), kSamples);
  std::nth_element(keyed.begin(), keyed.begin() + static_cast<std::ptrdiff_t>(count - 1), keyed.end());
  std::vector<std::size_t> rows;
  for (std::size_t k = 0; k < count; ++k) rows.push_back(keyed[k].second);
  return rows;
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
  for (const std::size_t row : sample(points)) {
    const double squared = tree.view().nearest_elsewhere(points[row]);
    if (std::isfinite(squared)) nearest.push_back(squared);
  }
  if (nearest.empty()) return std::nan("");
  return std::sqrt(nth_smallest(nearest.data(), nearest.size(), nearest.size() / 2)) / ground_m;
}

}  // namespace pc
