#include "lad_bench.h"

#include <cmath>
#include <cstdio>
#include <ctime>
#include <numbers>

#include "bench.h"
#include "core/parallel.h"
#include "core/random.h"
#include "ops/lad/beer_lambert.h"

namespace pc::bench {

namespace {

constexpr double kEdge = 10, kDensity = 0.4, kG = 0.5;
constexpr std::size_t kScans = 4;
constexpr Vec3d kCenter{450'000, 5'400'000, 100};

}  // namespace

LeafCube::Scan LeafCube::scan_of(std::size_t number, std::size_t pulses, OpContext& ctx) {
  const double turn = std::numbers::pi / 2 * static_cast<double>(number) + 0.3;
  const Vec3d from{(kEdge / 2 + 3) * std::cos(turn), (kEdge / 2 + 3) * std::sin(turn), -3};
  BulkVector<Vec3d> positions(pulses);
  Column<std::uint8_t> missed(pulses);
  const Vec3d origin = kCenter + from;
  const auto rows = static_cast<std::size_t>(std::sqrt(static_cast<double>(pulses)));
  parallel_for(ctx, pulses, std::size_t{1} << 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const double theta = 0.35 + 1.6 * static_cast<double>(i % rows) / static_cast<double>(rows);
      const double phi = turn + std::numbers::pi +
                         2.0 * (static_cast<double>(i / rows) / static_cast<double>(pulses / rows) - 0.5);
      const Vec3d along{std::sin(theta) * std::cos(phi), std::sin(theta) * std::sin(phi), std::cos(theta)};
      double enter = 0, leave = HUGE_VAL;
      for (const auto& [start, slope] : {std::pair{from.x, along.x}, {from.y, along.y}, {from.z, along.z}}) {
        const double a = (-kEdge / 2 - start) / slope, b = (kEdge / 2 - start) / slope;
        enter = std::max(enter, std::min(a, b));
        leave = std::min(leave, std::max(a, b));
      }
      const double range = enter - std::log(1 - random_unit(7 + number, i)) / (kDensity * kG);
      const bool hit = enter < leave && range < leave;
      missed[i] = hit ? 0 : 1;
      positions[i] = origin + along * (hit ? range : 1001);
    }
  });
  return {std::move(positions), origin, AnyColumn(std::move(missed))};
}

LeafCube::LeafCube(std::size_t pulses, OpContext& ctx) {
  for (std::size_t k = 0; k < kScans; ++k) scans_.push_back(scan_of(k, pulses / kScans, ctx));
}

std::vector<BeamScan> LeafCube::beams() const {
  std::vector<BeamScan> beams;
  for (const Scan& scan : scans_)
    beams.push_back({scan.positions.view(), {&scan.origin, 1}, {0, 0, 0}, &scan.missed, {}, {}, nullptr});
  return beams;
}

VoxelBox LeafCube::grid(std::uint32_t edge) {
  return {kCenter, {kEdge, kEdge, kEdge}, edge, edge, edge, 0, {}, {}};
}

namespace {

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace

int invert_density(const Arguments& arguments) {
  const std::size_t pulses = point_count(arguments[0]), edge = point_count(arguments[1]);
  JobControl control;
  OpContext ctx(control, Device::kCpu, thread_count(arguments, 2));
  const LeafCube cube(pulses, ctx);
  const auto n = static_cast<std::uint32_t>(edge);
  Stopwatch watch;
  const double start = cpu_seconds();
  const BeamTraversalResult traced = beam_traversal(cube.beams(), LeafCube::grid(n), ctx);
  const double trace_s = watch.seconds(), traced_cpu = cpu_seconds();
  const double g = kG;
  const double side = kEdge / static_cast<double>(edge);
  const BeerLambertResult found =
      beer_lambert(traced.sums.view(), {&g, 1}, {{side, side, side}, n, n, n, 5, 0.05, 0, {}}, ctx);
  const double op_s = watch.seconds(), inverted_cpu = cpu_seconds();
  const auto* sums = reinterpret_cast<const VoxelSums*>(traced.sums.view().data);
  double crossed = 0;
  for (std::size_t v = 0; v < found.lad.size(); ++v) crossed += sums[v].moment[0];
  std::printf(
      "{\"count\":%zu,\"op_s\":%.3f,\"op_cpu_s\":%.3f,\"trace_s\":%.3f,\"trace_cpu_s\":%.3f,"
      "\"invert_cpu_s\":%.3f,\"crossed\":%.0f,\"of_truth\":%.4f}\n",
      pulses, op_s, inverted_cpu - start, trace_s, traced_cpu - start, inverted_cpu - traced_cpu, crossed,
      found.totals.leaf_area_m2 / (kDensity * kEdge * kEdge * kEdge));
  return 0;
}

}  // namespace pc::bench
