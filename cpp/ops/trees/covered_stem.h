#pragma once
#include "ops/trees/stem_curve.h"

namespace pc {

/// Whether what covers the stem, as ivy does, has the circle at breast height: its points scatter about it by more
/// than 20 mm and 6 % of its radius, three times as much as those of two bare sections above it, which are no wider.
/// A section is bare if half its girth or more is seen, and 0.85 of the points near it lie on its circle. Noise, and
/// scans that do not fit each other, scatter at all heights; stem_bark.h takes bark that is seen between leaves.
bool is_covered(const Stem& stem);

/// Scatter of the second best of the bare sections of the curve, metres: noise, and bark. NaN with fewer.
double bare_scatter(const Stem& stem);

/// Takes the circle at breast height from a covered stem, and distrusts what scatters as it does.
void leave_out_cover(Stem& stem);

/// Where bark was found between leaves in some sections, those that scatter by more than 20 mm and three times as
/// much lie in leaves: they are not ok.
void distrust_cover(Stem& stem);

}  // namespace pc
