#pragma once
#include "core/op_context.h"
#include "core/span.h"
#include "ops/lad/beam_traversal.h"
#include "ops/lad/lost_hits.h"

namespace pc {

/// The same as lost_hits for a scanner that moves, whose beams come from many places: misses that go through a surface.
///
/// Cubes of hits (edge 0.15, 0.3, 0.6 or 1.2 m: the smallest with 70 % as many hits in surfaces as the best) hold a surface if
/// 12 hits or more lie within 8 % of the edge of one plane (root mean square), are no line, and are not cut off by a face of the
/// cube. Of about 50,000 beams, taken by their place from those that reach the box of the hits, `between` are those that cross
/// such a plane at more than 15 degrees, amid its hits (one in each 135 degrees around): hits in the cube, and misses that go
/// through.
///
/// parts    rows of one scan and of its recovered misses; timestamps, target_index and intensity are not used, deleted hits
///          are hits
/// Order    The same for any number of threads.
/// Memory   lost_hits_bytes of the rows of all parts.
/// Cost     Of more than kMostLookedThrough hits, squares of 2 m with about so many are looked through: 1.7 s for 6 million rows,
///          3.6 s for 20 million on 2 cores. Cancel within 50 ms.
/// Errors   kInvalidArgument: a shift that is not finite, columns of different lengths.
/// Source   Own.
LostHits lost_hits_moving(Span<const BeamScan> parts, OpContext& ctx);

}  // namespace pc
