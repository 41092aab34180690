#pragma once
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <functional>
#include <utility>
#include <vector>

#include "core/op_context.h"
#include "core/vec3.h"
#include "spatial/bvh_queries.h"

/// Input of the mesh jobs, the same for us and for Embree.
namespace pc::bench {

struct BenchMesh {
  std::vector<Vec3d> vertices;
  std::vector<std::uint32_t> indices;

  TriangleMesh view() const { return {{vertices.data(), vertices.size()}, {indices.data(), indices.size()}}; }
};

/// 50 m x 50 m: half the triangles are rolling ground, half are leaves of 6 cm in 40 crowns.
BenchMesh plot_mesh(std::size_t triangles);
/// Points within 2 cm of triangles all over the mesh, in no order.
std::vector<Vec3d> points_near(const BenchMesh& mesh, std::size_t count);
/// The pulses of a scanner in the middle of the plot, column after column.
std::vector<Ray> scan_rays(std::size_t count);

/// Median of three runs.
struct MeshTimes {
  double build_s, build_cpu_s, closest_cpu_s, ray_cpu_s;
};

/// Wall and CPU seconds of a call, all threads.
inline std::pair<double, double> timed(const std::function<void()>& call) {
  timespec start{}, end{};
  const std::clock_t cpu = std::clock();
  timespec_get(&start, TIME_UTC);
  call();
  timespec_get(&end, TIME_UTC);
  return {static_cast<double>(end.tv_sec - start.tv_sec) +
              1e-9 * static_cast<double>(end.tv_nsec - start.tv_nsec),
          static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC};
}

/// Times of Embree: rays in packets of 16. False if the program was built without it.
bool embree_times(const BenchMesh& mesh, const std::vector<Vec3d>& points, const std::vector<Ray>& rays,
                  OpContext& ctx, MeshTimes& times);

}  // namespace pc::bench
