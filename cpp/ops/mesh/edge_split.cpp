#include "ops/mesh/edge_split.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/parallel.h"
#include "ops/cloud/order_select.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 15;
constexpr std::size_t kBins = 256;
constexpr std::uint64_t kLeastEdges = 16;
constexpr std::uint64_t kLeastOfPart = 64;
constexpr double kMixedRatio = 10;

/// Edges from one length to another, both included.
struct Edges {
  Span<const double> all;
  LaneRange accepted;
  std::uint64_t count = 0;
  LaneRange range{};  ///< of those accepted

  bool accepts(double edge) const { return edge >= accepted.min && edge <= accepted.max; }
};

Edges counted(Span<const double> all, const LaneRange& accepted, OpContext& ctx) {
  Edges out{all, accepted};
  struct Part {
    std::uint64_t count = 0;
    double min = std::numeric_limits<double>::infinity(), max = 0;
  };
  std::vector<Part> parts((all.size + kGrain - 1) / kGrain);
  parallel_for(ctx, all.size, kGrain, [&](std::size_t begin, std::size_t end) {
    Part& part = parts[begin / kGrain];
    for (std::size_t i = begin; i < end; ++i) {
      if (!out.accepts(all[i])) continue;
      ++part.count;
      part.min = std::min(part.min, all[i]);
      part.max = std::max(part.max, all[i]);
    }
  });
  out.range = {std::numeric_limits<double>::infinity(), 0};
  for (const Part& part : parts) {
    out.count += part.count;
    out.range = {std::min(out.range.min, part.min), std::max(out.range.max, part.max)};
  }
  return out;
}

/// Percentiles of the accepted edges, of which there is one at least.
std::vector<double> percentiles(const Edges& edges, std::initializer_list<double> fractions, OpContext& ctx) {
  std::vector<PercentileQuery> queries;
  for (const double fraction : fractions) queries.push_back({0, fraction, 0});
  select_percentiles<1>(ctx, edges.all.size, edges.count, {edges.range}, queries,
                        [&](std::size_t i, std::array<double, 1>& values) {
                          values[0] = edges.all[i];
                          return edges.accepts(values[0]);
                        });
  std::vector<double> out;
  for (const PercentileQuery& query : queries) out.push_back(query.value);
  return out;
}

using Histogram = std::array<std::uint64_t, kBins>;

Histogram log_histogram(const Edges& edges, double first, double width, OpContext& ctx) {
  std::vector<Histogram> parts(static_cast<std::size_t>(ctx.threads()), Histogram{});
  parallel_for_worker(ctx, edges.all.size, kGrain, [&](std::size_t begin, std::size_t end, int worker) {
    Histogram& histogram = parts[static_cast<std::size_t>(worker)];
    for (std::size_t i = begin; i < end; ++i) {
      if (!edges.accepts(edges.all[i])) continue;
      const double bin = (std::log(edges.all[i]) - first) / width;
      ++histogram[std::min(kBins - 1, static_cast<std::size_t>(std::max(bin, 0.0)))];
    }
  });
  Histogram sum{};
  for (const Histogram& part : parts)
    for (std::size_t b = 0; b < kBins; ++b) sum[b] += part[b];
  return sum;
}

struct Threshold {
  std::size_t bins;  ///< of the lower class
  double separability;
};

/// Otsu 1979, eq. 14 and 18: the class border with the largest variance between the classes.
Threshold otsu(const Histogram& histogram) {
  double count = 0, sum = 0, squares = 0;
  for (std::size_t b = 0; b < kBins; ++b) {
    const double n = static_cast<double>(histogram[b]), x = static_cast<double>(b);
    count += n;
    sum += n * x;
    squares += n * x * x;
  }
  const double mean = sum / count, total = squares / count - mean * mean;
  Threshold best{1, 0};
  double below = 0, below_sum = 0, most = -1;
  for (std::size_t b = 0; b + 1 < kBins; ++b) {
    below += static_cast<double>(histogram[b]);
    below_sum += static_cast<double>(histogram[b]) * static_cast<double>(b);
    if (below == 0 || below == count) continue;
    const double omega = below / count, mu = below_sum / count;
    const double between = (mean * omega - mu) * (mean * omega - mu) / (omega * (1 - omega));
    if (between > most) {
      most = between;
      best = {b + 1, total > 0 ? std::min(1.0, between / total) : 0};
    }
  }
  return best;
}

/// Whether edges of different kinds are in a part, by their percentiles 5 and 50.
bool is_mixed(const Edges& part, const std::vector<double>& percentile) {
  return part.count >= kLeastOfPart && percentile[1] > kMixedRatio * percentile[0];
}
bool is_mixed(Span<const double> part, OpContext& ctx) {
  const Edges edges =
      counted(part, {std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::max()}, ctx);
  return edges.count >= kLeastOfPart && is_mixed(edges, percentiles(edges, {0.05, 0.5}, ctx));
}

/// Median of the edges in a range; nothing without edges.
std::optional<double> median_of(Span<const double> all, const LaneRange& accepted, OpContext& ctx) {
  const Edges edges = counted(all, accepted, ctx);
  if (edges.count == 0) return std::nullopt;
  return percentiles(edges, {0.5}, ctx)[0];
}

}  // namespace

EdgeSplit split_edges(Span<const double> all, const std::vector<std::size_t>& firsts, OpContext& ctx) {
  require(!firsts.empty() && firsts.front() == 0 && firsts.back() == all.size &&
              std::is_sorted(firsts.begin(), firsts.end()),
          "the parts must cover the edges");
  EdgeSplit out{};
  constexpr double kLeast = std::numeric_limits<double>::denorm_min(),
                   kMost = std::numeric_limits<double>::max();
  Edges edges = counted(all, {kLeast, kMost}, ctx);
  if (edges.count < kLeastEdges) return out;
  const std::vector<double> percentile = percentiles(edges, {0.05, 0.5}, ctx);
  if (firsts.size() == 2) {
    out.mixed = is_mixed(edges, percentile);
  } else {
    for (std::size_t k = 0; k + 1 < firsts.size() && !out.mixed; ++k)
      out.mixed = is_mixed(all.subspan(firsts[k], firsts[k + 1] - firsts[k]), ctx);
  }
  const double shortest = edges.range.min;
  const Edges longer = counted(all, {std::max(kLeast, 0.01 * percentile[1]), kMost}, ctx);
  if (longer.count >= kLeastEdges) edges = longer;
  const double first = std::log(edges.range.min), width = (std::log(edges.range.max) - first) / kBins;
  if (!(width > 0)) {
    out.lmax_m = edges.range.max;
    return out;
  }
  const Threshold threshold = otsu(log_histogram(edges, first, width, ctx));
  const double border = std::exp(first + width * static_cast<double>(threshold.bins));
  const double lmax = std::clamp(border, std::max(shortest, edges.range.min), edges.range.max);
  out.lmax_m = lmax;
  out.separability = threshold.separability;
  const auto lower = median_of(all, {edges.range.min, lmax}, ctx);
  const auto upper = median_of(all, {std::nextafter(lmax, kMost), edges.range.max}, ctx);
  if (lower && upper) out.median_ratio = *upper / *lower;
  return out;
}

}  // namespace pc
