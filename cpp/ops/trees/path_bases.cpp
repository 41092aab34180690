#include "ops/trees/path_bases.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "ops/trees/path_carpets.h"
#include "ops/trees/polled_sort.h"

namespace pc {

namespace {

constexpr std::size_t kPollEvery = 4096;

/// Cells saturate far away: their plants are one.
BaseCell cell_of(const Vec3d& place, double size) {
  const auto index = [&](double value) {
    return static_cast<std::int64_t>(std::clamp(std::floor(value / size), -0x1p60, 0x1p60));
  };
  return {index(place.y), index(place.x)};
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

/// The cells on which low starts stand that rise to half of least_height_m.
struct Bases {
  std::vector<BaseCell> cells;               ///< ascending, each once
  std::vector<float> top;                    ///< greatest height of the paths of each
  std::vector<std::uint32_t> cell_of_start;  ///< kNoRoot = none

  Bases(const PathNodes& nodes, const std::vector<PathStart>& starts, const std::vector<float>& top_of_start,
        const PathConstants& constants, OpContext& ctx)
      : cell_of_start(starts.size(), kNoRoot) {
    const double size = constants.base_gap_m / 2;
    for (std::size_t s = 0; s < starts.size(); ++s) {
      if (static_cast<double>(top_of_start[s]) >= constants.least_height_m / 2)
        cells.push_back(cell_of(nodes.place[starts[s].node], size));
    }
    polled_sort(cells, std::less<>(), ctx);
    cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
    top.resize(cells.size(), -std::numeric_limits<float>::infinity());
    for (std::size_t s = 0; s < starts.size(); ++s) {
      if (s % kPollEvery == 0) ctx.checkpoint();
      const BaseCell cell = cell_of(nodes.place[starts[s].node], size);
      const auto found = std::lower_bound(cells.begin(), cells.end(), cell);
      if (found == cells.end() || !(*found == cell)) continue;
      const auto k = static_cast<std::size_t>(found - cells.begin());
      cell_of_start[s] = static_cast<std::uint32_t>(k);
      top[k] = std::max(top[k], top_of_start[s]);
    }
  }
};

}  // namespace

std::vector<PathStart> low_starts(const PathNodes& nodes, double top_m, std::uint32_t first_root,
                                  const PathConstants& constants, OpContext& ctx) {
  std::vector<PathStart> starts;
  const double cost = std::pow(constants.base_start_cost_m, constants.exponent);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (i % kPollEvery == 0) ctx.checkpoint();
    if (static_cast<double>(nodes.height[i]) <= top_m)
      starts.push_back(
          {static_cast<std::uint32_t>(i), first_root + static_cast<std::uint32_t>(starts.size()), cost});
  }
  return starts;
}

Plants plants_of(const PathNodes& nodes, const std::vector<PathStart>& starts, std::uint32_t first_root,
                 const Paths& paths, const PathConstants& constants, OpContext& ctx) {
  const std::vector<float> top = heights_of(nodes, starts.size(), first_root, paths, ctx);
  const Bases bases(nodes, starts, top, constants, ctx);
  const auto cells = [&](double metres) {
    return static_cast<std::int64_t>(std::ceil(metres / (constants.base_gap_m / 2)));
  };
  const BaseSets sets =
      base_sets(bases.cells, bases.top, cells(constants.widest_base_m), cells(constants.base_gap_m), ctx);
  std::vector<float> highest(bases.cells.size(), -std::numeric_limits<float>::infinity());
  for (std::size_t cell = 0; cell < bases.cells.size(); ++cell)
    highest[sets.owner[cell]] = std::max(highest[sets.owner[cell]], bases.top[cell]);
  const auto is_plant = [&](std::uint32_t cell) {
    const double least = sets.in_carpet[cell] != 0 ? constants.carpet_height_m : constants.least_height_m;
    return static_cast<double>(highest[sets.owner[cell]]) >= least;
  };
  Plants plants{std::vector<std::uint32_t>(starts.size(), kNoRoot),
                std::vector<std::uint8_t>(starts.size(), 0), 0, 0};
  for (std::uint32_t cell = 0; cell < bases.cells.size(); ++cell)
    if (sets.in_carpet[cell] != 0 && !is_plant(cell))
      plants.carpet_m2 += constants.base_gap_m * constants.base_gap_m / 4;
  std::vector<std::uint32_t> number(bases.cells.size(), kNoRoot);
  for (std::size_t s = 0; s < starts.size(); ++s) {
    if (s % kPollEvery == 0) ctx.checkpoint();
    const std::uint32_t cell = bases.cell_of_start[s];
    if (cell == kNoRoot) continue;
    if (!is_plant(cell)) {
      plants.in_carpet[s] = sets.in_carpet[cell];
      continue;
    }
    const std::uint32_t owner = sets.owner[cell];
    if (number[owner] == kNoRoot) number[owner] = plants.count++;
    plants.of_start[s] = number[owner];
  }
  return plants;
}

}  // namespace pc
