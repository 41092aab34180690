#include "ops/ground/ground_cells.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "core/parallel.h"
#include "core/plane_fit.h"
#include "spatial/nearest_cells.h"

namespace pc {

namespace {

constexpr std::size_t kPointGrain = std::size_t{1} << 15, kCellGrain = std::size_t{1} << 12;
constexpr std::size_t kRoughnessSample = 400'000;
constexpr double kPull = 0.02;  // squared cells
constexpr std::uint32_t kBlock = 8;
constexpr int kBlockReach = 4;  // cells, no more than kBlock

}  // namespace

std::uint32_t place_in_cell(const CellPosition& at) {
  const auto part = [](double value) {
    return static_cast<std::uint32_t>((value + 0.5 - std::floor(value + 0.5)) * 65535.0);
  };
  return part(at.u) << 16 | part(at.v);
}

CellPoint cell_point(std::uint32_t place, float height) {
  return {static_cast<float>(place >> 16) / 65535.0F - 0.5F,
          static_cast<float>(place & 0xffffU) / 65535.0F - 0.5F, height};
}

BulkVector<CellPoint> lowest_points(Span<const Vec3d> xyz, const SurfaceGrid& lowest,
                                    const LowOutliers& outliers, OpContext& ctx) {
  const Lattice& lattice = lowest.lattice;
  BulkVector<std::uint32_t> offset(lattice.cells());
  std::fill(offset.begin(), offset.end(), kAboveAllFloats);
  parallel_for(ctx, xyz.size, kPointGrain, [&, floor = outliers.view()](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (!is_finite(xyz[i])) continue;
      const std::size_t cell = lattice.cell_of(xyz[i]);
      if (lattice.height_of(xyz[i]) != lowest.height[cell] || floor.below(xyz[i])) continue;
      atomic_min(offset.data() + cell, place_in_cell(lattice.position_of(xyz[i])));
    }
  });
  BulkVector<CellPoint> points(lattice.cells());
  for (std::size_t cell = 0; cell < points.size(); ++cell)
    points[cell] = cell_point(offset[cell], lowest.height[cell]);
  return points;
}

float blended_height(const BulkVector<CellPlane>& planes, const Lattice& lattice, const Vec3d& p) {
  const LatticePatch at = lattice.patch_of(p);
  const float fu = at.fu, fv = at.fv;
  const CellPlane* const low = planes.data() + at.j * std::size_t{lattice.nx} + at.i;
  const CellPlane* const high = low + lattice.nx;
  const float a = (1 - fu) * low[0].at(fu, fv) + fu * low[1].at(fu - 1, fv);
  const float b = (1 - fu) * high[0].at(fu, fv - 1) + fu * high[1].at(fu - 1, fv - 1);
  return (1 - fv) * a + fv * b;
}

/// Searches 1, 2, 3, 6 .. cells around until enough ground is found; nearer points weigh more.
bool GroundCells::fit(std::size_t x, std::size_t y, const Fit& how, CellPlane& plane) const {
  for (int radius = 1; radius <= how.max_radius; ++radius) {
    PlaneFit moments;
    const double scale = 0.6 * radius + 0.4, falloff = 0.3 / (scale * scale);
    const auto first_u = std::max<std::int64_t>(0, static_cast<std::int64_t>(x) - radius);
    const auto last_u = std::min<std::int64_t>(lattice_.nx - 1, static_cast<std::int64_t>(x) + radius);
    const auto first_v = std::max<std::int64_t>(0, static_cast<std::int64_t>(y) - radius);
    const auto last_v = std::min<std::int64_t>(lattice_.ny - 1, static_cast<std::int64_t>(y) + radius);
    for (std::int64_t v = first_v; v <= last_v; ++v) {
      for (std::int64_t u = first_u; u <= last_u; ++u) {
        const auto cell = static_cast<std::size_t>(v * lattice_.nx + u);
        const bool self = cell == y * lattice_.nx + x;
        if (ground_[cell] == 0 || (self && !how.with_self)) continue;
        const double du = static_cast<double>(u) - static_cast<double>(x) + points_[cell].du;
        const double dv = static_cast<double>(v) - static_cast<double>(y) + points_[cell].dv;
        const double near = 1 / (1 + falloff * (du * du + dv * dv));
        moments.add(du, dv, points_[cell].height, near * near);
      }
    }
    if (moments.count() < how.fewest) continue;
    const PlaneFit::Plane fitted = moments.plane(kPull);
    plane = {static_cast<float>(fitted.height), static_cast<float>(fitted.gu), static_cast<float>(fitted.gv)};
    return true;
  }
  return false;
}

double GroundCells::roughness(OpContext& ctx) const {
  const std::size_t step = std::max<std::size_t>(1, points_.size() / kRoughnessSample);
  BulkVector<float> off((points_.size() + step - 1) / step);
  parallel_for(ctx, off.size(), 1024, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t cell = i * step;
      CellPlane plane{};
      off[i] = -1;
      if (ground_[cell] == 0 || !fit(cell % lattice_.nx, cell / lattice_.nx, {false, 6, 2}, plane)) continue;
      off[i] = std::abs(points_[cell].height - plane.at(points_[cell].du, points_[cell].dv));
    }
  });
  std::vector<float> known;
  std::copy_if(off.begin(), off.end(), std::back_inserter(known), [](float value) { return value >= 0; });
  if (known.empty()) return 0;
  const auto middle = known.begin() + static_cast<std::ptrdiff_t>(known.size() / 2);
  std::nth_element(known.begin(), middle, known.end());
  return 1.4826 * static_cast<double>(*middle);
}

double GroundCells::share_without_layer(double distance_m, OpContext& ctx) const {
  BulkVector<std::uint8_t> layer(ground_.size());
  for (std::size_t cell = 0; cell < layer.size(); ++cell)
    layer[cell] = ground_[cell] != 0 && !points_[cell].scattered ? 1 : 0;
  const BulkVector<std::uint32_t> nearest = nearest_cells(lattice_.nx, lattice_.ny, layer.view(), ctx);
  const double most = distance_m / lattice_.size;
  std::uint64_t occupied = 0, without = 0;
  for (std::size_t cell = 0; cell < layer.size(); ++cell) {
    if (cell % kCellGrain == 0) ctx.checkpoint();
    if (std::isnan(points_[cell].height)) continue;
    occupied += 1;
    const std::size_t to = nearest[cell];
    const double dx = static_cast<double>(to % lattice_.nx) - static_cast<double>(cell % lattice_.nx);
    const double dy = static_cast<double>(to / lattice_.nx) - static_cast<double>(cell / lattice_.nx);
    without += nearest[cell] == kNoCell || dx * dx + dy * dy > most * most;
  }
  return occupied == 0 ? 0 : static_cast<double>(without) / static_cast<double>(occupied);
}

/// The blocks of kBlock x kBlock cells that hold ground: in a large lattice most may hold none.
BulkVector<std::uint8_t> GroundCells::blocks_with_ground() const {
  const std::size_t across = lattice_.nx / kBlock + 1;
  BulkVector<std::uint8_t> blocks(across * (lattice_.ny / kBlock + 1));
  for (std::size_t cell = 0; cell < ground_.size(); ++cell) {
    if (ground_[cell] != 0) blocks[cell / lattice_.nx / kBlock * across + cell % lattice_.nx / kBlock] = 1;
  }
  return blocks;
}

BulkVector<CellPlane> GroundCells::planes(const SurfaceGrid& far, OpContext& ctx) const {
  const BulkVector<std::uint8_t> blocks = blocks_with_ground();
  const std::int64_t across = lattice_.nx / kBlock + 1, down = lattice_.ny / kBlock + 1;
  const auto any_near = [&](std::size_t x, std::size_t y) {
    const auto i = static_cast<std::int64_t>(x / kBlock), j = static_cast<std::int64_t>(y / kBlock);
    for (std::int64_t b = std::max<std::int64_t>(0, j - 1); b <= std::min(down - 1, j + 1); ++b) {
      for (std::int64_t a = std::max<std::int64_t>(0, i - 1); a <= std::min(across - 1, i + 1); ++a) {
        if (blocks[static_cast<std::size_t>(b * across + a)] != 0) return true;
      }
    }
    return false;
  };
  BulkVector<CellPlane> planes(ground_.size());
  parallel_row_parts(ctx, lattice_.nx, lattice_.ny, kCellGrain,
                     [&](std::size_t y, std::size_t x_begin, std::size_t x_end) {
                       for (std::size_t x = x_begin; x < x_end; ++x) {
                         const std::size_t cell = y * lattice_.nx + x;
                         if (!any_near(x, y) || !fit(x, y, {true, 5, kBlockReach}, planes[cell]))
                           planes[cell] = {far.height[cell], 0, 0};
                       }
                     });
  return planes;
}

}  // namespace pc
