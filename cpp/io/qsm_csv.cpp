#include "io/qsm_csv.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <optional>
#include <string_view>

#include "core/error.h"
#include "core/memory.h"
#include "core/platform.h"
#include "io/csv_cells.h"
#include "io/decimal.h"
#include "io/header_lines.h"

namespace pc::io {

namespace {

constexpr double kMostWhole = 0x1.0p53 - 1, kMostRank = 0x1.0p31 - 1;
/// Beyond this a length in metres is an error of the file.
constexpr double kMostMetres = 1e9;
constexpr std::size_t kReadBytes = std::size_t{8} << 20;
constexpr std::uint64_t kRowsPerPoll = 1 << 12;

enum Field : std::size_t {
  kId,
  kParent,
  kRank,
  kStartX,
  kStartY,
  kStartZ,
  kEndX,
  kEndY,
  kEndZ,
  kRadius,
  kSegment,
  kBranch,
  kParentSegment,
  kCoverage,
  kDeviation,
  kAxisX,
  kAxisY,
  kAxisZ,
  kLength,
  kFieldCount
};

struct Wanted {
  const char* header;                     ///< for messages
  std::array<std::string_view, 3> names;  ///< the first that the file has wins
};
using WantedFields = std::array<Wanted, kFieldCount>;

constexpr WantedFields kFields = {{{"ID", {"id", "cylinderid", "cylid"}},
                                   {"parentID", {"parentid", "parent"}},
                                   {"branchOrder", {"branchorder", "order", "rank"}},
                                   {"startX", {"startx", "startxm", "x1"}},
                                   {"startY", {"starty", "startym", "y1"}},
                                   {"startZ", {"startz", "startzm", "z1"}},
                                   {"endX", {"endx", "endxm", "x2"}},
                                   {"endY", {"endy", "endym", "y2"}},
                                   {"endZ", {"endz", "endzm", "z2"}},
                                   {"radius", {"radius", "radiusm", "rad"}},
                                   {"segmentID", {"segmentid", "segment"}},
                                   {"branchID", {"branchid", "branch"}},
                                   {"parentSegmentID", {"parentsegmentid", "parentsegment"}},
                                   {"surfaceCoverage", {"surfacecoverage", "surfcov"}},
                                   {"meanAbsDeviation", {"meanabsdeviation", "meandeviation", "mad"}},
                                   {"axisX", {}},
                                   {"axisY", {}},
                                   {"axisZ", {}},
                                   {"length", {}}}};
constexpr std::size_t kRequiredCount = kSegment;  // the fields before it

/// Names of TreeQSM's table, where they differ.
constexpr WantedFields kTreeQsm = [] {
  WantedFields fields = kFields;
  fields[kId] = {"ID", {}};
  fields[kStartX] = {"start_1", {"start1"}};
  fields[kStartY] = {"start_2", {"start2"}};
  fields[kStartZ] = {"start_3", {"start3"}};
  fields[kEndX] = fields[kEndY] = fields[kEndZ] = {"", {}};
  fields[kAxisX] = {"axis_1", {"axis1"}};
  fields[kAxisY] = {"axis_2", {"axis2"}};
  fields[kAxisZ] = {"axis_3", {"axis3"}};
  fields[kLength] = {"length", {"length"}};
  return fields;
}();
constexpr std::array kTreeQsmRequired = {kParent, kRank,  kStartX, kStartY, kStartZ,
                                         kRadius, kAxisX, kAxisY,  kAxisZ,  kLength};

constexpr std::size_t kAbsent = static_cast<std::size_t>(-1);

/// Position of each field among the columns of the file.
struct Layout {
  std::array<std::size_t, kFieldCount> column;
  std::size_t column_count;
  bool tree_qsm;
  const Wanted& wanted(Field field) const { return (tree_qsm ? kTreeQsm : kFields)[field]; }
};

std::string plain_name(std::string_view cell) {
  std::string out;
  for (const char c : cell) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 128 && std::isalnum(byte)) out += static_cast<char>(std::tolower(byte));
  }
  return out;
}

std::array<std::size_t, kFieldCount> columns_of(const std::vector<std::string>& names,
                                                const WantedFields& wanted) {
  std::array<std::size_t, kFieldCount> out;
  out.fill(kAbsent);
  for (std::size_t f = 0; f < kFieldCount; ++f) {
    for (const std::string_view name : wanted[f].names) {
      if (name.empty() || out[f] != kAbsent) break;
      for (std::size_t c = 0; c < names.size() && out[f] == kAbsent; ++c)
        if (names[c] == name) out[f] = c;
    }
  }
  return out;
}

Layout layout_of(const std::vector<std::string_view>& header) {
  std::vector<std::string> names;
  names.reserve(header.size());
  for (const std::string_view cell : header) names.push_back(plain_name(cell));
  Layout layout{columns_of(names, kFields), names.size(), false};
  if (layout.column[kId] == kAbsent) {
    const auto tree = columns_of(names, kTreeQsm);
    bool complete = true;
    for (const Field field : kTreeQsmRequired) complete = complete && tree[field] != kAbsent;
    if (complete) return {tree, names.size(), true};
  }
  std::string missing;
  for (std::size_t f = 0; f < kRequiredCount; ++f)
    if (layout.column[f] == kAbsent)
      missing += (missing.empty() ? "" : ", ") + std::string(kFields[f].header);
  if (!missing.empty())
    throw Error(ErrorCode::kInvalidFile,
                "the header has no column " + missing + "; a table of cylinders needs ID, parentID, " +
                    "branchOrder, startX, startY, startZ, endX, endY, endZ and radius");
  return layout;
}

/// The cells of one row as numbers.
class CylinderRow {
 public:
  CylinderRow(const CsvCells& cells, const Layout& layout) : cells_(cells), layout_(layout) {}

  [[noreturn]] void fail(Field field, const std::string& problem) const {
    throw Error(ErrorCode::kInvalidFile, "row " + std::to_string(cells_.row()) + ", column " +
                                             layout_.wanted(field).header + ": " + problem);
  }

  double metres(Field field) const {
    const double value = number(field);
    if (!(std::fabs(value) <= kMostMetres))
      fail(field, quoted(std::string(cell(field))) + " is not a finite number of metres up to 1e9");
    return value;
  }
  std::int64_t whole(Field field, double least, double most = kMostWhole) const {
    const double value = number(field);
    if (std::trunc(value) != value || !(value >= least && value <= most))
      fail(field, quoted(std::string(cell(field))) + " is not a whole number from " +
                      std::to_string(static_cast<std::int64_t>(least)) + " to " +
                      std::to_string(static_cast<std::int64_t>(most)));
    return static_cast<std::int64_t>(value);
  }
  /// `otherwise` for an empty cell and a column that the file does not have.
  std::int64_t optional_whole(Field field, double least, std::int64_t otherwise) const {
    return cell(field).empty() ? otherwise : whole(field, least);
  }
  /// NaN for an empty cell and a column that the file does not have.
  double optional_number(Field field, double most, const char* range) const {
    if (cell(field).empty()) return std::nan("");
    const double value = number(field);
    if (value < 0 || value > most) fail(field, quoted(std::string(cell(field))) + " is outside of " + range);
    return value;
  }
  /// More cells than the header: a decimal comma would make two of one.
  void check_width() const {
    const auto& cells = cells_.cells();
    for (std::size_t i = layout_.column_count; i < cells.size(); ++i)
      if (!cells[i].empty())
        throw Error(ErrorCode::kInvalidFile, "row " + std::to_string(cells_.row()) + " has " +
                                                 std::to_string(cells.size()) + " cells, the header " +
                                                 std::to_string(layout_.column_count) +
                                                 "; numbers must have a decimal point, not a comma");
  }

 private:
  std::string_view cell(Field field) const {
    const std::size_t column = layout_.column[field];
    return column < cells_.cells().size() ? cells_.cells()[column] : std::string_view{};
  }
  double number(Field field) const {
    const std::string_view text = cell(field);
    if (text.empty()) fail(field, "the cell is empty");
    if (const std::optional<double> value = parse_decimal(text, '.')) return *value;
    if (text.find(',') != std::string_view::npos && parse_decimal(text, ','))
      fail(field, quoted(std::string(text)) + " has a decimal comma; write a decimal point");
    fail(field, quoted(std::string(text)) + " is not a number");
  }

  const CsvCells& cells_;
  const Layout& layout_;
};

Vec3d end_of(const CylinderRow& row, const Vec3d& start) {
  const Vec3d axis{row.metres(kAxisX), row.metres(kAxisY), row.metres(kAxisZ)};
  const double norm = std::sqrt(squared_distance(axis, Vec3d{0, 0, 0})), length = row.metres(kLength);
  if (!(norm > 0)) row.fail(kAxisX, "the axis has no direction");
  if (length < 0) row.fail(kLength, "a length is below 0");
  const double scale = length / norm;
  return {start.x + scale * axis.x, start.y + scale * axis.y, start.z + scale * axis.z};
}

QsmCylinder cylinder_of(const CylinderRow& row, const Layout& layout, std::int64_t number) {
  const Vec3d start{row.metres(kStartX), row.metres(kStartY), row.metres(kStartZ)};
  const bool tree = layout.tree_qsm;
  const double radius = row.metres(kRadius);
  if (!(radius > 0)) row.fail(kRadius, "a radius must be above 0");
  const std::int64_t parent = row.whole(kParent, tree ? 0 : -1);
  return {.cyl_id = tree ? number : row.whole(kId, 0),
          .start = start,
          .end = tree ? end_of(row, start) : Vec3d{row.metres(kEndX), row.metres(kEndY), row.metres(kEndZ)},
          .radius = radius,
          .parent_id = tree && parent == 0 ? kNoQsmParent : parent,
          .shoot_id = row.optional_whole(kSegment, 0, row.optional_whole(kBranch, 0, kNoQsmParent)),
          .rank = static_cast<std::int32_t>(row.whole(kRank, 0, kMostRank)),
          .surf_cov = row.optional_number(kCoverage, 1, "0..1"),
          .mad = row.optional_number(kDeviation, kMostMetres, "0..1e9 m")};
}

BulkVector<char> text_of(const platform::File& file, OpContext& ctx) {
  BulkVector<char> text(static_cast<std::size_t>(file.size()));
  ctx.begin_phase("Reading cylinders", 2 * file.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t read = file.read_at(at, text.data() + at, std::min(kReadBytes, text.size() - at));
    if (read == 0) throw Error(ErrorCode::kIo, "the file became shorter while it was read");
    at += read;
    ctx.advance(read);
    ctx.checkpoint();
  }
  return text;
}

std::string_view without_mark(std::string_view text) {
  if (text.substr(0, 3) == "\xef\xbb\xbf") return text.substr(3);
  if (text.substr(0, 2) == "\xff\xfe" || text.substr(0, 2) == "\xfe\xff")
    throw Error(ErrorCode::kInvalidFile, "the text is UTF-16; save the table as CSV in UTF-8");
  return text;
}

QsmRows rows_of(std::string_view text, OpContext& ctx) {
  CsvCells cells(text, sniffed_separator(text));
  bool any = false;
  while (!any && cells.next()) any = !cells.blank();
  if (!any) throw Error(ErrorCode::kInvalidFile, "the file is empty");
  const Layout layout = layout_of(cells.cells());
  QsmRows rows;
  while (cells.next()) {
    if (cells.row() % kRowsPerPoll == 0) ctx.checkpoint();
    if (cells.blank()) continue;
    const CylinderRow row(cells, layout);
    row.check_width();
    const auto number = static_cast<std::int64_t>(rows.cylinders.size()) + 1;
    rows.cylinders.push_back(cylinder_of(row, layout, number));
    rows.parent_shoot.push_back(row.optional_whole(kParentSegment, -1, QsmRows::kNotStated));
  }
  if (rows.cylinders.empty()) throw Error(ErrorCode::kInvalidFile, "no row follows the header");
  return rows;
}

}  // namespace

QsmRows read_qsm_csv(const std::string& path, OpContext& ctx) {
  const platform::File file = platform::File::open_read(path);
  const BulkVector<char> text = text_of(file, ctx);
  try {
    return rows_of(without_mark({text.data(), text.size()}), ctx);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInvalidFile) throw;
    throw Error(ErrorCode::kInvalidFile, path + ": " + error.what());
  }
}

std::uint64_t qsm_csv_bytes(std::uint64_t file_bytes) {
  constexpr std::uint64_t kShortRow = 60,
                          kRowBytes = 700;  // coordinates in millimetres; records, links and tables
  return file_bytes + file_bytes / kShortRow * kRowBytes;
}

}  // namespace pc::io
