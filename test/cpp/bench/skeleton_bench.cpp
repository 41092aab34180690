#include <cstdio>
#include <ctime>

#include "bench/bench.h"
#include "bench/forked_tree.h"
#include "core/memory.h"
#include "ops/skeleton/level_set_skeleton.h"

namespace pc::bench {

int find_skeleton(const Arguments& arguments) {
  const std::vector<Vec3d> points = scanned(point_count(arguments[0]));
  JobControl control;
  OpContext ctx(control, Device::kCpu, thread_count(arguments, 1));
  const SkeletonParams params{true, 20, 2, 0.05, 20, 0.02, 60, true, 30, true, 0.1, true, 2, true};
  reset_bulk_bytes_peak();
  const std::clock_t start = std::clock();
  const Stopwatch watch;
  const Skeleton found = level_set_skeleton({points.data(), points.size()}, {}, params, ctx);
  const double seconds = watch.seconds(), cpu = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  std::printf("{\"op_s\":%.4f,\"op_cpu_s\":%.4f,\"nodes\":%zu,\"bytes_per_point\":%.1f}\n", seconds, cpu,
              found.points.size(),
              static_cast<double>(bulk_bytes_peak()) / static_cast<double>(points.size()));
  return found.failure == SkeletonFailure::kNone ? 0 : 1;
}

}  // namespace pc::bench
