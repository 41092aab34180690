#include "ops/registration/far_cluster.h"

#include <algorithm>
#include <cmath>

#include "core/memory.h"
#include "core/parallel.h"

namespace pc {

namespace {

constexpr double kFar = 800, kGap = 3;  // contract terrain section 3
constexpr std::size_t kGrain = std::size_t{1} << 18;
constexpr std::size_t kPollEvery = std::size_t{1} << 16;  // comparisons between two cancel checks

/// Median of one coordinate of the finite points.
double median_of(Span<const Vec3d> points, double Vec3d::*axis, BulkVector<double>& values, OpContext& ctx) {
  values.clear();
  for (std::size_t i = 0; i < points.size; ++i) {
    if (i % kGrain == 0) ctx.checkpoint();
    if (is_finite(points[i])) values.push_back(points[i].*axis);
  }
  if (values.empty()) return 0;
  double* const middle = values.data() + values.size() / 2;
  std::size_t compared = 0;
  std::nth_element(values.begin(), middle, values.end(), [&](double a, double b) {
    if (++compared % kPollEvery == 0) ctx.checkpoint();
    return a < b;
  });
  return *middle;
}

/// Squared distance at which the far cluster begins; infinite without one.
double first_beyond_gap(Span<const double> squared, BulkVector<double>& far, OpContext& ctx) {
  far.clear();
  double nearer = 0;
  for (std::size_t i = 0; i < squared.size; ++i) {
    if (i % kGrain == 0) ctx.checkpoint();
    if (std::isnan(squared[i])) continue;
    if (squared[i] >= kFar * kFar) {
      far.push_back(squared[i]);
    } else {
      nearer = std::max(nearer, squared[i]);
    }
  }
  std::size_t compared = 0;
  std::sort(far.begin(), far.end(), [&](double a, double b) {
    if (++compared % kPollEvery == 0) ctx.checkpoint();
    return a < b;
  });
  for (const double value : far) {
    if (value >= kGap * kGap * nearer) return value;
    nearer = value;
  }
  return HUGE_VAL;
}

}  // namespace

FarCluster far_cluster(Span<const Vec3d> points, OpContext& ctx) {
  ctx.begin_phase("Reading points", 0);
  BulkVector<double> values;
  const Vec3d median{median_of(points, &Vec3d::x, values, ctx), median_of(points, &Vec3d::y, values, ctx),
                     median_of(points, &Vec3d::z, values, ctx)};
  BulkVector<double> squared(points.size);
  parallel_for(ctx, points.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      squared[i] = is_finite(points[i]) ? squared_distance(points[i], median) : std::nan("");
  });
  const double from = first_beyond_gap(squared.view(), values, ctx);
  FarCluster found{Column<std::uint8_t>(0), 0};
  if (from == HUGE_VAL) return found;
  found.skip = Column<std::uint8_t>(points.size);
  for (std::size_t i = 0; i < points.size; ++i) {
    if (i % kGrain == 0) ctx.checkpoint();
    if (!(squared[i] >= from)) continue;
    found.skip[i] = 1;
    ++found.count;
  }
  return found;
}

}  // namespace pc
