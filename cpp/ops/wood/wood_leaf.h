#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/column.h"
#include "core/hit_points.h"
#include "core/op_context.h"
#include "core/span.h"

namespace pc {

enum class WoodMethod : std::uint8_t {
  kGeometric,     ///< shape of the neighbourhood of each point
  kConnectivity,  ///< and what is near the skeleton
  kSota,  ///< shapes over many sizes, averaged along the plant, and cylinders of the skeleton's segments
};

struct WoodLeafParams {
  WoodMethod method;
  double wood_bias;                    ///< least probability of wood, 0 .. 1: lower gives more wood
  std::uint32_t k_min, k_max, k_step;  ///< sizes of neighbourhoods: local_geometry_features
  std::uint32_t reg_k, reg_iters;      ///< neighbours, 1 .. 300, and rounds, 0 .. 100, of the smoothing
  std::uint32_t min_speckle;           ///< connected wood of fewer points becomes leaf; 0 and 1 = none
  double branch_grow_sph;              ///< greatest sphericity of a point that joins a branch, >= 0
  double
      backbone_support;  ///< kConnectivity: least points that the skeleton carries beyond a backbone node; 0 = auto
  double
      voxel_size_m;  ///< 0 = auto: all points (kSota: voxels of 1.75 cm or 1/150 of the extent, if that is less), or
                     ///< above most_points the finest voxels that give about that many
  std::uint64_t most_points;      ///< of the auto voxels, >= 1
  double reflectance_weight_max;  ///< greatest weight of the reflectance, 0 .. 1; 0 = unused
};

struct WoodLeafResult {
  Column<std::uint8_t> wood_class;  ///< (n) kWood or kLeaf, input order; rows that are not finite are leaf
  std::uint64_t wood_count, leaf_count;
  std::uint64_t used_count;        ///< points or voxels that were told apart
  std::uint64_t non_finite_count;  ///< rows
  std::uint64_t promoted_count;    ///< leaf that its reflectance made wood
  double voxel_m;                  ///< edge of the voxels; 0 = none
  double reflectance_weight;       ///< used; 0 = none
  bool mixture_separated;          ///< the scores had two components
  std::uint64_t segment_count;     ///< kSota: segments of the skeleton with enough points
  std::uint64_t cylinder_count;    ///< of these, cylinders
  std::vector<std::string> warnings;
};

/// Tells wood from leaves by shape: stems and branches are wood; petioles, flowers and fruits count as leaf.
///
/// points       (n) hits of vegetation, metres, z up; the caller removes the ground. Fewer than 3 finite ones: refused.
/// reflectance  (n) any unit, NaN = unknown; or empty
/// Geometric    At the k of greatest entropy: score = verticality / 2 + (1 - sphericity / its 99 % quantile) / 2. The
///              probability of wood is that of the upper component of the scores (score_mixture); wood from wood_bias,
///              seeds from max(wood_bias, 0.85). Elongated neighbours of seeds with at most branch_grow_sph join them.
///              Then the majority of reg_k neighbours, reg_iters times, and min_speckle.
/// Connectivity Geometric; then points near a skeleton node with backbone_support, of a sphericity of at most
///              max(2 branch_grow_sph, 0.04), join the wood; components below max(3, 0.0005 n) points leave it.
/// Sota         wood_shape.h gives the probability; then points near cylinders of the skeleton join (wood_segments.h).
/// Reflectance  The better it separates what the shapes say, the greater its weight w, up to reflectance_weight_max:
///              values above the quantile 0.99 - 0.11 w make wood, never leaf.
/// Order        The same for any thread count, order of the points and offset.
/// Cost         wood_leaf_cost. Cancel within 250 ms; no partial result.
/// Errors       kInvalidArgument: fewer than 3 finite points, a parameter out of range, lengths that differ.
/// Source       Verticality and sphericity: Wang et al. 2020, Methods Ecol. Evol. 11: 376 (idea); regularisation by
///              neighbours: Landrieu et al. 2017, ISPRS J. 132: 102.
WoodLeafResult wood_leaf(HitPoints points, Span<const float> reflectance, const WoodLeafParams& params,
                         OpContext& ctx);

struct WoodLeafCost {
  std::uint64_t bytes;  ///< peak besides the arguments, result included
  double seconds;       ///< CPU
};
WoodLeafCost wood_leaf_cost(std::uint64_t points, const WoodLeafParams& params);

}  // namespace pc
