#include "ops/trees/measured_points.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "core/polled_sort.h"

namespace pc {

namespace {

constexpr std::size_t kPollRows = 1 << 16;

/// Calls visit(row) for every entry of a part of the order.
template <class Visit>
void for_each_row(const AnyColumn& order, const MeasuredRows& tree, const OpContext& ctx, Visit&& visit) {
  const auto run = [&](auto rows) {
    for (std::uint64_t i = 0; i < tree.count; ++i) {
      if (i % kPollRows == 0) ctx.checkpoint();
      visit(static_cast<std::size_t>(rows[static_cast<std::size_t>(tree.first + i)]));
    }
  };
  if (order.dtype() == DType::kU32) {
    run(order.as<std::uint32_t>());
  } else {
    run(order.as<std::uint64_t>());
  }
}

/// Orders points by their position, so that the measures do not depend on the order of the rows.
void order_by_position(MeasuredPoints& tree, const OpContext& ctx) {
  std::vector<std::size_t> order(tree.points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key_of = [&](std::size_t i) {
    const Vec3d& p = tree.points[i];
    return std::tuple{p.z, p.y, p.x};
  };
  const auto is_below = [](double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; };
  const auto rest_of = [&](std::size_t i) {
    const ViewStamp stamp = tree.stamps.empty() ? ViewStamp{} : tree.stamps[i];
    return std::array{tree.heights.empty() ? 0 : tree.heights[i], stamp.scan, stamp.time_s};
  };
  // What points at one place have besides may differ.
  polled_sort(
      order.begin(), order.end(),
      [&](std::size_t a, std::size_t b) {
        const auto left = key_of(a), right = key_of(b);
        if (left != right) return left < right;
        const auto rest_a = rest_of(a), rest_b = rest_of(b);
        return std::lexicographical_compare(rest_a.begin(), rest_a.end(), rest_b.begin(), rest_b.end(),
                                            is_below);
      },
      ctx);
  const auto ordered = [&](auto values) {
    auto out = values;
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (i % kPollRows == 0) ctx.checkpoint();
      out[i] = values[order[i]];
    }
    return out;
  };
  tree.points = ordered(std::move(tree.points));
  if (!tree.heights.empty()) tree.heights = ordered(std::move(tree.heights));
  if (!tree.stamps.empty()) tree.stamps = ordered(std::move(tree.stamps));
}

/// The values of a column for the points of a tree.
std::vector<double> values_of(const AnyColumn& column, const TreeCloud& cloud, const AnyColumn& order,
                              const MeasuredRows& tree, const MeasuredPoints& points, const OpContext& ctx) {
  std::vector<double> out;
  out.reserve(points.points.size());
  visit_scalar(column, [&](auto values) {
    for_each_row(order, tree, ctx, [&](std::size_t row) {
      if (points.nonfinite == 0 || is_finite(cloud.positions[row] + cloud.shift))
        out.push_back(static_cast<double>(values[row]));
    });
  });
  return out;
}

}  // namespace

MeasuredPoints points_of(const TreeCloud& cloud, const AnyColumn& order, const MeasuredRows& tree,
                         const std::vector<StemDrift>& drifts, const OpContext& ctx) {
  MeasuredPoints out;
  out.points.reserve(static_cast<std::size_t>(tree.count));
  for_each_row(order, tree, ctx, [&](std::size_t row) {
    const Vec3d p = cloud.positions[row] + cloud.shift;
    if (is_finite(p)) out.points.push_back(p);
  });
  out.nonfinite = tree.count - out.points.size();
  if (cloud.height_above_ground != nullptr) {
    out.heights = values_of(*cloud.height_above_ground, cloud, order, tree, out, ctx);
    for (double& height : out.heights)
      if (height == 0) height = std::numeric_limits<double>::quiet_NaN();
  }
  if (has_views(cloud)) out.stamps.resize(out.points.size());
  const auto stamp = [&](const AnyColumn* column, double ViewStamp::*part) {
    if (column == nullptr) return;
    const std::vector<double> values = values_of(*column, cloud, order, tree, out, ctx);
    for (std::size_t i = 0; i < values.size(); ++i) out.stamps[i].*part = values[i];
  };
  stamp(cloud.scan_index, &ViewStamp::scan);
  stamp(cloud.time_s, &ViewStamp::time_s);
  for (ViewStamp& one : out.stamps) one.time_s = ViewStamp::time_of(one.time_s);
  for (const StemDrift& drift : drifts) {
    for (std::size_t i = 0; i < out.points.size(); ++i) {
      if (i % kPollRows == 0) ctx.checkpoint();
      const Vec2d offset = drift.at(out.stamps[i], {out.points[i].x, out.points[i].y});
      out.points[i] = out.points[i] - Vec3d{offset.x, offset.y, 0};
    }
  }
  order_by_position(out, ctx);
  return out;
}

}  // namespace pc
