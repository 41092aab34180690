#include "ops/mesh/mesh_relief.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <vector>

#include "core/error.h"
#include "core/linear_solve.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "core/symmetric_eigen.h"
#include "spatial/kd_tree.h"

namespace pc {

namespace {

constexpr std::size_t kMostPlaces = 4096;
constexpr std::uint32_t kNear = 64, kFar = 256;
constexpr std::size_t kThinned = 16;
constexpr double kMostScatter = 0.05;  // of the variance
constexpr std::uint32_t kFewest = 16;
constexpr std::uint64_t kNoRow = ~std::uint64_t{0};

/// Triangles of each vertex.
struct Incidence {
  std::vector<std::uint64_t> first;
  BulkVector<std::uint32_t> triangle;
};

Incidence incidence_of(std::size_t vertex_count, Span<const std::uint32_t> indices, const OpContext& ctx) {
  Incidence out{std::vector<std::uint64_t>(vertex_count + 1, 0), BulkVector<std::uint32_t>(indices.size)};
  for (std::size_t i = 0; i < indices.size; ++i) {
    if (i % (std::size_t{1} << 16) == 0) ctx.checkpoint();
    require(indices[i] < vertex_count, "a triangle has a corner beyond the vertices");
    ++out.first[indices[i] + 1];
  }
  for (std::size_t v = 0; v < vertex_count; ++v) out.first[v + 1] += out.first[v];
  std::vector<std::uint64_t> next(out.first.begin(), out.first.end() - 1);
  for (std::size_t i = 0; i < indices.size; ++i) {
    if (i % (std::size_t{1} << 16) == 0) ctx.checkpoint();
    out.triangle[next[indices[i]]++] = static_cast<std::uint32_t>(i / 3);
  }
  return out;
}

struct Neighbors {
  double squared[kFar];
  std::uint64_t row[kFar], slot[kFar];
  std::uint32_t count = 0;
};

Neighbors neighbors_of(const KdTreeView& tree, const Vec3d& place, std::uint32_t wanted) {
  Neighbors out;
  out.count = tree.knn(place, wanted, kNoRow, out.squared, out.row, out.slot);
  return out;
}

/// z = c0 + c1 x + c2 y + c3 x^2 + c4 x y + c5 y^2 about a plane, in units of the farthest neighbour's distance.
struct Quadratic {
  Vec3d center;
  Vec3d axis[3];  ///< x, y, and the normal of the plane
  double unit;
  std::vector<double> c;
  double scatter;  ///< root mean square of the vertices about it, metres

  /// Unit normal of the surface below or above a place.
  Vec3d normal(const Vec3d& place) const {
    const Vec3d d = (place - center) * (1 / unit);
    const double x = dot(d, axis[0]), y = dot(d, axis[1]);
    const double zx = c[1] + 2 * c[3] * x + c[4] * y, zy = c[2] + c[4] * x + 2 * c[5] * y;
    return (axis[2] - axis[0] * zx - axis[1] * zy) * (1 / std::sqrt(1 + zx * zx + zy * zy));
  }
};

std::optional<Quadratic> quadratic_of(Span<const Vec3d> points, const Neighbors& near, std::size_t stride) {
  const double reach = near.count > 0 ? std::sqrt(near.squared[near.count - 1]) : 0;
  if (near.count < kFewest || !(reach > 0) || !std::isfinite(reach)) return std::nullopt;
  const auto at = [&](std::uint32_t i) { return points[near.row[i] * stride]; };
  Quadratic out{{0, 0, 0}, {}, reach, {}, 0};
  for (std::uint32_t i = 0; i < near.count; ++i) out.center = out.center + at(i) * (1.0 / near.count);
  Symmetric3 m{0, 0, 0, 0, 0, 0};
  for (std::uint32_t i = 0; i < near.count; ++i) {
    const Vec3d d = (at(i) - out.center) * (1 / reach);
    m.xx += d.x * d.x, m.xy += d.x * d.y, m.xz += d.x * d.z;
    m.yy += d.y * d.y, m.yz += d.y * d.z, m.zz += d.z * d.z;
  }
  const SymmetricEigen3 eigen = symmetric_eigen(m);
  for (int k = 0; k < 3; ++k) out.axis[k] = eigen.vector[2 - k];
  std::vector<double> rows, heights;
  for (std::uint32_t i = 0; i < near.count; ++i) {
    const Vec3d d = (at(i) - out.center) * (1 / reach);
    const double x = dot(d, out.axis[0]), y = dot(d, out.axis[1]);
    for (const double term : {1.0, x, y, x * x, x * y, y * y}) rows.push_back(term);
    heights.push_back(dot(d, out.axis[2]));
  }
  out.c =
      solve_least_squares({{rows.data(), rows.size()}, near.count, 6}, {heights.data(), heights.size()}).x;
  double squares = 0;
  for (std::uint32_t i = 0; i < near.count; ++i) {
    double z = 0;
    for (std::size_t k = 0; k < 6; ++k) z += rows[6 * i + k] * out.c[k];
    squares += (heights[i] - z) * (heights[i] - z);
  }
  out.scatter = reach * std::sqrt(squares / near.count);
  const double variance = eigen.value[1] + eigen.value[2] + squares;
  return squares < kMostScatter * variance ? std::optional(std::move(out)) : std::nullopt;
}

/// Of one place; area 0 = no surface.
struct Place {
  double area = 0, projected = 0, facing = 0, scatter = 0, spacing = 0;
};

struct Look {
  Span<const Vec3d> vertices;
  Span<const std::uint32_t> indices;
  const Incidence& incidence;
  const KdTreeView near, far;

  Place at(const Vec3d& place) const {
    const Neighbors close = neighbors_of(near, place, kNear);
    std::optional<Quadratic> surface = quadratic_of(vertices, close, 1);
    if (!surface) surface = quadratic_of(vertices, neighbors_of(near, place, kFar), 1);
    if (!surface) surface = quadratic_of(vertices, neighbors_of(far, place, kFar), kThinned);
    if (!surface) return {};
    Place out;
    for (std::uint32_t i = 0; i < close.count; ++i) {
      const std::uint64_t vertex = close.row[i];
      for (std::uint64_t k = incidence.first[vertex]; k < incidence.first[vertex + 1]; ++k) {
        const std::size_t t = incidence.triangle[k];
        const Vec3d &a = vertices[indices[3 * t]], &b = vertices[indices[3 * t + 1]],
                    &c = vertices[indices[3 * t + 2]];
        const Vec3d twice = cross(b - a, c - a);
        const double along = dot(twice, surface->normal((a + b + c) * (1.0 / 3))) / 6;
        out.area += std::sqrt(dot(twice, twice)) / 6;
        out.projected += std::fabs(along);
        out.facing += along;
      }
    }
    out.facing = std::fabs(out.facing);
    out.scatter = surface->scatter;
    out.spacing = std::sqrt(std::numbers::pi * close.squared[close.count - 1] / close.count);
    return out;
  }
};

}  // namespace

MeshRelief mesh_relief(Span<const Vec3d> vertices, Span<const std::uint32_t> indices, OpContext& ctx) {
  ctx.begin_phase("Computing surface area", 0);
  const Incidence incidence = incidence_of(vertices.size, indices, ctx);
  std::vector<std::uint32_t> used;
  for (std::size_t v = 0; v < vertices.size; ++v) {
    if (v % (std::size_t{1} << 16) == 0) ctx.checkpoint();
    if (incidence.first[v + 1] > incidence.first[v]) used.push_back(static_cast<std::uint32_t>(v));
  }
  MeshRelief out{0, 1, 0, 0, 0};
  if (used.empty()) return out;
  BulkVector<Vec3d> thinned((vertices.size + kThinned - 1) / kThinned);
  for (std::size_t i = 0; i < thinned.size(); ++i) thinned[i] = vertices[i * kThinned];
  const KdTree near(vertices, ctx), far(thinned.view(), ctx);
  const Look look{vertices, indices, incidence, near.view(), far.view()};
  const std::size_t stride = (used.size() + kMostPlaces - 1) / kMostPlaces;
  std::vector<Place> places((used.size() + stride - 1) / stride);
  parallel_for(ctx, places.size(), 32, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) places[i] = look.at(vertices[used[i * stride]]);
  });
  Place sum;
  std::size_t flat = 0;
  double squares = 0;
  for (const Place& one : places) {
    if (!(one.projected > 0)) continue;
    ++flat;
    sum.area += one.area;
    sum.projected += one.projected;
    sum.facing += one.facing;
    sum.spacing += one.spacing;
    squares += one.scatter * one.scatter;
  }
  if (flat == 0) return out;
  const auto count = static_cast<double>(flat);
  return {count / static_cast<double>(places.size()), sum.area / sum.projected,
          1 - sum.facing / sum.projected, std::sqrt(squares / count), sum.spacing / count};
}

std::uint64_t mesh_relief_bytes(std::uint64_t vertices, std::uint64_t triangles) {
  return (2 * 8 + 4 + 40 + 3) * vertices + 12 * triangles;
}

}  // namespace pc
