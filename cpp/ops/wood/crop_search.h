#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "spatial/kd_tree.h"

namespace pc {

/// A voxel and its squared distance from a seed.
struct NearVoxel {
  double squared;
  std::uint32_t voxel;
};

/// The voxels of one part of a cloud, then those around it.
struct VoxelPart {
  std::vector<std::uint32_t> voxel;
  std::size_t core_count = 0;  ///< of the part itself
};

/// Finds the voxels of crops and their neighbours.
///
/// places     (m) of the voxels; must outlive the object
/// neighbors  of a voxel with itself, 2 or more
/// Cost       4 bytes a voxel and neighbour
/// Cancel     Within 250 ms.
class CropSearch {
 public:
  CropSearch(Span<const Vec3d> places, std::uint32_t neighbors, OpContext& ctx);

  /// The `count` voxels nearest to a place, nearest first.
  std::vector<NearVoxel> nearest(const Vec3d& place, std::size_t count, OpContext& ctx);
  /// The next node of the tree that has room for what is around it among `most` voxels; empty after the last one.
  VoxelPart next_part(std::size_t most, std::uint32_t hops, OpContext& ctx);

  /// (m x neighbors) rows of the voxels of a crop: itself first, then the nearest others of the crop, padded with itself.
  /// voxel: (m) ascending
  std::vector<std::uint32_t> nearest_rows(Span<const std::uint32_t> voxel, OpContext& ctx);
  /// The same, of the nearest voxels of the cloud those that are in the crop.
  std::vector<std::uint32_t> linked_rows(Span<const std::uint32_t> voxel, OpContext& ctx);

 private:
  /// (neighbors - 1) nearest others of a voxel, nearest first, padded with itself.
  Span<const std::uint32_t> near_of(std::size_t voxel) const {
    return near_.view().subspan(voxel * width_, width_);
  }
  bool grow(VoxelPart& part, std::size_t most, std::uint32_t hops);
  std::vector<std::uint32_t> voxels_of(std::uint32_t node) const;
  /// Writes the lists of a crop; answers the rows some of whose neighbours are outside.
  std::vector<std::uint32_t> linked(Span<const std::uint32_t> voxel, std::vector<std::uint32_t>& out);

  Span<const Vec3d> places_;
  std::size_t width_;
  KdTree tree_;
  double hint_ = 0;                  ///< squared radius of the last crop
  std::vector<std::uint32_t> open_;  ///< nodes of the tree that no part has
  BulkVector<std::uint32_t> near_;
  BulkVector<std::uint32_t> row_of_;  ///< (m) in the crop that is being made, kOutside elsewhere
};

}  // namespace pc
