#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/op_context.h"
#include "core/span.h"
#include "ops/trees/tree_inventory.h"

namespace pc {

/// A tree that an upright mirror may show, or may be shown by, or a wall that may hold one.
struct ShownTree {
  Vec3d base;         ///< x and y of the stem at breast height, or else at its base; z of its ground, metres
  double diameter_m;  ///< at breast height; NaN = unknown
  bool flat;          ///< it lies on flat surfaces: no tree
  bool bare;          ///< next to nothing is beside the stem, as of a post
};

/// A tree that is the image of another one.
struct TreeImage {
  std::size_t image, original;
};

/// Trees that an upright mirror shows: windows, walls of glass, polished stone. A beam that meets one goes on to what stands before
/// it, and is measured as far behind it. A pane has a frame or a wall around it, and two stems that it shows as one another define
/// it to the centimetre.
///
/// Walls    of flat trees: up to four upright planes that hold a fifth of its points (at least 50 of 600) within 0.1 m.
/// Pairs    of trees with a diameter, within 30 m of either side of a wall and 45 m of its middle: the mirrored base of one is within 0.5 m of the
///          other, the mirror between them is the wall (1.5 degrees, 0.3 m), and diameters are within a tenth and 1 cm.
/// Match    Up to 600 points of the image more than 0.5 m above the ground, of at least 100, chosen by their position, are mirrored.
///          The mirror is moved by up to 6 cm and turned by up to half a degree to where most of 200 have a point of the
///          original within 5 cm.
/// Chance   The most that have one after they were turned about the original by 60 to 300 degrees, or moved by 0.3 m along
///          an axis: trees that are round, or dense, match at any turn.
/// Stems    The same goes for three pairs and more whose mirrored stems are within 5 cm of each other in the mirror of one of them,
///          with diameters within a twentieth and 5 mm, however their points lie: no one plants so exactly. Lamps may stand so:
///          of no pair are both bare.
/// Image    matched is 0.12 above chance, and 1.5 times it; or the stems are. Pairs whose mirrors fit are one mirror; its images are on
///          the side whose trees have fewer points: a beam that is turned goes farther, and panes show a part.
/// Known    Trees behind such a mirror and near its best pair, as near as to a wall, with a diameter or without, whose mirrored base is within 3 m of a tree before it:
///          0.08 above chance, and 1.25 times it; of two pairs or more also those within 0.25 m of one of that diameter.
/// Limits   Of a scan from one place, which sees the back of a tree in the glass, images are found by their stems alone. Without the
///          wall, as where buildings were deleted, none is.
///
/// trees      (n)
/// points_of  the points of tree i, metres; called up to three times for each, from one thread
/// Result     By ascending image, each once; no original is an image.
/// Order      The same for any thread count, and order of the points.
/// Cost       Nothing without flat trees; else O(n) for the points near walls, walls times trees, 1 ms for each flat tree, and some
///            10 ms for each pair.
/// Cancel     Within 250 ms.
/// Source     Ours; Yun & Sim, "Reflection removal for large-scale 3D point clouds", CVPR 2018, compare the two sides of a
///            pane of glass as well.
std::vector<TreeImage> mirrored_trees(Span<const ShownTree> trees,
                                      const std::function<std::vector<Vec3d>(std::size_t)>& points_of,
                                      OpContext& ctx);

/// Takes the diameter from the trees that are images, sets their `image_of`, and no section of theirs is ok any more; nor has
/// one a foot, is covered or without a crown. Trees without a crown are bare.
void drop_mirrored_trees(std::vector<MeasuredTree>& trees,
                         const std::function<std::vector<Vec3d>(std::size_t)>& points_of, OpContext& ctx);

}  // namespace pc
