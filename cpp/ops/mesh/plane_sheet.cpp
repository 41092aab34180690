#include "ops/mesh/plane_sheet.h"

#include <algorithm>
#include <cmath>

#include "core/parallel.h"
#include "ops/mesh/delaunay.h"
#include "spatial/circumradius.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 16;

Vec3d unit(const Vec3d& v) {
  const double most = std::max({std::fabs(v.x), std::fabs(v.y), std::fabs(v.z)});
  if (!(most > 0)) return {0, 0, 0};
  const Vec3d scaled{v.x / most, v.y / most, v.z / most};
  return scaled * (1 / std::sqrt(dot(scaled, scaled)));
}

template <class Value>
std::size_t largest(std::size_t count, OpContext& ctx, const Value& value) {
  std::size_t best = 0;
  double most = -1;
  for (std::size_t i = 0; i < count; ++i) {
    if (i % kGrain == 0) ctx.checkpoint();
    const double own = value(i);
    if (own > most) {
      most = own;
      best = i;
    }
  }
  return best;
}

/// Two directions of the plane at right angles, and its normal.
struct Frame {
  Vec3d u, v, normal;
};

/// Along the axes where the points have one coordinate in common: their coordinates in the plane are then exact.
Frame frame_of(Span<const Vec3d> points, OpContext& ctx) {
  Box3d box;
  for (std::size_t i = 0; i < points.size; ++i) {
    if (i % kGrain == 0) ctx.checkpoint();
    box.add(points[i]);
  }
  if (box.empty() || box.min.z == box.max.z) return {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  if (box.min.y == box.max.y) return {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}};
  if (box.min.x == box.max.x) return {{0, 1, 0}, {0, 0, 1}, {1, 0, 0}};
  const Vec3d origin = points[0];
  const std::size_t far =
      largest(points.size, ctx, [&](std::size_t i) { return squared_distance(points[i], origin); });
  const Vec3d u = unit(points[far] - origin);
  const std::size_t wide = largest(points.size, ctx, [&](std::size_t i) {
    const Vec3d off = cross(u, points[i] - origin);
    return dot(off, off);
  });
  Vec3d normal = unit(cross(u, points[wide] - origin));
  if (normal.z < 0 || (normal.z == 0 && (normal.y < 0 || (normal.y == 0 && normal.x < 0))))
    normal = normal * -1;
  return {u, cross(normal, u), normal};
}

/// Mean distance to the nearest other point, over the corners of triangles.
double spacing_of(Span<const Vec3d> points, const Column<std::uint32_t>& indices, OpContext& ctx) {
  BulkVector<double> nearest(points.size);
  for (double& squared : nearest) squared = HUGE_VAL;
  for (std::size_t t = 0; t < indices.size(); t += 3) {
    if (t % kGrain == 0) ctx.checkpoint();
    for (std::size_t k = 0; k < 3; ++k) {
      const std::uint32_t i = indices[t + k], j = indices[t + (k + 1) % 3];
      const double squared = squared_distance(points[i], points[j]);
      nearest[i] = std::min(nearest[i], squared);
      nearest[j] = std::min(nearest[j], squared);
    }
  }
  std::uint64_t count = 0;
  for (const double squared : nearest) count += squared < HUGE_VAL ? 1 : 0;
  const double sum = parallel_sum(
      ctx, points.size, [&](std::size_t i) { return nearest[i] < HUGE_VAL ? std::sqrt(nearest[i]) : 0; });
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

}  // namespace

int facing(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& place) {
  const Vec3d normal = cross(b - a, c - a);
  const double away = dot(normal, a - place) + dot(normal, b - place) + dot(normal, c - place);
  for (const double sign : {away, normal.z, normal.y, normal.x}) {
    if (sign != 0) return sign > 0 ? 1 : -1;
  }
  return 1;
}

AlphaShapeResult plane_sheet(Span<const Vec3d> points, const std::optional<double>& alpha_m, OpContext& ctx) {
  const Frame frame = frame_of(points, ctx);
  const Vec3d origin = points.empty() ? Vec3d{0, 0, 0} : points[0];
  const bool axis_aligned = frame.u.x + frame.u.y + frame.u.z == 1 && frame.v.x + frame.v.y + frame.v.z == 1;
  BulkVector<Vec3d> flat(points.size);
  parallel_for(ctx, points.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Vec3d p = axis_aligned ? points[i] : points[i] - origin;
      flat[i] = {dot(p, frame.u), dot(p, frame.v), 0};
    }
  });
  DelaunayResult mesh = delaunay_in_plane(flat.view(), ctx);
  AlphaShapeResult out{};
  out.faces = AlphaFaces::kSheet;
  out.mean_spacing_m = spacing_of(points, mesh.indices, ctx);
  out.alpha_m = alpha_m ? *alpha_m : automatic_alpha(flat.view(), out.mean_spacing_m, ctx);
  out.repeated_count = mesh.repeated_count;
  std::size_t kept = 0;
  for (std::size_t t = 0; t < mesh.indices.size(); t += 3) {
    if (t % kGrain == 0) ctx.checkpoint();
    const Vec3d &a = points[mesh.indices[t]], &b = points[mesh.indices[t + 1]],
                &c = points[mesh.indices[t + 2]];
    if (!(circumradius::circle_of(a, b, c).squared_radius <= out.alpha_m * out.alpha_m)) continue;
    for (std::size_t k = 0; k < 3; ++k) mesh.indices[kept++] = mesh.indices[t + k];
  }
  mesh.indices.shrink(kept);
  out.indices = std::move(mesh.indices);
  return out;
}

}  // namespace pc
