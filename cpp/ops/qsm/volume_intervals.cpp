#include "ops/qsm/volume_intervals.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "core/parallel.h"
#include "core/random.h"
#include "ops/qsm/shoot_tree.h"

namespace pc {

namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr std::size_t kDraws = 400;
constexpr double kUnknownError = 0.5;  // relative, of a radius that was not fitted
constexpr double kMostError = 1.0;
constexpr double kResampling = 0.25;  // share of the bootstrap's weight: most segments are real

/// Pieces of one axis between forks.
struct Segment {
  double volume = 0;
  double error = 0;  ///< relative standard error of the radius, weighted by volume
  bool stem = false;
};

std::vector<Segment> segments_of(const std::vector<QsmCylinder>& cylinders) {
  const CylinderChildren children = cylinder_children(cylinders);
  std::vector<Segment> out;
  std::vector<std::size_t> segment(cylinders.size());
  for (std::size_t i = 0; i < cylinders.size(); ++i) {
    const QsmCylinder& c = cylinders[i];
    const auto parent = static_cast<std::size_t>(c.parent_id);
    const bool continues = c.parent_id >= 0 && children.first[parent + 1] - children.first[parent] == 1 &&
                           cylinders[parent].rank == c.rank;
    if (!continues) out.push_back({0, 0, c.rank == 0});
    segment[i] = continues ? segment[parent] : out.size() - 1;
    Segment& own = out[segment[i]];
    const double volume = kPi * c.radius * c.radius * c.length_m();
    const double error =
        std::isfinite(c.radius_se) ? std::min(kMostError, c.radius_se / c.radius) : kUnknownError;
    own.volume += volume;
    own.error += volume * error;
  }
  for (Segment& s : out) s.error = s.volume > 0 ? s.error / s.volume : 0;
  return out;
}

double normal(std::uint64_t seed, std::uint64_t counter) {
  const double u = std::max(random_unit(seed, 2 * counter), 0x1.0p-53),
               v = random_unit(seed, 2 * counter + 1);
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * kPi * v);
}

VolumeInterval interval_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    return values[static_cast<std::size_t>(std::lround(share * static_cast<double>(values.size() - 1)))];
  };
  return {at(0.025), at(0.975)};
}

/// One draw: stem and branches, m3.
std::array<double, 2> draw_volumes(const std::vector<Segment>& segments, const CommonErrors& common,
                                   std::uint64_t draw) {
  const double shared = common.all * normal(draw, 0);
  const double of_branches = common.branches * normal(draw ^ 0xb0a7, 0);
  double stem = 0, branches = 0, weights = 0;
  std::size_t branch_count = 0;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const Segment& s = segments[i];
    // exp(2 e - 2 sd^2): the mean volume stays
    const double law = s.stem ? 0 : common.branches;
    const double variance = s.error * s.error + common.all * common.all + law * law;
    const double error = s.error * normal(draw, 2 * i + 1) + shared + (s.stem ? 0 : of_branches);
    const double volume = s.volume * std::exp(2 * error - 2 * variance);
    if (s.stem) {
      stem += volume;
      continue;
    }
    const double drawn = -std::log(std::max(random_unit(draw ^ 0x5eed, 2 * i + 1), 0x1.0p-53));
    const double weight = 1 + kResampling * (drawn - 1);
    branches += weight * volume;
    weights += weight;
    ++branch_count;
  }
  return {stem, weights > 0 ? branches * static_cast<double>(branch_count) / weights : 0};
}

}  // namespace

VolumeIntervals volume_intervals(const std::vector<QsmCylinder>& cylinders, const CommonErrors& common,
                                 OpContext& ctx) {
  if (cylinders.empty()) return {};
  const std::vector<Segment> segments = segments_of(cylinders);
  std::vector<double> stem(kDraws), branches(kDraws), total(kDraws);
  parallel_for(ctx, kDraws, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t d = begin; d < end; ++d) {
      const auto [s, b] = draw_volumes(segments, common, d + 1);
      stem[d] = s;
      branches[d] = b;
      total[d] = s + b;
    }
  });
  return {interval_of(total), interval_of(stem), interval_of(branches)};
}

}  // namespace pc
