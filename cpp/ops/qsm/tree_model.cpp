#include "ops/qsm/tree_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/polled_sort.h"
#include "ops/cloud/select_hits.h"
#include "ops/qsm/stem_base.h"
#include "ops/qsm/thin_points.h"
#include "ops/qsm/tree_sway.h"
#include "ops/qsm/wood_views.h"

namespace pc {

namespace {

constexpr std::size_t kPerPoll = std::size_t{1} << 16;
/// Of thin_points per kept point, and a gathered one.
constexpr std::uint64_t kThinBytes = 200, kPointBytes = sizeof(Vec3d);
/// Of a point with a view: stamp, row, views, order, places before, after and enlarged, and a copy.
constexpr std::uint64_t kViewBytes = 4 * sizeof(Vec3d) + sizeof(ViewStamp) + 24;

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

/// Level of the ground under the lowest points, frame of the model; NaN where no height is known.
double ground_under(const ModelRows& rows, const PlantScale& scale, const OpContext& ctx) {
  const double lowest_m = 0.1 / scale.factor;
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  if (rows.height_above_ground == nullptr) return kNaN;
  require(rows.height_above_ground->size() == rows.positions.size,
          "height_above_ground needs one entry per point");
  double lowest = std::numeric_limits<double>::infinity();
  const auto visit = [&](auto&& use) {
    for_each_row(rows, ctx, [&](std::size_t row) {
      const bool skipped = rows.order == nullptr && !rows.skip.empty() && rows.skip[row] != 0;
      if (!skipped && is_finite(rows.positions[row])) use(row, rows.positions[row].z);
    });
  };
  visit([&](std::size_t, double z) { lowest = std::min(lowest, z); });
  std::vector<double> ground;
  visit_scalar(*rows.height_above_ground, [&](auto heights) {
    visit([&](std::size_t row, double z) {
      const auto height = static_cast<double>(heights[row]);
      if (z <= lowest + lowest_m && std::isfinite(height) && height != 0) ground.push_back(z - height);
    });
  });
  if (ground.empty()) return kNaN;
  const auto middle = ground.begin() + static_cast<std::ptrdiff_t>(ground.size() / 2);
  std::nth_element(ground.begin(), middle, ground.end());
  return *middle + rows.offset.z;
}

/// The finite points of a tree, and what each was measured with.
struct Gathered {
  BulkVector<Vec3d> points;
  std::vector<ViewStamp> stamps;  ///< as points, or empty
};

Gathered gathered(const ModelRows& rows, std::uint64_t& seen, const OpContext& ctx) {
  Gathered out;
  std::vector<std::size_t> kept;
  const bool has_stamps = rows.scan_index != nullptr || rows.time_s != nullptr;
  out.points.reserve(static_cast<std::size_t>(rows.order == nullptr ? rows.positions.size : rows.count));
  for_each_row(rows, ctx, [&](std::size_t row) {
    if (rows.order == nullptr && !rows.skip.empty() && rows.skip[row] != 0) return;
    ++seen;
    const Vec3d p = rows.positions[row] + rows.offset;
    if (!is_finite(p)) return;
    out.points.push_back(p);
    if (has_stamps) kept.push_back(row);
  });
  out.stamps.resize(kept.size());
  const auto stamp = [&](const AnyColumn* column, double ViewStamp::*part) {
    if (column == nullptr) return;
    require(column->size() == rows.positions.size, "scan_index and time_s need one entry per point");
    visit_scalar(*column, [&](auto values) {
      for (std::size_t i = 0; i < kept.size(); ++i)
        out.stamps[i].*part = static_cast<double>(values[kept[i]]);
    });
  };
  stamp(rows.scan_index, &ViewStamp::scan);
  stamp(rows.time_s, &ViewStamp::time_s);
  for (ViewStamp& one : out.stamps) one.time_s = ViewStamp::time_of(one.time_s);
  return out;
}

/// The points of a tree by their position, and their views.
struct SeenTree {
  BulkVector<Vec3d> points;
  std::vector<std::uint32_t> view;
  std::size_t views;

  SeenTree(const Gathered& tree, const OpContext& ctx) : points(tree.points.size()) {
    WoodViews found = wood_views(tree.stamps, ctx);
    views = found.count;
    std::vector<std::uint32_t> order(tree.points.size());
    std::iota(order.begin(), order.end(), 0U);
    polled_sort(
        order.begin(), order.end(),
        [&](std::uint32_t a, std::uint32_t b) {
          const Vec3d &p = tree.points[a], &q = tree.points[b];
          if (p.x != q.x) return p.x < q.x;
          if (p.y != q.y) return p.y < q.y;
          if (p.z != q.z) return p.z < q.z;
          return found.view[a] < found.view[b];
        },
        ctx);
    view.resize(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      points[i] = tree.points[order[i]];
      view[i] = found.view[order[i]];
    }
  }
  SeenWood wood() const { return {points.view(), {view.data(), view.size()}, views}; }
};

void build(BulkVector<Vec3d>&& points, const ModelRows& rows, QsmBuildParams params, TreeModel& model,
           OpContext& ctx) {
  params.leafless = rows.leafless;
  const std::uint64_t most = rows.max_points == 0 ? points.size() : rows.max_points;
  const ThinnedPoints thinned = thin_points(std::move(points), most, ctx);
  model.voxel_m = thinned.voxel_m;
  const auto hits = select_hits(thinned.points.view(), {}, ctx);
  model.built = build_qsm(hits.points(), params, ctx);
}

BulkVector<Vec3d> copy_of(const BulkVector<Vec3d>& points) {
  BulkVector<Vec3d> out(points.size());
  std::copy(points.begin(), points.end(), out.begin());
  return out;
}

double root_mean_square(const BulkVector<Vec3d>& points, const BulkVector<Vec3d>& others) {
  double sum = 0;
  for (std::size_t i = 0; i < points.size(); ++i) sum += squared_distance(points[i], others[i]);
  return std::sqrt(sum / static_cast<double>(points.size()));
}

/// Sway of a tree in the size that its model was built in.
TreeSway sway_of(const QsmBuildResult& built, const SeenTree& tree, OpContext& ctx) {
  const PlantScale& scale = built.scale;
  if (scale.factor == 1) return tree_sway(built.qsm.cylinders, tree.wood(), ctx);
  const BulkVector<Vec3d> large = enlarged(tree.points.view(), scale, ctx);
  return tree_sway(enlarged(built.qsm.cylinders, scale),
                   {large.view(), {tree.view.data(), tree.view.size()}, tree.views}, ctx);
}

/// Looks whether the views show the tree of `model` at one place; moves them there and builds it again where they do not.
void align_views(SeenTree& tree, const ModelRows& rows, QsmBuildParams params, TreeModel& model,
                 OpContext& ctx) {
  constexpr int kTimes = 3;
  if (model.built.qsm.cylinders.empty()) return;
  const BulkVector<Vec3d> seen = copy_of(tree.points);
  TreeModel first;
  for (int time = 0; time < kTimes && !model.built.qsm.cylinders.empty(); ++time) {
    ctx.begin_phase("Comparing scans", 0);
    const double share = 1 / model.built.scale.factor;
    const TreeSway sway = sway_of(model.built, tree, ctx);
    if (time == 0) {
      const bool moved = sways(sway);
      model.views = {
          tree.views, 0, sway.scatter_m * share, sway.together_m * share, moved, moved && rows.align_scans};
      if (!moved) return;
    }
    for (std::size_t i = 0; i < seen.size(); ++i) tree.points[i] = tree.points[i] - sway.shift[i] * share;
    model.views->spread_m = root_mean_square(seen, tree.points);
    if (!rows.align_scans) {
      model.built.radii_known = model.built.has_intervals = false;
      return;
    }
    if (time == 0) first = {std::move(model.built), {}, model.point_count, model.voxel_m, model.views};
    params.moved_m = model.views->spread_m;
    build(copy_of(tree.points), rows, params, model, ctx);
  }
  if (!model.built.qsm.cylinders.empty() && is_plausible(*model.views) &&
      is_clearer(first.built, model.built))
    return;
  // Whatever moved, it is no wood that can be measured: leaves, or a shrub.
  first.views->sways = first.views->aligned = false;
  first.views->spread_m = 0;
  model = std::move(first);
}

}  // namespace

bool is_plausible(const TreeViewFit& views) {
  constexpr double kMost = 12;
  return views.spread_m <= kMost * std::max(views.together_m, 0.001);
}

bool is_clearer(const QsmBuildResult& first, const QsmBuildResult& moved) {
  constexpr double kFell = 0.8;  // in wind to 0.55 to 0.75, in shrubs to 0.95 and more
  return moved.radii_known || moved.cluster_share < kFell * first.cluster_share;
}

TreeModel tree_model(const ModelRows& rows, const QsmBuildParams& params, OpContext& ctx) {
  TreeModel model;
  ctx.begin_phase("Reading points", 0);
  Gathered tree = gathered(rows, model.point_count, ctx);
  if (tree.points.size() < kLeastModelPoints)
    throw Error(ErrorCode::kInvalidArgument, "too few points: a model needs at least " +
                                                 std::to_string(kLeastModelPoints) + ", and there are " +
                                                 std::to_string(tree.points.size()));
  std::optional<SeenTree> seen;
  if (!tree.stamps.empty()) seen.emplace(tree, ctx);
  build(std::move(tree.points), rows, params, model, ctx);
  if (seen && seen->views > 1) align_views(*seen, rows, params, model, ctx);
  model.base_gap_m = draw_to_ground(model.built, ground_under(rows, model.built.scale, ctx));
  if (!model.built.qsm.cylinders.empty()) model.metrics = qsm_metrics(model.built.qsm, ctx);
  return model;
}

std::uint64_t tree_model_cost(std::uint64_t point_count, std::uint64_t max_points, bool has_views) {
  const std::uint64_t used = max_points == 0 ? point_count : std::min(point_count, max_points);
  const std::uint64_t thinning = used < point_count ? kThinBytes * used : 0;
  const std::uint64_t views = has_views ? kViewBytes * point_count + sway_cost(point_count) : 0;
  return kPointBytes * point_count + views + std::max(thinning, build_qsm_cost(used));
}

}  // namespace pc
