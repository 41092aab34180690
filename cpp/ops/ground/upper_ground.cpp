#include "ops/ground/upper_ground.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "core/parallel.h"
#include "ops/ground/side_planes.h"

namespace pc {

namespace {

constexpr int kReach = 2, kSide = 2 * kReach + 1;  // cells
constexpr std::size_t kRowGrain = 16;
constexpr double kSlopeShare = 0.25, kFaceSlope = 1;  // as in the search; 45 degrees
constexpr float kNone = -std::numeric_limits<float>::infinity();

/// The largest of the entries that are at most kReach away from `at`.
template <class Value>
float largest_around(std::size_t at, std::size_t count, const Value& value) {
  float most = kNone;
  for (std::size_t i = at < kReach ? 0 : at - kReach; i <= std::min(count - 1, at + kReach); ++i)
    most = std::max(most, value(i));
  return most;
}

struct Neighbor {
  double u, v, z, squared;  ///< from the point, in cells and metres
};

/// The ground within kReach cells.
struct Around {
  std::array<Neighbor, kSide * kSide> at;
  int count = 0;
  std::array<std::int8_t, kSide * kSide> index_of;  ///< of the cells, row by row; -1 = no ground

  Around(const Lattice& lattice, const GroundCells& cells, const Vec3d& point, std::size_t cell) {
    const CellPosition own = lattice.position_of(point);
    const auto x = static_cast<std::int64_t>(cell % lattice.nx),
               y = static_cast<std::int64_t>(cell / lattice.nx);
    index_of.fill(-1);
    for (std::int64_t v = std::max<std::int64_t>(0, y - kReach);
         v <= std::min<std::int64_t>(lattice.ny - 1, y + kReach); ++v) {
      for (std::int64_t u = std::max<std::int64_t>(0, x - kReach);
           u <= std::min<std::int64_t>(lattice.nx - 1, x + kReach); ++u) {
        const auto other = static_cast<std::size_t>(v * lattice.nx + u);
        if (!cells.is_ground(other)) continue;
        const CellPoint& ground = cells.point(other);
        const double du = static_cast<double>(u) + ground.du - own.u,
                     dv = static_cast<double>(v) + ground.dv - own.v;
        index_of[static_cast<std::size_t>((v - y + kReach) * kSide + u - x + kReach)] =
            static_cast<std::int8_t>(count);
        at[static_cast<std::size_t>(count++)] = {du, dv, ground.height, du * du + dv * dv};
      }
    }
  }

  /// The nearest ground cell in a direction; null if there is none.
  const Neighbor* first(int du, int dv) const {
    for (int step = 1; step <= kReach; ++step) {
      const int index = index_of[static_cast<std::size_t>((step * dv + kReach) * kSide + step * du + kReach)];
      if (index >= 0) return &at[static_cast<std::size_t>(index)];
    }
    return nullptr;
  }
};

bool on_face(const Around& around, double size, double height, double threshold_m) {
  constexpr std::array<std::array<int, 2>, 4> kDirections{{{1, 0}, {0, 1}, {1, 1}, {-1, 1}}};
  return std::any_of(kDirections.begin(), kDirections.end(), [&](const std::array<int, 2>& to) {
    const Neighbor *one = around.first(to[0], to[1]), *other = around.first(-to[0], -to[1]);
    if (one == nullptr || other == nullptr) return false;
    const double run = (std::sqrt(one->squared) + std::sqrt(other->squared)) * size;
    return std::abs(one->z - other->z) >= kFaceSlope * run &&
           height <= std::max(one->z, other->z) + threshold_m;
  });
}

bool on_one_side(const Around& around, double size, double height, double threshold_m) {
  return any_side_plane(around, [&](const PlaneFit& fit, const PlaneFit::Plane& plane) {
    if (plane.rise() >= kSideSlope * size) return false;
    return std::abs(height - plane.height) + fit.deviation(plane) <= threshold_m + kSlopeShare * plane.rise();
  });
}

}  // namespace

UpperGround::UpperGround(const Lattice& lattice, const GroundCells& cells, double threshold_m, OpContext& ctx)
    : lattice_(lattice), cells_(cells), threshold_m_(threshold_m), highest_(lattice.cells()) {
  parallel_for(ctx, lattice_.ny, kRowGrain, [&](std::size_t begin, std::size_t end) {
    std::vector<float> columns(lattice_.nx);
    for (std::size_t y = begin; y < end; ++y) {
      for (std::size_t x = 0; x < lattice_.nx; ++x) {
        columns[x] = largest_around(y, lattice_.ny, [&](std::size_t v) {
          const std::size_t cell = v * lattice_.nx + x;
          return cells_.is_ground(cell) ? cells_.point(cell).height : kNone;
        });
      }
      for (std::size_t x = 0; x < lattice_.nx; ++x)
        highest_[y * lattice_.nx + x] =
            largest_around(x, lattice_.nx, [&](std::size_t u) { return columns[u]; });
    }
  });
}

bool UpperGround::holds(const Vec3d& point, double height, std::size_t cell) const {
  // Higher than all ground around, a plane of one side would be extrapolated. This test also rejects most plants.
  if (height > highest_[cell] + threshold_m_) return false;
  const Around around(lattice_, cells_, point, cell);
  return on_face(around, lattice_.size, height, threshold_m_) ||
         on_one_side(around, lattice_.size, height, threshold_m_);
}

}  // namespace pc
