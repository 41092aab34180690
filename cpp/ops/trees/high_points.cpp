#include "ops/trees/high_points.h"

#include "core/error.h"
#include "core/parallel.h"

namespace pc {

namespace {

/// Least height of crowns in a canopy height model, metres.
constexpr float kHigh = 2;

}  // namespace

HighPoints high_points(Span<const float> heights, Span<const std::uint32_t> labels,
                       Span<const std::uint8_t> has_stem, OpContext& ctx) {
  require(heights.size == labels.size, "one label per height is needed");
  const auto count = [&](const auto& counts) {
    return static_cast<std::uint64_t>(parallel_sum(ctx, heights.size, [&](std::size_t i) {
      return heights[i] > kHigh && counts(labels[i]) ? 1.0 : 0.0;
    }));
  };
  return {.count = count([](std::uint32_t) { return true; }),
          .of_stems = count([&](std::uint32_t tree) { return tree > 0 && has_stem[tree - 1] != 0; }),
          .without_tree = count([](std::uint32_t tree) { return tree == 0; })};
}

}  // namespace pc
