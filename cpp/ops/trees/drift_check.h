#pragma once
#include <vector>

#include "ops/trees/stem_drift.h"

namespace pc {

/// Fewer stems that two views show say nothing of drift: one is left out, the others are fitted.
constexpr std::size_t kFewestCheckedStems = kFewestDriftStems + 1;

/// Whether stems that took no part in a fit are nearer to themselves in other views without the drift of that fit: in the median of
/// the stems the root mean square distance of their places from the middle of these is less than half as large. What single
/// places are off by (rough bark, few points, too few stems for the scans) is no drift: other stems do not have it.
///
/// stems    as of fit_drift
/// Folds    Five, or one for each stem of fewer; the stems of a fold are those of every fifth number.
/// Result   False for fewer than kFewestCheckedStems stems that two views show, and where no fit is possible.
/// Order    As fit_drift. Cost that of as many fits. Cancel within 250 ms.
/// Source   Ours; M. Stone, Cross-validatory choice and assessment of statistical predictions, Journal of the Royal Statistical
///          Society B 36, 1974, 111-147.
bool is_real_drift(const std::vector<std::vector<ViewPlace>>& stems, OpContext& ctx);

}  // namespace pc
