#pragma once
#include <cstdint>
#include <vector>

#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// Distribution of leaf angles in a voxel. Inclination: angle between the normal and the vertical; 2 / pi of it is
/// beta-distributed with the exponents nu - 1 of it and mu - 1 of its complement, so its mean is 90 nu / (mu + nu) degrees.
/// Azimuth (bearing, clockwise from +y): that of a point on an ellipse at a uniform parameter.
struct LeafAngleTarget {
  std::uint32_t cell;        ///< i + nx (j + ny k)
  double beta_mu, beta_nu;   ///< > 0
  double ecc;                ///< eccentricity of the ellipse, 0..1; 0 = uniform azimuths
  double phi0_deg;           ///< bearing of its long axis, 0..180
  std::uint64_t n_measured;  ///< triangles that it comes from
};

/// Triangles of leaves and their cells.
struct TargetTriangles {
  Span<const double> vertices;  ///< (3 V) metres
  Span<const double> indices;   ///< (3 T) whole numbers
  Span<const double> cells;     ///< (T) whole numbers; -1 and 4294967295 = in no cell
};

struct LeafAngleTargets {
  std::vector<LeafAngleTarget> targets;  ///< by cell
  std::uint64_t unfit_count = 0;         ///< cells with triangles whose angles have no beta distribution
};

/// Eccentricity of the ellipse whose azimuths have the resultant length R2 of the doubled angle: with the half axes 1 and b,
/// R2 = (1 - b) / (1 + b).
double ellipse_eccentricity(double resultant);

/// Fits a distribution to the triangles of each cell.
///
/// Inclinations and azimuths of the normals, weighted by area, go to 18 bins of 5 and 36 bins of 10 degrees; horizontal
/// triangles have no azimuth. With t = inclination / 90, mean m and variance s2 of the bins' middles: s = m (1 - m) / s2 - 1,
/// nu = m s, mu = (1 - m) s; a cell with s2 <= 0 or s <= 0 has no target. An azimuth and its opposite count as one, so the
/// side from which a triangle was seen plays no part: phi0 = atan2(<sin 2 phi>, <cos 2 phi>) / 2, and the eccentricity
/// follows from the length of that mean.
///
/// cell_count  cells of the grid.
/// Order       By cell. Does not depend on threads.
/// Cost        O(T log T) time, 16 bytes a triangle.
/// Cancel      Within 250 ms.
/// Errors      kInvalidArgument for lists of other lengths, an index or a cell out of range.
/// Source      Contract skeleton-qsm 8.1; the closed form replaces its table (derived in test/cpp/ops/qsm/leaf_angle_test.cpp).
LeafAngleTargets leaf_angle_targets(const TargetTriangles& triangles, std::uint64_t cell_count,
                                    OpContext& ctx);

}  // namespace pc
