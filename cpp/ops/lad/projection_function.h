#pragma once
#include <cstdint>
#include <vector>

#include "core/column.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "ops/mesh/grid_binning.h"

namespace pc {

/// How the inclinations of leaves are distributed; azimuths are uniform.
enum class LeafAngleLaw : std::uint8_t {
  kSpherical,
  kPlanophile,
  kErectophile,
  kPlagiophile,
  kExtremophile,
  kUniform,
  kBeta,
  kEllipsoidal
};

/// A law and its parameters. kBeta: density ~ (1 - b)^(mu - 1) b^(nu - 1), b = 2 t / pi, t the inclination. kEllipsoidal: the
/// normals are those of an ellipsoid whose horizontal axes are `chi` times the vertical one.
struct LeafAngleDensity {
  LeafAngleLaw law;
  double beta_mu = 1, beta_nu = 1;  ///< > 0
  double chi = 1;                   ///< > 0; 1 = spherical, larger = flatter leaves
};

/// Area of the projection of leaves along a direction, per leaf area.
///
/// zeniths  radians, any; only the angle to the vertical counts
/// Result   G of each zenith, 0 .. 1
/// Cost     2048 evaluations per zenith, 20 us.
/// Errors   kInvalidArgument for parameters of kBeta that are not finite and positive.
/// Source   Warren Wilson 1960 (New Phytologist 59) eq. for A(theta, inclination); densities of de Wit 1965 and Goel &
///          Strebel 1984 (Beta) as in contract lad 3.3; 2048 midpoints, normalised on them. The spherical law is 1/2
///          in closed form.
std::vector<double> leaf_projection(const LeafAngleDensity& density, const std::vector<double>& zeniths,
                                    OpContext& ctx);

/// Projection of a leaf along a direction, averaged over the azimuths of the leaf; both angles in radians.
/// Source   Warren Wilson 1960, as above.
double mean_azimuth_projection(double zenith, double inclination);
/// Mean of its square: cos^2 th cos^2 t + sin^2 th sin^2 t / 2.
double mean_azimuth_projection_squared(double zenith, double inclination);

/// Mean G over beams, given their number per bin of angles (beam_traversal's zenith_count). Without beams that of 57.3
/// degrees. Clipped to 1e-4 .. 1. Errors: those of leaf_projection; kInvalidArgument without bins.
double mean_leaf_projection(const LeafAngleDensity& density, Span<const double> zenith_count, OpContext& ctx);

/// G at the middle of each of `bins` equal bins of 0 .. 90 degrees, clipped to 1e-4 .. 1. Errors: those of leaf_projection.
std::vector<double> leaf_projection_bins(const LeafAngleDensity& density, std::size_t bins, OpContext& ctx);

/// Mean cosine of the angle between beams and the normals of the leaves that they hit: mean cos^2 / mean cos over the area of
/// the leaves. Parameters, errors and source as for mean_leaf_projection.
double mean_hit_cosine(const LeafAngleDensity& density, Span<const double> zenith_count, OpContext& ctx);

/// A law with a given G.
struct FittedDensity {
  LeafAngleDensity density;
  double g;  ///< its mean G; not the one asked for if no law of the family has it
};

/// The ellipsoidal law whose mean G over the beams is `g`, the one nearest to the spherical law if there are several; chi lies
/// in 0.05 .. 20. The closest one if none has it.
///
/// zenith_count  as for mean_leaf_projection; taken together to at most 90 bins
/// Cost          80 ms. Cancel within 50 ms.
/// Errors        kInvalidArgument for a g outside 0 .. 1; without bins.
/// Source        Campbell 1990 (Agricultural and Forest Meteorology 49): densities of the ellipsoidal law.
FittedDensity ellipsoidal_law_of(double g, Span<const double> zenith_count, OpContext& ctx);

/// Triangles of leaves, each seen from one scanner.
struct LeafTriangles {
  Span<const Vec3d> vertices;          ///< (V) metres, frame of the grid
  Span<const std::uint32_t> indices;   ///< (T, 3)
  Span<const std::uint32_t> scan_ids;  ///< (T) rows of origins
  Span<const Vec3d> origins;           ///< scanner positions, frame of the grid
};

/// Errors: kInvalidArgument for lengths, a corner beyond the vertices, a scan_id beyond the origins.
void check_leaf_triangles(const LeafTriangles& triangles);

/// Whole numbers below `scan_count` as u32. Errors: kInvalidArgument, naming the first other value. Cancel within 50 ms.
Column<std::uint32_t> scan_ids_of_list(Span<const double> values, std::size_t scan_count, OpContext& ctx);

struct VoxelProjection {
  Column<double> g;                  ///< (cells) 0 = no triangles
  std::uint64_t triangle_count = 0;  ///< with their centroid in a voxel and an area
  double hit_cosine = 0;  ///< mean cosine at which beams hit them, all voxels together; 0 without triangles
  double mean_g = 0;      ///< G of all of them; 0 without triangles
};

/// Leaf projection function of every voxel from the triangles with their centroid in it:
/// G = sum |n d| A sin(th) / sum A sin(th), n normal, A area, d from the scanner to the first vertex, th its zenith.
///
/// Order    k-major; the same bits for any number of threads. Triangles without area count nowhere.
/// Cost     O(triangles + cells); 24 bytes per triangle and 16 per cell. Cancel within 50 ms.
/// Errors   kInvalidArgument: lengths, a corner beyond the vertices, a scan_id beyond the origins, those of grid_binning.
/// Source   Contract lad 3.3.
VoxelProjection voxel_projection(const LeafTriangles& triangles, const VoxelBox& grid, OpContext& ctx);

}  // namespace pc
