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
constexpr std::size_t kDraws = 1000;
constexpr double kResampling = 0.25;  // share of the bootstrap's weight: most segments are real

/// Volumes of the pieces of branches between forks.
std::vector<double> branch_segments(const std::vector<QsmCylinder>& cylinders) {
  const CylinderChildren children = cylinder_children(cylinders);
  std::vector<double> out;
  std::vector<std::size_t> segment(cylinders.size());
  for (std::size_t i = 0; i < cylinders.size(); ++i) {
    const QsmCylinder& c = cylinders[i];
    if (c.rank == 0) continue;
    const auto parent = static_cast<std::size_t>(c.parent_id);
    const bool continues = c.parent_id >= 0 && children.first[parent + 1] - children.first[parent] == 1 &&
                           cylinders[parent].rank == c.rank;
    if (!continues) out.push_back(0);
    segment[i] = continues ? segment[parent] : out.size() - 1;
    out[segment[i]] += kPi * c.radius * c.radius * c.length_m();
  }
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

/// Volume of the branches with their segments drawn again.
double resampled(const std::vector<double>& segments, std::uint64_t draw) {
  double volume = 0, weights = 0;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const double drawn = -std::log(std::max(random_unit(draw ^ 0x5eed, i), 0x1.0p-53));
    const double weight = 1 + kResampling * (drawn - 1);
    volume += weight * segments[i];
    weights += weight;
  }
  return weights > 0 ? volume * static_cast<double>(segments.size()) / weights : 0;
}

/// One draw: stem and branches, m3.
std::array<double, 2> draw_volumes(const std::vector<double>& segments, const VolumeErrors& errors,
                                   std::uint64_t draw) {
  const double a = normal(draw, 0), b = normal(draw, 1);
  const double sd = std::sqrt(errors.stem), both = sd > 0 ? errors.both / sd : 0;
  const double rest = std::sqrt(std::max(0.0, errors.branches - both * both));
  // exp(e - sd^2 / 2): the mean volume stays
  return {errors.stem_m3 * std::exp(sd * a - errors.stem / 2),
          resampled(segments, draw) * std::exp(both * a + rest * b - errors.branches / 2)};
}

}  // namespace

VolumeIntervals volume_intervals(const std::vector<QsmCylinder>& cylinders, const RadiusErrors& errors,
                                 OpContext& ctx) {
  if (cylinders.empty()) return {};
  const VolumeErrors of_volume = volume_errors(cylinders, errors);
  const std::vector<double> segments = branch_segments(cylinders);
  std::vector<double> stem(kDraws), branches(kDraws), total(kDraws);
  parallel_for(ctx, kDraws, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t d = begin; d < end; ++d) {
      const auto [s, b] = draw_volumes(segments, of_volume, d + 1);
      stem[d] = s;
      branches[d] = b;
      total[d] = s + b;
    }
  });
  return {interval_of(total), interval_of(stem), interval_of(branches)};
}

}  // namespace pc
