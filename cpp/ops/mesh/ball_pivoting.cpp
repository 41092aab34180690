#include "ops/mesh/ball_pivoting.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "core/parallel.h"
#include "core/radix_sort.h"
#include "ops/cloud/percentile.h"
#include "ops/mesh/ball_tiles.h"
#include "ops/mesh/hole_filling.h"
#include "ops/mesh/pivot_front.h"
#include "ops/mesh/surface_gaps.h"
#include "spatial/all_knn.h"

namespace pc {

namespace {

constexpr double kUneven = 1.8;  // p90 over median of the spacing from which tiles are made
constexpr std::size_t kLeastUneven = 200, kLeastInTile = 50;
constexpr double kHaloSpacings = 8, kHaloGaps = 6, kHaloWidth = 0.05;
constexpr double kLeastRadius = 1e-12;  // of the extent
constexpr double kRadii[] = {1, 2, 4};
constexpr double kSpan = 1.25;              // a ball spans gaps of its radius over this
constexpr double kGapRadii[] = {1.4, 2.8};  // over the gaps
constexpr std::size_t kGapSamples = 8192;
constexpr double kFillRadii = 2;  // over the largest ball: the circles of triangles that fill holes

/// The usable points, in an order in which neighbours are mostly close.
struct PivotCloud {
  BulkVector<std::uint32_t> row;
  BulkVector<Vec3d> places, normals;
  Box3d box;
  bool sides_are_known = false;
};

bool less_by_place(const Vec3d& a, const Vec3d& b) {
  if (a.x != b.x) return a.x < b.x;
  if (a.y != b.y) return a.y < b.y;
  return a.z < b.z;
}

/// Codes of the cells of a grid over the box, row by row of cells.
BulkVector<std::uint64_t> cell_codes(Span<const Vec3d> points, const BulkVector<std::uint32_t>& rows,
                                     const Box3d& box, OpContext& ctx) {
  constexpr double kCells = 1024;
  const Vec3d extent = box.max - box.min;
  const double step = std::max({extent.x, extent.y, extent.z}) / kCells;
  BulkVector<std::uint64_t> codes(rows.size());
  parallel_for(ctx, rows.size(), 16'384, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Vec3d d = points[rows[i]] - box.min;
      const auto cell = [&](double v) {
        return static_cast<std::uint64_t>(step > 0 ? std::clamp(v / step, 0.0, kCells - 1) : 0.0);
      };
      codes[i] = (cell(d.z) << 10 | cell(d.y)) << 10 | cell(d.x);
    }
  });
  return codes;
}

/// Drops points without a normal and repeated places; sorts the others.
PivotCloud usable_points(Span<const Vec3d> points, Span<const Vec3d> normals, OpContext& ctx) {
  PivotCloud cloud;
  BulkVector<std::uint32_t> rows;
  for (std::size_t i = 0; i < points.size; ++i) {
    if (i % 65'536 == 0) ctx.checkpoint();
    const Vec3d& n = normals[i];
    const double size = n.x * n.x + n.y * n.y + n.z * n.z;
    if (!is_finite(points[i]) || !(size > 0) || !std::isfinite(size)) continue;
    rows.push_back(static_cast<std::uint32_t>(i));
    cloud.box.add(points[i]);
  }
  const BulkVector<std::uint64_t> codes = cell_codes(points, rows, cloud.box, ctx);
  BulkVector<std::uint32_t> order = radix_sort_order(codes.view(), 30, ctx);
  std::size_t compared = 0;
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i + 1;
    while (end < order.size() && codes[order[end]] == codes[order[i]]) ++end;
    std::sort(order.begin() + i, order.begin() + end, [&](std::uint32_t a, std::uint32_t b) {
      if (++compared % 65'536 == 0) ctx.checkpoint();
      const Vec3d &p = points[rows[a]], &q = points[rows[b]];
      return p == q ? a < b : less_by_place(p, q);
    });
    for (; i < end; ++i) {
      const std::uint32_t row = rows[order[i]];
      if (!cloud.places.empty() && points[row] == cloud.places.back()) continue;
      const Vec3d& n = normals[row];
      cloud.row.push_back(row);
      cloud.places.push_back(points[row]);
      cloud.normals.push_back(n * (1 / std::sqrt(n.x * n.x + n.y * n.y + n.z * n.z)));
    }
  }
  return cloud;
}

/// Distance of each point to the nearest other, and gaps beside some.
struct Spacing {
  BulkVector<double> nearest;
  std::vector<SurfaceGap> gaps;
};

Spacing spacing_of(const PivotCloud& cloud, OpContext& ctx) {
  Spacing spacing;
  spacing.nearest.resize(cloud.places.size());
  const KdTree tree(cloud.places.view(), ctx);
  const KdTreeView view = tree.view();
  const std::vector<std::size_t> blocks = tree.leaf_blocks(all_knn_block(1));
  all_knn(tree, {1, 0, KnnColumns::kSquared}, {blocks.data(), blocks.size()}, ctx,
          [&](std::uint32_t number, const LeafKnn& found) {
            const kd_tree::Leaf leaf = view.leaf(view.nodes[number]);
            for (std::uint32_t p = 0; p < leaf.count; ++p)
              spacing.nearest[leaf.row[p]] =
                  found.squared(p).size > 0 ? std::sqrt(found.squared(p)[0]) : HUGE_VAL;
          });
  spacing.gaps = surface_gaps(tree, cloud.places.view(), kGapSamples, ctx);
  return spacing;
}

struct SpacingShares {
  double median, p90;
};
/// Reorders the values.
double percentile_of(BulkVector<double>& values, double fraction, OpContext& ctx) {
  std::size_t compared = 0;
  const auto less = [&](double a, double b) {
    if (++compared % 65'536 == 0) ctx.checkpoint();
    return a < b;
  };
  const PercentileRank rank = percentile_rank(values.size(), fraction);
  double* const low = values.begin() + rank.low;
  std::nth_element(values.begin(), low, values.end(), less);
  const double high = rank.high > rank.low ? *std::min_element(low + 1, values.end(), less) : *low;
  return percentile_between(*low, high, rank.weight);
}
SpacingShares shares_of(BulkVector<double>&& spacing, OpContext& ctx) {
  const double median = percentile_of(spacing, 0.5, ctx);
  return {median, percentile_of(spacing, 0.9, ctx)};
}

/// From the spacing; from the gaps where balls of that size fall through. Small balls would fill rows of points with
/// triangles over which no larger ball leads to the next row.
std::vector<double> automatic_radii(double median, double gap) {
  std::vector<double> radii;
  const bool spans = kRadii[2] * median >= kSpan * gap;
  if (spans)
    for (const double factor : kRadii) radii.push_back(factor * median);
  else
    for (const double factor : kGapRadii) radii.push_back(factor * gap);
  return radii;
}

void roll_all(PivotFront& front, const std::vector<double>& radii) {
  for (const double radius : radii) front.roll(radius);
}

/// Triangles of one tile whose centroid it holds, as indices in the cloud.
struct TileMesh {
  BulkVector<std::uint32_t> triangles;
  double largest_m = 0;  ///< ball
};

TileMesh roll_tile(const PivotCloud& cloud, const Spacing& spacing, const BallTiles& tiles, std::size_t tile,
                   Span<const std::uint32_t> members, double halo, OpContext& ctx) {
  TileMesh mesh;
  if (members.size < kLeastInTile) return mesh;
  BulkVector<Vec3d> places(members.size), normals(members.size);
  BulkVector<double> distances(members.size);
  for (std::size_t i = 0; i < members.size; ++i) {
    if (i % 65'536 == 0) ctx.checkpoint();
    places[i] = cloud.places[members[i]];
    normals[i] = cloud.normals[members[i]];
    distances[i] = spacing.nearest[members[i]];
  }
  PivotFront front(places.view(), normals.view(), cloud.sides_are_known, ctx);
  std::vector<SurfaceGap> gaps;
  for (const SurfaceGap& gap : spacing.gaps)
    if (tiles.holds(tile, cloud.places[gap.row], halo)) gaps.push_back(gap);
  const std::vector<double> radii =
      automatic_radii(shares_of(std::move(distances), ctx).median, typical_gap({gaps.data(), gaps.size()}));
  mesh.largest_m = radii.back();
  roll_all(front, radii);
  const BulkVector<std::uint32_t>& found = front.triangles();
  for (std::size_t t = 0; t < found.size(); t += 3) {
    const Vec3d centroid = (places[found[t]] + places[found[t + 1]] + places[found[t + 2]]) * (1.0 / 3);
    if (tiles.of(centroid) != tile) continue;
    for (std::size_t k = 0; k < 3; ++k) mesh.triangles.push_back(members[found[t + k]]);
  }
  return mesh;
}

/// Appends the triangles none of whose directed edges is taken: at the seams tiles may disagree.
void append_fitting(std::vector<TileMesh>& parts, BulkVector<std::uint32_t>& all, OpContext& ctx) {
  std::size_t total = 0;
  for (const TileMesh& part : parts) total += part.triangles.size();
  std::size_t slots = 16;
  while (slots < 2 * total) slots *= 2;
  BulkVector<std::uint64_t> taken(slots);  // from * 2^32 + to + 1 of a directed edge; 0 = free
  const auto find = [&](std::uint32_t from, std::uint32_t to) -> std::uint64_t& {
    const std::uint64_t key = (std::uint64_t{from} << 32 | to) + 1;
    std::size_t slot = (key * 0x9e3779b97f4a7c15ULL >> 20) & (slots - 1);
    while (taken[slot] != 0 && taken[slot] != key) slot = (slot + 1) & (slots - 1);
    return taken[slot];
  };
  for (TileMesh& tile : parts) {
    BulkVector<std::uint32_t>& part = tile.triangles;
    for (std::size_t t = 0; t < part.size(); t += 3) {
      if (t % 49'152 == 0) ctx.checkpoint();
      const std::uint32_t* const v = part.data() + t;
      if (find(v[0], v[1]) != 0 || find(v[1], v[2]) != 0 || find(v[2], v[0]) != 0) continue;
      for (std::size_t k = 0; k < 3; ++k) {
        const std::uint32_t from = v[k], to = v[(k + 1) % 3];
        find(from, to) = (std::uint64_t{from} << 32 | to) + 1;
        all.push_back(from);
      }
    }
    part.reset();
  }
}

/// Tiles and the largest ball of each.
struct TileRolls {
  BallTiles tiles;
  std::vector<double> largest_m;
};

TileRolls roll_tiles(const PivotCloud& cloud, const Spacing& spacing, double median, std::uint32_t count,
                     BulkVector<std::uint32_t>& triangles, OpContext& ctx) {
  const auto per_side = static_cast<std::size_t>(std::lround(std::sqrt(count)));
  const Vec3d extent = cloud.box.max - cloud.box.min;
  const BallTiles tiles{per_side, cloud.box.min, extent * (1 / static_cast<double>(per_side))};
  const double gap = typical_gap({spacing.gaps.data(), spacing.gaps.size()});
  const double width = std::max(tiles.width.x, tiles.width.y);
  const double halo =
      std::min(width, std::max({kHaloSpacings * median, kHaloGaps * gap, kHaloWidth * width}));
  const TileRows rows = tile_rows(cloud.places.view(), tiles, halo, ctx);
  std::vector<TileMesh> parts(count);
  parallel_for(ctx, parts.size(), 1, [&](std::size_t tile, std::size_t) {
    parts[tile] = roll_tile(cloud, spacing, tiles, tile, rows.of(tile), halo, ctx);
  });
  append_fitting(parts, triangles, ctx);
  TileRolls rolls{tiles, {}};
  for (const TileMesh& part : parts) rolls.largest_m.push_back(part.largest_m);
  return rolls;
}

void roll_all(const PivotCloud& cloud, const std::vector<double>& radii, BulkVector<std::uint32_t>& triangles,
              OpContext& ctx) {
  PivotFront front(cloud.places.view(), cloud.normals.view(), cloud.sides_are_known, ctx);
  roll_all(front, radii);
  triangles.resize(front.triangles().size());
  std::copy(front.triangles().begin(), front.triangles().end(), triangles.begin());
}

/// Appends triangles over small holes.
void fill(const PivotCloud& cloud, const std::function<double(const Vec3d&)>& radius_at,
          BulkVector<std::uint32_t>& triangles, BallPivotingResult& result, OpContext& ctx) {
  ctx.begin_phase("Closing small holes", 0);
  const HoleFilling filling =
      fill_holes(cloud.places.view(), cloud.normals.view(), triangles.view(), radius_at, ctx);
  result.filled_hole_count = filling.filled_count;
  result.filled_triangle_count = filling.triangles.size() / 3;
  for (const std::uint32_t corner : filling.triangles) triangles.push_back(corner);
}

void validate(HitPoints points, Span<const Vec3d> normals, const BallPivotingParams& params) {
  require(normals.size == points.size(), "normals needs one entry per point");
  require(params.radii_m.size() <= kMaxBallRadii, "radii: at most 16");
  require(params.tile_points >= 1000, "tile_points must be at least 1000");
  if (points.size() > 0x50000000U)
    throw Error(ErrorCode::kUnsupported, "ball pivoting takes at most 1.3e9 points");
  for (std::size_t i = 0; i < params.radii_m.size(); ++i) {
    const double radius = params.radii_m[i];
    if (!std::isfinite(radius) || !(radius > 0) || (i > 0 && radius <= params.radii_m[i - 1]))
      throw Error(ErrorCode::kInvalidArgument, "radii[" + std::to_string(i) + "] is " +
                                                   std::to_string(radius) +
                                                   "; radii must be positive and ascending");
  }
}

}  // namespace

BallPivotingResult ball_pivoting(HitPoints points, Span<const Vec3d> normals,
                                 const BallPivotingParams& params, OpContext& ctx) {
  validate(points, normals, params);
  ctx.begin_phase("Sorting points", 0);
  PivotCloud cloud = usable_points(points.xyz(), normals, ctx);
  cloud.sides_are_known = params.sides_are_known;
  const std::size_t n = cloud.places.size();
  BallPivotingResult result{{}, params.radii_m, 1, points.size() - n, 0, 0};
  if (n < 3) return result;
  const Vec3d extent = cloud.box.max - cloud.box.min;
  const double longest = std::max({extent.x, extent.y, extent.z});
  BulkVector<std::uint32_t> triangles;
  Spacing spacing;
  SpacingShares shares{0, 0};
  if (params.radii_m.empty()) {
    spacing = spacing_of(cloud, ctx);
    BulkVector<double> copy(n);
    std::copy(spacing.nearest.begin(), spacing.nearest.end(), copy.begin());
    shares = shares_of(std::move(copy), ctx);
    result.radii_m = automatic_radii(shares.median, typical_gap({spacing.gaps.data(), spacing.gaps.size()}));
    const auto side = static_cast<std::uint32_t>(
        std::round(std::sqrt(std::round(static_cast<double>(n) / params.tile_points))));
    if (n >= kLeastUneven && shares.p90 >= kUneven * shares.median && side > 1)
      result.tile_count = side * side;
  }
  if (!(result.radii_m[0] >= kLeastRadius * longest) || !std::isfinite(longest))
    throw Error(ErrorCode::kInvalidArgument, "the smallest ball radius " + std::to_string(result.radii_m[0]) +
                                                 " m is below 1e-12 of the extent of the points");
  ctx.begin_phase("Ball pivoting", 2 * n);
  if (result.tile_count > 1) {
    const TileRolls rolls = roll_tiles(cloud, spacing, shares.median, result.tile_count, triangles, ctx);
    result.radii_m.clear();
    fill(
        cloud, [&](const Vec3d& at) { return kFillRadii * rolls.largest_m[rolls.tiles.of(at)]; }, triangles,
        result, ctx);
  } else {
    roll_all(cloud, result.radii_m, triangles, ctx);
    if (params.radii_m.empty())
      fill(
          cloud, [&](const Vec3d&) { return kFillRadii * result.radii_m.back(); }, triangles, result, ctx);
  }
  result.indices = Column<std::uint32_t>(triangles.size());
  parallel_for(ctx, triangles.size(), 262'144, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) result.indices[i] = cloud.row[triangles[i]];
  });
  return result;
}

std::uint64_t ball_pivoting_bytes(std::uint64_t points) { return 350 * points; }

}  // namespace pc
