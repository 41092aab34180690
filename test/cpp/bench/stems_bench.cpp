#include <cstdio>
#include <ctime>
#include <vector>

#include "bench.h"
#include "core/memory.h"
#include "ops/trees/path_trees.h"
#include "ops/trees/stem_detection.h"
#include "support/plot.h"

namespace pc::bench {

namespace {

constexpr std::uint8_t kTrunk = 4, kCrown = 5;
constexpr double kColumnBytes = sizeof(Vec3d) + sizeof(float) + sizeof(std::uint32_t);

/// The trees of a plot without its ground and noise, and the heights of their points above the ground.
struct Plants {
  std::vector<Vec3d> points;
  std::vector<float> heights;

  explicit Plants(std::size_t count) {
    const test::PlotCloud plot = test::make_plot(count);
    for (std::size_t i = 0; i < count; ++i) {
      if (plot.classification[i] != kTrunk && plot.classification[i] != kCrown) continue;
      const Vec3d& p = plot.positions[i];
      points.push_back(p);
      heights.push_back(static_cast<float>(p.z - test::plot_ground(p.x, p.y)));
    }
  }
  HitPoints hits() const { return HitPoints::assume_hits({points.data(), points.size()}); }
  Span<const float> height() const { return {heights.data(), heights.size()}; }
};

/// Prints what an operation on the plants took; `found`: trees or stems.
template <class Operation>
int timed(const Arguments& arguments, const Operation& operation) {
  const std::size_t count = point_count(arguments[0]);
  JobControl control;
  OpContext ctx(control, Device::kCpu, thread_count(arguments, 1));
  const Plants plants(count);
  const Stopwatch watch;
  const std::clock_t start = std::clock();
  reset_bulk_bytes_peak();
  const std::size_t found = operation(plants, ctx);
  const double cpu = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  const double columns = kColumnBytes * static_cast<double>(plants.points.size());
  std::printf(
      "{\"points\":%zu,\"plants\":%zu,\"found\":%zu,\"op_s\":%.3f,\"op_cpu_s\":%.3f,\"column_ratio\":%.3f}\n",
      count, plants.points.size(), found, watch.seconds(), cpu,
      static_cast<double>(bulk_bytes_peak()) / columns);
  return 0;
}

}  // namespace

int path_trees(const Arguments& arguments) {
  return timed(arguments, [](const Plants& plants, OpContext& ctx) {
    const double node_m = path_node_size(plants.hits(), kPathConstants, ctx);
    return pc::path_trees(plants.hits(), plants.height(), {}, {node_m, std::nullopt, kPathConstants}, ctx)
        .trees.size();
  });
}

int find_stems(const Arguments& arguments) {
  return timed(arguments, [](const Plants& plants, OpContext& ctx) {
    const StemDetectionParams params{.band_min_m = 1, .band_max_m = 2, .max_diameter_m = 3, .seed = 0};
    return detect_stems(plants.hits(), plants.height(), params, ctx).stems.size();
  });
}

}  // namespace pc::bench
