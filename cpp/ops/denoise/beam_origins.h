#pragma once
#include <cstdint>

#include "core/column.h"
#include "core/error.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "ops/cloud/select_hits.h"

namespace pc {

/// Where the beam of each hit left the scanner. NaN = not known. Refers to its arguments.
class BeamOrigins {
 public:
  /// origins  (1) of all points, or (rows) of the cloud that `hits` selects. Errors: kInvalidArgument for another length.
  BeamOrigins(Span<const Vec3d> origins, std::size_t rows, const HitSelection& hits)
      : origins_(origins), hits_(hits) {
    require(origins.size == 1 || origins.size == rows, "beam origins: one, or one per row");
  }
  Vec3d of(std::uint64_t hit) const {
    return origins_.size == 1 ? origins_[0] : origins_[hits_.row(static_cast<std::size_t>(hit))];
  }

 private:
  Span<const Vec3d> origins_;
  const HitSelection& hits_;
};

/// The position of a scanner by the number of its scan.
struct ScanOrigin {
  double scan_index;
  Vec3d origin;
};

/// The beam origin of every row from the number of its scan; NaN for other numbers. The first of equal numbers counts.
///
/// scan_index  (n) any scalar type
/// Cost        O(n + m log s) time and 24 bytes a row; s scans, m rows whose scan is not that of the row before. Cancel
///             within 50 ms.
/// Errors      kInvalidArgument for a scan_index of triples.
Column<Vec3d> beam_origins_of_scans(const AnyColumn& scan_index, Span<const ScanOrigin> scans,
                                    OpContext& ctx);

}  // namespace pc
