#include "ops/trees/convex_polygon.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace pc {

namespace {

constexpr double kPi = 3.14159265358979323846;

/// Calls visit(start, end) for every edge.
template <class Visit>
void for_each_edge(const ConvexPolygon& polygon, Visit&& visit) {
  for (std::size_t i = 0; i < polygon.size(); ++i) visit(polygon[i], polygon[(i + 1) % polygon.size()]);
}

/// Twice the area of the triangle a b p: positive left of the edge.
double side_of(const Vec2d& a, const Vec2d& b, const Vec2d& p) {
  return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x);
}

/// Adds `point` to a hull's chain, which turns left only.
void push_left(ConvexPolygon& chain, std::size_t least, const Vec2d& point) {
  while (chain.size() >= least + 2 && orient_2d(chain[chain.size() - 2], chain.back(), point) <= 0)
    chain.pop_back();
  chain.push_back(point);
}

}  // namespace

ConvexPolygon convex_hull(Span<const Vec2d> points) {
  std::vector<Vec2d> sorted;
  for (const Vec2d& p : points) {
    if (std::isfinite(p.x) && std::isfinite(p.y)) sorted.push_back(p);
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const Vec2d& a, const Vec2d& b) { return a.x < b.x || (a.x == b.x && a.y < b.y); });
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  if (sorted.size() < 3) return sorted;
  ConvexPolygon hull;
  for (const Vec2d& p : sorted) push_left(hull, 0, p);
  const std::size_t lower = hull.size() - 1;
  for (auto p = sorted.rbegin() + 1; p != sorted.rend(); ++p) push_left(hull, lower, *p);
  hull.pop_back();  // the first corner again
  return hull;
}

void GrowingHull::add(const Vec2d& point) {
  constexpr std::size_t kPending = 1 << 16;
  if (!std::isfinite(point.x) || !std::isfinite(point.y)) return;
  bool inside = inner_.size() >= 3;
  for (std::size_t i = 0; inside && i < inner_.size(); ++i)
    inside = orient_2d(inner_[i], inner_[(i + 1) % inner_.size()], point) >= 0;
  if (inside) return;
  pending_.push_back(point);
  if (pending_.size() >= std::max(kPending, hull_.size())) corners();
}

const ConvexPolygon& GrowingHull::corners() {
  constexpr std::size_t kInner = 8;
  if (pending_.empty()) return hull_;
  pending_.insert(pending_.end(), hull_.begin(), hull_.end());
  hull_ = convex_hull({pending_.data(), pending_.size()});
  inner_ = hull_.size() >= 3 ? with_fewer_corners(hull_, kInner) : ConvexPolygon{};
  pending_.clear();
  return hull_;
}

ConvexPolygon with_fewer_corners(const ConvexPolygon& polygon, std::size_t most) {
  if (polygon.size() <= most) return polygon;
  // The corner that is furthest in a direction moves forwards as the direction turns.
  std::vector<std::size_t> kept;
  std::size_t at = 0;
  for (std::size_t k = 0; k < most; ++k) {
    const double angle = 2 * kPi * static_cast<double>(k) / static_cast<double>(most);
    const Vec2d to{std::cos(angle), std::sin(angle)};
    const auto reach = [&](std::size_t i) {
      const Vec2d& p = polygon[i % polygon.size()];
      return (p.x - polygon[0].x) * to.x + (p.y - polygon[0].y) * to.y;
    };
    if (k == 0) {
      for (std::size_t i = 1; i < polygon.size(); ++i) at = reach(i) > reach(at) ? i : at;
    }
    for (std::size_t step = 0; step < polygon.size() && reach(at + 1) > reach(at); ++step) ++at;
    kept.push_back(at % polygon.size());
  }
  std::sort(kept.begin(), kept.end());
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  ConvexPolygon out;
  for (const std::size_t i : kept) out.push_back(polygon[i]);
  return out;
}

double area_of(const ConvexPolygon& polygon) {
  if (polygon.size() < 3) return 0;
  double twice = 0;
  for (std::size_t i = 1; i + 1 < polygon.size(); ++i)
    twice += side_of(polygon[0], polygon[i], polygon[i + 1]);
  return twice / 2;
}

ConvexPolygon intersection_of(const ConvexPolygon& a, const ConvexPolygon& b) {
  if (a.size() < 3 || b.size() < 3) return {};
  ConvexPolygon part = a;
  for_each_edge(b, [&](const Vec2d& start, const Vec2d& end) {
    ConvexPolygon kept;
    for_each_edge(part, [&](const Vec2d& p, const Vec2d& q) {
      const double at_p = side_of(start, end, p), at_q = side_of(start, end, q);
      if (at_p >= 0) kept.push_back(p);
      if ((at_p > 0 && at_q < 0) || (at_p < 0 && at_q > 0)) {
        const double t = at_p / (at_p - at_q);
        kept.push_back({p.x + t * (q.x - p.x), p.y + t * (q.y - p.y)});
      }
    });
    part = std::move(kept);
  });
  if (area_of(part) <= 0) return {};
  return part;
}

bool contains(const ConvexPolygon& polygon, const Vec2d& point) {
  bool inside = polygon.size() >= 3;
  for_each_edge(polygon,
                [&](const Vec2d& a, const Vec2d& b) { inside = inside && side_of(a, b, point) >= 0; });
  return inside;
}

double depth_of(const ConvexPolygon& polygon, const Vec2d& point) {
  double nearest = HUGE_VAL;
  bool inside = true;
  for_each_edge(polygon, [&](const Vec2d& a, const Vec2d& b) {
    const double ex = b.x - a.x, ey = b.y - a.y, px = point.x - a.x, py = point.y - a.y;
    const double t = std::clamp((px * ex + py * ey) / (ex * ex + ey * ey), 0.0, 1.0);
    const double dx = px - t * ex, dy = py - t * ey;
    nearest = std::min(nearest, std::sqrt(dx * dx + dy * dy));
    inside = inside && side_of(a, b, point) >= 0;
  });
  return inside ? nearest : -nearest;
}

std::pair<double, double> span_at(const ConvexPolygon& polygon, double y) {
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const Vec2d &a = polygon[i], &b = polygon[(i + 1) % polygon.size()];
    if ((a.y > y) == (b.y > y)) continue;
    const double x = a.x + (y - a.y) / (b.y - a.y) * (b.x - a.x);
    low = std::min(low, x);
    high = std::max(high, x);
  }
  return {low, high};
}

double arc_inside(const ConvexPolygon& polygon, const Vec2d& center, double radius) {
  if (polygon.size() < 3) return 0;
  // Each edge cuts off the arc around its outward normal; the polygon is what no edge cuts off.
  std::vector<std::pair<double, double>> cut;
  bool outside = false;
  for_each_edge(polygon, [&](const Vec2d& a, const Vec2d& b) {
    const double ex = b.x - a.x, ey = b.y - a.y;
    const double height = side_of(a, b, center) / std::sqrt(ex * ex + ey * ey);
    if (height >= radius) return;
    if (height <= -radius) {
      outside = true;
      return;
    }
    const double half = std::acos(height / radius);
    double first = std::atan2(-ex, ey) - half;  // the outward normal is (ey, -ex)
    first -= 2 * kPi * std::floor(first / (2 * kPi));
    const double last = first + 2 * half;
    cut.emplace_back(first, std::min(last, 2 * kPi));
    if (last > 2 * kPi) cut.emplace_back(0, last - 2 * kPi);
  });
  if (outside) return 0;
  std::sort(cut.begin(), cut.end());
  double lost = 0, reached = 0;
  for (const auto& [first, last] : cut) {
    if (last <= reached) continue;
    lost += last - std::max(first, reached);
    reached = last;
  }
  return std::max(0.0, 1 - lost / (2 * kPi));
}

}  // namespace pc
