#include "ops/lad/triangulated_projection.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "core/error.h"
#include "core/memory.h"
#include "core/nth_smallest.h"
#include "core/parallel.h"
#include "ops/lad/beam_traversal.h"
#include "ops/lad/leaf_inclinations.h"
#include "ops/lad/triangle_sight.h"

namespace pc {

namespace {

constexpr double kPi = std::numbers::pi;
/// What a voxel hardly sees has the shares of all voxels, as if they were this part of its area more.
constexpr double kWeightOfAll = 0.2;
constexpr std::size_t kVoxelGrain = 64, kPollTriangles = std::size_t{1} << 16;

/// What the triangles of all voxels tell of the inclinations.
struct AllLeaves {
  std::vector<std::size_t> number_of_view;  // of the views with triangles, by `view`
  std::vector<InclinationView> views;
  LeafInclinations inclinations;
  std::vector<double> zenith_g,
      zenith_squared;          // of the zenith classes: G, and the mean of the squared projection
  std::vector<double> beam_g;  // of kZenithBins
  double greatest = 0;         // of beam_g
};

std::vector<double> middles(std::size_t bins) {
  std::vector<double> out(bins);
  for (std::size_t i = 0; i < bins; ++i)
    out[i] = (static_cast<double>(i) + 0.5) * (kPi / 2) / static_cast<double>(bins);
  return out;
}

AllLeaves all_leaves(const BulkVector<SeenTriangle>& seen, OpContext& ctx) {
  constexpr std::size_t kViews = kZenithClasses * (kCosineClasses + 1);
  std::vector<InclinationView> views(kViews);
  for (std::size_t t = 0; t < seen.size(); ++t) {
    if (t % kPollTriangles == 0) ctx.checkpoint();
    if (seen[t].area > 0 && seen[t].view != kNoView)
      views[seen[t].view].area[seen[t].inclination] += seen[t].area;
  }
  AllLeaves out;
  out.number_of_view.resize(kViews, 0);
  for (std::size_t v = 0; v < kViews; ++v) {
    if (std::all_of(views[v].area.begin(), views[v].area.end(), [](double area) { return area == 0; }))
      continue;
    views[v].zenith = (static_cast<double>(v % kZenithClasses) + 0.5) * (kPi / 2) / kZenithClasses;
    views[v].least_cosine = static_cast<double>(v / kZenithClasses) / kCosineClasses;
    out.number_of_view[v] = out.views.size();
    out.views.push_back(views[v]);
  }
  out.inclinations = fit_inclinations(out.views, ctx);
  out.zenith_g = out.inclinations.projections(middles(kZenithClasses), ctx);
  const double upright = out.inclinations.mean_squared_cosine();
  for (const double zenith : middles(kZenithClasses))
    out.zenith_squared.push_back(upright * std::pow(std::cos(zenith), 2) +
                                 (1 - upright) * std::pow(std::sin(zenith), 2) / 2);
  out.beam_g = out.inclinations.projections(middles(kZenithBins), ctx);
  out.greatest = *std::max_element(out.beam_g.begin(), out.beam_g.end());
  return out;
}

/// Sums over the triangles of a voxel or of all.
struct Sums {
  double beams = 0, projected = 0,
         squared = 0;  // beams that the leaves stopped, per leaf area; the same times G, times its square
  double of_all = 0;   // beams times G of all leaves
  double area = 0, as_seen = 0, as_seen_squared = 0;
  ByInclination by_class{};  // beams times |normal . beam| of the classes
  double scatter = 0;        // of the shares of one voxel

  Sums& operator+=(const Sums& part) {
    beams += part.beams, projected += part.projected, squared += part.squared, of_all += part.of_all;
    area += part.area, as_seen += part.as_seen, as_seen_squared += part.as_seen_squared;
    for (std::size_t k = 0; k < kInclinationClasses; ++k) by_class[k] += part.by_class[k];
    return *this;
  }

  /// Variance of G as a part of G^2, for leaves of 1 m2, whose triangles stand for themselves alone.
  double scatter_as_seen() const {
    return std::max(0.0, as_seen_squared * area / (as_seen * as_seen) - 1) / area;
  }
};

/// Gathers the triangles of one voxel.
class VoxelLeaves {
 public:
  explicit VoxelLeaves(const AllLeaves& all)
      : all_(all), area_of_(all.views.size()), hits_of_(all.views.size()) {}

  void add(const SeenTriangle& one) {
    sums_.area += one.area;
    sums_.as_seen += one.area * one.cosine;
    sums_.as_seen_squared += one.area * one.cosine * one.cosine;
    zeniths_[one.zenith] += one.hits;
    if (one.view == kNoView) return;
    const std::size_t view = all_.number_of_view[one.view];
    if (area_of_[view] == 0) views_.push_back(view);
    area_of_[view] += one.area;
    hits_of_[view] += one.hits / one.cosine;
    area_[one.inclination] += one.area;
  }

  /// Of the voxel; the next one begins.
  Sums take() {
    std::vector<std::pair<std::size_t, double>> seen;
    for (const std::size_t view : views_) seen.emplace_back(view, area_of_[view]);
    const SeenInclinations part = inclinations_of_part(all_.inclinations, area_, seen, kWeightOfAll);
    const ByInclination& shares = part.shares;
    for (const std::size_t view : views_) {
      const ViewOfClasses& of = all_.inclinations.views()[view];
      const double beams = hits_of_[view] / std::max(weighed(shares, of.detected), 1e-9);
      sums_.beams += beams;
      sums_.projected += beams * weighed(shares, of.projection);
      sums_.squared += beams * weighed(shares, of.squared);
      sums_.of_all += beams * weighed(all_.inclinations.shares(), of.projection);
      for (std::size_t k = 0; k < kInclinationClasses; ++k) sums_.by_class[k] += beams * of.projection[k];
    }
    sums_.scatter = part.scatter(sums_.by_class, kWeightOfAll);
    if (views_.empty()) add_unseen();
    const Sums out = sums_;
    for (const std::size_t view : views_) area_of_[view] = hits_of_[view] = 0;
    views_.clear();
    sums_ = {}, area_ = {}, zeniths_ = {};
    return out;
  }

 private:
  /// A voxel without a triangle that tells inclinations has those of all.
  void add_unseen() {
    for (std::size_t z = 0; z < kZenithClasses; ++z) {
      const double beams = zeniths_[z] / std::max(all_.zenith_g[z], 1e-9);
      sums_.beams += beams;
      sums_.projected += beams * all_.zenith_g[z];
      sums_.squared += beams * all_.zenith_squared[z];
      sums_.of_all += beams * all_.zenith_g[z];
    }
    const double g = sums_.projected / sums_.beams;
    sums_.scatter = std::max(0.0, sums_.squared / sums_.beams / (g * g) - 1) / sums_.area;
  }

  const AllLeaves& all_;
  std::vector<double> area_of_, hits_of_;
  std::vector<std::size_t> views_;
  ByInclination area_{};
  std::array<double, kZenithClasses> zeniths_{};
  Sums sums_;
};

/// How far the azimuths of the leaves are from uniform.
struct Azimuths {
  double facing = 1, sideways = 0;
};

Azimuths azimuths_of(const BulkVector<SeenTriangle>& seen, const AllLeaves& all, OpContext& ctx) {
  double found = 0, expected = 0, side = 0, across = 0;
  for (std::size_t t = 0; t < seen.size(); ++t) {
    if (t % kPollTriangles == 0) ctx.checkpoint();
    const SeenTriangle& one = seen[t];
    if (!(one.area > 0) || one.view == kNoView) continue;
    const double leaf = one.hits / one.cosine;
    const double inclination = (one.inclination + 0.5) * (kPi / 2) / kInclinationClasses;
    found += one.hits;
    expected += leaf * all.inclinations.views()[all.number_of_view[one.view]].cosine[one.inclination];
    side += leaf * one.side;
    across += leaf * std::sin(inclination) * 2 / kPi;
  }
  Azimuths out;
  if (expected > 0) out.facing = found / expected;
  if (across > 0) out.sideways = std::abs(side) / across;
  return out;
}

/// Counts the triangles that tell inclinations. Seen by the scanner, one is half a square of neighbouring beams.
void tell(const BulkVector<SeenTriangle>& seen, TriangulatedProjection* out, OpContext& ctx) {
  BulkVector<double> squares;
  for (std::size_t t = 0; t < seen.size(); ++t) {
    if (t % kPollTriangles == 0) ctx.checkpoint();
    const SeenTriangle& one = seen[t];
    if (one.area > 0 && one.view != kNoView) squares.push_back(one.area / one.hits * one.cosine);
  }
  out->telling_count = squares.size();
  if (squares.empty()) return;
  out->spacing_m = std::sqrt(nth_smallest(squares.data(), squares.size(), squares.size() / 2));
}

/// Rows of the triangles by voxel: those of voxel v are [first[v], first[v + 1]) of `rows`.
struct ByVoxel {
  BulkVector<std::uint32_t> rows, first;
};

ByVoxel by_voxel(const BinnedCells& cells, const BulkVector<SeenTriangle>& seen, OpContext& ctx) {
  ByVoxel out{BulkVector<std::uint32_t>(seen.size()), BulkVector<std::uint32_t>(cells.cell_count + 1)};
  const auto each = [&](auto&& use) {
    for (std::size_t t = 0; t < seen.size(); ++t) {
      if (t % kPollTriangles == 0) ctx.checkpoint();
      if (seen[t].area > 0) use(t, cells.cell_ids[t]);
    }
  };
  std::fill(out.first.begin(), out.first.end(), 0);
  each([&](std::size_t, std::uint32_t cell) { ++out.first[cell + 1]; });
  for (std::size_t v = 0; v < cells.cell_count; ++v) {
    if (v % kPollTriangles == 0) ctx.checkpoint();
    out.first[v + 1] += out.first[v];
  }
  each([&](std::size_t t, std::uint32_t cell) {
    out.rows[out.first[cell]++] = static_cast<std::uint32_t>(t);
  });
  for (std::size_t v = cells.cell_count; v > 0; --v) out.first[v] = out.first[v - 1];
  out.first[0] = 0;
  return out;
}

/// Variance of the values over the shares, as a part of the square of their mean.
double spread_of(const ByInclination& shares, const ByInclination& values) {
  const double mean = weighed(shares, values);
  if (!(mean > 0)) return 0;
  double sum = 0;
  for (std::size_t k = 0; k < kInclinationClasses; ++k) sum += shares[k] * std::pow(values[k] / mean - 1, 2);
  return sum;
}

}  // namespace

TriangulatedProjection triangulated_projection(const LeafTriangles& triangles, const TriangleLimits& limits,
                                               const VoxelBox& grid, OpContext& ctx) {
  check_leaf_triangles(triangles);
  require(limits.lmax_m > 0 && limits.max_aspect_ratio >= 1,
          "lmax must be positive and max_aspect_ratio at least 1");
  const BinnedCells cells = bin_cells(triangles.vertices, triangles.indices, grid, ctx);
  const TriangleSight sight(triangles, limits, ctx);
  BulkVector<SeenTriangle> seen(triangles.scan_ids.size);
  parallel_for(ctx, seen.size(), std::size_t{1} << 12, [&](std::size_t begin, std::size_t end) {
    for (std::size_t t = begin; t < end; ++t)
      seen[t] = cells.cell_ids[t] != kNoCell ? sight.of(t) : SeenTriangle{};
  });
  const AllLeaves all = all_leaves(seen, ctx);
  const ByVoxel rows = by_voxel(cells, seen, ctx);
  TriangulatedProjection out;
  out.g = Column<double>(cells.cell_count);
  out.beam_g = Column<double>(cells.cell_count);
  out.error.scatter = Column<double>(cells.cell_count);
  out.folded = sight.folded_share();
  out.triangle_count = rows.first[cells.cell_count];
  if (all.inclinations.is_known()) tell(seen, &out, ctx);
  out.hardly_seen = all.inclinations.hardly_seen();
  const Azimuths azimuths = azimuths_of(seen, all, ctx);
  out.facing = azimuths.facing, out.sideways = azimuths.sideways;
  out.uniform_azimuths =
      out.telling_count < kFewestFacing ||
      (out.facing >= kLeastFacing && out.facing <= kMostFacing && out.sideways <= kMostSideways);
  if (out.uniform_azimuths)
    for (const double g : all.beam_g) out.beam_factors.push_back(g / all.greatest);
  const std::size_t blocks = (cells.cell_count + kVoxelGrain - 1) / kVoxelGrain;
  std::vector<Sums> of_block(blocks);
  parallel_for(ctx, cells.cell_count, kVoxelGrain, [&](std::size_t begin, std::size_t end) {
    VoxelLeaves leaves(all);
    for (std::size_t v = begin; v < end; ++v) {
      out.g[v] = out.beam_g[v] = out.error.scatter[v] = 0;
      if (rows.first[v] == rows.first[v + 1]) continue;
      for (std::size_t n = rows.first[v]; n < rows.first[v + 1]; ++n) leaves.add(seen[rows.rows[n]]);
      const Sums one = leaves.take();
      of_block[begin / kVoxelGrain] += one;
      out.g[v] = std::min(1.0, out.uniform_azimuths ? one.projected / one.beams : one.as_seen / one.area);
      out.beam_g[v] = std::min(1.0, all.greatest * one.projected / one.of_all);
      out.error.scatter[v] = out.uniform_azimuths ? one.scatter : one.scatter_as_seen();
    }
  });
  Sums sum;
  for (const Sums& block : of_block) sum += block;
  const double projected = out.uniform_azimuths ? sum.projected : sum.as_seen;
  const double whole = out.uniform_azimuths ? sum.beams : sum.area;
  if (out.uniform_azimuths) {
    out.error.of_all = all.inclinations.seen().scatter(sum.by_class, kBetaWeight);
    out.error.bias = std::hypot(kLeastBias, kBiasOfSupposed * all.inclinations.supposed(sum.by_class));
    out.error.spread = spread_of(all.inclinations.shares(), sum.by_class);
  } else {
    out.error.of_all = sum.scatter_as_seen();
    out.error.bias = kLeastBias;
  }
  if (whole > 0) out.mean_g = std::min(1.0, projected / whole);
  if (projected > 0) out.hit_cosine = (out.uniform_azimuths ? sum.squared : sum.as_seen_squared) / projected;
  return out;
}

}  // namespace pc
