#pragma once
#include <cstdint>
#include <vector>

#include "core/column.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// Why a row is not vegetation; beside kSkipMiss and kSkipDeleted of select_hits.h.
constexpr std::uint8_t kSkipGround = 4;
constexpr std::uint8_t kSkipNonFinite = 8;

struct TreePoints {
  Column<std::uint8_t> skip;        ///< (n) 0 = vegetation: a finite hit that is not ground
  Column<std::uint8_t> not_ground;  ///< (n) 0 = a finite hit that is ground; empty without ground
  std::uint64_t vegetation_count;
  std::uint64_t ground_count;      ///< finite hits labelled as ground
  std::uint64_t non_finite_count;  ///< hits with a coordinate that is not finite, ground or not
  Box3d box;                       ///< of the vegetation
  double spacing_m;                ///< of the finite hits, ground or not: return_spacing.h
};

/// Sorts the rows of a cloud into vegetation and ground.
///
/// positions  (n) metres
/// skip       (n) non-zero = a miss or deleted, or empty = none
/// ground     (n) any scalar type, a row is ground if the value rounds to 1; nullptr = unknown
/// Cost       Three streaming passes, 1 byte per row, 2 with ground. Cancel within 50 ms.
/// Errors     kInvalidArgument for lengths that differ.
TreePoints tree_points(Span<const Vec3d> positions, Span<const std::uint8_t> skip, const AnyColumn* ground,
                       OpContext& ctx);

/// Which of the numbers 1 .. count no label has, minus 1, ascending. Labels above `count` do not matter. Cancel within
/// 50 ms.
std::vector<std::uint32_t> unused_numbers(Span<const std::uint32_t> labels, std::uint64_t count,
                                          OpContext& ctx);

}  // namespace pc
