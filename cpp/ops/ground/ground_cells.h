#pragma once
#include <cstdint>
#include <utility>

#include "ops/ground/cell_level.h"
#include "ops/ground/surface_grid.h"

namespace pc {

/// A plane through the centre of a cell.
struct CellPlane {
  float height, gu, gv;  ///< at the cell's centre; rise per cell
  PC_HD float at(float du, float dv) const { return height + gu * du + gv * dv; }
};

/// A position within its cell, 16 bits for each axis; westernmost, then southernmost is smallest.
std::uint32_t place_in_cell(const CellPosition& at);
/// The point at such a position.
CellPoint cell_point(std::uint32_t place, float height);

/// The lowest point of each cell of `lowest`; of equally low ones the westernmost, then the southernmost.
BulkVector<CellPoint> lowest_points(Span<const Vec3d> xyz, const SurfaceGrid& lowest,
                                    const LowOutliers& outliers, OpContext& ctx);

/// Bilinear blend of the planes of the four cells around a point, metres above the plane of the lattice.
float blended_height(const BulkVector<CellPlane>& planes, const Lattice& lattice, const Vec3d& p);

/// The surface through the cells whose lowest point is ground.
class GroundCells {
 public:
  GroundCells(const Lattice& lattice, CellLevel&& level)
      : lattice_(lattice), points_(std::move(level.points)), ground_(std::move(level.ground)) {}

  bool is_ground(std::size_t cell) const { return ground_[cell] != 0; }
  const CellPoint& point(std::size_t cell) const { return points_[cell]; }

  /// Robust standard deviation (1.4826 median) of ground cells from the plane of their neighbours, metres.
  double roughness(OpContext& ctx) const;

  /// Share of the cells with points that have no ground within `distance_m` that is a layer of returns, 0 .. 1.
  double share_without_layer(double distance_m, OpContext& ctx) const;

  /// A plane for every cell through the ground around it; without ground within 4 cells, level at the height of `far`.
  BulkVector<CellPlane> planes(const SurfaceGrid& far, OpContext& ctx) const;

 private:
  struct Fit {
    bool with_self;
    int fewest, max_radius;
  };
  BulkVector<std::uint8_t> blocks_with_ground() const;
  bool fit(std::size_t x, std::size_t y, const Fit& how, CellPlane& plane) const;

  Lattice lattice_;
  BulkVector<CellPoint> points_;
  BulkVector<std::uint8_t> ground_;
};

}  // namespace pc
