#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>

#include "bench.h"
#include "support/worst_shapes.h"

namespace pc::bench {

namespace {

/// CPU time below which a figure is that of the start, not of the points.
constexpr double kCounts_s = 0.05;
/// Above it a shape is measured with four times the points as well.
constexpr double kSteep = 1.3;

/// Least CPU seconds of three runs on one thread; negative if the op refuses the cloud.
double cpu_seconds(const test::ShapeOp& op, const test::ShapeCloud& cloud) {
  double least = HUGE_VAL;
  for (int i = 0; i < 3; ++i) {
    JobControl control;
    OpContext ctx(control, Device::kCpu, 1);
    const std::clock_t start = std::clock();
    try {
      op.run(cloud, ctx);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kInvalidArgument) throw;
      return -1;
    }
    least = std::min(least, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return least;
}

}  // namespace

int time_shapes(const Arguments& arguments) {
  const std::size_t count = point_count(arguments[0]);
  double worst_exponent = 0, worst_factor = 0;
  std::printf("%-24s %-16s %9s %9s %8s %7s\n", "op", "shape", "CPU s", "of 4 n", "exponent", "factor");
  for (const auto& op : test::shape_ops()) {
    if (arguments.size() > 1 && op.name != arguments[1]) continue;
    double plain = 0;
    for (const auto& shape : test::worst_shapes()) {
      const double once = cpu_seconds(op, test::shape_cloud(shape, count));
      const double more = once < 0 ? -1 : cpu_seconds(op, test::shape_cloud(shape, 4 * count));
      if (more < 0) {
        std::printf("%-24s %-16s refused\n", op.name, shape.name);
        continue;
      }
      if (plain == 0) plain = more;
      double exponent = std::log(more / once) / std::log(4);
      const double factor = more / plain;
      if (once >= kCounts_s && exponent > kSteep) {  // or the data outgrew a cache: one step, not a growth
        const double most = cpu_seconds(op, test::shape_cloud(shape, 16 * count));
        if (most > 0) exponent = std::min(exponent, std::log(most / more) / std::log(4));
      }
      std::printf("%-24s %-16s %9.3f %9.3f %8.2f %7.2f\n", op.name, shape.name, once, more, exponent, factor);
      if (once < kCounts_s) continue;
      worst_exponent = std::max(worst_exponent, exponent);
      worst_factor = std::max(worst_factor, factor);
    }
    std::fflush(stdout);
  }
  std::printf("{\"worst_exponent\":%.3f,\"worst_factor\":%.3f}\n", worst_exponent, worst_factor);
  return 0;
}

}  // namespace pc::bench
