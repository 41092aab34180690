#pragma once
#include <vector>

#include "core/op_context.h"
#include "core/span.h"

namespace pc {

/// Probability of the upper of two components of scores in [0, 1].
struct ScoreMixture {
  static constexpr std::size_t kBins = 1024;
  std::vector<double> probability;  ///< (kBins) of a score in each bin; never falls with the score
  bool
      separated;  ///< false: the scores have no two components, and the probability is the share of lower scores

  double of(float score) const { return probability[bin_of(score)]; }
  static std::size_t bin_of(float score);
};

/// Mixture of two normal distributions of the scores, the likeliest from three starts; where the two are not apart, the
/// rank of the score.
///
/// scores   (n) in [0, 1]
/// Order    A function of the set of scores.
/// Cost     O(n).
/// Source   Expectation maximisation: Dempster, Laird & Rubin 1977.
ScoreMixture score_mixture(Span<const float> scores, OpContext& ctx);

}  // namespace pc
