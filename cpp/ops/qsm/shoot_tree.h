#pragma once
#include <cstdint>
#include <vector>

#include "core/op_context.h"
#include "core/qsm.h"
#include "core/span.h"
#include "ops/skeleton/geodesic_skeleton.h"

namespace pc {

struct ShootTreeParams {
  double w_growthlength, w_area, w_colinear;  ///< weights of the score of continuation, >= 0
  double least_growth_m;                      ///< growth length of an end segment, metres
};

/// Cylinders in the order of the model under construction: a parent before its children, cyl_id = index.
/// Children of each cylinder, as CSR.
struct CylinderChildren {
  std::vector<std::uint32_t> first;  ///< (n + 1)
  std::vector<std::uint32_t> child;
};
CylinderChildren cylinder_children(const std::vector<QsmCylinder>& cylinders);

/// Growth length of each cylinder: its length and that of everything it carries, metres.
std::vector<double> growth_lengths(const std::vector<QsmCylinder>& cylinders);

/// The shoots of cylinders whose shoot_id and rank are set; shoot ids count from 0 in order of the first cylinder, and
/// are written to the cylinders.
std::vector<QsmShoot> collect_shoots(std::vector<QsmCylinder>& cylinders);

/// Segments, shoots and ranks (contract skeleton-qsm section 4.2): one cylinder per edge of the skeleton that is left
/// after pruning, with a provisional radius. Shoots are not collected yet: shoot_id and rank of the cylinders are set.
///
/// Pruning  Again and again, end segments with a growth length below `least_growth_m` that are not the longest at their fork.
/// Order    A function of the skeleton; ties by lowest id.
/// Cost     O(n log n).
std::vector<QsmCylinder> shoot_tree(const std::vector<SkeletonNode>& nodes, const ShootTreeParams& params,
                                    OpContext& ctx);

}  // namespace pc
