#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/span.h"

namespace pc::io {

/// Payloads of the GeoTIFF records 34735, 34736 and 34737; no directory = none.
struct GeotiffRecords {
  std::vector<std::uint8_t> directory, doubles, ascii;
};

/// Where the coordinates of a LAS file live, as far as its own records say. Nothing is guessed: what the
/// records do not state is absent.
struct LasCrs {
  std::optional<int> epsg;           ///< horizontal (projected or geographic) CRS, 1024..32766
  std::optional<int> vertical_epsg;  ///< vertical CRS
  bool is_geographic = false;        ///< x, y are angles (longitude, latitude), not lengths
  std::optional<double> unit_m;      ///< metres per horizontal unit; absent when unknown or is_geographic
  std::string unit_name;             ///< "metre", "foot", "US survey foot", "degree", or the file's own word
  std::optional<double> vertical_unit_m;  ///< metres per vertical unit, when stated
  std::string vertical_unit_name;
  std::string wkt;         ///< OGC WKT text as stored, without the trailing NUL; "" = none
  std::string citation;    ///< GeoTIFF citation text, "" = none
  GeotiffRecords geotiff;  ///< as stored
  std::vector<std::string> warnings;
};

/// Reads well-known text, WKT 1 (OGC 01-009) or WKT 2 (ISO 19162): the EPSG code is the last valid EPSG
/// AUTHORITY or ID that belongs to the horizontal CRS itself, never one of its datum, units or base CRS; of a
/// compound CRS the horizontal part counts. Text that does not parse gives warnings and no values.
LasCrs parse_wkt_crs(const std::string& wkt);

/// Reads the GeoTIFF key directory of a LAS file: records 34735 (`directory`, unsigned shorts), 34736
/// (`doubles`) and 34737 (`ascii`), raw little-endian bytes. Keys: 1024 model type, 2048/3072
/// geographic/projected CS (32767 = user-defined = none), 3076/3077 linear unit, 4096 vertical CS, 4099
/// vertical unit (GeoTIFF 1.0 section 6.2).
LasCrs parse_geotiff_crs(Span<const std::uint8_t> directory, Span<const std::uint8_t> doubles,
                         Span<const std::uint8_t> ascii);

/// Joins both sources: `first` wins, `second` fills what is absent; a conflict of codes or units becomes a
/// warning.
LasCrs merge_crs(LasCrs first, const LasCrs& second);

/// GeoTIFF key directory bytes (record 34735) for an EPSG code.
std::vector<std::uint8_t> geotiff_directory(int epsg, bool is_geographic);

/// True for codes an EPSG CRS can have.
constexpr bool is_epsg_code(long long code) { return code >= 1024 && code <= 32766; }

}  // namespace pc::io
