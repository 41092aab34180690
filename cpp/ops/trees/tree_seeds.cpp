#include "ops/trees/tree_seeds.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <queue>
#include <tuple>

#include "core/radix_sort.h"
#include "ops/trees/cut_pursuit_split.h"
#include "ops/trees/point_set_gap.h"
#include "spatial/kd_tree.h"

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

double squared_gap(const Box3d& box, const Vec3d& p) {
  const auto outside = [](double low, double high, double at) {
    return std::max({low - at, at - high, 0.0});
  };
  const double dx = outside(box.min.x, box.max.x, p.x), dy = outside(box.min.y, box.max.y, p.y),
               dz = outside(box.min.z, box.max.z, p.z);
  return dx * dx + dy * dy + dz * dz;
}

/// Units by closeness to a place, in a binary tree of the boxes of those that nobody has claimed: box 1 is the root, boxes
/// 2 b and 2 b + 1 make up box b.
class UnitSearch {
 public:
  UnitSearch(Span<const Vec3d> node, const Units& units, OpContext& ctx)
      : gaps_(node, units.of_node.view(), static_cast<std::uint32_t>(units.kind.size()), ctx),
        leaves_(std::bit_ceil(units.kind.size())),
        boxes_(2 * leaves_) {
    for (std::size_t i = 0; i < node.size; ++i) boxes_[leaves_ + units.of_node[i]].add(node[i]);
    for (std::size_t b = leaves_ - 1; b > 0; --b) join(b);
  }

  void claim(std::uint32_t unit) {
    boxes_[leaves_ + unit] = {};
    for (std::size_t b = (leaves_ + unit) / 2; b > 0; b /= 2) join(b);
  }

  /// The closest unit that nobody has claimed, among equals the lowest; kNone if there is none.
  Claim closest(std::uint32_t seed, const Vec3d& place) {
    Claim best{kInfinity, seed, kNone};
    open_.assign(1, 1);
    while (!open_.empty()) {
      const std::size_t b = open_.back();
      open_.pop_back();
      if (boxes_[b].empty() || squared_gap(boxes_[b], place) > best.squared) continue;
      if (b >= leaves_) {
        const auto unit = static_cast<std::uint32_t>(b - leaves_);
        const double squared = gaps_.squared_gap(unit, place, std::nextafter(best.squared, kInfinity));
        if (squared < best.squared || (squared == best.squared && unit < best.unit && best.unit != kNone))
          best = {squared, seed, unit};
        continue;
      }
      const bool swap = squared_gap(boxes_[2 * b + 1], place) < squared_gap(boxes_[2 * b], place);
      open_.push_back(swap ? 2 * b : 2 * b + 1);
      open_.push_back(swap ? 2 * b + 1 : 2 * b);
    }
    return best;
  }

 private:
  void join(std::size_t b) {
    boxes_[b] = boxes_[2 * b];
    boxes_[b].add(boxes_[2 * b + 1]);
  }

  PointSetGaps gaps_;
  std::size_t leaves_;
  std::vector<Box3d> boxes_;
  std::vector<std::size_t> open_;
};

/// The next seed at the same place; kNone if there is none.
std::vector<std::uint32_t> followers(Span<const Vec3d> seeds, std::vector<std::uint32_t>& first) {
  std::vector<std::uint32_t> order(seeds.size), next(seeds.size, kNone);
  for (std::uint32_t s = 0; s < seeds.size; ++s) order[s] = s;
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const Vec3d &p = seeds[a], &q = seeds[b];
    return std::tie(p.x, p.y, p.z, a) < std::tie(q.x, q.y, q.z, b);
  });
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i > 0 && seeds[order[i]] == seeds[order[i - 1]])
      next[order[i - 1]] = order[i];
    else
      first.push_back(order[i]);
  }
  return next;
}

/// The owner of each unit: the seed that has an unclaimed unit closest to it claims that unit, and so on.
std::vector<std::uint32_t> claimed(UnitSearch& search, std::size_t units, Span<const Vec3d> seeds,
                                   OpContext& ctx) {
  std::vector<std::uint32_t> owner(units, kNone), first;
  const std::vector<std::uint32_t> next = followers(seeds, first);  // of equals the lowest goes first
  std::priority_queue<Claim> claims;
  for (const std::uint32_t s : first) {
    ctx.checkpoint();
    claims.push(search.closest(s, seeds[s]));
  }
  while (!claims.empty()) {
    ctx.checkpoint();
    const Claim claim = claims.top();
    claims.pop();
    if (claim.unit == kNone) continue;
    std::uint32_t again = claim.seed;
    if (owner[claim.unit] == kNone) {
      owner[claim.unit] = claim.seed;
      search.claim(claim.unit);
      again = next[claim.seed];
    }
    if (again != kNone) claims.push(search.closest(again, seeds[again]));
  }
  return owner;
}

/// Kind of each node: its group, or behind all groups its segment where several seeds are closest to the group.
BulkVector<std::uint32_t> kinds(Span<const Vec3d> node, Span<const std::uint32_t> segment,
                                const std::vector<std::uint32_t>& group, Span<const std::uint32_t> component,
                                Span<const Vec3d> seeds, OpContext& ctx) {
  const auto groups = group.empty() ? 0 : *std::max_element(group.begin(), group.end()) + 1;
  BulkVector<std::uint32_t> kind(node.size);
  for (std::size_t i = 0; i < node.size; ++i) kind[i] = group[segment[i]];
  const Units units = units_of(kind.view(), component, ctx);
  UnitSearch search(node, units, ctx);
  std::vector<std::uint32_t> wanted(groups, 0);
  for (std::uint32_t s = 0; s < seeds.size; ++s) {
    ctx.checkpoint();
    const Claim claim = search.closest(s, seeds[s]);
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
  std::vector<std::vector<std::uint32_t>> left(components);
  for (std::uint32_t u = 0; u < owner.size(); ++u) {
    if (owner[u] == kNone) left[units.component[u]].push_back(u);
  }
  for (std::uint32_t c = 0; c < components; ++c) {
    std::vector<std::uint32_t>& list = claimants[c];
    if (list.empty() || left[c].empty()) continue;
    std::sort(list.begin(), list.end());
    std::vector<Vec3d> plan;
    for (const std::uint32_t s : list) plan.push_back({seeds[s].x, seeds[s].y, 0});
    const KdTree tree({plan.data(), plan.size()}, ctx);
    for (const std::uint32_t u : left[c]) {
      ctx.checkpoint();
      const Vec3d mean = sums[u].mean();
      double squared;
      std::uint64_t row = 0, slot = 0;
      tree.view().knn({mean.x, mean.y, 0}, 1, kd_tree::kNoRow, &squared, &row, &slot);
      owner[u] = list[row];
    }
  }
}

}  // namespace

BulkVector<std::uint32_t> trees_of_seeds(Span<const Vec3d> node, Span<const std::uint32_t> segment,
                                         const std::vector<std::uint32_t>& group,
                                         Span<const std::uint32_t> component, Span<const Vec3d> seeds,
                                         OpContext& ctx) {
  const Units units = units_of(kinds(node, segment, group, component, seeds, ctx).view(), component, ctx);
  UnitSearch search(node, units, ctx);
  std::vector<std::uint32_t> owner = claimed(search, units.kind.size(), seeds, ctx);
  give_rest(node, units, seeds, owner, ctx);
  BulkVector<std::uint32_t> tree(node.size);
  for (std::size_t i = 0; i < node.size; ++i) {
    const std::uint32_t seed = owner[units.of_node[i]];
    tree[i] = seed == kNone ? 0 : seed + 1;
  }
  return tree;
}

}  // namespace pc
