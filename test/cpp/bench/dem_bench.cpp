#include <algorithm>
#include <cmath>
#include <cstdio>

#include "bench.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "core/random.h"
#include "ops/dem/raster_mesh.h"
#include "ops/dem/terrain_layers.h"
#include "ops/dem/terrain_raster.h"

namespace pc::bench {

int make_dem(const Arguments& arguments) {
  const std::size_t count = point_count(arguments[0]);
  JobControl control;
  OpContext ctx(control, Device::kCpu, thread_count(arguments, 1));
  // 40 points a square metre of rolling ground: 2.5 a cell of 0.25 m, so that every twelfth is empty.
  const double side = std::sqrt(static_cast<double>(count) / 40);
  BulkVector<Vec3d> cloud(count);
  parallel_for(ctx, count, std::size_t{1} << 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const double x = side * random_unit(1, 2 * i), y = side * random_unit(1, 2 * i + 1);
      cloud[i] = {x, y, 5 * std::sin(x / 40) + 3 * std::cos(y / 25) + 0.05 * random_unit(2, i)};
    }
  });
  const double cell = std::max(0.25, side / 2000);  // no more than the cells of a raster
  const auto cells = static_cast<std::uint32_t>(std::ceil(side / cell));
  const RasterFrame frame{0, 0, cell, cells, cells};
  const TerrainRasterParams params{frame, 5, RasterMethod::kTin, RasterGaps::kLeave, true};
  const Stopwatch watch;
  const auto raster = terrain_raster(HitPoints::assume_hits(cloud.view()), params, {}, ctx);
  const double raster_s = watch.seconds();
  const auto mesh = raster_mesh(frame, raster.z.view(), ctx);
  const double mesh_s = watch.seconds() - raster_s;
  const auto layers = terrain_layers(frame, raster.z.view(), ctx);
  std::printf(
      "{\"points\":%zu,\"op_s\":%.3f,\"raster_s\":%.3f,\"mesh_s\":%.3f,\"cells\":%zu,\"populated\":%llu,"
      "\"triangles\":%zu}\n",
      count, watch.seconds(), raster_s, mesh_s, layers.slope.size(),
      static_cast<unsigned long long>(raster.populated_count), mesh.indices.size() / 3);
  return 0;
}

}  // namespace pc::bench
