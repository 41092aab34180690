#include <cmath>
#include <cstdio>
#include <ctime>
#include <random>

#include "bench/bench.h"
#include "core/memory.h"
#include "ops/skeleton/level_set_skeleton.h"

namespace pc::bench {

namespace {

/// A tree of forks: the stem is 8 m long and 0.2 m thick, each fork's branches are .72 as long and .7 as thick.
struct Pipe {
  Vec3d from, to;
  double radius;
};

std::vector<Pipe> pipes() {
  std::vector<Pipe> out{{{0, 0, 0}, {0, 0, 8}, 0.2}};
  const auto grow = [&](std::size_t parent, const Vec3d& side) {
    const Pipe stem = out[parent];
    const Vec3d way = (stem.to - stem.from) * 0.72;
    const double length = std::sqrt(dot(way, way));
    const Vec3d turned = way * 0.8 + side * (0.6 * length);
    out.push_back({stem.to, stem.to + turned, 0.7 * stem.radius});
  };
  for (std::size_t at = 0; out.size() < 255; ++at) {
    const double turn = 2.4 * static_cast<double>(at);
    const Vec3d side{std::cos(turn), std::sin(turn), 0};
    grow(at, side);
    grow(at, side * -1);
  }
  return out;
}

std::vector<Vec3d> scanned(std::size_t count) {
  const std::vector<Pipe> tree = pipes();
  double area = 0;
  for (const Pipe& p : tree) area += p.radius * std::sqrt(squared_distance(p.from, p.to));
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> unit;
  std::normal_distribution<double> noise(0, 0.003);
  std::vector<Vec3d> points;
  points.reserve(count + tree.size());
  for (const Pipe& p : tree) {
    const Vec3d way = p.to - p.from;
    const double length = std::sqrt(dot(way, way));
    const Vec3d along = way * (1 / length);
    const Vec3d u = cross(along, std::fabs(along.z) < 0.9 ? Vec3d{0, 0, 1} : Vec3d{1, 0, 0});
    const Vec3d first = u * (1 / std::sqrt(dot(u, u))), second = cross(along, first);
    const auto own =
        static_cast<std::size_t>(std::ceil(static_cast<double>(count) * p.radius * length / area));
    for (std::size_t i = 0; i < own; ++i) {
      const double turn = 6.283185307179586 * unit(random), r = p.radius + noise(random);
      points.push_back(p.from + way * unit(random) + first * (r * std::cos(turn)) +
                       second * (r * std::sin(turn)));
    }
  }
  return points;
}

}  // namespace

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
