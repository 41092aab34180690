#pragma once
#include <cstddef>
#include <cstdint>

#include "core/host_device.h"
#include "core/vec3.h"

namespace pc {

/// Position relative to the centre of cell (0, 0), in cells.
struct CellPosition {
  double u, v;
};

/// The four cells whose centres surround a point, (i, j), (i + 1, j), (i, j + 1) and (i + 1, j + 1), and the position
/// of the point between these centres.
struct LatticePatch {
  std::uint32_t i, j;
  float fu, fv;  ///< 0 .. 1 from column i to i + 1 and from row j to j + 1
};

/// The plane that heights are measured from. It passes through (x_min, y_min, z_origin) of its lattice.
struct LatticePlane {
  double z_origin;
  double slope_x, slope_y;  ///< metres per metre
};

/// Square cells in x and y, and the plane that heights are measured from. Cell (i, j) is number j nx + i; its centre is
/// (x_min + (i + skip_x - pad) size, y_min + (j + skip_y - pad) size).
struct Lattice {
  double x_min, y_min;  ///< of the points; only differences are used: a shift changes no bit
  double size;          ///< metres
  double z_origin;
  double pad;               ///< number of cells before the first point
  double slope_x, slope_y;  ///< of the reference plane, metres per metre
  std::uint32_t nx, ny;
  double skip_x = 0, skip_y = 0;  ///< whole cells: those before the first, of a lattice that begins elsewhere

  PC_HD std::size_t cells() const { return static_cast<std::size_t>(nx) * ny; }
  LatticePlane plane() const { return {z_origin, slope_x, slope_y}; }

  PC_HD CellPosition position_of(const Vec3d& p) const {
    return {(p.x - x_min) / size + pad - skip_x, (p.y - y_min) / size + pad - skip_y};
  }

  /// Number of the cell that contains a point of the lattice's extent.
  PC_HD std::size_t cell_of(const Vec3d& p) const {
    const CellPosition at = position_of(p);
    return static_cast<std::size_t>(at_most(at.v + 0.5, ny - 1)) * nx + at_most(at.u + 0.5, nx - 1);
  }

  /// Height of a point above the lattice's plane.
  PC_HD float height_of(const Vec3d& p) const {
    const double rise = slope_x * (p.x - x_min) + slope_y * (p.y - y_min);
    return static_cast<float>((p.z - z_origin) - rise);
  }

  /// The four cell centres around a point of the lattice's extent; nx and ny >= 2.
  PC_HD LatticePatch patch_of(const Vec3d& p) const {
    const CellPosition at = position_of(p);
    const std::uint32_t i = at_most(at.u, nx - 2), j = at_most(at.v, ny - 2);
    return {i, j, static_cast<float>(at.u - static_cast<double>(i)),
            static_cast<float>(at.v - static_cast<double>(j))};
  }

 private:
  PC_HD static std::uint32_t at_most(double value, std::uint32_t limit) {
    const auto whole = static_cast<std::uint32_t>(value);
    return whole < limit ? whole : limit;
  }
};

/// A lattice over a box that is not empty: floor(extent / size) + 4 cells along each axis, `margin` of them (1 or 2)
/// before the first point. Every point has a patch; with a margin of 1 there is also a cell behind that of the last
/// point.
inline Lattice lattice_over(const Box3d& box, double size, std::uint32_t margin, const LatticePlane& plane) {
  const auto cells = [&](double extent) { return static_cast<std::uint32_t>(extent / size) + 4; };
  return {box.min.x,
          box.min.y,
          size,
          plane.z_origin,
          static_cast<double>(margin),
          plane.slope_x,
          plane.slope_y,
          cells(box.max.x - box.min.x),
          cells(box.max.y - box.min.y)};
}

}  // namespace pc
