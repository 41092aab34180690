#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <numbers>

#include "bench.h"
#include "core/parallel.h"
#include "core/random.h"
#include "io/las.h"
#include "io/octree_directory.h"
#include "ops/cloud/compact.h"
#include "ops/cloud/paint_labels.h"
#include "ops/cloud/region_select.h"
#include "ops/octree/octree_build.h"
#include "ops/octree/octree_translate.h"

namespace pc::bench {
namespace {

constexpr int kRuns = 5;
constexpr std::size_t kLassoVertices = 500;

/// Wall and CPU seconds of one operation.
struct Timing {
  double op_s, op_cpu_s;
};

/// Medians of an operation that is run some times in one process.
template <class Run>
Timing timing_of(const Run& run) {
  std::vector<double> wall, cpu;
  for (int i = 0; i < kRuns; ++i) {
    const Stopwatch watch;
    const std::clock_t start = std::clock();  // of all threads
    run();
    cpu.push_back(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    wall.push_back(watch.seconds());
  }
  std::sort(wall.begin(), wall.end());
  std::sort(cpu.begin(), cpu.end());
  return {wall[kRuns / 2], cpu[kRuns / 2]};
}

io::LasCloud read_cloud(const std::string& path, bool fields, OpContext& ctx) {
  io::LasReadParams params;
  if (!fields) params.wanted = [](const io::LasDimension&) { return false; };
  return io::read_las(path, params, ctx);
}

/// A perspective camera south of the plot and above it, looking north and down at its middle.
ScreenView camera() {
  ScreenView screen{{}, {}, 1600, 900};
  const double f = 1 / std::tan(std::numbers::pi / 8), near = 0.1, far = 1000;
  screen.projection = {f * 9 / 16,
                       0,
                       0,
                       0,
                       0,
                       f,
                       0,
                       0,
                       0,
                       0,
                       (far + near) / (near - far),
                       -1,
                       0,
                       0,
                       2 * far * near / (near - far),
                       0};
  const double c = std::cos(0.6), s = std::sin(0.6);
  // Rows: right, up, back; then moved so that the middle of the plot lies 60 m ahead.
  screen.view = {1, 0, 0, 0, 0, s, -c, 0, 0, c, s, 0, -25, -25 * s, 25 * c - 60, 1};
  return screen;
}

/// A hand-drawn loop: a wobbling circle of 500 points.
PolygonRegion lasso(const ScreenView& screen) {
  PolygonRegion polygon{{}, screen};
  for (std::size_t i = 0; i < kLassoVertices; ++i) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(i) / kLassoVertices;
    const double radius = 300 + 60 * std::sin(5 * angle) + 6 * random_unit(1, i);
    polygon.points.push_back({800 + radius * std::cos(angle), 450 + radius * std::sin(angle)});
  }
  return polygon;
}

/// A brush stroke of 4000 squares along a wave.
SquaresRegion stroke(const ScreenView& screen) {
  SquaresRegion squares{{}, {}, screen};
  for (int i = 0; i < 4000; ++i) {
    squares.centers.push_back({200 + 0.3 * i, 450 + 200 * std::sin(0.005 * i)});
    squares.half_sizes.push_back(12);
  }
  return squares;
}

Region region_of(const std::string& shape) {
  const ScreenView screen = camera();
  if (shape == "box") return {BoxRegion{{10, 10, -5}, {40, 35, 8}}, false};
  if (shape == "polygon") return {lasso(screen), false};
  if (shape == "squares") return {stroke(screen), false};
  throw Error(ErrorCode::kInvalidArgument, "shape \"" + shape + "\" is none of box, polygon, squares");
}

int print(std::size_t count, const Timing& timing, const char* what, std::size_t value,
          const OpContext& ctx) {
  std::printf("{\"count\":%zu,\"op_s\":%.4f,\"op_cpu_s\":%.4f,\"%s\":%zu,\"threads\":%d}\n", count,
              timing.op_s, timing.op_cpu_s, what, value, ctx.threads());
  return 0;
}

}  // namespace

int select_points(const Arguments& arguments) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, thread_count(arguments, 2));
  const io::LasCloud cloud = read_cloud(arguments[0], false, ctx);
  const RowSelection selection{cloud.table.positions.view(), {region_of(arguments[1])}, {}};
  Column<std::uint8_t> mask;
  const Timing timing = timing_of([&] { mask = region_select(selection, ctx); });
  std::size_t hits = 0;
  for (const std::uint8_t in : mask.view()) hits += in;
  return print(selection.positions.size, timing, "hits", hits, ctx);
}

int compact_points(const Arguments& arguments) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, thread_count(arguments, 1));
  const io::LasCloud cloud = read_cloud(arguments[0], true, ctx);
  const AnyColumn positions = [&] {
    Column<Vec3d> copy(cloud.table.positions.size());
    std::copy(cloud.table.positions.view().begin(), cloud.table.positions.view().end(), copy.view().begin());
    return AnyColumn(std::move(copy));
  }();
  std::vector<const AnyColumn*> columns{&positions};
  for (const io::NamedColumn& column : cloud.table.columns) columns.push_back(&column.values);
  const Column<std::uint8_t> drop =
      region_select({cloud.table.positions.view(), {region_of("polygon")}, {}}, ctx);
  std::size_t kept = 0;
  const Timing timing = timing_of([&] { kept = compact(columns, drop.view(), ctx)[0].size(); });
  return print(drop.size(), timing, "kept", kept, ctx);
}

int paint_points(const Arguments& arguments) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, thread_count(arguments, 1));
  const std::size_t n = std::stoull(arguments[0]);
  const AnyColumn labels(DType::kU8, n);
  Column<std::uint8_t> selected(n);
  // A brush over a scan: every 50th stretch of 100 rows.
  for (std::size_t i = 0; i < n; ++i) selected[i] = i / 100 % 50 == 7 ? 1 : 0;
  std::size_t painted = 0;
  const Timing timing = timing_of([&] {
    painted = paint_labels({&labels, selected.view(), {}, 3, std::nullopt, {}}, ctx).rows.count;
  });
  return print(n, timing, "painted", painted, ctx);
}

int translate_octree(const Arguments& arguments) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, thread_count(arguments, 2));
  const std::string from = arguments[1] + "/built", to = arguments[1] + "/moved";
  std::filesystem::create_directories(from);
  std::filesystem::create_directories(to);
  std::uint64_t bytes = 0;
  {
    const io::LasCloud cloud = read_cloud(arguments[0], true, ctx);
    OctreeInput input{cloud.table.positions.view(), {}, {}};
    for (const io::NamedColumn& column : cloud.table.columns) {
      if (column.name == "rgb" || column.name == "intensity" || column.name == "gps_time")
        input.attributes.push_back({column.name, "", &column.values});
    }
    io::OctreeDirectory sink(from);
    bytes = octree_build(input, {.scale = 0.001, .leaf_capacity = 10000}, sink, ctx).node_bytes;
  }
  std::uint64_t count = 0;
  const Timing timing = timing_of([&] {
    const io::OctreeDirectoryReader source(from);
    io::OctreeDirectory sink(to);
    count = octree_translate(source, {12.5, -3.25, 0.75}, sink, ctx).point_count;
  });
  return print(static_cast<std::size_t>(count), timing, "bytes", static_cast<std::size_t>(bytes), ctx);
}

}  // namespace pc::bench
