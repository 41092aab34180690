#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "core/op_context.h"
#include "core/vec3.h"

namespace pc {

/// A triangle at an edge of more than two.
struct CrowdedSide {
  Vec3d apex;          ///< its corner off the edge
  std::uint32_t half;  ///< a number that no other one has
  bool runs_up;        ///< it runs along the edge from its low to its high end
};

/// Which triangles at an edge stay joined, as pairs of `half`; at most one pair for each. The rule is that of
/// ops/mesh/mesh_sheets.h. Edges of more than 16 triangles whose directions do not alternate are paired like brackets: each
/// that runs down with the next free one that runs up, as the two faces of a solid.
///
/// Order    A function of the triangles, whatever their order.
/// Cost     O(k log k); O(k^3) up to 16.
std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs_round_edge(const Vec3d& low, const Vec3d& high,
                                                                      std::vector<CrowdedSide>& sides,
                                                                      OpContext& ctx);

}  // namespace pc
