#include "ops/ground/outlier_support.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/parallel.h"
#include "core/plane_fit.h"
#include "ops/ground/ground_frame.h"

namespace pc {

namespace {

constexpr std::size_t kCellGrain = std::size_t{1} << 12, kPoll = std::size_t{1} << 14;
constexpr std::int64_t kReach = 4;        // cells around that the surface is fitted to, nearest first,
constexpr std::size_t kEnough = 8;        // until these many hold a credible height
constexpr std::size_t kFewestAround = 6;  // fewer support no surface
constexpr int kFits = 6;
constexpr double kRobust = 1.4826;  // standard deviation of a normal distribution, in median deviations
constexpr double kPull = 0.02, kSmallestOff = 1e-3;  // squared cells; metres
constexpr std::uint32_t kFewestCells =
    4;                              // across a block: coarser cells see the ground between plants themselves
constexpr double kPerMetre = 0.03;  // how much lines between blocks miss the ground

struct Support {
  double u, v, z;  ///< cells from the middle of the cell, metres
};

/// The lowest credible heights of the cells around.
std::vector<Support> support_around(const LowestHeights& heights, const BulkVector<std::uint8_t>& first,
                                    std::size_t cell) {
  const Lattice& lattice = heights.lattice();
  const auto x = static_cast<std::int64_t>(cell % lattice.nx),
             y = static_cast<std::int64_t>(cell / lattice.nx);
  std::vector<Support> around;
  for (std::int64_t ring = 0; ring <= kReach && around.size() < kEnough; ++ring) {
    for (std::int64_t v = std::max<std::int64_t>(0, y - ring);
         v <= std::min<std::int64_t>(lattice.ny - 1, y + ring); ++v) {
      const std::int64_t step = v == y - ring || v == y + ring ? 1 : std::max<std::int64_t>(1, 2 * ring);
      for (std::int64_t u = x - ring; u <= x + ring; u += step) {
        if (u < 0 || u >= lattice.nx) continue;
        const auto other = static_cast<std::size_t>(v * lattice.nx + u);
        if (!heights.has(first[other], other)) continue;
        around.push_back({static_cast<double>(u - x), static_cast<double>(v - y),
                          static_cast<double>(heights.height(first[other], other))});
      }
    }
  }
  return around;
}

/// What a candidate has to lie below, at the middle of its cell.
struct Surface {
  double height, deviation;  ///< metres; robust standard deviation
};

/// The plane through the heights; false if they are too few.
bool fit_surface(const std::vector<Support>& around, Surface& surface) {
  if (around.size() < kFewestAround) return false;
  PlaneFit::Plane plane{0, 0, 0};
  for (int fit = 0; fit < kFits; ++fit) {
    PlaneFit sums;
    for (const Support& one : around) {
      const double off = one.z - (plane.height + plane.gu * one.u + plane.gv * one.v);
      sums.add(one.u, one.v, one.z, fit == 0 ? 1 : 1 / std::max(std::abs(off), kSmallestOff));
    }
    plane = sums.plane(kPull);
  }
  std::vector<double> off;
  for (const Support& one : around)
    off.push_back(std::abs(one.z - (plane.height + plane.gu * one.u + plane.gv * one.v)));
  const auto middle = off.begin() + static_cast<std::ptrdiff_t>(off.size() / 2);
  std::nth_element(off.begin(), middle, off.end());
  surface = {plane.height, kRobust * *middle};
  return true;
}

/// The lowest credible heights of blocks of cells, at least kBlockSize metres wide. Between them lies ground that is
/// hidden nearby, under plants and behind stems.
class Blocks {
 public:
  Blocks(const LowestHeights& heights, const BulkVector<std::uint8_t>& first, OpContext& ctx)
      : lattice_(heights.lattice()),
        step_(outlier_block_cells(lattice_.size)),
        nx_(lattice_.nx / step_ + 1),
        lowest_(std::size_t{nx_} * (lattice_.ny / step_ + 1), {0, 0, HUGE_VAL}) {
    for (std::size_t cell = 0; cell < lattice_.cells(); ++cell) {
      if (cell % kPoll == 0) ctx.checkpoint();
      if (!heights.has(first[cell], cell)) continue;
      const double z = heights.height(first[cell], cell);
      const std::size_t x = cell % lattice_.nx, y = cell / lattice_.nx;
      Support& block = lowest_[y / step_ * nx_ + x / step_];
      if (z < block.z) block = {static_cast<double>(x), static_cast<double>(y), z};
    }
  }

  /// True if a height is not below any line between opposite blocks around it.
  bool reach_down_to(double z, std::size_t cell, double layer) const {
    if (step_ < kFewestCells) return false;
    const auto x = static_cast<double>(cell % lattice_.nx), y = static_cast<double>(cell / lattice_.nx);
    bool any = false;
    for (const auto& [du, dv] : {std::pair{1, 0}, {0, 1}, {1, 1}, {1, -1}}) {
      const Support *one = block(cell, du, dv), *other = block(cell, -du, -dv);
      if (one == nullptr || other == nullptr) continue;
      const double a = std::hypot(one->u - x, one->v - y), b = std::hypot(other->u - x, other->v - y);
      const double line = (one->z * b + other->z * a) / (a + b);
      if (z < line - layer - kPerMetre * lattice_.size * (a + b) / 2) return false;
      any = true;
    }
    return any;
  }

 private:
  const Support* block(std::size_t cell, int du, int dv) const {
    const std::int64_t i = static_cast<std::int64_t>(cell % lattice_.nx / step_) + du;
    const std::int64_t j = static_cast<std::int64_t>(cell / lattice_.nx / step_) + dv;
    if (i < 0 || j < 0 || i >= nx_ || j * nx_ >= static_cast<std::int64_t>(lowest_.size())) return nullptr;
    const Support& found = lowest_[static_cast<std::size_t>(j * nx_ + i)];
    return found.z == HUGE_VAL ? nullptr : &found;
  }

  Lattice lattice_;
  std::uint32_t step_, nx_;
  std::vector<Support> lowest_;
};

}  // namespace

void keep_supported(const LowestHeights& heights, const LowOutlierConstants& constants, double layer,
                    double point_count, BulkVector<std::uint8_t>& first, OpContext& ctx) {
  const Blocks blocks(heights, first, ctx);
  const double deviations = std::sqrt(2 * std::log(point_count));
  const double coherent = constants.coherent_cells * heights.lattice().size;
  BulkVector<std::uint8_t> kept(first.size());
  parallel_for(ctx, first.size(), kCellGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t cell = begin; cell < end; ++cell) {
      Surface surface{};
      if (first[cell] == 0 || !fit_surface(support_around(heights, first, cell), surface)) continue;
      double depth = std::max(layer, deviations * surface.deviation);
      if (surface.deviation <= coherent) depth = std::min(depth, std::max(layer, constants.max_depth));
      for (; kept[cell] < first[cell]; ++kept[cell]) {
        const double z = heights.height(kept[cell], cell);
        if (z >= surface.height - depth || blocks.reach_down_to(z, cell, layer)) break;
      }
    }
  });
  std::swap(first, kept);
}

}  // namespace pc
