#include <cmath>
#include <cstdio>
#include <ctime>
#include <random>
#include <vector>

#include "bench.h"
#include "core/memory.h"
#include "ops/wood/wood_leaf.h"

namespace pc::bench {

namespace {

constexpr double kPi = 3.14159265358979323846;

/// A tree: half of the points on a stem and 60 straight branches, the others in balls of leaves around the branches.
std::vector<Vec3d> tree_of(std::size_t count) {
  constexpr std::size_t kBranches = 60;
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> unit;
  std::normal_distribution<double> normal;
  std::vector<Vec3d> points;
  points.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t branch = i % (2 * kBranches);
    const double angle = 2 * kPi * unit(random), along = unit(random);
    const double turn = 2.4 * static_cast<double>(branch),
                 base = 3 + 0.15 * static_cast<double>(branch % kBranches);
    const Vec3d tip{2.5 * along * std::cos(turn), 2.5 * along * std::sin(turn), base + 1.5 * along};
    if (branch % 4 == 0) {
      points.push_back({0.2 * std::cos(angle), 0.2 * std::sin(angle), 12 * along});
    } else if (branch < kBranches) {
      points.push_back(tip + Vec3d{0.03 * std::cos(angle), 0.03 * std::sin(angle), 0.03 * std::sin(angle)});
    } else {
      points.push_back(tip + Vec3d{0.2 * normal(random), 0.2 * normal(random), 0.2 * normal(random)});
    }
  }
  return points;
}

}  // namespace

int tell_wood(const Arguments& arguments) {
  const std::size_t count = point_count(arguments[0]);
  const bool sota = arguments[1] == "sota";
  JobControl control;
  OpContext ctx(control, Device::kCpu, thread_count(arguments, 2));
  const std::vector<Vec3d> points = tree_of(count);
  const WoodLeafParams params{sota ? WoodMethod::kSota : WoodMethod::kGeometric,
                              0.6,
                              10,
                              100,
                              10,
                              20,
                              3,
                              0,
                              0.02,
                              0,
                              0,
                              1'500'000,
                              0.4};
  const Stopwatch watch;
  const std::clock_t start = std::clock();
  reset_bulk_bytes_peak();
  const WoodLeafResult found =
      wood_leaf(HitPoints::assume_hits({points.data(), points.size()}), {}, params, ctx);
  std::printf("{\"points\":%zu,\"wood\":%llu,\"op_s\":%.3f,\"op_cpu_s\":%.3f,\"point_bytes\":%.1f}\n", count,
              static_cast<unsigned long long>(found.wood_count), watch.seconds(),
              static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC,
              static_cast<double>(bulk_bytes_peak()) / static_cast<double>(count));
  return 0;
}

}  // namespace pc::bench
