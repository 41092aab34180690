#include "ops/trees/tree_decimation.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "core/error.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "core/random.h"
#include "ops/cloud/percentile.h"
#include "ops/trees/cut_pursuit_nodes.h"
#include "ops/trees/cut_pursuit_trees.h"
#include "spatial/kd_tree.h"

namespace pc {

namespace {

constexpr double kSamples = 200'000;
constexpr std::size_t kGrain = std::size_t{1} << 15, kSearches = 1024;
constexpr double kDefault1 = 0.051, kDefault2 = 0.101, kRaise = 1.26;
constexpr int kRaises = 12;

/// Uniform in [0, 1), the same for mirrored and moved points.
double chance_of(const Vec3d& local) {
  std::uint64_t hash = random_u64(0, std::bit_cast<std::uint64_t>(std::abs(local.x)));
  hash = random_u64(hash, std::bit_cast<std::uint64_t>(std::abs(local.y)));
  return random_unit(hash, std::bit_cast<std::uint64_t>(std::abs(local.z)));
}

/// Rows of about kSamples points; of all where there are no more.
std::vector<std::uint32_t> sample_rows(Span<const Vec3d> points, OpContext& ctx) {
  const Vec3d origin = box_center(points, ctx);
  const double share = kSamples / static_cast<double>(points.size);
  std::vector<std::vector<std::uint32_t>> parts((points.size + kGrain - 1) / kGrain);
  parallel_for(ctx, points.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (!is_finite(points[i]) || chance_of(local_position(points[i], origin)) >= share) continue;
      parts[begin / kGrain].push_back(static_cast<std::uint32_t>(i));
    }
  });
  std::vector<std::uint32_t> rows;
  for (const auto& part : parts) rows.insert(rows.end(), part.begin(), part.end());
  return rows;
}

double median_spacing(Span<const Vec3d> points, OpContext& ctx) {
  ctx.begin_phase("Measuring point spacing", 0);
  const std::vector<std::uint32_t> rows = sample_rows(points, ctx);
  const KdTree tree(points, ctx);
  BulkVector<double> distances(rows.size());
  parallel_for(ctx, rows.size(), kSearches, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      distances[i] = std::sqrt(tree.view().nearest_elsewhere(points[rows[i]]));
  });
  std::sort(distances.begin(), distances.end());
  const auto finite = std::lower_bound(distances.begin(), distances.end(), kd_tree::kInfinity);
  distances.resize(static_cast<std::size_t>(finite - distances.begin()));
  return distances.empty() ? std::numeric_limits<double>::quiet_NaN()
                           : sorted_percentile(distances.view(), 0.5);
}

double up_to_millimetre(double value) { return std::ceil(value * 1000 - 1e-6) / 1000; }

}  // namespace

TreeDecimation tree_decimation(HitPoints points, double decimate_res1, double decimate_res2, OpContext& ctx) {
  require(std::isfinite(decimate_res1) && decimate_res1 > 0, "decimate_res1 must be finite and positive");
  require(std::isfinite(decimate_res2) && decimate_res2 > 0, "decimate_res2 must be finite and positive");
  require(points.size() < std::numeric_limits<std::uint32_t>::max(), "fewer than 2^32 points are needed");
  const auto count = [&](double res1, double res2) {
    return TreeVoxels{res1, res2, cut_pursuit_node_count(points, res1, ctx)};
  };
  TreeDecimation out{};
  out.spacing_m = std::numeric_limits<double>::quiet_NaN();
  const bool published = decimate_res1 <= kDefault1 && decimate_res2 <= kDefault2;
  if (!published || points.size() < kFewestDecimated) {
    out.tile = out.whole = count(decimate_res1, decimate_res2);
    return out;
  }
  const double spacing = median_spacing(points.xyz(), ctx);
  out.spacing_m = spacing;
  const double target = std::max(3 * spacing, spacing * std::cbrt(static_cast<double>(points.size()) / 1e6));
  const double raised = target > decimate_res1 ? up_to_millimetre(target) : decimate_res1;
  out.tile = raised > decimate_res1 ? count(raised, 2 * raised) : count(decimate_res1, decimate_res2);
  out.whole = out.tile;
  for (int tries = 0; tries < kRaises && out.whole.node_count > kMostWholeNodes; ++tries) {
    const double coarser = up_to_millimetre(kRaise * out.whole.decimate_res1);
    out.whole = count(coarser, 2 * coarser);
  }
  return out;
}

}  // namespace pc
