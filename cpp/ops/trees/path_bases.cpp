#include "ops/trees/path_bases.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "ops/trees/polled_sort.h"
#include "spatial/union_find.h"

namespace pc {

namespace {

constexpr std::size_t kPollEvery = 4096;

struct Cell {
  std::int64_t y, x;
  friend bool operator<(const Cell& a, const Cell& b) { return a.y != b.y ? a.y < b.y : a.x < b.x; }
  friend bool operator==(const Cell& a, const Cell& b) = default;
};

/// Cells saturate far away: their plants are one.
Cell cell_of(const Vec3d& place, double size) {
  const auto index = [&](double value) {
    return static_cast<std::int64_t>(std::clamp(std::floor(value / size), -0x1p60, 0x1p60));
  };
  return {index(place.y), index(place.x)};
}

/// Joins cells that touch. `cells` ascending, each once.
UnionFind touching(const std::vector<Cell>& cells, OpContext& ctx) {
  UnionFind sets(cells.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i % kPollEvery == 0) ctx.checkpoint();
    if (i + 1 < cells.size() && cells[i + 1] == Cell{cells[i].y, cells[i].x + 1}) sets.join(i, i + 1);
    auto above = std::lower_bound(cells.begin(), cells.end(), Cell{cells[i].y + 1, cells[i].x - 1});
    for (; above != cells.end() && above->y == cells[i].y + 1 && above->x <= cells[i].x + 1; ++above)
      sets.join(i, static_cast<std::size_t>(above - cells.begin()));
  }
  return sets;
}

/// Greatest height of the paths of each low start.
std::vector<float> heights_of(const PathNodes& nodes, std::size_t starts, std::uint32_t first_root,
                              const Paths& paths, OpContext& ctx) {
  std::vector<float> top(starts, -std::numeric_limits<float>::infinity());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (i % kPollEvery == 0) ctx.checkpoint();
    if (paths.root[i] == kNoRoot || paths.root[i] < first_root) continue;
    float& highest = top[paths.root[i] - first_root];
    if (nodes.height[i] > highest) highest = nodes.height[i];
  }
  return top;
}

}  // namespace

std::vector<PathStart> low_starts(const PathNodes& nodes, std::uint32_t first_root,
                                  const PathConstants& constants, OpContext& ctx) {
  std::vector<PathStart> starts;
  const double cost = std::pow(constants.base_start_cost_m, constants.exponent);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (i % kPollEvery == 0) ctx.checkpoint();
    if (static_cast<double>(nodes.height[i]) <= constants.low_m)
      starts.push_back(
          {static_cast<std::uint32_t>(i), first_root + static_cast<std::uint32_t>(starts.size()), cost});
  }
  return starts;
}

Plants plants_of(const PathNodes& nodes, const std::vector<PathStart>& starts, std::uint32_t first_root,
                 const Paths& paths, const PathConstants& constants, OpContext& ctx) {
  const std::vector<float> top = heights_of(nodes, starts.size(), first_root, paths, ctx);
  const double size = constants.base_gap_m / 2;
  std::vector<Cell> cells;
  for (std::size_t s = 0; s < starts.size(); ++s) {
    if (static_cast<double>(top[s]) >= constants.least_height_m / 2)
      cells.push_back(cell_of(nodes.place[starts[s].node], size));
  }
  polled_sort(cells, std::less<>(), ctx);
  cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
  UnionFind sets = touching(cells, ctx);
  std::vector<float> highest(cells.size(), -std::numeric_limits<float>::infinity());
  std::vector<std::uint32_t> set_of(starts.size(), kNoRoot);
  for (std::size_t s = 0; s < starts.size(); ++s) {
    if (s % kPollEvery == 0) ctx.checkpoint();
    const Cell cell = cell_of(nodes.place[starts[s].node], size);
    const auto found = std::lower_bound(cells.begin(), cells.end(), cell);
    if (found == cells.end() || !(*found == cell)) continue;
    set_of[s] = sets.root_of(static_cast<std::size_t>(found - cells.begin()));
    highest[set_of[s]] = std::max(highest[set_of[s]], top[s]);
  }
  Plants plants{std::vector<std::uint32_t>(starts.size(), kNoRoot), 0};
  std::vector<std::uint32_t> number(cells.size(), kNoRoot);
  for (std::size_t s = 0; s < starts.size(); ++s) {
    if (set_of[s] == kNoRoot || !(static_cast<double>(highest[set_of[s]]) >= constants.least_height_m))
      continue;
    if (number[set_of[s]] == kNoRoot) number[set_of[s]] = plants.count++;
    plants.of_start[s] = number[set_of[s]];
  }
  return plants;
}

}  // namespace pc
