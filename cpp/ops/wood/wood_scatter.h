#pragma once
#include <cstdint>

#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// How far the points of wood lie beside its surface.
struct WoodScatter {
  std::uint64_t places;  ///< points around which a piece of surface was found
  double scatter_m;      ///< a quarter of the pieces scatter less; NaN with fewer than kFewestScatterPlaces
};

constexpr std::uint64_t kFewestScatterPlaces = 150;

/// Scatter of the points of stems and thick branches: noise of the ranges, scans that do not fit each other, bark. Around
/// about 2,000 wood points, drawn by position, a quadric is fitted to the wood points within 4, 6, 10 and 15 cm, where they are
/// 20 and more and extend in two directions; the least residual of these counts. Radii of a few times the scatter hold
/// less than all of it: 5 cm of noise measure as 2 to 4. Thin branches and rough bark measure up to 1 cm.
///
/// positions   (n) metres
/// wood_class  (n) kWood (wood_class.h) = taken; all others count nowhere
/// Order    Does not depend on the thread count or the order of the points.
/// Cost     A k-d tree of the wood; at most kMostScatterNeighbors points each fit. Cancel within 50 ms.
/// Errors   kInvalidArgument: columns of different lengths.
/// Source   Residual of a local quadric, as for roughness of surfaces (e.g. Sankey et al. 2010). Radii and quarter: reference
///          forest with noise of known size, docs/accuracy.md.
WoodScatter wood_scatter(Span<const Vec3d> positions, Span<const std::uint8_t> wood_class, OpContext& ctx);

}  // namespace pc
