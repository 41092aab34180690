#include "ops/qsm/tree_model.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/error.h"
#include "ops/cloud/select_hits.h"
#include "ops/qsm/thin_points.h"

namespace pc {

namespace {

constexpr std::size_t kPerPoll = std::size_t{1} << 16;
/// Of thin_points per kept point, and a gathered one.
constexpr std::uint64_t kThinBytes = 200, kPointBytes = sizeof(Vec3d);

/// Calls visit(row) for every row of the tree.
template <class Visit>
void for_each_row(const ModelRows& rows, const OpContext& ctx, Visit&& visit) {
  const auto run = [&](std::size_t count, auto&& row_at) {
    for (std::size_t i = 0; i < count; ++i) {
      if (i % kPerPoll == 0) ctx.checkpoint();
      const std::size_t row = row_at(i);
      require(row < rows.positions.size, "an order of rows reaches beyond the points");
      visit(row);
    }
  };
  if (rows.order == nullptr) {
    require(rows.skip.empty() || rows.skip.size == rows.positions.size, "skip needs one entry per point");
    run(rows.positions.size, [](std::size_t i) { return i; });
    return;
  }
  require(rows.first <= rows.order->size() && rows.count <= rows.order->size() - rows.first,
          "the rows of a tree reach beyond the end of the order");
  const auto first = static_cast<std::size_t>(rows.first), count = static_cast<std::size_t>(rows.count);
  if (rows.order->dtype() == DType::kU32) {
    const auto order = rows.order->as<std::uint32_t>();
    run(count, [&](std::size_t i) { return static_cast<std::size_t>(order[first + i]); });
  } else {
    const auto order = rows.order->as<std::uint64_t>();
    run(count, [&](std::size_t i) { return static_cast<std::size_t>(order[first + i]); });
  }
}

BulkVector<Vec3d> gathered(const ModelRows& rows, std::uint64_t& seen, const OpContext& ctx) {
  BulkVector<Vec3d> points;
  points.reserve(static_cast<std::size_t>(rows.order == nullptr ? rows.positions.size : rows.count));
  for_each_row(rows, ctx, [&](std::size_t row) {
    if (rows.order == nullptr && !rows.skip.empty() && rows.skip[row] != 0) return;
    ++seen;
    const Vec3d p = rows.positions[row] + rows.offset;
    if (is_finite(p)) points.push_back(p);
  });
  return points;
}

}  // namespace

TreeModel tree_model(const ModelRows& rows, const QsmBuildParams& params, OpContext& ctx) {
  TreeModel model;
  ctx.begin_phase("Reading points", 0);
  BulkVector<Vec3d> points = gathered(rows, model.point_count, ctx);
  if (points.size() < kLeastModelPoints)
    throw Error(ErrorCode::kInvalidArgument, "too few points: a model needs at least " +
                                                 std::to_string(kLeastModelPoints) + ", and there are " +
                                                 std::to_string(points.size()));
  const std::uint64_t most = rows.max_points == 0 ? points.size() : rows.max_points;
  const ThinnedPoints thinned = thin_points(std::move(points), most, ctx);
  model.voxel_m = thinned.voxel_m;
  const auto hits = select_hits(thinned.points.view(), {}, ctx);
  model.built = build_qsm(hits.points(), params, ctx);
  if (!model.built.qsm.cylinders.empty()) model.metrics = qsm_metrics(model.built.qsm, ctx);
  return model;
}

std::uint64_t tree_model_cost(std::uint64_t point_count, std::uint64_t max_points) {
  const std::uint64_t used = max_points == 0 ? point_count : std::min(point_count, max_points);
  const std::uint64_t thinning = used < point_count ? kThinBytes * used : 0;
  return kPointBytes * point_count + std::max(thinning, build_qsm_cost(used));
}

}  // namespace pc
