#pragma once
#include <cstdint>
#include <vector>

#include "core/op_context.h"
#include "core/qsm.h"
#include "core/vec3.h"

namespace pc {

struct LeafPlacementParams {
  double leaf_spacing_m;          ///< distance of nodes along a shoot, > 0
  double leaf_pitch_rad;          ///< angle between a leaf and its shoot: 0 along it, pi / 2 across
  double leaf_size_m;             ///< length of a leaf, > 0
  double phyllotaxis_deg;         ///< step of azimuth from node to node
  std::uint32_t leaves_per_node;  ///< >= 1
  std::uint64_t max_leaves;       ///< >= 1
};

/// A flat leaf: its base, and the orthonormal directions of its tip, of its width, and of its upper side
/// (normal = tip x width).
struct Leaf {
  Vec3d base, tip, width, normal;
};

struct LeafPlacementResult {
  std::vector<Leaf> leaves;       ///< shoots in their order, each from base to tip
  double wanted_count = 0;        ///< leaves without max_leaves
  std::uint64_t shoot_count = 0;  ///< shoots with leaves
  double leafy_length_m = 0;      ///< length of the stretches with leaves
};

/// Puts leaves on the youngest part of every shoot: from the end of its outermost cylinder that carries a child shoot (its
/// base if there is none) to its tip.
///
/// Nodes stand every leaf_spacing_m from the start of that stretch, its end included. The azimuth starts at 0 on each shoot
/// and grows by phyllotaxis_deg from node to node; leaf k of n at a node stands at + 360 k / n degrees. With the axis t of
/// the cylinder, its frame u, v (azimuth_frame.h) and its radius r: radial = cos a u + sin a v, base = node + 1.5 r radial,
/// tip = sin p radial + cos p t, width = t x radial, normal = tip x width.
///
/// qsm      a checked model (qsm_checks.h). Cylinders of no length are skipped; shoots without a stretch get no leaf.
/// Cap      With more leaves than max_leaves, these are spread evenly over all: leaf number floor(i wanted / max_leaves).
/// Order    Does not depend on threads.
/// Cost     O(cylinders log cylinders + leaves) time; leaf_placement_bytes.
/// Cancel   Within 250 ms.
/// Errors   kInvalidArgument for parameters out of range.
/// Source   Contract skeleton-qsm 7.2.
LeafPlacementResult leaf_placement(const Qsm& qsm, const LeafPlacementParams& params, OpContext& ctx);

/// Memory of leaf_placement at most, bytes.
std::uint64_t leaf_placement_bytes(std::uint64_t cylinder_count, std::uint64_t max_leaves);

}  // namespace pc
