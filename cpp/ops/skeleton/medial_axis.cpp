#include "ops/skeleton/medial_axis.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "core/parallel.h"
#include "ops/skeleton/level_set_skeleton.h"
#include "ops/trees/circle_fit.h"

namespace pc {

namespace {

constexpr std::size_t kMostPoints = 600;  ///< of a fit
constexpr std::size_t kFewPoints = 60;    ///< below, the neighbours' points join
constexpr std::size_t kLeastPoints = 12;  ///< of a fit
constexpr int kRefits = 4;                ///< to the points near the circle
constexpr double kNear = 3 * 1.4826;      ///< near: this many median deviations
constexpr double kMostMiss = 0.25;        ///< median deviation over the radius
constexpr int kSectors = 36;
constexpr int kLeastSectors = 9;  ///< with points near the circle
constexpr int kStraightenRounds = 8;
constexpr double kSharpCosine = 0.5;  ///< of the turn at a node: 60 degrees
constexpr double kMostWidth = 1.5;    ///< radius over half the width of the points

/// A direction and two across it.
struct Across {
  Vec3d along, u, v;
};

std::optional<Across> across(const Vec3d& from, const Vec3d& to) {
  const Vec3d step = to - from;
  const double length = std::sqrt(dot(step, step));
  if (!(length > 0)) return std::nullopt;
  const Vec3d along = step * (1 / length);
  const Vec3d side = std::fabs(along.z) < 0.9 ? Vec3d{0, 0, 1} : Vec3d{1, 0, 0};
  const Vec3d u = cross(along, side);
  const Vec3d unit = u * (1 / std::sqrt(dot(u, u)));
  return Across{along, unit, cross(along, unit)};
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::vector<double> deviations(const std::vector<Vec2d>& points, const PlainCircle& circle) {
  std::vector<double> out;
  out.reserve(points.size());
  for (const Vec2d& p : points)
    out.push_back(std::fabs(std::hypot(p.x - circle.center.x, p.y - circle.center.y) - circle.radius));
  return out;
}

/// The circle that most of the points lie on.
std::optional<PlainCircle> robust_circle(const std::vector<Vec2d>& points) {
  std::optional<PlainCircle> circle = taubin_circle({points.data(), points.size()});
  std::vector<Vec2d> near;
  for (int k = 0; circle && k < kRefits; ++k) {
    const std::vector<double> off = deviations(points, *circle);
    const double limit = kNear * median(off) + 1e-9;
    near.clear();
    for (std::size_t i = 0; i < points.size(); ++i)
      if (off[i] <= limit) near.push_back(points[i]);
    if (near.size() < kLeastPoints) return std::nullopt;
    circle = geometric_circle({near.data(), near.size()}, *circle);
  }
  return circle;
}

/// Whether the points show the circle. They are about their mean.
bool shown(const std::vector<Vec2d>& points, const PlainCircle& circle) {
  const double r = circle.radius;
  if (!(r > 0) || !std::isfinite(r) || std::hypot(circle.center.x, circle.center.y) > r) return false;
  const std::vector<double> off = deviations(points, circle);
  const double miss = median(off);
  if (miss > kMostMiss * r) return false;
  bool seen[kSectors] = {};
  std::vector<double> reach;
  for (std::size_t i = 0; i < points.size(); ++i) {
    reach.push_back(std::hypot(points[i].x, points[i].y));
    if (off[i] > kNear * miss + 1e-9) continue;
    const double turn = std::atan2(points[i].y - circle.center.y, points[i].x - circle.center.x);
    const int sector = static_cast<int>((turn / (2 * std::numbers::pi) + 0.5) * kSectors);
    seen[std::clamp(sector, 0, kSectors - 1)] = true;
  }
  const auto wide = reach.begin() + static_cast<std::ptrdiff_t>(reach.size() * 95 / 100);
  std::nth_element(reach.begin(), wide, reach.end());
  return std::count(seen, seen + kSectors, true) >= kLeastSectors && r <= kMostWidth * *wide;
}

/// The child with the most points, the first of several; kNoBlock = none.
std::uint32_t main_child(const SkeletonNodes& nodes, std::uint32_t node) {
  std::uint32_t best = kNoBlock;
  for (const std::uint32_t child : nodes.children[node])
    if (best == kNoBlock || nodes.members[child].size > nodes.members[best].size) best = child;
  return best;
}

class Fitter {
 public:
  Fitter(const BulkVector<Vec3d>& points, const SkeletonNodes& nodes) : points_(points), nodes_(nodes) {}

  /// The place of a node on the axis, or its centroid.
  Vec3d fit(std::uint32_t node, const std::vector<Vec3d>& place) {
    const std::uint32_t parent = nodes_.parent[node], child = main_child(nodes_, node);
    const Vec3d& from = parent == kNoBlock ? place[node] : place[parent];
    const Vec3d& to = child == kNoBlock ? place[node] : place[child];
    const std::optional<Across> frame = across(from, to);
    if (!frame) return nodes_.place[node];
    flat_.clear();
    const Vec3d& about = nodes_.place[node];
    add(node, about, *frame);
    if (flat_.size() < kFewPoints) {
      if (parent != kNoBlock) add(parent, about, *frame);
      if (child != kNoBlock) add(child, about, *frame);
    }
    if (flat_.size() < kLeastPoints) return about;
    Vec2d mean{0, 0};
    for (const Vec2d& p : flat_) mean = {mean.x + p.x, mean.y + p.y};
    mean = {mean.x / static_cast<double>(flat_.size()), mean.y / static_cast<double>(flat_.size())};
    for (Vec2d& p : flat_) p = {p.x - mean.x, p.y - mean.y};
    const std::optional<PlainCircle> circle = robust_circle(flat_);
    if (!circle || !shown(flat_, *circle)) return about;
    return about + frame->u * (mean.x + circle->center.x) + frame->v * (mean.y + circle->center.y);
  }

 private:
  void add(std::uint32_t node, const Vec3d& about, const Across& frame) {
    const Span<const std::uint32_t> members = nodes_.members[node];
    const std::size_t count = std::min(members.size, kMostPoints);
    for (std::size_t i = 0; i < count; ++i) {
      const Vec3d off = points_[members[i * members.size / count]] - about;
      flat_.push_back({dot(off, frame.u), dot(off, frame.v)});
    }
  }

  const BulkVector<Vec3d>& points_;
  const SkeletonNodes& nodes_;
  std::vector<Vec2d> flat_;
};

/// Nodes where the path from the parent to the main child turns sharply go to the middle of the two: sections through a
/// fork show two circles, and the fit takes either. Largest turns first settle: a node moves if no neighbour turns more.
void straighten(const SkeletonNodes& nodes, std::vector<Vec3d>& place) {
  std::vector<double> cosine(place.size(), 1);
  for (int round = 0; round < kStraightenRounds; ++round) {
    bool moved = false;
    const auto turn_at = [&](std::uint32_t i) {
      const std::uint32_t parent =
          nodes.parent[i];  // next to the root, a joined piece of the base is a true corner
      const bool near_root = parent == kNoBlock || nodes.parent[parent] == kNoBlock;
      const std::uint32_t child = near_root ? kNoBlock : main_child(nodes, i);
      if (child == kNoBlock) return 1.0;
      const Vec3d in = place[i] - place[nodes.parent[i]], out = place[child] - place[i];
      const double scale = std::sqrt(dot(in, in) * dot(out, out));
      return scale > 0 ? dot(in, out) / scale : 1.0;
    };
    for (std::uint32_t i = 0; i < place.size(); ++i) cosine[i] = turn_at(i);
    std::vector<Vec3d> next = place;
    for (std::uint32_t i = 0; i < place.size(); ++i) {
      if (cosine[i] >= kSharpCosine) continue;
      const std::uint32_t parent = nodes.parent[i], child = main_child(nodes, i);
      if (cosine[parent] < cosine[i] || cosine[child] < cosine[i]) continue;
      next[i] = (place[parent] + place[child]) * 0.5;
      moved = true;
    }
    place = std::move(next);
    if (!moved) return;
  }
}

}  // namespace

std::vector<Vec3d> medial_axis(const BulkVector<Vec3d>& points, const SkeletonNodes& nodes, OpContext& ctx) {
  std::vector<Vec3d> place = nodes.place;
  for (int round = 0; round < 2; ++round) {
    std::vector<Vec3d> moved(place.size());
    ctx.begin_phase("Fitting cylinders", place.size());
    parallel_for(ctx, place.size(), 64, [&](std::size_t begin, std::size_t end) {
      Fitter fitter(points, nodes);
      for (std::size_t i = begin; i < end; ++i) moved[i] = fitter.fit(static_cast<std::uint32_t>(i), place);
    });
    place = std::move(moved);
  }
  straighten(nodes, place);
  return place;
}

void reach_ends(const BulkVector<Vec3d>& points, const SkeletonNodes& nodes, std::vector<Vec3d>& place,
                OpContext& ctx) {
  ctx.begin_phase("Finding tips", place.size());
  const std::vector<Vec3d> before = place;
  parallel_for(ctx, place.size(), 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const bool leaf = nodes.children[i].empty(), root = nodes.parent[i] == kNoBlock;
      if (leaf == root) continue;
      const std::uint32_t from = leaf ? nodes.parent[i] : main_child(nodes, static_cast<std::uint32_t>(i));
      // The lowest points of a base often lie at one side of it: the axis there is that of the nodes above.
      const std::uint32_t beyond = leaf ? kNoBlock : main_child(nodes, from);
      const std::optional<Across> frame =
          beyond == kNoBlock ? across(before[from], before[i]) : across(before[beyond], before[from]);
      if (!frame) continue;
      const Vec3d& start = beyond == kNoBlock ? before[i] : before[from];
      double farthest = 0;
      for (std::size_t k = 0; k < nodes.members[i].size; ++k)
        farthest = std::max(farthest, dot(points[nodes.members[i][k]] - start, frame->along));
      place[i] = start + frame->along * farthest;
    }
  });
}

}  // namespace pc
