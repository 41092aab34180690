#include "ops/fit/alpha_solid.h"

#include <cmath>

#include "core/parallel.h"
#include "spatial/circumradius.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 14;

}  // namespace

BulkVector<float> face_radii(const DelaunayTetrahedra& cells, OpContext& ctx) {
  const Span<const Vec3d> at = cells.vertices();
  BulkVector<float> radii(4 * cells.slots());
  parallel_for(ctx, cells.slots(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t slot = begin; slot < end; ++slot) {
      if (!cells.is_finite_cell(slot)) continue;
      for (std::size_t i = 0; i < 4; ++i) {
        std::array<std::uint32_t, 3> face{};
        for (std::size_t k = 0; k < 3; ++k) face[k] = cells.corners(slot)[DelaunayTetrahedra::kFace[i][k]];
        std::sort(face.begin(), face.end());  // the same radius from both sides
        const auto circle = circumradius::circle_of(at[face[0]], at[face[1]], at[face[2]]);
        radii[4 * slot + i] = static_cast<float>(std::sqrt(circle.squared_radius));
      }
    }
  });
  return radii;
}

double growth_of_doubled(AlphaSolid& solid, double alpha) {
  const double own = solid.volume_m3();
  solid.carve(2 * alpha);
  return own > 0 ? solid.volume_m3() / own : 1;
}

}  // namespace pc
