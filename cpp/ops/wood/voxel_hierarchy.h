#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/column.h"
#include "core/hit_points.h"
#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "ops/trees/path_nodes.h"

namespace pc {

/// Voxels of a level are this many times as long as those of the level below.
constexpr std::uint32_t kVoxelLevelFactor = 3;
constexpr std::uint32_t kMostCropVoxels = 65'536;
constexpr std::uint32_t kMostVoxelLevels = 6;
constexpr std::uint32_t kMostVoxelNeighbors = 64;
constexpr std::uint32_t kMostVoxelClasses = 16;
constexpr std::uint32_t kMostCropHops = 8;

/// The cloud of a network: one row per voxel that holds points.
///
/// nodes        by ascending x, y and z of their voxels: PathNodes
/// reflectance  (m) mean of each voxel, or empty
struct VoxelCloud {
  PathNodes nodes;
  BulkVector<float> reflectance;

  std::size_t size() const { return nodes.size(); }
};

/// The edges of voxels that a network knows, metres: 0 < finest_m <= coarsest_m.
struct VoxelEdges {
  double finest_m, coarsest_m;
  double most_single;  ///< share of the voxels that may hold one point alone, above 0, at most 1

  static VoxelEdges of(double edge_m) { return {edge_m, edge_m, 1}; }
};

/// Voxelizes a cloud about the middle of its box, in doubles.
///
/// edges        The finest edge at which at most the share most_single of the voxels hold one point alone; coarsest_m where
///              more do. To about 1 % of the edge.
/// points       metres; rows that are not finite belong to no voxel
/// edges        The finest edge at which voxels hold points_per_voxel points in the mean, or more; coarsest_m where none
///              does. To about 1 % of their number.
/// reflectance  (n) of the points, or empty. A voxel has the mean of (value - median) / ((q98 - q02) / 2), clipped to
///              -3 .. 3; 0 where the cloud has one value. Values that are not finite count as the median.
/// Order        The voxels do not depend on threads nor on the order of the points.
/// Cost         36 bytes a point and 44 a voxel.
/// Errors       kInvalidArgument for edges and most_single outside their ranges, lengths that differ, 2^32 points or more.
VoxelCloud voxel_cloud(HitPoints points, Span<const float> reflectance, const VoxelEdges& edges,
                       OpContext& ctx);

/// How a cloud is divided for a network.
struct CropParams {
  std::uint32_t levels;       ///< 1 .. kMostVoxelLevels
  std::uint32_t neighbors;    ///< of a voxel with itself, 2 .. kMostVoxelNeighbors
  std::uint32_t max_voxels;   ///< of a crop, 256 .. kMostCropVoxels
  double inner_fraction;      ///< of a crop that is not the middle of a later one, .1 .. 1
  std::uint32_t class_count;  ///< 2 .. kMostVoxelClasses
  /// Steps from neighbour to neighbour that matter for the answer of a voxel, 1 .. kMostCropHops; 0 = not known
  std::uint32_t hops;
};

/// One level of a crop.
struct CropLevel {
  std::vector<float> place;             ///< (m x 3) metres from the crop's seed
  std::vector<std::uint32_t> neighbor;  ///< (m x neighbors) itself, then the nearest ones; padded with itself
  std::vector<std::uint32_t> parent;    ///< (m) row of the level above; empty at the last level
};

/// Some voxels of a cloud.
struct Crop {
  std::vector<std::uint32_t> voxel;  ///< (m) of the cloud, ascending
  std::vector<CropLevel> levels;     ///< level 0 has the rows of `voxel`
  std::vector<float> weight;         ///< (m) of the votes, 0 .. 1
};

class CropSearch;

/// The crops of a cloud and the votes on its voxels. Crops are asked for and voted on in turn.
///
/// Crops    With `hops`: the voxels of a node of a k-d tree, and those that their lists of neighbours reach within so many
///          steps, the nearest steps first while max_voxels has room (a leaf of the tree alone can lack some). The voxels
///          of the node get their one vote, with weight 1: the labels are those of a single crop of the whole cloud.
///          Without: the voxels nearest to a seed, the first voxel that no crop has claimed, in the order of the voxels. A
///          crop claims the inner fraction of its voxels, all of them if it holds the whole cloud. The weight of a vote
///          falls from 1 at the seed to .05 at the farthest voxel.
/// Lists    of neighbours: the nearest ones of the crop; with `hops` those of the cloud that are in the crop.
/// Levels   Means of the voxels of one cell, whose edge is kVoxelLevelFactor^level voxels, by ascending x, y, z.
/// Votes    Probabilities (softmax of the logits) by weight; a voxel takes the class with the largest sum, of equal ones
///          the first.
/// Order    A function of the voxels and the logits.
/// Cost     5 bytes, 4 per neighbour and 4 per class a voxel; a crop O(voxels log) time.
/// Cancel   Within 250 ms.
class CropSequence {
 public:
  /// `cloud` must outlive the object. Throws kInvalidArgument for parameters outside their range.
  CropSequence(const VoxelCloud& cloud, const CropParams& params, OpContext& ctx);
  ~CropSequence();
  CropSequence(const CropSequence&) = delete;
  CropSequence& operator=(const CropSequence&) = delete;

  /// The next crop; none when every voxel is claimed.
  std::optional<Crop> next(OpContext& ctx);
  /// Adds the votes of a crop. logits: (m x class_count); throws kInvalidArgument for another length and for values that
  /// are not finite.
  void vote(const Crop& crop, Span<const float> logits);
  std::uint64_t claimed_count() const { return claimed_count_; }

  /// The class of each point of the cloud: values[class], `unknown` for points that are not finite. Throws
  /// kInvalidArgument while a voxel has no vote. values: (class_count)
  Column<std::uint8_t> labels(Span<const std::uint8_t> values, std::uint8_t unknown, OpContext& ctx) const;

 private:
  std::optional<Crop> next_around(OpContext& ctx);
  std::optional<Crop> next_part(OpContext& ctx);

  const VoxelCloud& cloud_;
  CropParams params_;
  std::unique_ptr<CropSearch> search_;
  BulkVector<std::uint8_t> claimed_;
  BulkVector<float> votes_;  ///< (m x class_count)
  std::uint64_t claimed_count_ = 0;
  std::uint64_t next_seed_ = 0;
};

/// Columns of the features, classes, and neighbours of a voxel with itself.
struct VoxelNetworkSize {
  std::uint32_t features, classes, neighbors;
};
/// Upper estimate of the memory of a voxel cloud with its features and crops.
std::uint64_t voxel_network_bytes(std::uint64_t points, const VoxelNetworkSize& size);

}  // namespace pc
