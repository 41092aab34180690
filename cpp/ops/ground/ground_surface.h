#pragma once
#include <cstdint>

#include "ops/ground/cell_level.h"
#include "ops/ground/ground_constants.h"

namespace pc {

/// Decides by rounds which cells are ground. A cell is ground if its point lies at most a tolerance above the plane
/// through the nearest other ground cells, or on a plane through the ground on one side of it, because beyond the edge
/// of a terrace there is no ground at its height.
///
/// Every round reads only the state before it. Blocks of cells that no change can affect are skipped, which gives the
/// same result.
class GroundSurface {
 public:
  GroundSurface(CellLevel& level, const GroundConstants& constants);

  /// One round; returns how many cells changed.
  std::uint64_t revise(OpContext& ctx);

 private:
  BulkVector<std::uint8_t> blocks_in_reach() const;
  template <class Visit>
  void for_cells_of(std::size_t block, const Visit& visit) const;
  void measure(std::size_t cell);
  bool accepts(std::size_t cell) const;
  bool on_one_side(std::size_t cell) const;
  float roughness_around(std::size_t cell) const;

  CellLevel& level_;
  GroundConstants constants_;
  double tolerance_m_, scattered_tolerance_m_;
  std::size_t across_, down_;
  BulkVector<float> above_,
      slack_;  ///< (cells) height above the plane, NaN = no ground around; its tolerance
  BulkVector<std::uint8_t> next_;
  BulkVector<std::uint8_t> changed_;  ///< (blocks) 1 = a cell changed in the last round
};

}  // namespace pc
