#pragma once
#include "ops/trees/stem_curve.h"

namespace pc {

/// Whether the circle at breast height lies in the leaves of a low plant: up to half as high again as breast height,
/// with a circle that is not whole, or wider than a fifth of the height. A sapling of that height is far thinner.
bool is_shrub(const Stem& stem, double height_m, double breast_height_m);

/// Whether the circle at breast height says nothing about a stem: a standard error above a quarter of the diameter, or one
/// of which few points or less than three tenths of the arc were seen and that is wider than a fifth of the height or whose
/// points scatter by more than 6 cm; or thicker than a twentieth of the height, with an arc of less than seven tenths, and either
/// a standard error above a tenth of the diameter or more than a fifth of the slice's points beside the circle, or of the
/// stretch's where few points show it. Leaves around a thin stem, walls and rocks have such
/// circles, and airborne scans. Nor does a circle of which there are many (circle_evidence.h): one shown over at most 50
/// degrees by less than four fifths of the stretch's points, or over 30 degrees and thicker than a twentieth of the height; one with
/// few points that is as likely by chance, or with few points at two opposite sides; one whose points are one or two columns of a
/// scan (point_columns.h).
bool is_no_stem(const Stem& stem, double height_m, double sigma_m);

/// Of a tree without a diameter: sections of the curve that lie in leaves by the same rules are not ok. The stem, whose
/// points are no crown, then ends where no section is.
void distrust_leaves(Stem& stem, double height_m, double breast_height_m);

/// Standard error of the diameter at breast height: that of its circle (residuals, arc, ellipticity), enlarged if the
/// diameters of the sections within 1.5 m scatter about a straight taper more than their own errors and a form of 1 %
/// explain, at most threefold: single sections on branches say little about the one at breast height; and by the scatter of its
/// points above kMostScatter. NaN if it is unknown.
/// Source   Birge 1932, Physical Review 40: 207 (ratio of external to internal error), with two more degrees of freedom of
///          ratio 1, because few sections determine it.
double breast_height_sigma(const Stem& stem);

}  // namespace pc
