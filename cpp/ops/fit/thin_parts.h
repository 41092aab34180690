#pragma once
#include <cstdint>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// Cells in which a part is thin.
struct ThinCells {
  double edge_m;              ///< > 0; larger where the points span more than 2^20 cells
  std::uint32_t fewest_kept;  ///< occupied neighbours, of 26, that a cell needs to be kept
};

/// Points outside thin parts, such as single branches: in cubic cells, points are left out whose cell has few occupied
/// cells among the 26 around it. Cells along a line have two to four, those of a sheet eight, those of the surface of a
/// filled solid seventeen, those that only touch such a surface up to nine.
///
/// points     finite, metres relative to a place near them
/// droppable  most points that are left out: those of the cells with the fewest neighbours first
/// Order    (n) 1 = kept. Does not depend on the thread count. Three rounds: what hangs on a part that was left out may go
///          in the next one.
/// Cost     O(n) time and 40 bytes per point. Cancel within 50 ms.
/// Source   Erosion of an occupancy grid by its 26 neighbours (Serra 1982). Rounds: solids with 5 %
///          stray points, `npm run accuracy -- crown`.
BulkVector<std::uint8_t> outside_thin_parts(Span<const Vec3d> points, const ThinCells& thin,
                                            std::uint64_t droppable, OpContext& ctx);

inline constexpr const char* kFlatAlphaCrown =
    "all crown points lie in a plane, so there is no alpha shape around them";

/// Removes the points of thin parts in cells of four, three and two mean spacings, at most `droppable`; returns how many
/// more may go.
///
/// points   finite, metres relative to a place near them
/// Order    The points that stay keep their order. Does not depend on the thread count.
/// Cost     O(n log n) time, 80 bytes per point. Cancel within 50 ms.
/// Errors   kInvalidArgument: fewer than four places.
std::uint64_t remove_thin_parts(BulkVector<Vec3d>& points, std::uint64_t droppable, OpContext& ctx);

}  // namespace pc
