#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/qsm.h"
#include "core/span.h"

namespace pc {

/// Of a tree at most so many views are told apart.
constexpr std::size_t kMostSwayViews = 10;
/// Of its points at most so many tell how it stood.
constexpr std::size_t kMostSwayPoints = 60'000;

/// Wood that was seen several times: by several scans, or by a scanner that came again.
struct SeenWood {
  Span<const Vec3d> points;        ///< (n) by position, metres
  Span<const std::uint32_t> view;  ///< (n) below views; others belong to none
  std::size_t views;               ///< at most kMostSwayViews
};

/// How a tree stood in each view.
struct TreeSway {
  BulkVector<Vec3d> shift;  ///< (n) of each point from the mean of the views; 0 without a view
  double scatter_m;    ///< of the points about the branches as each view has them: robust standard deviation
  double together_m;   ///< about the same branches in all views
  double by_chance_m;  ///< as scatter_m, of views that are drawn by chance: more unknowns always fit better
  std::size_t points_per_cylinder;
};

/// How a tree that moved in the wind stood in each view, from its model.
///
/// Unknown  at the ends of the cylinders: the shift of each view, that of the axis, the radius of each cylinder, and how far it is out
///          of round (an ellipse, 5 % of the radius). Between the ends shifts are linear, so that they are continuous along every branch.
/// Terms    distance of each point from its cylinder (Huber's weights, 1.5 times the scatter); changes of a view's shift along a
///          branch, 10 mm for a metre and in proportion to the root of the length; 5 mm at the base; loosely the axes and radii.
/// Method   Gauss-Newton, six rounds at the most, each by elimination along the branches (branch_system.h).
/// Order    A function of points, views and cylinders, but not of threads.
/// Cost     O(n log n + cylinders views^3) time; sway_cost bytes. Cancel within 250 ms.
/// Source   Own; for stems alone stem_drift.h.
TreeSway tree_sway(const std::vector<QsmCylinder>& cylinders, const SeenWood& wood, OpContext& ctx);

/// Whether views show the tree at different places: their points scatter less about branches that each view has for itself, and by
/// more than chance.
bool sways(const TreeSway& sway);

/// Memory of tree_sway besides its arguments, bytes.
std::uint64_t sway_cost(std::uint64_t point_count);

}  // namespace pc
