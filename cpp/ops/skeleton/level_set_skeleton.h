#pragma once
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// Fewest points of a plant.
constexpr std::uint64_t kLeastSkeletonPoints = 50;
/// Least share of the points that the search has to reach.
constexpr double kLeastSkeletonReach = 0.3;
/// Largest allowed SkeletonParams::max_neighbors.
constexpr std::uint32_t kMaxSkeletonNeighbors = 1000;

struct SkeletonParams {
  bool remove_outliers;                   ///< statistical outlier removal first
  std::uint32_t outlier_nb_neighbors;     ///< of statistical_outlier
  double outlier_std_ratio;               ///< of statistical_outlier
  std::optional<double> search_radius_m;  ///< longest edge of the graph; none = automatic
  std::uint32_t max_neighbors;            ///< neighbours that a point asks for, 1 .. kMaxSkeletonNeighbors
  double root_threshold_m;                ///< points lower than this above the lowest one are roots
  std::uint32_t quantization_levels;      ///< number of level sets, >= 2
  bool use_nonlinear_quantization;        ///< levels by the square root of the hops
  std::uint64_t threshold_filter;         ///< fewest points of a block
  bool use_proportion_filter;             ///< also compare a block with its parent
  double proportion_threshold;            ///< fewest points of a block, as a share of its parent's
  bool smooth_skeleton;
  std::uint32_t smoothing_iterations;
  bool recenter;  ///< nodes on the medial axis, ends at the tips; false = centroids of the blocks
};

/// Why there is no skeleton.
enum class SkeletonFailure : std::uint8_t {
  kNone,
  kFewPoints,         ///< fewer than kLeastSkeletonPoints
  kFewAfterOutliers,  ///< the same after the outlier removal
  kNoRoots,
  kUnreached,  ///< less than kLeastSkeletonReach of the points are linked to the roots
  kNoBlocks,   ///< no block passes the filters
  kFewBlocks,  ///< a single block passes them
};

constexpr std::uint32_t kNoBlock = ~std::uint32_t{0};

/// A connected piece of one level set.
struct SkeletonBlock {
  Vec3d center;  ///< centroid of its points
  std::uint32_t level;
  std::uint64_t num_points;
  std::uint32_t parent;  ///< index of a block, kNoBlock for the root
  std::vector<std::uint32_t> children;
};

struct Skeleton {
  SkeletonFailure failure;
  std::uint64_t points_before, points_after;  ///< finite hits, before and after the outlier removal
  std::uint64_t non_finite;                   ///< hits that are not finite, left out
  std::uint64_t reached;                      ///< points linked to the roots; the others are left out
  std::uint64_t
      crowded;  ///< points with max_neighbors others within the search radius: it does not end their links
  double search_radius_m;                     ///< used
  std::uint64_t blocks_before, blocks_after;  ///< before and after the filters
  std::uint64_t joined_roots;                 ///< blocks at the base that were joined to the largest one
  std::vector<SkeletonBlock> blocks;          ///< by level
  std::vector<Vec3d> points;                  ///< nodes, by level
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;  ///< parent, child; a tree
  std::vector<std::uint32_t> branch_orders;                    ///< Strahler order of each node
  double total_length_m;
};

/// Topological skeleton of one plant: level sets of the hops from its base over a graph of its points. Every connected
/// piece of a level is a block, every block a node.
///
/// positions  (n) metres, z up, any one Cartesian frame; rows that are not finite are left out
/// skip       (n) non-zero = leave the row out; or empty
/// Result     Metres, frame of the positions. One tree: pieces of the base that no path links are joined to the largest
///            one. A node closer than 1 mm to its parent is the same node. On a failure the lists are empty.
/// Order      A function of the set of positions and the parameters: neither the order of the rows nor the number of
///            threads changes a bit. Moving the cloud moves the result exactly where the moved coordinates are exact.
/// Cost       O(n (log n + max_neighbors)) time; skeleton_bytes memory.
/// Cancel     Within 250 ms for all allowed parameters; no partial result.
/// Errors     kInvalidArgument for parameters out of range, or 2^32 - 1 points or more.
/// Source     Level sets of geodesic distance: Verroust & Lazarus 2000, The Visual Computer 16, 15-25, "Extracting
///            skeletal curves from 3D scattered data"; on trees and with hops: Bucksch & Lindenbergh 2008, ISPRS J. 63,
///            115-127; Strahler 1957. Recentering: medial_axis.h.
Skeleton level_set_skeleton(Span<const Vec3d> positions, Span<const std::uint8_t> skip,
                            const SkeletonParams& params, OpContext& ctx);

/// Upper estimate of the memory for so many points, bytes.
std::uint64_t skeleton_bytes(std::uint64_t points, std::uint32_t max_neighbors);

}  // namespace pc
