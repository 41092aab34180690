#include "ops/ground/ground_surface.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>

#include "core/parallel.h"
#include "ops/ground/side_planes.h"

namespace pc {

namespace {

constexpr std::size_t kBlock =
    16;  // cells, at least twice the reach: a change affects adjacent blocks at most
constexpr std::size_t kBlockGrain = 16;
constexpr int kReach = 6;  // cells
constexpr int kMostNear = (kMostPlaneNeighbors - 1) + 8 * kReach;
constexpr int kSideReach = 3, kMostSide = 28;
static_assert(2 * kReach <= static_cast<int>(kBlock));

struct Neighbor {
  double u, v, z, squared;  ///< from the point of the cell, in cells and metres
  std::size_t cell;
};

template <std::size_t N>
struct Neighbors {
  std::array<Neighbor, N> at;
  int count = 0;
};

/// Ground from rings around a cell until there is enough; whole rings, so that no direction is preferred.
Neighbors<kMostNear> nearest_ground(const CellLevel& level, std::size_t cell, double enough) {
  Neighbors<kMostNear> near;
  const auto x = static_cast<std::int64_t>(cell % level.nx), y = static_cast<std::int64_t>(cell / level.nx);
  const CellPoint& own = level.points[cell];
  for (std::int64_t ring = 1; ring <= kReach && near.count < enough; ++ring) {
    for (std::int64_t v = std::max<std::int64_t>(0, y - ring);
         v <= std::min<std::int64_t>(level.ny - 1, y + ring); ++v) {
      const std::int64_t step = v == y - ring || v == y + ring ? 1 : 2 * ring;
      for (std::int64_t u = x - ring; u <= x + ring; u += step) {
        if (u < 0 || u >= level.nx) continue;
        const auto other = static_cast<std::size_t>(v * level.nx + u);
        if (level.ground[other] == 0) continue;
        const CellPoint& point = level.points[other];
        const double du = static_cast<double>(u - x) + point.du - own.du,
                     dv = static_cast<double>(v - y) + point.dv - own.dv;
        near.at[static_cast<std::size_t>(near.count++)] = {du, dv, point.height, du * du + dv * dv, other};
      }
    }
  }
  return near;
}

/// Ground nearer than kSideReach cells.
Neighbors<kMostSide> close_ground(const CellLevel& level, std::size_t cell) {
  Neighbors<kMostSide> close;
  const auto x = static_cast<std::int64_t>(cell % level.nx), y = static_cast<std::int64_t>(cell / level.nx);
  const CellPoint& own = level.points[cell];
  for (std::int64_t v = std::max<std::int64_t>(0, y - kSideReach);
       v <= std::min<std::int64_t>(level.ny - 1, y + kSideReach); ++v) {
    for (std::int64_t u = std::max<std::int64_t>(0, x - kSideReach);
         u <= std::min<std::int64_t>(level.nx - 1, x + kSideReach); ++u) {
      const auto other = static_cast<std::size_t>(v * level.nx + u);
      if (level.ground[other] == 0 || other == cell) continue;
      // Distance between cells, not points, which bounds the count.
      if ((u - x) * (u - x) + (v - y) * (v - y) >= kSideReach * kSideReach + 1) continue;
      const CellPoint& point = level.points[other];
      const double du = static_cast<double>(u - x) + point.du - own.du,
                   dv = static_cast<double>(v - y) + point.dv - own.dv;
      close.at[static_cast<std::size_t>(close.count++)] = {du, dv, point.height, du * du + dv * dv, other};
    }
  }
  return close;
}

}  // namespace

GroundSurface::GroundSurface(CellLevel& level, const GroundConstants& constants)
    : level_(level),
      constants_(constants),
      tolerance_m_(tolerance_of(constants, level.size)),
      scattered_tolerance_m_(constants.scattered_tolerance_m + constants.scattered_per_metre * level.size),
      across_((level.nx + kBlock - 1) / kBlock),
      down_((level.ny + kBlock - 1) / kBlock),
      above_(level.cells()),
      slack_(level.cells()),
      next_(level.cells()),
      changed_(across_ * down_) {
  std::fill(changed_.begin(), changed_.end(), std::uint8_t{1});
}

/// The blocks that a change of the last round affects: its own block and the adjacent ones.
BulkVector<std::uint8_t> GroundSurface::blocks_in_reach() const {
  BulkVector<std::uint8_t> reached(changed_.size());
  for (std::size_t block = 0; block < changed_.size(); ++block) {
    if (changed_[block] == 0) continue;
    const std::size_t x = block % across_, y = block / across_;
    for (std::size_t v = y == 0 ? 0 : y - 1; v <= std::min(down_ - 1, y + 1); ++v) {
      for (std::size_t u = x == 0 ? 0 : x - 1; u <= std::min(across_ - 1, x + 1); ++u)
        reached[v * across_ + u] = 1;
    }
  }
  return reached;
}

template <class Visit>
void GroundSurface::for_cells_of(std::size_t block, const Visit& visit) const {
  const std::size_t x0 = block % across_ * kBlock, y0 = block / across_ * kBlock;
  for (std::size_t y = y0; y < std::min<std::size_t>(y0 + kBlock, level_.ny); ++y) {
    for (std::size_t x = x0; x < std::min<std::size_t>(x0 + kBlock, level_.nx); ++x) {
      if (!level_.empty(y * level_.nx + x)) visit(y * level_.nx + x);
    }
  }
}

/// Measures the height of the cell's point above the plane through the ground around it.
void GroundSurface::measure(std::size_t cell) {
  const auto near = nearest_ground(level_, cell, constants_.plane_neighbors);
  above_[cell] = std::numeric_limits<float>::quiet_NaN();
  if (near.count == 0) return;
  double scale = 0;
  for (int i = 0; i < near.count; ++i) scale += near.at[static_cast<std::size_t>(i)].squared;
  scale = std::max(scale / near.count, 1e-6);
  PlaneFit fit;
  for (int i = 0; i < near.count; ++i) {
    const Neighbor& one = near.at[static_cast<std::size_t>(i)];
    fit.add(one.u, one.v, one.z, 1 / (one.squared / scale + constants_.near_weight));
  }
  const PlaneFit::Plane plane = fit.plane(constants_.pull * scale);
  above_[cell] = static_cast<float>(level_.points[cell].height - plane.height);
  slack_[cell] = static_cast<float>((level_.points[cell].scattered ? scattered_tolerance_m_ : tolerance_m_) +
                                    constants_.slope_share *
                                        std::min(plane.rise(), constants_.side_slope * level_.size));
}

/// Median distance of the ground around a cell from the planes of its own neighbours.
float GroundSurface::roughness_around(std::size_t cell) const {
  const auto near = nearest_ground(level_, cell, constants_.plane_neighbors);
  std::array<float, kMostNear + 1> off{};
  std::size_t count = 0;
  for (int i = 0; i < near.count; ++i) {
    const float above = above_[near.at[static_cast<std::size_t>(i)].cell];
    if (!std::isnan(above)) off[count++] = std::abs(above);
  }
  if (level_.ground[cell] != 0) off[count++] = std::abs(above_[cell]);
  if (count == 0) return 0;
  const auto middle = off.begin() + static_cast<std::ptrdiff_t>(count / 2);
  std::nth_element(off.begin(), middle, off.begin() + static_cast<std::ptrdiff_t>(count));
  return *middle;
}

/// True if the cell's point is on a plane through the ground on one side that fits that ground itself.
bool GroundSurface::on_one_side(std::size_t cell) const {
  const auto close = close_ground(level_, cell);
  const double height = level_.points[cell].height;
  int level_with = 0;
  for (int i = 0; i < close.count; ++i) {
    const Neighbor& one = close.at[static_cast<std::size_t>(i)];
    const double reach = slack_[cell] + constants_.side_slope * std::sqrt(one.squared) * level_.size;
    level_with += std::abs(one.z - height) <= reach;
  }
  if (level_with < constants_.side_fewest) return false;
  return any_side_plane(close, constants_, [&](const PlaneFit& fit, const PlaneFit::Plane& plane) {
    const double off = std::abs(height - plane.height);
    if (plane.rise() >= constants_.side_slope * level_.size || off > slack_[cell]) return false;
    return off + constants_.side_scatter * fit.deviation(plane) <= slack_[cell];
  });
}

bool GroundSurface::accepts(std::size_t cell) const {
  const float above = above_[cell];
  if (std::isnan(above)) return level_.ground[cell] != 0;
  const double over = static_cast<double>(above) - slack_[cell];
  if (over <= 0) return true;
  if (level_.points[cell].scattered) return false;
  if (over <= constants_.max_roughness_m && over <= constants_.roughness_share * roughness_around(cell))
    return true;
  return on_one_side(cell);
}

std::uint64_t GroundSurface::revise(OpContext& ctx) {
  const BulkVector<std::uint8_t> reached = blocks_in_reach();
  parallel_for(ctx, reached.size(), kBlockGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t block = begin; block < end; ++block) {
      if (reached[block] != 0) for_cells_of(block, [&](std::size_t cell) { measure(cell); });
    }
  });
  std::atomic<std::uint64_t> changed{0};
  parallel_for(ctx, reached.size(), kBlockGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t block = begin; block < end; ++block) {
      std::uint64_t own = 0;
      if (reached[block] != 0) {
        for_cells_of(block, [&](std::size_t cell) {
          next_[cell] = accepts(cell) ? 1 : 0;
          own += next_[cell] != level_.ground[cell];
        });
      }
      changed_[block] = own > 0 ? 1 : 0;
      changed.fetch_add(own, std::memory_order_relaxed);
    }
  });
  parallel_for(ctx, reached.size(), kBlockGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t block = begin; block < end; ++block) {
      if (changed_[block] != 0)
        for_cells_of(block, [&](std::size_t cell) { level_.ground[cell] = next_[cell]; });
    }
  });
  return changed;
}

}  // namespace pc
