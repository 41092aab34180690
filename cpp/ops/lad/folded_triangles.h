#pragma once
#include <cstdint>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// Largest angle between the planes of two triangles of one leaf that share an edge, radians. Of the reference scans, G changes
/// by at most 1.2 % between 5 and 20 degrees.
constexpr double kMostFold = 0.35;

/// Marks the triangles whose neighbours across their edges all have another plane: most of them lie between two leaves, since
/// a leaf is flat over a few hits. A triangle without neighbours is not marked: narrow leaves have such.
///
/// vertices   (V) metres
/// indices    (T, 3), each below V
/// Result     (T) 1 = it has neighbours, none within kMostFold of its plane
/// Cost       O(T triangles at a vertex); 4 bytes a vertex, 13 a triangle. Cancel within 50 ms.
/// Errors     kInvalidArgument: 2^32 corners and more.
/// Source     Own.
BulkVector<std::uint8_t> folded_triangles(Span<const Vec3d> vertices, Span<const std::uint32_t> indices,
                                          OpContext& ctx);

}  // namespace pc
