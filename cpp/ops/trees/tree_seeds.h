#pragma once
#include <cstdint>
#include <vector>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// One tree per seed out of groups of segments.
///
/// node       (n) local positions in Morton order
/// segment    (n) of each node;  group (segments) of each segment;  component (n) of each node: gap_components
/// seeds      (s) local positions, finite
/// Units      The parts of a group in one component; a group that is the closest of several seeds falls into its segments.
/// Claims     The seed that has an unclaimed unit closest to it claims that unit, and so on. Every other unit goes to the
///            seed whose place in plan is nearest to the unit's mean, of the seeds that claimed a unit of its component.
/// Returns    (n) tree of each node: 0 = none (no seed in its component), k + 1 of seed k. Seeds that find no unit left
///            have no node.
/// Cost       O(log units) box tests per search for the closest unit: one per seed, and one more each time that another
///            seed is first. 160 bytes per node.
BulkVector<std::uint32_t> trees_of_seeds(Span<const Vec3d> node, Span<const std::uint32_t> segment,
                                         const std::vector<std::uint32_t>& group,
                                         Span<const std::uint32_t> component, Span<const Vec3d> seeds,
                                         OpContext& ctx);

}  // namespace pc
