#pragma once
#include <cstdint>

#include "core/hit_points.h"
#include "core/op_context.h"
#include "ops/cloud/select_hits.h"
#include "ops/denoise/noise_result.h"

namespace pc {

/// A result in which every point is noise, for ops that label the clean points.
NoiseResult all_noise(HitPoints points, OpContext& ctx);

/// Sets the counts of a result from its labels; `finite_count` is the number of finite points.
void count_noise(NoiseResult& result, std::uint64_t finite_count, OpContext& ctx);

/// Labels of hits as a column of all rows of their cloud: misses are clean, deleted rows 0.
///
/// skip     (rows) of select_hits, empty = every row is a hit
/// labels   (hits.size()) NoiseClass
/// Cost     Two streaming passes, 1 byte per row. Cancel within 50 ms.
Column<std::uint8_t> noise_on_rows(const HitSelection& hits, Span<const std::uint8_t> skip,
                                   Column<std::uint8_t>&& labels, OpContext& ctx);

}  // namespace pc
