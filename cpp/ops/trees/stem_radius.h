#pragma once
#include <vector>

#include "ops/trees/stem_curve.h"

namespace pc {

/// Radius of a stem at a height along the axis: between the trusted sections, that of the nearest end beyond them, that
/// at breast height without any; NaN without a stem. Cost: O(log sections).
class StemRadius {
 public:
  explicit StemRadius(const Stem& stem);
  double at(double axial_m) const;

 private:
  struct Known {
    double axial_m, radius;
  };
  std::vector<Known> known_;  ///< ascending
  double alone_;              ///< without known_
};

}  // namespace pc
