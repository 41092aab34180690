#include "ops/trees/scan_offsets.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "core/error.h"
#include "core/nth_smallest.h"
#include "core/parallel.h"
#include "core/polled_sort.h"
#include "ops/trees/circle_center.h"
#include "ops/trees/stem_frame.h"
#include "spatial/predicates.h"

namespace pc {

namespace {

constexpr double kHalfHeight = 0.25, kRoom = 0.3;  // metres: along the axis, beyond the circle
constexpr double kDeviation = 1.4826;              // of a normal distribution with a median distance of 1
constexpr std::size_t kFewestSectors = 8;
constexpr std::size_t kGrain = std::size_t{1} << 15;

/// A point near a circle, across its axis.
struct Near {
  std::uint32_t circle;
  double scan, u, v;
};

using Frame = std::array<Vec3d, 2>;

class Circles {
 public:
  explicit Circles(const std::vector<StemCircle>& circles) : circles_(circles) {
    for (std::uint32_t i = 0; i < circles.size(); ++i) {
      at_.emplace_back(circles[i].tree, i);
      frames_.push_back(stem_frame(circles[i].axis));
    }
    std::sort(at_.begin(), at_.end());
  }

  const Frame& frame(std::uint32_t circle) const { return frames_[circle]; }
  double radius(std::uint32_t circle) const { return circles_[circle].radius_m; }

  /// The point as one near the circle of its tree.
  std::optional<Near> near(double tree, double scan, const Vec3d& p) const {
    if (!(tree > 0 && tree < 0x1.0p53 && std::isfinite(scan))) return std::nullopt;
    const auto id = static_cast<std::uint64_t>(std::rint(tree));
    const auto found = std::lower_bound(at_.begin(), at_.end(), std::pair{id, std::uint32_t{0}});
    if (found == at_.end() || found->first != id) return std::nullopt;
    const StemCircle& circle = circles_[found->second];
    const Vec3d off = p - circle.center;
    if (!(std::abs(dot(off, circle.axis)) <= kHalfHeight)) return std::nullopt;
    const Frame& frame = frames_[found->second];
    const Near out{found->second, scan, dot(off, frame[0]), dot(off, frame[1])};
    if (!(std::hypot(out.u, out.v) <= circle.radius_m + kRoom)) return std::nullopt;
    return out;
  }

 private:
  const std::vector<StemCircle>& circles_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> at_;  // by tree
  std::vector<Frame> frames_;
};

/// Points near the circles, by circle, scan and place.
std::vector<Near> points_near(const TreeCloud& cloud, const AnyColumn& scan_index, const Circles& circles,
                              OpContext& ctx) {
  std::vector<std::vector<Near>> found(static_cast<std::size_t>(ctx.threads()));
  ctx.begin_phase("Comparing scans", cloud.positions.size);
  visit_scalar(*cloud.tree_instance, [&](auto trees) {
    visit_scalar(scan_index, [&](auto scans) {
      parallel_for_worker(
          ctx, cloud.positions.size, kGrain, [&](std::size_t begin, std::size_t end, int worker) {
            for (std::size_t i = begin; i < end; ++i) {
              if (!cloud.skip.empty() && cloud.skip[i] != 0) continue;
              const auto near = circles.near(static_cast<double>(trees[i]), static_cast<double>(scans[i]),
                                             cloud.positions[i] + cloud.shift);
              if (near) found[static_cast<std::size_t>(worker)].push_back(*near);
            }
          });
    });
  });
  std::vector<Near> all;
  for (const std::vector<Near>& part : found) all.insert(all.end(), part.begin(), part.end());
  polled_sort(
      all.begin(), all.end(),
      [](const Near& a, const Near& b) {
        return std::tuple{a.circle, a.scan, a.u, a.v} < std::tuple{b.circle, b.scan, b.u, b.v};
      },
      ctx);
  return all;
}

/// The centre of the circle of a radius through the points of a scan; nothing if they show too little of it.
std::optional<Vec2d> center_of(Span<const Near> points, double radius) {
  std::vector<Vec2d> flat;
  for (const Near& p : points) flat.push_back({p.u, p.v});
  const auto found = circle_center({flat.data(), flat.size()}, radius, {0, 0});
  if (!found || found->sectors < kFewestSectors) return std::nullopt;
  return found->center;
}

/// Offsets of the stems that two scans see.
struct Pairs {
  std::vector<double> x, y;
};

ScanOffset summed_up(double a, double b, Pairs& pairs) {
  ScanOffset out{
      a, b, static_cast<std::uint32_t>(pairs.x.size()), upper_median(pairs.x), upper_median(pairs.y), 0};
  const auto spread = [](std::vector<double>& values, double middle) {
    for (double& value : values) value = std::abs(value - middle);
    return kDeviation * upper_median(values);
  };
  out.spread_m = std::hypot(spread(pairs.x, out.x_m), spread(pairs.y, out.y_m));
  return out;
}

}  // namespace

std::vector<ScanOffset> scan_offsets(const TreeCloud& cloud, const AnyColumn& scan_index,
                                     const std::vector<StemCircle>& given, OpContext& ctx) {
  const std::size_t n = cloud.positions.size;
  require(cloud.tree_instance != nullptr && cloud.tree_instance->size() == n && scan_index.size() == n &&
              (cloud.skip.empty() || cloud.skip.size == n),
          "every column needs one value per point");
  const Circles circles(given);
  const std::vector<Near> near = points_near(cloud, scan_index, circles, ctx);
  std::set<double> scans;
  for (const Near& p : near)
    if (scans.size() <= kMostScans) scans.insert(p.scan);
  if (scans.size() < 2 || scans.size() > kMostScans) return {};
  std::map<std::pair<double, double>, Pairs> by_pair;
  for (std::size_t begin = 0; begin < near.size();) {
    ctx.checkpoint();
    const std::uint32_t circle = near[begin].circle;
    std::vector<std::pair<double, Vec2d>> centers;
    while (begin < near.size() && near[begin].circle == circle) {
      std::size_t end = begin;
      while (end < near.size() && near[end].circle == circle && near[end].scan == near[begin].scan) ++end;
      if (const auto at = center_of({near.data() + begin, end - begin}, circles.radius(circle)))
        centers.emplace_back(near[begin].scan, *at);
      begin = end;
    }
    const Frame& frame = circles.frame(circle);
    for (std::size_t a = 0; a < centers.size(); ++a)
      for (std::size_t b = a + 1; b < centers.size(); ++b) {
        const double u = centers[b].second.x - centers[a].second.x,
                     v = centers[b].second.y - centers[a].second.y;
        Pairs& pair = by_pair[{centers[a].first, centers[b].first}];
        pair.x.push_back(u * frame[0].x + v * frame[1].x);
        pair.y.push_back(u * frame[0].y + v * frame[1].y);
      }
  }
  std::vector<ScanOffset> out;
  for (auto& [scan, pairs] : by_pair)
    if (pairs.x.size() >= kFewestOffsetStems) out.push_back(summed_up(scan.first, scan.second, pairs));
  return out;
}

}  // namespace pc
