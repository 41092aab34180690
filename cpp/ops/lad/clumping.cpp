#include "ops/lad/clumping.h"

#include <cmath>

#include "core/error.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "ops/lad/beam_traversal.h"
#include "ops/lad/beer_lambert.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = 1024;

/// Density of a voxel and the mean of its eighths; NaN if one of them has too few beams.
struct Densities {
  double whole, eighths;
};

struct Comparison {
  const VoxelSums *whole, *eighths;
  Span<const double> g;
  const ClumpingParams& params;
  std::size_t layer;
  double diagonal;

  bool is_enough(const VoxelSums& sums) const {
    return sums.moment[0] >= static_cast<double>(params.min_beams) && sums.moment[1] > 0;
  }
  double g_of(std::size_t v) const {
    if (g.size == 1) return g[0];
    return g.size == params.nz && g.size != layer * params.nz ? g[v / layer] : g[v];
  }
  Densities of(std::size_t v) const {
    constexpr Densities kNone{NAN, NAN};
    const double projection = g_of(v);
    if (!(projection > 0) || !is_enough(whole[v])) return kNone;
    const std::size_t i = v % params.nx, j = v / params.nx % params.ny, k = v / layer - params.first_layer;
    double sum = 0;
    for (std::size_t n = 0; n < 8; ++n) {
      const std::size_t row = 2 * i + (n & 1), column = 2 * j + (n >> 1 & 1), level = 2 * k + (n >> 2);
      const VoxelSums& eighth = eighths[row + 2 * params.nx * (column + 2 * std::size_t{params.ny} * level)];
      if (!is_enough(eighth)) return kNone;
      sum += solve_beer_lambert(eighth, projection, diagonal / 2);
    }
    return {solve_beer_lambert(whole[v], projection, diagonal), sum / 8};
  }
};

}  // namespace

Clumping clumping(Span<const double> whole, Span<const double> eighths, Span<const double> g,
                  const ClumpingParams& params, OpContext& ctx) {
  const std::size_t layer = std::size_t{params.nx} * params.ny, cells = layer * params.nz;
  const std::size_t layers = params.layers == 0 ? params.nz : params.layers;
  const std::size_t first = params.first_layer * layer, compared = layers * layer;
  require(params.first_layer + layers <= params.nz, "the grid does not have these layers");
  require(
      cells > 0 && whole.size == cells * kVoxelSumFields && eighths.size == 8 * compared * kVoxelSumFields,
      "the sums do not belong to this grid and its eighths");
  require(g.size == 1 || g.size == params.nz || g.size == cells,
          "G needs a value per voxel, per layer, or one");
  require(params.min_beams >= 1, "min_voxel_hits must be at least 1");
  const Vec3d& size = params.voxel_size;
  const Comparison comparison{reinterpret_cast<const VoxelSums*>(whole.data),
                              reinterpret_cast<const VoxelSums*>(eighths.data),
                              g,
                              params,
                              layer,
                              std::sqrt(dot(size, size))};
  BulkVector<Densities> found(compared);
  ctx.begin_phase("Comparing voxel sizes", compared);
  parallel_for(ctx, compared, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t n = begin; n < end; ++n) found[n] = comparison.of(first + n);
  });
  Clumping out;
  for (const Densities& one : found) {
    if (!std::isfinite(one.whole) || !std::isfinite(one.eighths)) continue;
    ++out.voxel_count;
    out.whole_m2 += one.whole;
    out.eighths_m2 += one.eighths;
  }
  const double volume = size.x * size.y * size.z;
  out.whole_m2 *= volume;
  out.eighths_m2 *= volume;
  return out;
}

}  // namespace pc
