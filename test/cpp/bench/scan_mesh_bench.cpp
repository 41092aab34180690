#include <cmath>
#include <cstdio>
#include <ctime>

#include "bench.h"
#include "core/parallel.h"
#include "core/random.h"
#include "ops/mesh/scan_mesh.h"
#include "ops/mesh/scan_mesh_payload.h"
#include "ops/mesh/scan_triangulation.h"

namespace pc::bench {

namespace {

constexpr Vec3d kScanner{450'000, 5'400'000, 100};

/// Seven of ten pulses of a raster over the whole sphere but its lowest part return: from leaves of 2 degrees at 1 to 20 m,
/// with a noise of 2 mm, rounded to 0.1 mm.
BulkVector<Vec3d> crown(std::size_t count, OpContext& ctx) {
  BulkVector<Vec3d> cloud(count);
  const double pulses = static_cast<double>(count) / 0.7, theta_span = 2.27, phi_span = 2 * M_PI;
  const auto rows = static_cast<std::uint64_t>(std::sqrt(pulses * theta_span / phi_span));
  parallel_for(ctx, count, std::size_t{1} << 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto pulse = static_cast<std::uint64_t>((static_cast<double>(i) + random_unit(5, i)) / 0.7);
      const double row = static_cast<double>(pulse % rows), column = static_cast<double>(pulse / rows);
      const double theta = theta_span * row / static_cast<double>(rows);
      const double phi = phi_span * (column + row / static_cast<double>(rows)) * static_cast<double>(rows) / pulses;
      const auto leaf = static_cast<std::uint64_t>(theta / 0.035) * 1000 + static_cast<std::uint64_t>(phi / 0.035);
      const double range = 1 + 19 * random_unit(6, leaf) + 0.004 * (random_unit(7, i) - 0.5);
      const Vec3d p = kScanner + Vec3d{std::sin(theta) * std::sin(phi), std::sin(theta) * std::cos(phi), std::cos(theta)} * range;
      cloud[i] = {std::round(p.x * 1e4) / 1e4, std::round(p.y * 1e4) / 1e4, std::round(p.z * 1e4) / 1e4};
    }
  });
  return cloud;
}

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace

int mesh_scan(const Arguments& arguments) {
  const std::size_t count = point_count(arguments[0]);
  JobControl control;
  OpContext ctx(control, Device::kCpu, thread_count(arguments, 1));
  const BulkVector<Vec3d> cloud = crown(count, ctx);
  const Stopwatch watch;
  const double before = cpu_seconds();
  ScanTriangulation found = scan_triangulation(HitPoints::assume_hits(cloud.view()), kScanner, ctx);
  const double delaunay_cpu_s = cpu_seconds() - before;
  const ScanMesh mesh = scan_mesh({{cloud.view(), found.indices.view(), kScanner, false}}, {0.05, 4}, ctx);
  const VoxelBox grid{kScanner, {40, 40, 40}, 20, 20, 20, 30, {}, {}};
  const ScanMeshPayload payload =
      scan_mesh_payload(mesh.vertices.view(), mesh.indices.view(), mesh.scan_ids.view(), grid, 12'000'000, ctx);
  const double op_s = watch.seconds(), op_cpu_s = cpu_seconds() - before;
  std::printf("{\"count\":%zu,\"op_s\":%.3f,\"op_cpu_s\":%.3f,\"delaunay_cpu_s\":%.3f,\"filter_cpu_s\":%.3f,\"triangles\":%zu}\n",
              count, op_s, op_cpu_s, delaunay_cpu_s, op_cpu_s - delaunay_cpu_s, payload.scan_ids.size());
  return 0;
}

}  // namespace pc::bench
