#pragma once
#include <vector>

#include "ops/trees/stem_views.h"

namespace pc {

/// How offsets of one scan vary together: their covariance along an axis is spread_m^2 exp(-|t1 - t2| / time_s).
struct ViewCovariance {
  double spread_m, time_s;
};

/// The covariance whose variogram, with a nugget, fits the distances of the places of the same stems by the time between them; of two
/// scans that time is infinite.
///
/// stems    at least one has two places
/// Cost     O(p log p) for p pairs of places of a stem. Cancel within 250 ms.
/// Source   Cressie & Hawkins 1980, Mathematical Geology 12: 115 (medians of differences); least squares of logarithms over a grid.
ViewCovariance view_covariance(const std::vector<std::vector<ViewPlace>>& stems, const OpContext& ctx);

}  // namespace pc
