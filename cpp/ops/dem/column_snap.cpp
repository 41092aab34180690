#include "ops/dem/column_snap.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/error.h"
#include "core/parallel.h"
#include "spatial/nearest_cells.h"
#include "spatial/raster_sample.h"

namespace pc {

namespace {

constexpr double kEdgeTolerance =
    1e-6;  // of a cell: a footprint that ends at the raster's edge is not outside

void check_columns(const VoxelColumns& columns) {
  const auto positive = [](double v) { return std::isfinite(v) && v > 0; };
  require(is_finite(columns.center), "the centre of a voxel grid must be finite");
  require(positive(columns.size.x) && positive(columns.size.y) && positive(columns.size.z),
          "the size of a voxel grid must be positive");
  require(columns.nx > 0 && columns.ny > 0, "a voxel grid has at least one column");
  require(static_cast<std::uint64_t>(columns.nx) * columns.ny <= kMaxVoxelColumns,
          "a voxel grid has at most 4 000 000 columns");
  require(std::isfinite(columns.rotation_deg), "the rotation of a voxel grid must be finite");
  require(positive(columns.voxel_height), "the height of a voxel must be positive");
  require(std::isfinite(columns.safety_fraction) && columns.safety_fraction >= 0,
          "the safety fraction must not be negative");
}

BulkVector<double> without_voids(const RasterFrame& frame, Span<const double> terrain, OpContext& ctx) {
  BulkVector<std::uint8_t> known(terrain.size);
  std::atomic<bool> any{false};
  constexpr std::size_t kGrain = std::size_t{1} << 16;
  parallel_for(ctx, terrain.size, kGrain, [&](std::size_t begin, std::size_t end) {
    bool found = false;
    for (std::size_t i = begin; i < end; ++i) {
      known[i] = std::isfinite(terrain[i]) ? 1 : 0;
      found |= known[i] != 0;
    }
    if (found) any = true;
  });
  require(any, "the terrain has no cell with a height");
  const BulkVector<std::uint32_t> nearest = nearest_cells(frame.nx, frame.ny, known.view(), ctx);
  BulkVector<double> filled(terrain.size);
  parallel_for(ctx, terrain.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) filled[i] = terrain[nearest[i]];
  });
  return filled;
}

/// Ground below the columns of a rotated lattice.
class Footprints {
 public:
  Footprints(const VoxelColumns& columns, const RasterFrame& frame, Span<const double> terrain)
      : columns_(columns),
        frame_(frame),
        surface_(frame, terrain),
        cosine_(std::cos(columns.rotation_deg * (std::numbers::pi / 180))),
        sine_(std::sin(columns.rotation_deg * (std::numbers::pi / 180))) {}

  /// The highest sample of column (i, j); minus infinity if no sample lies on the raster.
  double ground(std::size_t i, std::size_t j) const {
    double highest = -std::numeric_limits<double>::infinity();
    for (int v = 0; v <= 2; ++v) {
      for (int u = 0; u <= 2; ++u) {
        const double x = ((static_cast<double>(i) + 0.5 * u) / columns_.nx - 0.5) * columns_.size.x;
        const double y = ((static_cast<double>(j) + 0.5 * v) / columns_.ny - 0.5) * columns_.size.y;
        const double world_x = columns_.center.x + cosine_ * x - sine_ * y;
        const double world_y = columns_.center.y + sine_ * x + cosine_ * y;
        if (on_raster(world_x, frame_.min_x, frame_.nx) && on_raster(world_y, frame_.min_y, frame_.ny))
          highest = std::max(highest, surface_.at(world_x, world_y));
      }
    }
    return highest;
  }

 private:
  bool on_raster(double coordinate, double min, std::uint32_t cells) const {
    const double at = (coordinate - min) / frame_.cell;
    return at >= -kEdgeTolerance && at <= cells + kEdgeTolerance;
  }

  const VoxelColumns& columns_;
  const RasterFrame& frame_;
  RasterSample surface_;
  double cosine_, sine_;
};

}  // namespace

ColumnSnapResult column_snap(const VoxelColumns& columns, const RasterFrame& frame,
                             Span<const double> terrain, OpContext& ctx) {
  check_columns(columns);
  check_raster(frame);
  require(terrain.size == frame.cells(), "one terrain value per cell is needed");
  ctx.begin_phase("Snapping columns to the ground", 0);
  const BulkVector<double> filled = without_voids(frame, terrain, ctx);
  const Footprints footprints(columns, frame, filled.view());
  const double floor = columns.center.z - columns.size.z / 2;
  const double clearance = columns.safety_fraction * columns.voxel_height;
  const std::size_t count = static_cast<std::size_t>(columns.nx) * columns.ny;
  ColumnSnapResult result{Column<double>(count), Column<std::uint8_t>(count), 0};
  std::atomic<std::uint64_t> dropped{0};
  parallel_for(ctx, count, std::size_t{1} << 12, [&](std::size_t begin, std::size_t end) {
    std::uint64_t beside = 0;
    for (std::size_t c = begin; c < end; ++c) {
      const double ground = footprints.ground(c % columns.nx, c / columns.nx);
      result.kept[c] = std::isfinite(ground) ? 1 : 0;
      if (result.kept[c] != 0) {
        result.offsets[c] = ground + clearance - floor;
      } else {
        ++beside;
      }
    }
    dropped += beside;
  });
  result.dropped_count = dropped;
  return result;
}

}  // namespace pc
