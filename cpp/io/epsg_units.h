#pragma once

namespace pc::io {

/// A unit of length of the EPSG registry.
struct LengthUnit {
  int code;
  const char* name;
  double metres;
};

/// The unit of a code of the EPSG registry (9001 to 9301), all that its projected and vertical systems use. Null: none.
const LengthUnit* length_unit(int code);

/// Unit of a projected system that follows from its EPSG code alone: all that are not in metres, and of those in metres
/// UTM on WGS 84, NAD83 and ETRS89 and web mercator. Null: not known. Source: EPSG registry 10.076 (2022).
const LengthUnit* unit_of_projected_crs(int epsg);

/// Unit of a vertical system that is not in metres, by its EPSG code. Null: metres, or not known.
const LengthUnit* unit_of_vertical_crs(int epsg);

}  // namespace pc::io
