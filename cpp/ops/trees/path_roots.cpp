#include "ops/trees/path_roots.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <tuple>

#include "core/memory.h"
#include "core/parallel.h"
#include "ops/trees/polled_sort.h"
#include "spatial/kd_tree.h"

namespace pc {

namespace {

constexpr std::size_t kPollEvery = 4096;
constexpr std::size_t kGrain = 16;
constexpr double kBreastHeight = 1.3;  // metres
constexpr double kSeedReach = 0.3;     // metres between a seed and the surface of its stem
constexpr double kSeedRadius = 0.1;    // metres: of a seed without a stem
constexpr double kSteepestAxis = 0.5;  // least rise per length: flatter ones are no stems

struct Claim {
  std::uint32_t node;
  double outside;  ///< distance from the surface of the stem, negative within it
};

/// Whether a stem is seen near the ground.
bool is_supported(const std::vector<Claim>& claims, const PathNodes& nodes) {
  std::array<bool, 4> seen{};
  for (const Claim& claim : claims) {
    const double quarter = 4 * static_cast<double>(nodes.height[claim.node]);
    if (quarter >= 0 && quarter < 4) seen[static_cast<std::size_t>(quarter)] = true;
  }
  return std::count(seen.begin(), seen.end(), true) >= 2;
}

/// The nodes that the roots of stems can hold.
class LowNodes {
 public:
  LowNodes(const PathNodes& nodes, double top_m, OpContext& ctx) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (i % kPollEvery == 0) ctx.checkpoint();
      if (nodes.height[i] > top_m) continue;  // not those of unknown height
      node_.push_back(static_cast<std::uint32_t>(i));
      place_.push_back(nodes.place[i]);
    }
    tree_ = std::make_unique<KdTree>(place_.view(), ctx);
  }

  std::vector<Claim> claims(const StemRoot& root, const PathConstants& constants) const {
    const double margin = std::max(constants.root_margin_m, constants.root_margin_part * root.radius_m);
    const double reach = root.radius_m + margin, top = constants.root_top_m;
    const Vec3d middle = root.foot + root.axis * (top / 4);
    const double along_most = 0.75 * top;
    std::vector<Claim> found;
    tree_->view().for_each_within(middle, along_most * along_most + reach * reach,
                                  [&](std::uint64_t row, std::uint64_t, double squared) {
                                    const double along = dot(place_[row] - middle, root.axis);
                                    const double across = std::sqrt(std::max(0.0, squared - along * along));
                                    if (std::abs(along) > along_most || across > reach) return;
                                    found.push_back({node_[row], across - root.radius_m});
                                  });
    return found;
  }

  /// The node nearest to a place, kNoNode if there is none within the distance.
  std::uint32_t nearest(const Vec3d& place, double most_m) const {
    double squared;
    std::uint64_t row = 0, slot = 0;
    const double most = most_m * most_m;
    if (tree_->view().knn_within(place, 1, most, kd_tree::kNoRow, &squared, &row, &slot) == 0) return kNoNode;
    return node_[row];
  }

 private:
  BulkVector<std::uint32_t> node_;
  BulkVector<Vec3d> place_;
  std::unique_ptr<KdTree> tree_;
};

}  // namespace

std::vector<PathStart> stem_starts(const PathNodes& nodes, const std::vector<StemRoot>& stems,
                                   double highest_m, double limb_cost_m, const PathConstants& constants,
                                   OpContext& ctx) {
  if (stems.empty()) return {};
  const LowNodes low(nodes, highest_m, ctx);
  std::vector<std::vector<Claim>> claims(stems.size());
  std::vector<double> cost(stems.size(), 0);
  parallel_for(ctx, stems.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      claims[k] = low.claims(stems[k], constants);
      if (!is_supported(claims[k], nodes)) cost[k] = std::pow(limb_cost_m, constants.exponent);
      if (!claims[k].empty()) continue;
      const std::uint32_t node = low.nearest(stems[k].start, constants.most_gap_m);
      if (node != kNoNode) claims[k].push_back({node, 0});
    }
  });
  std::vector<std::tuple<std::uint32_t, double, std::uint32_t>> all;  // node, distance, stem
  for (std::size_t k = 0; k < stems.size(); ++k) {
    for (const Claim& claim : claims[k])
      all.emplace_back(claim.node, claim.outside, static_cast<std::uint32_t>(k));
  }
  polled_sort(all, std::less<>(), ctx);
  std::vector<PathStart> starts;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i == 0 || std::get<0>(all[i]) != std::get<0>(all[i - 1]))
      starts.push_back({std::get<0>(all[i]), std::get<2>(all[i]), cost[std::get<2>(all[i])]});
  }
  return starts;
}

StemRoot root_of(const DetectedStem& stem, const Vec3d& origin) {
  const Vec3d position = stem.position - origin;
  const double ground = stem.ground_z - origin.z;
  const Vec3d axis = stem.axis.z >= kSteepestAxis ? stem.axis : Vec3d{0, 0, 1};
  const double down = (position.z - ground) / axis.z;
  return {position - axis * down, axis, stem.circle.radius, position};
}

std::vector<StemRoot> roots_of_seeds(Span<const Vec3d> seeds, const std::vector<StemRoot>& stems,
                                     const PathNodes& nodes, const PathConstants& constants, OpContext& ctx) {
  std::vector<StemRoot> roots(seeds.size);
  std::vector<std::tuple<double, std::size_t, std::size_t>> pairs;  // distance, seed, stem
  BulkVector<Vec3d> feet(stems.size());
  double widest = 0;
  for (std::size_t k = 0; k < stems.size(); ++k) {
    feet[k] = {stems[k].foot.x, stems[k].foot.y, 0};
    widest = std::max(widest, stems[k].radius_m);
  }
  const KdTree tree(feet.view(), ctx);
  const LowNodes low(nodes, constants.root_top_m + 1, ctx);
  for (std::size_t s = 0; s < seeds.size; ++s) {
    const Vec3d seed = seeds[s] - nodes.origin;
    const std::uint32_t near = low.nearest(seed, std::numeric_limits<double>::max());
    const bool known = near != kNoNode && std::isfinite(nodes.height[near]);
    const double ground =
        known ? nodes.place[near].z - static_cast<double>(nodes.height[near]) : seed.z - kBreastHeight;
    roots[s] = {{seed.x, seed.y, ground}, {0, 0, 1}, kSeedRadius, seed};
    const double reach = widest + kSeedReach;
    tree.view().for_each_within({seed.x, seed.y, 0}, reach * reach,
                                [&](std::uint64_t k, std::uint64_t, double d) {
                                  const double outside = std::sqrt(d) - stems[k].radius_m;
                                  if (outside <= kSeedReach) pairs.emplace_back(outside, s, k);
                                });
    ctx.checkpoint();
  }
  polled_sort(pairs, std::less<>(), ctx);
  std::vector<std::uint8_t> has_stem(seeds.size, 0), taken(stems.size(), 0);
  for (const auto& [distance, s, k] : pairs) {
    if (has_stem[s] != 0 || taken[k] != 0) continue;
    has_stem[s] = taken[k] = 1;
    const Vec3d seed = roots[s].start;
    roots[s] = stems[k];
    roots[s].start = seed;
  }
  return roots;
}

}  // namespace pc
