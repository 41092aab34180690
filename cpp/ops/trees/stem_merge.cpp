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

/// Where the axis of a stem is at the ground.
Vec3d foot_of(const DetectedStem& stem) {
  constexpr double kLeastRise = 0.1;  // flatter axes are no stems'
  const double down = (stem.position.z - stem.ground_z) / std::max(kLeastRise, stem.axis.z);
  return stem.position - stem.axis * down;
}

/// Whether two stems touch nowhere between the ground and breast height. Of a fork the axes meet.
bool stand_beside(const DetectedStem& a, const DetectedStem& b) {
  const Vec3d low = foot_of(a) - foot_of(b), high = a.position - b.position;
  const double x = high.x - low.x, y = high.y - low.y, squared = x * x + y * y;
  const double part = squared > 0 ? std::clamp(-(low.x * x + low.y * y) / squared, 0.0, 1.0) : 0;
  return std::hypot(low.x + part * x, low.y + part * y) > a.circle.radius + b.circle.radius;
}

}  // namespace

MergedStems merge_stems(std::vector<DetectedStem>& stems, bool keep_beside, const OpContext& ctx) {
  MergedStems out{0, 0};
  std::sort(stems.begin(), stems.end(), stronger);
  double largest = 0;
  for (const DetectedStem& stem : stems) largest = std::max(largest, stem.circle.radius);
  // Kept stems do not touch, so that a cell holds a limited number of them.
  const double cell = std::max(kLeastDistance, 2 * largest);
  const auto index = [&](double value) { return static_cast<std::int64_t>(std::floor(value / cell)); };
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::size_t>> kept_by_cell;
  std::vector<DetectedStem> kept;
  for (const DetectedStem& stem : stems) {
    ctx.checkpoint();
    const std::int64_t x = index(stem.position.x), y = index(stem.position.y);
    bool near = false, taken = false;  // by one that it touches
    for (std::int64_t dx = -1; dx <= 1 && !taken; ++dx) {
      for (std::int64_t dy = -1; dy <= 1 && !taken; ++dy) {
        const auto found = kept_by_cell.find({x + dx, y + dy});
        if (found == kept_by_cell.end()) continue;
        for (const std::size_t other : found->second) {
          const double least = std::max(kLeastDistance, stem.circle.radius + kept[other].circle.radius);
          if (!(level_distance(stem, kept[other]) < least)) continue;
          near = true;
          taken = taken || !stand_beside(stem, kept[other]);
        }
      }
    }
    if (near && !taken && !keep_beside) {
      ++out.beside;
      taken = true;
    }
    if (taken) continue;
    kept_by_cell[{x, y}].push_back(kept.size());
    kept.push_back(stem);
  }
  out.count = stems.size() - kept.size();
  stems = std::move(kept);
  return out;
}

}  // namespace pc
