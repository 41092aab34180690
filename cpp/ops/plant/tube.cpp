#include "ops/plant/tube.h"

#include <algorithm>

namespace pc {
namespace {

/// Cosine of the sharpest bend inside a piece, and the tangent of half that angle.
constexpr double kLeastBendCosine = -0.17364817766693033;  // 100 degrees
constexpr double kLargestHalfTangent = 1.19175359259421;
/// Least part of a segment's length that must be left between two slanted rings.
constexpr double kLeastLeft = 0.02;

double norm(const Vec3d& v) { return std::sqrt(dot(v, v)); }

/// The points of one piece while it grows; `reach` = how far the slanted ring at a point goes along the tube.
class Piece {
 public:
  explicit Piece(std::vector<TubePoint>& points, std::vector<double>& reach)
      : points_(points), reach_(reach) {}

  void start(const TubePoint& point) {
    points_.assign(1, point);
    reach_.assign(1, 0);
  }
  /// False when the piece has to end at its last point and a new one begin there.
  bool add(const TubePoint& point) {
    while (points_.size() > 1) {
      const TubePoint &before = points_[points_.size() - 2], &last = points_.back();
      const Vec3d in = last.point - before.point, out = point.point - last.point;
      const double in_length = norm(in), out_length = norm(out);
      const double cosine = out_length > 0 ? dot(in, out) / (in_length * out_length) : -1;
      const bool is_sharp = cosine < kLeastBendCosine;
      const double half_tangent =
          is_sharp ? kLargestHalfTangent : std::sqrt(std::max(0.0, (1 - cosine) / (1 + cosine)));
      const double reach = last.radius * half_tangent * kCornerSlack;
      const bool fits = out_length > kLeastTube_m &&
                        in_length * (1 - kLeastLeft) > reach + reach_[points_.size() - 2] &&
                        out_length * (1 - kLeastLeft) > reach;
      if (fits) {
        if (is_sharp) return false;
        reach_.back() = reach;
        break;
      }
      points_.pop_back();
      reach_.pop_back();
    }
    if (norm(point.point - points_.back().point) <= kLeastTube_m) return true;
    points_.push_back(point);
    reach_.push_back(0);
    return true;
  }

 private:
  static constexpr double kCornerSlack = 1.3;  // corners of a triangle tube lie outside the circle
  std::vector<TubePoint>& points_;
  std::vector<double>& reach_;
};

Vec3d unit(const Vec3d& v) { return v * (1 / norm(v)); }

/// The part of `v` across the unit vector `tangent` as a unit vector, or any direction across.
Vec3d across(const Vec3d& v, const Vec3d& tangent) {
  const Vec3d flat = v - tangent * dot(v, tangent);
  if (norm(flat) > 1e-6 * norm(v)) return unit(flat);
  const Vec3d other = std::abs(tangent.x) < 0.6 ? Vec3d{1, 0, 0} : Vec3d{0, 1, 0};
  return unit(other - tangent * dot(other, tangent));
}

/// Adds the rings of a piece; returns the direction of side 0 at its end.
Vec3d close_piece(const std::vector<TubePoint>& points, Vec3d first, TubeRings& tubes) {
  if (points.size() < 2) return first;
  Vec3d tangent = unit(points[1].point - points[0].point);
  first = across(first, tangent);
  tubes.rings.push_back({points[0].point, points[0].radius, tangent, tangent, first});
  for (std::size_t i = 1; i < points.size(); ++i) {
    const bool is_last = i + 1 == points.size();
    const Vec3d next = is_last ? tangent : unit(points[i + 1].point - points[i].point);
    tubes.rings.push_back({points[i].point, points[i].radius, tangent, tangent + next, first});
    const Vec3d plane =
        unit(tangent + next);  // of a vector across, its reflection here is the rotation by the bend
    first = across(first - plane * (2 * dot(first, plane)), next);
    tangent = next;
  }
  tubes.piece_ends.push_back(tubes.rings.size());
  return first;
}

}  // namespace

void add_tube(Span<const TubePoint> line, const Vec3d& normal, TubeRings& tubes) {
  std::vector<TubePoint> points;
  std::vector<double> reach;
  points.reserve(line.size), reach.reserve(line.size);
  Piece piece(points, reach);
  Vec3d first = normal;
  bool is_open = false;
  const auto close = [&] {
    if (is_open) first = close_piece(points, first, tubes);
    is_open = false;
  };
  for (const TubePoint& point : line) {
    if (!(point.radius >= kLeastTube_m)) {  // NaN too
      close();
      continue;
    }
    if (is_open && !piece.add(point)) {
      const TubePoint corner = points.back();
      close();
      piece.start(corner);
      is_open = true;
      piece.add(point);
    } else if (!is_open) {
      piece.start(point);
      is_open = true;
    }
  }
  close();
}

std::vector<std::array<double, 2>> polygon_corners(std::size_t sides) {
  std::vector<std::array<double, 2>> out(sides);
  for (std::size_t k = 0; k < sides; ++k) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(sides);
    out[k] = {std::cos(angle), std::sin(angle)};
  }
  return out;
}

void ring_corners(const TubeRing& ring, const std::vector<std::array<double, 2>>& polygon, Vec3d* corners) {
  const double radius = ring.radius * polygon_radius(polygon.size());
  const Vec3d second = cross(ring.tangent, ring.first);
  const double along = dot(ring.tangent, ring.plane);
  for (const auto& [cosine, sine] : polygon) {
    const Vec3d side = ring.first * cosine + second * sine;
    *corners++ = ring.center + (side - ring.tangent * (dot(side, ring.plane) / along)) * radius;
  }
}

double tube_volume(const TubeRings& tubes) {
  double sum = 0;
  std::size_t first = 0;
  for (const std::size_t end : tubes.piece_ends) {
    for (std::size_t i = first; i + 1 < end; ++i) {
      const double a = tubes.rings[i].radius, b = tubes.rings[i + 1].radius;
      sum += norm(tubes.rings[i + 1].center - tubes.rings[i].center) * (a * a + a * b + b * b);
    }
    first = end;
  }
  return sum * std::numbers::pi / 3;
}

}  // namespace pc
