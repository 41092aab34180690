#include "ops/ground/return_layer.h"

#include <algorithm>
#include <vector>

#include "core/atomic.h"
#include "core/memory.h"
#include "core/parallel.h"

namespace pc {

namespace {

constexpr std::size_t kPointGrain = std::size_t{1} << 15, kCellGrain = std::size_t{1} << 14;
constexpr double kNear = 1;  // metres above the lowest point: understorey, but not the crowns

/// Returns per cell.
struct Returns {
  BulkVector<std::uint32_t> near, layer;  ///< in its lowest metre; in the layer at its lowest point
};

Returns count_returns(Span<const Vec3d> xyz, const Lattice& lattice, double layer_m, const CellLevel& level,
                      OpContext& ctx) {
  Returns returns;
  returns.near.resize(level.cells());
  returns.layer.resize(level.cells());
  parallel_for(ctx, xyz.size, kPointGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (!is_finite(xyz[i])) continue;
      const std::size_t cell = lattice.cell_of(xyz[i]);
      const float above = lattice.height_of(xyz[i]) - level.points[cell].height;
      if (!(above >= 0 && above <= kNear)) continue;
      atomic_increment(returns.near.data() + cell);
      if (above <= layer_m) atomic_increment(returns.layer.data() + cell);
    }
  });
  return returns;
}

/// Median over the cells with points; 0 without such cells.
double typical_number(const BulkVector<std::uint32_t>& near) {
  std::vector<std::uint32_t> counts;
  std::copy_if(near.begin(), near.end(), std::back_inserter(counts), [](std::uint32_t n) { return n > 0; });
  if (counts.empty()) return 0;
  const auto middle = counts.begin() + static_cast<std::ptrdiff_t>(counts.size() / 2);
  std::nth_element(counts.begin(), middle, counts.end());
  return *middle;
}

}  // namespace

double mark_scattered(Span<const Vec3d> xyz, const Lattice& lattice, const GroundConstants& constants,
                      CellLevel& level, OpContext& ctx, std::optional<double> given) {
  std::size_t occupied = 0;
  for (std::size_t cell = 0; cell < level.cells(); ++cell) occupied += level.empty(cell) ? 0 : 1;
  // Half of the cells with points have at least the typical number.
  const double at_most =
      2 * static_cast<double>(xyz.size) / static_cast<double>(std::max<std::size_t>(1, occupied));
  if (given.value_or(at_most) < constants.layer_returns) return 0;
  const Returns returns = count_returns(xyz, lattice, constants.layer_m, level, ctx);
  const double typical = given ? *given : typical_number(returns.near);
  if (typical < constants.layer_returns) return 0;
  const double fewest = std::min(constants.layer_fewest, typical / 2);
  parallel_for(ctx, level.cells(), kCellGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t cell = begin; cell < end; ++cell) {
      const double near = returns.near[cell], layer = returns.layer[cell];
      level.points[cell].scattered = near < fewest || layer < constants.layer_share * near;
    }
  });
  return typical;
}

}  // namespace pc
