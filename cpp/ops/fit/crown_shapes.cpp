#include "ops/fit/crown_shapes.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ops/fit/alpha_crown.h"
#include "ops/fit/crown_trim.h"
#include "ops/fit/enclosing_solid.h"

namespace pc {

namespace {

// contract core section 4
constexpr std::uint64_t kLeastPoints = 4;
constexpr int kSmoothingSteps = 2;

Box3d moved(const Box3d& box, const Vec3d& by) { return {box.min + by, box.max + by}; }

Crown alpha_fitted(const CrownPoints& points, const CrownParams& params, OpContext& ctx) {
  AlphaCrown found = alpha_crown(
      points.xyz.view(), {params.alpha_m, params.strictness, kSmoothingSteps, params.most_triangles}, ctx);
  const Vec3d offset = points.origin + params.offset;
  Box3d box;
  for (Vec3d& vertex : found.mesh.vertices) {
    vertex = vertex + offset;
    box.add(vertex);
  }
  return {{CrownShape::kPrism, (box.min + box.max) * 0.5, (box.max - box.min) * 0.5},
          found.volume_m3,
          found.surface_area_m2,
          found.enclosed_count,
          found.highest_z + offset.z,
          false,
          found.share_of_all,
          std::move(found.mesh),
          AlphaFacts{found.alpha_m, found.watertight, found.holds_enough, found.growth_of_doubled,
                     found.share_of_half}};
}

Crown fitted(const CrownPoints& points, const CrownParams& params, OpContext& ctx) {
  const Box3d all = kept_box({points.xyz.view(), {}}, ctx);
  require(!(all.min == all.max), "all crown points are at one place");
  if (!params.shape) return alpha_fitted(points, params, ctx);
  TrimmedCrown trimmed = trimmed_crown(*params.shape, points.xyz.view(), params.strictness, ctx);
  const Box3d kept = kept_box({points.xyz.view(), trimmed.kept.view()}, ctx);
  const Vec3d offset = points.origin + params.offset;
  Crown crown{trimmed.solid, 0, 0, trimmed.kept_count, kept.max.z + offset.z, false, 1, {}, std::nullopt};
  crown.volume_m3 = crown_volume(trimmed.solid);
  crown.surface_area_m2 = crown_surface_area(trimmed.solid);
  if (trimmed.kept_count < points.xyz.size())
    crown.share_of_all =
        crown_volume(enclosing_solid(*params.shape, {points.xyz.view(), {}}, ctx)) / crown.volume_m3;
  const Vec3d& half = trimmed.solid.half;
  crown.flat = std::min({half.x, half.y, half.z}) <= kFlatHalfExtent * 1.01;
  crown.mesh = crown_mesh(trimmed.solid, offset);
  crown.solid.center = trimmed.solid.center + offset;
  return crown;
}

}  // namespace

CrownFit fit_crown(const TreeRows& tree, const CrownParams& params, OpContext& ctx) {
  require(is_finite(params.offset), "the offset must be finite");
  require(params.strictness >= 0 && params.strictness <= 1, "strictness must be from 0 to 1");
  ctx.begin_phase("Reading crown points", 0);
  const CrownPoints points = crown_points(tree, ctx);
  CrownFit fit{points.xyz.size(), points.unusable_count, std::nullopt,
               std::nullopt,      std::nullopt,          std::nullopt};
  if (points.tree_box.empty()) return fit;
  const Vec3d offset = points.origin + params.offset;
  fit.tree_box = moved(points.tree_box, points.origin);
  fit.lowest_z = offset.z;  // the origin of the points is the low corner
  if (!std::isnan(points.ground_z)) fit.ground_z = points.ground_z + offset.z;
  if (fit.crown_point_count >= kLeastPoints) fit.crown = fitted(points, params, ctx);
  return fit;
}

std::uint64_t crown_fit_bytes(std::uint64_t points, bool alpha_shape) {
  return sizeof(Vec3d) * points + (alpha_shape ? alpha_crown_bytes(points) : trimmed_crown_bytes(points));
}

}  // namespace pc
