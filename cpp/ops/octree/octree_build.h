#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/column.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "ops/octree/octree_sink.h"

namespace pc {

/// An attribute of the octree other than the position.
struct OctreeAttribute {
  std::string name;         ///< the viewer's name: "rgb", "intensity", "classification", "gps-time" or a slug
  std::string label;        ///< name to display; written to attribute_labels.json, may be empty
  const AnyColumn* values;  ///< (rows) scalar or kRgb16
};

struct OctreeParams {
  double scale;                 ///< requested coordinate step, metres (result.scale is the step used)
  std::uint32_t leaf_capacity;  ///< a node with more points is split; 1 .. 2^20
};

/// Input of a build. Columns are in input order and must outlive the call.
struct OctreeInput {
  Span<const Vec3d> positions;    ///< (rows) metres, one Cartesian frame
  Span<const std::uint8_t> skip;  ///< (rows) non-zero = not in the octree, or empty = all rows are
  std::vector<OctreeAttribute> attributes;
};

/// One entry of metadata.json's attributes[].
struct OctreeAttributeInfo {
  std::string name;
  std::string label;
  std::string type;  ///< uint8 int8 uint16 int16 uint32 int32 float; double for gps-time
  std::uint32_t size;
  std::uint32_t num_elements;
  std::uint32_t element_size;
  bool has_range;           ///< false: no finite value, min and max are 0
  std::vector<double> min;  ///< (num_elements) over all finite values in the octree, exact as stored
  std::vector<double> max;
};

struct OctreeResult {
  std::uint64_t point_count;  ///< rows in the octree
  double spacing;             ///< metres; cube side / 128
  Vec3d scale;   ///< metres per step; coarser than requested (by powers of ten) for clouds beyond 2^30 steps
  Vec3d offset;  ///< coordinates = int32 * scale + offset
  Box3d bounds;  ///< the root cube: max = min + side
  Box3d tight_bounds;  ///< extent of the input coordinates, before rounding; zeros for an empty cloud
  std::vector<OctreeAttributeInfo> attributes;  ///< the position first
  std::uint64_t first_chunk_bytes;              ///< metadata.json's firstChunkSize
  std::uint32_t depth;                          ///< level of the deepest node; the root is 0
  std::uint64_t node_count;
  std::uint32_t record_bytes;  ///< bytes per point in octree.bin
  std::uint64_t node_bytes;    ///< size of octree.bin
};

struct OctreeCost {
  std::uint64_t scratch_bytes;  ///< peak memory in addition to the input
  std::uint64_t output_bytes;   ///< octree.bin; the other files are less than 1 % of it
};

/// Writes a Potree 2 octree (metadata.json 2.0, hierarchy.bin, octree.bin with encoding DEFAULT) of the rows not
/// skipped, and attribute_labels.json.
///
/// Every row is stored in exactly one node. Leaves hold at most leaf_capacity rows, except that rows with the same
/// rounded coordinates cannot be separated and stay in one leaf. An inner node at level k holds a subset drawn from its
/// children in pseudo-random order. Where nodes of level k are split, the rows of levels 0..k are at least
/// r_k = spacing / 2^k apart, also across nodes, and no row of level k + 1 could be added to them; leaves hold all
/// their rows. Distances are accurate to 1e-5 r_k.
///
/// input    (rows) rows of any order; zero rows give one empty root leaf. 64-bit values are stored as float: viewers
///          rescale every double. Only "gps-time" is a double. Coordinates are rounded to the step.
/// Order    Files and result are functions of the input and params only: the same bytes for any thread count.
/// Cost     O(n depth) time; octree_build_cost. The output is streamed in blocks of up to 2 MiB.
/// Cancel   Within 250 ms at any size; the sink then has no metadata.json.
/// Errors   kInvalidArgument: scale not finite and positive, leaf_capacity out of range, sizes that differ, duplicate
///          or reserved attribute names, a coordinate that is not finite in a row that is not skipped (the message
///          names the row). kUnsupported: more than 2^32 - 2 rows. Errors of the sink are rethrown.
/// Source   Format: Potree 2 (Schuetz, Ohrhallinger & Wimmer 2020, "Fast out-of-core octree generation for
///          massive point clouds", section 4) and the loader of npm potree-core 2.0. Deviations: counting
///          grids are refined adaptively instead of using chunk files; the subset is found by random-order dart
///          throwing over tiles of 32 r_k in eight parity colours (phase groups of Wei 2008, "Parallel Poisson disk
///          sampling", section 3), so that the minimum distance holds across nodes; nodes without points and
///          descendants are left out.
OctreeResult octree_build(const OctreeInput& input, const OctreeParams& params, OctreeSink& sink,
                          OpContext& ctx);

/// Memory and disk space that octree_build needs, for a leaf_capacity in the thousands and up to 16 threads (3 MiB
/// each). bytes_per_point: 12 for the position plus the sizes of the attributes.
OctreeCost octree_build_cost(std::uint64_t point_count, std::uint32_t bytes_per_point);

/// 160-bit id of the output of octree_build: equal rows, attributes, names, labels and params give equal ids.
///
/// The rows not skipped are numbered 0, 1, ... and divided into blocks of 65536. Each block of a column is folded in
/// 64-byte stripes into eight 64-bit lanes, lane = xorshift32((lane ^ word) * odd constant), a bijection of the word;
/// the SplitMix64 finalizer mixes the lanes into 192 bits. A header (builder version, params, row count, and each
/// attribute's name, label and type with their lengths) and the block digests are folded in order. Not a cryptographic
/// hash.
///
/// Order    Does not depend on threads or on skipped rows.
/// Cancel   Within 250 ms.
/// Errors   Those of octree_build, except for coordinates.
std::array<std::uint8_t, 20> octree_content_hash(const OctreeInput& input, const OctreeParams& params,
                                                 OpContext& ctx);

}  // namespace pc
