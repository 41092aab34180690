#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/vec3.h"

/// A quantitative structure model (QSM): one tree as connected cylinders, grouped into shoots.
///
/// Lengths in metres, positions in the frame of the points that the model was built from (true world for an imported one).
/// Order: cylinders of a shoot stand from base to tip, a parent before its children.
namespace pc {

constexpr std::int64_t kNoQsmParent = -1;

/// One cylinder of constant radius.
struct QsmCylinder {
  std::int64_t cyl_id;     ///< unique within the model, >= 0
  Vec3d start;             ///< base
  Vec3d end;               ///< tip
  double radius;           ///< metres, > 0
  std::int64_t parent_id;  ///< cyl_id of the cylinder that carries it, kNoQsmParent for a root
  std::int64_t shoot_id;   ///< shoot_id of QsmShoot
  std::int32_t rank;       ///< branching order: 0 stem, 1 branches of the stem ...
  double surf_cov =
      std::numeric_limits<double>::quiet_NaN();  ///< 0..1 of the lateral surface seen; NaN unknown
  double mad = std::numeric_limits<
      double>::quiet_NaN();  ///< mean |distance| of its points to its surface; NaN not fitted
  double radius_se =
      std::numeric_limits<double>::quiet_NaN();  ///< standard error of `radius`, metres; NaN unknown

  double length_m() const { return std::sqrt(squared_distance(start, end)); }
};

/// A run of cylinders along one axis.
struct QsmShoot {
  std::int64_t shoot_id;
  std::int32_t rank;
  std::vector<std::int64_t> cylinder_ids;  ///< base to tip
  std::int64_t parent_shoot_id = kNoQsmParent;
  std::int64_t parent_cyl_id = kNoQsmParent;  ///< cylinder of the parent shoot that it leaves from
  std::vector<std::int64_t> child_shoot_ids;
};

struct Qsm {
  std::vector<QsmCylinder> cylinders;
  std::vector<QsmShoot> shoots;
};

}  // namespace pc
