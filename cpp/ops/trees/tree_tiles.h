#pragma once
#include <cstdint>
#include <functional>

#include "core/column.h"
#include "core/hit_points.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// Voxels that a tile with its buffer holds about.
constexpr double kTileNodes = 600'000;
/// A tree is truncated when this many of its points were seen only this close to an edge of a tile's buffer.
constexpr std::uint64_t kTruncatedPoints = 20;
constexpr double kTruncatedRim = 0.5;

/// Square tiles over the box of a cloud.
struct TreeTilePlan {
  double min_x, min_y;   ///< lower-left corner of the first tile
  double tile_m;         ///< edge, metres
  double buffer_m;       ///< width of the buffer around a tile, at most tile_m
  std::uint32_t nx, ny;  ///< tiles along x and y
};

/// Tiles for trees: as large as about `tile_nodes` voxels in a tile with its buffer allow, at least as large as the
/// buffer. The density of the voxels is that of the squares of 5 m with points.
///
/// Errors   kInvalidArgument: no finite point, a buffer that is not finite and positive, more than 2^24 tiles.
TreeTilePlan tree_tile_plan(HitPoints points, std::uint64_t node_count, double buffer_m, double tile_nodes,
                            OpContext& ctx);

/// Trees of the points of a tile.
struct TileTrees {
  Column<std::uint32_t> tree_instance;  ///< (m) 0 = none, else 1 .. tree_count; tree k + 1 of seed k
  std::uint64_t tree_count;
};

/// Finds the trees of a part of a cloud: its points, their rows in the cloud, its seeds.
using TileSegmenter = std::function<TileTrees(HitPoints points, Span<const std::uint32_t> rows,
                                              Span<const Vec3d> seeds, OpContext&)>;

struct TiledTreesResult {
  Column<std::uint32_t> tree_instance;  ///< (n) 0 = none, else 1 .. tree_count
  std::uint64_t tree_count;
  std::uint64_t truncated_count;      ///< trees that a buffer may have cut
  std::uint64_t tiles;                ///< with points or a seed
  std::uint64_t tiles_run;            ///< of these, in which trees were looked for
  std::uint64_t points_per_tile_max;  ///< with the buffer
  double points_per_tile_mean;
};

/// Trees of a large cloud, tile by tile.
///
///   1. Trees are looked for in each tile with its buffer; with seeds, only in tiles with a seed.
///   2. A tree is kept from the tile whose core holds its anchor: its seed, else the mean x and y of its lowest metre.
///   3. A kept tree claims all its points. Where two claim one, the tile wins in which the point is farther from an edge
///      of the buffer inside the cloud.
///   4. Points that no kept tree claims, of a tree that their own tile found but did not keep, become a tree of their own
///      (kTruncatedPoints or more; it counts as truncated) or belong to none.
///
/// The result is that of the segmenter on the whole cloud, where this depends on no point farther away than the buffer,
/// except for trees counted as truncated.
///
/// points   (n) metres; rows that are not finite get 0
/// seeds    (s) one per tree, same frame; empty = none
/// fewest   tiles with fewer points have no trees
/// Numbers  Seeds 1 .. s; the others by x, then y of their anchor.
/// Order    Does not depend on threads, as far as the segmenter does not.
/// Cost     That of the segmenter on each tile; 24 bytes per point of the cloud, 28 per point of a tile.
/// Cancel   Within 50 ms, apart from the segmenter.
/// Errors   kInvalidArgument for 2^32 points or more and seeds that are not finite.
/// Source   Contract classification section 4.1; step 4 is own: a tree that two tiles leave to each other is not lost.
TiledTreesResult tiled_trees(HitPoints points, Span<const Vec3d> seeds, const TreeTilePlan& plan,
                             std::uint64_t fewest, const TileSegmenter& segmenter, OpContext& ctx);

}  // namespace pc
