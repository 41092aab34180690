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
constexpr std::size_t kCellGrain = std::size_t{1} << 14;
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

bool on_face(const Around& around, const GroundConstants& constants, double size, double height,
             double threshold_m) {
  constexpr std::array<std::array<int, 2>, 4> kDirections{{{1, 0}, {0, 1}, {1, 1}, {-1, 1}}};
  return std::any_of(kDirections.begin(), kDirections.end(), [&](const std::array<int, 2>& to) {
    const Neighbor *one = around.first(to[0], to[1]), *other = around.first(-to[0], -to[1]);
    if (one == nullptr || other == nullptr) return false;
    const double run = (std::sqrt(one->squared) + std::sqrt(other->squared)) * size;
    return std::abs(one->z - other->z) >= constants.upper_face_slope * run &&
           height <= std::max(one->z, other->z) + threshold_m;
  });
}

bool on_one_side(const Around& around, const GroundConstants& constants, double size, double height,
                 double threshold_m) {
  return any_side_plane(around, constants, [&](const PlaneFit& fit, const PlaneFit::Plane& plane) {
    if (plane.rise() >= constants.side_slope * size) return false;
    return std::abs(height - plane.height) + constants.upper_scatter * fit.deviation(plane) <=
           threshold_m + constants.upper_slope_share * plane.rise();
  });
}

}  // namespace

UpperGround::UpperGround(const Lattice& lattice, const GroundCells& cells, double threshold_m,
                         const GroundConstants& constants, OpContext& ctx)
    : lattice_(lattice),
      cells_(cells),
      threshold_m_(threshold_m),
      constants_(constants),
      highest_(lattice.cells()) {
  const std::size_t nx = lattice_.nx;
  parallel_row_parts(
      ctx, nx, lattice_.ny, kCellGrain, [&](std::size_t y, std::size_t x_begin, std::size_t x_end) {
        const std::size_t low = x_begin < kReach ? 0 : x_begin - kReach, high = std::min(nx, x_end + kReach);
        std::vector<float> columns(high - low);
        for (std::size_t x = low; x < high; ++x) {
          columns[x - low] = largest_around(y, lattice_.ny, [&](std::size_t v) {
            const std::size_t cell = v * nx + x;
            return cells_.is_ground(cell) ? cells_.point(cell).height : kNone;
          });
        }
        for (std::size_t x = x_begin; x < x_end; ++x)
          highest_[y * nx + x] = largest_around(x, nx, [&](std::size_t u) { return columns[u - low]; });
      });
}

bool UpperGround::holds(const Vec3d& point, double height, std::size_t cell) const {
  // Higher than all ground around, a plane of one side would be extrapolated. This test also rejects most plants.
  if (height > highest_[cell] + threshold_m_) return false;
  const Around around(lattice_, cells_, point, cell);
  return on_face(around, constants_, lattice_.size, height, threshold_m_) ||
         on_one_side(around, constants_, lattice_.size, height, threshold_m_);
}

}  // namespace pc
