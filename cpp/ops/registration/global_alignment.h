#pragma once
#include <cstdint>

#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "ops/registration/rigid_transform.h"

namespace pc {

enum class GlobalOutcome : std::uint8_t {
  kFound,
  kAmbiguous,  ///< another pose agrees with two thirds as much or more
  kNone,  ///< no pose agrees twice as much as poses taken at random, or fewer than 50 points are left to compare
};

struct GlobalAlignment {
  RigidTransform
      pose;  ///< moving onto fixed, refined to a fraction of a voxel; kNone: one of the given poses
  GlobalOutcome outcome;
  double voxel_m;                        ///< level of detail that decided; 0 = nothing could be compared
  double agreement;                      ///< of the pose, 0 .. 1 (pose_judge.h)
  double rival_agreement;                ///< of the best pose that is another one
  double rival_turn_rad, rival_shift_m;  ///< from the pose to that one: angle; how far it puts the centroid
  std::uint32_t match_count;             ///< reciprocal matches at that level of detail
  std::uint32_t consensus_count;         ///< of them, how many the pose brings within 1.5 voxels
};

/// Finds the motion of a cloud onto another one without any start, from any rotation and from an overlap of about a
/// third upwards.
///
/// fixed, moving  (n) finite, metres, each about a place near it
/// given          starts to compare with, e.g. centroid on centroid; at least one
/// Scales    Voxel means of the two sides, with an edge that leaves 3,000 points of the side that fills fewer voxels; if no
///           pose is found, 6,000, then 12,000. So lengths follow from the clouds alone, in any unit.
/// Steps     Features of a radius of 5 voxels (local_features.h); reciprocal matches; poses on which many matches agree
///           (pair_consensus.h); each is refined and judged (pose_judge.h), together with the given ones and six at random,
///           which tell what agreement chance gives. So are motions under which shapes repeat themselves: from the best
///           pose, quarter turns about the principal axes and shifts along them.
/// Outcome   The pose with the most agreement, of the scale at which it leads most over the next other pose (more than 5
///           voxels away). Found: it has 1.5 times the agreement of that one. None: less than twice the lower quartile
///           of the poses at random; then the best of the given poses is returned. Ambiguous: otherwise.
/// Order     Bit-identical for any thread count.
/// Cost      1 to 3 s of CPU; global_alignment_bytes().
/// Cancel    Within 250 ms.
/// Source    The chain of features, pruning and robust fit: TEASER++ (Yang, Shi & Carlone 2020), KISS-Matcher (Lim et al.
///           2025).
GlobalAlignment global_alignment(Span<const Vec3d> fixed, Span<const Vec3d> moving,
                                 Span<const RigidTransform> given, OpContext& ctx);

/// Agreement of a pose near the given one, to compare with that of an alignment at the same voxel_m > 0. Cancel within 250 ms.
double agreement_near(Span<const Vec3d> fixed, Span<const Vec3d> moving, const RigidTransform& pose,
                      double voxel_m, OpContext& ctx);

/// Peak of memory needed besides the inputs, bytes.
std::uint64_t global_alignment_bytes(std::uint64_t fixed_points, std::uint64_t moving_points);

}  // namespace pc
