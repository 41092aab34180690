#include "ops/trees/same_stems.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace pc {

namespace {

constexpr double kCell = 0.5;
constexpr double kFarthest = 1e15;  // cells; farther out they are finer than coordinates

/// The part of the diameter that is not known.
double doubt(const BreastCircle& circle) {
  const double part = circle.sigma_m / circle.radius_m;
  return std::isnan(part) ? std::numeric_limits<double>::infinity() : part;
}

/// Circles that no better known one is in the place of, by the cells that they cover.
class Places {
 public:
  explicit Places(Span<const BreastCircle> circles) : circles_(circles) {}

  /// The best known circle in whose place `circle` is.
  std::optional<std::size_t> holder_of(const BreastCircle& circle) const {
    std::optional<std::size_t> best;
    visit(circle, [&](std::int64_t x, std::int64_t y) {
      const auto cell = cells_.find({x, y});
      if (cell == cells_.end()) return;
      for (const std::size_t rank : cell->second) {
        if (best && rank >= *best) return;  // ascending
        if (is_same(circles_[order_[rank]], circle)) best = rank;
      }
    });
    return best ? std::optional(order_[*best]) : std::nullopt;
  }

  void add(std::size_t index) {
    const std::size_t rank = order_.size();
    order_.push_back(index);
    visit(circles_[index], [&](std::int64_t x, std::int64_t y) { cells_[{x, y}].push_back(rank); });
  }

 private:
  static bool is_same(const BreastCircle& a, const BreastCircle& b) {
    return std::hypot(a.center.x - b.center.x, a.center.y - b.center.y) < std::max(a.radius_m, b.radius_m);
  }

  /// The cells of the square around a circle.
  template <class Visit>
  static void visit(const BreastCircle& circle, Visit&& visit) {
    const auto cell = [](double value) {
      return static_cast<std::int64_t>(std::floor(std::clamp(value / kCell, -kFarthest, kFarthest)));
    };
    const double r = circle.radius_m;
    for (std::int64_t x = cell(circle.center.x - r); x <= cell(circle.center.x + r); ++x)
      for (std::int64_t y = cell(circle.center.y - r); y <= cell(circle.center.y + r); ++y) visit(x, y);
  }

  Span<const BreastCircle> circles_;
  std::vector<std::size_t> order_;  ///< by rank, the best known first
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::size_t>> cells_;
};

}  // namespace

std::vector<std::optional<std::size_t>> same_stems(Span<const BreastCircle> circles, const OpContext& ctx) {
  std::vector<std::size_t> queue(circles.size);
  std::iota(queue.begin(), queue.end(), std::size_t{0});
  std::sort(queue.begin(), queue.end(), [&](std::size_t a, std::size_t b) {
    return std::make_tuple(doubt(circles[a]), circles[a].tree) <
           std::make_tuple(doubt(circles[b]), circles[b].tree);
  });
  std::vector<std::optional<std::size_t>> holders(circles.size);
  Places places(circles);
  for (const std::size_t i : queue) {
    ctx.checkpoint();
    holders[i] = places.holder_of(circles[i]);
    if (!holders[i]) places.add(i);
  }
  return holders;
}

void drop_same_stems(std::vector<MeasuredTree>& trees, const OpContext& ctx) {
  std::vector<BreastCircle> circles;
  std::vector<MeasuredTree*> of;
  for (MeasuredTree& tree : trees) {
    const auto& at = tree.stem.breast_height;
    if (tree.too_few_points || !at) continue;
    circles.push_back({tree.id, {at->center.x, at->center.y}, at->circle.radius, tree.dbh_sigma_m});
    of.push_back(&tree);
  }
  const auto holders = same_stems({circles.data(), circles.size()}, ctx);
  for (std::size_t i = 0; i < of.size(); ++i) {
    if (!holders[i]) continue;
    MeasuredTree& tree = *of[i];
    tree.same_stem_as = circles[*holders[i]].tree;
    tree.stem.breast_height.reset();
    tree.dbh_sigma_m = std::nan("");
    tree.no_crown = false;
    for (StemSection& section : tree.stem.curve) section.ok = false;
  }
}

}  // namespace pc
