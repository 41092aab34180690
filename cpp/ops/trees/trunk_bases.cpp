#include "ops/trees/trunk_bases.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pc {

namespace {

constexpr double kUnknown = std::numeric_limits<double>::infinity();

/// Height of the lowest start of each stem.
std::vector<double> begins_of(const PathNodes& nodes, std::size_t stems,
                              const std::vector<PathStart>& at_stems) {
  std::vector<double> begins(stems, kUnknown);
  for (const PathStart& start : at_stems) {
    const auto height = static_cast<double>(nodes.height[start.node]);
    if (height < begins[start.root]) begins[start.root] = height;
  }
  return begins;
}

/// How many of ascending heights follow each other from the lowest on, none by more than `gap` above the one before.
std::size_t joined(const std::vector<double>& heights, double gap) {
  std::size_t count = 1;
  while (count < heights.size() && heights[count] - heights[count - 1] <= gap) ++count;
  return count;
}

}  // namespace

double tell_limbs(const PathNodes& nodes, std::size_t stems, const PathConstants& constants,
                  std::vector<PathStart>& at_stems) {
  const std::vector<double> begins = begins_of(nodes, stems, at_stems);
  std::vector<double> known = begins;
  std::erase(known, kUnknown);
  std::sort(known.begin(), known.end());
  const std::size_t trunks = known.empty() ? 0 : joined(known, nodes.edge_m);
  if (trunks < kFewestTrunks || static_cast<double>(trunks) < kTrunkShare * static_cast<double>(known.size()))
    return constants.low_m;
  const double end_m = known[trunks - 1] + nodes.edge_m;
  const double cost = std::pow(constants.limb_cost_m, constants.exponent);
  for (PathStart& start : at_stems)
    if (begins[start.root] > end_m && begins[start.root] != kUnknown) start.cost = cost;
  return std::min(constants.low_m, end_m);
}

}  // namespace pc
