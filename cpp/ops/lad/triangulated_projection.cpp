#include "ops/lad/triangulated_projection.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/error.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "core/random.h"
#include "ops/lad/folded_triangles.h"

namespace pc {

namespace {

constexpr int kAzimuths = 16;
constexpr double kTrianglesInside = 6;  // at a point of a plane triangulation, in the mean (Euler's formula)

/// A triangle's part of the two sums of its voxel, and of the two that tell whether azimuths are uniform.
struct Weighed {
  double projected, weight, seen, expected, area;
  double squared, seen_squared;  // of the projections
};

Weighed& operator+=(Weighed& sum, const Weighed& part) {
  sum.projected += part.projected;
  sum.weight += part.weight;
  sum.seen += part.seen;
  sum.expected += part.expected;
  sum.area += part.area;
  sum.squared += part.squared;
  sum.seen_squared += part.seen_squared;
  return sum;
}

double distance(const Vec3d& a, const Vec3d& b) {
  const Vec3d d = a - b;
  return std::sqrt(dot(d, d));
}

bool within(const Vec3d corners[3], const TriangleLimits& limits) {
  const double e[3] = {distance(corners[0], corners[1]), distance(corners[1], corners[2]),
                       distance(corners[2], corners[0])};
  const double longest = std::max({e[0], e[1], e[2]}), shortest = std::min({e[0], e[1], e[2]});
  return longest <= limits.lmax_m && longest <= limits.max_aspect_ratio * shortest;
}

/// Where three beams meet the plane through `centre` (from the scanner) with this normal; false if one does not.
bool meet(const Vec3d beams[3], const Vec3d& centre, const Vec3d& normal, Vec3d corners[3]) {
  const double height = dot(centre, normal);
  for (int k = 0; k < 3; ++k) {
    const double along = height / dot(beams[k], normal);
    if (!(along > 0 && std::isfinite(along))) return false;
    corners[k] = beams[k] * along;
  }
  return true;
}

/// Azimuths of a leaf for which three beams give a triangle within the limits.
struct Detected {
  double share;       ///< of all azimuths
  double projection;  ///< mean |normal . beam| at them
};

/// Replays the beams on the leaf, turned about the vertical. `own`: |normal . beam| at its own azimuth, where it was detected.
Detected detected_azimuths(const Vec3d beams[3], const Vec3d& along, double inclination, double first,
                           double own, const TriangleLimits& limits) {
  int detected = 0;
  double sum = 0;
  for (int k = 0; k < kAzimuths; ++k) {
    const double azimuth = 2 * std::numbers::pi * (first + k) / kAzimuths;
    const Vec3d normal{std::sin(inclination) * std::cos(azimuth), std::sin(inclination) * std::sin(azimuth),
                       std::cos(inclination)};
    Vec3d corners[3];
    if (!meet(beams, along, normal, corners) || !within(corners, limits)) continue;
    ++detected;
    sum += std::abs(dot(normal, along));
  }
  if (detected == 0) return {1.0 / kAzimuths, own};
  return {static_cast<double>(detected) / kAzimuths, sum / detected / std::sqrt(dot(along, along))};
}

class Weighing {
 public:
  Weighing(const LeafTriangles& mesh, const TriangleLimits& limits, OpContext& ctx)
      : mesh_(mesh),
        limits_(limits),
        left_out_(folded_triangles(mesh.vertices, mesh.indices, ctx)),
        at_corner_(mesh.vertices.size) {
    const auto folded = std::count(left_out_.begin(), left_out_.end(), 1);
    if (folded > 0) folded_share_ = static_cast<double>(folded) / static_cast<double>(left_out_.size());
    if (folded_share_ > kMostFolded) std::fill(left_out_.begin(), left_out_.end(), 0);
    for (std::size_t i = 0; i < mesh.indices.size; ++i) {
      if (i % (std::size_t{1} << 16) == 0) ctx.checkpoint();
      if (!left_out_[i / 3]) ++at_corner_[mesh.indices[i]];
    }
  }

  double folded_share() const { return folded_share_; }

  Weighed of(std::size_t t) const {
    if (left_out_[t]) return {};
    const std::uint32_t* corner = mesh_.indices.data + 3 * t;
    const Vec3d origin = mesh_.origins[mesh_.scan_ids[t]];
    Vec3d beams[3];
    double rim = 0;
    for (int k = 0; k < 3; ++k) {
      beams[k] = mesh_.vertices[corner[k]] - origin;
      rim += kTrianglesInside / at_corner_[corner[k]] / 3;
    }
    const Vec3d normal = cross(beams[1] - beams[0], beams[2] - beams[0]);
    const Vec3d centre = (beams[0] + beams[1] + beams[2]) * (1.0 / 3);
    const double size = std::sqrt(dot(normal, normal)), range = std::sqrt(dot(centre, centre));
    if (!(size > 0 && range > 0 && std::isfinite(size) && std::isfinite(range))) return {};
    const double inclination = std::acos(std::min(1.0, std::abs(normal.z) / size));
    const double zenith = std::acos(std::clamp(centre.z / range, -1.0, 1.0));
    const double own = std::abs(dot(normal, centre)) / (size * range), area = 0.5 * size * rim;
    const Detected detected = detected_azimuths(beams, centre, inclination, random_unit(1, t), own, limits_);
    const double weight = area / detected.share;
    return {weight * mean_azimuth_projection(zenith, inclination),
            weight,
            area * own,
            area * detected.projection,
            area,
            weight * mean_azimuth_projection_squared(zenith, inclination),
            area * own * own};
  }

 private:
  const LeafTriangles& mesh_;
  const TriangleLimits& limits_;
  BulkVector<std::uint8_t> left_out_;
  double folded_share_ = 0;
  BulkVector<std::uint32_t> at_corner_;
};

}  // namespace

TriangulatedProjection triangulated_projection(const LeafTriangles& triangles, const TriangleLimits& limits,
                                               const VoxelBox& grid, OpContext& ctx) {
  check_leaf_triangles(triangles);
  require(limits.lmax_m > 0 && limits.max_aspect_ratio >= 1,
          "lmax must be positive and max_aspect_ratio at least 1");
  const BinnedCells cells = bin_cells(triangles.vertices, triangles.indices, grid, ctx);
  const Weighing weighing(triangles, limits, ctx);
  const std::size_t count = triangles.scan_ids.size;
  BulkVector<Weighed> parts(count);
  parallel_for(ctx, count, std::size_t{1} << 12, [&](std::size_t begin, std::size_t end) {
    for (std::size_t t = begin; t < end; ++t)
      if (cells.cell_ids[t] != kNoCell) parts[t] = weighing.of(t);
  });
  TriangulatedProjection out{{Column<double>(cells.cell_count), 0, 0, 0}, 1, true, weighing.folded_share()};
  Column<double> whole(cells.cell_count), seen_of(cells.cell_count), area(cells.cell_count);
  Weighed sum{};
  for (std::size_t t = 0; t < count; ++t) {
    if (t % (std::size_t{1} << 16) == 0) ctx.checkpoint();
    if (!(parts[t].weight > 0)) continue;
    out.g[cells.cell_ids[t]] += parts[t].projected;
    whole[cells.cell_ids[t]] += parts[t].weight;
    seen_of[cells.cell_ids[t]] += parts[t].seen;
    area[cells.cell_ids[t]] += parts[t].area;
    sum += parts[t];
    ++out.triangle_count;
  }
  if (sum.expected > 0) out.facing = sum.seen / sum.expected;
  out.uniform_azimuths =
      out.triangle_count < kFewestFacing || (out.facing >= kLeastFacing && out.facing <= kMostFacing);
  const double projected = out.uniform_azimuths ? sum.projected : sum.seen;
  const double all = out.uniform_azimuths ? sum.weight : sum.area;
  if (all > 0) out.mean_g = std::min(1.0, projected / all);
  if (projected > 0) out.hit_cosine = (out.uniform_azimuths ? sum.squared : sum.seen_squared) / projected;
  for (std::size_t v = 0; v < cells.cell_count; ++v) {
    if (v % (std::size_t{1} << 16) == 0) ctx.checkpoint();
    const double g = out.uniform_azimuths ? out.g[v] / whole[v] : seen_of[v] / area[v];
    out.g[v] = whole[v] > 0 ? std::min(1.0, g) : 0;
  }
  return out;
}

}  // namespace pc
