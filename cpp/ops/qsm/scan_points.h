#pragma once
#include <cstdint>

#include "core/column.h"
#include "core/op_context.h"
#include "core/span.h"

namespace pc {

/// Rows of one of the sources of a tree.
struct ScanSource {
  Span<const Vec3d> positions;    ///< (n) metres
  Span<const std::uint8_t> skip;  ///< (n) non-zero = leave out, or empty
  Vec3d shift;                    ///< added to the positions
  const AnyColumn* scan_index;    ///< (n) number of the scan of each, or null: one scan
  const AnyColumn* time_s;        ///< (n) seconds, or null: at one time
  std::uint64_t max_points;       ///< thinned to these by a stride; 0 = all
  std::uint32_t source;           ///< number of the source
  bool stamped;                   ///< scan and time are wanted
};

/// Points of a source and what each was measured with.
struct ScanPoints {
  Column<Vec3d> points;
  Column<double>
      scan;  ///< as points; scans of different sources have different numbers. Empty unless stamped
  Column<double> time_s;         ///< as points, or empty
  std::uint64_t unusable_count;  ///< points that are not finite or beyond 2^100 m, which are left out
};

/// The points of a source that are used. Order: that of the rows. Cancel within 250 ms.
/// Errors: kInvalidArgument for lengths that differ.
ScanPoints scan_points(const ScanSource& source, OpContext& ctx);

}  // namespace pc
