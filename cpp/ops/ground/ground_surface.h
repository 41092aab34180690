#pragma once
#include <cstdint>

#include "ops/ground/cell_level.h"

namespace pc {

/// How far a point may lie from ground `distance` metres away and still be the same surface: noise and low relief, and
/// slope that cells do not resolve.
struct Tolerance {
  double height_m, per_metre;
  double at(double distance) const { return height_m + per_metre * distance; }
};

struct SurfaceRule {
  Tolerance tolerance;
  double slope_share;      ///< of the rise of the plane within a cell, added to the tolerance
  double roughness_share;  ///< of the median distance of the ground around from its own neighbours, added too
  double max_roughness_m;  ///< most that roughness adds
};

/// Decides cells by the ground around them, round by round. A cell is ground when its point lies at most a tolerance
/// above the plane through the nearest ground cells, itself left out, or on a plane through ground on one
/// side of it: the edge of a terrace has no ground beyond at its height.
///
/// Every round reads the state before it only. Blocks of cells that no change can reach are left as they
/// are, which gives the same result as doing all of them.
class GroundSurface {
 public:
  GroundSurface(CellLevel& level, const SurfaceRule& rule);

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
  SurfaceRule rule_;
  double tolerance_m_;
  std::size_t across_, down_;
  BulkVector<float> above_,
      slack_;  ///< (cells) height above the plane, NaN = no ground around; its tolerance
  BulkVector<std::uint8_t> next_;
  BulkVector<std::uint8_t> changed_;  ///< (blocks) 1 = a cell changed in the last round
};

}  // namespace pc
