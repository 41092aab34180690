#pragma once
#include "core/op_context.h"
#include "core/vec3.h"
#include "ops/octree/octree_build.h"
#include "ops/octree/octree_sink.h"
#include "ops/octree/octree_source.h"

namespace pc {

/// Copies an octree that octree_build wrote, moved by `delta`. Nodes, records, scale, spacing and hierarchy stay; only
/// positions, offset, box and the position's extrema change.
///
/// source   the octree as it is; must not change meanwhile.
/// delta    metres, finite.
/// Order    offset' = floor((low + delta) / scale) scale per axis, low = the position's minimum in metadata.json; an
///          integer i becomes rint((i scale + offset + delta - offset') / scale), half to even, each step rounded in
///          float64. All other bytes of a record, hierarchy.bin and attribute_labels.json are copied. The same bytes
///          for any thread count. An empty octree keeps its extrema of 0.
/// Cost     One pass over octree.bin in blocks of up to 2 MiB, one per thread.
/// Cancel   Within 50 ms and one block of IO; what the sink has received then lacks metadata.json.
/// Errors   kInvalidArgument: delta not finite. kUnsupported: a metadata.json that octree_build would not write as it
///          is, a first attribute that is no position of three int32, a scale that is not positive, an octree.bin of
///          another size than points x record, a moved coordinate that leaves int32 or lies where doubles are coarser than
///          the step. Those of source and sink pass through.
/// Source   contract cloud-import section 12. Rotations have no such copy: points would change nodes.
OctreeResult octree_translate(const OctreeSource& source, const Vec3d& delta, OctreeSink& sink,
                              OpContext& ctx);

}  // namespace pc
