#pragma once
#include <cstdint>

#include "core/hit_points.h"
#include "core/op_context.h"
#include "ops/denoise/noise_result.h"

namespace pc {

/// A label for every point, noise until an op says otherwise.
NoiseResult all_noise(HitPoints points, OpContext& ctx);

/// Fills in the counts of labels that are written; `finite_count` points were looked at.
void count_noise(NoiseResult& result, std::uint64_t finite_count, OpContext& ctx);

}  // namespace pc
