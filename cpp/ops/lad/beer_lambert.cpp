#include "ops/lad/beer_lambert.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/error.h"
#include "core/parallel.h"
#include "ops/lad/chord_quadrature.h"
#include "ops/lad/voxel_views.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = 2048;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kZ95 = 1.96;
constexpr double kAbsurd = 100;
/// Of the pulses towards a voxel: fewer are taken as so many.
constexpr double kLeastReached = 0.01;

double share(double part, double count) { return std::clamp(part / count, 0.0, 1.0); }

/// The root of mean exp(-k d) = p from below: the left side is convex, so Newton's steps never pass it, and by Jensen's
/// inequality -ln p / mean d is not above it. NaN if it lies above `most`.
double extinction(const ChordQuadrature& chords, double mean, double p, double most) {
  double k = -std::log(p) / mean;
  for (int round = 0; round < 200 && k <= most; ++round) {
    double value = -p, slope = 0;
    for (std::size_t i = 0; i < chords.count; ++i) {
      const double passed = chords.weight[i] * std::exp(-k * chords.chord[i]);
      value += passed;
      slope += passed * chords.chord[i];
    }
    const double step = value / slope;
    if (!(step > 1e-13 * k)) return k;  // also if rounding has left no slope
    k += step;
  }
  return kNaN;
}

struct VarianceTerms {
  double variance, placing;  ///< of a; the part of it for where the elements lie
  bool valid;
};

/// Whole beams that would tell as much as these, of which shares reach the voxel (Kish 1965, Survey Sampling).
double effective_beams(double beams, const ReachSums* reach) {
  return reach == nullptr ? beams : beams * beams / reach->reach_squared;
}

/// Variance of the transmitted share over pulses that count with the share of them that reaches the voxel: of the ratio
/// sum i / sum r, from sum (i - I r)^2.
double ratio_variance(const VoxelSums& sums, const ReachSums& reach, double intercepted) {
  const double inside_squared = sums.transmitted_squared - reach.reach_squared + 2 * reach.reach_intercepted;
  const double squares = inside_squared - 2 * intercepted * reach.reach_intercepted +
                         intercepted * intercepted * reach.reach_squared;
  return std::max(0.0, squares) / (sums.moment[0] * sums.moment[0]);
}

/// Contract lad 3.5: sampling and position of the elements, both through the derivative of a by P.
VarianceTerms variance_of(const VoxelSums& sums, const ReachSums* reach, double a, double g, double path,
                          const BeerLambertParams& params) {
  const double beams = sums.moment[0], p = share(sums.transmitted, beams), intercepted = 1 - p;
  const double n = effective_beams(beams, reach);
  const double bounded = std::min(intercepted, 1 - 1 / (2 * n + 2));
  const double sampling =
      reach == nullptr ? std::max(bounded * (1 - bounded) / n, (sums.transmitted_squared / n - p * p) / n)
                       : ratio_variance(sums, *reach, intercepted);
  const double w = params.element_width_m;
  const double volume = params.voxel_size.x * params.voxel_size.y * params.voxel_size.z;
  const double delta = std::cbrt(volume);
  const double element = w > 0 ? std::numbers::pi * w * w / (8 * delta * delta) : 0;
  double placing = 0;
  if (w > 0 && element < 0.3 && intercepted > 0 && intercepted < 1)
    placing = 0.23 * element * (1 - intercepted) * std::pow(intercepted, 1.9 - 2.3 * element);
  const double per_share = (1 - bounded) * path * g;
  const double depth = a * g * path;
  const bool valid = (depth <= 2 && element <= 0.05 && n >= 30) ||
                     (depth <= 2.5 && element <= 0.01 && n >= 150) || (element <= 0.05 && n >= 150);
  const double squared = per_share * per_share;
  return {(sampling + placing) / squared, placing / squared, valid};
}

/// Of one leaf, m2.
double leaf_area(const BeerLambertParams& params) {
  const double width = std::max(0.0, params.element_width_m);
  return std::numbers::pi * width * width / 4;
}

/// Shared by all voxels.
struct Inversion {
  Span<const double> sums, g;
  const BeerLambertParams& params;
  std::size_t layer;
  double diagonal;
  BeerLambertResult& out;

  double g_of(Span<const double> g, std::size_t voxel) const {
    if (g.size == 1) return g[0];
    return g.size == params.nz && g.size != layer * params.nz ? g[voxel / layer] : g[voxel];
  }
  const VoxelSums& sums_of(Span<const double> sums, std::size_t voxel) const {
    return reinterpret_cast<const VoxelSums*>(sums.data)[voxel];
  }
  struct Solution {
    double a;
    VarianceTerms terms;
  };
  Solution solved(const VoxelSums& s, const ReachSums* reach, double projection) const {
    const double a = solve_beer_lambert(s, projection, diagonal);
    return {a, variance_of(s, reach, a, projection, s.moment[1] * diagonal / s.moment[0], params)};
  }
  /// Share of wood in the labelled hits of a voxel.
  struct WoodShare {
    double share, variance;
  };
  WoodShare wood_of(std::size_t v) const {
    if (params.labels.wood.empty()) return {0, 0};
    const double wood = params.labels.wood[v], hits = wood + params.labels.leaf[v];
    const double part = hits > 0 ? wood / hits : 0;
    return {part, hits > 0 ? part * (1 - part) / hits : 0};
  }
  void voxel(std::size_t v) const {
    const VoxelSums& s = sums_of(sums, v);
    const double n = s.moment[0], path = s.moment[1] * diagonal;
    const auto* reach =
        params.reach.empty() ? nullptr : reinterpret_cast<const ReachSums*>(params.reach.data) + v;
    out.variance[v] = kNaN;
    out.error[v] = kNaN;
    if (!(n > 0 && path > 0)) {
      // Shares of pulses that ended before the voxel may sum up to less than nothing.
      if (reach != nullptr && reach->reach_squared > 0) out.state[v] = kVoxelProbed | kVoxelOccluded;
      return;
    }
    std::uint8_t state = kVoxelProbed;
    const bool few = effective_beams(n, reach) < static_cast<double>(params.min_beams);
    if (few || path < params.occlusion_threshold_m) state |= kVoxelOccluded;
    const WoodShare wood = wood_of(v);
    const double projection = wood.share == 1 ? params.labels.wood_g : g_of(g, v);
    if (!few && projection > 0) {
      const bool each = wood.share < 1 && !params.optical.sums.empty();
      const auto [a, terms] = each ? solved(sums_of(params.optical.sums, v), reach, g_of(params.optical.g, v))
                                   : solved(s, reach, projection);
      if (std::isfinite(a)) {
        state |= kVoxelSolved;
        out.lad[v] = a * (1 - wood.share);
        if (out.wad.size() > 0) out.wad[v] = wood.share * a * projection / params.labels.wood_g;
        if (std::isfinite(terms.variance)) {
          const double leaf = 1 - wood.share;
          out.variance[v] = leaf * leaf * terms.variance + a * a * wood.variance;
          out.error[v] =
              std::sqrt(out.variance[v] + by_chance(v, n, out.lad[v], leaf * leaf * terms.placing) +
                        std::pow(out.lad[v] * out.common_g_error, 2));
          if (terms.valid) state |= kVoxelTrusted;
        }
      }
    }
    out.state[v] = state;
  }
  /// Variance of lad from the chance of its leaves, less the part that is in the variance.
  double by_chance(std::size_t v, double beams, double lad, double placing) const {
    const Vec3d& size = params.voxel_size;
    const double leaf = leaf_area(params), squared = lad * lad;
    const double of_g = params.measured.scatter.empty() ? 0 : params.measured.scatter[v] * leaf;
    if (params.few.views.empty() || !(leaf > 0)) return squared * of_g;
    const auto& view = reinterpret_cast<const VoxelView*>(params.few.views.data)[v];
    const double reached = view.pulses > 0 ? std::clamp(beams / view.pulses, kLeastReached, 1.0) : 1;
    const double leaves = std::max(1.0, lad * size.x * size.y * size.z / leaf) * reached;
    const double of_one = view.crowding * (1 + params.few.spread * view.alignment) - 1 -
                          params.measured.spread * view.alignment;
    return squared * of_g + std::max(0.0, squared * of_one / leaves - placing);
  }
};

void check(Span<const double> sums, Span<const double> g, const BeerLambertParams& p) {
  require(p.nx > 0 && p.ny > 0 && p.nz > 0, "a grid has at least one cell along each axis");
  const std::size_t cells = std::size_t{p.nx} * p.ny * p.nz;
  require(sums.size == cells * kVoxelSumFields, "the sums do not belong to this grid");
  require(p.reach.empty() || p.reach.size == cells * kReachSumFields,
          "the reach sums do not belong to this grid");
  const std::size_t labelled = p.labels.wood.size;
  require((labelled == 0 || labelled == cells) && p.labels.leaf.size == labelled,
          "the counts of hits do not belong to this grid");
  require(labelled == 0 || (p.labels.wood_g > 0 && p.labels.wood_g <= 1),
          "the projection of wood must lie above 0 and at most at 1");
  const auto check_g = [&](Span<const double> values) {
    require(values.size == 1 || values.size == p.nz || values.size == cells,
            "G needs a value per voxel, per layer, or one");
    for (const double value : values) require(value >= 0 && value <= 1, "G must lie between 0 and 1");
  };
  check_g(g);
  if (!p.optical.sums.empty()) {
    require(p.optical.sums.size == sums.size, "the optical sums do not belong to this grid");
    check_g(p.optical.g);
  }
  const MeasuredG& measured = p.measured;
  require(measured.scatter.empty() || measured.scatter.size == cells,
          "the errors of G do not belong to this grid");
  require(measured.of_all >= 0 && measured.bias >= 0 && measured.spread >= 0,
          "the errors of G must not be negative");
  require(p.few.views.empty() || p.few.views.size == cells * kVoxelViewFields,
          "the views do not belong to this grid");
  require(p.few.spread >= 0, "the spread of the projections must not be negative");
  require(is_finite(p.voxel_size) && p.voxel_size.x > 0 && p.voxel_size.y > 0 && p.voxel_size.z > 0,
          "the size of a voxel must be positive");
  require(p.min_beams >= 1, "min_voxel_hits must be at least 1");
  require(std::isfinite(p.element_width_m), "element_width must be finite");
  require(p.occlusion_threshold_m >= 0, "occlusion_threshold_m must not be negative");
}

BeerLambertTotals totals_of(const BeerLambertResult& found, double volume) {
  BeerLambertTotals totals;
  double sum = 0, variance = 0;
  for (std::size_t v = 0; v < found.lad.size(); ++v) {
    const std::uint8_t state = found.state[v];
    if ((state & kVoxelOccluded) != 0) {
      ++totals.occluded_count;
      totals.occluded_leaf_area_m2 += found.lad[v] * volume;
      continue;
    }
    if ((state & kVoxelSolved) == 0) continue;
    ++totals.solved_count;
    totals.leaf_area_m2 += found.lad[v] * volume;
    if (found.wad.size() > 0) totals.wood_area_m2 += found.wad[v] * volume;
    if ((state & kVoxelTrusted) == 0) continue;
    ++totals.group_count;
    sum += found.lad[v];
    variance += std::pow(found.error[v], 2) - std::pow(found.lad[v] * found.common_g_error, 2);
  }
  if (totals.group_count > 0) {
    const auto n = static_cast<double>(totals.group_count);
    totals.group_mean = sum / n;
    totals.group_half_width =
        kZ95 * std::hypot(std::sqrt(std::max(0.0, variance)), sum * found.common_g_error) / n;
  }
  return totals;
}

}  // namespace

double solve_beer_lambert(const VoxelSums& sums, double g, double diagonal_m) {
  const double passed = share(sums.transmitted, sums.moment[0]);
  if (passed >= 1) return 0;
  const double p = std::max(passed, 1 / (2 * sums.moment[0] + 2));
  const double mean = sums.moment[1] / sums.moment[0] * diagonal_m;
  ChordQuadrature chords = chord_quadrature(sums.moment);
  for (double& chord : chords.chord) chord *= diagonal_m;
  const double a = extinction(chords, mean, p, kAbsurd * g) / g;
  return a <= kAbsurd ? a : (1 - passed) / (mean * g);
}

BeerLambertResult beer_lambert(Span<const double> sums, Span<const double> g, const BeerLambertParams& params,
                               OpContext& ctx) {
  check(sums, g, params);
  const std::size_t layer = std::size_t{params.nx} * params.ny, cells = layer * params.nz;
  BeerLambertResult out{Column<double>(cells),
                        Column<double>(cells),
                        Column<std::uint8_t>(cells),
                        Column<double>(params.labels.wood.size),
                        Column<double>(cells),
                        {},
                        {}};
  const double whole = leaf_area(params) * params.measured.of_all;
  if (!params.measured.scatter.empty())
    out.common_g_error = std::hypot(std::sqrt(whole), params.measured.bias);
  const Vec3d& size = params.voxel_size;
  const Inversion inversion{sums, g, params, layer, std::sqrt(dot(size, size)), out};
  ctx.begin_phase("Inverting Beer's law", cells);
  parallel_for(ctx, cells, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t v = begin; v < end; ++v) inversion.voxel(v);
  });
  out.totals = totals_of(out, size.x * size.y * size.z);
  return out;
}

}  // namespace pc
