#include "ops/misses/declared_raster.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 15;
constexpr std::size_t kSample = 50'000;
constexpr double kMostResidual = 0.2;  // steps on each axis; a wrong number of rows or columns gives 0.25
constexpr double kMostOffShare = 0.05;
constexpr std::uint32_t kOff = 0xFFFFFFFF;
constexpr double kTurn = 2 * std::numbers::pi;

/// Place of a direction on a raster.
struct Place {
  double row, column;  ///< not rounded
};

/// A raster under one convention.
class Raster {
 public:
  Raster(const DeclaredScan& scan, const RasterConvention& convention)
      : scan_(scan), drifts_(convention.drifts) {
    const double theta = scan.theta_max_rad - scan.theta_min_rad, phi = scan.phi_max_rad - scan.phi_min_rad;
    theta_step_ = theta / (convention.theta_centred ? scan.rows : scan.rows - 1);
    theta_first_ = scan.theta_min_rad + (convention.theta_centred ? theta_step_ / 2 : 0);
    phi_step_ = phi / (convention.phi_open ? scan.columns : scan.columns - 1);
  }
  double theta_step() const { return theta_step_; }
  double phi_step() const { return phi_step_; }
  double theta(double row) const { return theta_first_ + row * theta_step_; }
  double row_phi(double row) const { return drifts_ ? phi_step_ * row / scan_.rows : 0; }
  double column_phi(double column) const { return scan_.phi_min_rad + column * phi_step_; }

  Place place_of(const Vec3d& from_scanner) const {
    const double x = dot(from_scanner, scan_.right), y = dot(from_scanner, scan_.ahead);
    const double theta = std::atan2(std::sqrt(x * x + y * y), dot(from_scanner, scan_.up));
    const double row = (theta - theta_first_) / theta_step_;
    double phi = std::remainder(std::atan2(x, y) - scan_.phi_min_rad - row_phi(row), kTurn);
    if (phi < -phi_step_ / 2) phi += kTurn;  // columns begin half a step before the first
    return {row, phi / phi_step_};
  }

 private:
  const DeclaredScan& scan_;
  bool drifts_;
  double theta_step_, theta_first_, phi_step_;
};

void check(const DeclaredScan& scan) {
  require(is_finite(scan.origin) && is_finite(scan.right) && is_finite(scan.ahead) && is_finite(scan.up),
          "the position and attitude of the scanner must be finite");
  require(scan.rows >= 2 && scan.columns >= 2, "n_theta and n_phi must be at least 2");
  require(scan.rows < (std::uint64_t{1} << 32) / scan.columns, "n_theta times n_phi must be below 2^32");
  const double theta = scan.theta_max_rad - scan.theta_min_rad, phi = scan.phi_max_rad - scan.phi_min_rad;
  require(theta > 0 && scan.theta_min_rad >= -1e-9 && scan.theta_max_rad <= std::numbers::pi + 1e-9,
          "theta_min must be below theta_max, both from 0 to 180 degrees");
  require(phi > 0 && phi <= kTurn + 1e-9, "phi_min must be below phi_max, at most 360 degrees apart");
}

double median(std::vector<double>& values) {
  if (values.empty()) return std::numeric_limits<double>::infinity();
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The larger one of the median distances of a sample of the points from their nearest rows and columns, in steps.
double median_residual(Span<const Vec3d> positions, const Vec3d& origin, const Raster& raster) {
  std::vector<double> by_row, by_column;
  for (std::size_t i = 0; i < positions.size; i += std::max<std::size_t>(1, positions.size / kSample)) {
    const Vec3d v = positions[i] - origin;
    if (!(dot(v, v) > 0 && std::isfinite(dot(v, v)))) continue;
    const Place at = raster.place_of(v);
    by_row.push_back(std::fabs(at.row - std::round(at.row)));
    by_column.push_back(std::fabs(at.column - std::round(at.column)));
  }
  return std::max(median(by_row), median(by_column));
}

ScanRaster as_scan_raster(const DeclaredScan& scan, const Raster& raster, double residual) {
  ScanRaster out{};
  out.axis = scan.up, out.first = scan.ahead, out.second = scan.right;
  for (std::uint32_t row = 0; row < scan.rows; ++row) {
    out.zenith_rad.push_back(raster.theta(row));
    out.row_azimuth_rad.push_back(raster.row_phi(row));
  }
  for (std::uint32_t column = 0; column < scan.columns; ++column)
    out.azimuth_rad.push_back(raster.column_phi(column));
  out.zenith_step_rad = raster.theta_step(), out.azimuth_step_rad = raster.phi_step();
  out.median_residual = residual;
  out.fitted_rows = scan.rows, out.fitted_columns = scan.columns;
  return out;
}

[[noreturn]] void refuse(const DeclaredScan& scan, const std::string& found) {
  const auto degrees = [](double radians) {
    std::string text = std::to_string(radians * 180 / std::numbers::pi);
    return text.substr(0, text.size() - 3);
  };
  throw Error(ErrorCode::kInvalidArgument,
              "the points do not sit on the declared raster (n_theta " + std::to_string(scan.rows) +
                  ", n_phi " + std::to_string(scan.columns) + ", theta " + degrees(scan.theta_min_rad) +
                  " to " + degrees(scan.theta_max_rad) + ", phi " + degrees(scan.phi_min_rad) + " to " +
                  degrees(scan.phi_max_rad) + " degrees): " + found +
                  ". Check these parameters, the origin and the attitude of the scan");
}

}  // namespace

DeclaredRaster declared_raster(Span<const Vec3d> positions, const DeclaredScan& scan, OpContext& ctx) {
  check(scan);
  ctx.begin_phase("Finding the raster", positions.size);
  DeclaredRaster out{{}, Column<std::uint32_t>(positions.size), Column<std::uint32_t>(positions.size), {}, 0};
  double best = std::numeric_limits<double>::infinity();
  for (int k = 0; k < 8; ++k) {  // the plain conventions first: they win a tie
    ctx.checkpoint();
    const RasterConvention convention{(k & 4) != 0, (k & 1) != 0, (k & 2) != 0};
    const double residual = median_residual(positions, scan.origin, Raster(scan, convention));
    if (!(residual < best)) continue;
    best = residual;
    out.convention = convention;
  }
  if (!(best < kMostResidual)) {
    refuse(scan, std::isfinite(best) ? "half of them are " + std::to_string(best).substr(0, 4) +
                                           " steps or more from a row or column"
                                     : "there is no point with a direction");
  }
  const Raster raster(scan, out.convention);
  std::vector<std::uint64_t> off((positions.size + kGrain - 1) / kGrain, 0);
  parallel_for(ctx, positions.size, kGrain, [&](std::size_t begin, std::size_t end) {
    std::uint64_t count = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const Vec3d v = positions[i] - scan.origin;
      const Place at = raster.place_of(v);
      const double row = std::round(at.row), column = std::round(at.column);
      const bool on = dot(v, v) > 0 && row >= 0 && row < scan.rows && column >= 0 && column < scan.columns;
      count += on ? 0 : 1;
      out.row[i] = on ? static_cast<std::uint32_t>(row) : kOff;
      out.column[i] = on ? static_cast<std::uint32_t>(column) : kOff;
    }
    off[begin / kGrain] = count;
  });
  for (const std::uint64_t count : off) out.off_count += count;
  if (static_cast<double>(out.off_count) >= kMostOffShare * static_cast<double>(positions.size)) {
    refuse(scan, std::to_string(out.off_count) + " of " + std::to_string(positions.size) + " lie outside it");
  }
  out.raster = as_scan_raster(scan, raster, best);
  return out;
}

}  // namespace pc
