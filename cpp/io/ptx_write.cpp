#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/parallel.h"
#include "core/platform.h"
#include "io/cloud_view_checks.h"
#include "io/ordered_output.h"
#include "io/ptx.h"
#include "io/ptx_raster.h"

namespace pc::io {

namespace {

using ptx::kSelectRows;
using ptx::PtxRaster;
using ptx::ScanRows;

constexpr std::size_t kBlockCells = 1 << 14;

/// Writes one scan from byte result.bytes on.
void write_scan(const ScanRows& rows, std::uint64_t max_cells, platform::File& file, PtxWriteResult& result,
                OpContext& ctx) {
  PtxRaster raster(rows, max_cells, ctx);
  const PtxWrittenScan& written = raster.written();
  BlockBuffer header;
  header.end_at(raster.write_header(header.room(PtxRaster::kMaxHeaderBytes)));
  file.write_at(result.bytes, header.data(), header.size());
  result.bytes += header.size();
  const std::uint64_t cells = raster.cell_count(), band = PtxRaster::kBandCells;
  ctx.begin_phase(
      "Formatting points",
      (rows.end - rows.begin) * std::max<std::uint64_t>(1, (cells + band - 1) / band) + 3 * cells);
  std::uint64_t first = 0;
  do {  // at least once: an empty raster still counts its unplaced points
    const auto count = static_cast<std::size_t>(std::min(band, cells - first));
    raster.fill(first, count, ctx);
    result.bytes = write_in_order(file, result.bytes, count, kBlockCells, ctx,
                                  [&](std::size_t begin, std::size_t end, BlockBuffer& buffer) {
                                    for (std::size_t cell = begin; cell < end; ++cell) {
                                      char* p = buffer.room(PtxRaster::kMaxCellBytes);
                                      buffer.end_at(raster.write_cell(cell, p));
                                    }
                                  });
    first += count;
  } while (first < cells);
  result.scans.push_back(written);
  result.scans.back().scan_index = static_cast<std::uint32_t>(rows.scan_index.value_or(0));
}

/// Range of rows that contains all rows of a scan.
struct RowRange {
  std::size_t first = SIZE_MAX, last = 0;
  bool empty() const { return first > last; }
};

/// The range of every value of scan_index.
std::vector<RowRange> scan_ranges(const CloudView& view, const RowSelection& selection,
                                  const AnyColumn& column, std::uint64_t& without, OpContext& ctx) {
  struct Own {
    std::vector<RowRange> ranges;
    std::vector<std::int64_t> scan;
    std::uint64_t without = 0;
  };
  std::vector<Own> workers(static_cast<std::size_t>(ctx.threads()));
  const Indexes scan(&column);
  ctx.begin_phase("Telling the scans apart", view.positions.size);
  parallel_for_worker(ctx, view.positions.size, kSelectRows,
                      [&](std::size_t begin, std::size_t end, int worker) {
                        Own& own = workers[static_cast<std::size_t>(worker)];
                        own.ranges.resize(ScanRowTable::kMaxScans);
                        scan.read(begin, end, own.scan);
                        selection.for_each(begin, end, [&](std::size_t row) {
                          const std::int64_t index = own.scan[row - begin];
                          if (index < 0 || index >= static_cast<std::int64_t>(ScanRowTable::kMaxScans)) {
                            ++own.without;
                            return;
                          }
                          RowRange& range = own.ranges[static_cast<std::size_t>(index)];
                          range.first = std::min(range.first, row);
                          range.last = std::max(range.last, row);
                        });
                      });
  std::vector<RowRange> all(ScanRowTable::kMaxScans);
  for (const Own& own : workers) {
    without += own.without;
    for (std::size_t i = 0; i < own.ranges.size(); ++i) {
      all[i].first = std::min(all[i].first, own.ranges[i].first);
      all[i].last = std::max(all[i].last, own.ranges[i].last);
    }
  }
  return all;
}

}  // namespace

PtxWriteResult write_ptx(const std::vector<PtxWriteScan>& scans, const PtxWriteParams& params,
                         const std::string& path, OpContext& ctx) {
  require(!scans.empty(), "a PTX file needs at least one scan");
  require(params.max_cells <= ptx::kMaxCells, "max_cells can be 2^32 - 2 at most");
  for (const PtxWriteScan& scan : scans) check_columns(scan.view);
  platform::File file = platform::File::create(path);
  PtxWriteResult result;
  for (const PtxWriteScan& scan : scans) {
    const RowSelection selection(scan.view, kSelectRows, ctx);
    const std::size_t end = scan.view.positions.size;
    result.colors_cut = result.colors_cut || colors_need_16_bits(scan.view, selection, ctx);
    write_scan({scan.view, selection, 0, end, scan.origin_stored, scan.sweep, std::nullopt}, params.max_cells,
               file, result, ctx);
  }
  file.close_checked();
  return result;
}

PtxWriteResult write_ptx_cloud(const CloudView& view, const PtxCloudWriteParams& params,
                               const std::string& path, OpContext& ctx) {
  const AnyColumn* column = find_scalar(view, "scan_index");
  if (column == nullptr) {
    return write_ptx({{view, params.origin_stored, params.sweep}}, {params.max_cells}, path, ctx);
  }
  require(params.max_cells <= ptx::kMaxCells, "max_cells can be 2^32 - 2 at most");
  check_columns(view);
  platform::File file = platform::File::create(path);
  PtxWriteResult result;
  const RowSelection selection(view, kSelectRows, ctx);
  result.colors_cut = colors_need_16_bits(view, selection, ctx);
  const std::vector<RowRange> ranges = scan_ranges(view, selection, *column, result.without_scan, ctx);
  for (std::size_t scan = 0; scan < ranges.size(); ++scan) {
    if (ranges[scan].empty()) continue;
    Vec3d origin = params.origin_stored;
    for (const PtxScanOrigin& known : params.origins) {
      if (known.scan_index == scan) origin = known.origin_stored;
    }
    const std::size_t begin = ranges[scan].first / kSelectRows * kSelectRows;
    write_scan({view, selection, begin, ranges[scan].last + 1, origin, std::nullopt,
                static_cast<std::int64_t>(scan)},
               params.max_cells, file, result, ctx);
  }
  require(!result.scans.empty(), "no point has a scan_index from 0 to 65534; a PTX file needs a scan");
  file.close_checked();
  return result;
}

}  // namespace pc::io
