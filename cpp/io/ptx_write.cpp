#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "core/platform.h"
#include "io/ordered_output.h"
#include "io/ptx.h"
#include "io/text_format.h"
#include "io/text_rows.h"

namespace pc::io {

namespace {

constexpr std::size_t kSelectRows = 1 << 16;
constexpr std::size_t kBlockCells = 1 << 14;
constexpr std::size_t kMaxCellBytes = 3 * text_format::kMaxNumberBytes + 64;
constexpr double kTwoPi = 6.283185307179586;
constexpr std::uint32_t kEmpty = 0;              // cells hold row + 1
constexpr std::uint64_t kMaxCells = 4294967294;  // and that in 32 bits

const AnyColumn* find_scalar(const CloudView& view, const char* slug) {
  for (const ScalarView& scalar : view.scalars) {
    if (scalar.slug == slug) return scalar.values;
  }
  return nullptr;
}

/// Whole numbers of a scalar column; -1 where there is none.
class Indexes {
 public:
  explicit Indexes(const AnyColumn* column) : column_(column) {}
  bool present() const { return column_ != nullptr; }
  std::int64_t at(std::size_t row) const {
    return visit_scalar(*column_, [&](auto values) -> std::int64_t {
      const auto value = static_cast<double>(values[row]);
      return value >= 0 && value < 4294967296.0 ? static_cast<std::int64_t>(value) : -1;
    });
  }

 private:
  const AnyColumn* column_;
};

/// Which row stands in which cell of one scan.
class PtxRaster {
 public:
  PtxRaster(const PtxWriteScan& scan, const PtxWriteParams& params, OpContext& ctx)
      : scan_(scan),
        row_(find_scalar(scan.view, "row_index")),
        column_(find_scalar(scan.view, "column_index")),
        return_(find_scalar(scan.view, "target_index")),
        miss_(find_scalar(scan.view, "is_miss")) {
    check_view();
    const RowSelection selection(scan.view, kSelectRows, ctx);
    set_size(selection, ctx);
    if (written_.rows != 0 && written_.columns > params.max_cells / written_.rows) {
      throw Error(ErrorCode::kInvalidArgument, "a raster of " + std::to_string(written_.rows) + " rows and " +
                                                   std::to_string(written_.columns) +
                                                   " columns has more than " +
                                                   std::to_string(params.max_cells) +
                                                   " cells; export a part of the cloud, or another format");
    }
    cells_.resize(static_cast<std::size_t>(written_.rows * written_.columns));
    if (return_.present()) best_.resize(cells_.size());
    fill(selection, ctx);
  }

  const PtxWrittenScan& written() const { return written_; }
  std::size_t cell_count() const { return cells_.size(); }

  char* write_header(char* p) const {
    using namespace text_format;
    const auto line = [&](std::initializer_list<double> numbers) {
      for (const double number : numbers) {
        p = fixed6(number, p);
        *p++ = ' ';
      }
      p[-1] = '\n';
    };
    const Vec3d origin = scan_.origin_stored + scan_.view.offset;
    p = unsigned_integer(written_.columns, p);
    *p++ = '\n';
    p = unsigned_integer(written_.rows, p);
    *p++ = '\n';
    line({origin.x, origin.y, origin.z});
    line({1, 0, 0});
    line({0, 1, 0});
    line({0, 0, 1});
    line({1, 0, 0, 0});
    line({0, 1, 0, 0});
    line({0, 0, 1, 0});
    line({origin.x, origin.y, origin.z, 1});
    return p;
  }

  /// Writes a cell's line, line end included, at most kMaxCellBytes.
  char* write_cell(std::size_t cell, char* p) const {
    using namespace text_format;
    const CloudView& view = scan_.view;
    const bool colored = !view.colors.empty();
    if (cells_[cell] == kEmpty) return word(colored ? "0 0 0 0.5 0 0 0\n" : "0 0 0 0.5\n", p);
    const std::size_t row = cells_[cell] - 1;
    const Vec3d local = view.positions[row] - scan_.origin_stored;
    for (const double value : {local.x, local.y, local.z}) {
      p = fixed6(value, p);
      *p++ = ' ';
    }
    p = view.intensity.empty() ? word("0.5", p) : unit16(view.intensity[row], 6, p);
    if (colored) {
      const Rgb16& color = view.colors[row];
      for (const std::uint16_t channel : {color.r, color.g, color.b}) {
        *p++ = ' ';
        p = color255(channel, p);
      }
    }
    *p++ = '\n';
    return p;
  }

 private:
  void check_view() const {
    const CloudView& view = scan_.view;
    require(view.stride >= 1, "stride must be at least 1");
    require(is_finite(scan_.origin_stored) && is_finite(view.offset), "a scan's origin must be finite");
    require(view.positions.size <= kMaxCells, "a PTX scan can have 2^32 - 2 points at most");
    const auto check = [&](std::size_t size, const char* what) {
      if (size == view.positions.size) return;
      throw Error(ErrorCode::kInvalidArgument, std::string("column ") + what + " has " +
                                                   std::to_string(size) + " rows, the cloud " +
                                                   std::to_string(view.positions.size));
    };
    if (!view.colors.empty()) check(view.colors.size, "colour");
    if (!view.intensity.empty()) check(view.intensity.size, "intensity");
    if (!view.skip.empty()) check(view.skip.size, "skip");
    for (const ScalarView& scalar : view.scalars) {
      require(scalar.values != nullptr, "a scalar column has no values");
      check(scalar.values->size(), scalar.slug.c_str());
    }
  }

  /// Calls visit(row) for the selected rows, in order.
  template <class Visit>
  void for_each_row(const RowSelection& selection, OpContext& ctx, Visit&& visit) const {
    for (std::size_t begin = 0; begin < scan_.view.positions.size; begin += kSelectRows) {
      const std::size_t end = std::min(scan_.view.positions.size, begin + kSelectRows);
      ctx.checkpoint();
      selection.for_each(begin, end, visit);
      ctx.advance(end - begin);
    }
  }

  void set_size(const RowSelection& selection, OpContext& ctx) {
    if (!row_.present() || !column_.present()) {
      if (!scan_.sweep) {
        throw Error(
            ErrorCode::kInvalidArgument,
            "PTX needs a raster: the columns row_index and column_index, or a sweep (n_theta, n_phi and "
            "angles); this scan has neither");
      }
      const PtxSweep& sweep = *scan_.sweep;
      require(sweep.n_theta != 0 && sweep.n_phi != 0 && sweep.theta_step_rad > 0 && sweep.phi_step_rad > 0 &&
                  std::isfinite(sweep.theta_min_rad) && std::isfinite(sweep.phi_min_rad),
              "a sweep needs at least one row and column, positive steps and finite angles");
      written_.source = PtxRasterSource::kSweep;
      written_.rows = sweep.n_theta;
      written_.columns = sweep.n_phi;
      return;
    }
    std::int64_t last_row = -1, last_column = -1;
    low_row_ = low_column_ = INT64_MAX;
    ctx.begin_phase("Measuring the raster", scan_.view.positions.size);
    for_each_row(selection, ctx, [&](std::size_t i) {
      const std::int64_t row = row_.at(i), column = column_.at(i);
      if (row < 0 || column < 0) return;
      low_row_ = std::min(low_row_, row);
      last_row = std::max(last_row, row);
      low_column_ = std::min(low_column_, column);
      last_column = std::max(last_column, column);
    });
    const auto side = [&](std::int64_t& low, std::int64_t last, std::uint64_t declared) -> std::uint64_t {
      if (last < 0) return 0;
      if (declared > static_cast<std::uint64_t>(last)) {
        low = 0;
        return declared;
      }
      return static_cast<std::uint64_t>(last - low) + 1;
    };
    written_.rows = side(low_row_, last_row, scan_.sweep ? scan_.sweep->n_theta : 0);
    written_.columns = side(low_column_, last_column, scan_.sweep ? scan_.sweep->n_phi : 0);
  }

  /// Cell of a point, or false when it has none.
  bool cell_of(std::size_t i, std::size_t& cell) const {
    std::int64_t row, column;
    const Vec3d d = scan_.view.positions[i] - scan_.origin_stored;
    // A point that would be written as zeros would be read as an empty cell.
    if (!is_finite(d) || std::max({std::abs(d.x), std::abs(d.y), std::abs(d.z)}) < 0.5e-6) return false;
    if (written_.source == PtxRasterSource::kIndexes) {
      if (row_.at(i) < 0 || column_.at(i) < 0) return false;
      row = row_.at(i) - low_row_;
      column = column_.at(i) - low_column_;
    } else {
      const PtxSweep& sweep = *scan_.sweep;
      const double theta = std::atan2(std::hypot(d.x, d.y), d.z);
      double turn = std::atan2(d.x, d.y) - sweep.phi_min_rad + sweep.phi_step_rad / 2;
      turn -= std::floor(turn / kTwoPi) * kTwoPi;
      const double place = std::floor((theta - sweep.theta_min_rad) / sweep.theta_step_rad + 0.5);
      const double along = std::floor(turn / sweep.phi_step_rad);
      if (!(place >= 0 && place < static_cast<double>(written_.rows))) return false;
      if (!(along >= 0 && along < static_cast<double>(written_.columns))) return false;
      row = static_cast<std::int64_t>(place);
      column = static_cast<std::int64_t>(along);
    }
    cell = static_cast<std::size_t>(column) * static_cast<std::size_t>(written_.rows) +
           static_cast<std::size_t>(row);
    return true;
  }

  void fill(const RowSelection& selection, OpContext& ctx) {
    const Indexes miss = miss_;
    ctx.begin_phase("Filling the raster", scan_.view.positions.size);
    for_each_row(selection, ctx, [&](std::size_t i) {
      if (miss.present() && miss.at(i) != 0) return;
      std::size_t cell = 0;
      if (!cell_of(i, cell)) {
        ++written_.unplaced;
        return;
      }
      const std::int64_t echo = return_.present() ? return_.at(i) : 0;
      const auto rank = static_cast<std::uint32_t>(echo < 0 ? UINT32_MAX : echo);
      const bool taken = cells_[cell] != kEmpty;
      written_.collapsed += taken ? 1 : 0;
      written_.filled += taken ? 0 : 1;
      if (taken && (!return_.present() || rank >= best_[cell])) return;
      cells_[cell] = static_cast<std::uint32_t>(i + 1);
      if (return_.present()) best_[cell] = rank;
    });
  }

  const PtxWriteScan& scan_;
  Indexes row_, column_, return_, miss_;
  std::int64_t low_row_ = 0, low_column_ = 0;
  PtxWrittenScan written_;
  BulkVector<std::uint32_t> cells_, best_;
};

/// Writes one scan from byte `at` on; returns its end.
std::uint64_t write_scan(const PtxRaster& raster, platform::File& file, std::uint64_t at, OpContext& ctx) {
  std::vector<BulkVector<char>> buffers(static_cast<std::size_t>(ctx.threads()));
  BulkVector<char> header(40 * text_format::kMaxNumberBytes);
  const auto header_bytes = static_cast<std::size_t>(raster.write_header(header.data()) - header.data());
  file.write_at(at, header.data(), header_bytes);
  OrderedOutput output(file, at + header_bytes);
  ctx.begin_phase("Formatting points", raster.cell_count());
  parallel_for_worker(
      ctx, raster.cell_count(), kBlockCells, [&](std::size_t begin, std::size_t end, int worker) {
        try {
          BulkVector<char>& buffer = buffers[static_cast<std::size_t>(worker)];
          std::size_t used = 0;
          for (std::size_t cell = begin; cell < end; ++cell) {
            if (buffer.size() - used < kMaxCellBytes)
              buffer.resize(std::max(buffer.size() * 2, std::size_t{1} << 20));
            used = static_cast<std::size_t>(raster.write_cell(cell, buffer.data() + used) - buffer.data());
          }
          output.append(begin / kBlockCells, buffer.data(), used);
        } catch (...) {
          output.fail();
          throw;
        }
      });
  return output.end();
}

}  // namespace

PtxWriteResult write_ptx(const std::vector<PtxWriteScan>& scans, const PtxWriteParams& params,
                         const std::string& path, OpContext& ctx) {
  require(!scans.empty(), "a PTX file needs at least one scan");
  require(params.max_cells <= kMaxCells, "max_cells can be 2^32 - 2 at most");
  platform::File file = platform::File::create(path);
  PtxWriteResult result;
  for (const PtxWriteScan& scan : scans) {
    const PtxRaster raster(scan, params, ctx);
    result.bytes = write_scan(raster, file, result.bytes, ctx);
    result.scans.push_back(raster.written());
  }
  file.close_checked();
  return result;
}

}  // namespace pc::io
