#include <atomic>
#include <cstdio>
#include <ctime>

#include "bench/bench.h"
#include "bench/forked_tree.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "ops/qsm/tree_model.h"

namespace pc::bench {

int model_trees(const Arguments& arguments) {
  const std::size_t trees = point_count(arguments[0]), points = point_count(arguments[1]);
  JobControl control;
  OpContext ctx(control, Device::kCpu, thread_count(arguments, 2));
  constexpr std::size_t kDistinct = 16;
  std::vector<std::vector<Vec3d>> clouds;
  for (std::size_t i = 0; i < kDistinct; ++i) clouds.push_back(scanned(points, i + 1));
  const QsmBuildParams params{0.00423, true, 0.75, 1, 0, 0, RadiusModel::kIsotonic};
  std::atomic<std::uint64_t> cylinders{0}, modelled{0};
  const std::clock_t start = std::clock();
  const Stopwatch watch;
  // As in the service: trees side by side, each on one thread.
  parallel_for(ctx, trees, 1, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      JobControl own;
      OpContext one(own, Device::kCpu, 1);
      const std::vector<Vec3d>& cloud = clouds[i % kDistinct];
      const Vec3d place{10.0 * static_cast<double>(i), 0, 0};
      const TreeModel model =
          tree_model({{cloud.data(), cloud.size()}, {}, nullptr, 0, 0, place, 60'000}, params, one);
      cylinders += model.built.qsm.cylinders.size();
      modelled += model.metrics ? 1 : 0;
    }
  });
  const double seconds = watch.seconds(), cpu = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  std::printf("{\"op_s\":%.3f,\"op_cpu_s\":%.3f,\"modelled\":%llu,\"cylinders\":%llu}\n", seconds, cpu,
              static_cast<unsigned long long>(modelled), static_cast<unsigned long long>(cylinders));
  return modelled == trees ? 0 : 1;
}

int build_tree(const Arguments& arguments) {
  const std::vector<Vec3d> points = scanned(point_count(arguments[0]));
  JobControl control;
  OpContext ctx(control, Device::kCpu, thread_count(arguments, 1));
  const QsmBuildParams params{0.00423, true, 0.75, 1, 0, 0, RadiusModel::kTapered};
  reset_bulk_bytes_peak();
  const std::clock_t start = std::clock();
  const Stopwatch watch;
  const QsmBuildResult built = build_qsm(HitPoints::assume_hits({points.data(), points.size()}), params, ctx);
  const double seconds = watch.seconds(), cpu = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  const double bytes = static_cast<double>(bulk_bytes_peak());
  std::printf("{\"op_s\":%.3f,\"op_cpu_s\":%.3f,\"cylinders\":%zu,\"bytes_per_point\":%.1f}\n", seconds, cpu,
              built.qsm.cylinders.size(), bytes / static_cast<double>(points.size()));
  return built.qsm.cylinders.empty() ? 1 : 0;
}

}  // namespace pc::bench
