#pragma once
#include <cstdint>
#include <vector>

#include "core/column.h"
#include "core/hit_points.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// Most cells of a canopy height model.
constexpr std::uint64_t kMaxCanopyCells = 40'000'000;
/// Radius of the window of a treetop, as a share of the crown scale.
constexpr double kTreetopWindow = 0.275;
/// Distance up to which a seed takes treetops over, as a share of the crown scale.
constexpr double kSeedReach = 0.5;

/// A top that rises less above the saddle to a higher crown, as a part of its height, may be a limb of that crown.
constexpr double kShallowRise = 0.05;

struct CanopyCrownsParams {
  double cell_m;         ///< edge of a cell of the canopy height model, metres, > 0
  double min_height_m;   ///< canopy is what is at least this high above the ground, metres, >= 0
  double crown_scale_m;  ///< about the width of the smaller crowns, metres, > 0
};

struct CanopyCrownsResult {
  Column<std::uint32_t> tree_instance;  ///< (n) 0 = none, else 1 .. tops.size(), input order
  std::vector<Vec3d> tops;  ///< x, y of tree k + 1's treetop, z = its smoothed height above ground; NaN for
                            ///< a seed without canopy
  std::vector<std::uint32_t> empty_seeds;  ///< indices of the seeds whose tree has no point
  double
      touching;  ///< of the outlines of all crowns seen from above, the part along other crowns; 0 without crowns
  std::uint64_t shallow;  ///< trees whose top rises less than kShallowRise above the saddle to a higher crown
  bool ground_given;      ///< the terrain comes from ground points, else from the lowest returns
};

struct CanopyCrownsCost {
  std::uint64_t cell_count;
  std::uint64_t bytes;   ///< of scratch and labels
  bool admissible;       ///< cell_count <= kMaxCanopyCells
  double finest_cell_m;  ///< finest cell that fits
};

/// Cost of a canopy height model over an extent of wide_m by high_m.
CanopyCrownsCost canopy_crowns_cost(std::uint64_t points, double wide_m, double high_m, double cell_m);

/// Individual trees from above: crowns in a canopy height model.
///
/// The heights of coarse_ground and canopy_model; treetops are local maxima within kTreetopWindow * crown_scale_m;
/// crowns grow from them by crown_watershed. A point belongs to the crown above it, or to none.
///
/// A seed takes over the treetops within kSeedReach * crown_scale_m of it (each goes to its nearest seed). A seed without
/// such a treetop grows from its own cell, or from the nearest free canopy cell within that distance; if there is none
/// its tree is empty.
///
/// points   (n) finite points that are not ground, metres, z up, any one Cartesian frame; n == 0 gives no trees
/// ground   (g) finite ground points, same frame; empty = unknown
/// seeds    (s) x, y of trunks, same frame; z is not used
/// Numbers  Seeds 1 .. s in their order, whatever their crowns; then the others by x, then y of their treetop. A
///          treetop whose crown has no point is no tree.
/// Order    Labels follow the input; the result does not depend on threads or the order of the points.
/// Cost     O(n + cells log cells); canopy_crowns_cost().bytes. A plot of 12 k points: 15 ms.
/// Cancel   Within 250 ms; no partial result.
/// Errors   kInvalidArgument: parameters out of range, seeds that are not finite, more than kMaxCanopyCells cells or
///          10 km of extent, 2^32 points or more.
/// Source   Contract classification section 4.2; Popescu & Wynne 2004 (tops), Neubert & Protzel 2014 (crowns).
CanopyCrownsResult canopy_crowns(HitPoints points, HitPoints ground, Span<const Vec3d> seeds,
                                 const CanopyCrownsParams& params, OpContext& ctx);

}  // namespace pc
