#include "ops/denoise/tiled_noise.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/gather.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "ops/denoise/noise_labels.h"

namespace pc {

namespace {

constexpr std::size_t kBlock = 65'536;  // rows
constexpr std::size_t kSamples = 4096;
constexpr double kTrimmed = 0.001;       // of the sample at each end, per axis
constexpr double kMostAlongAxis = 1000;  // tiles

/// Tiles along one axis.
struct Axis {
  double min, tile_m;
  std::uint64_t count;

  std::uint64_t tile(double value) const {
    const double at = (value - min) / tile_m;  // monotone in value: neighbours stay in order
    if (!(at > 0)) return 0;
    return at < static_cast<double>(count - 1) ? static_cast<std::uint64_t>(at) : count - 1;
  }
};

struct Grid {
  Axis x, y;
  double collar_m;

  std::uint64_t tiles() const { return x.count * y.count; }
  std::uint64_t own(const Vec3d& p) const { return y.tile(p.y) * x.count + x.tile(p.x); }
  /// Calls visit(tile) for every tile that includes p. The collar is slightly wider than requested, by more than the
  /// rounding error of a distance and of the sums here.
  template <class Visit>
  void each(const Vec3d& p, const Visit& visit) const {
    const double wide_x = collar_m * 1.001 + std::abs(p.x) * 0x1p-50;
    const double wide_y = collar_m * 1.001 + std::abs(p.y) * 0x1p-50;
    const std::uint64_t last_x = x.tile(p.x + wide_x), last_y = y.tile(p.y + wide_y);
    for (std::uint64_t ty = y.tile(p.y - wide_y); ty <= last_y; ++ty) {
      for (std::uint64_t tx = x.tile(p.x - wide_x); tx <= last_x; ++tx) visit(ty * x.count + tx);
    }
  }
};

/// Start and length of the central part of some values.
std::pair<double, double> central(std::vector<double>& values) {
  if (values.empty()) return {0, 0};
  std::sort(values.begin(), values.end());
  const auto cut = static_cast<std::size_t>(kTrimmed * static_cast<double>(values.size()));
  const double low = values[cut];
  return {low, values[values.size() - 1 - cut] - low};
}

Grid grid_of(Span<const Vec3d> xyz, double collar_m, std::uint64_t target_points) {
  std::vector<double> x, y;
  const std::size_t step = std::max<std::size_t>(1, xyz.size / kSamples);
  for (std::size_t i = 0; i < xyz.size; i += step) {
    if (!is_finite(xyz[i])) continue;
    x.push_back(xyz[i].x);
    y.push_back(xyz[i].y);
  }
  const auto [min_x, size_x] = central(x);
  const auto [min_y, size_y] = central(y);
  const double wanted = std::ceil(static_cast<double>(xyz.size) / static_cast<double>(target_points));
  const double longer = std::max(size_x, size_y);
  // A tile narrower than its collar would consist mostly of collar.
  double tile_m =
      std::max({std::sqrt(size_x * size_y / wanted), longer / std::min(wanted, kMostAlongAxis), collar_m});
  if (!std::isfinite(tile_m) || tile_m <= 0) tile_m = 1;
  const auto along = [&](double size) {
    return static_cast<std::uint64_t>(std::clamp(std::ceil(size / tile_m), 1.0, kMostAlongAxis));
  };
  return {{min_x, tile_m, along(size_x)}, {min_y, tile_m, along(size_y)}, collar_m};
}

/// The rows that each tile includes, ascending.
struct TileRows {
  BulkVector<std::uint64_t> rows;
  std::vector<std::uint64_t> first;
};

TileRows rows_of(Span<const Vec3d> xyz, const Grid& grid, OpContext& ctx) {
  const std::size_t count = grid.tiles();
  // Larger blocks for many tiles keep the histograms small.
  const std::size_t grain = std::max(kBlock, count), blocks = (xyz.size + grain - 1) / grain;
  std::vector<std::uint64_t> starts(blocks * count, 0);
  const auto visit_rows = [&](const auto& visit) {
    parallel_for(ctx, xyz.size, grain, [&](std::size_t begin, std::size_t end) {
      std::uint64_t* block = starts.data() + begin / grain * count;
      for (std::size_t i = begin; i < end; ++i) {
        if (is_finite(xyz[i])) grid.each(xyz[i], [&](std::uint64_t tile) { visit(block[tile], i); });
      }
    });
  };
  visit_rows([](std::uint64_t& seen, std::size_t) { ++seen; });
  TileRows tiles;
  tiles.first.resize(count + 1);
  std::uint64_t next = 0;
  for (std::size_t tile = 0; tile < count; ++tile) {
    tiles.first[tile] = next;
    for (std::size_t block = 0; block < blocks; ++block)
      next += std::exchange(starts[block * count + tile], next);
  }
  tiles.first[count] = next;
  tiles.rows = BulkVector<std::uint64_t>(next);
  visit_rows([&](std::uint64_t& at, std::size_t row) { tiles.rows[at++] = row; });
  return tiles;
}

template <class Op>
TiledNoiseResult by_tiles(HitPoints points, double collar_m, std::uint64_t target_points, OpContext& ctx,
                          const Op& op) {
  require(target_points > 0, "target_points must be above 0");
  const auto xyz = points.xyz();
  const Grid grid = grid_of(xyz, collar_m, target_points);
  ctx.begin_phase("Cutting tiles", 2 * xyz.size);
  TiledNoiseResult result{all_noise(points, ctx),
                          {grid.x.tile_m, collar_m, grid.x.count, grid.y.count, 0, 0, 0}};
  const TileRows tiles = rows_of(xyz, grid, ctx);
  const auto labels = result.noise.noise_class.view();
  std::uint64_t finite = 0;
  for (std::uint64_t tile = 0; tile < grid.tiles(); ++tile) {
    const std::uint64_t begin = tiles.first[tile], seen = tiles.first[tile + 1] - begin;
    if (seen == 0) continue;
    BulkVector<Vec3d> gathered(seen);
    parallel_for(ctx, seen, kBlock, [&](std::size_t from, std::size_t to) {
      gather_rows(sizeof(Vec3d), reinterpret_cast<const std::byte*>(xyz.data),
                  tiles.rows.data() + begin + from, to - from,
                  reinterpret_cast<std::byte*>(gathered.data() + from));
    });
    const NoiseResult part = op(HitPoints::assume_hits(gathered.view()));
    if (result.noise.warnings.empty())
      result.noise.warnings = part.warnings;  // every tile has the same reason
    for (std::size_t i = 0; i < seen; ++i) {
      if (i % kBlock == 0) ctx.checkpoint();
      if (grid.own(gathered[i]) != tile) continue;
      labels[tiles.rows[begin + i]] = part.noise_class[i];
      ++finite;
    }
    ++result.plan.tiles;
    result.plan.points_per_tile_max = std::max(result.plan.points_per_tile_max, seen);
    result.plan.points_per_tile_mean += static_cast<double>(seen);
  }
  if (result.plan.tiles > 0) result.plan.points_per_tile_mean /= static_cast<double>(result.plan.tiles);
  count_noise(result.noise, finite, ctx);
  return result;
}

}  // namespace

TiledNoiseResult radius_outlier_tiled(HitPoints points, const RadiusOutlierParams& params,
                                      std::uint64_t target_points, OpContext& ctx) {
  return by_tiles(points, params.radius_m, target_points, ctx,
                  [&](HitPoints tile) { return radius_outlier(tile, params, ctx); });
}

TiledNoiseResult voxel_count_tiled(HitPoints points, const VoxelCountParams& params,
                                   std::uint64_t target_points, OpContext& ctx) {
  VoxelCountParams shared = params;
  if (!shared.anchor) shared.anchor = least_corner(points, ctx);
  return by_tiles(points, params.voxel_m, target_points, ctx,
                  [&](HitPoints tile) { return voxel_count(tile, shared, ctx); });
}

}  // namespace pc
