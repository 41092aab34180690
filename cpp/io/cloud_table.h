#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/column.h"
#include "core/vec3.h"

namespace pc::io {

/// How file coordinates become stored ones: stored = file * unit_scale - shift, in float64.
struct PositionFrame {
  double unit_scale = 1.0;  ///< metres per file unit
  Vec3d shift{0, 0, 0};     ///< world_shift, metres
  Vec3d apply(const Vec3d& p) const {
    return {p.x * unit_scale - shift.x, p.y * unit_scale - shift.y, p.z * unit_scale - shift.z};
  }
};

/// One column as the file has it: its own name, its own type.
struct NamedColumn {
  std::string name;         ///< the file's name for it (LAS: the standard dimension's snake_case name)
  std::string description;  ///< free text of the file, may be empty
  bool extra = false;       ///< LAS extra bytes, or a property the format itself does not define
  AnyColumn values;         ///< (rows)
};

/// What every reader returns: finite positions in the stored frame, and every other column in file order.
struct CloudTable {
  Column<Vec3d> positions;              ///< (rows) stored frame, metres, always finite
  std::vector<NamedColumn> columns;     ///< all (rows)
  std::uint64_t nonfinite_dropped = 0;  ///< rows left out because x, y or z was NaN or infinite
  std::uint64_t malformed_dropped = 0;  ///< rows left out because they could not be parsed (text)
  std::vector<std::string> warnings;    ///< for the user: what was odd, where, what was done
};

}  // namespace pc::io
