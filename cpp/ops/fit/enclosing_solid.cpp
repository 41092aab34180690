#include "ops/fit/enclosing_solid.h"

#include <algorithm>
#include <array>
#include <vector>

#include "core/parallel.h"
#include "ops/fit/smallest_solid.h"

namespace pc {

namespace {

constexpr std::size_t kBlock = 8192;
constexpr double kFlat = kFlatDifference / 2;  // half-extent
constexpr double kEnclosed = 1e-10;            // gauge beyond 1 that counts as inside
constexpr double kImprecise = 1e-7;  // gauge that the solver may miss, its gap being 1e-9 of the volume
constexpr int kRounds = 200;

/// The point with the highest score in one of several ways.
struct Best {
  double score = -HUGE_VAL;
  std::size_t row = 0;
};

/// The best point in each way; visit(i, offer) calls offer(way, score). Ties go to the first point.
template <std::size_t kWays, class Visit>
std::array<Best, kWays> best_rows(const KeptPoints& points, OpContext& ctx, const Visit& visit) {
  const std::size_t n = points.xyz.size;
  std::vector<std::array<Best, kWays>> blocks((n + kBlock - 1) / kBlock);
  parallel_for(ctx, n, kBlock, [&](std::size_t begin, std::size_t end) {
    auto& best = blocks[begin / kBlock];
    for (std::size_t i = begin; i < end; ++i) {
      if (!points[i]) continue;
      visit(i, [&](std::size_t way, double score) {
        if (score > best[way].score) best[way] = {score, i};
      });
    }
  });
  std::array<Best, kWays> out;
  for (const auto& block : blocks)
    for (std::size_t way = 0; way < kWays; ++way)
      if (block[way].score > out[way].score) out[way] = block[way];
  return out;
}

/// From the points to the frame of smallest_solid.h and back.
struct UnitFrame {
  Vec3d origin, scale;
  FlatAxes flat;

  Vec3d to_unit(const Vec3d& p) const {
    const Vec3d d = p - origin;
    return {flat.x ? 0 : d.x / scale.x, flat.y ? 0 : d.y / scale.y, flat.z ? 0 : d.z / scale.z};
  }
  CrownSolid from_unit(const CrownSolid& unit) const {
    return {unit.shape,
            {origin.x + unit.center.x * scale.x, origin.y + unit.center.y * scale.y,
             origin.z + unit.center.z * scale.z},
            {unit.half.x * scale.x, unit.half.y * scale.y, unit.half.z * scale.z}};
  }
};

UnitFrame unit_frame(CrownShape shape, const Box3d& box) {
  const Vec3d half = (box.max - box.min) * 0.5;
  UnitFrame frame{(box.min + box.max) * 0.5, half, {half.x <= kFlat, half.y <= kFlat, half.z <= kFlat}};
  if (shape == CrownShape::kCone) {
    require(!frame.flat.z, "all crown points have the same height, so there is no cone around them");
    frame.scale.x = frame.scale.y = std::max(half.x, half.y);
    frame.flat.x = frame.flat.y = frame.flat.x && frame.flat.y;
    frame.scale.z = 2 * half.z;
    frame.origin.z = box.min.z;
  }
  if (frame.flat.x) frame.scale.x = kFlatHalfExtent;
  if (frame.flat.y) frame.scale.y = kFlatHalfExtent;
  if (frame.flat.z) frame.scale.z = kFlatHalfExtent;
  return frame;
}

/// The points that reach farthest along the 26 directions from the centre of a cube to its corners, edges and faces.
std::vector<std::size_t> first_rows(const KeptPoints& points, const UnitFrame& frame, OpContext& ctx) {
  const auto best = best_rows<26>(points, ctx, [&](std::size_t i, const auto& offer) {
    const Vec3d p = frame.to_unit(points.xyz[i]);
    std::size_t way = 0;
    for (int x = -1; x <= 1; ++x)
      for (int y = -1; y <= 1; ++y)
        for (int z = -1; z <= 1; ++z)
          if (x != 0 || y != 0 || z != 0) offer(way++, x * p.x + y * p.y + z * p.z);
  });
  std::vector<std::size_t> rows;
  for (const Best& one : best) rows.push_back(one.row);
  return rows;
}

/// The point farthest outside in each octant around the centre, all in the frame of smallest_solid.h: there, points that are
/// thin beside their distance from the origin keep their digits.
std::array<Best, 8> outermost(const KeptPoints& points, const UnitFrame& frame, const CrownSolid& unit,
                              OpContext& ctx) {
  return best_rows<8>(points, ctx, [&](std::size_t i, const auto& offer) {
    const Vec3d p = frame.to_unit(points.xyz[i]), d = p - unit.center;
    offer((d.x > 0 ? 4 : 0) + (d.y > 0 ? 2 : 0) + (d.z > 0 ? 1 : 0), crown_gauge(unit, p));
  });
}

/// Scaled until the farthest point lies on the surface; not shrunk around points of one place.
CrownSolid touching(const CrownSolid& solid, const KeptPoints& points, const FlatAxes& flat, OpContext& ctx) {
  const auto farthest = best_rows<1>(
      points, ctx, [&](std::size_t i, const auto& offer) { offer(0, crown_gauge(solid, points.xyz[i])); });
  const double gauge = farthest[0].score;
  return scaled(solid, flat.x && flat.y && flat.z ? std::max(1.0, gauge) : gauge);
}

CrownSolid box_solid(const Box3d& box) {
  const Vec3d center = (box.min + box.max) * 0.5;
  // From the rounded centre to the farther side, so that thin boxes hold their points.
  const auto half = [](double low, double middle, double high) {
    return (high - low) / 2 <= kFlat ? kFlatHalfExtent : std::max(high - middle, middle - low);
  };
  return {CrownShape::kPrism,
          center,
          {half(box.min.x, center.x, box.max.x), half(box.min.y, center.y, box.max.y),
           half(box.min.z, center.z, box.max.z)}};
}

}  // namespace

Box3d kept_box(const KeptPoints& points, OpContext& ctx) {
  const auto best = best_rows<6>(points, ctx, [&](std::size_t i, const auto& offer) {
    const auto& [x, y, z] = points.xyz[i];
    offer(0, x);
    offer(1, y);
    offer(2, z);
    offer(3, -x);
    offer(4, -y);
    offer(5, -z);
  });
  return {{-best[3].score, -best[4].score, -best[5].score}, {best[0].score, best[1].score, best[2].score}};
}

CrownSolid enclosing_solid(CrownShape shape, const KeptPoints& points, OpContext& ctx) {
  const Box3d box = kept_box(points, ctx);
  require(!box.empty(), "a solid needs a point");
  if (shape == CrownShape::kPrism) return box_solid(box);
  const UnitFrame frame = unit_frame(shape, box);
  std::vector<std::size_t> rows = first_rows(points, frame, ctx);
  for (int round = 0; round < kRounds; ++round) {
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    std::vector<Vec3d> active;
    for (const std::size_t row : rows) active.push_back(frame.to_unit(points.xyz[row]));
    ctx.checkpoint();
    const CrownSolid unit = shape == CrownShape::kCone ? smallest_cone(active, frame.flat)
                                                       : smallest_ellipsoid(active, frame.flat);
    double worst = 0;
    std::vector<std::size_t> outside;
    for (const Best& one : outermost(points, frame, unit, ctx)) {
      worst = std::max(worst, one.score);
      const bool known = std::binary_search(rows.begin(), rows.end(), one.row);
      if (one.score > 1 + kEnclosed && !known) outside.push_back(one.row);
    }
    // Points that are known and still outside are so by the precision of the solution, which the scale makes up for.
    if (outside.empty() && worst < 1 + kImprecise)
      return touching(frame.from_unit(unit), points, frame.flat, ctx);
    if (outside.empty()) break;
    rows.insert(rows.end(), outside.begin(), outside.end());
  }
  throw Error(ErrorCode::kInternal, "the search for the smallest crown around the points did not end");
}

}  // namespace pc
