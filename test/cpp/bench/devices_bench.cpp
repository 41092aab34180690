#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <numbers>
#include <string>
#include <thread>
#include <vector>

#include "bench.h"
#include "core/error.h"
#include "core/gpu.h"
#include "ground_bench.h"
#include "lad_bench.h"
#include "mesh_bench.h"
#include "ops/cloud/point_spacing.h"
#include "ops/denoise/radius_outlier.h"
#include "ops/denoise/statistical_outlier.h"
#include "ops/denoise/voxel_count.h"
#include "ops/lad/beam_traversal.h"
#include "ops/registration/icp.h"
#include "ops/registration/point_to_mesh_distance.h"
#include "support/plot.h"
#include "support/scans.h"

namespace pc::bench {

namespace {

/// FNV-1a over the bytes of what an op returns: equal results have equal digests.
class Digest {
 public:
  template <class T>
  Digest& add(const Column<T>& column) {
    const auto view = column.view();
    return bytes(view.data, view.size * sizeof(T));
  }
  Digest& add(const RigidTransform& pose) { return bytes(&pose, sizeof pose); }
  Digest& add(double value) { return bytes(&value, sizeof value); }
  std::uint64_t value() const { return hash_; }

 private:
  Digest& bytes(const void* data, std::size_t size) {
    const auto* const byte = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < size; ++i) hash_ = (hash_ ^ byte[i]) * 1099511628211ULL;
    return *this;
  }
  std::uint64_t hash_ = 14695981039346656037ULL;
};

/// A run of an op: what it returned, and why it did not use the device it was given.
struct Run {
  std::uint64_t digest;
  std::vector<std::string> warnings;
  double seconds = 0;
};

struct Case {
  const char* name;
  std::function<Run(OpContext&)> run;
};

template <class Result>
Run run_of(const Digest& digest, const Result& result) {
  return {digest.value(), result.warnings};
}

Case spacing(HitPoints points) {
  return {"spacing", [=](OpContext& ctx) {
            const auto found = point_spacing(points, {kMaxSpacingSamples, std::nullopt}, ctx);
            return run_of(Digest().add(*found.median_m).add(*found.p95_m), found);
          }};
}

std::vector<Case> noise(HitPoints points) {
  const auto labels = [](const NoiseResult& found) { return run_of(Digest().add(found.noise_class), found); };
  return {
      {"ror",
       [=](OpContext& ctx) {
         return labels(radius_outlier(points, {0.06, 2}, ctx));
       }},
      {"ror-wide",
       [=](OpContext& ctx) {
         return labels(radius_outlier(points, {0.3, 200}, ctx));
       }},
      {"sor",
       [=](OpContext& ctx) {
         return labels(statistical_outlier(points, {16, 4.0}, ctx));
       }},
      {"sor-64",
       [=](OpContext& ctx) {
         return labels(statistical_outlier(points, {64, 4.0}, ctx));
       }},
      {"voxel_count",
       [=](OpContext& ctx) {
         return labels(voxel_count(points, {0.1, 2, std::nullopt}, ctx));
       }},
  };
}

Case cloth(const char* name, HitPoints points, double resolution_m) {
  return {name, [=](OpContext& ctx) {
            const auto found = cloth_simulation(points, cloth_params(resolution_m), ctx);
            return run_of(Digest().add(found.ground_class).add(found.iterations_run), found);
          }};
}

Case distances(const std::vector<Vec3d>& points, const BenchMesh& mesh) {
  return {"c2m", [&](OpContext& ctx) {
            const auto found = point_to_mesh_distance({points.data(), points.size()}, {}, mesh.view(),
                                                      {{0, 0, 0}, 1, false}, ctx);
            return run_of(Digest().add(found.distances), found);
          }};
}

Case icp(const char* name, IcpMethod method, const std::vector<Vec3d>& fixed,
         const std::vector<Vec3d>& moving) {
  return {name, [=, &fixed, &moving](OpContext& ctx) {
            IcpRegistration registration(
                {{fixed.data(), fixed.size()}, {}, {0, 0, 0}, 1},
                {{moving.data(), moving.size()}, {}, {0, 0, 0}, 1},
                {method, IcpInitial::kCentroid, std::nullopt, std::nullopt, 1e-9, 60}, ctx);
            while (!registration.advance(10, ctx).finished) continue;
            const IcpResult found = registration.result(ctx);
            return run_of(Digest().add(found.pose).add(found.rmse_m), found);
          }};
}

Case scan(const char* name, const ScanScene& scene, std::uint32_t columns, std::uint32_t rays) {
  SyntheticScanParams params = test::scanner({columns / 2, columns, 30, 130, 0, 359.9});
  params.origin = {25.01, 25.02, 2.5};
  params.rays_per_pulse = rays;
  params.is_multi_return = rays > 1;
  params.divergence_rad = rays > 1 ? 3e-4 : 0;
  return {name, [=, &scene](OpContext& ctx) {
            const auto found = synthetic_scan(scene, {}, params, ctx);
            return run_of(Digest().add(found.positions).add(found.intensity), found);
          }};
}

Case beams(const char* name, const LeafCube& cube, std::uint32_t edge) {
  return {name, [=, &cube](OpContext& ctx) {
            const auto found = beam_traversal(cube.beams(), LeafCube::grid(edge), ctx);
            return run_of(Digest().add(found.sums), found);
          }};
}

/// Two samples of the plot, one of them turned by 1 degree and moved by some decimetres.
std::pair<std::vector<Vec3d>, std::vector<Vec3d>> two_sides(Span<const Vec3d> cloud, std::size_t count) {
  std::vector<Vec3d> fixed, moving;
  const std::size_t step = std::max<std::size_t>(1, cloud.size / (2 * count));
  const double c = std::cos(std::numbers::pi / 180), s = std::sin(std::numbers::pi / 180);
  for (std::size_t i = 0; i + step < cloud.size && moving.size() < count; i += 2 * step) {
    fixed.push_back(cloud[i]);
    const Vec3d p = cloud[i + step] - Vec3d{25, 25, 0};
    moving.push_back(Vec3d{c * p.x - s * p.y, s * p.x + c * p.y, p.z} + Vec3d{25.3, 24.8, 0.15});
  }
  return {fixed, moving};
}

Run timed_run(const Case& one, Device device, int threads) {
  JobControl control;
  OpContext ctx(control, device, threads);
  const Stopwatch watch;
  Run run = one.run(ctx);
  run.seconds = watch.seconds();
  return run;
}

/// Median time of some runs, all of which must have returned the same.
Run median_run(const Case& one, Device device, int threads, int runs) {
  std::vector<Run> all;
  for (int i = 0; i < runs; ++i) all.push_back(timed_run(one, device, threads));
  for (const Run& run : all)
    if (run.digest != all.front().digest)
      throw Error(ErrorCode::kInternal, std::string(one.name) + " gives other results in another run");
  std::sort(all.begin(), all.end(), [](const Run& a, const Run& b) { return a.seconds < b.seconds; });
  return all[all.size() / 2];
}

/// Longest time from a request to cancel, at nine moments of a run of so many seconds, to its end; 0 if none was in time.
double cancel_seconds(const Case& one, int threads, double seconds) {
  using Clock = std::chrono::steady_clock;
  double longest = 0;
  for (int tenth = 1; tenth < 10; ++tenth) {
    JobControl control;
    Clock::time_point asked;
    std::thread canceler([&] {
      std::this_thread::sleep_for(std::chrono::duration<double>(seconds * tenth / 10));
      asked = Clock::now();
      control.cancel_requested = true;
    });
    bool canceled = false;
    try {
      OpContext ctx(control, Device::kCuda, threads);
      one.run(ctx);
    } catch (const Error& error) {
      canceled = error.code() == ErrorCode::kCanceled;
    }
    const Clock::time_point ended = Clock::now();
    canceler.join();
    if (canceled) longest = std::max(longest, std::chrono::duration<double>(ended - asked).count());
  }
  return longest;
}

bool compare(const Case& one, std::size_t points, int threads) {
  const Run first = timed_run(one, Device::kCuda, threads);
  const Run gpu = median_run(one, Device::kCuda, threads, 3), cpu = median_run(one, Device::kCpu, threads, 3);
  const double cancel_s = cancel_seconds(one, threads, gpu.seconds);
  const bool same = gpu.digest == cpu.digest && first.digest == cpu.digest;
  std::printf(
      "{\"op\":\"%s\",\"points\":%zu,\"cpu_s\":%.4f,\"gpu_s\":%.4f,\"gpu_first_s\":%.4f,\"ratio\":%.2f,"
      "\"cancel_s\":%.4f,\"same\":%d,\"warnings\":%zu}\n",
      one.name, points, cpu.seconds, gpu.seconds, first.seconds, cpu.seconds / gpu.seconds, cancel_s,
      same ? 1 : 0, gpu.warnings.size());
  for (const std::string& warning : gpu.warnings) std::fprintf(stderr, "%s: %s\n", one.name, warning.c_str());
  std::fflush(stdout);
  return same && cancel_s <= 0.25 && gpu.warnings.empty();
}

}  // namespace

int compare_devices(const Arguments& arguments) {
  const std::size_t count = point_count(arguments[0]);
  const std::string wanted = arguments.size() > 1 ? arguments[1] : "";
  const int threads = thread_count(arguments, 2);
  gpu_load(std::filesystem::read_symlink("/proc/self/exe").parent_path().string());
  if (gpu_table() == nullptr) throw Error(ErrorCode::kUnsupported, "no CUDA device: " + gpu_reason());
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  const test::PlotCloud plot = test::make_plot(count);
  const HitPoints points = HitPoints::assume_hits(plot.positions.view());
  const BenchMesh mesh = plot_mesh(1'000'000);
  const std::vector<Vec3d> near = points_near(mesh, count);
  const auto [fixed, moving] = two_sides(plot.positions.view(), std::min<std::size_t>(count / 2, 1'000'000));
  test::RequestMesh surfaces;
  surfaces.vertices = mesh.vertices;
  surfaces.triangles.assign(mesh.indices.begin(), mesh.indices.end());
  const ScanScene scene = test::scene_of({surfaces.mesh()});
  const LeafCube cube(count, ctx);
  const auto columns = static_cast<std::uint32_t>(std::sqrt(2.0 * static_cast<double>(count)));
  std::vector<Case> cases{spacing(points),
                          cloth("cloth-fine", points, 0.1),
                          cloth("cloth-coarse", points, 0.5),
                          distances(near, mesh),
                          icp("icp-point", IcpMethod::kPointToPoint, fixed, moving),
                          icp("icp-gicp", IcpMethod::kGicp, fixed, moving),
                          scan("scan", scene, columns, 1),
                          scan("scan-rays", scene, columns / 10, 100),
                          beams("beams-8k", cube, 20),
                          beams("beams-1m", cube, 100)};
  for (Case& one : noise(points)) cases.push_back(std::move(one));
  bool good = true;
  for (const Case& one : cases)
    if (std::string(one.name).find(wanted) != std::string::npos) good &= compare(one, count, threads);
  return good ? 0 : 1;
}

}  // namespace pc::bench
