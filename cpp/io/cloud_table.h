#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/column.h"
#include "core/vec3.h"

namespace pc::io {

/// Conversion of file coordinates to stored coordinates: stored = file * unit_scale - shift, in float64.
struct PositionFrame {
  double unit_scale = 1.0;  ///< metres per file unit
  Vec3d shift{0, 0, 0};     ///< world_shift, metres
  Vec3d apply(const Vec3d& p) const {
    return {p.x * unit_scale - shift.x, p.y * unit_scale - shift.y, p.z * unit_scale - shift.z};
  }
};

/// A column with the name and type that it has in the file.
struct NamedColumn {
  std::string name;         ///< the file's name of the column (LAS: the standard dimension in snake_case)
  std::string description;  ///< free text of the file, may be empty
  bool extra = false;       ///< LAS extra bytes, or a property that the format does not define
  AnyColumn values;         ///< (rows)
};

/// The result of every reader: finite positions in the stored frame, and all other columns in file order.
struct CloudTable {
  Column<Vec3d> positions;           ///< (rows) stored frame, metres, always finite
  std::vector<NamedColumn> columns;  ///< all (rows)
  double color_full = 65535;  ///< a full channel of the column "rgb"; 65280 = 255 * 256 for 8-bit colours
  std::vector<AnyColumn>
      unit_colors;  ///< (rows) red, green, blue if the file has them as floats 0..1, else empty
  std::uint64_t nonfinite_dropped = 0;  ///< rows left out because x, y or z is NaN or infinite
  std::uint64_t malformed_dropped = 0;  ///< rows left out because they could not be parsed (text)
  std::vector<std::string> warnings;    ///< for the user: what the problem was, where, and what was done
};

}  // namespace pc::io
