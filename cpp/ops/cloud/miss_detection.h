#pragma once
#include <cstdint>
#include <optional>

#include "core/column.h"
#include "core/op_context.h"

namespace pc {

/// Value of target_index that synthetic scans give to pulses without a return.
constexpr double kSkyTargetIndex = 99.0;
/// A point at this share of the far range or beyond is a miss.
constexpr double kFarRangeShare = 0.98;

struct MissDetectionInput {
  Span<const Vec3d> positions;              ///< (n) metres
  const AnyColumn* is_miss = nullptr;       ///< (n) the file's own flags, any scalar type, or nullptr
  const AnyColumn* target_index = nullptr;  ///< (n) number of the return, any scalar type, or nullptr
  std::optional<Vec3d> origin;              ///< scanner position, frame of positions
  Span<const Vec3d> beam_origins;           ///< (n) origin of each point, used instead of origin, or empty
};

struct MissDetectionParams {
  double far_range_m;  ///< distance at which misses are placed, metres, > 0
};

/// What the misses were found by.
enum class MissSource : std::uint8_t { kNone, kColumn, kDetected };

struct MissDetectionResult {
  Column<std::uint8_t> is_miss;  ///< (n) 1 = miss; empty if source is kNone
  MissSource source;
  std::uint64_t miss_count;
  std::uint64_t target_index_count;  ///< misses by target_index == 99
  std::uint64_t distance_count;      ///< misses by distance alone
};

/// Finds the misses of an imported cloud. The file's flags are used if any flag is set (non-zero, including NaN).
/// Otherwise a row is a miss if its target_index is 99 or it lies at least 0.98 far_range_m from a known origin.
///
/// Order    Does not depend on threads. An origin or position that is not finite gives no distance.
/// Cost     One or two streaming passes, n bytes. Cancel within 50 ms.
/// Errors   kInvalidArgument for lengths that differ, triples, or a far_range_m that is not finite and positive.
/// Source   contract cloud-import section 13.1.
MissDetectionResult detect_misses(const MissDetectionInput& input, const MissDetectionParams& params,
                                  OpContext& ctx);

}  // namespace pc
