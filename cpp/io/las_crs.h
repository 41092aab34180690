#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/span.h"

namespace pc::io {

/// Payloads of the GeoTIFF records 34735, 34736 and 34737; no directory = no records.
struct GeotiffRecords {
  std::vector<std::uint8_t> directory, doubles, ascii;
};

/// The coordinate reference system of a LAS file, as far as its records state it. Nothing is guessed: what the records
/// do not state is absent.
struct LasCrs {
  std::optional<int> epsg;           ///< horizontal (projected or geographic) CRS, 1024..32766
  std::optional<int> vertical_epsg;  ///< vertical CRS
  bool is_geographic = false;        ///< x, y are angles (longitude, latitude), not lengths
  std::optional<double> unit_m;      ///< metres per horizontal unit; absent if unknown or is_geographic
  std::string unit_name;             ///< "metre", "foot", "US survey foot", "degree", or the word in the file
  std::optional<double> vertical_unit_m;  ///< metres per vertical unit, if stated
  std::string vertical_unit_name;
  std::string wkt;         ///< OGC WKT text as stored, without the trailing NUL; "" = none
  std::string citation;    ///< GeoTIFF citation text, "" = none
  GeotiffRecords geotiff;  ///< as stored
  std::vector<std::string> warnings;
};

/// Parses well-known text, WKT 1 (OGC 01-009) or WKT 2 (ISO 19162). The EPSG code is the last valid EPSG AUTHORITY or
/// ID that belongs to the horizontal CRS itself, never one of its datum, units or base CRS; of a compound CRS the
/// horizontal part is used. Text that cannot be parsed gives warnings and no values.
LasCrs parse_wkt_crs(const std::string& wkt);

/// Reads the GeoTIFF key directory of a LAS file: records 34735 (`directory`, unsigned shorts), 34736 (`doubles`) and
/// 34737 (`ascii`), raw little-endian bytes. Keys: 1024 model type, 2048/3072 geographic/projected CS (32767 =
/// user-defined = none), 3076/3077 linear unit, 4096 vertical CS, 4099 vertical unit (GeoTIFF 1.0 section 6.2).
LasCrs parse_geotiff_crs(Span<const std::uint8_t> directory, Span<const std::uint8_t> doubles,
                         Span<const std::uint8_t> ascii);

/// Combines two sources: values of `first` take precedence, `second` adds what is absent; conflicting codes or units
/// give a warning.
LasCrs merge_crs(LasCrs first, const LasCrs& second);

/// GeoTIFF key directory bytes (record 34735) for an EPSG code.
std::vector<std::uint8_t> geotiff_directory(int epsg, bool is_geographic);

/// True for codes that an EPSG CRS can have.
constexpr bool is_epsg_code(long long code) { return code >= 1024 && code <= 32766; }

}  // namespace pc::io
