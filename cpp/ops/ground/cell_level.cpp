#include "ops/ground/cell_level.h"

#include <algorithm>
#include <limits>

#include "core/parallel.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 14;
constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

/// The child of a coarse cell with the lowest point; kNone if all children are empty.
std::size_t lowest_child(const CellLevel& fine, std::size_t x, std::size_t y) {
  std::size_t best = kNone;
  for (std::size_t v = 2 * y; v < std::min<std::size_t>(2 * y + 2, fine.ny); ++v) {
    for (std::size_t u = 2 * x; u < std::min<std::size_t>(2 * x + 2, fine.nx); ++u) {
      const std::size_t child = v * fine.nx + u;
      if (fine.empty(child)) continue;
      if (best == kNone || fine.points[child].height < fine.points[best].height) best = child;
    }
  }
  return best;
}

/// Offset from the centre of the parent cell, in parent cells.
float in_parent(std::size_t child, float offset, std::size_t parent) {
  return (static_cast<float>(child - 2 * parent) - 0.5F + offset) / 2;
}

}  // namespace

CellLevel coarser_level(const CellLevel& fine, OpContext& ctx) {
  CellLevel coarse{(fine.nx + 1) / 2, (fine.ny + 1) / 2, 2 * fine.size, {}, {}};
  const std::size_t cells = static_cast<std::size_t>(coarse.nx) * coarse.ny;
  coarse.points.resize(cells);
  coarse.ground.resize(cells);
  parallel_for(ctx, cells, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t cell = begin; cell < end; ++cell) {
      const std::size_t x = cell % coarse.nx, y = cell / coarse.nx, child = lowest_child(fine, x, y);
      CellPoint& point = coarse.points[cell];
      point = {0, 0, std::numeric_limits<float>::quiet_NaN()};
      if (child == kNone) continue;
      const CellPoint& from = fine.points[child];
      point = {in_parent(child % fine.nx, from.du, x), in_parent(child / fine.nx, from.dv, y), from.height,
               from.scattered};
    }
  });
  return coarse;
}

void inherit_ground(const CellLevel& coarse, CellLevel& fine, OpContext& ctx) {
  parallel_for(ctx, coarse.cells(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t cell = begin; cell < end; ++cell) {
      if (coarse.ground[cell] != 0) fine.ground[lowest_child(fine, cell % coarse.nx, cell / coarse.nx)] = 1;
    }
  });
}

}  // namespace pc
