#include "ops/trees/stems_at_walls.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

namespace pc {

namespace {

constexpr double kReach = 0.4, kLowest = 0.5, kLevel = 0.5;
constexpr std::size_t kLevels = 5;
constexpr std::uint8_t kFewest = 3;
constexpr double kCell = 2;
constexpr std::size_t kPollRows = 1 << 15;

std::int64_t cell_of(double value) {
  return static_cast<std::int64_t>(std::floor(std::clamp(value / kCell, -1e15, 1e15)));
}

}  // namespace

std::vector<char> stems_at_walls(Span<const WallTree> trees,
                                 const std::function<std::vector<Vec3d>(std::size_t)>& points_of,
                                 const OpContext& ctx) {
  std::vector<char> out(trees.size, 0);
  if (std::none_of(trees.begin(), trees.end(), [](const WallTree& tree) { return tree.flat; })) return out;
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::size_t>> cells;
  for (std::size_t i = 0; i < trees.size; ++i) {
    const WallTree& tree = trees[i];
    if (tree.flat || !std::isfinite(tree.radius_m)) continue;
    const double reach = tree.radius_m + kReach;
    for (std::int64_t x = cell_of(tree.place.x - reach); x <= cell_of(tree.place.x + reach); ++x)
      for (std::int64_t y = cell_of(tree.place.y - reach); y <= cell_of(tree.place.y + reach); ++y)
        cells[{x, y}].push_back(i);
  }
  std::vector<std::array<std::uint8_t, kLevels>> counts(trees.size);
  for (std::size_t wall = 0; wall < trees.size && !cells.empty(); ++wall) {
    if (!trees[wall].flat) continue;
    const std::vector<Vec3d> points = points_of(wall);
    for (std::size_t k = 0; k < points.size(); ++k) {
      if (k % kPollRows == 0) ctx.checkpoint();
      const Vec3d& p = points[k];
      const auto near = cells.find({cell_of(p.x), cell_of(p.y)});
      if (near == cells.end()) continue;
      for (const std::size_t i : near->second) {
        const WallTree& tree = trees[i];
        const double level = (p.z - tree.place.z - kLowest) / kLevel;
        if (!(level >= 0 && level < kLevels)) continue;
        if (std::hypot(p.x - tree.place.x, p.y - tree.place.y) > tree.radius_m + kReach) continue;
        std::uint8_t& count = counts[i][static_cast<std::size_t>(level)];
        count = std::min<std::uint8_t>(kFewest, count + 1);
      }
    }
  }
  for (std::size_t i = 0; i < trees.size; ++i)
    out[i] = std::all_of(counts[i].begin(), counts[i].end(), [](std::uint8_t n) { return n >= kFewest; });
  return out;
}

void mark_stems_at_walls(std::vector<MeasuredTree>& trees,
                         const std::function<std::vector<Vec3d>(std::size_t)>& points_of,
                         const OpContext& ctx) {
  std::vector<WallTree> stems;
  for (const MeasuredTree& tree : trees) {
    const auto& at = tree.stem.breast_height;
    if (tree.too_few_points || tree.flat || !at)
      stems.push_back({{0, 0, 0}, std::nan(""), !tree.too_few_points && tree.flat});
    else
      stems.push_back({{at->center.x, at->center.y, tree.stem.base.z}, at->circle.radius, false});
  }
  const std::vector<char> found = stems_at_walls({stems.data(), stems.size()}, points_of, ctx);
  for (std::size_t i = 0; i < trees.size(); ++i) trees[i].at_wall = found[i] != 0;
}

}  // namespace pc
