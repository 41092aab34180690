#include "ops/denoise/mixed_pixel.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/error.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "ops/denoise/beam_neighborhood.h"
#include "ops/denoise/beam_steps.h"
#include "ops/denoise/noise_class.h"

namespace pc {

namespace {

using beams::Beam;
using beams::BeamSteps;
using beams::Beside;
using beams::Neighborhood;
using kd_tree::Leaf;
using kd_tree::Node;

constexpr std::size_t kGrain = 2;  // leaves
constexpr double kLineCosine =
    0.9;                          // of the angle between the directions to two points on a line: 26 degrees
constexpr double kLineGap = 0.7;  // steps between them: neighbouring beams, also on a diagonal

class Finder {
 public:
  Finder(const KdTreeView& tree, const BeamOrigins& origins, const BeamSteps& steps,
         const MixedPixelParams& params)
      : tree_(tree), origins_(origins), steps_(steps), params_(params) {}

  Beam beam(const Vec3d& p, std::uint64_t row) const {
    const Vec3d origin = origins_.of(row);
    return {p, origin, steps_.of(origin)};
  }

  /// Points that are not judged.
  struct Left {
    std::uint64_t unknown = 0, coarse = 0;
  };
  /// A bit for each point of a leaf that no other point supports.
  std::uint32_t unsupported(const Node& node, Left& left) const {
    const Leaf leaf = tree_.leaf(node);
    std::uint32_t alone = 0;
    for (std::uint32_t i = 0; i < leaf.count; ++i) {
      const Beam own = beam(leaf.point(i), leaf.row[i]);
      if (!own.is_known()) {
        ++left.unknown;
        continue;
      }
      if (own.range * own.step > params_.max_spacing_m) {
        ++left.coarse;
        continue;
      }
      const beams::Window window = own.window(params_.support_steps, params_.support_slope);
      if (!window.holds_any(leaf) && beams::count_in(window, tree_, 1) == 0) alone |= 1U << i;
    }
    return alone;
  }

  bool is_mixed(const Vec3d& p, std::uint64_t row) const {
    const Beam own = beam(p, row);
    const double widest = std::max(params_.edge_steps, params_.line_steps);
    const Neighborhood around(own, row, widest, tree_, origins_);
    if (!around.is_complete() || around.has_echo(params_.support_slope)) return false;
    const double before = edge_depth(around, own, true);
    if (before == 0) return false;
    const double behind = edge_depth(around, own, false);
    return behind > 0 && before + behind >= params_.edge_depth_m && !on_line(around);
  }

 private:
  /// How far the nearest surface in front or the farthest one behind is from the point, metres; 0 = there is none.
  double edge_depth(const Neighborhood& around, const Beam& own, bool nearer) const {
    double greatest = 0;
    for (const Beside& q : around.points()) {
      if (q.angle > params_.edge_steps) break;  // ordered by angle
      const double slope = nearer ? -q.slope : q.slope;
      const double depth = slope * q.angle * own.step * own.range;
      if (slope > params_.support_slope && depth > greatest && is_surface(q)) greatest = depth;
    }
    return greatest;
  }
  bool is_surface(const Beside& q) const {
    if (params_.edge_support == 0) return true;
    const Beam own = beam(q.p, q.row);
    const auto window = own.window(params_.support_steps, params_.support_slope);
    return beams::count_in(window, tree_, params_.edge_support) >= params_.edge_support;
  }
  bool on_line(const Neighborhood& around) const {
    const auto& points = around.points();
    for (const Beside& first : points) {
      if (first.angle > params_.edge_steps) return false;
      if (std::abs(first.slope) > params_.line_slope) continue;
      for (const Beside& second : points)
        if (&first != &second && are_on_line(first, second)) return true;
    }
    return false;
  }
  /// True for points on a line with the one between them or before both.
  bool are_on_line(const Beside& first, const Beside& second) const {
    if (second.angle > params_.line_steps || std::abs(second.slope) > params_.line_slope) return false;
    const double cosine = (first.x * second.x + first.y * second.y) / (first.angle * second.angle);
    if (cosine < -kLineCosine) {
      const double steeper = std::max(std::abs(first.slope), std::abs(second.slope));
      return second.angle <= params_.edge_steps &&
             std::abs(first.slope + second.slope) <= params_.line_tolerance * steeper;
    }
    // A step behind `first` instead of a line would give the slope first.slope * first.angle / second.angle.
    const double apart = second.angle - first.angle;
    return cosine > kLineCosine && apart > kLineGap &&
           std::abs(first.slope - second.slope) * second.angle <=
               params_.line_tolerance * std::abs(first.slope) * apart;
  }

  const KdTreeView& tree_;
  const BeamOrigins& origins_;
  const BeamSteps& steps_;
  const MixedPixelParams& params_;
};

void check(const MixedPixelParams& params) {
  const auto angle = [](double steps, const char* what) { require(steps > 0 && steps <= kMostSteps, what); };
  require(std::isfinite(params.max_spacing_m) && params.max_spacing_m > 0,
          "max_spacing_m must be finite and above 0");
  angle(params.support_steps, "support_steps must be above 0 and at most 4");
  angle(params.edge_steps, "edge_steps must be above 0 and at most 4");
  angle(params.line_steps, "line_steps must be above 0 and at most 4");
  require(std::isfinite(params.support_slope) && params.support_slope > 0,
          "support_slope must be finite and above 0");
  require(std::isfinite(params.edge_depth_m) && params.edge_depth_m >= 0,
          "edge_depth_m must be finite and at least 0");
  require(params.edge_support <= 16, "edge_support must be at most 16");
  require(std::isfinite(params.line_slope) && params.line_slope >= 0,
          "line_slope must be finite and at least 0");
  require(std::isfinite(params.line_tolerance) && params.line_tolerance >= 0,
          "line_tolerance must be finite and at least 0");
  require(params.inconsistent_share >= 0 && params.inconsistent_share <= 1,
          "inconsistent_share must be 0 to 1");
}

}  // namespace

MixedPixelResult label_mixed_pixels(const KdTree& tree, const BeamOrigins& origins,
                                    const MixedPixelParams& params, Span<std::uint8_t> labels,
                                    OpContext& ctx) {
  check(params);
  MixedPixelResult result;
  if (tree.size() == 0) return result;
  const KdTreeView view = tree.view();
  const BeamSteps steps = beams::measure_steps(tree, origins, ctx);
  result.step_rad = steps.median();
  if (!(result.step_rad > 0)) return result;
  result.moving = steps.moving();
  if (result.moving) return result;
  result.inconsistent_share = beams::inconsistent_share(tree, origins, steps, labels, ctx);
  result.consistent = result.inconsistent_share <= params.inconsistent_share;
  if (!result.consistent) return result;
  const Finder finder(view, origins, steps, params);
  const Span<const std::uint32_t> leaves = tree.leaves();
  BulkVector<std::uint32_t> alone(leaves.size);
  std::vector<Finder::Left> left(static_cast<std::size_t>(ctx.threads()));
  std::vector<std::uint64_t> found(left.size());
  ctx.begin_phase("Looking for surfaces across the beams", leaves.size);
  parallel_for_worker(ctx, leaves.size, kGrain, [&](std::size_t begin, std::size_t end, int worker) {
    for (std::size_t i = begin; i < end; ++i)
      alone[i] = finder.unsupported(view.nodes[leaves[i]], left[static_cast<std::size_t>(worker)]);
  });
  ctx.begin_phase("Looking along the beams", leaves.size);
  parallel_for_worker(ctx, leaves.size, kGrain, [&](std::size_t begin, std::size_t end, int worker) {
    for (std::size_t i = begin; i < end; ++i) {
      if (alone[i] == 0) continue;
      const Leaf leaf = view.leaf(view.nodes[leaves[i]]);
      for (std::uint32_t j = 0; j < leaf.count; ++j) {
        std::uint8_t& label = labels[leaf.row[j]];
        if ((alone[i] >> j & 1) == 0 || label == kNoise || !finder.is_mixed(leaf.point(j), leaf.row[j]))
          continue;
        label = kNoise;
        ++found[static_cast<std::size_t>(worker)];
      }
    }
  });
  for (const Finder::Left& some : left) {
    result.unknown_count += some.unknown;
    result.coarse_count += some.coarse;
  }
  result.labelled_count = std::accumulate(found.begin(), found.end(), std::uint64_t{0});
  return result;
}

}  // namespace pc
