#include "ops/cloud/coordinate_step.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "core/error.h"

namespace pc {

namespace {

constexpr std::size_t kSamples = 10'000, kFewest = 1'000;
constexpr double kArithmetic = 1e-6;    // metres
constexpr std::size_t kPoll = 1 << 20;  // rows between looks at the cancel flag: a few milliseconds

template <class Visit>
void visit_rows(Span<const Vec3d> points, Span<const std::uint8_t> skip, OpContext& ctx, const Visit& visit) {
  for (std::size_t i = 0; i < points.size; ++i) {
    if (i % kPoll == 0) ctx.checkpoint();
    if ((skip.empty() || skip[i] == 0) && is_finite(points[i])) visit(points[i]);
  }
}

double smallest_gap(std::vector<double>& values) {
  std::sort(values.begin(), values.end());
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 1; i < values.size(); ++i) {
    const double gap = values[i] - values[i - 1];
    if (gap > kArithmetic) least = std::min(least, gap);
  }
  return least;
}

}  // namespace

double coordinate_step(Span<const Vec3d> points, Span<const std::uint8_t> skip, OpContext& ctx) {
  require(skip.empty() || skip.size == points.size, "skip must have one value per point");
  std::size_t count = 0;
  visit_rows(points, skip, ctx, [&](const Vec3d&) { ++count; });
  if (count < kFewest) return 0;
  const std::size_t stride = (count + kSamples - 1) / kSamples;
  std::vector<double> xs, ys;
  xs.reserve(kSamples);
  ys.reserve(kSamples);
  std::size_t seen = 0;
  visit_rows(points, skip, ctx, [&](const Vec3d& p) {
    if (seen++ % stride != 0) return;
    xs.push_back(p.x);
    ys.push_back(p.y);
  });
  const double step = std::min(smallest_gap(xs), smallest_gap(ys));
  return step < std::numeric_limits<double>::infinity() ? step : 0;
}

}  // namespace pc
