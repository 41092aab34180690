#include <cmath>
#include <cstdio>
#include <ctime>
#include <vector>

#include "bench/bench.h"
#include "core/random.h"
#include "ops/qsm/leaf_angle_assignment.h"

namespace pc::bench {

namespace {

/// Leaves along a row of cells of 1 m, with normals in all directions.
std::vector<Leaf> leaves_in_row(std::size_t count, double cells) {
  std::vector<Leaf> out;
  out.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const double height = 2 * random_unit(1, 3 * i) - 1, turn = 6.283185307179586 * random_unit(1, 3 * i + 1);
    const double across = std::sqrt(1 - height * height);
    const Vec3d normal{across * std::cos(turn), across * std::sin(turn), height};
    const Vec3d width{-std::sin(turn), std::cos(turn), 0};
    const Vec3d base{cells * (random_unit(1, 3 * i + 2) - 0.5), 0, 0};
    out.push_back({base, cross(width, normal), width, normal});
  }
  return out;
}

}  // namespace

int turn_leaves(const Arguments& arguments) {
  const std::size_t count = point_count(arguments[0]), per_cell = point_count(arguments[1]);
  JobControl control;
  OpContext ctx(control, Device::kCpu, thread_count(arguments, 2));
  const auto cells = static_cast<std::uint32_t>((count + per_cell - 1) / per_cell);
  std::vector<Leaf> leaves = leaves_in_row(count, cells);
  std::vector<LeafAngleTarget> targets;
  for (std::uint32_t cell = 0; cell < cells; ++cell) targets.push_back({cell, 2.5, 1.8, 0.6, 40, 0});
  const VoxelBox grid{{0, 0, 0}, {static_cast<double>(cells), 1, 1}, cells, 1, 1, 0, {}, {}};
  const std::clock_t start = std::clock();
  const Stopwatch watch;
  const LeafAngleResult found = leaf_angle_assignment(leaves, targets, grid, {1, 4000}, ctx);
  const double seconds = watch.seconds(), cpu = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  std::printf("{\"op_s\":%.3f,\"op_cpu_s\":%.3f,\"turned\":%llu}\n", seconds, cpu,
              static_cast<unsigned long long>(found.adjusted_count));
  return 0;
}

}  // namespace pc::bench
