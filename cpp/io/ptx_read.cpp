#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <utility>

#include "core/error.h"
#include "core/parallel.h"
#include "io/decimal.h"
#include "io/ptx_layout.h"
#include "io/record_value.h"

namespace pc::io {

namespace ptx {

namespace {

constexpr std::size_t kMaxValues = 7;
constexpr std::uint64_t kFreeBytes = std::uint64_t{48} << 20, kBytesPerFileByte = 16;

/// The numbers in the line of a cell.
struct Cell {
  double values[kMaxValues];
  std::size_t count = 0;
  bool surplus = false;

  bool has_intensity() const { return count == 4 || count == 5 || count == 7; }
  bool has_color() const { return count >= 6; }
  double intensity() const { return values[3]; }
  const double* color() const { return values + (count == 7 ? 4 : 3); }
  /// True without a return: the scanner's own zero, or values that are not a position.
  bool empty() const {
    const Vec3d p{values[0], values[1], values[2]};
    return !is_finite(p) || (p.x == 0 && p.y == 0 && p.z == 0);
  }
};

/// Parses a line up to its '\n'; false if it has fewer than three numbers or a word that is not a number.
bool parse_cell(const char* p, const char* end, Cell& cell) {
  cell.count = 0;
  cell.surplus = false;
  for (;;) {
    p = record_value::skip_blanks(p, end);
    if (p == end) return cell.count >= 3;
    if (cell.count == kMaxValues) {
      cell.surplus = true;
      return true;
    }
    Decimal number;
    const char* stop = scan_decimal(p, '.', number);
    if (stop != nullptr && (stop == end || record_value::is_blank(*stop))) {
      cell.values[cell.count++] = number.value;
      p = stop;
      continue;
    }
    stop = record_value::token_end(p, end);
    const auto value = parse_decimal({p, static_cast<std::size_t>(stop - p)}, '.');
    if (!value) return false;
    cell.values[cell.count++] = *value;
    p = stop;
  }
}

/// Conversion of file values to 16 bits.
struct ChannelMap {
  double color_scale = 1;  ///< to 0..255
  double intensity_low = 0, intensity_span = 1;

  std::uint16_t color(double value) const {
    const double scaled = value * color_scale;
    if (!(scaled > 0)) return 0;
    return static_cast<std::uint16_t>(static_cast<int>(std::min(std::floor(scaled + 0.5), 255.0)) << 8);
  }
  std::uint16_t intensity(double value) const {
    if (!std::isfinite(value) || intensity_span == 0) return 0;
    const double unit = std::clamp((value - intensity_low) / intensity_span, 0.0, 1.0);
    return static_cast<std::uint16_t>(std::floor(unit * 65535 + 0.5));
  }
};

/// Results of a pass: sums, minima and maxima, so that the order of chunks does not matter.
struct Findings {
  std::uint64_t malformed = 0, surplus = 0, nonfinite = 0;
  bool any_color = false, any_intensity = false, color_fraction = false;
  double color_maximum = 0, intensity_minimum = HUGE_VAL, intensity_maximum = -HUGE_VAL;
  std::uint64_t first_bad_line = ~std::uint64_t{0};

  void add(const Findings& other) {
    malformed += other.malformed;
    surplus += other.surplus;
    nonfinite += other.nonfinite;
    any_color = any_color || other.any_color;
    any_intensity = any_intensity || other.any_intensity;
    color_fraction = color_fraction || other.color_fraction;
    color_maximum = std::max(color_maximum, other.color_maximum);
    intensity_minimum = std::min(intensity_minimum, other.intensity_minimum);
    intensity_maximum = std::max(intensity_maximum, other.intensity_maximum);
    first_bad_line = std::min(first_bad_line, other.first_bad_line);
  }
  void note(const Cell& cell) {
    surplus += cell.surplus || cell.count == 5 ? 1 : 0;
    if (cell.has_intensity()) any_intensity = true;
    if (cell.has_color()) any_color = true;
    if (cell.empty()) return;
    if (cell.has_intensity() && std::isfinite(cell.intensity())) {
      intensity_minimum = std::min(intensity_minimum, cell.intensity());
      intensity_maximum = std::max(intensity_maximum, cell.intensity());
    }
    for (int k = 0; cell.has_color() && k < 3; ++k) {
      const double value = cell.color()[k];
      if (!std::isfinite(value)) continue;
      color_maximum = std::max(color_maximum, value);
      color_fraction = color_fraction || value != std::floor(value);
    }
  }
  /// The conversion that these values require.
  ChannelMap map() const {
    ChannelMap map;
    if (color_fraction && color_maximum <= 1) map.color_scale = 255;
    if (intensity_minimum < 0 || intensity_maximum > 1) {
      map.intensity_low = intensity_minimum;
      map.intensity_span = intensity_maximum > intensity_minimum ? intensity_maximum - intensity_minimum : 0;
      if (!std::isfinite(map.intensity_span)) map.intensity_span = std::numeric_limits<double>::max();
    }
    return map;
  }
};

struct PtxColumns {
  Column<Vec3d> positions;
  Column<Rgb16> rgb;
  Column<std::uint16_t> intensity, scan_index;
  Column<std::int32_t> row, column;
  Column<std::uint8_t> is_miss;

  PtxColumns(std::size_t rows, bool several)
      : positions(rows),
        rgb(rows),
        intensity(rows),
        scan_index(several ? rows : 0),
        row(rows),
        column(rows),
        is_miss(rows) {}
};

/// Parses the cells of the wanted scans to the columns, chunk by chunk.
class CellReader {
 public:
  CellReader(const LineSource& source, const FileLayout& layout, const PositionFrame& frame, PtxColumns& out)
      : source_(source), layout_(layout), frame_(frame), out_(out) {}

  Findings run(const ChannelMap& map, OpContext& ctx) {
    Findings all;
    std::mutex mutex;
    std::vector<BulkVector<char>> buffers(static_cast<std::size_t>(ctx.threads()));
    const std::size_t chunks = layout_.before.size() - 1;
    ctx.begin_phase("Reading points", chunks);
    parallel_for_worker(ctx, chunks, 1, [&](std::size_t chunk, std::size_t, int worker) {
      Findings found;
      read_chunk(chunk, map, buffers[static_cast<std::size_t>(worker)], found);
      const std::lock_guard<std::mutex> lock(mutex);
      all.add(found);
    });
    return all;
  }

 private:
  void read_chunk(std::size_t chunk, const ChannelMap& map, BulkVector<char>& buffer, Findings& found) {
    std::uint64_t ordinal = layout_.before[chunk];
    if (ordinal == layout_.before[chunk + 1]) return;
    const std::uint64_t begin = chunk * kChunkBytes;
    const Span<const char> text =
        source_.read_lines(begin, std::min(source_.data_bytes(), begin + kChunkBytes), buffer);
    auto next =
        std::upper_bound(layout_.scans.begin(), layout_.scans.end(), ordinal,
                         [](std::uint64_t at, const ScanLines& scan) { return at < scan.first_cell; });
    const ScanLines* scan = next == layout_.scans.begin() ? nullptr : &*std::prev(next);
    for_each_line(text, layout_.lines_before[chunk] + 1,
                  [&](const char* p, const char* end, std::uint64_t number) {
                    if (record_value::skip_blanks(p, end) == end) return;
                    const std::uint64_t at = ordinal++;
                    if (next != layout_.scans.end() && at >= next->first_cell) scan = &*next++;
                    if (scan == nullptr || !scan->wanted || at - scan->first_cell >= scan->cells)
                      return;  // a header line
                    store(*scan, at - scan->first_cell, p, end, number, map, found);
                  });
  }

  void store(const ScanLines& scan, std::uint64_t index, const char* p, const char* end, std::uint64_t number,
             const ChannelMap& map, Findings& found) {
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    const auto row = static_cast<std::size_t>(scan.first_row + index);
    Cell cell;
    if (!parse_cell(p, end, cell)) {
      ++found.malformed;
      found.first_bad_line = std::min(found.first_bad_line, number);
      out_.positions[row] = {kNan, kNan, kNan};
      return;
    }
    found.note(cell);
    const bool miss = cell.empty();
    const Vec3d place = miss ? Vec3d{0, 0, 0} : Vec3d{cell.values[0], cell.values[1], cell.values[2]};
    out_.positions[row] = frame_.apply(file_position(scan.header, place));
    out_.is_miss[row] = miss ? 1 : 0;
    out_.column[row] = static_cast<std::int32_t>(index / scan.header.rows);
    out_.row[row] = static_cast<std::int32_t>(index % scan.header.rows);
    out_.intensity[row] = !miss && cell.has_intensity() ? map.intensity(cell.intensity()) : std::uint16_t{0};
    const bool color = !miss && cell.has_color();
    out_.rgb[row] =
        color ? Rgb16{map.color(cell.color()[0]), map.color(cell.color()[1]), map.color(cell.color()[2])}
              : Rgb16{0, 0, 0};
    if (out_.scan_index.size() != 0) {
      out_.scan_index[row] = static_cast<std::uint16_t>(&scan - layout_.scans.data());
    }
    if (!is_finite(out_.positions[row])) ++found.nonfinite;
  }

  const LineSource& source_;
  const FileLayout& layout_;
  const PositionFrame& frame_;
  PtxColumns& out_;
};

template <class T>
void keep_finite(Column<T>& column, Span<const Vec3d> positions, const OpContext& ctx) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < column.size(); ++i) {
    if (i % (std::size_t{1} << 20) == 0) ctx.checkpoint();
    if (is_finite(positions[i])) column[kept++] = column[i];
  }
  column.shrink(kept);
}

/// Drops the rows without a position and sets rows and misses of the results.
void settle_rows(PtxColumns& columns, std::uint64_t dropped, std::vector<PtxScanResult>& results,
                 OpContext& ctx) {
  ctx.begin_phase("Counting misses", results.size());
  std::uint64_t gone = 0;
  for (PtxScanResult& result : results) {
    const std::uint64_t first = result.first_row, end = first + result.row_count;
    result.first_row -= gone;
    for (std::uint64_t i = first; i < end; ++i) {
      if (i % (std::uint64_t{1} << 20) == 0) ctx.checkpoint();
      const auto row = static_cast<std::size_t>(i);
      const bool finite = is_finite(columns.positions[row]);
      gone += finite ? 0 : 1;
      result.row_count -= finite ? 0 : 1;
      result.miss_count += finite && columns.is_miss[row] != 0 ? 1 : 0;
    }
  }
  if (dropped == 0) return;
  const Span<const Vec3d> positions = std::as_const(columns.positions).view();
  keep_finite(columns.rgb, positions, ctx);
  keep_finite(columns.intensity, positions, ctx);
  keep_finite(columns.row, positions, ctx);
  keep_finite(columns.column, positions, ctx);
  keep_finite(columns.is_miss, positions, ctx);
  keep_finite(columns.scan_index, positions, ctx);
  keep_finite(columns.positions, positions, ctx);
}

/// Marks the wanted scans and assigns their rows; throws kInvalidFile if the text is too short for them.
std::uint64_t plan_rows(const platform::File& file, FileLayout& layout, const PtxReadParams& params,
                        PtxCloud& cloud) {
  const std::string& path = file.path();
  if (params.scan_index && *params.scan_index >= layout.scans.size()) {
    throw Error(ErrorCode::kInvalidArgument,
                path + ": scan_index " + std::to_string(*params.scan_index) + " is too large, the file has " +
                    std::to_string(layout.scans.size()) + " scan(s), counted from 0");
  }
  std::uint64_t rows = 0, declared = 0;
  for (std::size_t s = 0; s < layout.scans.size(); ++s) {
    ScanLines& scan = layout.scans[s];
    scan.wanted = !params.scan_index || *params.scan_index == s;
    if (!scan.wanted) continue;
    scan.first_row = rows;
    PtxScanResult result{scan.header, static_cast<std::uint32_t>(s), rows, scan.cells};
    result.origin_stored = params.frame.apply(file_position(scan.header, {0, 0, 0}));
    if (!is_finite(result.origin_stored)) {
      throw Error(ErrorCode::kInvalidFile,
                  path + ", line " + std::to_string(scan.header.first_line) +
                      ": the matrix takes the scanner out of the range of numbers; correct it");
    }
    cloud.scans.push_back(result);
    rows += scan.cells;
    declared += scan.header.columns * scan.header.rows == 0 ? 0 : 1;
  }
  if (rows == 0 && declared != 0) {
    throw Error(ErrorCode::kInvalidFile,
                path + ": points are declared, the file holds no complete one; it is cut off");
  }
  constexpr std::uint64_t kRowBytes = 24 + 6 + 2 + 2 + 4 + 4 + 1;
  if (rows > (kFreeBytes + kBytesPerFileByte * file.size()) / kRowBytes) {
    throw Error(ErrorCode::kInvalidFile, path + ": " + std::to_string(rows) +
                                             " lines are too short to be points; is this a PTX file?");
  }
  return rows;
}

/// Moves the columns that the file has into the table.
void fill_table(PtxColumns& columns, const Findings& found, PtxCloud& cloud) {
  CloudTable& table = cloud.table;
  const auto add = [&](bool wanted, const char* name, auto& column) {
    if (wanted) table.columns.push_back({name, "", false, AnyColumn(std::move(column))});
  };
  for (const PtxScanResult& scan : cloud.scans) cloud.unplaceable_miss_count += scan.miss_count;
  table.positions = std::move(columns.positions);
  add(found.any_color, "rgb", columns.rgb);
  add(found.any_intensity, "intensity", columns.intensity);
  add(true, "row_index", columns.row);
  add(true, "column_index", columns.column);
  add(cloud.unplaceable_miss_count != 0, "is_miss", columns.is_miss);
  add(cloud.scans.size() > 1, "scan_index", columns.scan_index);
  table.malformed_dropped = found.malformed;
  table.nonfinite_dropped = found.nonfinite;
  if (found.malformed != 0) {
    table.warnings.push_back(std::to_string(found.malformed) +
                             " line(s) could not be read as points and are left out; the first is line " +
                             std::to_string(found.first_bad_line));
  }
  if (found.surplus != 0) {
    table.warnings.push_back(std::to_string(found.surplus) +
                             " line(s) hold more values than a PTX point has; the surplus is ignored");
  }
}

}  // namespace

}  // namespace ptx

PtxCloud read_ptx(const std::string& path, const PtxReadParams& params, OpContext& ctx) {
  require(std::isfinite(params.frame.unit_scale) && params.frame.unit_scale != 0.0 &&
              is_finite(params.frame.shift),
          "unit_scale and shift must be finite, and unit_scale not zero");
  const auto file = platform::File::open_read(path);
  const ptx::TextStart start = ptx::find_start(file);
  const LineSource source(file, start.data_start, start.cr_lines);
  ptx::FileLayout layout = ptx::read_layout(file, source, ctx);
  PtxCloud cloud;
  cloud.scan_count = layout.scans.size();
  const auto rows = static_cast<std::size_t>(ptx::plan_rows(file, layout, params, cloud));
  cloud.table.warnings = layout.warnings;
  ptx::PtxColumns columns(rows, cloud.scans.size() > 1);
  ptx::CellReader reader(source, layout, params.frame, columns);
  const ptx::Findings found = reader.run(ptx::ChannelMap(), ctx);
  if (rows != 0 && found.malformed == rows) {
    throw Error(ErrorCode::kInvalidFile, path + ", line " + std::to_string(found.first_bad_line) +
                                             ": no line can be read as a point (x y z, intensity, r g b)");
  }
  const ptx::ChannelMap map = found.map();
  const bool usual = map.color_scale == 1 && map.intensity_low == 0 && map.intensity_span == 1;
  if (!usual) reader.run(map, ctx);
  ptx::settle_rows(columns, found.malformed + found.nonfinite, cloud.scans, ctx);
  ptx::fill_table(columns, found, cloud);
  return cloud;
}

}  // namespace pc::io
