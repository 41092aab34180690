#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <utility>

#include "core/error.h"
#include "core/gather.h"
#include "io/e57_scan.h"

namespace pc::io {

namespace e57 {

namespace {

constexpr std::size_t kMaxTableColumns = 1024;
constexpr std::uint64_t kMaxRows = std::uint64_t{1} << 48;
constexpr std::uint64_t kFreeBytes = std::uint64_t{48} << 20;  // a table may take this much
constexpr std::uint64_t kBytesPerFileByte = 16;                // plus this for each byte of its file
constexpr double kPi = 3.14159265358979323846;
constexpr double kAngleStep = 1e-6;       ///< radians; finer than any scanner's resolution
constexpr double kMostAzimuth = 4 * kPi;  ///< above this the values are not radians
constexpr const char* kOwnNames[] = {"rgb",       "intensity",    "row_index",    "column_index", "is_miss",
                                     "timestamp", "target_index", "target_count", "scan_index"};

/// A column for a field without a role.
struct ExtraColumn {
  std::string name;
  E57FieldType type;
  std::int64_t minimum, maximum;
  std::size_t scans = 0;  ///< number of scans with points that have it
  bool mixed = false;     ///< scans have different types for it
};

/// The scans to read and the columns that they need.
struct TablePlan {
  std::vector<ScanPlan> scans;
  std::vector<ExtraColumn> extras;
  std::uint64_t rows = 0;
  std::array<bool, kRoleCount> any{};  ///< at least one scan has the role
};

std::string label_of(const ScanPlan& plan) {
  const std::string& name = plan.scan->name;
  return "scan " + std::to_string(plan.scan_index) + (name.empty() ? "" : " (" + name.substr(0, 60) + ")");
}

/// Largest value that the field's bits can represent.
std::int64_t reach_of(const E57Field& field) {
  if (field.bits >= 63) return std::numeric_limits<std::int64_t>::max();
  const std::int64_t span = (std::int64_t{1} << field.bits) - 1;
  const std::int64_t room =
      std::numeric_limits<std::int64_t>::max() - std::max<std::int64_t>(field.minimum, 0);
  return field.minimum + std::min(span, room);
}

void add_extra(const E57Field& field, std::size_t index, std::map<std::string, std::size_t>& known,
               TablePlan& table, ScanPlan& scan) {
  const auto [entry, is_new] = known.emplace(field.name, table.extras.size());
  if (is_new) table.extras.push_back({field.name, field.type, field.minimum, reach_of(field)});
  ExtraColumn& extra = table.extras[entry->second];
  extra.mixed = extra.mixed || extra.type != field.type;
  extra.minimum = std::min(extra.minimum, field.minimum);
  extra.maximum = std::max(extra.maximum, reach_of(field));
  ++extra.scans;
  scan.extras.push_back({index, entry->second});
}

TablePlan plan_table(const std::string& path, const E57Header& header, const E57ReadParams& params,
                     std::vector<std::string>& warnings) {
  TablePlan table;
  std::map<std::string, std::size_t> known;
  for (std::size_t s = 0; s < header.scans.size(); ++s) {
    if (params.scan_index && *params.scan_index != s) continue;
    const E57Scan& scan = header.scans[s];
    ScanPlan plan{&scan, table.rows, roles_of(scan), {}, static_cast<std::uint16_t>(s)};
    if (scan.point_count > kMaxRows || table.rows + scan.point_count > kMaxRows) {
      throw Error(ErrorCode::kInvalidFile, path + ", " + label_of(plan) + ": " +
                                               std::to_string(scan.point_count) +
                                               " points are declared, no file can hold them");
    }
    if (scan.point_count != 0 && !plan.cartesian() && !plan.spherical()) {
      throw Error(
          ErrorCode::kInvalidFile,
          path + ", " + label_of(plan) +
              ": a point needs cartesianX, cartesianY, cartesianZ or sphericalRange, sphericalAzimuth, "
              "sphericalElevation; read the other scans one by one with scan_index");
    }
    table.rows += scan.point_count;
    if (scan.point_count != 0) {
      for (std::size_t r = 0; r < kRoleCount; ++r)
        table.any[r] = table.any[r] || plan.has(static_cast<Role>(r));
      for (std::size_t f = 0; f < scan.fields.size(); ++f) {
        if (std::find(plan.field.begin(), plan.field.end(), f) != plan.field.end()) continue;
        if (scan.fields[f].type != E57FieldType::kString) {
          add_extra(scan.fields[f], f, known, table, plan);
        } else if (warnings.size() < 100) {
          warnings.push_back(label_of(plan) + ": field " + scan.fields[f].name + " is text and is left out");
        }
      }
    }
    table.scans.push_back(std::move(plan));
  }
  return table;
}

DType type_of(const ExtraColumn& extra, std::size_t scans_with_points) {
  if (extra.mixed || extra.type == E57FieldType::kScaledInteger || extra.type == E57FieldType::kFloat64) {
    return DType::kF64;
  }
  if (extra.type == E57FieldType::kFloat32) return DType::kF32;
  if (extra.scans < scans_with_points) return DType::kF64;  // NaN where a scan has no such field
  const auto fits = [&](std::int64_t low, std::int64_t high) {
    return extra.minimum >= low && extra.maximum <= high;
  };
  if (fits(0, UINT8_MAX)) return DType::kU8;
  if (fits(INT8_MIN, INT8_MAX)) return DType::kI8;
  if (fits(0, UINT16_MAX)) return DType::kU16;
  if (fits(INT16_MIN, INT16_MAX)) return DType::kI16;
  if (fits(0, UINT32_MAX)) return DType::kU32;
  return fits(INT32_MIN, INT32_MAX) ? DType::kI32 : DType::kI64;
}

/// Names and types of the table's columns, so that their size can be checked before they are allocated.
std::vector<std::pair<std::string, DType>> list_columns(const TablePlan& plan) {
  std::vector<std::pair<std::string, DType>> list;
  const auto add = [&](bool wanted, const char* name, DType type) {
    if (wanted) list.emplace_back(name, type);
  };
  add(plan.any[kRed], "rgb", DType::kRgb16);
  add(plan.any[kIntensity], "intensity", DType::kU16);
  add(plan.any[kRow], "row_index", DType::kI32);
  add(plan.any[kColumn], "column_index", DType::kI32);
  add(plan.any[kCartesianState] || plan.any[kSphericalState], "is_miss", DType::kU8);
  add(plan.any[kTime], "timestamp", DType::kF64);
  add(plan.any[kReturnIndex], "target_index", DType::kI32);
  add(plan.any[kReturnCount], "target_count", DType::kI32);
  add(plan.scans.size() > 1, "scan_index", DType::kU16);
  const auto scans =
      static_cast<std::size_t>(std::count_if(plan.scans.begin(), plan.scans.end(), [](const ScanPlan& scan) {
        return scan.scan->point_count != 0;
      }));
  for (const ExtraColumn& extra : plan.extras) {
    const bool taken = std::any_of(std::begin(kOwnNames), std::end(kOwnNames),
                                   [&](const char* own) { return extra.name == own; });
    list.emplace_back(taken ? extra.name + "_field" : extra.name, type_of(extra, scans));
  }
  return list;
}

/// The fields of a scan for the extra columns of the table; kNoField if the scan has no such field.
std::vector<ExtraField> extras_of(const ScanPlan& scan, std::size_t first_column, std::size_t count) {
  std::vector<ExtraField> extras;
  for (std::size_t e = 0; e < count; ++e) extras.push_back({kNoField, first_column + e});
  for (const ExtraField& extra : scan.extras) extras[extra.column].field = extra.field;
  return extras;
}

CloudTable make_table(const platform::File& file, const TablePlan& plan) {
  const auto list = list_columns(plan);
  if (list.size() > kMaxTableColumns) {
    throw Error(ErrorCode::kUnsupported,
                file.path() + ": the scans have " + std::to_string(list.size()) +
                    " different fields, at most 1024 are read; read them one by one");
  }
  std::uint64_t row_bytes = sizeof(Vec3d);
  for (const auto& [name, type] : list) row_bytes += dtype_size(type);
  const std::uint64_t limit = kFreeBytes + kBytesPerFileByte * file.size();
  if (plan.rows > limit / row_bytes) {
    throw Error(ErrorCode::kInvalidFile, file.path() + ": " + std::to_string(plan.rows) + " points of " +
                                             std::to_string(row_bytes) + " bytes are declared, a file of " +
                                             std::to_string(file.size()) +
                                             " bytes cannot hold them; the file is damaged");
  }
  const auto rows = static_cast<std::size_t>(plan.rows);
  CloudTable table;
  table.positions = Column<Vec3d>(rows);
  const std::size_t own = list.size() - plan.extras.size();
  for (std::size_t c = 0; c < list.size(); ++c) {
    table.columns.push_back({list[c].first, "", c >= own, AnyColumn(list[c].second, rows)});
  }
  return table;
}

OutputColumns outputs_of(CloudTable& table) {
  OutputColumns out;
  out.positions = table.positions.view().data;
  for (NamedColumn& column : table.columns) {
    if (column.extra) continue;
    const auto bind = [&](const char* name, auto*& pointer) {
      if (column.name == name)
        pointer = column.values.as_mutable<std::remove_reference_t<decltype(*pointer)>>().data;
    };
    bind("rgb", out.rgb);
    bind("intensity", out.intensity);
    bind("row_index", out.row);
    bind("column_index", out.column);
    bind("is_miss", out.is_miss);
    bind("timestamp", out.timestamp);
    bind("target_index", out.target_index);
    bind("target_count", out.target_count);
    bind("scan_index", out.scan_index);
  }
  return out;
}

/// Rows and columns of the raster: the declared index bounds if they contain the data, otherwise the range of the
/// data; 0 unless both axes have more than one index.
void set_raster(const E57Scan& scan, const ScanTally& tally, E57ScanResult& result) {
  const auto span = [](const std::array<std::int64_t, 2>& data, const std::optional<std::int64_t>& low,
                       const std::optional<std::int64_t>& high) -> std::uint64_t {
    if (data[1] <= data[0]) return 0;
    const bool declared =
        low && high && *low <= data[0] && *high >= data[1] && *low > INT32_MIN && *high < INT32_MAX;
    return static_cast<std::uint64_t>(declared ? *high - *low : data[1] - data[0]) + 1;
  };
  const E57IndexBounds bounds = scan.index_bounds.value_or(E57IndexBounds());
  const std::uint64_t rows = span(tally.row, bounds.row_minimum, bounds.row_maximum);
  const std::uint64_t columns = span(tally.column, bounds.column_minimum, bounds.column_maximum);
  if (rows > 1 && columns > 1) {
    result.n_theta = rows;
    result.n_phi = columns;
  }
}

/// Sweep and tilt; see E57ScanResult. The rotation of the pose is a rotation about the vertical (heading) and a tilt.
void set_sweep(const E57Scan& scan, E57ScanResult& result) {
  const auto& [w, x, y, z] = scan.rotation;
  const double heading = 2 * std::atan2(z, w);
  result.tilt_rad = 2 * std::asin(std::min(std::hypot(x, y), 1.0));
  if (!scan.spherical_bounds) return;
  const auto& elevation = scan.spherical_bounds->elevation_rad;
  const double right_angle = kPi / 2 + kAngleStep;
  if (elevation && elevation->minimum >= -right_angle && elevation->maximum <= right_angle) {
    result.theta_min_rad = kPi / 2 - elevation->maximum;
    result.theta_max_rad = kPi / 2 - elevation->minimum;
  }
  const auto &start = scan.spherical_bounds->azimuth_start_rad, &end = scan.spherical_bounds->azimuth_end_rad;
  if (!start || !end || std::abs(*start) > kMostAzimuth || std::abs(*end) > kMostAzimuth) return;
  const double span = std::min(*end < *start ? *end - *start + 2 * kPi : *end - *start, 2 * kPi);
  if (span > 2 * kPi - kAngleStep) {  // a full circle has no defined start
    result.phi_min_rad = 0;
    result.phi_max_rad = 2 * kPi;
    return;
  }
  // The sweep runs counter-clockwise from `start`, so its end is the smallest bearing.
  const double last = kPi / 2 - (*end + heading);
  const double turned = last - 2 * kPi * std::floor(last / (2 * kPi));
  result.phi_min_rad = turned > 2 * kPi - kAngleStep ? 0 : turned;
  result.phi_max_rad = *result.phi_min_rad + span;
}

/// Rejects scans that share bytes with another scan or the XML section: otherwise a few bytes could represent any number of points.
void check_section(const Pages& pages, const ScanPlan& plan, const Section& section,
                   std::map<std::uint64_t, std::uint64_t>& taken) {
  const auto next = taken.upper_bound(section.begin);
  const bool before = next != taken.begin() && std::prev(next)->second > section.begin;
  if (before || (next != taken.end() && next->first < section.end)) {
    throw Error(
        ErrorCode::kInvalidFile,
        pages.path() + ", " + label_of(plan) + ": its points at byte " +
            std::to_string(plan.scan->section_offset) +
            " overlap those of another scan or the XML section; the file is damaged, export it again");
  }
  taken.emplace(section.begin, section.end);
}

template <std::size_t kBytes>
void keep_rows(std::byte* values, Span<const Vec3d> positions, const OpContext& ctx) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < positions.size; ++i) {
    if (i % (std::size_t{1} << 20) == 0) ctx.checkpoint();
    if (!is_finite(positions[i])) continue;
    if (kept != i) std::memcpy(values + kept * kBytes, values + i * kBytes, kBytes);
    ++kept;
  }
}

/// Drops the rows whose position is not finite.
void drop_nonfinite(CloudTable& table, std::uint64_t dropped, const OpContext& ctx) {
  const Span<const Vec3d> positions = std::as_const(table.positions).view();
  const std::size_t rows = positions.size - static_cast<std::size_t>(dropped);
  for (NamedColumn& column : table.columns) {
    std::byte* const values = column.values.data();
    visit_element_size(dtype_size(column.values.dtype()),
                       [&](auto bytes) { keep_rows<decltype(bytes)::value>(values, positions, ctx); });
    column.values.shrink(rows);
  }
  keep_rows<sizeof(Vec3d)>(reinterpret_cast<std::byte*>(table.positions.view().data), positions, ctx);
  table.positions.shrink(rows);
  table.nonfinite_dropped = dropped;
}

void warn_of_limits(const ScanPlan& plan, const ChannelLimits& limits, std::vector<std::string>& warnings) {
  const auto warn = [&](bool exceeded, const char* name, const char* values) {
    if (!exceeded || warnings.size() >= 100) return;
    warnings.push_back(label_of(plan) + ": values exceed its " + name + ", so the " + values +
                       " is scaled by the values instead");
  };
  warn(limits.intensity_exceeded, "intensityLimits", "intensity");
  warn(limits.color_exceeded, "colorLimits", "colour");
}

E57ScanResult read_scan(const Pages& pages, const ScanPlan& plan, const PositionFrame& frame,
                        CloudTable& table, ScanTally& total, std::map<std::uint64_t, std::uint64_t>& taken,
                        OpContext& ctx) {
  const E57Scan& scan = *plan.scan;
  E57ScanResult result;
  result.scan_index = plan.scan_index;
  result.first_row = plan.first_row - total.nonfinite;
  result.has_pose = scan.has_pose;
  result.has_origin = has_origin(scan);
  result.origin_stored = frame.apply(scan.translation);
  if (!is_finite(result.origin_stored)) {
    throw Error(ErrorCode::kInvalidFile,
                pages.path() + ", " + label_of(plan) +
                    ": its pose lies outside the range of numbers; correct the pose");
  }
  set_sweep(scan, result);
  if (scan.point_count == 0) return result;
  const PacketIndex index(pages, scan, ctx);
  check_section(pages, plan, index.section(), taken);
  const ChannelRange range = measure_channels(pages, plan, index, ctx);
  warn_of_limits(plan, usable_limits(scan, range), table.warnings);
  const ScanTally tally =
      store_points(pages, plan, index, range, frame, outputs_of(table), table.columns, ctx);
  set_raster(scan, tally, result);
  result.row_count = scan.point_count - tally.nonfinite;
  result.miss_count = tally.misses;
  result.unplaceable_miss_count = tally.unplaceable;
  if (tally.wide_indexes != 0 && table.warnings.size() < 100) {
    table.warnings.push_back(label_of(plan) + ": " + std::to_string(tally.wide_indexes) +
                             " row or column indexes do not fit 32 bits and became -1");
  }
  total.add(tally);
  return result;
}

}  // namespace

}  // namespace e57

E57Cloud read_e57(const std::string& path, const E57ReadParams& params, OpContext& ctx) {
  require(std::isfinite(params.frame.unit_scale) && params.frame.unit_scale != 0.0 &&
              is_finite(params.frame.shift),
          "unit_scale and shift must be finite, and unit_scale not zero");
  const auto file = platform::File::open_read(path);
  const e57::FileHeader file_header = e57::read_file_header(file);
  const e57::Pages pages(file, file_header.physical_bytes);
  E57Cloud cloud;
  cloud.header = e57::read_header(pages, file_header);
  if (params.scan_index && *params.scan_index >= cloud.header.scans.size()) {
    throw Error(ErrorCode::kInvalidArgument,
                path + ": scan_index " + std::to_string(*params.scan_index) + " is too large, the file has " +
                    std::to_string(cloud.header.scans.size()) + " scan(s), counted from 0");
  }
  std::vector<std::string> warnings = cloud.header.warnings;
  e57::TablePlan plan = e57::plan_table(path, cloud.header, params, warnings);
  cloud.table = e57::make_table(file, plan);
  cloud.table.warnings = std::move(warnings);
  e57::ScanTally total;
  const std::uint64_t xml_begin = pages.to_logical(file_header.xml_offset, "the XML section");
  std::map<std::uint64_t, std::uint64_t> taken{{xml_begin, xml_begin + file_header.xml_bytes}};
  const std::size_t own_columns = cloud.table.columns.size() - plan.extras.size();
  for (e57::ScanPlan& scan : plan.scans) {
    scan.extras = e57::extras_of(scan, own_columns, plan.extras.size());
    cloud.scans.push_back(e57::read_scan(pages, scan, params.frame, cloud.table, total, taken, ctx));
    scan.extras = {};
  }
  if (total.nonfinite != 0) e57::drop_nonfinite(cloud.table, total.nonfinite, ctx);
  cloud.unplaceable_miss_count = total.unplaceable;
  if (total.misses == 0) {
    std::erase_if(cloud.table.columns,
                  [](const NamedColumn& column) { return !column.extra && column.name == "is_miss"; });
  }
  return cloud;
}

}  // namespace pc::io
