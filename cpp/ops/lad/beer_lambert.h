#pragma once
#include <cstdint>

#include "core/column.h"
#include "core/op_context.h"
#include "core/vec3.h"
#include "ops/lad/beam_traversal.h"

namespace pc {

/// Hits of wood and of leaves in every voxel, by their labels.
struct WoodHits {
  Span<const std::uint32_t> wood, leaf;  ///< (cells), or empty: everything is leaf
  double wood_g = 0;  ///< projection of wood over its whole surface, 0 .. 1; with hits above 0
};

/// Beams that have each their own G.
struct OpticalSums {
  Span<const double>
      sums;  ///< (cells, kVoxelSumFields) of the same beams with the factors G of the beam / g, or empty
  Span<const double> g;  ///< as the g of beer_lambert: the greatest G of a beam, so that no factor is above 1
};

/// How far a measured G may be off: as ProjectionError, whose scatters hold for leaves of 1 m2.
struct MeasuredG {
  Span<const double> scatter;   ///< (cells), or empty: G is taken as known
  double of_all = 0, bias = 0;  ///< >= 0
  double spread = 0;            ///< >= 0; of G between inclinations, which it has measured
};

/// A voxel has so many leaves, turned and placed by chance, and the beams weigh them as they see them.
struct FewLeaves {
  Span<const double> views;  ///< (cells, kVoxelViewFields) of voxel_views, or empty: leaves without number
  double spread = 0;         ///< variance of |normal . beam| of a leaf as a part of G^2, >= 0
};

struct BeerLambertParams {
  Vec3d voxel_size;              ///< metres, > 0
  std::uint32_t nx, ny, nz;      ///< of the grid
  std::uint64_t min_beams;       ///< beams needed to solve a voxel, >= 1; with `reach`, effective ones
  double element_width_m;        ///< width of a leaf; <= 0 leaves only the sampling term of the variance
  double occlusion_threshold_m;  ///< a probed voxel with less path in total is occluded, >= 0
  /// (cells, kReachSumFields) of beam_traversal, or empty. With them the variance is that of a ratio estimator over the
  /// pulses, also below that of whole pulses.
  Span<const double> reach = {};
  WoodHits labels = {};
  /// With them leaves are solved for the G of each beam; the chords of `sums` still tell what is occluded.
  OpticalSums optical = {};
  /// Leaves are discs of element_width_m.
  MeasuredG measured = {};
  FewLeaves few = {};
};

/// Bits of a voxel's state.
constexpr std::uint8_t kVoxelSolved = 1;    ///< lad is a solution of the inversion
constexpr std::uint8_t kVoxelOccluded = 2;  ///< probed, but by too little path or too few beams
constexpr std::uint8_t kVoxelTrusted = 4;   ///< the 95 % interval is valid
constexpr std::uint8_t kVoxelFilled = 8;    ///< lad is interpolated (occlusion_kriging)
constexpr std::uint8_t kVoxelProbed = 16;   ///< at least one beam reaches it

struct BeerLambertTotals {
  double leaf_area_m2 = 0;           ///< of the voxels that are not occluded
  double wood_area_m2 = 0;           ///< of the same; surface of the wood
  double occluded_leaf_area_m2 = 0;  ///< of occluded voxels that are solved, by the few beams that reach them
  std::uint64_t occluded_count = 0, solved_count = 0;
  std::uint64_t group_count = 0;  ///< voxels with a valid interval that are not occluded
  double group_mean = 0;          ///< of their lad, m2/m3
  double group_half_width = 0;    ///< of the 95 % interval of this mean
};

struct BeerLambertResult {
  Column<double> lad;       ///< (cells) m2/m3; 0 where not solved
  Column<double> variance;  ///< (cells) of lad, (m2/m3)^2; NaN where not solved
  Column<std::uint8_t> state;
  Column<double> wad;  ///< (cells) surface of the wood, m2/m3, 0 where not solved; empty without labels
  /// (cells) standard error of lad with that of few leaves and of a measured G, which `variance` is without; intervals are its.
  Column<double> error;
  double common_g_error = 0;  ///< part of G by which a measured one may be off in all voxels alike
  BeerLambertTotals totals;
};

/// Leaf area density of every voxel from its beams: solves mean exp(-a G d) = P for a, where d are the chords of the
/// beams that reach the voxel, G that of the voxel or of each beam, and P the share of the beams behind it.
///
/// sums     (cells, kVoxelSumFields) of beam_traversal
/// g        leaf projection function: (cells), (nz) for all voxels of a layer, or (1); 0 = unknown, leaves a voxel
///          unsolved, unless all its labelled hits are wood
/// labels   With them the interception a g is split by the share f of wood in the labelled hits: (1 - f) a of leaves, f a g / wood_g
///          of wood. A voxel without labelled hits is all leaf. The variance includes that of f as of independent hits.
/// Error    var(lad) + lad^2 (e + c^2), e scatter of a measured G, c common to all voxels; but for where the elements lie the larger of
///          Pimont's term and lad^2 (k (1 + s q) - 1 - m q) / (n r): n leaves (discs of element_width_m), of which the share r is reached,
///          q and k alignment and crowding of their view, s and m the spreads. A leaf weighs as its projection and the density of the
///          pulses where it lies. Own; no constant is fitted.
/// Order    k-major; the same bits for any number of threads.
/// Cost     O(cells), 25 bytes per voxel, 33 with labels. Cancel within 50 ms.
/// Errors   kInvalidArgument: lengths or parameters out of range, a g outside 0 .. 1.
/// Source   Contract lad 3.4 and 3.5. Variance, interval and validity: Pimont et al. 2018, Remote Sensing of
///          Environment 215, 343-370. Wood: contract lad 7. mean exp(-a G d) by Gauss quadrature over the chords (chord_quadrature.h).
BeerLambertResult beer_lambert(Span<const double> sums, Span<const double> g, const BeerLambertParams& params,
                               OpContext& ctx);

/// The solution of mean exp(-a g d) = P, the share of the beams that pass. Of n beams less than one of 2 n + 2 is taken as that,
/// so that a voxel which none passes has a solution. One beyond 100 m2/m3 is (1 - P) / (g mean d).
///
/// sums     of a voxel with at least one beam; g > 0; diagonal_m of a voxel
/// Bias     Leaves of the width w at random places in voxels of the edge e: + 2, 5, 10 and 18 % for w / e = 0.36, 0.5, 0.7 and 1,
///          whatever their density (docs/accuracy.md).
/// Source   Contract lad 3.4 but for its rule beyond 5 (docs/adr/0059). Bound: Pimont et al. 2018, as in the variance.
double solve_beer_lambert(const VoxelSums& sums, double g, double diagonal_m);

}  // namespace pc
