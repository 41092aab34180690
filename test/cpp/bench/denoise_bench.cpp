#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>

#include "bench.h"
#include "core/error.h"
#include "core/memory.h"
#include "io/las.h"
#include "ops/cloud/point_spacing.h"
#include "ops/denoise/cluster_outlier.h"
#include "ops/denoise/statistical_outlier.h"
#include "ops/denoise/tiled_noise.h"

namespace pc::bench {

namespace {

constexpr std::uint64_t kTilePoints = 3'000'000;

NoiseResult run_method(const std::string& method, HitPoints points, OpContext& ctx) {
  if (method == "sor") return statistical_outlier(points, {16, 4.0}, ctx);
  if (method == "voxel_count") return voxel_count(points, {0.1, 2, std::nullopt}, ctx);
  if (method != "ror" && method != "ror_tiled" && method != "auto")
    throw Error(ErrorCode::kInvalidArgument,
                "method \"" + method + "\" is none of ror, ror_tiled, voxel_count, sor, auto");
  const auto spacing = point_spacing(points, {kMaxSpacingSamples, std::nullopt}, ctx);
  const double p95_m = spacing.distinct_p95_m.value_or(0.02);
  if (method == "auto") {
    const double median_m = spacing.distinct_median_m.value_or(p95_m);
    return cluster_outlier(
        points, {16, 7, 0.9, 0.005, 7.5 * median_m, 1.4, 1.4, 6 * median_m, 10 * p95_m, 17, 6}, ctx);
  }
  const RadiusOutlierParams params{std::clamp(3 * p95_m, 0.02, 0.5), 2};
  if (method == "ror") return radius_outlier(points, params, ctx);
  return radius_outlier_tiled(points, params, kTilePoints, ctx).noise;
}

io::LasCloud positions_of(const std::string& path, OpContext& ctx) {
  io::LasReadParams read;
  read.wanted = [](const io::LasDimension&) { return false; };
  return io::read_las(path, read, ctx);
}

/// Least CPU seconds of some runs: what disturbs a run only adds to it.
double least_cpu(const std::string& method, HitPoints points, OpContext& ctx, double least) {
  const std::clock_t start = std::clock();
  run_method(method, points, ctx);
  return std::min(least, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
}

}  // namespace

int denoise_points(const Arguments& arguments) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, thread_count(arguments, 2));
  const io::LasCloud cloud = positions_of(arguments[0], ctx);
  const HitPoints points = HitPoints::assume_hits(cloud.table.positions.view());
  std::vector<double> wall, cpu;
  std::uint64_t flagged = 0;
  for (int i = 0; i < 3; ++i) {
    const Stopwatch watch;
    const std::clock_t start = std::clock();  // of all threads
    flagged = run_method(arguments[1], points, ctx).flagged_count;
    cpu.push_back(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    wall.push_back(watch.seconds());
  }
  std::sort(wall.begin(), wall.end());
  std::sort(cpu.begin(), cpu.end());
  std::printf("{\"count\":%zu,\"op_s\":%.4f,\"op_cpu_s\":%.4f,\"flagged\":%llu,\"threads\":%d}\n",
              points.size(), wall[1], cpu[1], static_cast<unsigned long long>(flagged), ctx.threads());
  return 0;
}

int denoise_far_point(const Arguments& arguments) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 1);
  const io::LasCloud cloud = positions_of(arguments[0], ctx);
  const auto xyz = cloud.table.positions.view();
  BulkVector<Vec3d> with_far(xyz.size + 1);
  std::copy(xyz.begin(), xyz.end(), with_far.begin());
  with_far[xyz.size] = {1e7, 1e7, 1e7};
  double alone = HUGE_VAL, beside = HUGE_VAL;
  for (int i = 0; i < 5; ++i) {  // by turns: what slows the machine for a while slows both
    alone = least_cpu(arguments[1], HitPoints::assume_hits(xyz), ctx, alone);
    beside = least_cpu(arguments[1], HitPoints::assume_hits(with_far.view()), ctx, beside);
  }
  std::printf("{\"count\":%zu,\"alone_cpu_s\":%.4f,\"beside_cpu_s\":%.4f,\"ratio\":%.4f}\n", xyz.size, alone,
              beside, beside / alone);
  return 0;
}

}  // namespace pc::bench
