#pragma once
#include <algorithm>
#include <cmath>

#include "core/vec3.h"

/// Part of the writer; not part of the interface of las.h.
namespace pc::io::las {

inline double axis_of(const Vec3d& v, std::size_t axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }

/// Tests whether coordinates of one axis are offset + whole number * step, within the rounding of the sums that
/// computed them or within `slack`.
class StepCheck {
 public:
  StepCheck(double step, double offset, double view_offset, double slack = 0)
      : step_(step),
        per_step_(1.0 / step),
        offset_(offset),
        reach_(std::abs(offset) + std::abs(view_offset)),
        slack_(slack) {}
  bool usable() const { return std::isfinite(step_) && std::isfinite(per_step_) && std::isfinite(offset_); }
  /// Number of steps to the coordinate; not rounded.
  double place(double value) const { return (value - offset_) * per_step_; }
  /// Distance to the nearest step; NaN if there are too many to count.
  double distance(double value) const {
    const double at = place(value);
    const double step = (at + kRound) - kRound;  // rounds to the nearest whole number without a call
    return std::abs(at) < kMostSteps ? std::abs(step * step_ + offset_ - value) : std::nan("");
  }
  bool holds(double value) const { return distance(value) <= allowed(value); }
  bool in_int32(double value) const {
    const double at = place(value);
    return at <= 2147483647.4 && at >= -2147483648.4;
  }
  double allowed(double value) const { return std::max(slack_, kRoundings * (std::abs(value) + reach_)); }

 private:
  static constexpr double kRound = 0x1.8p52;
  static constexpr double kMostSteps = 0x1p51;
  static constexpr double kRoundings = 4 * 2.220446049250313e-16;
  double step_, per_step_, offset_, reach_, slack_;
};

/// Share of a step by which coordinates may miss it and still count as on it: float32 keeps millimetres to 3.8 um up to
/// 128 m, and no digit of a fifth decimal is that small.
inline constexpr double kSlack = 0.004;

}  // namespace pc::io::las
