#include "ops/trees/stem_girth.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/linear_solve.h"
#include "core/nth_smallest.h"

namespace pc {

namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr std::size_t kSectors = 36;
constexpr double kCellLength = 0.10;
constexpr double kRoom = 0.10;  // of the radius: an ellipse of 1.15 leaves its circle by .075
constexpr std::size_t kLeastCells = 6;
constexpr int kRounds = 4, kSteps = 4;
constexpr double kTaper = -0.005, kTaperSpread = 0.0075, kSlopeSpread = 0.05;  // radius per metre
constexpr double kTukey = 4.685, kLeastScatter = 1e-4;
constexpr double kNoEllipse = 1e-12;      // square metres
constexpr double kLeastEllipseArc = 0.6;  // below, the ellipse would only fit the bark
constexpr double kFewPoints = 2;          // points after which the mean of a cell has half its weight
constexpr double kOutlierDistances = 2;
constexpr double kMostRatio = 2;  // of the radius and that of the start

// Length of stem to each side.
constexpr double kSeenWell = 0.75, kSeenHalf = 0.5, kShortStretch = 0.15, kMiddleStretch = 0.4,
                 kLongStretch = 1.6;

struct Section {
  double axial_m, half_length_m;
  const CircleFitParams& circle;
};

enum Parameter : std::size_t { kX, kY, kSlopeX, kSlopeY, kRadius, kTaperOf, kCos, kSin, kParameters };
using Values = std::array<double, kParameters>;

/// The mean place of the points of a sector of the surface, and their number.
struct SurfaceCell {
  std::size_t sector;
  std::int64_t level;
  double x = 0, y = 0, s = 0, count = 0;
  double weight = 1, residual = 0, distance = 0;
};

struct Place {
  double distance, c, s;  ///< from the axis; direction
};

Place place_of(const SurfaceCell& cell, const Values& v) {
  const double x = cell.x - v[kX] - v[kSlopeX] * cell.s, y = cell.y - v[kY] - v[kSlopeY] * cell.s;
  const double d = std::sqrt(x * x + y * y);
  return d > 0 ? Place{d, x / d, y / d} : Place{0, 1, 0};
}

/// Distance of the surface from the axis where the cell lies.
double expected(const SurfaceCell& cell, const Place& at, const Values& v) {
  return v[kRadius] + v[kTaperOf] * cell.s + v[kCos] * (at.c * at.c - at.s * at.s) +
         v[kSin] * 2 * at.c * at.s;
}

std::vector<SurfaceCell> cells_of(Span<const Vec3d> points, const Values& v, double tolerance,
                                  const Section& section) {
  std::map<std::pair<std::int64_t, std::size_t>, SurfaceCell> cells;
  for (const Vec3d& p : points) {
    const SurfaceCell single{0, 0, p.x, p.y, p.z - section.axial_m, 1};
    const Place at = place_of(single, v);
    if (std::abs(at.distance - expected(single, at, v)) > tolerance) continue;
    const double turn = std::atan2(at.s, at.c) / (2 * kPi);
    const auto sector =
        std::min(kSectors - 1, static_cast<std::size_t>((turn - std::floor(turn)) * kSectors));
    const auto level = static_cast<std::int64_t>(std::floor(single.s / kCellLength + 0.5));
    SurfaceCell& cell = cells[{level, sector}];
    cell.sector = sector;
    cell.level = level;
    cell.x += single.x;
    cell.y += single.y;
    cell.s += single.s;
    cell.count += 1;
    cell.distance += at.distance;
  }
  std::vector<SurfaceCell> out;
  for (auto& [key, cell] : cells) {
    cell.x /= cell.count;
    cell.y /= cell.count;
    cell.s /= cell.count;
    // The mean of an arc lies within the circle: it is moved to the mean distance.
    const double x = v[kX] + v[kSlopeX] * cell.s, y = v[kY] + v[kSlopeY] * cell.s;
    const double mean = place_of(cell, v).distance;
    if (mean > 0) {
      const double outwards = cell.distance / cell.count / mean;
      cell.x = x + (cell.x - x) * outwards;
      cell.y = y + (cell.y - y) * outwards;
    }
    out.push_back(cell);
  }
  return out;
}

/// Normal equations of the cells, and of the priors in units of the cells' variance.
struct System {
  std::array<double, kParameters * kParameters> matrix{};
  Values right{};
};

System system_at(const std::vector<SurfaceCell>& cells, const Values& v, const Values& prior,
                 double variance) {
  System out;
  for (const SurfaceCell& cell : cells) {
    const Place at = place_of(cell, v);
    const double c2 = at.c * at.c - at.s * at.s, s2 = 2 * at.c * at.s;
    const Values row{-at.c, -at.s, -at.c * cell.s, -at.s * cell.s, -1, -cell.s, -c2, -s2};
    const double residual = at.distance - expected(cell, at, v);
    for (std::size_t i = 0; i < kParameters; ++i) {
      for (std::size_t j = 0; j < kParameters; ++j)
        out.matrix[kParameters * i + j] += cell.weight * row[i] * row[j];
      out.right[i] -= cell.weight * row[i] * residual;
    }
  }
  const Values mean{0, 0, 0, 0, 0, kTaper, 0, 0};
  for (std::size_t i = 0; i < kParameters; ++i) {
    if (!(prior[i] > 0)) continue;
    out.matrix[(kParameters + 1) * i] += variance / prior[i];
    out.right[i] += variance / prior[i] * (mean[i] - v[i]);
  }
  return out;
}

/// Residuals and weights for the next step; returns the scatter of a cell.
double reweigh(std::vector<SurfaceCell>& cells, const Values& v) {
  std::vector<double> sizes;
  for (SurfaceCell& cell : cells) {
    const Place at = place_of(cell, v);
    cell.residual = at.distance - expected(cell, at, v);
    sizes.push_back(std::abs(cell.residual));
  }
  const double scale = std::max(kLeastScatter, 1.4826 * upper_median(sizes));
  double squares = 0, weights = 0;
  for (SurfaceCell& cell : cells) {
    const double u = cell.residual / (kTukey * scale);
    const double tukey = std::abs(u) < 1 ? (1 - u * u) * (1 - u * u) : 0;
    cell.weight = tukey * cell.count / (cell.count + kFewPoints);
    if (!(tukey > 0)) continue;
    const double plain = cell.count / (cell.count + kFewPoints);  // Tukey's weights would shrink the scatter
    squares += plain * cell.residual * cell.residual;
    weights += plain;
  }
  const double cells_left = std::max(1.0, static_cast<double>(cells.size()) - 5);
  return std::max(kLeastScatter * kLeastScatter,
                  squares / std::max(weights, 1.0) * static_cast<double>(cells.size()) / cells_left);
}

/// How many cells scatter as one: from the correlation of neighbours along the stem and around it.
double shared_scatter(const std::vector<SurfaceCell>& cells) {
  double own = 0, along = 0, around = 0, count = 0, along_count = 0, around_count = 0;
  std::map<std::pair<std::int64_t, std::size_t>, double> residuals;
  for (const SurfaceCell& cell : cells) {
    if (!(cell.weight > 0)) continue;
    residuals[{cell.level, cell.sector}] = cell.residual;
    own += cell.residual * cell.residual;
    count += 1;
  }
  if (!(own > 0)) return 1;
  for (const auto& [key, residual] : residuals) {
    const auto above = residuals.find({key.first + 1, key.second});
    if (above != residuals.end()) {
      along += residual * above->second;
      along_count += 1;
    }
    const auto next = residuals.find({key.first, (key.second + 1) % kSectors});
    if (next != residuals.end()) {
      around += residual * next->second;
      around_count += 1;
    }
  }
  const auto inflation = [&](double products, double pairs) {
    constexpr double kLeastPairs = 8, kMostCorrelation = 0.8;
    if (pairs < kLeastPairs) return 1.0;
    const double correlation = std::clamp(products / pairs / (own / count), 0.0, kMostCorrelation);
    return (1 + correlation) / (1 - correlation);
  };
  return inflation(along, along_count) * inflation(around, around_count);
}

std::optional<std::vector<double>> solve(const System& system, const Values& right) {
  return solve_positive_definite({{system.matrix.data(), system.matrix.size()}, kParameters, kParameters},
                                 {right.data(), right.size()});
}

/// Share of the sectors with cells.
double arc_of(const std::vector<SurfaceCell>& cells) {
  std::array<bool, kSectors> seen{};
  for (const SurfaceCell& cell : cells) seen[cell.sector] = true;
  return static_cast<double>(std::count(seen.begin(), seen.end(), true)) / kSectors;
}

/// Variance of the radius of a circle for a variance of 1 of the two coefficients of the ellipse it leaves out. column:
/// that of the radius in the inverse of the normal equations.
double ellipse_effect(const std::vector<SurfaceCell>& cells, const Values& v,
                      const std::vector<double>& column) {
  double cosine = 0, sine = 0;
  for (const SurfaceCell& cell : cells) {
    const Place at = place_of(cell, v);
    const double gain =
        cell.weight * (column[kX] * at.c + column[kY] * at.s + column[kSlopeX] * at.c * cell.s +
                       column[kSlopeY] * at.s * cell.s + column[kRadius] + column[kTaperOf] * cell.s);
    cosine += gain * (at.c * at.c - at.s * at.s);
    sine += gain * 2 * at.c * at.s;
  }
  return cosine * cosine + sine * sine;
}

double misfit_of(Span<const Vec3d> points, const Values& v, const Section& section) {
  double sum = 0;
  for (const Vec3d& p : points) {
    const SurfaceCell single{0, 0, p.x, p.y, p.z - section.axial_m, 1};
    const Place at = place_of(single, v);
    const double off = std::min(std::abs(at.distance - expected(single, at, v)),
                                kOutlierDistances * section.circle.inlier_distance_m);
    sum += off * off;
  }
  return sum / static_cast<double>(points.size);
}

std::optional<StemGirth> fit_girth(Span<const Vec3d> points, const PlainCircle& start,
                                   const Section& section) {
  const double tolerance = section.circle.inlier_distance_m + kRoom * start.radius;
  const double ellipse = start.radius * start.radius * section.circle.ellipticity_square / 8;
  const Values prior{0,
                     0,
                     kSlopeSpread * kSlopeSpread,
                     kSlopeSpread * kSlopeSpread,
                     0,
                     kTaperSpread * kTaperSpread,
                     ellipse,
                     ellipse};
  const Values round = [&] {
    Values out = prior;
    out[kCos] = out[kSin] = kNoEllipse;
    return out;
  }();
  Values v{start.center.x, start.center.y, 0, 0, start.radius, kTaper, 0, 0};
  std::vector<SurfaceCell> cells;
  double variance = 0;
  bool is_elliptic = false;
  for (int i = 0; i < kRounds; ++i) {
    cells = cells_of(points, v, tolerance, section);
    if (cells.size() < kLeastCells) return std::nullopt;
    is_elliptic = ellipse > kNoEllipse && arc_of(cells) >= kLeastEllipseArc;
    for (int step = 0; step < kSteps; ++step) {
      variance = reweigh(cells, v);
      const System system = system_at(cells, v, is_elliptic ? prior : round, variance);
      const auto change = solve(system, system.right);
      if (!change) return std::nullopt;
      for (std::size_t i = 0; i < kParameters; ++i) v[i] += (*change)[i];
      if (!(v[kRadius] * kMostRatio >= start.radius && v[kRadius] <= kMostRatio * start.radius))
        return std::nullopt;
    }
  }
  variance = reweigh(cells, v) * shared_scatter(cells);
  const System system = system_at(cells, v, is_elliptic ? prior : round, variance);
  const auto column = solve(system, {0, 0, 0, 0, 1, 0, 0, 0});
  if (!column || !((*column)[kRadius] > 0)) return std::nullopt;
  const double swing = (v[kCos] * v[kCos] + v[kSin] * v[kSin]) / (v[kRadius] * v[kRadius]);
  const double oval = is_elliptic ? 0 : ellipse * ellipse_effect(cells, v, *column);
  return StemGirth{{v[kX], v[kY]},
                   v[kRadius] * (1 + swing),
                   std::sqrt(variance * (*column)[kRadius] + oval),
                   arc_of(cells),
                   misfit_of(points, v, section),
                   std::sqrt(oval),
                   section.half_length_m,
                   std::nullopt};
}

/// The fit with the least misfit from several starts.
std::optional<StemGirth> best_girth(Span<const Vec3d> points, const std::vector<PlainCircle>& starts,
                                    const Section& section) {
  constexpr double kWider = 2;
  std::optional<StemGirth> best;
  const auto consider = [&](const PlainCircle& start) {
    const auto girth = fit_girth(points, start, section);
    if (!girth || girth->radius < section.circle.min_radius_m || girth->radius > section.circle.max_radius_m)
      return;
    if (!best || girth->misfit < best->misfit) best = girth;
  };
  for (const PlainCircle& start : starts) {
    consider(start);
    // Bark on a short arc makes circles too small: one twice as wide that touches the seen side in the same place.
    double x = 0, y = 0;
    for (const Vec3d& p : points) {
      x += p.x - start.center.x;
      y += p.y - start.center.y;
    }
    const double d = std::sqrt(x * x + y * y);
    if (!(d > 0)) continue;
    const double back = (kWider - 1) * start.radius / d;
    consider({{start.center.x - back * x, start.center.y - back * y}, kWider * start.radius});
  }
  return best;
}

/// Of the bark between leaves, if it is clearly smaller.
std::optional<StemGirth> girth_of_bark(const std::vector<Vec3d>& points, const StemGirth& girth,
                                       std::vector<PlainCircle> starts, const Section& section) {
  constexpr double kClear = 0.001, kClearErrors = 2;  // metres
  std::vector<Vec2d> flat;
  for (const Vec3d& p : points) flat.push_back({p.x, p.y});
  starts.push_back({girth.center, girth.radius});
  const auto bark = covered_bark({flat.data(), flat.size()}, starts, section.circle);
  if (!bark) return std::nullopt;
  std::vector<Vec3d> own;
  for (const Vec3d& p : points)
    if (!is_cover({p.x, p.y}, *bark)) own.push_back(p);
  auto out = fit_girth({own.data(), own.size()}, bark->circle, section);
  if (!out || out->radius < section.circle.min_radius_m ||
      girth.radius - out->radius < std::max(kClear, kClearErrors * out->sigma))
    return std::nullopt;
  out->bark = bark;
  return out;
}

}  // namespace

std::optional<StemGirth> measure_stem_girth(const StemStretch& stretch, const PlainCircle& expected,
                                            const PlainCircle& slice, double axial_m,
                                            const CircleFitParams& params) {
  const Section section{axial_m, kLongStretch, params};
  const std::vector<Vec3d> points = stretch(expected, kLongStretch);
  std::vector<Vec2d> flat;
  for (const Vec3d& p : points) flat.push_back({p.x, p.y});
  std::vector<PlainCircle> starts{expected};
  const auto searched = fit_circle({flat.data(), flat.size()}, params);
  if (searched) starts.push_back({searched->center, searched->radius});
  if (const auto plain = taubin_circle({flat.data(), flat.size()})) starts.push_back(*plain);
  const auto girth = best_girth({points.data(), points.size()}, starts, section);
  if (!girth || girth->arc < kSeenHalf) return girth;
  const PlainCircle seen{girth->center, girth->radius};
  const double half = girth->arc >= kSeenWell ? kShortStretch : kMiddleStretch;
  const std::vector<Vec3d> shorter = stretch(seen, half);
  const auto on_shorter = best_girth({shorter.data(), shorter.size()}, {seen}, {axial_m, half, params});
  const StemGirth& best = on_shorter ? *on_shorter : *girth;
  if (half > kShortStretch) return best;
  const auto own = girth_of_bark(shorter, best, {expected, slice}, {axial_m, half, params});
  return own ? own : best;
}

}  // namespace pc
