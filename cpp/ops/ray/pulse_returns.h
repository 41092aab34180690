#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/vec3.h"

namespace pc {

/// Organs of plants by the codes of the contract, and the largest one.
constexpr std::size_t kOrganCodes = 7;

/// What one ray of a pulse hit.
struct RayEcho {
  double range_m;
  std::uint32_t ray;
  float energy;  ///< |cosine of incidence| times reflectance, 0..1
  Rgb16 color;
  std::uint8_t organ;
};

/// Rays of a pulse that its receiver does not tell apart.
struct PulseReturn {
  double range_m;      ///< mean of its rays, weighted by their energy
  double energy;       ///< share of the pulse's energy that comes back, 0..1
  double deviation_m;  ///< standard deviation of the ranges of its rays, with the same weights
  std::uint32_t ray_count;
  Rgb16 color;         ///< mean of its rays
  std::uint8_t organ;  ///< of most rays; the lowest code if several are equally frequent
};

enum class ReturnSelection : std::uint8_t { kStrongest, kFirst, kLast };

/// Makes returns of the echoes of a pulse.
struct ReturnRules {
  double merge_distance_m;    ///< echoes up to this far behind the first one of a return belong to it
  double detection_energy;    ///< weaker returns are not seen
  std::uint32_t ray_count;    ///< of the pulse
  std::uint32_t most;         ///< returns that are kept
  ReturnSelection selection;  ///< which are, if there are more
};

namespace pulse_returns {

/// Of echoes in any order; the first of them has the range `nearest_m`.
inline PulseReturn merged(const RayEcho* first, const RayEcho* last, double nearest_m,
                          std::uint32_t rays_of_pulse) {
  PulseReturn out{};
  double weights = 0, sum = 0, plain = 0, color[3] = {0, 0, 0};
  std::uint32_t organs[kOrganCodes] = {};
  for (const RayEcho* echo = first; echo != last; ++echo) {
    const double weight = static_cast<double>(echo->energy), behind = echo->range_m - nearest_m;
    weights += weight;
    sum += weight * behind;
    plain += behind;
    color[0] += echo->color.r;
    color[1] += echo->color.g;
    color[2] += echo->color.b;
    ++organs[std::min<std::size_t>(echo->organ, kOrganCodes - 1)];
  }
  const auto count = static_cast<double>(last - first);
  const bool weighted = weights > 0;  // a ray in the plane of its triangle has no energy
  const double mean = weighted ? sum / weights : plain / count;
  double squares = 0;
  for (const RayEcho* echo = first; echo != last; ++echo) {
    const double off = echo->range_m - nearest_m - mean;
    squares += (weighted ? static_cast<double>(echo->energy) : 1) * off * off;
  }
  out.range_m = nearest_m + mean;
  out.energy = weights / rays_of_pulse;
  out.deviation_m = std::sqrt(squares / (weighted ? weights : count));
  out.ray_count = static_cast<std::uint32_t>(last - first);
  const auto channel = [&](double value) { return static_cast<std::uint16_t>(value / count + 0.5); };
  out.color = {channel(color[0]), channel(color[1]), channel(color[2])};
  out.organ = static_cast<std::uint8_t>(std::max_element(organs, organs + kOrganCodes) - organs);
  return out;
}

/// Keeps `rules.most` returns.
inline void select(std::vector<PulseReturn>& returns, const ReturnRules& rules) {
  if (returns.size() <= rules.most) return;
  if (rules.selection == ReturnSelection::kLast) {
    returns.erase(returns.begin(), returns.end() - static_cast<std::ptrdiff_t>(rules.most));
  } else if (rules.selection == ReturnSelection::kFirst) {
    returns.resize(rules.most);
  } else {
    const auto nearer = [](const PulseReturn& a, const PulseReturn& b) { return a.range_m < b.range_m; };
    std::stable_sort(returns.begin(), returns.end(),
                     [](const PulseReturn& a, const PulseReturn& b) { return a.energy > b.energy; });
    returns.resize(rules.most);
    std::stable_sort(returns.begin(), returns.end(), nearer);
  }
}

}  // namespace pulse_returns

/// Returns of a pulse, by range. May sort `echoes`.
///
/// Cost     O(n log n) for n echoes.
/// Source   Contract lad.md 5.3; a group ends where an echo lies more than the distance behind the group's first one.
inline void pulse_returns_of(std::vector<RayEcho>& echoes, const ReturnRules& rules,
                             std::vector<PulseReturn>& returns) {
  returns.clear();
  if (echoes.empty()) return;
  const RayEcho *const begin = echoes.data(), *const end = begin + echoes.size();
  const auto add = [&](const RayEcho* first, const RayEcho* last, double nearest_m) {
    const PulseReturn found = pulse_returns::merged(first, last, nearest_m, rules.ray_count);
    if (found.energy >= rules.detection_energy) returns.push_back(found);
  };
  double nearest = begin->range_m, farthest = nearest;
  for (const RayEcho& echo : echoes) {
    nearest = echo.range_m < nearest ? echo.range_m : nearest;
    farthest = echo.range_m > farthest ? echo.range_m : farthest;
  }
  if (farthest - nearest <= rules.merge_distance_m) return add(begin, end, nearest);
  std::sort(echoes.begin(), echoes.end(), [](const RayEcho& a, const RayEcho& b) {
    return a.range_m != b.range_m ? a.range_m < b.range_m : a.ray < b.ray;
  });
  for (const RayEcho* first = begin; first != end;) {
    const RayEcho* last = first + 1;
    while (last != end && last->range_m - first->range_m <= rules.merge_distance_m) ++last;
    add(first, last, first->range_m);
    first = last;
  }
  pulse_returns::select(returns, rules);
}

}  // namespace pc
