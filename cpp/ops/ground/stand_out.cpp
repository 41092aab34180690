#include "ops/ground/stand_out.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>

#include "core/atomic.h"
#include "core/float_bits.h"
#include "core/parallel.h"
#include "core/plane_fit.h"
#include "ops/ground/ground_class.h"

namespace pc {

namespace {

constexpr std::size_t kPointGrain = std::size_t{1} << 15, kCellGrain = 2048;
constexpr int kReach = 2, kEnough = 12, kFewest = 6;  // cells, points, points
constexpr int kMost = 2 * ((2 * kReach + 1) * (2 * kReach + 1) - 1);
constexpr int kRounds = 4;
constexpr double kTuning = 1.5;  // scatters at which a point weighs half
constexpr double kLeast = 0.03;  // metres, added: points on a plane have no scatter
constexpr double kPull = 0.02;   // of the mean squared distance
constexpr float kNoPoint = std::numeric_limits<float>::quiet_NaN();
constexpr float kNoLimit = std::numeric_limits<float>::infinity();

bool is_ground(const Column<std::uint8_t>& classes, std::size_t i) {
  return classes[i] == static_cast<std::uint8_t>(GroundClass::kGround);
}

/// The highest ground point of each cell; of equally high ones the westernmost, then the southernmost.
BulkVector<CellPoint> highest_points(HitPoints points, const Lattice& lattice,
                                     const Column<std::uint8_t>& classes, OpContext& ctx) {
  BulkVector<std::uint32_t> depth(lattice.cells()), place(lattice.cells());
  std::fill(depth.begin(), depth.end(), kAboveAllFloats);
  std::fill(place.begin(), place.end(), kAboveAllFloats);
  const auto each = [&](const auto& visit) {
    parallel_for(ctx, points.size(), kPointGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const Vec3d& p = points.xyz()[i];
        if (is_ground(classes, i)) visit(p, lattice.cell_of(p), ordered_bits(-lattice.height_of(p)));
      }
    });
  };
  each([&](const Vec3d&, std::size_t cell, std::uint32_t key) { atomic_min(depth.data() + cell, key); });
  each([&](const Vec3d& p, std::size_t cell, std::uint32_t key) {
    if (depth[cell] == key) atomic_min(place.data() + cell, place_in_cell(lattice.position_of(p)));
  });
  BulkVector<CellPoint> highest(lattice.cells());
  parallel_for(ctx, highest.size(), kPointGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t cell = begin; cell < end; ++cell) {
      const float height = depth[cell] == kAboveAllFloats ? kNoPoint : -float_of_ordered(depth[cell]);
      highest[cell] = cell_point(place[cell], height);
    }
  });
  return highest;
}

struct Neighbor {
  double u, v, z, squared;  ///< from the centre of the cell, in cells and metres
  double weight;
};

/// The ground points of the cells around one.
class Around {
 public:
  Around(const StandOutSurface& surface, const BulkVector<CellPoint>& highest, std::size_t cell) {
    const Lattice& lattice = surface.lattice;
    const auto x = static_cast<std::int64_t>(cell % lattice.nx),
               y = static_cast<std::int64_t>(cell / lattice.nx);
    for (std::int64_t ring = 1; ring <= kReach && count_ < kEnough; ++ring) {
      for (std::int64_t v = std::max<std::int64_t>(0, y - ring);
           v <= std::min<std::int64_t>(lattice.ny - 1, y + ring); ++v) {
        const std::int64_t step = v == y - ring || v == y + ring ? 1 : 2 * ring;
        for (std::int64_t u = x - ring; u <= x + ring; u += step) {
          if (u < 0 || u >= lattice.nx) continue;
          const auto other = static_cast<std::size_t>(v * lattice.nx + u);
          const bool has_lowest = surface.cells.is_ground(other);
          const CellPoint &low = surface.cells.point(other), &high = highest[other];
          if (has_lowest) add(low, u - x, v - y);
          if (!std::isnan(high.height) && !(has_lowest && high.height == low.height)) add(high, u - x, v - y);
        }
      }
    }
  }

  /// The height above which a point stands out, as a plane; none if there are too few points.
  CellPlane limit(double threshold_m, double deviations) {
    if (count_ < kFewest) return {kNoLimit, 0, 0};
    double scale = 0;
    for (int i = 0; i < count_; ++i) scale += at(i).squared;
    scale = std::max(scale / count_, 1e-6);
    PlaneFit::Plane plane{};
    double scatter = 0;
    for (int round = 0; round < kRounds; ++round) {
      PlaneFit fit;
      for (int i = 0; i < count_; ++i)
        fit.add(at(i).u, at(i).v, at(i).z, at(i).weight / (1 + at(i).squared / scale));
      plane = fit.plane(kPull * scale);
      scatter = fit.deviation(plane);
      for (int i = 0; i < count_; ++i) {
        const double off = at(i).z - plane.height - plane.gu * at(i).u - plane.gv * at(i).v;
        const double share = off / (kTuning * scatter + kLeast);
        at(i).weight = 1 / (1 + share * share);
      }
    }
    return {static_cast<float>(plane.height + threshold_m + deviations * scatter),
            static_cast<float>(plane.gu), static_cast<float>(plane.gv)};
  }

 private:
  Neighbor& at(int i) { return at_[static_cast<std::size_t>(i)]; }
  void add(const CellPoint& point, std::int64_t du, std::int64_t dv) {
    const double u = static_cast<double>(du) + point.du, v = static_cast<double>(dv) + point.dv;
    at(count_++) = {u, v, point.height, u * u + v * v, 1};
  }

  std::array<Neighbor, kMost> at_;
  int count_ = 0;
};

BulkVector<CellPlane> limits(const StandOutSurface& surface, const BulkVector<CellPoint>& highest,
                             const GroundConstants& constants, OpContext& ctx) {
  BulkVector<CellPlane> found(highest.size());
  parallel_for(ctx, found.size(), kCellGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t cell = begin; cell < end; ++cell) {
      found[cell] = {kNoLimit, 0, 0};
      const CellPoint& top = highest[cell];
      if (std::isnan(top.height)) continue;
      const double above = top.height - surface.planes[cell].at(top.du, top.dv);
      if (above > constants.out_share * surface.threshold_m)
        found[cell] = Around(surface, highest, cell).limit(surface.threshold_m, constants.out_deviations);
    }
  });
  return found;
}

}  // namespace

std::uint64_t drop_points_that_stand_out(HitPoints points, const StandOutSurface& surface,
                                         const GroundConstants& constants, Column<std::uint8_t>& ground_class,
                                         OpContext& ctx) {
  const Lattice& lattice = surface.lattice;
  ctx.begin_phase("Checking the ground", 0);
  const BulkVector<CellPlane> highest =
      limits(surface, highest_points(points, lattice, ground_class, ctx), constants, ctx);
  std::atomic<std::uint64_t> dropped{0};
  parallel_for(ctx, points.size(), kPointGrain, [&](std::size_t begin, std::size_t end) {
    std::uint64_t own = 0;
    for (std::size_t i = begin; i < end; ++i) {
      if (!is_ground(ground_class, i)) continue;
      const Vec3d& p = points.xyz()[i];
      const std::size_t cell = lattice.cell_of(p);
      if (highest[cell].height == kNoLimit) continue;
      const CellPosition at = lattice.position_of(p);
      const auto du = static_cast<float>(at.u - static_cast<double>(cell % lattice.nx));
      const auto dv = static_cast<float>(at.v - static_cast<double>(cell / lattice.nx));
      if (lattice.height_of(p) <= highest[cell].at(du, dv)) continue;
      ground_class[i] = static_cast<std::uint8_t>(GroundClass::kPlant);
      ++own;
    }
    dropped.fetch_add(own, std::memory_order_relaxed);
  });
  return dropped;
}

}  // namespace pc
