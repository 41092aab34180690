#include "io/e57_record.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <mutex>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/parallel.h"
#include "io/column_names.h"

namespace pc::io::e57 {

namespace {

constexpr std::size_t kMeasureRows = 1 << 14;

struct Standard {
  std::string_view slug;
  const char* element;
};
constexpr Standard kRaster[] = {{"row_index", "rowIndex"},
                                {"column_index", "columnIndex"},
                                {"target_index", "returnIndex"},
                                {"target_count", "returnCount"}};
/// Elements with a meaning of their own (ASTM E2807-11, table 14): a column with such a name would be read as them.
constexpr const char* kElements[] = {"cartesianX",
                                     "cartesianY",
                                     "cartesianZ",
                                     "cartesianInvalidState",
                                     "sphericalRange",
                                     "sphericalAzimuth",
                                     "sphericalElevation",
                                     "sphericalInvalidState",
                                     "intensity",
                                     "isIntensityInvalid",
                                     "colorRed",
                                     "colorGreen",
                                     "colorBlue",
                                     "isColorInvalid",
                                     "rowIndex",
                                     "columnIndex",
                                     "returnIndex",
                                     "returnCount",
                                     "timeStamp",
                                     "isTimeStampInvalid",
                                     "origin_x",
                                     "origin_y",
                                     "origin_z"};

/// The slug as the local part of an XML name.
std::string element_name(const std::string& slug) {
  std::string name = slug;
  for (char& c : name) {
    const auto byte = static_cast<unsigned char>(c);
    const bool letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte >= 0x80;
    if (!letter && !(byte >= '0' && byte <= '9') && c != '_' && c != '-' && c != '.') c = '_';
  }
  const bool starts_well =
      !name.empty() && (name[0] < '0' || name[0] > '9') && name[0] != '-' && name[0] != '.';
  return starts_well ? name : "_" + name;
}

/// Cut between characters, with room for the number that makes it unique.
std::string readable(std::string name) {
  constexpr std::size_t kRoom = 16;
  if (name.size() <= kE57MaxNameBytes) return name;
  std::size_t end = kE57MaxNameBytes - kRoom;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0U) == 0x80U) --end;
  name.resize(end);
  return name;
}

bool fits_float(double value) {
  return value != value || static_cast<double>(static_cast<float>(value)) == value;
}

template <class T>
void reach_integers(Span<const T> values, const std::vector<std::size_t>& rows,
                    RecordRange::Integers& range) {
  for (const std::size_t row : rows) {
    const T value = values[row];
    if constexpr (std::is_floating_point_v<T>) {
      const auto real = static_cast<double>(value);
      if (!(std::abs(real) <= 0x1p53) || real != std::floor(real) || (real == 0 && std::signbit(real))) {
        range.exact = false;
        return;
      }
    } else if constexpr (std::is_same_v<T, std::uint64_t>) {
      if (value > static_cast<std::uint64_t>(INT64_MAX)) {
        range.exact = false;
        return;
      }
    }
    range.minimum = std::min(range.minimum, static_cast<std::int64_t>(value));
    range.maximum = std::max(range.maximum, static_cast<std::int64_t>(value));
  }
}

void reach_positions(const RecordSource& source, const std::vector<std::size_t>& rows,
                     const WrittenFrame& frame, RecordRange& range) {
  std::vector<std::uint8_t> miss(rows.size());
  if (source.is_miss != nullptr) {
    visit_scalar(*source.is_miss, [&](auto values) {
      for (std::size_t i = 0; i < rows.size(); ++i) miss[i] = values[rows[i]] != 0 ? 1 : 0;
    });
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Vec3d p = frame.apply(source.view.positions[rows[i]]);
    range.positions_fit_float =
        range.positions_fit_float && fits_float(p.x) && fits_float(p.y) && fits_float(p.z);
    if (miss[i] == 0) {
      range.bounds.add(p);
      continue;
    }
    ++range.misses;
    range.directionless += !is_finite(p) || p == Vec3d{0, 0, 0} ? 1 : 0;
  }
}

bool is_integer(DType type) { return type != DType::kF32 && type != DType::kF64; }

WrittenField integer_field(std::string name, Source source, std::int64_t minimum, std::int64_t maximum,
                           const AnyColumn* scalar = nullptr) {
  E57Field field;
  field.name = std::move(name);
  field.type = E57FieldType::kInteger;
  field.minimum = minimum;
  field.maximum = maximum;
  field.bits = static_cast<unsigned>(
      std::bit_width(static_cast<std::uint64_t>(maximum) - static_cast<std::uint64_t>(minimum)));
  return {std::move(field), source, scalar};
}

WrittenField float_field(std::string name, Source source, bool single, const AnyColumn* scalar = nullptr) {
  E57Field field;
  field.name = std::move(name);
  field.type = single ? E57FieldType::kFloat32 : E57FieldType::kFloat64;
  field.bits = single ? 32 : 64;
  return {std::move(field), source, scalar};
}

}  // namespace

RecordSource name_columns(const CloudView& view, std::vector<std::string>& warnings) {
  RecordSource source{view, nullptr, {}};
  ColumnNames names;
  for (const char* element : kElements) names.reserve(element);
  for (const ScalarView& scalar : view.scalars) {
    if (scalar.slug == "scan_index") continue;  // the scans themselves
    if (scalar.slug == "is_miss") {
      source.is_miss = scalar.values;
      continue;
    }
    const auto* const standard = std::find_if(std::begin(kRaster), std::end(kRaster),
                                              [&](const Standard& s) { return s.slug == scalar.slug; });
    const std::string name = names.take(scalar.slug, readable(element_name(scalar.slug)), warnings);
    source.scalars.push_back(
        {kOwnPrefix + name, scalar.values, standard == std::end(kRaster) ? "" : standard->element});
  }
  return source;
}

void RecordRange::Integers::add(const Integers& other) {
  minimum = std::min(minimum, other.minimum);
  maximum = std::max(maximum, other.maximum);
  exact = exact && other.exact;
}

void RecordRange::add(const RecordRange& other) {
  for (std::size_t i = 0; i < scalars.size(); ++i) scalars[i].add(other.scalars[i]);
  bounds.add(other.bounds);
  positions_fit_float = positions_fit_float && other.positions_fit_float;
  time_missing = time_missing || other.time_missing;
  misses += other.misses;
  directionless += other.directionless;
}

RecordRange measure(const RecordSource& source, const ScanRowTable& rows, const ScanRowTable::Scan& scan,
                    const WrittenFrame& frame, OpContext& ctx) {
  RecordRange total;
  total.scalars.resize(source.scalars.size());
  std::mutex mutex;
  const auto count = static_cast<std::size_t>(scan.count);
  parallel_for(ctx, count, kMeasureRows, [&](std::size_t begin, std::size_t end) {
    std::vector<std::size_t> block;
    rows.rows(scan.first + begin, end - begin, block);
    RecordRange range;
    range.scalars.resize(source.scalars.size());
    reach_positions(source, block, frame, range);
    for (std::size_t i = 0; i < source.scalars.size(); ++i) {
      const NamedScalar& scalar = source.scalars[i];
      if (scalar.element.empty() && !is_integer(scalar.values->dtype())) continue;
      visit_scalar(*scalar.values, [&](auto values) { reach_integers(values, block, range.scalars[i]); });
    }
    if (!source.view.timestamps.empty()) {
      for (const std::size_t row : block) {
        range.time_missing = range.time_missing || !std::isfinite(source.view.timestamps[row]);
      }
    }
    const std::lock_guard<std::mutex> lock(mutex);
    total.add(range);
  });
  return total;
}

std::vector<WrittenField> fields_of(const RecordSource& source, const RecordRange& range) {
  const CloudView& view = source.view;
  std::vector<WrittenField> fields;
  fields.push_back(float_field("cartesianX", Source::kX, range.positions_fit_float));
  fields.push_back(float_field("cartesianY", Source::kY, range.positions_fit_float));
  fields.push_back(float_field("cartesianZ", Source::kZ, range.positions_fit_float));
  if (range.misses != 0) {
    fields.push_back(integer_field("cartesianInvalidState", Source::kMissState, 0, 2, source.is_miss));
  }
  if (!view.intensity.empty()) fields.push_back(integer_field("intensity", Source::kIntensity, 0, 65535));
  if (!view.colors.empty()) {
    fields.push_back(integer_field("colorRed", Source::kRed, 0, 255));
    fields.push_back(integer_field("colorGreen", Source::kGreen, 0, 255));
    fields.push_back(integer_field("colorBlue", Source::kBlue, 0, 255));
  }
  if (!view.timestamps.empty()) {
    fields.push_back(float_field("timeStamp", Source::kTime, false));
    if (range.time_missing) fields.push_back(integer_field("isTimeStampInvalid", Source::kTimeInvalid, 0, 1));
  }
  if (!view.beam_origins.empty()) {
    fields.push_back(float_field(std::string(kOwnPrefix) + "origin_x", Source::kOriginX, false));
    fields.push_back(float_field(std::string(kOwnPrefix) + "origin_y", Source::kOriginY, false));
    fields.push_back(float_field(std::string(kOwnPrefix) + "origin_z", Source::kOriginZ, false));
  }
  for (std::size_t i = 0; i < source.scalars.size(); ++i) {
    const NamedScalar& scalar = source.scalars[i];
    const RecordRange::Integers& reach = range.scalars[i];
    const bool integers = !scalar.element.empty() || is_integer(scalar.values->dtype());
    if (integers && reach.exact) {
      fields.push_back(integer_field(scalar.element.empty() ? scalar.name : scalar.element, Source::kScalar,
                                     reach.minimum, reach.maximum, scalar.values));
    } else {
      fields.push_back(
          float_field(scalar.name, Source::kScalar, scalar.values->dtype() == DType::kF32, scalar.values));
    }
  }
  return fields;
}

}  // namespace pc::io::e57
