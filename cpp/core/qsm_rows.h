#pragma once
#include <cstdint>
#include <vector>

#include "core/qsm.h"

namespace pc {

/// Cylinders as a table lists them, base to tip. What it says about shoots may be missing.
struct QsmRows {
  /// parent_shoot of a row that does not state it.
  static constexpr std::int64_t kNotStated = -2;

  std::vector<QsmCylinder> cylinders;      ///< shoot_id is kNoQsmParent where the table states none
  std::vector<std::int64_t> parent_shoot;  ///< of each row: a shoot_id, kNoQsmParent or kNotStated
};

}  // namespace pc
