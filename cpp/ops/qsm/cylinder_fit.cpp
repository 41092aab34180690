#include "ops/qsm/cylinder_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/symmetric_eigen.h"
#include "ops/qsm/longest_arc.h"

namespace pc {

namespace {

constexpr std::size_t kFewestPoints = 6;
constexpr double kElongated = 3;  // first over second principal variance
constexpr double kHuber = 1.345, kMadToSigma = 1.4826;
constexpr double kSettled = 1e-4;
constexpr int kMostRounds = 50;
constexpr double kPi = 3.14159265358979323846;
constexpr double kLeastRadius = 0.001;
constexpr double kCell = 0.03;
constexpr int kLeastRings = 3, kMostRings = 4096, kLeastSectors = 8, kMostSectors = 36;
constexpr double kBand = 0.2;
constexpr double kRunaway = 4, kRunawaySurface = 0.3, kRunawayMad = 0.25, kRunawayAngle = 0.5;
constexpr std::uint32_t kRunawayPoints = 8;
constexpr double kLeastCos = 0.7071;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

using Row = std::array<double, 5>;
using Matrix = std::array<Row, 5>;

/// Position (across the seed's axis), tilt and radius, in the seed's frame.
struct Parameters {
  double x, y, alpha, beta, radius;
};

/// An orthonormal frame with w along an axis.
struct Frame {
  Vec3d origin, u, v, w;
  Vec3d to(const Vec3d& p) const {
    const Vec3d d = p - origin;
    return {dot(d, u), dot(d, v), dot(d, w)};
  }
  Vec3d turn_back(const Vec3d& q) const { return u * q.x + v * q.y + w * q.z; }
};

double norm(const Vec3d& v) { return std::sqrt(dot(v, v)); }

Frame frame_along(const Vec3d& origin, const Vec3d& axis) {
  const double ax = std::fabs(axis.x), ay = std::fabs(axis.y), az = std::fabs(axis.z);
  const Vec3d helper = ax <= ay && ax <= az ? Vec3d{1, 0, 0} : ay <= az ? Vec3d{0, 1, 0} : Vec3d{0, 0, 1};
  const Vec3d across = cross(axis, helper);
  const Vec3d u = across * (1 / norm(across));
  return {origin, u, cross(axis, u), axis};
}

/// Unit axis of the seed, or of the points where they are long; points along it.
Vec3d seed_axis(Span<const Vec3d> points, const CylinderSeed& seed) {
  const Vec3d edge = seed.end - seed.start;
  const double length = norm(edge);
  const Vec3d along = length > 0 ? edge * (1 / length) : Vec3d{0, 0, 1};
  Vec3d mean{0, 0, 0};
  for (const Vec3d& p : points) mean = mean + (p - seed.start);
  mean = mean * (1.0 / static_cast<double>(points.size));
  Symmetric3 c{0, 0, 0, 0, 0, 0};
  for (const Vec3d& p : points) {
    const Vec3d d = p - seed.start - mean;
    c.add_square(d);
  }
  const SymmetricEigen3 eigen = symmetric_eigen(c);
  if (!(eigen.value[2] > kElongated * eigen.value[1])) return along;
  if (!(std::fabs(dot(eigen.vector[2], along)) > kLeastCos)) return along;
  return dot(eigen.vector[2], along) < 0 ? eigen.vector[2] * -1.0 : eigen.vector[2];
}

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The inverse and the reciprocal condition (1-norm); false if it is singular.
bool invert(const Matrix& in, Matrix& inverse, double& rcond) {
  Matrix a = in;
  inverse = {};
  for (std::size_t i = 0; i < 5; ++i) inverse[i][i] = 1;
  for (std::size_t col = 0; col < 5; ++col) {
    std::size_t pivot = col;
    for (std::size_t r = col + 1; r < 5; ++r)
      if (std::fabs(a[r][col]) > std::fabs(a[pivot][col])) pivot = r;
    if (!(std::fabs(a[pivot][col]) > 0)) return false;
    std::swap(a[col], a[pivot]);
    std::swap(inverse[col], inverse[pivot]);
    const double scale = 1 / a[col][col];
    for (std::size_t k = 0; k < 5; ++k) {
      a[col][k] *= scale;
      inverse[col][k] *= scale;
    }
    for (std::size_t r = 0; r < 5; ++r) {
      if (r == col) continue;
      const double factor = a[r][col];
      for (std::size_t k = 0; k < 5; ++k) {
        a[r][k] -= factor * a[col][k];
        inverse[r][k] -= factor * inverse[col][k];
      }
    }
  }
  double norm_in = 0, norm_inverse = 0;
  for (std::size_t k = 0; k < 5; ++k) {
    double in_sum = 0, inverse_sum = 0;
    for (std::size_t r = 0; r < 5; ++r) {
      in_sum += std::fabs(in[r][k]);
      inverse_sum += std::fabs(inverse[r][k]);
    }
    norm_in = std::max(norm_in, in_sum);
    norm_inverse = std::max(norm_inverse, inverse_sum);
  }
  rcond = 1 / (norm_in * norm_inverse);
  return std::isfinite(rcond);
}

/// Sines and cosines of a tilt.
struct Tilt {
  double sa, ca, sb, cb;
  explicit Tilt(const Parameters& p)
      : sa(std::sin(p.alpha)), ca(std::cos(p.alpha)), sb(std::sin(p.beta)), cb(std::cos(p.beta)) {}
};

/// Residual of a point and its derivatives.
double residual(const Parameters& p, const Tilt& tilt, const Vec3d& at, Row& d) {
  const auto& [sa, ca, sb, cb] = tilt;
  const double x = at.x - p.x, y = at.y - p.y;
  const double qy = ca * y - sa * at.z, z1 = sa * y + ca * at.z;
  const double qx = cb * x + sb * z1, qz = -sb * x + cb * z1;
  const double distance = std::max(std::sqrt(qx * qx + qy * qy), 1e-12);
  d = {-qx * cb / distance, (-qx * sb * sa - qy * ca) / distance, (qx * sb * qy - qy * z1) / distance,
       qx * qz / distance, -1};
  return distance - p.radius;
}

/// One robust step at the parameters.
struct Normal {
  Matrix matrix{};
  Row gradient{};
  double weighted = 0;  ///< sqrt of the sum of (w e)^2
  double scale = 0;     ///< robust standard deviation of the residuals
  double weights = 0;   ///< their sum

  Normal(const std::vector<Vec3d>& points, const Parameters& p, std::vector<double>& e,
         std::vector<double>& sorted) {
    Row d;
    const Tilt tilt(p);
    for (std::size_t i = 0; i < points.size(); ++i) e[i] = residual(p, tilt, points[i], d);
    scale = scale_of(e, sorted);
    for (std::size_t i = 0; i < points.size(); ++i) {
      residual(p, tilt, points[i], d);
      const double size = std::fabs(e[i]);
      const double w = size > kHuber * scale ? kHuber * scale / size : 1;
      for (std::size_t r = 0; r < 5; ++r) {
        gradient[r] += w * d[r] * e[i];
        for (std::size_t c = 0; c < 5; ++c) matrix[r][c] += w * d[r] * d[c];
      }
      weighted += w * e[i] * w * e[i];
      weights += w;
    }
    weighted = std::sqrt(weighted);
  }

  static double scale_of(const std::vector<double>& e, std::vector<double>& sorted) {
    sorted = e;
    const double center = median(sorted);
    for (std::size_t i = 0; i < e.size(); ++i) sorted[i] = std::fabs(e[i] - center);
    const double robust = kMadToSigma * median(sorted);
    if (robust > 0) return robust;
    double mean = 0, square = 0;
    for (const double value : e) mean += value / static_cast<double>(e.size());
    for (const double value : e) square += (value - mean) * (value - mean);
    return std::sqrt(square / static_cast<double>(e.size()));
  }
};

/// Cells of kCell along an extent of any size.
int cell_count(double extent, int least, int most) {
  return static_cast<int>(std::fmin(std::fmax(std::ceil(extent / kCell), least), most));
}

/// What a cylinder covers of its own surface.
struct Coverage {
  double surface = 0, angular = 0, arc = 0;
  std::uint32_t points = 0;
  std::uint32_t cells = 0;  ///< occupied
};

Coverage coverage_of(const std::vector<Vec3d>& points, const Vec3d& start, const Vec3d& end, double radius) {
  const Vec3d edge = end - start;
  const double length = norm(edge);
  if (!(length > 0)) return {};
  const Frame frame = frame_along(start, edge * (1 / length));
  const int rings = cell_count(length, kLeastRings, kMostRings);
  const int sectors = cell_count(2 * kPi * radius, kLeastSectors, kMostSectors);
  std::vector<std::uint8_t> seen(static_cast<std::size_t>(rings) * static_cast<std::size_t>(sectors), 0);
  Sectors angles;
  Coverage out;
  for (const Vec3d& p : points) {
    const Vec3d q = frame.to(p);
    const double away = std::sqrt(q.x * q.x + q.y * q.y);
    if (!(q.z >= 0 && q.z <= length && away >= (1 - kBand) * radius && away <= (1 + kBand) * radius))
      continue;
    ++out.points;
    const double turn = std::atan2(q.y, q.x) / (2 * kPi) + 0.5;
    const int ring = std::min(rings - 1, static_cast<int>(q.z / length * rings));
    const int sector = std::min(sectors - 1, static_cast<int>(turn * sectors));
    seen[static_cast<std::size_t>(ring * sectors + sector)] = 1;
    angles.set(static_cast<std::size_t>(std::min(35, static_cast<int>(turn * 36))));
  }
  out.cells = static_cast<std::uint32_t>(std::count(seen.begin(), seen.end(), 1));
  out.surface = static_cast<double>(out.cells) / static_cast<double>(seen.size());
  out.angular = static_cast<double>(angles.count()) / 36.0;
  out.arc = longest_arc(angles, out.points);
  return out;
}

/// The state of one fit.
struct Fit {
  std::vector<Vec3d> local;  ///< in the frame
  Frame frame;
  Parameters at;
  double scale = 0, mad = 0, variance = 0;  ///< of the radius, without what neighbours share

  bool solve(double max_radius) {
    std::vector<double> e(local.size()), sorted(local.size());
    double last = std::numeric_limits<double>::infinity();
    Matrix inverse;
    for (int round = 0; round < kMostRounds; ++round) {
      const Normal normal(local, at, e, sorted);
      double rcond = 0;
      if (!invert(normal.matrix, inverse, rcond)) return false;
      if (rcond < 1e4 * std::numeric_limits<double>::epsilon()) return false;
      Row step{};
      for (std::size_t r = 0; r < 5; ++r)
        for (std::size_t c = 0; c < 5; ++c) step[r] -= inverse[r][c] * normal.gradient[c];
      at = {at.x + step[0], at.y + step[1], at.alpha + step[2], at.beta + step[3],
            std::clamp(at.radius + step[4], kLeastRadius, max_radius)};
      if (!std::isfinite(at.x + at.y + at.alpha + at.beta + at.radius)) return false;
      const double change = std::fabs(last - normal.weighted);
      last = normal.weighted;
      if (change < kSettled) break;
    }
    const Normal normal(local, at, e, sorted);
    double rcond = 0;
    if (!invert(normal.matrix, inverse, rcond)) return false;
    scale = normal.scale;
    for (const double value : e) mad += std::fabs(value) / static_cast<double>(e.size());
    const double freedom = std::max(1.0, normal.weights - 5);
    variance = normal.weighted * normal.weighted / freedom * inverse[4][4];
    return true;
  }

  /// The line that a search starts from: the seed's, or, as a seed may lie beside a thin cylinder, through the middle of
  /// the points.
  enum class Start : std::uint8_t { kSeed, kMiddle };

  CylinderFitState run(const CylinderSeed& seed, Start start) {
    Vec3d from{0, 0, 0};
    if (start == Start::kMiddle) {
      for (const Vec3d& q : local) from = from + q * (1.0 / static_cast<double>(local.size()));
    }
    std::vector<double> away;
    for (const Vec3d& q : local) away.push_back(std::hypot(q.x - from.x, q.y - from.y));
    at = {from.x, from.y, 0, 0, std::clamp(median(away), kLeastRadius, seed.max_radius_m)};
    mad = 0;
    if (!solve(seed.max_radius_m)) return CylinderFitState::kSingular;
    const double reach = 2 * std::sqrt(squared_distance(seed.start, seed.end)) + 0.10;
    const auto [base, tip] = ends(seed);
    const bool near = squared_distance(base, seed.start) <= reach * reach &&
                      squared_distance(tip, seed.end) <= reach * reach;
    const Vec3d edge = seed.end - seed.start;
    const bool turned = dot(axis(), edge) < kLeastCos * norm(edge);
    return near && !turned ? CylinderFitState::kFitted : CylinderFitState::kDiverged;
  }

  /// Those of the seed, projected to the axis.
  std::pair<Vec3d, Vec3d> ends(const CylinderSeed& seed) const {
    const Vec3d along = axis(), base = on_axis();
    return {base + along * dot(seed.start - base, along), base + along * dot(seed.end - base, along)};
  }

  Vec3d axis() const {
    const double cb = std::cos(at.beta);
    return frame.turn_back({-std::sin(at.beta), std::sin(at.alpha) * cb, std::cos(at.alpha) * cb});
  }
  Vec3d on_axis() const { return frame.origin + frame.turn_back({at.x, at.y, 0}); }
};

FittedCylinder unfitted(CylinderFitState state, const std::vector<Vec3d>& points, const CylinderSeed& seed) {
  const Coverage seen = coverage_of(points, seed.start, seed.end, seed.radius_m);
  return {state,    seed.start, seed.end, seed.radius_m, seen.surface, seen.angular,
          seen.arc, kNaN,       kNaN,     kNaN,          seen.points};
}

}  // namespace

FittedCylinder fit_cylinder(Span<const Vec3d> points, const CylinderSeed& seed) {
  std::vector<Vec3d> finite;
  for (const Vec3d& p : points)
    if (is_finite(p)) finite.push_back(p);
  if (finite.size() < kFewestPoints) return unfitted(CylinderFitState::kFewPoints, finite, seed);
  Fit fit{{}, frame_along(seed.start, seed_axis({finite.data(), finite.size()}, seed)), {0, 0, 0, 0, 0}};
  for (const Vec3d& p : finite) fit.local.push_back(fit.frame.to(p));
  CylinderFitState state = fit.run(seed, Fit::Start::kSeed);
  if (state != CylinderFitState::kFitted) state = fit.run(seed, Fit::Start::kMiddle);
  if (state != CylinderFitState::kFitted) return unfitted(state, finite, seed);
  const auto [start, end] = fit.ends(seed);
  const double radius = fit.at.radius;
  const Coverage seen = coverage_of(finite, start, end, radius);
  const bool one_sided =
      seen.surface < kRunawaySurface && (fit.mad > kRunawayMad * radius || seen.angular < kRunawayAngle);
  if (radius > kRunaway * seed.radius_m && (one_sided || seen.points < kRunawayPoints))
    return unfitted(CylinderFitState::kRunaway, finite, seed);
  const double shared = static_cast<double>(finite.size()) / std::max(6.0, static_cast<double>(seen.cells));
  const double bias = fit.scale * fit.scale / (2 * radius);
  const double se = std::sqrt(fit.variance * std::max(1.0, shared) + bias * bias);
  return {CylinderFitState::kFitted,
          start,
          end,
          radius,
          seen.surface,
          seen.angular,
          seen.arc,
          fit.mad,
          se,
          fit.scale,
          seen.points};
}

}  // namespace pc
