#include "io/las_crs.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "io/epsg_units.h"

namespace pc::io {

namespace {

constexpr int kUserDefined = 32767;

struct GeoKeys {
  Span<const std::uint8_t> directory, doubles, ascii;
  std::size_t count = 0;

  std::uint16_t at(std::size_t index) const {
    std::uint16_t value;
    std::memcpy(&value, directory.data + 2 * index, sizeof value);
    return value;
  }
  /// Index of the entry's first short; 0 = absent.
  std::size_t find(int key) const {
    for (std::size_t i = 0; i < count; ++i) {
      if (at(4 + 4 * i) == key) return 4 + 4 * i;
    }
    return 0;
  }
  std::optional<int> number(int key) const {
    const std::size_t entry = find(key);
    if (entry == 0 || at(entry + 1) != 0) return std::nullopt;
    return at(entry + 3);
  }
  std::optional<double> real(int key) const {
    const std::size_t entry = find(key);
    if (entry == 0 || at(entry + 1) != 34736 || (at(entry + 3) + std::size_t{1}) * 8 > doubles.size)
      return std::nullopt;
    double value;
    std::memcpy(&value, doubles.data + at(entry + 3) * std::size_t{8}, sizeof value);
    return value;
  }
  std::string text(int key) const {
    const std::size_t entry = find(key);
    if (entry == 0 || at(entry + 1) != 34737) return "";
    const std::size_t first = std::min<std::size_t>(at(entry + 3), ascii.size);
    const std::size_t length = std::min<std::size_t>(at(entry + 2), ascii.size - first);
    std::string value(reinterpret_cast<const char*>(ascii.data) + first, length);
    value.resize(std::min(value.find('\0'), value.size()));
    while (!value.empty() && (value.back() == '|' || value.back() == ' ')) value.pop_back();
    for (char& c : value) {
      if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7E)
        c = '?';  // keys are ASCII
    }
    return value;
  }
};

/// Sets the unit from `unit_key`, a code or a user-defined size; an unknown code gives a warning.
void take_unit(const GeoKeys& keys, int unit_key, int size_key, std::optional<double>& metres,
               std::string& name, std::vector<std::string>& warnings) {
  const auto code = keys.number(unit_key);
  if (!code || *code == 0) return;
  if (const LengthUnit* unit = length_unit(*code)) {
    metres = unit->metres;
    name = unit->name;
  } else if (const auto size = keys.real(size_key);
             *code == kUserDefined && size && std::isfinite(*size) && *size > 0) {
    metres = *size;
    name = "user-defined";
  } else {
    warnings.push_back("GeoTIFF key " + std::to_string(unit_key) + " holds " + std::to_string(*code) +
                       ", which is not a known length unit; it is ignored");
  }
}

std::optional<int> valid_epsg(std::optional<int> code) {
  return code && is_epsg_code(*code) ? code : std::nullopt;
}

}  // namespace

LasCrs parse_geotiff_crs(Span<const std::uint8_t> directory, Span<const std::uint8_t> doubles,
                         Span<const std::uint8_t> ascii) {
  LasCrs crs;
  GeoKeys keys{directory, doubles, ascii};
  if (directory.size < 8) {
    crs.warnings.push_back("the GeoTIFF key directory has " + std::to_string(directory.size) +
                           " bytes, less than 8");
    return crs;
  }
  keys.count = std::min<std::size_t>(keys.at(3), directory.size / 8 - 1);
  if (keys.count < keys.at(3)) {
    crs.warnings.push_back("the GeoTIFF key directory declares " + std::to_string(keys.at(3)) +
                           " keys but holds " + std::to_string(keys.count));
  }
  const auto projected = valid_epsg(keys.number(3072)), geographic = valid_epsg(keys.number(2048));
  const auto model = keys.number(1024);
  // The base CRS of a user-defined projection is not the CRS of the coordinates.
  const bool has_projection = keys.find(3072) != 0 || keys.find(3074) != 0 || keys.find(3075) != 0;
  crs.is_geographic = !has_projection && (model ? *model == 2 : geographic.has_value());
  crs.epsg = projected ? projected : crs.is_geographic ? geographic : std::nullopt;
  crs.vertical_epsg = valid_epsg(keys.number(4096));
  crs.citation = keys.text(1026);
  if (crs.citation.empty()) crs.citation = keys.text(projected ? 3073 : 2049);
  if (crs.is_geographic) {
    crs.unit_name = "degree";
  } else {
    take_unit(keys, 3076, 3077, crs.unit_m, crs.unit_name, crs.warnings);
    if (const LengthUnit* unit = !crs.unit_m && crs.epsg ? unit_of_projected_crs(*crs.epsg) : nullptr) {
      crs.unit_m = unit->metres;
      crs.unit_name = unit->name;
    }
  }
  take_unit(keys, 4099, 0, crs.vertical_unit_m, crs.vertical_unit_name, crs.warnings);
  const LengthUnit* unit =
      !crs.vertical_unit_m && crs.vertical_epsg ? unit_of_vertical_crs(*crs.vertical_epsg) : nullptr;
  if (unit) {
    crs.vertical_unit_m = unit->metres;
    crs.vertical_unit_name = unit->name;
  }
  return crs;
}

LasCrs merge_crs(LasCrs first, const LasCrs& second) {
  const bool first_known = first.epsg || !first.unit_name.empty();
  if (first.epsg && second.epsg && *first.epsg != *second.epsg) {
    first.warnings.push_back("the file's two CRS records disagree: EPSG:" + std::to_string(*first.epsg) +
                             " is used, the other says EPSG:" + std::to_string(*second.epsg));
  }
  if (first.unit_m && second.unit_m && std::abs(*first.unit_m - *second.unit_m) > 1e-9 * *first.unit_m) {
    first.warnings.push_back("the file's two CRS records disagree on the unit: " + first.unit_name +
                             " is used, the other says " + second.unit_name);
  }
  if (!first_known) first.is_geographic = second.is_geographic;
  if (!first.epsg && (!first_known || first.is_geographic == second.is_geographic)) first.epsg = second.epsg;
  if (first.unit_name.empty()) {
    first.unit_m = second.unit_m;
    first.unit_name = second.unit_name;
  }
  if (!first.vertical_epsg) first.vertical_epsg = second.vertical_epsg;
  if (first.vertical_unit_name.empty()) {
    first.vertical_unit_m = second.vertical_unit_m;
    first.vertical_unit_name = second.vertical_unit_name;
  }
  if (first.wkt.empty()) first.wkt = second.wkt;
  if (first.citation.empty()) first.citation = second.citation;
  if (first.geotiff.directory.empty()) first.geotiff = second.geotiff;
  first.warnings.insert(first.warnings.end(), second.warnings.begin(), second.warnings.end());
  return first;
}

std::vector<std::uint8_t> geotiff_directory(int epsg, bool is_geographic) {
  const auto code = static_cast<std::uint16_t>(epsg);
  // Version 1, revision 1.0, three keys; model type, raster type (area), CS code.
  const std::uint16_t keys[16] = {1,
                                  1,
                                  0,
                                  3,
                                  1024,
                                  0,
                                  1,
                                  static_cast<std::uint16_t>(is_geographic ? 2 : 1),
                                  1025,
                                  0,
                                  1,
                                  1,
                                  static_cast<std::uint16_t>(is_geographic ? 2048 : 3072),
                                  0,
                                  1,
                                  code};
  std::vector<std::uint8_t> bytes(sizeof keys);
  std::memcpy(bytes.data(), keys, sizeof keys);
  return bytes;
}

}  // namespace pc::io
