#include "ops/fit/least_squares.h"

#include <cmath>

namespace pc {

LossValue loss_of(Loss loss, double z) {
  const double t = 1 + z;
  switch (loss) {
    case Loss::kLinear:
      return {z, 1, 0};
    case Loss::kSoftL1:
      return {2 * z / (std::sqrt(t) + 1), 1 / std::sqrt(t), -0.5 / (t * std::sqrt(t))};
    case Loss::kHuber:
      return z <= 1 ? LossValue{z, 1, 0}
                    : LossValue{2 * std::sqrt(z) - 1, 1 / std::sqrt(z), -0.5 / (z * std::sqrt(z))};
    case Loss::kCauchy:
      return {std::log1p(z), 1 / t, -1 / (t * t)};
    case Loss::kArctan:
      return {std::atan(z), 1 / (1 + z * z), -2 * z / ((1 + z * z) * (1 + z * z))};
  }
  return {};
}

}  // namespace pc
