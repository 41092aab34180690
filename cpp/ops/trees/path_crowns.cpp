#include "ops/trees/path_crowns.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/parallel.h"
#include "ops/trees/polled_sort.h"

namespace pc {

namespace {

constexpr std::size_t kPollEvery = 4096;
constexpr std::size_t kGrain = 64;
constexpr double kCell = 0.6;      // metres
constexpr double kTallest = 40.0;  // metres

double window_radius(double height) {
  const double h = std::clamp(height, 0.0, kTallest);
  return (2.51503 + 0.00901 * h * h) / 2;
}

/// The highest node of a cell of the canopy.
struct Top {
  std::int64_t y, x;
  double height;
  std::uint32_t node;
  bool before(const Top& o) const { return y != o.y ? y < o.y : x < o.x; }
  bool above(const Top& o) const { return height != o.height ? height > o.height : node < o.node; }
};

std::int64_t cell_index(double value) {
  return static_cast<std::int64_t>(std::clamp(std::floor(value / kCell), -0x1p60, 0x1p60));
}

std::vector<Top> highest_of_cells(const PathNodes& nodes, const Paths& paths, OpContext& ctx) {
  double lowest = std::numeric_limits<double>::infinity();
  std::size_t left = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (i % kPollEvery == 0) ctx.checkpoint();
    if (paths.reach(static_cast<std::uint32_t>(i))) continue;
    lowest = std::min(lowest, nodes.place[i].z);
    ++left;
  }
  std::vector<Top> tops;
  tops.reserve(left);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (i % kPollEvery == 0) ctx.checkpoint();
    const auto node = static_cast<std::uint32_t>(i);
    if (paths.reach(node)) continue;
    const double height =
        std::isfinite(nodes.height[i]) ? static_cast<double>(nodes.height[i]) : nodes.place[i].z - lowest;
    tops.push_back({cell_index(nodes.place[i].y), cell_index(nodes.place[i].x), height, node});
  }
  const auto less = [](const Top& a, const Top& b) { return a.before(b) || (!b.before(a) && a.above(b)); };
  polled_sort(tops, less, ctx);
  const auto same = [](const Top& a, const Top& b) { return a.y == b.y && a.x == b.x; };
  tops.erase(std::unique(tops.begin(), tops.end(), same), tops.end());
  return tops;
}

/// Whether no higher node stands within its window.
bool is_treetop(const Top& top, const std::vector<Top>& tops, const PathNodes& nodes) {
  const double radius = window_radius(top.height);
  const auto reach = static_cast<std::int64_t>(std::ceil(radius / kCell));
  const Vec3d& at = nodes.place[top.node];
  for (std::int64_t y = top.y - reach; y <= top.y + reach; ++y) {
    const Top from{y, top.x - reach, 0, 0};
    auto other = std::lower_bound(tops.begin(), tops.end(), from,
                                  [](const Top& a, const Top& b) { return a.before(b); });
    for (; other != tops.end() && other->y == y && other->x <= top.x + reach; ++other) {
      const double dx = nodes.place[other->node].x - at.x, dy = nodes.place[other->node].y - at.y;
      if (other->above(top) && dx * dx + dy * dy <= radius * radius) return false;
    }
  }
  return true;
}

}  // namespace

std::vector<PathStart> crown_starts(const PathNodes& nodes, const Paths& paths, std::uint32_t first_root,
                                    OpContext& ctx) {
  const std::vector<Top> tops = highest_of_cells(nodes, paths, ctx);
  std::vector<std::uint8_t> chosen(tops.size(), 0);
  parallel_for(ctx, tops.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) chosen[i] = is_treetop(tops[i], tops, nodes) ? 1 : 0;
  });
  std::vector<Top> found;
  for (std::size_t i = 0; i < tops.size(); ++i) {
    if (chosen[i] != 0) found.push_back(tops[i]);
  }
  polled_sort(
      found, [](const Top& a, const Top& b) { return a.above(b); }, ctx);
  std::vector<PathStart> starts;
  for (const Top& top : found)
    starts.push_back({top.node, first_root + static_cast<std::uint32_t>(starts.size()), 0});
  return starts;
}

}  // namespace pc
