#pragma once
#include <array>
#include <cstdint>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/vec3.h"
#include "ops/ground/cloth_simulation_kernel.h"
#include "ops/ground/ground_extent.h"
#include "ops/ground/ground_frame.h"

namespace pc {

/// The kDepth lowest distinct heights of the cells of a lattice, ascending.
class LowestHeights {
 public:
  static constexpr std::uint32_t kDepth = 4;  // at 4 % strays, 1 cell in 4e5 has more

  LowestHeights(Span<const Vec3d> xyz, OpContext& ctx) : xyz_(xyz), ctx_(ctx) {}

  const Lattice& lattice() const { return lattice_; }
  /// False where a cell has no more heights.
  bool has(std::uint32_t depth, std::size_t cell) const {
    return depth < kDepth && keys_[depth][cell] != kAboveAllFloats;
  }
  float height(std::uint32_t depth, std::size_t cell) const { return float_of_ordered(keys_[depth][cell]); }

  /// Lowest height of each cell, NaN = none.
  BulkVector<float> lowest() const;

  /// Finds the lowest height of each cell; returns the mean number of points of occupied cells.
  double find_lowest(const Lattice& lattice, std::uint64_t finite_count);
  void find_others();

 private:
  void find(std::uint32_t depth);

  Span<const Vec3d> xyz_;
  OpContext& ctx_;
  Lattice lattice_{};
  std::array<BulkVector<std::uint32_t>, kDepth> keys_;
};

/// Heights in cells that hold about `wanted_per_cell` points, above the trend of the ground; `points_per_cell` becomes
/// the mean of the cells with points.
/// Order    Does not depend on threads or the order of the points.
/// Cost     Six to nine passes over the points; 16 bytes per cell, at most 4 n + 1024 cells. Cancel within 250 ms.
LowestHeights lowest_heights(Span<const Vec3d> xyz, const GroundExtent& extent, double wanted_per_cell,
                             double& points_per_cell, OpContext& ctx);

/// The same in the cells of a frame. Errors: kInvalidArgument for an extent of more than 25 M of these cells.
LowestHeights lowest_heights_in(const GroundFrame& frame, Span<const Vec3d> xyz, const GroundExtent& extent,
                                OpContext& ctx);

}  // namespace pc
