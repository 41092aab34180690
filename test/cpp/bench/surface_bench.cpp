#include <cmath>
#include <cstdio>
#include <ctime>
#include <string>

#include "bench.h"
#include "core/parallel.h"
#include "core/random.h"
#include "ops/mesh/alpha_shape.h"
#include "ops/mesh/ball_pivoting.h"
#include "ops/mesh/delaunay.h"
#include "ops/mesh/mesh_cleanup.h"
#include "ops/mesh/poisson.h"

namespace pc::bench {

namespace {

/// A tube of 10 m with bends and a noise of 2 mm, as a scanned stem.
BulkVector<Vec3d> stem(std::size_t count, OpContext& ctx) {
  BulkVector<Vec3d> cloud(count);
  parallel_for(ctx, count, std::size_t{1} << 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const double turn = 2 * M_PI * random_unit(1, 2 * i), z = 10 * random_unit(1, 2 * i + 1);
      const double r =
          0.3 + 0.02 * std::sin(9 * z + 3 * turn) + 0.002 * (random_unit(2, i) - random_unit(3, i));
      cloud[i] = {4.5e5 + r * std::cos(turn) + 0.2 * std::sin(z), 5.4e6 + r * std::sin(turn), z};
    }
  });
  return cloud;
}

/// Random directions, which are places and normals of a sphere.
BulkVector<Vec3d> directions(std::size_t count, OpContext& ctx) {
  BulkVector<Vec3d> cloud(count);
  parallel_for(ctx, count, std::size_t{1} << 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const double z = 2 * random_unit(4, 2 * i) - 1, turn = 2 * M_PI * random_unit(4, 2 * i + 1);
      const double r = std::sqrt(1 - z * z);
      cloud[i] = {r * std::cos(turn), r * std::sin(turn), z};
    }
  });
  return cloud;
}

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace

int mesh_stem(const Arguments& arguments) {
  const std::size_t count = point_count(arguments[1]);
  const std::string& method = arguments[0];
  JobControl control;
  OpContext ctx(control, Device::kCpu, thread_count(arguments, 2));
  const bool has_normals = method == "ball_pivoting" || method == "poisson";
  const BulkVector<Vec3d> cloud = has_normals ? directions(count, ctx) : stem(count, ctx);
  const HitPoints points = HitPoints::assume_hits(cloud.view());
  const Stopwatch watch;
  const double before = cpu_seconds();
  MeshColumns surface;
  Span<const Vec3d> vertices = cloud.view();
  if (method == "alpha_shape") {
    surface.indices = alpha_shape(points, {}, ctx).indices;
  } else if (method == "ball_pivoting") {
    surface.indices = ball_pivoting(points, cloud.view(), {{}, 120'000, false}, ctx).indices;
  } else if (method == "poisson") {
    surface = poisson(points, cloud.view(), {9, 1.1, 0.6, 2, true, std::uint64_t{1} << 34}, ctx).mesh;
    vertices = surface.vertices.view();
  } else {
    surface.indices = delaunay(points, ctx).indices;
  }
  const double op_s = watch.seconds(), op_cpu_s = cpu_seconds() - before;
  const CleanMesh mesh = mesh_cleanup(vertices, surface.indices.view(), ctx);
  std::printf(
      "{\"count\":%zu,\"op_s\":%.3f,\"op_cpu_s\":%.3f,\"clean_s\":%.3f,\"clean_cpu_s\":%.3f,\"triangles\":%"
      "zu}\n",
      count, op_s, op_cpu_s, watch.seconds() - op_s, cpu_seconds() - before - op_cpu_s,
      mesh.indices.size() / 3);
  return 0;
}

}  // namespace pc::bench
