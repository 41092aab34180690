#include "ops/trees/segment_similarity.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/parallel.h"
#include "ops/trees/convex_polygon.h"
#include "ops/trees/cut_pursuit_split.h"
#include "ops/trees/point_set_gap.h"
#include "spatial/kd_tree.h"

namespace pc {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kMostRounds = 100;  ///< each merges at least one group
constexpr std::uint32_t kNone = 0xffffffff;

/// What the rounds need of a segment or a group.
struct Shape {
  ValueSum nodes;
  double low = kInfinity, high = -kInfinity;
  ConvexPolygon hull;
  double area = 0;
  ValueSum centroids;  ///< of the segments of a group

  double length() const { return high - low; }
};

struct Near {
  std::vector<std::uint32_t> of;  ///< nearest first
  double next = 0;                ///< distance to the nearest other one
};

std::vector<Shape> segment_shapes(Span<const Vec3d> node, Span<const std::uint32_t> segment,
                                  std::uint32_t count, OpContext& ctx) {
  std::vector<Shape> shapes(count);
  std::vector<std::vector<Vec2d>> plan(count);
  for (std::size_t i = 0; i < node.size; ++i) {
    Shape& shape = shapes[segment[i]];
    shape.nodes.add(node[i]);
    shape.low = std::min(shape.low, node[i].z);
    shape.high = std::max(shape.high, node[i].z);
    plan[segment[i]].push_back({node[i].x, node[i].y});
  }
  parallel_for(ctx, count, 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t s = begin; s < end; ++s) {
      shapes[s].hull = convex_hull({plan[s].data(), plan[s].size()});
      // A segment on a line still widens the hull of its group.
      if (shapes[s].hull.size() < 3) shapes[s].hull = std::move(plan[s]);
      plan[s] = {};
    }
  });
  return shapes;
}

class Merging {
 public:
  Merging(Span<const Vec3d> node, Span<const std::uint32_t> segment, std::vector<std::uint32_t> group,
          const SegmentSimilarityParams& params, OpContext& ctx)
      : params_(params), ctx_(ctx), group_(std::move(group)) {
    segments_ = segment_shapes(node, segment, static_cast<std::uint32_t>(group_.size()), ctx);
  }

  std::vector<std::uint32_t> run() {
    for (int round = 0; round < kMostRounds; ++round) {
      renumber();
      if (groups_.size() < 2 || !merge(round == 0)) break;
    }
    return group_;
  }

 private:
  /// Numbers the groups by their lowest segment and measures them.
  void renumber() {
    std::vector<std::uint32_t> number(segments_.size(), kNone);
    std::uint32_t count = 0;
    for (std::uint32_t& g : group_) {
      if (number[g] == kNone) number[g] = count++;
      g = number[g];
    }
    groups_.assign(count, {});
    std::vector<std::vector<Vec2d>> corners(count);
    for (std::size_t s = 0; s < segments_.size(); ++s) {
      Shape& shape = groups_[group_[s]];
      shape.nodes.count += segments_[s].nodes.count;
      shape.nodes.sum = shape.nodes.sum + segments_[s].nodes.sum;
      shape.low = std::min(shape.low, segments_[s].low);
      shape.high = std::max(shape.high, segments_[s].high);
      shape.centroids.add(segments_[s].nodes.mean());
      corners[group_[s]].insert(corners[group_[s]].end(), segments_[s].hull.begin(), segments_[s].hull.end());
    }
    parallel_for(ctx_, count, 1, [&](std::size_t g, std::size_t) {
      groups_[g].hull = convex_hull({corners[g].data(), corners[g].size()});
      groups_[g].area = groups_[g].hull.size() < 3 ? 0 : area_of(groups_[g].hull);
    });
  }

  Vec3d in_plan(std::uint32_t g) const {
    const Vec3d mean = groups_[g].nodes.mean();
    return {mean.x, mean.y, 0};
  }

  /// The nearest `members` of each of `wanted` in plan.
  std::vector<Near> nearest(const std::vector<std::uint32_t>& wanted,
                            const std::vector<std::uint32_t>& members) {
    std::vector<Vec3d> places;
    for (const std::uint32_t g : members) places.push_back(in_plan(g));
    const KdTree tree({places.data(), places.size()}, ctx_);
    std::vector<Near> out(wanted.size());
    parallel_for(ctx_, wanted.size(), 16, [&](std::size_t begin, std::size_t end) {
      const std::uint32_t k = std::max<std::uint32_t>(2, params_.neighbors);
      std::vector<double> squared(k);
      std::vector<std::uint64_t> row(k), slot(k);
      for (std::size_t i = begin; i < end; ++i) {
        const std::uint32_t found =
            tree.view().knn(in_plan(wanted[i]), k, kd_tree::kNoRow, squared.data(), row.data(), slot.data());
        out[i].next = found > 1 ? std::sqrt(squared[1]) : 0;
        for (std::uint32_t j = 0; j < std::min(found, params_.neighbors); ++j)
          out[i].of.push_back(members[row[j]]);
      }
    });
    return out;
  }

  /// 0 = a tree, 1 = hangs, 2 = hangs and is long.
  std::uint8_t hanging(std::uint32_t g, const std::vector<std::uint32_t>& neighbors) const {
    double lowest = kInfinity;
    std::vector<double> lengths;
    for (const std::uint32_t n : neighbors) {
      lowest = std::min(lowest, groups_[n].low);
      lengths.push_back(groups_[n].length());
    }
    if (!(groups_[g].low - lowest > params_.rel_height_length_ratio * groups_[g].length())) return 0;
    std::sort(lengths.begin(), lengths.end());
    const std::size_t half = lengths.size() / 2;
    const double median = lengths.size() % 2 == 1 ? lengths[half] : (lengths[half - 1] + lengths[half]) / 2;
    return groups_[g].length() > params_.init_stem_rel_length_thresh * median ? 2 : 1;
  }

  /// One round; returns whether a group was merged.
  bool merge(bool first) {
    std::vector<std::uint32_t> all(groups_.size());
    for (std::uint32_t g = 0; g < all.size(); ++g) all[g] = g;
    const std::vector<Near> near = nearest(all, all);
    double sigma = 0;
    for (const Near& n : near) sigma += n.next / static_cast<double>(near.size());
    std::vector<std::uint8_t> state(all.size());
    for (const std::uint32_t g : all) state[g] = hanging(g, near[g].of);
    const bool any_long = std::find(state.begin(), state.end(), 2) != state.end();
    std::vector<std::uint32_t> merged, trees;
    for (const std::uint32_t g : all) {
      if (state[g] == 0) trees.push_back(g);
      if (state[g] == 2 || (state[g] == 1 && !(first && any_long))) merged.push_back(g);
    }
    if (merged.empty()) return false;
    const std::vector<std::uint32_t> into = choose(merged, trees, sigma);
    bool any = false;
    for (std::uint32_t& g : group_) {
      any = any || into[g] != g;
      g = into[g];
    }
    return any;
  }

  /// The group that each group becomes part of; itself if none resembles it.
  std::vector<std::uint32_t> choose(const std::vector<std::uint32_t>& merged,
                                    const std::vector<std::uint32_t>& trees, double sigma) {
    BulkVector<Vec3d> centroid(segments_.size());
    for (std::size_t s = 0; s < centroid.size(); ++s) centroid[s] = segments_[s].nodes.mean();
    const PointSetGaps gaps(centroid.view(), {group_.data(), group_.size()},
                            static_cast<std::uint32_t>(groups_.size()), ctx_);
    const std::vector<Near> near = nearest(merged, trees);
    std::vector<std::uint32_t> into(groups_.size());
    for (std::uint32_t g = 0; g < into.size(); ++g) into[g] = g;
    parallel_for(ctx_, merged.size(), 1, [&](std::size_t i, std::size_t) {
      into[merged[i]] = most_similar(merged[i], near[i].of, gaps, sigma);
    });
    return into;
  }

  std::uint32_t most_similar(std::uint32_t g, const std::vector<std::uint32_t>& trees,
                             const PointSetGaps& gaps, double sigma) const {
    std::vector<double> score, gap;
    double best = 0;
    for (const std::uint32_t tree : trees) {
      ctx_.checkpoint();
      gap.push_back(std::sqrt(gaps.squared_gap(g, tree, kInfinity)));
      score.push_back(similarity(groups_[g], groups_[tree], gap.back(), sigma));
      best = std::max(best, score.back());
    }
    std::uint32_t chosen = g;
    double least = kInfinity;
    for (std::size_t i = 0; i < trees.size() && best > 0; ++i) {
      const bool candidate = score[i] == best || score[i] > params_.score_candidate_thresh * best;
      if (!candidate || !(gap[i] < least)) continue;
      least = gap[i];
      chosen = trees[i];
    }
    return chosen;
  }

  double similarity(const Shape& a, const Shape& b, double gap, double sigma) const {
    double shared = 0;
    if (a.area > 0 && b.area > 0)
      shared = std::min(1.0, area_of(intersection_of(a.hull, b.hull)) / std::min(a.area, b.area));
    const double up = b.high - a.low, down = a.high - b.low;
    const double overlap =
        std::max(up, down) > 0 ? std::max(0.0, std::min(up, down) / std::max(up, down)) : 0;
    const Vec3d p = a.centroids.mean(), q = b.centroids.mean();
    const double distance = std::min(gap, std::sqrt(squared_distance({p.x, p.y, 0}, {q.x, q.y, 0})));
    const double relative = sigma > 0 ? distance / sigma : (distance > 0 ? kInfinity : 0);
    return std::exp(-(1 - shared) * (1 - shared) - params_.vertical_weight * (1 - overlap) * (1 - overlap) -
                    relative * relative);
  }

  const SegmentSimilarityParams& params_;
  OpContext& ctx_;
  std::vector<std::uint32_t> group_;
  std::vector<Shape> segments_, groups_;
};

}  // namespace

std::vector<std::uint32_t> merge_similar(Span<const Vec3d> node, Span<const std::uint32_t> segment,
                                         std::vector<std::uint32_t> group,
                                         const SegmentSimilarityParams& params, OpContext& ctx) {
  ctx.begin_phase("Merging similar segments", 0);
  return Merging(node, segment, std::move(group), params, ctx).run();
}

}  // namespace pc
