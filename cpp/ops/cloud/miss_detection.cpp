#include "ops/cloud/miss_detection.h"

#include <cmath>
#include <vector>

#include "core/parallel.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 16;

struct Counts {
  std::uint64_t by_index = 0, by_distance = 0;
};

/// Marks rows for which is_miss(i) holds and returns how many.
template <class IsMiss>
std::uint64_t mark(Span<std::uint8_t> out, OpContext& ctx, IsMiss&& is_miss) {
  std::vector<std::uint64_t> partials(static_cast<std::size_t>(ctx.threads()), 0);
  parallel_for_worker(ctx, out.size, kGrain, [&](std::size_t begin, std::size_t end, int worker) {
    std::uint64_t marked = 0;
    for (std::size_t i = begin; i < end; ++i) {
      if (out[i] != 0 || !is_miss(i)) continue;
      out[i] = 1;
      ++marked;
    }
    partials[static_cast<std::size_t>(worker)] += marked;
  });
  std::uint64_t all = 0;
  for (const std::uint64_t partial : partials) all += partial;
  return all;
}

std::uint64_t mark_far(const MissDetectionInput& input, double limit_m, Span<std::uint8_t> out,
                       OpContext& ctx) {
  return mark(out, ctx, [&](std::size_t i) {
    const Vec3d& origin = input.beam_origins.empty() ? *input.origin : input.beam_origins[i];
    const double squared = squared_distance(input.positions[i], origin);
    // An infinite distance counts as far, unless a coordinate is not finite.
    return std::sqrt(squared) >= limit_m && is_finite(input.positions[i]) && is_finite(origin);
  });
}

void require_column(const AnyColumn* column, std::size_t rows) {
  require(column == nullptr || column->size() == rows,
          "is_miss and target_index must have one value per point");
}

}  // namespace

MissDetectionResult detect_misses(const MissDetectionInput& input, const MissDetectionParams& params,
                                  OpContext& ctx) {
  const std::size_t rows = input.positions.size;
  require(std::isfinite(params.far_range_m) && params.far_range_m > 0.0,
          "far_range_m must be finite and positive");
  require(input.beam_origins.empty() || input.beam_origins.size == rows,
          "beam origins: one per point is needed");
  require_column(input.is_miss, rows);
  require_column(input.target_index, rows);
  ctx.begin_phase("Looking for misses", 3 * rows);

  MissDetectionResult result{Column<std::uint8_t>(rows), MissSource::kNone, 0, 0, 0};
  const Span<std::uint8_t> out = result.is_miss.view();
  if (input.is_miss != nullptr) {
    result.miss_count = visit_scalar(*input.is_miss, [&](auto values) {
      return mark(out, ctx, [=](std::size_t i) { return values[i] != 0; });
    });
    if (result.miss_count != 0) {
      result.source = MissSource::kColumn;
      return result;
    }
  }
  if (input.target_index != nullptr) {
    result.target_index_count = visit_scalar(*input.target_index, [&](auto values) {
      return mark(out, ctx, [=](std::size_t i) { return static_cast<double>(values[i]) == kSkyTargetIndex; });
    });
  }
  if (input.origin.has_value() || !input.beam_origins.empty()) {
    result.distance_count = mark_far(input, kFarRangeShare * params.far_range_m, out, ctx);
  }
  result.miss_count = result.target_index_count + result.distance_count;
  if (result.miss_count == 0) {
    result.is_miss = Column<std::uint8_t>();
  } else {
    result.source = MissSource::kDetected;
  }
  return result;
}

}  // namespace pc
