#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "ops/denoise/cluster_outlier.h"
#include "support/denoise_oracles.h"

namespace pc::test {

/// The criterion of ops/denoise/cluster_outlier.h, slow and obvious: all pairs, whole clusters.
inline Labels cluster_oracle(Span<const Vec3d> xyz, const ClusterOutlierParams& params) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < xyz.size; ++i)
    if (is_finite(xyz[i])) rows.push_back(i);
  const std::size_t n = rows.size();
  const auto squared = [&](std::size_t a, std::size_t b) {
    return squared_distance(xyz[rows[a]], xyz[rows[b]]);
  };
  std::vector<double> ball(n), second(n, HUGE_VAL), reach(n);
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double> others, elsewhere;
    for (std::size_t j = 0; j < n; ++j)
      if (j != i) others.push_back(squared(i, j));
    std::sort(others.begin(), others.end());
    others.resize(std::min<std::size_t>(others.size(), params.nb_neighbors));
    ball[i] = others.size() < params.nb_neighbors ? HUGE_VAL : others.back();
    for (const double d : others)
      if (d > 0 && std::isfinite(d)) elsewhere.push_back(d);
    if (!elsewhere.empty()) second[i] = elsewhere[std::min<std::size_t>(1, elsewhere.size() - 1)];
  }
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double> known, balls;
    for (std::size_t j = 0; j < n; ++j) {
      if (j == i || squared(i, j) > ball[i]) continue;
      if (second[j] != HUGE_VAL) known.push_back(second[j]);
      if (ball[j] > 0 && ball[j] != HUGE_VAL) balls.push_back(ball[j]);
    }
    std::sort(known.begin(), known.end());
    std::sort(balls.begin(), balls.end());
    const double least = params.min_link_m * params.min_link_m, most = params.max_link_m * params.max_link_m;
    const double factor = params.link_factor * params.link_factor;
    double longest = most;
    if (!known.empty()) longest = std::min(longest, factor * known[known.size() / 4]);
    if (!balls.empty())
      longest = std::min(longest, params.ball_factor * params.ball_factor * balls[balls.size() / 4]);
    reach[i] = std::max(least, longest);
  }
  const auto clusters = [&] {
    std::vector<std::vector<std::size_t>> all;
    std::vector<bool> seen(n, false);
    for (std::size_t start = 0; start < n; ++start) {
      if (seen[start]) continue;
      std::vector<std::size_t> cluster{start};
      seen[start] = true;
      for (std::size_t at = 0; at < cluster.size(); ++at)
        for (std::size_t j = 0; j < n; ++j)
          if (!seen[j] && squared(cluster[at], j) <= std::min(reach[cluster[at]], reach[j])) {
            seen[j] = true;
            cluster.push_back(j);
          }
      all.push_back(cluster);
    }
    return all;
  };
  Labels labels(xyz.size, kNoise);
  std::vector<bool> large(n, false);
  for (const auto& cluster : clusters())
    for (const std::size_t member : cluster) large[member] = cluster.size() >= params.cluster_points;
  std::vector<double> bounded = reach;
  for (std::size_t i = 0; i < n; ++i) {
    double nearest = HUGE_VAL, its = HUGE_VAL;
    for (std::size_t j = 0; j < n; ++j) {
      if (large[i] || !large[j]) continue;
      if (squared(i, j) < nearest || (squared(i, j) == nearest && reach[j] < its)) its = reach[j];
      nearest = std::min(nearest, squared(i, j));
    }
    bounded[i] = std::min(reach[i], its);
  }
  reach = bounded;
  for (const auto& cluster : clusters()) {
    double extent = 0, closest = HUGE_VAL, gap = HUGE_VAL;
    std::size_t company = n;
    for (std::size_t j = 0; j < n; ++j) {
      const bool inside = std::find(cluster.begin(), cluster.end(), j) != cluster.end();
      for (const std::size_t member : cluster) {
        const double length = squared(member, j);
        if (inside) extent = std::max(extent, length);
        if (inside && length > 0) closest = std::min(closest, length);
        if (!inside && (length < gap || (length == gap && company == n))) {
          gap = length;
          company = j;
        }
      }
    }
    const bool has_company = extent > 0 && company < n &&
                             gap <= params.gap_factor * params.gap_factor * extent &&
                             closest <= reach[company];
    if (large[cluster.front()] || has_company)
      for (const std::size_t member : cluster) labels[rows[member]] = kClean;
  }
  return labels;
}

}  // namespace pc::test
