#include "ops/misses/scan_raster.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numbers>
#include <numeric>
#include <string>

#include "core/error.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "core/symmetric_eigen.h"
#include "ops/misses/known_values.h"

namespace pc {

namespace {

using namespace known_values;

constexpr std::size_t kGrain = std::size_t{1} << 15;
constexpr std::size_t kLeastOfRow = 4;
constexpr int kPolishRounds = 4;
constexpr int kAxisRounds = 4;
/// Returns this many median deviations off their row do not count for the axis: 4 standard deviations of normal noise.
constexpr double kOutlier = 4 * 1.4826;
/// The scatter along the axis must be this much smaller than across it, else the window does not show the axis.
constexpr double kAxisContrast = 30;

/// Returns by row or by column.
struct Groups {
  BulkVector<std::uint32_t> members;
  std::vector<std::size_t> firsts;
  std::size_t size(std::size_t group) const { return firsts[group + 1] - firsts[group]; }
};

class Fit {
 public:
  Fit(const RasterReturns& returns, OpContext& ctx) : in_(returns), ctx_(ctx) {}

  ScanRaster fit() {
    read();
    by_row_ = grouped(in_.rows, [&](std::size_t i) { return in_.cells[used_[i]].row; });
    by_column_ = grouped(in_.columns, [&](std::size_t i) { return in_.cells[used_[i]].column; });
    check_rows();
    inlier_.resize(unit_.size());
    std::fill(inlier_.begin(), inlier_.end(), std::uint8_t{1});
    for (int round = 0; round < kAxisRounds; ++round) {
      if (round > 0) drop_outliers();
      find_axis();
      measure();
      fit_zenith();
    }
    fit_azimuth();
    out_.median_residual = residual();
    if (!(out_.median_residual <= in_.most_residual)) {
      std::array<char, 32> most{};
      std::snprintf(most.data(), most.size(), "%g", in_.most_residual);
      throw Error(
          ErrorCode::kInvalidArgument,
          std::string("the points do not lie on the rows and columns of one scanner position: half of "
                      "them are more than ") +
              most.data() +
              " steps away. Check the origin or the trajectory of the scan, and the columns row_index "
              "and column_index if it has them");
    }
    return std::move(out_);
  }

 private:
  /// Unit vectors of the usable returns.
  void read() {
    ctx_.begin_phase("Fitting the scan raster", 0);
    require(is_finite(in_.origin), "the origin of the scan must be finite");
    require(in_.cells.size == in_.positions.size, "one cell per return is needed");
    require(in_.positions.size < (std::size_t{1} << 32), "at most 2^32 - 1 returns");
    for (std::size_t i = 0; i < in_.positions.size; ++i) {
      if (i % kGrain == 0) ctx_.checkpoint();
      require(in_.cells[i].row < in_.rows && in_.cells[i].column < in_.columns,
              "a return lies outside the raster");
      const Vec3d v = in_.positions[i] - in_.origin;
      const double length = std::sqrt(dot(v, v));
      if (!(length > 0 && std::isfinite(length))) continue;
      used_.push_back(static_cast<std::uint32_t>(i));
      unit_.push_back(v * (1 / length));
    }
  }

  template <class GroupOf>
  Groups grouped(std::size_t count, const GroupOf& group_of) {
    Groups out{BulkVector<std::uint32_t>(unit_.size()), std::vector<std::size_t>(count + 1, 0)};
    for (std::size_t i = 0; i < unit_.size(); ++i) {
      if (i % kGrain == 0) ctx_.checkpoint();
      ++out.firsts[group_of(i) + 1];
    }
    std::partial_sum(out.firsts.begin(), out.firsts.end(), out.firsts.begin());
    std::vector<std::size_t> at(out.firsts.begin(), out.firsts.end() - 1);
    for (std::size_t i = 0; i < unit_.size(); ++i) {
      if (i % kGrain == 0) ctx_.checkpoint();
      out.members[at[group_of(i)]++] = static_cast<std::uint32_t>(i);
    }
    return out;
  }

  void check_rows() {
    for (std::size_t row = 0; row < in_.rows; ++row)
      out_.fitted_rows += by_row_.size(row) >= kLeastOfRow ? 1 : 0;
    for (std::size_t c = 0; c < in_.columns; ++c) out_.fitted_columns += by_column_.size(c) > 0 ? 1 : 0;
    require(out_.fitted_rows >= 2 && out_.fitted_columns >= 2,
            "too few points to find the raster: at least 2 rows with 4 points each are needed, in 2 columns");
  }

  /// Direction along which the returns of single rows differ least: rows are cones about the axis.
  void find_axis() {
    Symmetric3 scatter{};
    for (std::size_t row = 0; row < in_.rows; ++row) {
      if (by_row_.size(row) < kLeastOfRow) continue;
      const std::size_t begin = by_row_.firsts[row], end = by_row_.firsts[row + 1];
      Vec3d mean{0, 0, 0};
      double count = 0;
      for (std::size_t k = begin; k < end; ++k) {
        if (k % kGrain == 0) ctx_.checkpoint();
        if (inlier_[by_row_.members[k]] == 0) continue;
        mean = mean + unit_[by_row_.members[k]];
        ++count;
      }
      mean = mean * (1 / std::max(count, 1.0));
      for (std::size_t k = begin; k < end; ++k) {
        if (k % kGrain == 0) ctx_.checkpoint();
        if (inlier_[by_row_.members[k]] == 0) continue;
        const Vec3d d = unit_[by_row_.members[k]] - mean;
        scatter.xx += d.x * d.x, scatter.xy += d.x * d.y, scatter.xz += d.x * d.z;
        scatter.yy += d.y * d.y, scatter.yz += d.y * d.z, scatter.zz += d.z * d.z;
      }
    }
    const SymmetricEigen3 eigen = symmetric_eigen(scatter);
    const bool shown = eigen.value[1] > kAxisContrast * std::max(eigen.value[0], 0.0) &&
                       eigen.value[1] > 1e-12 * eigen.value[2];
    out_.axis = shown ? eigen.vector[0] : Vec3d{0, 0, 1};
    if (out_.axis.z < 0) out_.axis = out_.axis * -1.0;
    const Vec3d aside = std::fabs(out_.axis.z) > 0.9 ? Vec3d{1, 0, 0} : Vec3d{0, 0, 1};
    const Vec3d second = cross(out_.axis, aside);
    out_.second = second * (1 / std::sqrt(dot(second, second)));
    out_.first = cross(out_.second, out_.axis);
  }

  /// Returns that are far off the median of their row for the axis found so far.
  void drop_outliers() {
    const auto off = [&](std::size_t i) { return std::fabs(zenith_[i] - out_.zenith_rad[row(i)]); };
    std::vector<double> sample;
    for (std::size_t i = 0; i < unit_.size(); i += sample_stride()) sample.push_back(off(i));
    const double most = std::max(kOutlier * median(sample), 1e-9);
    for (std::size_t i = 0; i < unit_.size(); ++i) {
      if (i % kGrain == 0) ctx_.checkpoint();
      inlier_[i] = off(i) <= most ? 1 : 0;
    }
  }
  std::size_t sample_stride() const { return std::max<std::size_t>(1, unit_.size() / 200'000); }

  void measure() {
    zenith_.resize(unit_.size());
    azimuth_.resize(unit_.size());
    parallel_for(ctx_, unit_.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const double x = dot(unit_[i], out_.first), y = dot(unit_[i], out_.second);
        zenith_[i] = std::atan2(std::sqrt(x * x + y * y), dot(unit_[i], out_.axis));
        azimuth_[i] = std::atan2(y, x);
      }
    });
  }

  /// The median of value(i) over the returns i of each group with `least` of them; NaN for the other groups.
  template <class Value>
  std::vector<double> medians(const Groups& groups, std::size_t least, const Value& value) {
    std::vector<double> out(groups.firsts.size() - 1, kNone);
    parallel_for(ctx_, out.size(), 1, [&](std::size_t begin, std::size_t end) {
      std::vector<double> values;
      for (std::size_t g = begin; g < end; ++g) {
        if (groups.size(g) < least) continue;
        values.clear();
        for (std::size_t k = groups.firsts[g]; k < groups.firsts[g + 1]; ++k)
          values.push_back(value(groups.members[k]));
        out[g] = median(values);
      }
    });
    return out;
  }

  void fit_zenith() {
    out_.zenith_rad = medians(by_row_, kLeastOfRow, [&](std::uint32_t i) { return zenith_[i]; });
    out_.zenith_step_rad = median_step(out_.zenith_rad, false);
    fill_unknown(out_.zenith_rad, out_.zenith_step_rad);
  }

  /// Alternates between the columns' and the rows' share of the azimuth.
  void fit_azimuth() {
    std::vector<double> columns = first_azimuths();
    out_.azimuth_step_rad = median_step(columns, true);
    unwrap(columns, out_.azimuth_step_rad);
    std::vector<double> rows(in_.rows, 0);
    for (int round = 0; round < kPolishRounds; ++round) {
      rows = medians(by_row_, kLeastOfRow,
                     [&](std::uint32_t i) { return wrapped(azimuth_[i] - columns[column(i)]); });
      unwrap(rows, 0);
      std::vector<double> known;
      for (const double offset : rows)
        if (offset == offset) known.push_back(offset);
      const double middle = median(known);
      for (double& offset : rows) offset -= middle;
      std::vector<double> filled = rows;
      fill_unknown(filled, median_step(rows, false));
      rows = filled;
      const std::vector<double> moved = medians(by_column_, 1, [&](std::uint32_t i) {
        return wrapped(azimuth_[i] - rows[row(i)] - columns[column(i)]);
      });
      for (std::size_t c = 0; c < columns.size(); ++c)
        columns[c] += moved[c];  // NaN where there are no returns
    }
    out_.azimuth_step_rad = median_step(columns, false);
    fill_unknown(columns, out_.azimuth_step_rad);
    out_.azimuth_rad = std::move(columns);
    out_.row_azimuth_rad = std::move(rows);
  }

  /// Mean azimuth of each column on the circle.
  std::vector<double> first_azimuths() {
    std::vector<double> out(in_.columns, kNone);
    parallel_for(ctx_, in_.columns, 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t c = begin; c < end; ++c) {
        double x = 0, y = 0;
        for (std::size_t k = by_column_.firsts[c]; k < by_column_.firsts[c + 1]; ++k) {
          x += std::cos(azimuth_[by_column_.members[k]]);
          y += std::sin(azimuth_[by_column_.members[k]]);
        }
        if (by_column_.size(c) > 0) out[c] = std::atan2(y, x);
      }
    });
    return out;
  }

  /// Adds whole turns so that each known angle is as near as can be to the one before it plus `step` per place.
  static void unwrap(std::vector<double>& angles, double step) {
    std::size_t last = angles.size();
    for (std::size_t i = 0; i < angles.size(); ++i) {
      if (angles[i] != angles[i]) continue;
      if (last < angles.size()) {
        const double expected = angles[last] + step * static_cast<double>(i - last);
        angles[i] = expected + wrapped(angles[i] - expected);
      }
      last = i;
    }
  }

  /// Median over a sample of the returns of their distance from their cell's direction, in steps.
  double residual() {
    std::vector<double> found;
    for (std::size_t i = 0; i < unit_.size(); i += sample_stride()) {
      const double by_row = (zenith_[i] - out_.zenith_rad[row(i)]) / out_.zenith_step_rad;
      const double turned = wrapped(azimuth_[i] - out_.azimuth_rad[column(i)] - out_.row_azimuth_rad[row(i)]);
      found.push_back(std::hypot(by_row, turned / out_.azimuth_step_rad));
    }
    const double middle = median(found);
    return middle == middle ? middle : std::numeric_limits<double>::infinity();
  }

  std::uint32_t row(std::size_t i) const { return in_.cells[used_[i]].row; }
  std::uint32_t column(std::size_t i) const { return in_.cells[used_[i]].column; }

  const RasterReturns& in_;
  OpContext& ctx_;
  BulkVector<std::uint32_t> used_;
  BulkVector<Vec3d> unit_;
  Groups by_row_, by_column_;
  BulkVector<double> zenith_, azimuth_;
  BulkVector<std::uint8_t> inlier_;
  ScanRaster out_{};
};

}  // namespace

Vec3d ScanRaster::direction(std::uint32_t row, std::uint32_t column) const {
  const double azimuth = azimuth_rad[column] + row_azimuth_rad[row];
  const double s = std::sin(zenith_rad[row]);
  return first * (s * std::cos(azimuth)) + second * (s * std::sin(azimuth)) +
         axis * std::cos(zenith_rad[row]);
}

ScanRaster fit_scan_raster(const RasterReturns& returns, OpContext& ctx) { return Fit(returns, ctx).fit(); }

}  // namespace pc
