#include "ops/denoise/beam_steps.h"

#include <array>
#include <cmath>

#include "core/parallel.h"
#include "core/position_hash.h"
#include "ops/denoise/beam_neighborhood.h"
#include "ops/denoise/noise_class.h"

namespace pc::beams {

namespace {

constexpr std::size_t kSamples = 2000, kGrain = 16;  // points, leaves
constexpr std::size_t kMostScans = 256;
constexpr std::size_t kFewest = 30;     // samples of a scan
constexpr std::uint32_t kNearest = 32;  // of all scans: in up to ten that overlap, two of the own one
constexpr double kConflictSteps = 0.3;  // a raster has no two beams this close,
constexpr double kConflictDepth =
    10;  // steps: and a surface this deep between them would be seen at 2 degrees

/// Calls body(chunk, point, row) for about kSamples of the points, chosen by their coordinates. Chunks run side by side; points at one
/// place that fill a leaf are left out: each search would visit all of them. Returns what the chunks hold.
template <class Chunk, class Body>
std::vector<Chunk> sampled(const KdTree& tree, OpContext& ctx, const Body& body) {
  const KdTreeView view = tree.view();
  const std::uint64_t every = std::max<std::uint64_t>(1, tree.size() / kSamples);
  std::vector<Chunk> chunks((tree.leaves().size + kGrain - 1) / kGrain);
  parallel_for(ctx, tree.leaves().size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const kd_tree::Node& node = view.nodes[tree.leaves()[i]];
      if (node.min == node.max && node.end - node.begin > 1) continue;
      const kd_tree::Leaf leaf = view.leaf(node);
      for (std::uint32_t j = 0; j < leaf.count; ++j) {
        const Vec3d p = leaf.point(j);
        if (position_hash(p) % every == 0) body(chunks[begin / kGrain], p, leaf.row[j]);
      }
    }
  });
  return chunks;
}

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
  using Found = std::vector<BeamSteps::Scan>;
  ctx.begin_phase("Measuring the angle between beams", tree.leaves().size);
  Found found;
  const auto measure = [&](Found& chunk, const Vec3d& p, std::uint64_t row) {
    chunk.push_back({origins.of(row), step_at(p, row, tree.view(), origins)});
  };
  for (const Found& chunk : sampled<Found>(tree, ctx, measure))
    found.insert(found.end(), chunk.begin(), chunk.end());
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
  struct Counts {
    std::uint32_t known = 0, conflicts = 0;
  };
  ctx.begin_phase("Comparing the points with their beams", tree.leaves().size);
  const auto compare = [&](Counts& counts, const Vec3d& p, std::uint64_t row) {
    const Vec3d origin = origins.of(row);
    const Beam beam(p, origin, steps.of(origin));
    if (!beam.is_known() || labels[row] == kNoise) return;
    ++counts.known;
    const Neighborhood around(beam, row, kConflictSteps, tree.view(), origins);
    const auto contradicts = [&](const Beside& q) {
      return labels[q.row] != kNoise && std::abs(q.slope) * q.angle > kConflictDepth;
    };
    const auto others = around.points();
    const bool found = std::any_of(others.begin(), others.end(), contradicts);
    counts.conflicts += !around.is_complete() || found ? 1 : 0;
  };
  double known = 0, conflicts = 0;
  for (const Counts& counts : sampled<Counts>(tree, ctx, compare)) {
    known += counts.known;
    conflicts += counts.conflicts;
  }
  return known > 0 ? conflicts / known : 1;
}

}  // namespace pc::beams
