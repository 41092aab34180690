#pragma once
#include <cstdint>
#include <vector>

#include "core/op_context.h"
#include "core/qsm.h"

namespace pc {

/// Wood of one branching order.
struct QsmRankMetrics {
  std::int32_t rank = 0;
  std::uint64_t shoot_count = 0;
  double total_length_m = 0;
  double mean_shoot_length_m = 0;  ///< 0 without a shoot
  double woody_volume_m3 = 0;
  double mean_diameter_m = 0;        ///< weighted by length; of equal weight if all lengths are 0
  double mean_branch_angle_rad = 0;  ///< NaN for rank 0 and where no shoot has an angle
};

struct QsmMetrics {
  double tcsa_m2 = 0;           ///< cross-section of the stem's base cylinder
  double trunk_diameter_m = 0;  ///< its diameter
  double tree_height_m = 0;
  std::uint64_t scaffold_count = 0;  ///< shoots of rank 1
  std::uint64_t shoot_count = 0;
  std::int32_t max_rank = 0;
  double total_woody_volume_m3 = 0, stem_volume_m3 = 0, branch_volume_m3 = 0;
  double total_length_m = 0;
  double canopy_width_m = 0;             ///< diagonal of the xy box of all ends
  double canopy_height_m = 0;            ///< z extent of rank 1 and higher
  std::vector<QsmRankMetrics> per_rank;  ///< ascending; ranks of cylinders and of shoots
};

/// Volumes, lengths and sizes of a model.
///
/// qsm      metres; ids unique, at least one cylinder
/// Volume   sum of pi r^2 length; rank 0 is the stem, the rest are branches.
/// Base     of the stem: of the roots one of rank 0, of these that of the shoot with most wood, then the one with the
///          lowest end; the lowest cylinder of all if there is no root; of equal ones the first.
/// Angle    of a branch: between the axis of its first cylinder and that of the cylinder that it leaves from; shoots
///          without a parent cylinder and cylinders without length have none.
/// Order    Sums in order of the cylinders; does not depend on threads.
/// Cost     O(n log n) time, 16 bytes a cylinder.
/// Cancel   Within 50 ms.
/// Errors   kInvalidArgument for a model without cylinders.
QsmMetrics qsm_metrics(const Qsm& qsm, OpContext& ctx);

}  // namespace pc
