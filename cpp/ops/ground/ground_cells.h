#pragma once
#include <cstdint>

#include "ops/ground/surface_grid.h"

namespace pc {

/// The lowest point of a cell: offset from the cell's centre in cells, height above the plane of the lattice.
struct CellPoint {
  float du, dv, height;  ///< height NaN = none
};

/// A plane through the middle of a cell.
struct CellPlane {
  float height, gu, gv;  ///< at the cell's centre; rise per cell
  PC_HD float at(float du, float dv) const { return height + gu * du + gv * dv; }
};

/// The lowest point of each cell of `lowest`; of several at that height the westernmost, then southernmost.
BulkVector<CellPoint> lowest_points(Span<const Vec3d> xyz, const SurfaceGrid& lowest,
                                    const LowOutliers& outliers, OpContext& ctx);

/// How cells join the ground.
struct GrowthRule {
  float rise_m;       ///< a cell may lie so far above the plane through its ground neighbours
  float slope_share;  ///< and this share of the plane's rise per cell more
  float
      between_share;  ///< on slopes: above the line between ground on opposite sides by this share of their difference
};

/// Cells whose lowest point is ground, grown and thinned by their neighbours: the densification of Axelsson 2000 on
/// cells. Every round reads the state before it only, so the result does not depend on threads.
class GroundCells {
 public:
  /// ground: (cells) 1 = seed; cells without a point are none.
  GroundCells(const cloth_kernel::Lattice& lattice, BulkVector<CellPoint> points,
              BulkVector<std::uint8_t> ground);

  bool is_ground(std::size_t cell) const { return ground_[cell] != 0; }
  const CellPoint& point(std::size_t cell) const { return points_[cell]; }

  /// One round: cells join, and with `thin` cells far above their neighbours leave. Returns how many changed.
  std::uint64_t revise(const GrowthRule& rule, bool thin, OpContext& ctx);

  /// Robust standard deviation (1.4826 median) of ground cells about the plane of their neighbours, metres.
  double roughness(OpContext& ctx) const;

  /// A plane for every cell through the ground around it; where there is none within 4 cells, level at `far`.
  BulkVector<CellPlane> planes(const SurfaceGrid& far, OpContext& ctx) const;

 private:
  struct Fit {
    bool with_self;
    int fewest, max_radius;
  };
  BulkVector<std::uint8_t> blocks_with_ground() const;
  bool fit(std::size_t x, std::size_t y, const Fit& how, CellPlane& plane) const;
  bool lies_between(std::size_t x, std::size_t y, const GrowthRule& rule) const;
  bool ground_along(std::size_t x, std::size_t y, int du, int dv, float& height, int& distance) const;
  std::uint8_t revised(std::size_t x, std::size_t y, const GrowthRule& rule, bool thin) const;

  cloth_kernel::Lattice lattice_;
  BulkVector<CellPoint> points_;
  BulkVector<std::uint8_t> ground_;
};

}  // namespace pc
