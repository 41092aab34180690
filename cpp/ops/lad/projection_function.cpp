#include "ops/lad/projection_function.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "core/error.h"
#include "core/memory.h"
#include "core/parallel.h"

namespace pc {

namespace {

constexpr std::size_t kMidpoints = 2048;
constexpr double kPi = std::numbers::pi;
constexpr double kNoBeamZenith = 57.3 * kPi / 180;
constexpr double kLeastG = 1e-4;

double density_at(const LeafAngleDensity& density, double t) {
  switch (density.law) {
    case LeafAngleLaw::kSpherical:
      return std::sin(t);
    case LeafAngleLaw::kPlanophile:
      return 1 + std::cos(2 * t);
    case LeafAngleLaw::kErectophile:
      return 1 - std::cos(2 * t);
    case LeafAngleLaw::kPlagiophile:
      return 1 - std::cos(4 * t);
    case LeafAngleLaw::kExtremophile:
      return 1 + std::cos(4 * t);
    case LeafAngleLaw::kUniform:
      return 1;
    case LeafAngleLaw::kEllipsoidal: {
      const double c = std::cos(t), s = density.chi * std::sin(t);
      return std::sin(t) / ((c * c + s * s) * (c * c + s * s));
    }
    case LeafAngleLaw::kBeta: {
      const double b = 2 * t / kPi;
      return std::pow(1 - b, density.beta_mu - 1) * std::pow(b, density.beta_nu - 1);
    }
  }
  return 0;
}

double middle_of_bin(std::size_t bin, std::size_t bins) {
  return (static_cast<double>(bin) + 0.5) * (kPi / 2) / static_cast<double>(bins);
}

double midpoint(std::size_t i) { return (static_cast<double>(i) + 0.5) * (kPi / 2) / kMidpoints; }

/// Weights of the midpoints, their sum is 1.
std::vector<double> weights_of(const LeafAngleDensity& density) {
  const auto positive = [](double v) { return std::isfinite(v) && v > 0; };
  require(density.law != LeafAngleLaw::kBeta || (positive(density.beta_mu) && positive(density.beta_nu)),
          "beta_mu and beta_nu must be finite and positive");
  require(density.law != LeafAngleLaw::kEllipsoidal || positive(density.chi),
          "chi must be finite and positive");
  std::vector<double> weights(kMidpoints);
  double sum = 0;
  for (std::size_t i = 0; i < kMidpoints; ++i) sum += weights[i] = density_at(density, midpoint(i));
  require(sum > 0 && std::isfinite(sum), "beta_mu and beta_nu leave no density");
  for (double& w : weights) w /= sum;
  return weights;
}

/// Projection of a leaf of inclination t, averaged over its azimuths, along a direction of zenith th.
double projection(double cos_th, double sin_th, double t) {
  const double cosines = cos_th * std::cos(t), sines = sin_th * std::sin(t);
  if (sines <= std::abs(cosines)) return std::abs(cosines);
  const double psi = std::acos(std::clamp(cosines / sines, -1.0, 1.0));
  // cos th cos t (1 + 2 (tan psi - psi) / pi) with cos th cos t tan psi = sin th sin t sin psi: finite at th = 90.
  return cosines * (1 - 2 * psi / kPi) + 2 / kPi * sines * std::sin(psi);
}

double mean_projection(const LeafAngleDensity& density, const std::vector<double>& weights, double zenith) {
  if (density.law == LeafAngleLaw::kSpherical) return 0.5;
  const double cos_th = std::abs(std::cos(zenith)), sin_th = std::abs(std::sin(zenith));
  double sum = 0;
  for (std::size_t i = 0; i < kMidpoints; ++i) sum += weights[i] * projection(cos_th, sin_th, midpoint(i));
  return sum;
}

}  // namespace

std::vector<double> leaf_projection(const LeafAngleDensity& density, const std::vector<double>& zeniths,
                                    OpContext& ctx) {
  const std::vector<double> weights = weights_of(density);
  std::vector<double> g(zeniths.size());
  ctx.begin_phase("Projecting leaves", zeniths.size());
  parallel_for(ctx, zeniths.size(), 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) g[i] = mean_projection(density, weights, zeniths[i]);
  });
  return g;
}

std::vector<double> leaf_projection_bins(const LeafAngleDensity& density, std::size_t bins, OpContext& ctx) {
  std::vector<double> zeniths(bins);
  for (std::size_t bin = 0; bin < bins; ++bin) zeniths[bin] = middle_of_bin(bin, bins);
  std::vector<double> g = leaf_projection(density, zeniths, ctx);
  for (double& one : g) one = std::clamp(one, kLeastG, 1.0);
  return g;
}

namespace {

/// Angles to the vertical and the number of beams at each.
struct BeamZeniths {
  std::vector<double> zeniths, counts;
};

BeamZeniths zeniths_of(Span<const double> zenith_count) {
  require(!zenith_count.empty(), "the counts of zenith angles are empty");
  BeamZeniths out;
  for (std::size_t bin = 0; bin < zenith_count.size; ++bin) {
    if (!(zenith_count[bin] > 0)) continue;
    out.zeniths.push_back(middle_of_bin(bin, zenith_count.size));
    out.counts.push_back(zenith_count[bin]);
  }
  if (out.zeniths.empty()) out = {{kNoBeamZenith}, {1}};
  return out;
}

double mean_projection_over(const LeafAngleDensity& density, const BeamZeniths& beams, OpContext& ctx) {
  const std::vector<double> g = leaf_projection(density, beams.zeniths, ctx);
  double sum = 0, count = 0;
  for (std::size_t i = 0; i < g.size(); ++i) sum += beams.counts[i] * g[i], count += beams.counts[i];
  return std::clamp(sum / count, kLeastG, 1.0);
}

constexpr std::size_t kFitBins = 90;
constexpr int kFitSteps = 60, kFitHalvings = 30;
const double kMostLogChi = std::log(20.0);

LeafAngleDensity ellipsoidal(double log_chi) { return {LeafAngleLaw::kEllipsoidal, 1, 1, std::exp(log_chi)}; }

}  // namespace

double mean_leaf_projection(const LeafAngleDensity& density, Span<const double> zenith_count,
                            OpContext& ctx) {
  return mean_projection_over(density, zeniths_of(zenith_count), ctx);
}

double mean_hit_cosine(const LeafAngleDensity& density, Span<const double> zenith_count, OpContext& ctx) {
  const BeamZeniths beams = zeniths_of(zenith_count);
  const std::vector<double> weights = weights_of(density);
  double squared = 0, count = 0;
  for (std::size_t n = 0; n < beams.zeniths.size(); ++n) {
    for (std::size_t i = 0; i < kMidpoints; ++i)
      squared +=
          beams.counts[n] * weights[i] * mean_azimuth_projection_squared(beams.zeniths[n], midpoint(i));
    count += beams.counts[n];
    ctx.checkpoint();
  }
  return std::clamp(squared / count / mean_projection_over(density, beams, ctx), kLeastG, 1.0);
}

FittedDensity ellipsoidal_law_of(double g, Span<const double> zenith_count, OpContext& ctx) {
  require(g > 0 && g <= 1, "G must be above 0 and at most 1");
  require(!zenith_count.empty(), "the counts of zenith angles are empty");
  std::vector<double> coarse(std::min(kFitBins, zenith_count.size), 0);
  for (std::size_t bin = 0; bin < zenith_count.size; ++bin)
    coarse[bin * coarse.size() / zenith_count.size] += zenith_count[bin];
  const BeamZeniths beams = zeniths_of({coarse.data(), coarse.size()});
  const auto excess = [&](double log_chi) {
    return mean_projection_over(ellipsoidal(log_chi), beams, ctx) - g;
  };
  // Outwards from the spherical law, flatter and steeper leaves by turns.
  const double step = kMostLogChi / kFitSteps;
  double at[2] = {0, 0}, value[2] = {excess(0), 0}, best = 0, least = std::abs(value[0]);
  value[1] = value[0];
  for (int k = 1; k <= kFitSteps; ++k) {
    for (const int side : {0, 1}) {
      const double next = (side == 0 ? 1 : -1) * k * step, found = excess(next);
      if (std::abs(found) < least) best = next, least = std::abs(found);
      if ((found > 0) != (value[side] > 0)) {
        double low = at[side], high = next;
        for (int h = 0; h < kFitHalvings; ++h) {
          const double middle = (low + high) / 2;
          ((excess(middle) > 0) == (value[side] > 0) ? low : high) = middle;
        }
        return {ellipsoidal(low), excess(low) + g};
      }
      at[side] = next, value[side] = found;
    }
  }
  return {ellipsoidal(best), excess(best) + g};
}

namespace {

/// A triangle's part of the two sums of its voxel.
struct ProjectedArea {
  double projected, whole, squared;
};

ProjectedArea projected_area(const LeafTriangles& mesh, const std::uint32_t* corners, std::uint32_t scan) {
  const Vec3d &a = mesh.vertices[corners[0]], &b = mesh.vertices[corners[1]], &c = mesh.vertices[corners[2]];
  const Vec3d normal = cross(b - a, c - a), along = a - mesh.origins[scan];
  const double area = 0.5 * std::sqrt(dot(normal, normal)), range = std::sqrt(dot(along, along));
  if (!(area > 0) || !(range > 0) || !std::isfinite(area) || !std::isfinite(range)) return {0, 0, 0};
  const double sine = std::sqrt(along.x * along.x + along.y * along.y) / range;
  const double projected = 0.5 * std::abs(dot(normal, along)) / range;
  return {projected * sine, area * sine, projected * projected / area * sine};
}

}  // namespace

double mean_azimuth_projection_squared(double zenith, double inclination) {
  const double cosines = std::cos(zenith) * std::cos(inclination);
  const double sines = std::sin(zenith) * std::sin(inclination);
  return cosines * cosines + sines * sines / 2;
}

double mean_azimuth_projection(double zenith, double inclination) {
  return projection(std::abs(std::cos(zenith)), std::abs(std::sin(zenith)), inclination);
}

void check_leaf_triangles(const LeafTriangles& mesh) {
  require(mesh.indices.size % 3 == 0, "indices must be three per triangle");
  require(mesh.scan_ids.size == mesh.indices.size / 3, "mesh_scan_ids must have a value per triangle");
  for (const std::uint32_t vertex : mesh.indices)
    require(vertex < mesh.vertices.size, "a triangle has a corner beyond the vertices");
  for (const std::uint32_t scan : mesh.scan_ids)
    require(scan < mesh.origins.size, "mesh_scan_ids has the number of a scan that does not exist");
}

Column<std::uint32_t> scan_ids_of_list(Span<const double> values, std::size_t scan_count, OpContext& ctx) {
  Column<std::uint32_t> ids(values.size);
  parallel_for(ctx, values.size, std::size_t{1} << 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const double id = values[i];
      if (!(id >= 0 && id < static_cast<double>(scan_count) && id == std::floor(id))) {
        throw Error(ErrorCode::kInvalidArgument, "mesh_scan_ids[" + std::to_string(i) +
                                                     "] is not the number of one of the " +
                                                     std::to_string(scan_count) + " scans");
      }
      ids[i] = static_cast<std::uint32_t>(id);
    }
  });
  return ids;
}

VoxelProjection voxel_projection(const LeafTriangles& triangles, const VoxelBox& grid, OpContext& ctx) {
  check_leaf_triangles(triangles);
  const BinnedCells cells = bin_cells(triangles.vertices, triangles.indices, grid, ctx);
  const std::size_t count = triangles.scan_ids.size;
  BulkVector<ProjectedArea> areas(count);
  parallel_for(ctx, count, std::size_t{1} << 14, [&](std::size_t begin, std::size_t end) {
    for (std::size_t t = begin; t < end; ++t) {
      if (cells.cell_ids[t] != kNoCell)
        areas[t] = projected_area(triangles, triangles.indices.data + 3 * t, triangles.scan_ids[t]);
    }
  });
  VoxelProjection out{Column<double>(cells.cell_count), 0};
  double projected = 0, squared = 0, all = 0;
  Column<double> whole(cells.cell_count);
  for (std::size_t t = 0; t < count; ++t) {
    if (t % (std::size_t{1} << 16) == 0) ctx.checkpoint();
    if (!(areas[t].whole > 0)) continue;
    out.g[cells.cell_ids[t]] += areas[t].projected;
    whole[cells.cell_ids[t]] += areas[t].whole;
    projected += areas[t].projected;
    squared += areas[t].squared;
    all += areas[t].whole;
    ++out.triangle_count;
  }
  if (projected > 0) out.hit_cosine = std::min(1.0, squared / projected);
  if (all > 0) out.mean_g = std::min(1.0, projected / all);
  parallel_for(ctx, cells.cell_count, std::size_t{1} << 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t v = begin; v < end; ++v)
      out.g[v] = whole[v] > 0 ? std::min(1.0, out.g[v] / whole[v]) : 0;
  });
  return out;
}

}  // namespace pc
