#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/op_context.h"
#include "core/span.h"
#include "ops/trees/convex_polygon.h"

namespace pc {

struct CompetitionParams {
  double radius_m;          ///< neighbours within this distance compete
  ConvexPolygon plot;       ///< fewer than 3 corners: unknown
  double least_distance_m;  ///< of stems, for stems that stand in one place
};

struct Competition {
  std::vector<double> hegyi;                  ///< (n) NaN for trees without a diameter
  std::vector<double> hegyi_corrected;        ///< (n) NaN also without a plot, and for trees outside it
  std::vector<std::uint32_t> neighbor_count;  ///< (n) with a diameter and within the radius
  std::vector<std::uint8_t>
      edge;  ///< (n) 1 = the circle of competition leaves the plot, or the plot is unknown
};

/// Hegyi's index of competition of each tree: sum over the neighbours j of (d_j / d_i) / distance_ij.
///
/// stems      (n) positions, metres
/// diameters  (n) metres, NaN or <= 0 = unknown: such trees, and those without a finite position, have no index and do not
///            compete
/// Corrected  Near the edge of the plot neighbours are missing. A neighbour at distance r stands for all at that distance:
///            it counts 1 / (share of the circle of radius r that lies in the plot), which is free of bias in stands
///            that are alike in all directions. Trees outside the plot do not take part in it.
/// Cost       O(n) cells and O(pairs within the radius) time, 72 bytes per tree. Cancel within 50 ms.
/// Order      For any thread count the same bits; neighbours are added by cells of the radius, then in the order of their rows.
/// Source     Hegyi 1974, in Fries (ed.), Growth models for tree and stand simulation, 74-90; edge correction: Ripley 1976,
///            Journal of Applied Probability 13: 255.
Competition competition(Span<const Vec2d> stems, Span<const double> diameters,
                        const CompetitionParams& params, OpContext& ctx);

}  // namespace pc
