#include "ops/trees/stray_top.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "core/nth_smallest.h"
#include "ops/denoise/cluster_outlier.h"
#include "ops/denoise/noise_class.h"
#include "ops/trees/least_of.h"
#include "spatial/kd_tree.h"

namespace pc {

namespace {

constexpr std::uint32_t kCluster = 17;
constexpr std::size_t kLeast = 2 * kCluster, kTop = 1000, kMostTop = 100'000, kPart = 10;
/// Those of the method `auto` of denoise, but for the longest link: tops are sparser than the rest.
constexpr double kLinkFactor = 7, kGapFactor = 6, kMinLink = 6, kMaxLink = 5;
constexpr std::size_t kPollPoints = 1 << 16;
constexpr double kFarAway = 1e9;

bool is_higher(const Vec3d& a, const Vec3d& b) {
  return std::tuple(-a.z, a.x, a.y) < std::tuple(-b.z, b.x, b.y);
}

std::vector<Vec3d> highest(Span<const Vec3d> points, const OpContext& ctx) {
  LeastOf<Vec3d, bool (*)(const Vec3d&, const Vec3d&)> top(
      std::min(points.size, std::clamp(points.size / kPart, kTop, kMostTop)), is_higher);
  for (std::size_t i = 0; i < points.size; ++i) {
    if (i % kPollPoints == 0) ctx.checkpoint();
    top.add(points[i]);
  }
  return top.take();
}

/// Squared distances of nearest points at different positions: median and 95th percentile; NaN without any.
std::pair<double, double> squared_spacing(const std::vector<Vec3d>& points, const KdTree& tree) {
  std::vector<double> nearest;
  for (const Vec3d& p : points) {
    const double squared = tree.view().nearest_elsewhere(p);
    if (std::isfinite(squared)) nearest.push_back(squared);
  }
  if (nearest.empty()) return {std::nan(""), std::nan("")};
  const std::size_t high = nearest.size() * 95 / 100;
  const double p95 = nth_smallest(nearest.data(), nearest.size(), high);
  return {nth_smallest(nearest.data(), nearest.size(), nearest.size() / 2), p95};
}

}  // namespace

double stray_top(Span<const Vec3d> points, OpContext& ctx) {
  if (points.size < kLeast) return std::nan("");
  const std::vector<Vec3d> top = highest(points, ctx);
  const KdTree tree({top.data(), top.size()}, ctx);
  const auto [median, p95] = squared_spacing(top, tree);
  if (!(median > 0)) return std::nan("");
  ClusterOutlierParams params{};
  params.nb_neighbors = kCluster - 1;
  params.link_factor = kLinkFactor;
  params.ball_factor = kFarAway;
  params.surface_factor = kFarAway;
  params.min_link_m = kMinLink * std::sqrt(median);
  params.max_link_m = std::max(params.min_link_m, kMaxLink * std::sqrt(p95));
  params.cluster_points = kCluster;
  params.gap_factor = kGapFactor;
  std::vector<std::uint8_t> labels(top.size(), kNoise);
  label_clusters(tree, params, {labels.data(), labels.size()}, ctx);
  const auto clean = std::find(labels.begin(), labels.end(), kClean);
  const Vec3d& kept =
      clean == labels.end() ? top.back() : top[static_cast<std::size_t>(clean - labels.begin())];
  return top.front().z - kept.z;
}

}  // namespace pc
