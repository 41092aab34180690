#include "ops/wood/wood_mixture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace pc {

namespace {

constexpr double kTwoPi = 6.283185307179586;
constexpr int kMostRounds = 300;
constexpr double kLeastVariance = 1e-6;
constexpr double kLeastWeight = 0.01;     // of a component
constexpr double kLeastSeparation = 1.0;  // of the means, in standard deviations of the wider component
constexpr std::size_t kPoll = 1 << 18;

/// Shares of the scores below which the two starting means lie.
constexpr std::array<std::array<double, 2>, 3> kStarts{{{0.25, 0.75}, {0.1, 0.9}, {0.5, 0.95}}};

struct Component {
  double weight = 0, mean = 0, variance = 1;
  double density(double x) const {
    const double d = x - mean;
    return weight * std::exp(-0.5 * d * d / variance) / std::sqrt(kTwoPi * variance);
  }
};

struct Fit {
  std::array<Component, 2> part;
  double likelihood = -std::numeric_limits<double>::infinity();
};

double centre(std::size_t bin) { return (static_cast<double>(bin) + 0.5) / ScoreMixture::kBins; }

double quantile(const std::vector<double>& share, double fraction) {
  double below = 0;
  for (std::size_t i = 0; i < share.size(); ++i) {
    below += share[i];
    if (below >= fraction) return centre(i);
  }
  return 1;
}

double variance_of(const std::vector<double>& share) {
  double mean = 0, squares = 0;
  for (std::size_t i = 0; i < share.size(); ++i) mean += share[i] * centre(i);
  for (std::size_t i = 0; i < share.size(); ++i)
    squares += share[i] * (centre(i) - mean) * (centre(i) - mean);
  return std::max(squares, kLeastVariance);
}

/// One round; returns the mean log likelihood before it.
double improve(const std::vector<double>& share, std::array<Component, 2>& part) {
  std::array<double, 2> sum{}, first{}, second{};
  double likelihood = 0;
  for (std::size_t i = 0; i < share.size(); ++i) {
    if (share[i] == 0) continue;
    const double x = centre(i), a = part[0].density(x), b = part[1].density(x), both = a + b + 1e-300;
    likelihood += share[i] * std::log(both);
    const std::array<double, 2> own{share[i] * a / both, share[i] * b / both};
    for (int c = 0; c < 2; ++c) sum[c] += own[c], first[c] += own[c] * x, second[c] += own[c] * x * x;
  }
  for (int c = 0; c < 2; ++c) {
    const double weight = std::max(sum[c], 1e-12), mean = first[c] / weight;
    part[c] = {sum[c], mean, std::max(second[c] / weight - mean * mean, kLeastVariance)};
  }
  return likelihood;
}

Fit fit_from(const std::vector<double>& share, const std::array<double, 2>& start) {
  const double half = variance_of(share) / 2;
  Fit fit{{{{0.5, quantile(share, start[0]), half}, {0.5, quantile(share, start[1]), half}}}};
  for (int round = 0; round < kMostRounds; ++round) {
    const double before = fit.likelihood;
    fit.likelihood = improve(share, fit.part);
    if (fit.likelihood - before < 1e-9) break;
  }
  if (fit.part[0].mean > fit.part[1].mean) std::swap(fit.part[0], fit.part[1]);
  return fit;
}

bool apart(const std::array<Component, 2>& part) {
  const double width = std::sqrt(std::max(part[0].variance, part[1].variance));
  return part[0].weight >= kLeastWeight && part[1].weight >= kLeastWeight &&
         part[1].mean - part[0].mean >= kLeastSeparation * width;
}

/// The posterior, made monotone outward from between the means: a wide component must not win beyond the narrow one.
std::vector<double> posterior(const std::array<Component, 2>& part) {
  std::vector<double> probability(ScoreMixture::kBins);
  for (std::size_t i = 0; i < probability.size(); ++i) {
    const double low = part[0].density(centre(i)), high = part[1].density(centre(i));
    probability[i] = low + high > 0 ? high / (low + high) : (centre(i) > part[0].mean ? 1.0 : 0.0);
  }
  const double middle = 0.5 * (part[0].mean + part[1].mean);
  const std::size_t from = ScoreMixture::bin_of(static_cast<float>(middle));
  for (std::size_t i = from; i-- > 0;) probability[i] = std::min(probability[i], probability[i + 1]);
  for (std::size_t i = from + 1; i < probability.size(); ++i)
    probability[i] = std::max(probability[i], probability[i - 1]);
  return probability;
}

}  // namespace

std::size_t ScoreMixture::bin_of(float score) {
  const double at = std::clamp(static_cast<double>(score), 0.0, 1.0) * kBins;
  return std::min(static_cast<std::size_t>(at), kBins - 1);
}

ScoreMixture score_mixture(Span<const float> scores, OpContext& ctx) {
  std::vector<double> share(ScoreMixture::kBins, 0.0);
  for (std::size_t i = 0; i < scores.size; ++i) {
    if (i % kPoll == 0) ctx.checkpoint();
    share[ScoreMixture::bin_of(scores[i])] += 1;
  }
  for (double& value : share) value /= static_cast<double>(std::max<std::size_t>(scores.size, 1));
  Fit best;
  for (const auto& start : kStarts) {
    const Fit fit = fit_from(share, start);
    if (fit.likelihood > best.likelihood) best = fit;
  }
  if (apart(best.part)) return {posterior(best.part), true};
  std::vector<double> rank(ScoreMixture::kBins);
  double below = 0;
  for (std::size_t i = 0; i < rank.size(); ++i) {
    rank[i] = below;
    below += share[i];
  }
  return {std::move(rank), false};
}

}  // namespace pc
