#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "ops/registration/rigid_transform.h"

namespace pc {

/// A point of each side that may be the same place.
struct PointPair {
  Vec3d moving, fixed;  ///< metres
};

struct ConsensusPose {
  RigidTransform pose;     ///< moving onto fixed
  std::uint32_t agreeing;  ///< pairs that it brings within the bound
};

struct ConsensusParams {
  double bound_m;  ///< how far a right pair may be apart at the right pose, > 0
  std::uint32_t most_poses;
};

/// Finds the motions on which many pairs agree, most of them first, although most pairs may be wrong.
///
/// pairs    (n) finite, metres about a place near them; n <= kMostPairs
/// Graph    Two pairs are linked if both sides say the same distance between them, to bound_m, and it is longer than
///          2 bound_m. Pairs outside the graph's 3-core belong to no consensus.
/// Seeds    Pairs of the highest core number. The links of a seed are ranked by how many neighbours they share with it;
///          the first 30 give a motion, which the pairs within the bound refine (truncated least squares, with the
///          bound narrowing from 4 times its value).
/// Order    Bit-identical for any thread count. Poses that put the pairs closer than 2 bound_m (root mean square) count as
///          one.
/// Cost     O(n^2) time and n^2 / 8 bytes; 4,096 pairs: 0.4 s of CPU.
/// Cancel   Within 250 ms.
/// Errors   kInvalidArgument: a bound that is not finite and positive, too many pairs.
/// Source   Graph pruning: Shi, Yang & Carlone 2021 (ROBIN), as in TEASER++ and KISS-Matcher. Shared neighbours: Chen et
///          al. 2022 (SC2-PCR), eq. 5. Truncated least squares by a narrowing bound: Yang et al. 2020 (graduated
///          non-convexity), here with hard weights.
std::vector<ConsensusPose> consensus_poses(Span<const PointPair> pairs, const ConsensusParams& params,
                                           OpContext& ctx);

constexpr std::size_t kMostPairs = 4096;

}  // namespace pc
