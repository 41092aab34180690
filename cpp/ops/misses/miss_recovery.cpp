#include "ops/misses/miss_recovery.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "ops/misses/cell_times.h"
#include "ops/misses/gap_fill.h"
#include "ops/misses/pulse_clock.h"

namespace pc {

namespace {

constexpr std::size_t kPoll = std::size_t{1} << 15;
/// Steps. The times alone tell the cells, and near a scanner that moves noise of 2 cm is a quarter of a step and more.
constexpr double kMostOffOfMoved = 1;
constexpr std::uint32_t kOff = 0xFFFFFFFF;

class Recovery {
 public:
  Recovery(const ScanRows& rows, const MissRecoveryParams& params, OpContext& ctx)
      : in_(rows), params_(params), ctx_(ctx) {}

  MissRecovery run() {
    check();
    gather();
    switch (params_.route) {
      case MissRoute::kClock:
        return by_clock();
      case MissRoute::kGrid:
        return by_grid();
      case MissRoute::kDeclared:
        return by_settings();
    }
    throw Error(ErrorCode::kInternal, "unknown route");
  }

 private:
  void check() const {
    const std::size_t n = in_.positions.size;
    require(n < (std::size_t{1} << 32), "at most 2^32 - 1 rows");
    require(in_.skip.empty() || in_.skip.size == n, "one mask entry per row is needed");
    require(in_.times_s.empty() || in_.times_s.size == n, "one time per row is needed");
    require(params_.route != MissRoute::kClock || in_.times_s.size == n, "the scan has no times");
    if (params_.route != MissRoute::kGrid) return;
    require(in_.row_index != nullptr && in_.column_index != nullptr, "the scan has no rows and columns");
    require(in_.row_index->size() == n && in_.column_index->size() == n,
            "one row and one column per point are needed");
  }

  /// The rows that are returns.
  void gather() {
    ctx_.begin_phase("Reading the returns", in_.positions.size);
    for (std::size_t i = 0; i < in_.positions.size; ++i) {
      if (i % kPoll == 0) ctx_.checkpoint();
      const Vec3d from_scanner = in_.positions[i] - params_.scan.origin;
      const double square = dot(from_scanner, from_scanner);
      if ((!in_.skip.empty() && in_.skip[i] != 0) || !(square > 0 && std::isfinite(square))) continue;
      source_.push_back(static_cast<std::uint32_t>(i));
      positions_.push_back(in_.positions[i]);
      if (!in_.times_s.empty()) times_.push_back(in_.times_s[i]);
    }
    require(!positions_.empty(), "the scan has no returns");
  }

  void require_size(std::uint64_t rows, std::uint64_t columns) const {
    if (rows == 0 || columns <= params_.max_cells / rows) return;
    throw Error(ErrorCode::kInvalidArgument, "the raster of the scan would have " + std::to_string(rows) +
                                                 " rows and " + std::to_string(columns) +
                                                 " columns, more than " + std::to_string(params_.max_cells) +
                                                 " pulses. Its times, rows or columns may be wrong");
  }

  MissRecovery by_clock() {
    const DeclaredScan& scan = params_.scan;
    ClockedRaster clock = clocked_raster({positions_.view(), times_.view(), scan.origin, scan.up},
                                         scan.theta_min_rad, scan.theta_max_rad, ctx_);
    require_size(clock.rows, clock.columns);
    RasterReturns returns{positions_.view(), clock.cells.view(), scan.origin, clock.rows, clock.columns};
    if (params_.moved) returns.most_residual = kMostOffOfMoved;
    ScanRaster raster = fit_scan_raster(returns, ctx_);
    const EmptyLines lines = empty_lines(raster);
    require_size(clock.rows, clock.columns + lines.before + lines.after);
    for (RasterCell& cell : clock.cells) cell.column += static_cast<std::uint32_t>(lines.before);
    widen(raster.azimuth_rad, raster.azimuth_step_rad, lines);
    const double line_s = clock.period_s * static_cast<double>(clock.pulses_per_line);
    CellTimes times;
    for (std::uint32_t row = 0; row < clock.rows; ++row) times.row_s.push_back(clock.period_s * row);
    for (std::size_t column = 0; column < raster.azimuth_rad.size(); ++column)
      times.column_s.push_back(clock.start_s +
                               line_s * (static_cast<double>(column) - static_cast<double>(lines.before)));
    return filled(raster, clock.cells.view(), times, 0);
  }

  /// Lines at the ends of a sweep that have no return.
  struct EmptyLines {
    std::size_t before, after;
  };

  /// Those between the limits in azimuth and the lines with returns; none if the limits are a full turn, or do not hold the
  /// lines.
  EmptyLines empty_lines(const ScanRaster& raster) const {
    const DeclaredScan& scan = params_.scan;
    const double span = scan.phi_max_rad - scan.phi_min_rad, turn = 2 * std::numbers::pi;
    const std::size_t columns = raster.azimuth_rad.size();
    const auto bearing = [&](std::size_t column) {  // level, because the first row may lie at the zenith
      const double azimuth = raster.azimuth_rad[column] + raster.row_azimuth_rad[0];
      const Vec3d d = raster.first * std::cos(azimuth) + raster.second * std::sin(azimuth);
      return std::atan2(dot(d, scan.right), dot(d, scan.ahead)) - scan.phi_min_rad;
    };
    if (columns < 2 || !(span < turn - 1e-9)) return {0, 0};
    const double signed_step = std::remainder(bearing(1) - bearing(0), turn);
    // Of all columns: the error of one step would add up over the rest of the sweep.
    const double step =
        std::fabs(raster.azimuth_rad.back() - raster.azimuth_rad.front()) / static_cast<double>(columns - 1);
    const double first = bearing(signed_step > 0 ? 0 : columns - 1), slack = step / 4;
    const double low =
        std::remainder(first - span / 2, turn) + span / 2;  // nearest to the middle of the sweep
    const double high = low + step * static_cast<double>(columns - 1);
    if (!(step > 0 && low > -slack && high < span + slack)) return {0, 0};
    const auto lines = [&](double room) {
      return static_cast<std::size_t>(std::max(0.0, std::floor((room + slack) / step)));
    };
    const EmptyLines up{lines(low), lines(span - high)};
    return signed_step > 0 ? up : EmptyLines{up.after, up.before};
  }

  static void widen(std::vector<double>& azimuth, double step, const EmptyLines& lines) {
    std::vector<double> wide;
    for (std::size_t k = lines.before; k > 0; --k)
      wide.push_back(azimuth.front() - step * static_cast<double>(k));
    wide.insert(wide.end(), azimuth.begin(), azimuth.end());
    for (std::size_t k = 1; k <= lines.after; ++k)
      wide.push_back(azimuth.back() + step * static_cast<double>(k));
    azimuth = std::move(wide);
  }

  MissRecovery by_grid() {
    const BulkVector<std::uint32_t> row = indices(*in_.row_index, "row_index"),
                                    column = indices(*in_.column_index, "column_index");
    BulkVector<RasterCell> cells;
    std::uint32_t rows = params_.scan.rows, columns = params_.scan.columns;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i % kPoll == 0) ctx_.checkpoint();
      if (row[i] == kOff || column[i] == kOff) continue;
      rows = std::max(rows, row[i] + 1), columns = std::max(columns, column[i] + 1);
      cells.push_back({row[i], column[i]});
      positions_[kept] = positions_[i];
      if (!times_.empty()) times_[kept] = times_[i];
      ++kept;
    }
    require(kept > 0, "no point has a row and a column");
    const std::uint64_t off = positions_.size() - kept;
    positions_.resize(kept);
    if (!times_.empty()) times_.resize(kept);
    require_size(rows, columns);
    const CellTimes times =
        times_.empty() ? CellTimes{} : fit_cell_times(cells.view(), times_.view(), rows, columns, ctx_);
    const ScanRaster raster =
        fit_scan_raster({positions_.view(), cells.view(), params_.scan.origin, rows, columns}, ctx_);
    return filled(raster, cells.view(), times, off);
  }

  /// The values of the returns as indices; kOff where there is none.
  BulkVector<std::uint32_t> indices(const AnyColumn& column, const char* name) {
    BulkVector<std::uint32_t> out(source_.size());
    visit_scalar(column, [&](auto values) {
      for (std::size_t k = 0; k < source_.size(); ++k) {
        if (k % kPoll == 0) ctx_.checkpoint();
        const auto value = static_cast<double>(values[source_[k]]);
        if (!(value >= 0)) {  // NaN too
          out[k] = kOff;
          continue;
        }
        if (!(value < kOff - 1 && value == std::floor(value)))
          throw Error(ErrorCode::kInvalidArgument,
                      std::string(name) + " holds a value that is no whole number below 2^32");
        out[k] = static_cast<std::uint32_t>(value);
      }
    });
    return out;
  }

  MissRecovery by_settings() {
    require_size(params_.scan.rows, params_.scan.columns);
    const DeclaredRaster found = declared_raster(positions_.view(), params_.scan, ctx_);
    BulkVector<RasterCell> cells;
    for (std::size_t i = 0; i < positions_.size(); ++i) {
      if (i % kPoll == 0) ctx_.checkpoint();
      if (found.row[i] != kOff) cells.push_back({found.row[i], found.column[i]});
    }
    return filled(found.raster, cells.view(), {}, found.off_count);
  }

  MissRecovery filled(const ScanRaster& raster, Span<const RasterCell> cells, const CellTimes& times,
                      std::uint64_t off_count) {
    RecoveredMisses misses = gap_fill(raster, cells, params_.scan.origin, ctx_);
    MissRecovery out{};
    out.rows = static_cast<std::uint32_t>(raster.zenith_rad.size());
    out.columns = static_cast<std::uint32_t>(raster.azimuth_rad.size());
    out.return_count = source_.size();
    out.off_count = off_count;
    out.median_residual = raster.median_residual;
    if (!times.column_s.empty()) {
      out.times_s = Column<double>(misses.positions.size());
      parallel_for(ctx_, out.times_s.size(), kPoll, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
          out.times_s[i] = times.column_s[misses.column_index[i]] + times.row_s[misses.row_index[i]];
      });
    }
    out.positions = std::move(misses.positions);
    out.row_index = std::move(misses.row_index);
    out.column_index = std::move(misses.column_index);
    return out;
  }

  const ScanRows& in_;
  const MissRecoveryParams& params_;
  OpContext& ctx_;
  BulkVector<std::uint32_t> source_;
  BulkVector<Vec3d> positions_;
  BulkVector<double> times_;
};

}  // namespace

MissRecovery recover_misses(const ScanRows& rows, const MissRecoveryParams& params, OpContext& ctx) {
  return Recovery(rows, params, ctx).run();
}

}  // namespace pc
