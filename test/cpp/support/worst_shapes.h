#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/column.h"
#include "core/hit_points.h"
#include "core/memory.h"
#include "core/op_context.h"
#include "core/random.h"
#include "ops/cloud/beam_trajectory.h"
#include "ops/cloud/cloud_stats.h"
#include "ops/cloud/point_spacing.h"
#include "ops/dem/terrain_raster.h"
#include "ops/denoise/cluster_outlier.h"
#include "ops/denoise/radius_outlier.h"
#include "ops/denoise/statistical_outlier.h"
#include "ops/denoise/voxel_count.h"
#include "ops/ground/cloth_simulation.h"
#include "ops/ground/ground_auto.h"
#include "ops/ground/ground_measures.h"
#include "ops/ground/smrf.h"
#include "ops/octree/octree_build.h"
#include "ops/octree/octree_sink.h"
#include "ops/qsm/build_qsm.h"

/// Clouds that hash tables, trees and grids find hard, and the ops whose cost depends on where the points lie.
namespace pc::test {

struct Shape {
  const char* name;
  /// Point i of n.
  Vec3d (*point)(std::uint64_t i, std::uint64_t n);
};

inline constexpr double kShapeSide = 1000;  ///< metres

inline double shape_random(std::uint64_t i, std::uint64_t axis) {
  return kShapeSide * random_unit(41, 3 * i + axis);
}

/// The first one is what the others are compared with.
inline const std::vector<Shape>& worst_shapes() {
  using I = std::uint64_t;
  static const std::vector<Shape> shapes{
      {"volume",
       [](I i, I) {
         return Vec3d{shape_random(i, 0), shape_random(i, 1), shape_random(i, 2) / 20};
       }},
      {"line x",
       [](I i, I) {
         return Vec3d{shape_random(i, 0), 0.5, 0.5};
       }},
      {"line y",
       [](I i, I) {
         return Vec3d{0.5, shape_random(i, 0), 0.5};
       }},
      {"line z",
       [](I i, I) {
         return Vec3d{0.5, 0.5, shape_random(i, 0)};
       }},
      {"diagonal",
       [](I i, I) {
         return Vec3d{1, 1, 1} * shape_random(i, 0);
       }},
      {"plane xy",
       [](I i, I) {
         return Vec3d{shape_random(i, 0), shape_random(i, 1), 0.5};
       }},
      {"plane xz",
       [](I i, I) {
         return Vec3d{shape_random(i, 0), 0.5, shape_random(i, 1)};
       }},
      {"plane yz",
       [](I i, I) {
         return Vec3d{0.5, shape_random(i, 0), shape_random(i, 1)};
       }},
      {"grid",  // equal distances everywhere
       [](I i, I n) {
         const auto side = static_cast<I>(std::ceil(std::cbrt(static_cast<double>(n))));
         return Vec3d{static_cast<double>(i % side), static_cast<double>(i / side % side),
                      static_cast<double>(i / side / side)};
       }},
      {"one place",
       [](I, I) {
         return Vec3d{3, 4, 5};
       }},
      {"two places",
       [](I i, I) {
         return Vec3d{i % 2 == 0 ? 0 : kShapeSide, 0, 0};
       }},
      {"dense to sparse",  // a scanner's density: a tenth of the points in each decade of distance
       [](I i, I) {
         const double r = kShapeSide * std::pow(1e-6, random_unit(43, 3 * i)),
                      a = 6.2831853 * random_unit(43, 3 * i + 1);
         return Vec3d{r * std::cos(a), r * std::sin(a), 0.1 * r * random_unit(43, 3 * i + 2)};
       }},
      {"far point",
       [](I i, I) {
         if (i == 0) return Vec3d{1e7, 1e7, 1e5};
         return Vec3d{shape_random(i, 0) / 10, shape_random(i, 1) / 10, shape_random(i, 2) / 200};
       }},
  };
  return shapes;
}

/// A cloud and the lengths that a client would derive from it.
struct ShapeCloud {
  Column<Vec3d> positions;
  Column<double> times;
  double spacing_m, p95_m, extent_m;

  HitPoints hits() const { return HitPoints::assume_hits(positions.view()); }
};

inline ShapeCloud shape_cloud(const Shape& shape, std::uint64_t count) {
  ShapeCloud cloud{Column<Vec3d>(count), Column<double>(count), 0.01, 0.01, 0};
  Vec3d least{1e300, 1e300, 1e300}, most{-1e300, -1e300, -1e300};
  for (std::uint64_t i = 0; i < count; ++i) {
    const Vec3d p = shape.point(i, count);
    cloud.positions[i] = p;
    cloud.times[i] = static_cast<double>(i);
    least = {std::min(least.x, p.x), std::min(least.y, p.y), std::min(least.z, p.z)};
    most = {std::max(most.x, p.x), std::max(most.y, p.y), std::max(most.z, p.z)};
  }
  JobControl control;
  OpContext ctx(control);
  const auto spacing = point_spacing(cloud.hits(), {20'000, std::nullopt}, ctx);
  cloud.spacing_m = std::max(1e-4, spacing.distinct_median_m.value_or(0.01));
  cloud.p95_m = std::max(cloud.spacing_m, spacing.distinct_p95_m.value_or(0.01));
  cloud.extent_m = std::max({most.x - least.x, most.y - least.y, 1.0});
  return cloud;
}

/// Takes an octree's bytes and keeps none.
class NullSink : public OctreeSink {
 public:
  void begin(std::uint64_t) override {}
  void write_nodes(std::uint64_t, Span<const std::byte>) override {}
  void file(const std::string&, Span<const std::byte>) override {}
};

struct ShapeOp {
  const char* name;
  std::function<void(const ShapeCloud&, OpContext&)> run;
};

/// A raster of about one cell a point over the cloud, at most 4 million.
inline RasterFrame shape_frame(const ShapeCloud& cloud) {
  const double cells = std::min(2000.0, std::sqrt(static_cast<double>(cloud.positions.size())));
  const auto side = static_cast<std::uint32_t>(std::max(2.0, cells));
  return {0, 0, std::min(cloud.extent_m, kShapeSide) / side, side, side};
}

inline const std::vector<ShapeOp>& shape_ops() {
  const auto raster = [](RasterMethod method) {
    return [method](const ShapeCloud& cloud, OpContext& ctx) {
      terrain_raster(cloud.hits(), {shape_frame(cloud), 5, method, RasterGaps::kFill, true}, {}, ctx);
    };
  };
  static const std::vector<ShapeOp> ops{
      {"radius_outlier",
       [](const ShapeCloud& cloud, OpContext& ctx) {
         radius_outlier(cloud.hits(), {3 * cloud.p95_m, 2}, ctx);
       }},
      {"voxel_count",
       [](const ShapeCloud& cloud, OpContext& ctx) {
         voxel_count(cloud.hits(), {5 * cloud.p95_m, 2, std::nullopt}, ctx);
       }},
      {"statistical_outlier",
       [](const ShapeCloud& cloud, OpContext& ctx) {
         statistical_outlier(cloud.hits(), {16, 4.0}, ctx);
       }},
      {"cluster_outlier",
       [](const ShapeCloud& cloud, OpContext& ctx) {
         cluster_outlier(cloud.hits(),
                         {16, 7, 0.9, 0.005, 7.5 * cloud.spacing_m, 1.4, 1.4, 6 * cloud.spacing_m,
                          10 * cloud.p95_m, 17, 6},
                         ctx);
       }},
      {"point_spacing",
       [](const ShapeCloud& cloud, OpContext& ctx) {
         point_spacing(cloud.hits(), {kMaxSpacingSamples, std::nullopt}, ctx);
       }},
      {"ground_measures",
       [](const ShapeCloud& cloud, OpContext& ctx) { ground_measures(cloud.hits(), ctx); }},
      {"ground_auto",
       [](const ShapeCloud& cloud, OpContext& ctx) { ground_auto(cloud.hits(), kGroundConstants, ctx); }},
      {"smrf",
       [](const ShapeCloud& cloud, OpContext& ctx) {
         const double cell = cloud.extent_m / 300;
         smrf(cloud.hits(), {cell, 0.15, 18 * cell, 0.5, 1.25, 0}, ctx);
       }},
      {"cloth_simulation",
       [](const ShapeCloud& cloud, OpContext& ctx) {
         const double cell = cloud.extent_m / 200;
         cloth_simulation(cloud.hits(), {cell, 2, 0.5, 100, true, true, true, false, 1U << 30, 1U << 30},
                          ctx);
       }},
      {"terrain_raster tin", raster(RasterMethod::kTin)},
      {"terrain_raster nearest", raster(RasterMethod::kNearest)},
      {"terrain_raster idw", raster(RasterMethod::kIdw)},
      {"cloud_stats",
       [](const ShapeCloud& cloud, OpContext& ctx) { cloud_stats(cloud.positions.view(), {}, ctx); }},
      {"beam_trajectory",
       [](const ShapeCloud& cloud, OpContext& ctx) {
         beam_trajectory(cloud.times.view(), cloud.positions.view(), 100'000, ctx);
       }},
      {"build_qsm",
       [](const ShapeCloud& cloud, OpContext& ctx) {
         build_qsm(cloud.hits(), {0.004, true, 0.75, 1, 0, 0, RadiusModel::kTapered}, ctx);
       }},
      {"octree_build",
       [](const ShapeCloud& cloud, OpContext& ctx) {
         NullSink sink;
         octree_build({cloud.positions.view(), {}, {}}, {.scale = 0.001, .leaf_capacity = 10000}, sink, ctx);
       }},
  };
  return ops;
}

}  // namespace pc::test
