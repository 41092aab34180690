#include "ops/trees/view_covariance.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "core/nth_smallest.h"
#include "core/polled_sort.h"

namespace pc {

namespace {

/// Pairs of views by the time between them, and how far they are apart.
struct Lag {
  double time_s, distance_square;
};

std::vector<Lag> lags_of(const std::vector<std::vector<ViewPlace>>& stems, const OpContext& ctx) {
  std::vector<Lag> lags;
  for (const auto& places : stems) {
    ctx.checkpoint();
    for (std::size_t a = 0; a < places.size(); ++a)
      for (std::size_t b = a + 1; b < places.size(); ++b) {
        const double x = places[a].center.x - places[b].center.x, y = places[a].center.y - places[b].center.y;
        const bool same = places[a].at.scan == places[b].at.scan;
        lags.push_back(
            {same ? std::abs(places[a].at.time_s - places[b].at.time_s) : HUGE_VAL, x * x + y * y});
      }
  }
  polled_sort(
      lags.begin(), lags.end(),
      [](const Lag& a, const Lag& b) {
        return std::tie(a.time_s, a.distance_square) < std::tie(b.time_s, b.distance_square);
      },
      ctx);
  return lags;
}

/// A part of the pairs: median time, variance of a difference along one axis.
struct Bin {
  double time_s, variance, weight;
};

std::vector<Bin> bins_of(const std::vector<Lag>& lags) {
  constexpr std::size_t kMostBins = 12, kFewestPairs = 10;
  constexpr double kMedian = 1.3863;  // of chi-squared with 2 degrees of freedom
  std::vector<Bin> bins;
  const std::size_t count = std::clamp<std::size_t>(lags.size() / kFewestPairs, 1, kMostBins);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t begin = i * lags.size() / count, end = (i + 1) * lags.size() / count;
    std::vector<double> squares;
    for (std::size_t k = begin; k < end; ++k) squares.push_back(lags[k].distance_square);
    const double median = nth_smallest(squares.data(), squares.size(), squares.size() / 2);
    bins.push_back({lags[begin + (end - begin) / 2].time_s, median / kMedian,
                    std::sqrt(static_cast<double>(end - begin))});
  }
  return bins;
}

}  // namespace

ViewCovariance view_covariance(const std::vector<std::vector<ViewPlace>>& stems, const OpContext& ctx) {
  constexpr double kStep = 1.25, kLeastTime = 5, kMostTime = 2000, kLeast = 5e-4, kMost = 1;
  const std::vector<Bin> bins = bins_of(lags_of(stems, ctx));
  ViewCovariance best{kLeast, kLeastTime};
  double least = HUGE_VAL;
  for (double time = kLeastTime; time < kMostTime; time *= kStep) {
    ctx.checkpoint();
    for (double own = kLeast; own < kMost / 10; own *= kStep)
      for (double spread = kLeast; spread < kMost; spread *= kStep) {
        double cost = 0;
        for (const Bin& bin : bins) {
          const double model = 2 * own * own + 2 * spread * spread * (1 - std::exp(-bin.time_s / time));
          const double off = std::log(std::max(bin.variance, 1e-12) / model);
          cost += bin.weight * off * off;
        }
        if (!(cost < least)) continue;
        least = cost;
        best = {spread, time};
      }
  }
  return best;
}

}  // namespace pc
