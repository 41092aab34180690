#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "bench.h"
#include "ops/trees/tree_inventory.h"
#include "support/inventory_defaults.h"

namespace pc::bench {

namespace {

constexpr double kPi = 3.14159265358979323846;

/// Trees 5 m apart: a fifth of the points on a stem of 8 m, the others in a crown of 2.5 m radius.
struct Stand {
  Column<Vec3d> points;
  Column<std::uint32_t> ids;
  Column<float> heights;
};

Stand stand_of(std::size_t trees, std::size_t points) {
  const std::size_t each = points / trees;
  Stand stand{Column<Vec3d>(trees * each), Column<std::uint32_t>(trees * each), Column<float>(trees * each)};
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> unit;
  std::normal_distribution<double> noise(0, 0.003);
  const auto side = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(trees))));
  for (std::size_t t = 0; t < trees; ++t) {
    const double x = 5.0 * static_cast<double>(t % side), y = 5.0 * static_cast<double>(t / side);
    const double radius = 0.05 + 0.2 * unit(random);
    for (std::size_t i = 0; i < each; ++i) {
      const bool stem = i % 5 == 0;
      const double turn = 2 * kPi * unit(random);
      const double r = stem ? radius + noise(random) : 2.5 * std::sqrt(unit(random));
      const double z = stem ? 8 * unit(random) : 6 + 9 * unit(random);
      stand.points[t * each + i] = {x + r * std::cos(turn), y + r * std::sin(turn), z};
      stand.ids[t * each + i] = static_cast<std::uint32_t>(t + 1);
      stand.heights[t * each + i] = static_cast<float>(z);
    }
  }
  return stand;
}

}  // namespace

int measure_trees(const Arguments& arguments) {
  const std::size_t trees = point_count(arguments[0]), points = point_count(arguments[1]);
  JobControl control;
  OpContext ctx(control, Device::kCpu, thread_count(arguments, 2));
  Stand stand = stand_of(trees, points);
  const AnyColumn ids(std::move(stand.ids)), heights(std::move(stand.heights));
  const Stopwatch watch;
  const TreeInventoryResult found = tree_inventory(
      {stand.points.view(), {0, 0, 0}, {}, &ids, &heights, nullptr}, inventory_defaults(), ctx);
  std::size_t with_diameter = 0;
  for (const MeasuredTree& tree : found.trees) with_diameter += tree.stem.breast_height ? 1 : 0;
  std::printf("{\"points\":%zu,\"trees\":%zu,\"with_diameter\":%zu,\"op_s\":%.3f}\n", stand.points.size(),
              found.trees.size(), with_diameter, watch.seconds());
  return 0;
}

int index_competition(const Arguments& arguments) {
  const std::size_t count = point_count(arguments[0]);
  JobControl control;
  OpContext ctx(control, Device::kCpu, thread_count(arguments, 1));
  // 500 stems per hectare.
  const double side = std::sqrt(static_cast<double>(count) / 500) * 100;
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> place(0, side), diameter(0.05, 0.6);
  std::vector<Vec2d> stems;
  std::vector<double> diameters;
  for (std::size_t i = 0; i < count; ++i) {
    stems.push_back({place(random), place(random)});
    diameters.push_back(diameter(random));
  }
  const Stopwatch watch;
  const Competition found = competition({stems.data(), stems.size()}, {diameters.data(), diameters.size()},
                                        {10, {{0, 0}, {side, 0}, {side, side}, {0, side}}, 0.1}, ctx);
  double sum = 0;
  for (const double index : found.hegyi) sum += index;
  std::printf("{\"stems\":%zu,\"op_s\":%.3f,\"mean\":%.6f}\n", count, watch.seconds(),
              sum / static_cast<double>(count));
  return 0;
}

}  // namespace pc::bench
