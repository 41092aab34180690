#include "ops/wood/wood_segments.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/parallel.h"
#include "ops/qsm/cylinder_fit.h"

namespace pc {

namespace {

constexpr std::size_t kPoll = 65'536;
constexpr std::size_t kLeastPoints = 15;
constexpr double kLeastCover = 0.3;
constexpr double kMostMisfit = 0.5;  // mean distance, in radii
constexpr double kNearRadii = 0.5;
constexpr double kNearM = 0.01;
constexpr std::size_t kMostFitPoints =
    4000;  // of a segment: more do not change the fit, but the time to a cancel

struct Segment {
  std::uint32_t first, last;  ///< nodes, base to tip
  std::size_t begin, end;     ///< of its points
};

/// Segment of each node: it continues the one of its parent if it is the only child.
std::vector<std::uint32_t> segments_of(const std::vector<SkeletonNode>& nodes,
                                       std::vector<Segment>& segments) {
  std::vector<std::uint32_t> children(nodes.size(), 0), segment(nodes.size());
  for (const SkeletonNode& node : nodes) {
    if (node.parent != kNoSkeletonNode) ++children[node.parent];
  }
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    const std::uint32_t parent = nodes[i].parent;
    if (parent != kNoSkeletonNode && children[parent] == 1) {
      segment[i] = segment[parent];
      segments[segment[i]].last = i;
    } else {
      segment[i] = static_cast<std::uint32_t>(segments.size());
      segments.push_back({parent == kNoSkeletonNode ? i : parent, i, 0, 0});
    }
  }
  return segment;
}

/// Points by segment, each in their order.
BulkVector<std::uint32_t> points_by_segment(const GeodesicSkeleton& skeleton,
                                            const std::vector<std::uint32_t>& segment,
                                            std::vector<Segment>& segments, OpContext& ctx) {
  const auto& node_of = skeleton.node_of_point;
  std::vector<std::size_t> count(segments.size() + 1, 0);
  for (std::size_t i = 0; i < node_of.size(); ++i) {
    if (i % kPoll == 0) ctx.checkpoint();
    if (node_of[i] != kNoSkeletonNode) ++count[segment[node_of[i]] + 1];
  }
  for (std::size_t s = 0; s < segments.size(); ++s) {
    count[s + 1] += count[s];
    segments[s].begin = segments[s].end = count[s];
  }
  BulkVector<std::uint32_t> points(count.back());
  for (std::size_t i = 0; i < node_of.size(); ++i) {
    if (i % kPoll == 0) ctx.checkpoint();
    if (node_of[i] == kNoSkeletonNode) continue;
    points[segments[segment[node_of[i]]].end++] = static_cast<std::uint32_t>(i);
  }
  return points;
}

double distance_to_line(const Vec3d& p, const Vec3d& start, const Vec3d& axis) {
  const Vec3d d = p - start;
  const double along = dot(d, axis);
  return std::sqrt(std::max(0.0, dot(d, d) - along * along));
}

Vec3d unit(const Vec3d& v) {
  const double length = std::sqrt(dot(v, v));
  return length > 0 ? v * (1 / length) : Vec3d{0, 0, 1};
}

/// Fits one segment and marks its near points; true if it is a cylinder.
bool mark_segment(Span<const Vec3d> points, Span<const std::uint32_t> own, const Vec3d& start,
                  const Vec3d& end, Span<std::uint8_t> near) {
  const std::size_t step = (own.size + kMostFitPoints - 1) / kMostFitPoints;
  std::vector<Vec3d> sample;
  std::vector<double> radial;
  const Vec3d axis = unit(end - start);
  for (std::size_t i = 0; i < own.size; i += step) {
    sample.push_back(points[own[i]]);
    radial.push_back(distance_to_line(sample.back(), start, axis));
  }
  std::nth_element(radial.begin(), radial.begin() + static_cast<std::ptrdiff_t>(radial.size() / 2),
                   radial.end());
  const double radius = std::max(radial[radial.size() / 2], 0.002);
  const FittedCylinder fit = fit_cylinder({sample.data(), sample.size()}, {start, end, radius});
  if (fit.state != CylinderFitState::kFitted || !(fit.surf_cov >= kLeastCover) ||
      !(fit.mad_m <= kMostMisfit * fit.radius_m))
    return false;
  const Vec3d fitted = unit(fit.end - fit.start);
  const double reach = std::max(kNearRadii * fit.radius_m, kNearM);
  for (const std::uint32_t i : own)
    near[i] = std::abs(distance_to_line(points[i], fit.start, fitted) - fit.radius_m) <= reach ? 1 : 0;
  return true;
}

}  // namespace

SegmentCylinders segment_cylinders(Span<const Vec3d> points, const GeodesicSkeleton& skeleton,
                                   OpContext& ctx) {
  SegmentCylinders out{BulkVector<std::uint8_t>(points.size), 0, 0};
  std::vector<Segment> segments;
  const std::vector<std::uint32_t> segment = segments_of(skeleton.nodes, segments);
  const BulkVector<std::uint32_t> rows = points_by_segment(skeleton, segment, segments, ctx);
  std::vector<std::uint8_t> cylinder(segments.size(), 0);
  ctx.begin_phase("Fitting cylinders", segments.size());
  parallel_for(ctx, segments.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t s = begin; s < end; ++s) {
      const Segment& one = segments[s];
      if (one.end - one.begin < kLeastPoints) continue;
      const Vec3d start = skeleton.nodes[one.first].position, tip = skeleton.nodes[one.last].position;
      const auto own = rows.view().subspan(one.begin, one.end - one.begin);
      cylinder[s] = mark_segment(points, own, start, tip, out.near.view()) ? 1 : 0;
    }
  });
  for (std::size_t s = 0; s < segments.size(); ++s) {
    out.segment_count += segments[s].end - segments[s].begin >= kLeastPoints ? 1 : 0;
    out.cylinder_count += cylinder[s];
  }
  return out;
}

BulkVector<std::uint8_t> near_backbone(const GeodesicSkeleton& skeleton, std::size_t points, double support,
                                       OpContext& ctx) {
  const auto& nodes = skeleton.nodes;
  std::vector<double> carried(nodes.size());
  for (std::size_t i = nodes.size(); i-- > 0;) {  // children come after their parents
    carried[i] += static_cast<double>(nodes[i].count);
    if (nodes[i].parent != kNoSkeletonNode) carried[nodes[i].parent] += carried[i];
  }
  BulkVector<std::uint8_t> near(points);
  for (std::size_t i = 0; i < points; ++i) {
    if (i % kPoll == 0) ctx.checkpoint();
    const std::uint32_t node = skeleton.node_of_point[i];
    if (node == kNoSkeletonNode) continue;
    const std::uint32_t parent = nodes[node].parent;
    near[i] = carried[node] >= support || (parent != kNoSkeletonNode && carried[parent] >= support) ? 1 : 0;
  }
  return near;
}

}  // namespace pc
