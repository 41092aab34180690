#include "ops/denoise/beam_steps.h"

#include <array>
#include <cmath>
#include <numeric>

#include "core/parallel.h"
#include "ops/denoise/beam_neighborhood.h"
#include "ops/denoise/noise_class.h"

namespace pc::beams {

namespace {

constexpr std::size_t kSamples = 2000;
constexpr std::size_t kMostScans = 256;
constexpr std::size_t kFewest = 30;     // samples of a scan
constexpr std::uint32_t kNearest = 32;  // of all scans: in up to ten that overlap, two of the own one
constexpr double kConflictSteps = 0.3;  // a raster has no two beams this close,
constexpr double kConflictDepth =
    10;  // steps: and a surface this deep between them would be seen at 2 degrees

/// Points spread evenly over the leaves of a tree.
struct Samples {
  std::size_t leaves, per_leaf;

  explicit Samples(const KdTree& tree)
      : leaves(std::min(tree.leaves().size, kSamples)), per_leaf((kSamples + leaves - 1) / leaves) {}
  /// Calls body(sample, point, row) for the points of the i-th leaf.
  template <class Body>
  void of_leaf(std::size_t i, const KdTree& tree, const Body& body) const {
    const KdTreeView view = tree.view();
    const std::size_t at = i * tree.leaves().size / leaves;
    const kd_tree::Leaf leaf = view.leaf(view.nodes[tree.leaves()[at]]);
    for (std::size_t j = 0; j < per_leaf && j < leaf.count; ++j) {
      const auto point = static_cast<std::uint32_t>(j);
      body(i * per_leaf + j, leaf.point(point), leaf.row[j]);
    }
  }
  std::size_t size() const { return leaves * per_leaf; }
};

/// The angle to the second nearest point of the same scan at another position; 0 = unknown.
double step_at(const Vec3d& p, std::uint64_t row, const KdTreeView& tree, const BeamOrigins& origins) {
  const Beam beam(p, origins.of(row), 0);
  if (!beam.is_known()) return 0;
  std::array<double, kNearest> squared;
  std::array<std::uint64_t, kNearest> rows, slots;
  const std::uint32_t count = tree.knn(p, kNearest, row, squared.data(), rows.data(), slots.data());
  double first = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!(squared[i] > first) || !beam.same_scan(origins.of(rows[i]))) continue;
    if (first > 0) return std::sqrt(squared[i]) / beam.range;
    first = squared[i];
  }
  return 0;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

BeamSteps measure_steps(const KdTree& tree, const BeamOrigins& origins, OpContext& ctx) {
  const Samples samples(tree);
  std::vector<BeamSteps::Scan> found(samples.size(), {{0, 0, 0}, 0});
  ctx.begin_phase("Measuring the angle between beams", samples.leaves);
  parallel_for(ctx, samples.leaves, 8, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      samples.of_leaf(i, tree, [&](std::size_t at, const Vec3d& p, std::uint64_t row) {
        found[at] = {origins.of(row), step_at(p, row, tree.view(), origins)};
      });
  });
  found.erase(std::remove_if(found.begin(), found.end(), [](const auto& one) { return !(one.step > 0); }),
              found.end());
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return BeamSteps::is_before(a.origin, b.origin); });
  std::vector<double> all;
  std::vector<BeamSteps::Scan> scans;
  std::size_t origin_count = 0;
  for (std::size_t begin = 0, end = 0; begin < found.size(); begin = end) {
    std::vector<double> steps;
    ++origin_count;
    for (; end < found.size() && found[end].origin == found[begin].origin; ++end)
      steps.push_back(found[end].step);
    all.insert(all.end(), steps.begin(), steps.end());
    if (steps.size() >= kFewest) scans.push_back({found[begin].origin, median(std::move(steps))});
  }
  return {median(std::move(all)), std::move(scans), origin_count > kMostScans};
}

double inconsistent_share(const KdTree& tree, const BeamOrigins& origins, const BeamSteps& steps,
                          Span<const std::uint8_t> labels, OpContext& ctx) {
  const Samples samples(tree);
  std::vector<std::uint32_t> known(samples.leaves), conflicts(samples.leaves);
  ctx.begin_phase("Comparing the points with their beams", samples.leaves);
  parallel_for(ctx, samples.leaves, 8, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      samples.of_leaf(i, tree, [&](std::size_t, const Vec3d& p, std::uint64_t row) {
        const Vec3d origin = origins.of(row);
        const Beam beam(p, origin, steps.of(origin));
        if (!beam.is_known() || labels[row] == kNoise) return;
        ++known[i];
        const Neighborhood around(beam, row, kConflictSteps, tree.view(), origins);
        const auto contradicts = [&](const Beside& q) {
          return labels[q.row] != kNoise && std::abs(q.slope) * q.angle > kConflictDepth;
        };
        const auto others = around.points();
        const bool found = std::any_of(others.begin(), others.end(), contradicts);
        conflicts[i] += !around.is_complete() || found ? 1 : 0;
      });
  });
  const auto sum = [](const std::vector<std::uint32_t>& counts) {
    return std::accumulate(counts.begin(), counts.end(), 0.0);
  };
  return sum(known) > 0 ? sum(conflicts) / sum(known) : 1;
}

}  // namespace pc::beams
