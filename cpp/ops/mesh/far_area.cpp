#include "ops/mesh/far_area.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/error.h"
#include "core/nth_smallest.h"
#include "core/parallel.h"
#include "spatial/kd_tree.h"

namespace pc {

namespace {

constexpr std::size_t kMostTriangles = 100'000, kMostPlaces = 2000, kFewestPlaces = 16;
constexpr std::uint32_t kNear = 48, kWanted = 8;
constexpr double kTimes = 2;
constexpr std::uint64_t kNoRow = ~std::uint64_t{0};

std::size_t stride_of(std::size_t count, std::size_t most) {
  return std::max<std::size_t>(1, (count + most - 1) / most);
}

/// Distance of the 8th place other than p, or of the last of the nearest points; 0 = none elsewhere.
double eighth_distance(const KdTreeView& tree, const Vec3d& p) {
  double squared[kNear];
  std::uint64_t row[kNear], slot[kNear];
  const std::uint32_t count = tree.knn(p, kNear, kNoRow, squared, row, slot);
  double last = 0;
  std::uint32_t places = 0;
  for (std::uint32_t i = 0; i < count && places < kWanted; ++i) {
    if (!(squared[i] > last)) continue;
    last = squared[i];
    ++places;
  }
  return std::sqrt(last);
}

/// NaN without enough places.
double reach_of(Span<const Vec3d> points, const KdTreeView& tree, OpContext& ctx) {
  const std::size_t stride = stride_of(points.size, kMostPlaces);
  std::vector<double> found(points.size == 0 ? 0 : (points.size - 1) / stride + 1);
  parallel_for(ctx, found.size(), 64, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      found[i] = is_finite(points[i * stride]) ? eighth_distance(tree, points[i * stride]) : 0;
  });
  std::erase_if(found, [](double distance) { return !(distance > 0); });
  if (found.size() < kFewestPlaces) return std::nan("");
  return kTimes * nth_smallest(found.data(), found.size(), found.size() / 2);
}

}  // namespace

FarArea far_area(Span<const Vec3d> vertices, Span<const std::uint32_t> indices, Span<const Vec3d> points,
                 OpContext& ctx) {
  ctx.begin_phase("Computing surface area", 0);
  for (std::size_t i = 0; i < indices.size; ++i) {
    if (i % (std::size_t{1} << 16) == 0) ctx.checkpoint();
    require(indices[i] < vertices.size, "a triangle has a corner beyond the vertices");
  }
  const KdTree tree(points, ctx);
  const double reach = reach_of(points, tree.view(), ctx);
  if (std::isnan(reach)) return {0, reach};
  const std::size_t triangles = indices.size / 3, stride = stride_of(triangles, kMostTriangles);
  struct Area {
    double all = 0, far = 0;
  };
  std::vector<Area> found(triangles == 0 ? 0 : (triangles - 1) / stride + 1);
  parallel_for(ctx, found.size(), 256, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t* corner = indices.data + 3 * i * stride;
      const Vec3d &a = vertices[corner[0]], &b = vertices[corner[1]], &c = vertices[corner[2]];
      const Vec3d twice = cross(b - a, c - a), middle = (a + b + c) * (1.0 / 3);
      const double area = std::sqrt(dot(twice, twice)) / 2;
      const bool is_far = tree.view().count_within(middle, reach * reach, 1) == 0;
      found[i] = {area, is_far ? area : 0};
    }
  });
  Area sum;
  for (const Area& one : found) {
    sum.all += one.all;
    sum.far += one.far;
  }
  return {sum.all > 0 ? sum.far / sum.all : 0, reach};
}

std::uint64_t far_area_bytes(std::uint64_t points) { return 40 * points; }

}  // namespace pc
