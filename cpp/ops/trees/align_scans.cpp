#include "ops/trees/align_scans.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/parallel.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 15;

Vec2d taken(const Vec2d& place, const ViewStamp& stamp, const std::vector<StemDrift>& drifts) {
  Vec2d at = place;
  for (const StemDrift& drift : drifts) {
    const Vec2d offset = drift.at(stamp, at);
    at = {at.x - offset.x, at.y - offset.y};
  }
  return at;
}

/// Values of a column at rows as numbers; 0 without a column.
template <class Visit>
void visit_or_zero(const AnyColumn* column, Visit&& visit) {
  if (column == nullptr) {
    visit([](std::size_t) { return 0.0; });
  } else {
    visit_scalar(*column, [&](auto values) {
      visit([values](std::size_t i) { return static_cast<double>(values[i]); });
    });
  }
}

std::vector<ScanMove> moves_of(const std::vector<StemDrift>& drifts, const Vec2d& middle) {
  std::vector<ScanMove> moves;
  for (const auto& [scan, knots] : drifts.front().scans()) {
    ScanMove move{scan, 0, 0, 0, 0};
    const auto n = static_cast<double>(knots.size());
    for (const StemDrift::Knot& knot : knots) {
      const ViewStamp stamp{scan, knot.time_s};
      const Vec2d at = taken(middle, stamp, drifts), beside = taken({middle.x + 1, middle.y}, stamp, drifts);
      const double x = at.x - middle.x, y = at.y - middle.y;
      move.x_m += x / n;
      move.y_m += y / n;
      move.turn += (beside.y - at.y) / n;
      move.most_m = std::max(move.most_m, std::hypot(x, y));
    }
    moves.push_back(move);
  }
  return moves;
}

}  // namespace

Alignment align_scans(const TreeCloud& cloud, const TreeInventoryParams& params, OpContext& ctx) {
  TreeInventoryResult found = tree_inventory(cloud, params, ctx);
  Alignment out{found.views, std::move(found.drifts), {0, 0}, {}};
  if (out.drifts.empty()) return out;
  out.middle = out.drifts.front().middle();
  out.scans = moves_of(out.drifts, out.middle);
  return out;
}

Column<Vec3d> without_drift(Span<const Vec3d> points, const Vec3d& shift, const AnyColumn* scan_index,
                            const AnyColumn* time_s, const std::vector<StemDrift>& drifts, OpContext& ctx) {
  for (const AnyColumn* column : {scan_index, time_s})
    require(column == nullptr || column->size() == points.size, "every column needs one value per point");
  Column<Vec3d> out(points.size);
  const Span<Vec3d> moved = out.view();
  ctx.begin_phase("Moving points", points.size);
  visit_or_zero(scan_index, [&](auto scan) {
    visit_or_zero(time_s, [&](auto time) {
      parallel_for_worker(ctx, points.size, kGrain, [&](std::size_t begin, std::size_t end, int) {
        for (std::size_t i = begin; i < end; ++i) {
          const Vec2d place{points[i].x + shift.x, points[i].y + shift.y};
          const Vec2d at = taken(place, {scan(i), ViewStamp::time_of(time(i))}, drifts);
          moved[i] = points[i] + Vec3d{at.x - place.x, at.y - place.y, 0};
        }
      });
    });
  });
  return out;
}

}  // namespace pc
