#include <algorithm>

#include "cost_case.h"
#include "io/raster_grid.h"
#include "ops/dem/cell_percentile.h"
#include "ops/dem/cell_statistics.h"
#include "ops/dem/column_snap.h"
#include "ops/dem/height_above_ground.h"
#include "ops/dem/pit_fill.h"
#include "ops/dem/raster_mesh.h"
#include "ops/dem/slope_correction.h"
#include "ops/dem/surface_raster.h"
#include "ops/dem/terrain_layers.h"
#include "ops/dem/void_cells.h"
#include "spatial/hull.h"
#include "spatial/nearest_cells.h"

namespace pc::bench {

namespace {

struct Format {
  const char* name;
  std::uint32_t (*columns)(std::size_t cells);
};

/// The first one is what the long ones are compared with.
constexpr Format kFormats[] = {
    {"square", [](std::size_t n) { return static_cast<std::uint32_t>(std::sqrt(static_cast<double>(n))); }},
    {"one row", [](std::size_t n) { return static_cast<std::uint32_t>(n); }},
    {"one column", [](std::size_t) { return std::uint32_t{1}; }},
    {"three rows", [](std::size_t n) { return static_cast<std::uint32_t>(n / 3); }},
};

struct Fill {
  const char* name;
  /// Cell i of n: has it a value?
  bool (*known)(std::uint64_t i, std::uint64_t n);
};

constexpr Fill kFills[] = {
    {"", [](std::uint64_t i, std::uint64_t) { return random_u64(5, i) % 4 != 0; }},
    {", full", [](std::uint64_t, std::uint64_t) { return true; }},
    {", ends known", [](std::uint64_t i, std::uint64_t n) { return i == 0 || i + 1 == n; }},
};

/// A raster and as many points as it has cells, one in each known cell.
struct Raster {
  RasterFrame frame;
  Column<double> z;
  Column<std::uint8_t> known;
  Column<Vec3d> points;
  AnyColumn values;

  Span<const double> heights() const { return z.view(); }
  HitPoints hits() const { return HitPoints::assume_hits(points.view()); }
};

Raster raster_of(const Format& format, const Fill& fill, std::size_t n) {
  const std::uint32_t nx = std::max(1U, format.columns(n)), ny = static_cast<std::uint32_t>(n / nx);
  Raster raster{{0, 0, 1, nx, ny}, {}, {}, {}, {}};
  const std::size_t cells = raster.frame.cells();
  raster.z = Column<double>(cells);
  raster.known = Column<std::uint8_t>(cells);
  raster.points = Column<Vec3d>(cells);
  for (std::size_t i = 0; i < cells; ++i) {
    const bool known = fill.known(i, cells);
    const double z = 10 * random_unit(6, i);
    raster.known[i] = known ? 1 : 0;
    raster.z[i] = known ? z : std::numeric_limits<double>::quiet_NaN();
    raster.points[i] = {static_cast<double>(i % nx) + random_unit(7, i),
                        static_cast<double>(i / nx) + random_unit(8, i), raster.z[i]};
  }
  raster.values = AnyColumn(value_column(worst_values()[0], cells));
  return raster;
}

using RasterRun = std::function<void(const Raster&, OpContext&)>;

void snap_columns(const Raster& raster, OpContext& ctx) {
  const RasterFrame& frame = raster.frame;
  const VoxelColumns columns{{frame.nx / 2.0, frame.ny / 2.0, 10},
                             {static_cast<double>(frame.nx), static_cast<double>(frame.ny), 20},
                             frame.nx,
                             frame.ny,
                             30,
                             1,
                             0.1};
  column_snap(columns, frame, raster.heights(), ctx);
}

void correct_all_slopes(const Raster& raster, OpContext& ctx) {
  const RasterFrame& frame = raster.frame;
  const RasterHull hull = raster_hull(frame.nx, frame.ny, raster.known.view(), ctx);
  const KnownCells cells{frame.nx, frame.ny, raster.known.view(), hull};
  const BulkVector<CellPlace> places(frame.cells());
  Column<double> z(frame.cells());
  std::copy(raster.heights().begin(), raster.heights().end(), z.view().begin());
  correct_slopes(
      {cells, places.view(), frame.cell}, z.view(), [](Span<double>) {}, ctx);
}

void search_cells(const Raster& raster, OpContext& ctx) {
  const RasterFrame& frame = raster.frame;
  const CellSearch search(frame.nx, frame.ny, raster.known.view(), ctx);
  std::vector<CellNeighbor> found;
  for (std::uint32_t row = 0; row < frame.ny; ++row)
    for (std::uint32_t column = 0; column < frame.nx; ++column) search.nearest(column, row, 12, found);
}

std::vector<std::pair<const char*, RasterRun>> raster_ops() {
  using R = const Raster&;
  using X = OpContext&;
  const auto surface = [](RasterMethod method) -> RasterRun {
    return [method](R r, X ctx) { surface_raster(r.hits(), r.frame, method, ctx); };
  };
  return {
      {"column_snap", snap_columns},
      {"pit_fill", [](R r, X ctx) { pit_fill(r.frame.nx, r.frame.ny, r.heights(), ctx); }},
      {"surface_raster tin", surface(RasterMethod::kTin)},
      {"surface_raster nearest", surface(RasterMethod::kNearest)},
      {"surface_raster idw", surface(RasterMethod::kIdw)},
      {"surface_raster canopy", [](R r, X ctx) { canopy_height(r.frame, r.heights(), r.heights(), ctx); }},
      {"raster_mesh", [](R r, X ctx) { raster_mesh(r.frame, r.heights(), ctx); }},
      {"height_above_ground", [](R r, X ctx) { height_above_ground(r.hits(), r.frame, r.heights(), ctx); }},
      {"void_cells", [](R r, X ctx) { void_cells(r.heights(), -9999.0, ctx); }},
      {"cell_percentile", [](R r, X ctx) { cell_percentiles(r.hits(), r.frame, 95, ctx); }},
      {"cell_statistics counts", [](R r, X ctx) { cell_counts(const_view(r.points), {}, r.frame, ctx); }},
      {"cell_statistics means",
       [](R r, X ctx) {
         cell_means(const_view(r.points), {}, r.values, {1, 0}, r.frame, ctx);
       }},
      {"cell_statistics layer", [](R r, X ctx) { cell_layer(r.values, {}, ctx); }},
      {"slope_correction", correct_all_slopes},
      {"terrain_layers", [](R r, X ctx) { terrain_layers(r.frame, r.heights(), ctx); }},
      {"hull", [](R r, X ctx) { raster_hull(r.frame.nx, r.frame.ny, const_view(r.known), ctx); }},
      {"nearest_cells", [](R r, X ctx) { nearest_cells(r.frame.nx, r.frame.ny, const_view(r.known), ctx); }},
      {"nearest_cells search", search_cells},
      {"raster_grid text",
       [](R r, X ctx) {
         io::raster_text({r.heights(), r.frame.nx, r.frame.ny}, -9999, ctx);
       }},
      {"raster_grid floats",
       [](R r, X ctx) {
         io::raster_floats({r.heights(), r.frame.nx, r.frame.ny}, ctx);
       }},
  };
}

/// Points of which all or most lie in few cells of a raster.
void add_heap_costs(CostCases& cases) {
  const auto add = [&](const char* input, Vec3d (*point)(std::uint64_t)) {
    const auto make = [point](std::size_t n) {
      Raster raster = raster_of(kFormats[0], kFills[1], n / 4);
      raster.points = Column<Vec3d>(n);
      for (std::size_t i = 0; i < n; ++i) raster.points[i] = point(i);
      raster.values = AnyColumn(value_column(worst_values()[0], n));
      return raster;
    };
    for (const auto& [op, run] : raster_ops()) {
      const std::string name = op;
      if (name != "cell_percentile" && name.find("cell_statistics") != 0 && name != "height_above_ground")
        continue;
      cases.push_back({name + " heap", input, 200'000, prepared(make, run)});
    }
  };
  add("random", [](std::uint64_t i) {
    return Vec3d{200 * random_unit(1, i), 200 * random_unit(2, i), random_unit(3, i)};
  });
  add("one cell", [](std::uint64_t i) {
    return Vec3d{5 + random_unit(1, i), 5 + random_unit(2, i), random_unit(3, i)};
  });
  add("one place", [](std::uint64_t) { return Vec3d{5.5, 5.5, 1}; });
  add("two heights", [](std::uint64_t i) { return Vec3d{5.5, 5.5, i % 2 == 0 ? 1.0 : 2.0}; });
  add("sorted", [](std::uint64_t i) { return Vec3d{5.5, 5.5, static_cast<double>(i)}; });
  add("outside", [](std::uint64_t) { return Vec3d{-1, -1, -1}; });
}

bool skips(const std::string& op, const Fill& fill) {  // needs a terrain without voids
  const bool voids = std::string(fill.name) != ", full";
  return (op == "raster_grid text" || op == "raster_grid floats") && voids;
}

}  // namespace

void add_raster_costs(CostCases& cases) {
  for (const auto& [op, run] : raster_ops()) {
    for (const Fill& fill : kFills) {
      if (skips(op, fill)) continue;
      for (const Format& format : kFormats) {
        if (&fill != &kFills[0] && &format != &kFormats[0] && &format != &kFormats[1]) continue;
        cases.push_back({op, std::string(format.name) + fill.name, 200'000,
                         prepared([format, fill](std::size_t n) { return raster_of(format, fill, n); }, run),
                         1, std::string(op) == "hull" ? HUGE_VAL : 1});  // looks at the ends of rows only
      }
    }
  }
  add_heap_costs(cases);
}

}  // namespace pc::bench
