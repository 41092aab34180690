#include "io/ptx_raster.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>

#include "core/atomic.h"
#include "core/error.h"
#include "core/parallel.h"
#include "io/text_format.h"

namespace pc::io::ptx {

namespace {

constexpr double kTwoPi = 6.283185307179586;
constexpr std::size_t kCellGrain = std::size_t{1} << 18;
constexpr std::uint64_t kEmpty = ~std::uint64_t{0};

}  // namespace

PtxRaster::PtxRaster(const ScanRows& rows, std::uint64_t max_cells, OpContext& ctx)
    : rows_(rows),
      row_(find_scalar(rows.view, "row_index")),
      column_(find_scalar(rows.view, "column_index")),
      return_(find_scalar(rows.view, "target_index")),
      miss_(find_scalar(rows.view, "is_miss")),
      scan_(rows.scan_index ? find_scalar(rows.view, "scan_index") : nullptr) {
  require(is_finite(rows.origin_stored) && is_finite(rows.view.offset), "a scan's origin must be finite");
  require(rows.view.positions.size <= kMaxCells, "a PTX scan can have 2^32 - 2 points at most");
  reach_.assign(block_count(), {INT64_MAX, -1});
  ctx.begin_phase("Measuring the raster", rows.end - rows.begin);
  row_.present() && column_.present() ? measure_indexes(ctx) : measure_sweep(ctx);
  if (written_.rows != 0 && written_.columns > max_cells / written_.rows) {
    throw Error(ErrorCode::kInvalidArgument, "a raster of " + std::to_string(written_.rows) + " rows and " +
                                                 std::to_string(written_.columns) +
                                                 " columns has more than " + std::to_string(max_cells) +
                                                 " cells; export a part of the cloud, or another format");
  }
}

/// Calls visit(i, row, column, rank, is_miss) for the scan's selected rows of a block.
template <class Visit>
void PtxRaster::for_each_row(std::size_t block, Scratch& scratch, Visit&& visit) const {
  const std::size_t begin = block * kSelectRows, end = std::min(rows_.end, begin + kSelectRows);
  row_.read(begin, end, scratch.row);
  column_.read(begin, end, scratch.column);
  return_.read(begin, end, scratch.rank);
  miss_.read(begin, end, scratch.miss);
  scan_.read(begin, end, scratch.scan);
  const bool indexed = row_.present() && column_.present();
  rows_.selection.for_each(begin, end, [&](std::size_t i) {
    const std::size_t k = i - begin;
    if (scan_.present() && scratch.scan[k] != *rows_.scan_index) return;
    const std::int64_t rank = return_.present() ? scratch.rank[k] : 0;
    visit(i, indexed ? scratch.row[k] : 0, indexed ? scratch.column[k] : 0,
          static_cast<std::uint32_t>(rank < 0 ? UINT32_MAX : rank), miss_.present() && scratch.miss[k] != 0);
  });
}

void PtxRaster::measure_indexes(OpContext& ctx) {
  std::vector<Scratch> scratch(static_cast<std::size_t>(ctx.threads()));
  std::vector<Extent> extents(static_cast<std::size_t>(ctx.threads()));
  parallel_for_worker(
      ctx, rows_.end - rows_.begin, kSelectRows, [&](std::size_t begin, std::size_t, int worker) {
        Extent own = extents[static_cast<std::size_t>(worker)];
        const std::size_t block = begin / kSelectRows;
        Reach reach{INT64_MAX, -1};
        for_each_row(first_block() + block, scratch[static_cast<std::size_t>(worker)],
                     [&](std::size_t, std::int64_t row, std::int64_t column, std::uint32_t, bool) {
                       if (row < 0 || column < 0) return;
                       own.low_row = std::min(own.low_row, row);
                       own.last_row = std::max(own.last_row, row);
                       reach.low = std::min(reach.low, column);
                       reach.last = std::max(reach.last, column);
                     });
        own.low_column = std::min(own.low_column, reach.low);
        own.last_column = std::max(own.last_column, reach.last);
        reach_[block] = reach;
        extents[static_cast<std::size_t>(worker)] = own;
      });
  Extent all;
  for (const Extent& own : extents) {
    all.low_row = std::min(all.low_row, own.low_row);
    all.last_row = std::max(all.last_row, own.last_row);
    all.low_column = std::min(all.low_column, own.low_column);
    all.last_column = std::max(all.last_column, own.last_column);
  }
  const auto side = [&](std::int64_t low, std::int64_t last, std::uint64_t declared, std::uint64_t& count) {
    const bool whole = declared > static_cast<std::uint64_t>(std::max<std::int64_t>(last, 0));
    if (last < 0) return std::int64_t{0};
    count = whole ? declared : static_cast<std::uint64_t>(last - low) + 1;
    return whole ? 0 : low;
  };
  low_row_ = side(all.low_row, all.last_row, rows_.sweep ? rows_.sweep->n_theta : 0, written_.rows);
  low_column_ = side(all.low_column, all.last_column, rows_.sweep ? rows_.sweep->n_phi : 0, written_.columns);
  written_.first_row = static_cast<std::uint64_t>(low_row_);
  written_.first_column = static_cast<std::uint64_t>(low_column_);
  if (written_.rows == 0 || written_.columns == 0) written_.rows = written_.columns = 0;
}

void PtxRaster::measure_sweep(OpContext& ctx) {
  if (!rows_.sweep) {
    throw Error(ErrorCode::kInvalidArgument,
                "PTX needs a raster: the columns row_index and column_index, or a sweep (n_theta, n_phi and "
                "angles); this scan has neither");
  }
  const PtxSweep& sweep = *rows_.sweep;
  require(sweep.n_theta != 0 && sweep.n_phi != 0 && sweep.theta_step_rad > 0 && sweep.phi_step_rad > 0 &&
              std::isfinite(sweep.theta_min_rad) && std::isfinite(sweep.phi_min_rad),
          "a sweep needs at least one row and column, positive steps and finite angles");
  written_.source = PtxRasterSource::kSweep;
  written_.rows = sweep.n_theta;
  written_.columns = sweep.n_phi;
  for (Reach& reach : reach_) reach = {0, static_cast<std::int64_t>(sweep.n_phi) - 1};
  ctx.advance(rows_.end - rows_.begin);
}

/// Cell of a point; false if it has none.
bool PtxRaster::cell_of(std::size_t i, std::int64_t row, std::int64_t column, std::uint64_t& cell) const {
  const Vec3d d = rows_.view.positions[i] - rows_.origin_stored;
  // A point written as zeros would be read back as an empty cell.
  if (!is_finite(d) || std::max({std::abs(d.x), std::abs(d.y), std::abs(d.z)}) < 0.5e-6) return false;
  if (written_.source == PtxRasterSource::kIndexes) {
    if (row < 0 || column < 0) return false;
    cell = static_cast<std::uint64_t>(column - low_column_) * written_.rows +
           static_cast<std::uint64_t>(row - low_row_);
    return true;
  }
  const PtxSweep& sweep = *rows_.sweep;
  const double theta = std::atan2(std::hypot(d.x, d.y), d.z);
  double turn = std::atan2(d.x, d.y) - sweep.phi_min_rad + sweep.phi_step_rad / 2;
  turn -= std::floor(turn / kTwoPi) * kTwoPi;
  const double place = std::floor((theta - sweep.theta_min_rad) / sweep.theta_step_rad + 0.5);
  const double along = std::floor(turn / sweep.phi_step_rad);
  if (!(place >= 0 && place < static_cast<double>(written_.rows))) return false;
  if (!(along >= 0 && along < static_cast<double>(written_.columns))) return false;
  cell = static_cast<std::uint64_t>(along) * written_.rows + static_cast<std::uint64_t>(place);
  return true;
}

void PtxRaster::fill(std::uint64_t first, std::size_t count, OpContext& ctx) {
  if (cells_.size() < count) cells_.resize(count);
  parallel_for(ctx, count, kCellGrain, [&](std::size_t begin, std::size_t end) {
    std::memset(cells_.data() + begin, 0xFF, (end - begin) * sizeof(std::uint64_t));
  });
  std::vector<Scratch> scratch(static_cast<std::size_t>(ctx.threads()));
  std::atomic<std::uint64_t> placed{0}, unplaced{0}, filled{0};
  const bool first_band = first == 0;
  const std::uint64_t height = std::max<std::uint64_t>(1, written_.rows);
  const std::int64_t low = low_column_ + static_cast<std::int64_t>(first / height);
  const std::int64_t last = low_column_ + static_cast<std::int64_t>((first + count) / height);
  parallel_for_worker(
      ctx, rows_.end - rows_.begin, kSelectRows, [&](std::size_t begin, std::size_t, int worker) {
        const std::size_t block = begin / kSelectRows;
        const bool reaches = reach_[block].low <= last && reach_[block].last >= low;
        if (!reaches && !first_band) return;
        std::uint64_t in_band = 0, outside = 0;
        for_each_row(
            first_block() + block, scratch[static_cast<std::size_t>(worker)],
            [&](std::size_t i, std::int64_t row, std::int64_t column, std::uint32_t rank, bool miss) {
              if (miss) return;
              std::uint64_t cell = 0;
              if (!cell_of(i, row, column, cell)) {
                ++outside;
              } else if (cell >= first && cell - first < count) {
                ++in_band;
                atomic_min(&cells_[static_cast<std::size_t>(cell - first)], std::uint64_t{rank} << 32U | i);
              }
            });
        placed += in_band;
        if (first_band) unplaced += outside;
      });
  parallel_for(ctx, count, kCellGrain, [&](std::size_t begin, std::size_t end) {
    std::uint64_t own = 0;
    for (std::size_t i = begin; i < end; ++i) own += cells_[i] != kEmpty ? 1 : 0;
    filled += own;
  });
  written_.filled += filled;
  written_.collapsed += placed - filled;
  written_.unplaced += unplaced;
}

char* PtxRaster::write_header(char* p) const {
  using namespace text_format;
  const auto line = [&](std::initializer_list<double> numbers) {
    for (const double number : numbers) {
      p = fixed6(number, p);
      *p++ = ' ';
    }
    p[-1] = '\n';
  };
  const Vec3d origin = rows_.origin_stored + rows_.view.offset;
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

char* PtxRaster::write_cell(std::size_t cell, char* p) const {
  using namespace text_format;
  const CloudView& view = rows_.view;
  const bool colored = !view.colors.empty();
  if (cells_[cell] == kEmpty) return word(colored ? "0 0 0 0.5 0 0 0\n" : "0 0 0 0.5\n", p);
  const auto row = static_cast<std::size_t>(cells_[cell] & UINT32_MAX);
  const Vec3d local = view.positions[row] - rows_.origin_stored;
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

}  // namespace pc::io::ptx
