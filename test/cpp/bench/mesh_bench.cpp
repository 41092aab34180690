#include "mesh_bench.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <tuple>

#include "bench.h"
#include "core/parallel.h"
#include "core/random.h"
#include "ops/registration/point_to_mesh_distance.h"

namespace pc::bench {

namespace {

constexpr std::size_t kGrain = 4096;

double ground(double x, double y) {
  return 1.2 * std::sin(x * 0.11) + 0.8 * std::cos(y * 0.17 + 0.5) + 0.25 * std::sin(x * 0.9 + y * 0.7) +
         0.03 * x;
}

}  // namespace

BenchMesh plot_mesh(std::size_t triangles) {
  BenchMesh mesh;
  const auto n = static_cast<std::uint32_t>(std::sqrt(static_cast<double>(triangles) / 4));
  for (std::uint32_t j = 0; j <= n; ++j)
    for (std::uint32_t i = 0; i <= n; ++i) {
      const double x = 50.0 * i / n, y = 50.0 * j / n;
      mesh.vertices.push_back({x, y, ground(x, y)});
    }
  for (std::uint32_t j = 0; j < n; ++j)
    for (std::uint32_t i = 0; i < n; ++i) {
      const std::uint32_t a = j * (n + 1) + i;
      mesh.indices.insert(mesh.indices.end(), {a, a + 1, a + n + 2, a, a + n + 2, a + n + 1});
    }
  std::uint64_t draws = 0;
  const auto unit = [&] { return random_unit(5, draws++); };
  while (mesh.indices.size() / 3 < triangles) {
    const auto tree = static_cast<std::uint64_t>(unit() * 40);
    const double x = 2.5 + 45 * random_unit(9, 2 * tree), y = 2.5 + 45 * random_unit(9, 2 * tree + 1);
    const double turn = 2 * M_PI * unit(), tilt = std::acos(2 * unit() - 1), r = 2.5 * std::cbrt(unit());
    const Vec3d leaf{x + r * std::cos(turn) * std::sin(tilt), y + r * std::sin(turn) * std::sin(tilt),
                     ground(x, y) + 8 + 1.6 * r * std::cos(tilt)};
    const auto first = static_cast<std::uint32_t>(mesh.vertices.size());
    for (int k = 0; k < 4; ++k)
      mesh.vertices.push_back(leaf + Vec3d{unit() - 0.5, unit() - 0.5, unit() - 0.5} * 0.06);
    mesh.indices.insert(mesh.indices.end(), {first, first + 1, first + 2, first, first + 2, first + 3});
  }
  return mesh;
}

std::vector<Vec3d> points_near(const BenchMesh& mesh, std::size_t count) {
  std::vector<Vec3d> points(count);
  const std::size_t triangles = mesh.indices.size() / 3;
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = [&](std::size_t k) { return mesh.vertices[mesh.indices[i * 7919 % triangles * 3 + k]]; };
    const auto unit = [&](std::uint64_t k) { return random_unit(21, 5 * i + k); };
    const double u = unit(0), v = unit(1) * (1 - u);
    points[i] = at(0) * (1 - u - v) + at(1) * u + at(2) * v +
                Vec3d{unit(2) - 0.5, unit(3) - 0.5, unit(4) - 0.5} * 0.02;
  }
  return points;
}

std::vector<Ray> scan_rays(std::size_t count) {
  constexpr std::size_t kRows = 1000;
  std::vector<Ray> rays(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double turn = 2 * M_PI * static_cast<double>(i / kRows) / static_cast<double>(count / kRows);
    const double rise = -1.0 + 2.2 * static_cast<double>(i % kRows) / kRows;
    rays[i] = {{25.01, 25.02, 2.5},
               {std::cos(rise) * std::cos(turn), std::cos(rise) * std::sin(turn), std::sin(rise)},
               0,
               1e9};
  }
  return rays;
}

namespace {

MeshTimes our_times(const BenchMesh& mesh, const std::vector<Vec3d>& points, const std::vector<Ray>& rays,
                    OpContext& ctx) {
  MeshTimes times{};
  std::optional<Bvh> tree;
  std::tie(times.build_s, times.build_cpu_s) = timed([&] { tree.emplace(mesh.view(), ctx); });
  const BvhQueries& queries = fastest_bvh_queries();
  std::vector<ClosestTriangle> found(points.size());
  std::vector<RayHit> hits(rays.size());
  const Vec3d shift = Vec3d{0, 0, 0} - tree->view().origin;
  times.closest_cpu_s =
      timed([&] {
        parallel_for(ctx, points.size(), kGrain, [&](std::size_t begin, std::size_t end) {
          queries.closest(tree->view(), &points[begin], end - begin, shift, bvh::kNone, &found[begin]);
        });
      }).second;
  times.ray_cpu_s = timed([&] {
                      parallel_for(ctx, rays.size(), kGrain, [&](std::size_t begin, std::size_t end) {
                        queries.first_hits(tree->view(), &rays[begin], end - begin, &hits[begin]);
                      });
                    }).second;
  return times;
}

MeshTimes medians(std::vector<MeshTimes> runs) {
  const auto middle = [&](double MeshTimes::*figure) {
    std::sort(runs.begin(), runs.end(),
              [&](const MeshTimes& a, const MeshTimes& b) { return a.*figure < b.*figure; });
    return runs[runs.size() / 2].*figure;
  };
  return {middle(&MeshTimes::build_s), middle(&MeshTimes::build_cpu_s), middle(&MeshTimes::closest_cpu_s),
          middle(&MeshTimes::ray_cpu_s)};
}

}  // namespace

int search_mesh(const Arguments& arguments) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, thread_count(arguments, 1));
  const BenchMesh mesh = plot_mesh(point_count(arguments[0]));
  const std::vector<Vec3d> points = points_near(mesh, 1'000'000);
  const std::vector<Ray> rays = scan_rays(2'000'000);
  std::vector<MeshTimes> ours, theirs;
  bool embree = true;
  for (int i = 0; i < 3 && embree; ++i) {  // in turn: both see the same machine
    ours.push_back(our_times(mesh, points, rays, ctx));
    MeshTimes times{};
    embree = embree_times(mesh, points, rays, ctx, times);
    theirs.push_back(times);
  }
  while (ours.size() < 3) ours.push_back(our_times(mesh, points, rays, ctx));
  const MeshTimes own = medians(ours), peer = medians(theirs);
  const auto ratio = [&](double a, double b) { return embree && b > 0 ? a / b : 0; };
  std::printf(
      "{\"triangles\":%zu,\"build_s\":%.4f,\"build_cpu_s\":%.4f,\"closest_cpu_ns\":%.1f,\"ray_cpu_ns\":%.1f,"
      "\"embree\":%d,\"build_ratio\":%.3f,\"closest_ratio\":%.3f,\"ray_ratio\":%.3f}\n",
      mesh.indices.size() / 3, own.build_s, own.build_cpu_s,
      own.closest_cpu_s / static_cast<double>(points.size()) * 1e9,
      own.ray_cpu_s / static_cast<double>(rays.size()) * 1e9, embree ? 1 : 0,
      ratio(own.build_cpu_s, peer.build_cpu_s), ratio(peer.closest_cpu_s, own.closest_cpu_s),
      ratio(peer.ray_cpu_s, own.ray_cpu_s));
  return 0;
}

int measure_to_mesh(const Arguments& arguments) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, thread_count(arguments, 2));
  const BenchMesh mesh = plot_mesh(point_count(arguments[1]));
  const std::vector<Vec3d> points = points_near(mesh, point_count(arguments[0]));
  std::vector<std::pair<double, double>> runs;
  double mean = 0;
  for (int i = 0; i < 3; ++i) {
    runs.push_back(timed([&] {
      const auto result =
          point_to_mesh_distance({points.data(), points.size()}, {}, mesh.view(), {{0, 0, 0}, 1, false}, ctx);
      mean = result.spread->mean;
    }));
  }
  std::sort(runs.begin(), runs.end());
  std::printf("{\"count\":%zu,\"triangles\":%zu,\"op_s\":%.4f,\"op_cpu_s\":%.4f,\"mean_m\":%.6f}\n",
              points.size(), mesh.indices.size() / 3, runs[1].first, runs[1].second, mean);
  return 0;
}

}  // namespace pc::bench
