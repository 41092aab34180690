#pragma once
#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// Biased randomized insertion order: a random seven eighths of the points come last, along a Hilbert curve; before them
/// seven eighths of the rest, and so on. Incremental constructions in this order take expected O(n log n) time however
/// the points were sorted, and stay in one place for long.
///
/// points   (n) metres, finite
/// Order    A function of the points alone; points in one cell of the curve (2^-20 of the box) by row.
/// Cost     O(n); 24 bytes per point of scratch. Cancel within 50 ms.
/// Errors   kInvalidArgument beyond 2^32 - 1 points.
/// Source   Amenta, Choi & Rote 2003, SoCG, "Incremental constructions con BRIO"; Skilling 2004, AIP Conf. Proc. 707,
///          381-387 (coordinates to the index of the curve).
BulkVector<std::uint32_t> hilbert_insertion_order(Span<const Vec3d> points, OpContext& ctx);

}  // namespace pc
