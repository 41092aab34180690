#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "core/column.h"
#include "core/op_context.h"
#include "core/vec3.h"
#include "ops/mesh/grid_binning.h"

namespace pc {

enum class OcclusionFill : std::uint8_t { kNone, kLayerMean, kKriging };

/// gamma(h) = nugget + (sill - nugget) (1 - exp(-3 h / range)) for h > 0.
struct Variogram {
  double nugget, sill, range_m;
};

struct OcclusionKrigingResult {
  Column<double> lad;                           ///< (cells) with estimates in occluded voxels
  Column<std::uint8_t> state;                   ///< (cells) with kVoxelFilled where there is one
  OcclusionFill method = OcclusionFill::kNone;  ///< of most refinement that any voxel was filled with
  std::uint64_t filled_count = 0;
  std::optional<Variogram> variogram;  ///< of kKriging
};

/// Estimates the leaf area density of occluded voxels from the measured ones, by ordinary kriging with known errors, else
/// by the mean of the measured voxels of the same layer. A voxel of a layer without any stays as it is.
///
/// lad, variance, state  (cells) of beer_lambert; donors are solved, not occluded, of finite variance
/// grid     places of the voxels: raised columns count, distances are those of the unrotated lattice
/// Order    k-major; the same bits for any number of threads.
/// Cost     O(cells + donors^3 + occluded donors), at most 2000 donors (nearest to the centroid of the occluded
///          voxels): about 2 s, and 40 us per occluded voxel.
/// Cancel   Within 100 ms; no partial result.
/// Errors   kInvalidArgument: lengths that do not belong to the grid.
/// Source   Contract lad 4. Kriging with error variances: Delhomme 1978, Advances in Water Resources 1; variogram of
///          Matheron 1962 less the mean error, exponential model fitted by least squares weighted with the pairs
///          (Cressie 1985).
OcclusionKrigingResult occlusion_kriging(Span<const double> lad, Span<const double> variance,
                                         Span<const std::uint8_t> state, const VoxelBox& grid,
                                         OpContext& ctx);

/// A measured value, its error variance and place.
struct KrigingDonor {
  Vec3d place;
  double value, variance;
};

/// The variogram of donors; none if fewer than 3 of 10 lags have 20 pairs, or without a rise above the nugget.
/// voxel_side_m  lag where donors have no neighbours
std::optional<Variogram> fit_variogram(const std::vector<KrigingDonor>& donors, double voxel_side_m,
                                       OpContext& ctx);

/// Ordinary kriging from at most some thousands of donors: factors once, then any number of estimates.
class OrdinaryKriging {
 public:
  OrdinaryKriging(std::vector<KrigingDonor> donors, const Variogram& variogram, OpContext& ctx);
  /// False if the system is singular; estimate() must not be called then.
  bool solvable() const { return solvable_; }
  double estimate(const Vec3d& place) const;

 private:
  double covariance(double squared_distance) const;

  std::vector<KrigingDonor> donors_;
  Variogram variogram_;
  std::vector<double> by_value_, by_one_;  // solutions of (C + V) x = z and = 1
  double sum_value_ = 0, sum_one_ = 0;
  bool solvable_ = false;
};

}  // namespace pc
