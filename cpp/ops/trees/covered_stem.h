#pragma once
#include "ops/trees/stem_curve.h"

namespace pc {

/// Whether what covers the stem, as ivy does, has the circle at breast height: its points scatter about it by more than 15 mm
/// and 6 % of its radius, three times as much as those of two sections above it, which are no wider and seen at half their
/// girth or more. Noise, and scans that do not fit each other, scatter at all heights; stem_bark.h takes bark that is
/// seen between leaves.
bool is_covered(const Stem& stem);

/// Scatter of the second best section of the curve that is seen at half its girth or more, metres: noise, and bark. NaN with fewer.
double bare_scatter(const Stem& stem);

/// Takes the circle at breast height from a covered stem, and distrusts what scatters as it does.
void leave_out_cover(Stem& stem);

/// Where bark was found between leaves in some sections, those that scatter by more than 15 mm and three times as much lie in
/// leaves: they are not ok.
void distrust_cover(Stem& stem);

}  // namespace pc
