#include "ops/trees/tree_seeds.h"

#include <algorithm>
#include <limits>
#include <queue>

#include "core/radix_sort.h"
#include "ops/trees/cut_pursuit_split.h"
#include "ops/trees/point_set_gap.h"

namespace pc {

namespace {

constexpr std::uint32_t kNone = 0xffffffff;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Units {
  BulkVector<std::uint32_t> of_node;
  std::vector<std::uint32_t> kind;       ///< group or segment of each unit
  std::vector<std::uint32_t> component;  ///< of each unit
};

/// Numbers the pairs of kind and component of the nodes.
Units units_of(Span<const std::uint32_t> kind, Span<const std::uint32_t> component, OpContext& ctx) {
  BulkVector<std::uint64_t> keys(kind.size);
  for (std::size_t i = 0; i < kind.size; ++i) keys[i] = std::uint64_t{kind[i]} << 32 | component[i];
  Units out;
  out.of_node.resize(kind.size);
  std::uint64_t last = ~std::uint64_t{0};
  for (const std::uint32_t i : radix_sort_order(keys.view(), 64, ctx)) {
    if (keys[i] != last) {
      out.kind.push_back(kind[i]);
      out.component.push_back(component[i]);
    }
    last = keys[i];
    out.of_node[i] = static_cast<std::uint32_t>(out.kind.size() - 1);
  }
  return out;
}

struct Claim {
  double squared;
  std::uint32_t seed, unit;
  friend bool operator<(const Claim& a,
                        const Claim& b) {  // the queue gives the closest, then the lowest seed
    return a.squared != b.squared ? a.squared > b.squared : a.seed > b.seed;
  }
};

/// The closest unit that nobody has claimed; kNone if there is none.
Claim closest(const PointSetGaps& gaps, const std::vector<std::uint32_t>& owner, std::uint32_t seed,
              const Vec3d& place) {
  Claim best{kInfinity, seed, kNone};
  for (std::uint32_t unit = 0; unit < owner.size(); ++unit) {
    if (owner[unit] != kNone) continue;
    const double squared = gaps.squared_gap(unit, place, best.squared);
    if (squared < best.squared) best = {squared, seed, unit};
  }
  return best;
}

/// Kind of each node: its group, or behind all groups its segment where several seeds are closest to the group.
BulkVector<std::uint32_t> kinds(Span<const Vec3d> node, Span<const std::uint32_t> segment,
                                const std::vector<std::uint32_t>& group, Span<const std::uint32_t> component,
                                Span<const Vec3d> seeds, OpContext& ctx) {
  const auto groups = group.empty() ? 0 : *std::max_element(group.begin(), group.end()) + 1;
  BulkVector<std::uint32_t> kind(node.size);
  for (std::size_t i = 0; i < node.size; ++i) kind[i] = group[segment[i]];
  const Units units = units_of(kind.view(), component, ctx);
  const auto count = static_cast<std::uint32_t>(units.kind.size());
  const PointSetGaps gaps(node, units.of_node.view(), count, ctx);
  const std::vector<std::uint32_t> unclaimed(count, kNone);
  std::vector<std::uint32_t> wanted(groups, 0);
  for (std::uint32_t s = 0; s < seeds.size; ++s) {
    ctx.checkpoint();
    const Claim claim = closest(gaps, unclaimed, s, seeds[s]);
    if (claim.unit != kNone) ++wanted[units.kind[claim.unit]];
  }
  for (std::size_t i = 0; i < node.size; ++i) {
    if (wanted[kind[i]] > 1) kind[i] = groups + segment[i];
  }
  return kind;
}

/// Gives units without an owner to the nearest seed of their component.
void give_rest(Span<const Vec3d> node, const Units& units, Span<const Vec3d> seeds,
               std::vector<std::uint32_t>& owner, OpContext& ctx) {
  std::vector<ValueSum> sums(owner.size());
  for (std::size_t i = 0; i < node.size; ++i) sums[units.of_node[i]].add(node[i]);
  std::uint32_t components = 0;
  for (const std::uint32_t c : units.component) components = std::max(components, c + 1);
  std::vector<std::vector<std::uint32_t>> claimants(components);
  for (std::size_t u = 0; u < owner.size(); ++u) {
    if (owner[u] != kNone) claimants[units.component[u]].push_back(owner[u]);
  }
  for (auto& list : claimants) std::sort(list.begin(), list.end());
  for (std::size_t u = 0; u < owner.size(); ++u) {
    if (owner[u] != kNone) continue;
    ctx.checkpoint();
    const Vec3d mean = sums[u].mean();
    double best = kInfinity;
    for (const std::uint32_t s : claimants[units.component[u]]) {
      const double dx = seeds[s].x - mean.x, dy = seeds[s].y - mean.y;
      if (dx * dx + dy * dy >= best) continue;
      best = dx * dx + dy * dy;
      owner[u] = s;
    }
  }
}

}  // namespace

BulkVector<std::uint32_t> trees_of_seeds(Span<const Vec3d> node, Span<const std::uint32_t> segment,
                                         const std::vector<std::uint32_t>& group,
                                         Span<const std::uint32_t> component, Span<const Vec3d> seeds,
                                         OpContext& ctx) {
  const Units units = units_of(kinds(node, segment, group, component, seeds, ctx).view(), component, ctx);
  const auto count = static_cast<std::uint32_t>(units.kind.size());
  const PointSetGaps gaps(node, units.of_node.view(), count, ctx);
  std::vector<std::uint32_t> owner(count, kNone);
  std::priority_queue<Claim> claims;
  for (std::uint32_t s = 0; s < seeds.size; ++s) {
    ctx.checkpoint();
    claims.push(closest(gaps, owner, s, seeds[s]));
  }
  while (!claims.empty()) {
    ctx.checkpoint();
    const Claim claim = claims.top();
    claims.pop();
    if (claim.unit == kNone) continue;
    if (owner[claim.unit] == kNone) {
      owner[claim.unit] = claim.seed;
    } else {
      claims.push(closest(gaps, owner, claim.seed, seeds[claim.seed]));
    }
  }
  give_rest(node, units, seeds, owner, ctx);
  BulkVector<std::uint32_t> tree(node.size);
  for (std::size_t i = 0; i < node.size; ++i) {
    const std::uint32_t seed = owner[units.of_node[i]];
    tree[i] = seed == kNone ? 0 : seed + 1;
  }
  return tree;
}

}  // namespace pc
