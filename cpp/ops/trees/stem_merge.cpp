#include "ops/trees/stem_merge.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

namespace pc {

namespace {

constexpr double kLeastDistance = 0.30;

bool stronger(const DetectedStem& a, const DetectedStem& b) {
  if (a.circle.inlier_count != b.circle.inlier_count) return a.circle.inlier_count > b.circle.inlier_count;
  return std::tie(a.position.y, a.position.x, a.position.z, a.circle.radius) <
         std::tie(b.position.y, b.position.x, b.position.z, b.circle.radius);
}

double level_distance(const DetectedStem& a, const DetectedStem& b) {
  const double x = a.position.x - b.position.x, y = a.position.y - b.position.y;
  return std::sqrt(x * x + y * y);
}

}  // namespace

std::uint64_t merge_stems(std::vector<DetectedStem>& stems, const OpContext& ctx) {
  std::sort(stems.begin(), stems.end(), stronger);
  double largest = 0;
  for (const DetectedStem& stem : stems) largest = std::max(largest, stem.circle.radius);
  // Kept stems are at least 0.3 m apart, so that a cell holds a limited number of them.
  const double cell = std::max(kLeastDistance, 2 * largest);
  const auto index = [&](double value) { return static_cast<std::int64_t>(std::floor(value / cell)); };
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::size_t>> kept_by_cell;
  std::vector<DetectedStem> kept;
  for (const DetectedStem& stem : stems) {
    ctx.checkpoint();
    const std::int64_t x = index(stem.position.x), y = index(stem.position.y);
    bool taken = false;
    for (std::int64_t dx = -1; dx <= 1 && !taken; ++dx) {
      for (std::int64_t dy = -1; dy <= 1 && !taken; ++dy) {
        const auto found = kept_by_cell.find({x + dx, y + dy});
        if (found == kept_by_cell.end()) continue;
        taken = std::any_of(found->second.begin(), found->second.end(), [&](std::size_t other) {
          const double least = std::max(kLeastDistance, stem.circle.radius + kept[other].circle.radius);
          return level_distance(stem, kept[other]) < least;
        });
      }
    }
    if (taken) continue;
    kept_by_cell[{x, y}].push_back(kept.size());
    kept.push_back(stem);
  }
  const std::uint64_t removed = stems.size() - kept.size();
  stems = std::move(kept);
  return removed;
}

}  // namespace pc
