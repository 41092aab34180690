#pragma once
#include "core/op_context.h"
#include "core/vec3.h"
#include "ops/octree/octree_build.h"
#include "ops/octree/octree_sink.h"
#include "ops/octree/octree_source.h"

namespace pc {

/// Moves an octree that octree_build wrote by `delta`. Its integers are multiples of the scale from the offset, so only
/// the offset, the box and the position's extrema in metadata.json change. octree.bin is shared with the source if the
/// sink can (docs/adr/0015), otherwise copied.
///
/// source   the octree; must not change during the call.
/// delta    metres, finite.
/// Order    offset' = offset + delta per axis, rounded in float64. octree.bin, hierarchy.bin and attribute_labels.json
///          keep their bytes. An empty octree keeps its extrema of 0.
/// Cost     O(bytes) time: the small files; if octree.bin cannot be shared, a copy of it in blocks of up to 2 MiB, one
///          per thread.
/// Cancel   Within 50 ms and one block of IO; the sink then has no metadata.json.
/// Errors   kInvalidArgument: delta not finite. kUnsupported: a metadata.json that octree_build would write
///          differently, a first attribute that is not a position of three int32, a scale that is not positive, an
///          octree.bin whose size is not points x record, a box where doubles are coarser than the step. Errors of
///          source and sink are rethrown.
/// Source   contract cloud-import section 12, which has an offset on multiples of the scale. A rotation cannot be done
///          this way: points would change nodes.
OctreeResult octree_translate(const OctreeSource& source, const Vec3d& delta, OctreeSink& sink,
                              OpContext& ctx);

}  // namespace pc
