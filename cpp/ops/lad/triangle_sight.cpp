#include "ops/lad/triangle_sight.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "ops/lad/folded_triangles.h"
#include "ops/lad/leaf_inclinations.h"

namespace pc {

namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kTrianglesInside = 6;  // at a point of a plane triangulation, in the mean (Euler's formula)
constexpr double kLeastLevel = 1e-6;    // of a beam, below which there is no bearing
/// Directions in which a leaf may be tilted from the beam.
constexpr int kTilts = 32;
constexpr std::size_t kPollTriangles = std::size_t{1} << 16;

/// Their cosines and sines.
struct Tilts {
  double x[kTilts], y[kTilts];
  Tilts() {
    for (int k = 0; k < kTilts; ++k) x[k] = std::cos(kPi * k / kTilts), y[k] = std::sin(kPi * k / kTilts);
  }
};
const Tilts kTiltsOf;

std::uint8_t class_of(double angle, std::size_t classes) {
  return static_cast<std::uint8_t>(
      std::min(classes - 1, static_cast<std::size_t>(angle / (kPi / 2) * static_cast<double>(classes))));
}

/// The edges of the triangle on a leaf that faces the beams; false if they meet none.
bool edges_across(const Vec3d beams[3], double edges[3][2]) {
  const Vec3d centre = (beams[0] + beams[1] + beams[2]) * (1.0 / 3);
  const double range = std::sqrt(dot(centre, centre));
  const Vec3d along = centre * (1 / range), aside = std::abs(along.z) > 0.9 ? Vec3d{1, 0, 0} : Vec3d{0, 0, 1};
  Vec3d x = cross(along, aside);
  x = x * (1 / std::sqrt(dot(x, x)));
  const Vec3d y = cross(along, x);
  Vec3d corners[3];
  for (int k = 0; k < 3; ++k) {
    const double scale = range / dot(beams[k], along);
    if (!(scale > 0 && std::isfinite(scale))) return false;
    corners[k] = beams[k] * scale;
  }
  for (int k = 0; k < 3; ++k) {
    const Vec3d edge = corners[(k + 1) % 3] - corners[k];
    edges[k][0] = dot(edge, x), edges[k][1] = dot(edge, y);
  }
  return true;
}

}  // namespace

double always_within(const Vec3d beams[3], const TriangleLimits& limits) {
  constexpr double kNever = 2;
  double edges[3][2], squared[3];
  if (!edges_across(beams, edges)) return kNever;
  for (int k = 0; k < 3; ++k) squared[k] = edges[k][0] * edges[k][0] + edges[k][1] * edges[k][1];
  // On a leaf at cosine c, tilted towards u, an edge e has the length^2 |e|^2 + q (e u)^2, q = 1 / c^2 - 1: the limits are linear
  // in q.
  const double aspect = limits.max_aspect_ratio * limits.max_aspect_ratio;
  double most = limits.lmax_m * limits.lmax_m / std::max({squared[0], squared[1], squared[2]}) - 1;
  for (int tilt = 0; tilt < kTilts && most >= 0; ++tilt) {
    const double x = kTiltsOf.x[tilt], y = kTiltsOf.y[tilt];
    double along[3];
    for (int k = 0; k < 3; ++k) {
      const double part = edges[k][0] * x + edges[k][1] * y;
      along[k] = part * part;
    }
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) {
        const double spare = aspect * squared[j] - squared[i], growth = along[i] - aspect * along[j];
        if (spare < 0) return kNever;
        if (growth > 0) most = std::min(most, spare / growth);
      }
  }
  return most >= 0 ? 1 / std::sqrt(1 + most) : kNever;
}

TriangleSight::TriangleSight(const LeafTriangles& mesh, const TriangleLimits& limits, OpContext& ctx)
    : mesh_(mesh),
      limits_(limits),
      left_out_(folded_triangles(mesh.vertices, mesh.indices, ctx)),
      at_corner_(mesh.vertices.size) {
  const auto folded = std::count(left_out_.begin(), left_out_.end(), 1);
  if (folded > 0) folded_share_ = static_cast<double>(folded) / static_cast<double>(left_out_.size());
  if (folded_share_ > kMostFolded) std::fill(left_out_.begin(), left_out_.end(), 0);
  for (std::size_t i = 0; i < mesh.indices.size; ++i) {
    if (i % kPollTriangles == 0) ctx.checkpoint();
    if (!left_out_[i / 3]) ++at_corner_[mesh.indices[i]];
  }
}

SeenTriangle TriangleSight::of(std::size_t t) const {
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
  SeenTriangle out{};
  out.area = 0.5 * size * rim, out.hits = 0.5 * rim;
  out.cosine = std::abs(dot(normal, centre)) / (size * range);
  out.view = kNoView;
  if (!(out.cosine > 0)) return {};
  const double level = std::hypot(centre.x, centre.y);
  if (level > kLeastLevel * range)
    out.side =
        (normal.y * centre.x - normal.x * centre.y) / (size * level) * (dot(normal, centre) < 0 ? 1 : -1);
  out.inclination = class_of(std::acos(std::min(1.0, std::abs(normal.z) / size)), kInclinationClasses);
  out.zenith = class_of(std::acos(std::min(1.0, std::abs(centre.z) / range)), kZenithClasses);
  const double limit = always_within(beams, limits_);
  const auto cosine_class =
      std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(limit * kCosineClasses)));
  if (cosine_class < kCosineClasses &&
      out.cosine >= static_cast<double>(cosine_class) / static_cast<double>(kCosineClasses))
    out.view = static_cast<std::uint16_t>(cosine_class * kZenithClasses + out.zenith);
  return out;
}

}  // namespace pc
