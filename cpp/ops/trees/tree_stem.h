#pragma once
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "ops/trees/stem_curve.h"
#include "ops/trees/tree_ground.h"

namespace pc {

/// Trunks of giants, which are wider than other stems and lobed.
struct ThickStemParams {
  double min_radius_m, max_radius_m;
  double inlier_part;  ///< see CircleFitParams
};

/// The points of a tree.
struct TreeToMeasure {
  Span<const Vec3d> points;  ///< (n) metres; at least one
  const TreeGround& ground;
  const Box3d& box;   ///< of the points
  double flat_share;  ///< of flat_trees.h; NaN = unknown
};

struct TreeStem {
  Stem stem;
  double height_m;  ///< of the highest point above the ground at the stem's base
  double sigma_m;   ///< standard error of the diameter at breast height; NaN without one
  bool flat;        ///< a wall, a roof, a vehicle: no tree
};

/// Whether breast height of a tree is at the trunk of a low one.
bool is_at_trunk(double height_m, const StemParams& params);

/// The stem of a tree, or its trunk if it is a low one. A circle at breast height that is no stem's is left out, and the sections
/// in leaves are not ok.
///
/// Thick    Where no stem is found, one of `thick` is looked for: half of it must be seen, its points scatter by up to 4 % of its
///          radius about it, and the tree is 2.5 diameters high. Crowns that reach to the ground are as wide and
///          round, but no surface, and clipped shrubs are lower.
/// Hidden   Where none is found still, the strongest stem that layer_stem sees at breast height is measured; also where the circle may
///          be one of leaves, whose points scatter or that is uncertain, and taken if its points scatter half as much. One with few points, an
///          arc below 90 degrees or a standard error above a tenth of the diameter is none.
/// Low      Of a low tree whose diameter is not known, is that of limbs and leaves (no wood is thicker than what carries it), or lies
///          below the heights at which stems are looked for, the trunk is taken: low_trunk.
/// Cost     That of measure_stem, twice where no stem is found.
TreeStem stem_of_tree(const TreeToMeasure& tree, const StemParams& params, const ThickStemParams& thick,
                      OpContext& ctx);

}  // namespace pc
