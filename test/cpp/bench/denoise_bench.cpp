#include <algorithm>
#include <cstdio>
#include <ctime>

#include "bench.h"
#include "core/error.h"
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
  const double p95_m =
      point_spacing(points, {kMaxSpacingSamples, std::nullopt}, ctx).distinct_p95_m.value_or(0.02);
  if (method == "auto") return cluster_outlier(points, {16, 10, 10 * p95_m, 5}, ctx);
  const RadiusOutlierParams params{std::clamp(3 * p95_m, 0.02, 0.5), 2};
  if (method == "ror") return radius_outlier(points, params, ctx);
  return radius_outlier_tiled(points, params, kTilePoints, ctx).noise;
}

}  // namespace

int denoise_points(const Arguments& arguments) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, thread_count(arguments, 2));
  io::LasReadParams read;
  read.wanted = [](const io::LasDimension&) { return false; };
  const io::LasCloud cloud = io::read_las(arguments[0], read, ctx);
  const HitPoints points = HitPoints::all(cloud.table.positions.view());
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

}  // namespace pc::bench
