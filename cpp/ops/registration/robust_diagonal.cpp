#include "ops/registration/robust_diagonal.h"

#include <algorithm>
#include <cmath>

#include "core/memory.h"

namespace pc {

namespace {

constexpr std::size_t kLeast = 64;  // contract terrain section 3.2
constexpr double kReach = 3;
constexpr std::size_t kPollEvery = std::size_t{1} << 16;  // values between two cancel checks

/// The value of rank n / 2.
double median_of(BulkVector<double>& values, OpContext& ctx) {
  double* const middle = values.data() + values.size() / 2;
  std::size_t compared = 0;
  std::nth_element(values.begin(), middle, values.end(), [&](double a, double b) {
    if (++compared % kPollEvery == 0) ctx.checkpoint();
    return a < b;
  });
  return *middle;
}

template <class Value>
double median_over(Span<const Vec3d> points, const Value& value, BulkVector<double>& values, OpContext& ctx) {
  for (std::size_t i = 0; i < points.size; ++i) {
    if (i % kPollEvery == 0) ctx.checkpoint();
    values[i] = value(points[i]);
  }
  return median_of(values, ctx);
}

double diagonal(const Box3d& box) { return box.empty() ? 0 : std::sqrt(squared_distance(box.min, box.max)); }

}  // namespace

double robust_diagonal(Span<const Vec3d> points, OpContext& ctx) {
  Box3d all;
  for (const Vec3d& p : points) all.add(p);
  if (points.size < kLeast) return diagonal(all);
  BulkVector<double> values(points.size);
  const Vec3d center{median_over(
                         points, [](const Vec3d& p) { return p.x; }, values, ctx),
                     median_over(
                         points, [](const Vec3d& p) { return p.y; }, values, ctx),
                     median_over(
                         points, [](const Vec3d& p) { return p.z; }, values, ctx)};
  const auto squared = [&](const Vec3d& p) { return squared_distance(p, center); };
  const double reach = kReach * kReach * median_over(points, squared, values, ctx);
  Box3d near;
  std::size_t kept = 0;
  for (const Vec3d& p : points) {
    if (!(squared(p) <= reach)) continue;
    near.add(p);
    ++kept;
  }
  return diagonal(kept >= kLeast && 2 * kept >= points.size ? near : all);
}

}  // namespace pc
