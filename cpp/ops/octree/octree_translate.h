#pragma once
#include "core/op_context.h"
#include "core/vec3.h"
#include "ops/octree/octree_build.h"
#include "ops/octree/octree_sink.h"
#include "ops/octree/octree_source.h"

namespace pc {

/// An octree that octree_build wrote, moved by `delta`: its integers are multiples of the scale from the offset, so only
/// offset, box and the position's extrema in metadata.json change. octree.bin is shared with the source where the sink
/// can (docs/adr/0014), else copied.
///
/// source   the octree as it is; must not change meanwhile.
/// delta    metres, finite.
/// Order    offset' = offset + delta per axis, rounded in float64. octree.bin, hierarchy.bin and attribute_labels.json are
///          the same bytes. An empty octree keeps its extrema of 0.
/// Cost     The small files; a copy of octree.bin, in blocks of up to 2 MiB, one per thread, where it cannot be shared.
/// Cancel   Within 50 ms and one block of IO; what the sink has received then lacks metadata.json.
/// Errors   kInvalidArgument: delta not finite. kUnsupported: a metadata.json that octree_build would not write as it
///          is, a first attribute that is no position of three int32, a scale that is not positive, an octree.bin of
///          another size than points x record, a box where doubles are coarser than the step. Those of source and sink
///          pass through.
/// Source   contract cloud-import section 12, there with an offset on multiples of the scale. Rotations have no such copy:
///          points would change nodes.
OctreeResult octree_translate(const OctreeSource& source, const Vec3d& delta, OctreeSink& sink,
                              OpContext& ctx);

}  // namespace pc
