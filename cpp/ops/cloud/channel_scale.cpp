#include "ops/cloud/channel_scale.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/parallel.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 16;
constexpr double kFull = 65535.0;

struct FiniteRange {
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  void add(double value) {
    min = std::min(min, value);
    max = std::max(max, value);
  }
  bool empty() const { return min > max; }
};

template <class T>
FiniteRange finite_range(Span<const T> values, Span<const std::uint8_t> skip, OpContext& ctx) {
  std::vector<FiniteRange> partials(static_cast<std::size_t>(ctx.threads()));
  parallel_for_worker(ctx, values.size, kGrain, [&](std::size_t begin, std::size_t end, int worker) {
    FiniteRange local;
    for (std::size_t i = begin; i < end; ++i) {
      const auto value = static_cast<double>(values[i]);
      if (std::isfinite(value) && (skip.empty() || skip[i] == 0)) local.add(value);
    }
    if (local.empty()) return;
    partials[static_cast<std::size_t>(worker)].add(local.min);
    partials[static_cast<std::size_t>(worker)].add(local.max);
  });
  FiniteRange all;
  for (const FiniteRange& partial : partials) {
    if (partial.empty()) continue;
    all.add(partial.min);
    all.add(partial.max);
  }
  return all;
}

/// Rounds half up; NaN becomes 0.
std::uint16_t to_u16(double value) {
  if (!(value > 0.0)) return 0;
  return value >= kFull ? std::uint16_t{65535} : static_cast<std::uint16_t>(value + 0.5);
}

template <class T>
void map_range(Span<const T> values, Span<const std::uint8_t> skip, const FiniteRange& range,
               Span<std::uint16_t> out, OpContext& ctx) {
  // Halved values, because max - min of two finite values may overflow; halving is exact except for denormals.
  const double half = std::isfinite(range.max - range.min) ? 1.0 : 0.5;
  const double low = range.min * half, span = range.max * half - low;
  parallel_for(ctx, values.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto value = static_cast<double>(values[i]);
      if (!std::isfinite(value) || (!skip.empty() && skip[i] != 0)) continue;  // pages start as 0
      out[i] = to_u16((value * half - low) / span * kFull);
    }
  });
}

void require_channels(const ColorChannels& c) {
  require(c.r != nullptr && c.g != nullptr && c.b != nullptr, "a colour needs three channels");
  require(c.r->size() == c.g->size() && c.r->size() == c.b->size(),
          "colour channels must have equal lengths");
  for (const AnyColumn* channel : {c.r, c.g, c.b}) {
    require(channel->dtype() != DType::kVec3d && channel->dtype() != DType::kRgb16,
            "colour channels must be scalar");
  }
}

}  // namespace

IntensityScale scale_intensity(const AnyColumn& values, Span<const std::uint8_t> skip, OpContext& ctx) {
  require(skip.empty() || skip.size == values.size(), "the skip mask must have one entry per row");
  ctx.begin_phase("Scaling intensity", 2 * values.size());
  return visit_scalar(values, [&](auto typed) {
    IntensityScale result{Column<std::uint16_t>(typed.size), {}, {}};
    const FiniteRange range = finite_range(typed, skip, ctx);
    if (range.empty()) return result;
    result.min = range.min;
    result.max = range.max;
    if (range.min < range.max) map_range(typed, skip, range, result.intensity.view(), ctx);
    return result;
  });
}

Column<Rgb16> scale_colors(const ColorChannels& channels, ColorRange range, OpContext& ctx) {
  require_channels(channels);
  const double factor = range == ColorRange::kUnit ? kFull : (range == ColorRange::kByte ? 256.0 : 1.0);
  Column<Rgb16> colors(channels.r->size());
  ctx.begin_phase("Scaling colours", 3 * colors.size());
  const auto fill = [&](const AnyColumn& channel, std::uint16_t Rgb16::*member) {
    visit_scalar(channel, [&](auto typed) {
      parallel_for(ctx, typed.size, kGrain, [&, out = colors.view()](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
          out[i].*member = to_u16(static_cast<double>(typed[i]) * factor);
      });
    });
  };
  fill(*channels.r, &Rgb16::r);
  fill(*channels.g, &Rgb16::g);
  fill(*channels.b, &Rgb16::b);
  return colors;
}

}  // namespace pc
