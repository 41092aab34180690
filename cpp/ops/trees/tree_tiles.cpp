#include "ops/trees/tree_tiles.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "core/radix_sort.h"
#include "spatial/raster.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 16;
constexpr double kOccupiedCell = 5, kLowest = 1;
constexpr double kInside = std::numeric_limits<double>::infinity();

/// Rectangle of a tile with its buffer, and which of its edges lie inside the cloud.
struct TileFrame {
  double x0, y0, x1, y1;  // of the core
  double buffer;
  bool left, right, low, high;  // there is another tile

  bool holds(double x, double y) const { return rim_distance(x, y) >= 0; }
  /// Distance to the nearest edge of the buffer inside the cloud; infinite if there is none.
  double rim_distance(double x, double y) const {
    double d = kInside;
    if (left) d = std::min(d, x - (x0 - buffer));
    if (right) d = std::min(d, x1 + buffer - x);
    if (low) d = std::min(d, y - (y0 - buffer));
    if (high) d = std::min(d, y1 + buffer - y);
    return d;
  }
};

TileFrame frame_of(const TreeTilePlan& plan, std::uint32_t i, std::uint32_t j) {
  const double x0 = plan.min_x + i * plan.tile_m, y0 = plan.min_y + j * plan.tile_m;
  return {x0,
          y0,
          x0 + plan.tile_m,
          y0 + plan.tile_m,
          plan.buffer_m,
          i > 0,
          i + 1 < plan.nx,
          j > 0,
          j + 1 < plan.ny};
}

/// Rows of each tile's core: those of tile t are order[starts[t]] .. order[starts[t + 1] - 1].
struct TileRows {
  BulkVector<std::uint32_t> order;
  BulkVector<std::uint64_t> starts;
};

TileRows sort_by_tile(Span<const Vec3d> points, const TreeTilePlan& plan, OpContext& ctx) {
  const std::uint32_t tiles = plan.nx * plan.ny;  // the number of a row that is not finite
  const RasterFrame grid{plan.min_x, plan.min_y, plan.tile_m, plan.nx, plan.ny};
  BulkVector<std::uint32_t> keys(points.size);
  parallel_for(ctx, points.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      keys[i] = is_finite(points[i]) ? grid.cell_of(points[i]) : tiles;
  });
  TileRows out{radix_sort_order(keys.view(), 25, ctx), BulkVector<std::uint64_t>(tiles + 2)};
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (i % kGrain == 0) ctx.checkpoint();
    ++out.starts[keys[i] + 1];
  }
  for (std::size_t t = 1; t < out.starts.size(); ++t) out.starts[t] += out.starts[t - 1];
  return out;
}

/// A tree that was found in a tile.
struct FoundTree {
  double anchor_x, anchor_y;
  std::uint32_t seed;  ///< index, or kNoSeed
  bool kept;
};
constexpr std::uint32_t kNoSeed = std::numeric_limits<std::uint32_t>::max();

/// What the tiles have found so far; trees are numbered across all tiles from 1.
struct Findings {
  explicit Findings(std::size_t points) : claim(points), rim(points), core_tree(points) {}
  std::vector<FoundTree> trees;
  BulkVector<std::uint32_t> claim;      ///< kept tree of each point
  BulkVector<float> rim;                ///< distance of the point to the rim of that tile
  BulkVector<std::uint32_t> core_tree;  ///< tree of each point in its own tile
};

/// Mean x and y of the lowest metre of the trees 1 .. count; z = its number of points.
std::vector<Vec3d> anchors_of(Span<const Vec3d> points, Span<const std::uint32_t> labels, std::uint64_t count,
                              const Vec3d& origin, OpContext& ctx) {
  std::vector<double> least(count + 1, HUGE_VAL);
  std::vector<Vec3d> sums(count + 1, {0, 0, 0});
  for (std::size_t i = 0; i < points.size; ++i) {
    if (i % kGrain == 0) ctx.checkpoint();
    least[labels[i]] = std::min(least[labels[i]], points[i].z);
  }
  // Whole multiples of 2^-20 m: their sum does not depend on the order of the points.
  for (std::size_t i = 0; i < points.size; ++i) {
    if (i % kGrain == 0) ctx.checkpoint();
    const std::uint32_t label = labels[i];
    if (label == 0 || points[i].z > least[label] + kLowest) continue;
    sums[label].x += std::nearbyint((points[i].x - origin.x) * 0x1p20);
    sums[label].y += std::nearbyint((points[i].y - origin.y) * 0x1p20);
    sums[label].z += 1;
  }
  for (Vec3d& sum : sums)
    if (sum.z > 0) sum = {origin.x + sum.x / sum.z * 0x1p-20, origin.y + sum.y / sum.z * 0x1p-20, sum.z};
  return sums;
}

class TileRun {
 public:
  TileRun(Span<const Vec3d> points, Span<const Vec3d> seeds, const TreeTilePlan& plan, const TileRows& rows)
      : points_(points), seeds_(seeds), plan_(plan), rows_(rows) {
    for (std::uint32_t s = 0; s < seeds.size; ++s) seed_tiles_.emplace_back(tile_at(seeds[s]), s);
    std::sort(seed_tiles_.begin(), seed_tiles_.end());
  }

  std::size_t gather(std::uint32_t i, std::uint32_t j, OpContext& ctx) {
    frame_ = frame_of(plan_, i, j);
    own_rows_.clear();
    xyz_.clear();
    seed_index_.clear();
    for (std::uint32_t v = j == 0 ? 0 : j - 1; v <= std::min(plan_.ny - 1, j + 1); ++v) {
      for (std::uint32_t u = i == 0 ? 0 : i - 1; u <= std::min(plan_.nx - 1, i + 1); ++u) {
        const std::size_t tile = static_cast<std::size_t>(v) * plan_.nx + u;
        ctx.checkpoint();
        gather_seeds(static_cast<std::uint32_t>(tile), u == i && v == j);
        for (std::uint64_t at = rows_.starts[tile]; at < rows_.starts[tile + 1]; ++at) {
          if (at % kGrain == 0) ctx.checkpoint();
          const Vec3d& p = points_[rows_.order[at]];
          if (!frame_.holds(p.x, p.y)) continue;
          own_rows_.push_back(rows_.order[at]);
          xyz_.push_back(p);
        }
      }
    }
    std::sort(seed_index_.begin(), seed_index_.end());
    tile_seeds_.clear();
    for (const std::uint32_t s : seed_index_) tile_seeds_.push_back(seeds_[s]);
    return xyz_.size();
  }
  bool has_seeds() const { return !tile_seeds_.empty(); }
  /// Whether the core of the tile holds a point or a seed.
  bool occupied(std::uint32_t tile) const {
    if (rows_.starts[tile] != rows_.starts[tile + 1]) return true;
    const auto at =
        std::lower_bound(seed_tiles_.begin(), seed_tiles_.end(), std::pair(tile, std::uint32_t{0}));
    return at != seed_tiles_.end() && at->first == tile;
  }

  void run(std::uint32_t tile, const TileSegmenter& segmenter, Findings& found, OpContext& ctx) {
    const TileTrees trees = segmenter(HitPoints::assume_hits(xyz_.view()), own_rows_.view(),
                                      {tile_seeds_.data(), tile_seeds_.size()}, ctx);
    const Span<const std::uint32_t> labels = trees.tree_instance.view();
    const std::vector<Vec3d> anchors =
        anchors_of(xyz_.view(), labels, trees.tree_count, {frame_.x0, frame_.y0, 0}, ctx);
    const std::size_t offset = found.trees.size();
    for (std::uint64_t t = 1; t <= trees.tree_count; ++t) {
      const std::uint32_t seed = t <= seed_index_.size() ? seed_index_[t - 1] : kNoSeed;
      const Vec3d anchor = seed == kNoSeed ? anchors[t] : seeds_[seed];
      const bool any = seed != kNoSeed || anchors[t].z > 0;
      found.trees.push_back({anchor.x, anchor.y, seed, any && tile_at(anchor) == tile});
    }
    for (std::size_t i = 0; i < labels.size; ++i) {
      if (i % kGrain == 0) ctx.checkpoint();
      if (labels[i] == 0) continue;
      const auto tree = static_cast<std::uint32_t>(offset + labels[i]);
      const std::uint32_t row = own_rows_[i];
      if (tile_at(xyz_[i]) == tile) found.core_tree[row] = tree;
      if (!found.trees[tree - 1].kept) continue;
      const auto rim = static_cast<float>(frame_.rim_distance(xyz_[i].x, xyz_[i].y));
      if (found.claim[row] != 0 && rim <= found.rim[row]) continue;
      found.claim[row] = tree;
      found.rim[row] = rim;
    }
  }

 private:
  void gather_seeds(std::uint32_t tile, bool own) {
    auto at = std::lower_bound(seed_tiles_.begin(), seed_tiles_.end(), std::pair(tile, std::uint32_t{0}));
    for (; at != seed_tiles_.end() && at->first == tile; ++at) {
      const Vec3d& seed = seeds_[at->second];
      if (own || frame_.holds(seed.x, seed.y)) seed_index_.push_back(at->second);
    }
  }
  std::uint32_t tile_at(const Vec3d& p) const {
    const auto place = [](double at, std::uint32_t count) {
      return static_cast<std::uint32_t>(std::clamp(std::floor(at), 0.0, static_cast<double>(count - 1)));
    };
    return place((p.y - plan_.min_y) / plan_.tile_m, plan_.ny) * plan_.nx +
           place((p.x - plan_.min_x) / plan_.tile_m, plan_.nx);
  }

  Span<const Vec3d> points_, seeds_;
  const TreeTilePlan& plan_;
  const TileRows& rows_;
  TileFrame frame_{};
  BulkVector<std::uint32_t> own_rows_;
  BulkVector<Vec3d> xyz_;
  std::vector<Vec3d> tile_seeds_;
  std::vector<std::uint32_t> seed_index_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> seed_tiles_;  // tile and index
};

/// Step 4: what two tiles left to each other. Returns which trees came from it.
std::vector<std::uint8_t> keep_leftovers(Span<const Vec3d> points, Findings& found, OpContext& ctx) {
  const std::size_t trees = found.trees.size();
  std::vector<std::uint64_t> left(trees + 1, 0);
  for (std::size_t i = 0; i < points.size; ++i) {
    if (i % kGrain == 0) ctx.checkpoint();
    const std::uint32_t tree = found.core_tree[i];
    if (found.claim[i] == 0 && tree != 0 && !found.trees[tree - 1].kept) ++left[tree];
  }
  std::vector<std::uint8_t> rescued(trees + 1, 0);
  for (std::size_t tree = 1; tree <= trees; ++tree)
    rescued[tree] = left[tree] >= kTruncatedPoints && found.trees[tree - 1].seed == kNoSeed ? 1 : 0;
  for (std::size_t i = 0; i < points.size; ++i) {
    if (i % kGrain == 0) ctx.checkpoint();
    const std::uint32_t tree = found.core_tree[i];
    if (found.claim[i] != 0 || tree == 0 || rescued[tree] == 0) continue;
    found.claim[i] = tree;
    found.rim[i] = std::numeric_limits<float>::infinity();
  }
  return rescued;
}

struct Numbered {
  std::vector<std::uint32_t> number;  ///< of each found tree, 0 = it has no points
  std::uint64_t count;
};

Numbered numbers_of(const Findings& found, const std::vector<std::uint64_t>& sizes, std::size_t seed_count) {
  Numbered out{std::vector<std::uint32_t>(found.trees.size() + 1, 0), seed_count};
  std::vector<std::uint32_t> others;
  for (std::uint32_t tree = 1; tree <= found.trees.size(); ++tree) {
    if (sizes[tree] == 0) continue;
    const FoundTree& one = found.trees[tree - 1];
    if (one.seed == kNoSeed)
      others.push_back(tree);
    else
      out.number[tree] = one.seed + 1;
  }
  std::sort(others.begin(), others.end(), [&](std::uint32_t a, std::uint32_t b) {
    const FoundTree &one = found.trees[a - 1], &two = found.trees[b - 1];
    if (one.anchor_x != two.anchor_x) return one.anchor_x < two.anchor_x;
    return one.anchor_y != two.anchor_y ? one.anchor_y < two.anchor_y : a < b;
  });
  for (const std::uint32_t tree : others) out.number[tree] = static_cast<std::uint32_t>(++out.count);
  return out;
}

void finish(Span<const Vec3d> points, std::size_t seed_count, Findings& found, TiledTreesResult& result,
            OpContext& ctx) {
  const std::vector<std::uint8_t> rescued = keep_leftovers(points, found, ctx);
  std::vector<std::uint64_t> sizes(found.trees.size() + 1, 0), at_rim(found.trees.size() + 1, 0);
  for (std::size_t i = 0; i < points.size; ++i) {
    if (i % kGrain == 0) ctx.checkpoint();
    ++sizes[found.claim[i]];
    if (found.claim[i] != 0 && found.rim[i] < kTruncatedRim) ++at_rim[found.claim[i]];
  }
  const Numbered numbered = numbers_of(found, sizes, seed_count);
  result.tree_count = numbered.count;
  for (std::size_t tree = 1; tree < sizes.size(); ++tree)
    result.truncated_count +=
        numbered.number[tree] != 0 && (rescued[tree] != 0 || at_rim[tree] >= kTruncatedPoints) ? 1 : 0;
  result.tree_instance = Column<std::uint32_t>(points.size);
  parallel_for(ctx, points.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) result.tree_instance[i] = numbered.number[found.claim[i]];
  });
}

}  // namespace

TreeTilePlan tree_tile_plan(HitPoints points, std::uint64_t node_count, double buffer_m, double tile_nodes,
                            OpContext& ctx) {
  require(std::isfinite(buffer_m) && buffer_m > 0, "tile_buffer_m must be finite and positive");
  require(std::isfinite(tile_nodes) && tile_nodes >= 1, "tile_nodes must be finite and at least 1");
  const Span<const Vec3d> xyz = points.xyz();
  Box3d box;
  for (std::size_t i = 0; i < xyz.size; ++i) {
    if (i % kGrain == 0) ctx.checkpoint();
    if (is_finite(xyz[i])) box.add(xyz[i]);
  }
  require(!box.empty(), "there is no point to divide into tiles");
  std::vector<std::uint64_t> squares;
  squares.reserve(4096);
  const auto compact = [&] {
    std::sort(squares.begin(), squares.end());
    squares.erase(std::unique(squares.begin(), squares.end()), squares.end());
  };
  std::size_t unique_limit = 1 << 20;
  for (std::size_t i = 0; i < xyz.size; ++i) {
    if (i % kGrain == 0) ctx.checkpoint();
    if (!is_finite(xyz[i])) continue;
    const double u = std::min((xyz[i].x - box.min.x) / kOccupiedCell, 4e9);
    const double v = std::min((xyz[i].y - box.min.y) / kOccupiedCell, 4e9);
    squares.push_back(static_cast<std::uint64_t>(u) << 32 | static_cast<std::uint64_t>(v));
    if (squares.size() < unique_limit) continue;
    compact();
    unique_limit = std::max(unique_limit, 2 * squares.size());
  }
  compact();
  const double area = static_cast<double>(squares.size()) * kOccupiedCell * kOccupiedCell;
  const double density = static_cast<double>(std::max<std::uint64_t>(1, node_count)) / area;
  TreeTilePlan plan{};
  plan.tile_m = std::max(std::sqrt(tile_nodes / density) - 2 * buffer_m, buffer_m);
  plan.buffer_m = buffer_m;
  const double wide = box.max.x - box.min.x, high = box.max.y - box.min.y;
  const double nx = std::floor(wide / plan.tile_m) + 1, ny = std::floor(high / plan.tile_m) + 1;
  if (!(nx * ny <= 0x1p24)) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "points over " + std::to_string(wide) + " by " + std::to_string(high) +
            " m need more than 16 M tiles; remove stray points (denoise) or take a wider tile_buffer_m");
  }
  plan.nx = static_cast<std::uint32_t>(nx);
  plan.ny = static_cast<std::uint32_t>(ny);
  plan.min_x = box.min.x + (wide - nx * plan.tile_m) / 2;
  plan.min_y = box.min.y + (high - ny * plan.tile_m) / 2;
  return plan;
}

TiledTreesResult tiled_trees(HitPoints points, Span<const Vec3d> seeds, const TreeTilePlan& plan,
                             std::uint64_t fewest, const TileSegmenter& segmenter, OpContext& ctx) {
  require(points.size() < std::numeric_limits<std::uint32_t>::max(), "fewer than 2^32 points are needed");
  for (const Vec3d& seed : seeds) require(is_finite(seed), "seed points must be finite");
  ctx.begin_phase("Dividing the cloud into tiles", points.size());
  const Span<const Vec3d> xyz = points.xyz();
  const TileRows rows = sort_by_tile(xyz, plan, ctx);
  Findings found(xyz.size);
  TiledTreesResult result{};
  TileRun run(xyz, seeds, plan, rows);
  std::uint64_t gathered = 0;
  for (std::uint32_t j = 0; j < plan.ny; ++j) {
    for (std::uint32_t i = 0; i < plan.nx; ++i) {
      const std::uint32_t tile = j * plan.nx + i;
      if (!run.occupied(tile)) continue;
      const std::size_t count = run.gather(i, j, ctx);
      ++result.tiles;
      gathered += count;
      result.points_per_tile_max = std::max<std::uint64_t>(result.points_per_tile_max, count);
      if (count < fewest || (seeds.size > 0 && !run.has_seeds())) continue;
      ++result.tiles_run;
      run.run(tile, segmenter, found, ctx);
    }
  }
  result.points_per_tile_mean =
      result.tiles == 0 ? 0 : static_cast<double>(gathered) / static_cast<double>(result.tiles);
  ctx.begin_phase("Joining the tiles", xyz.size);
  finish(xyz, seeds.size, found, result, ctx);
  return result;
}

}  // namespace pc
