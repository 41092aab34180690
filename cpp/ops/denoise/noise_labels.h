#pragma once
#include <cstdint>

#include "core/hit_points.h"
#include "core/op_context.h"
#include "ops/cloud/select_hits.h"
#include "ops/denoise/noise_result.h"

namespace pc {

/// A label for every point, noise until an op says otherwise.
NoiseResult all_noise(HitPoints points, OpContext& ctx);

/// Fills in the counts of labels that are written; `finite_count` points were looked at.
void count_noise(NoiseResult& result, std::uint64_t finite_count, OpContext& ctx);

/// The labels of hits on the rows of their cloud: misses are clean, deleted rows 0.
///
/// skip     (rows) of select_hits, empty = every row is a hit
/// labels   (hits.size()) NoiseClass
/// Cost     Two streaming passes, 1 byte a row. Cancel within 50 ms.
Column<std::uint8_t> noise_on_rows(const HitSelection& hits, Span<const std::uint8_t> skip,
                                   Column<std::uint8_t>&& labels, OpContext& ctx);

}  // namespace pc
