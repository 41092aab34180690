#include "ops/trees/cloud_border.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "core/nth_smallest.h"
#include "core/span.h"
#include "ops/trees/circle_fit.h"

namespace pc {

namespace {

constexpr std::size_t kFewestCircleCorners = 8;
constexpr double kLeastOnCircle = 0.8, kLeastCovered = 0.6;
constexpr double kMostSagittas = 12;  // tolerances, or four layers, by which a line lies within a circle

/// Distance of each corner from the circle.
std::vector<double> distances(const ConvexPolygon& corners, const PlainCircle& circle) {
  std::vector<double> out;
  for (const Vec2d& p : corners)
    out.push_back(std::abs(std::hypot(p.x - circle.center.x, p.y - circle.center.y) - circle.radius));
  return out;
}

/// Whether most corners lie on the circle, and so close together that they could not be those of a polygon with few sides.
bool covers(const ConvexPolygon& corners, const PlainCircle& circle, double tolerance_m) {
  constexpr double kClose = std::numbers::pi / 6;
  const std::vector<double> off = distances(corners, circle);
  const auto is_on = [&](std::size_t i) { return off[i] <= tolerance_m; };
  const auto turn_of = [&](std::size_t i) {
    return std::atan2(corners[i].y - circle.center.y, corners[i].x - circle.center.x);
  };
  std::size_t on = 0;
  double covered = 0;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    if (!is_on(i)) continue;
    ++on;
    const std::size_t next = (i + 1) % corners.size();
    const double step = std::remainder(turn_of(next) - turn_of(i), 2 * std::numbers::pi);
    if (is_on(next) && step >= 0 && step <= kClose) covered += step;
  }
  return static_cast<double>(on) >= kLeastOnCircle * static_cast<double>(corners.size()) &&
         covered >= kLeastCovered * 2 * std::numbers::pi;
}

/// The circle of most corners: fitted to all, then to those that are near it. Corners are about their mean.
std::optional<PlainCircle> circle_of(const ConvexPolygon& corners, double tolerance_m) {
  constexpr int kRounds = 5;
  constexpr double kNear = 3;  // medians
  if (corners.size() < kFewestCircleCorners) return std::nullopt;
  auto found = taubin_circle({corners.data(), corners.size()});
  for (int round = 0; round < kRounds && found; ++round) {
    const std::vector<double> off = distances(corners, *found);
    std::vector<double> sorted = off;
    const double median = nth_smallest(sorted.data(), sorted.size(), sorted.size() / 2);
    ConvexPolygon near;
    for (std::size_t i = 0; i < corners.size(); ++i)
      if (off[i] <= kNear * std::max(median, tolerance_m / kNear)) near.push_back(corners[i]);
    if (near.size() < kFewestCircleCorners) return std::nullopt;
    found = geometric_circle({near.data(), near.size()}, *found);
  }
  return found && covers(corners, *found, tolerance_m) ? found : std::nullopt;
}

/// Whether the corners between `first` and `last`, counted round the outline, lie on the line between these.
bool is_straight(const ConvexPolygon& corners, std::size_t first, std::size_t last, double tolerance_m) {
  const std::size_t n = corners.size();
  const Vec2d a = corners[first % n], b = corners[last % n];
  const double length = std::hypot(b.x - a.x, b.y - a.y);
  if (!(length > 0)) return false;
  for (std::size_t i = first + 1; i < last; ++i) {
    const Vec2d p = corners[i % n];
    const double off = (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x);
    if (!(std::abs(off) <= tolerance_m * length)) return false;
  }
  return true;
}

/// A corner that is one whatever the tolerance. Corners are about their mean.
std::size_t furthest(const ConvexPolygon& corners) {
  const auto square = [](const Vec2d& p) { return p.x * p.x + p.y * p.y; };
  const auto found = std::max_element(corners.begin(), corners.end(),
                                      [&](const Vec2d& a, const Vec2d& b) { return square(a) < square(b); });
  return static_cast<std::size_t>(found - corners.begin());
}

}  // namespace

BorderPiece BorderPiece::line(const Vec2d& from, const Vec2d& to) {
  BorderPiece piece;
  piece.length_ = std::hypot(to.x - from.x, to.y - from.y);
  piece.origin_ = from;
  piece.direction_ = {(to.x - from.x) / piece.length_, (to.y - from.y) / piece.length_};
  return piece;
}

BorderPiece BorderPiece::circle(const Vec2d& center, double radius) {
  BorderPiece piece;
  piece.length_ = 2 * std::numbers::pi * radius;
  piece.origin_ = center;
  piece.radius_ = radius;
  return piece;
}

std::optional<BorderPlace> BorderPiece::place_of(const Vec2d& point) const {
  const Vec2d off{point.x - origin_.x, point.y - origin_.y};
  if (radius_ > 0) {
    const double turn = std::atan2(off.y, off.x) + std::numbers::pi;
    return BorderPlace{std::clamp(turn * radius_, 0.0, length_),
                       std::max(0.0, radius_ - std::hypot(off.x, off.y))};
  }
  const double along = direction_.x * off.x + direction_.y * off.y;
  if (!(along >= 0 && along <= length_)) return std::nullopt;
  return BorderPlace{along, std::max(0.0, direction_.x * off.y - direction_.y * off.x)};
}

std::vector<BorderPiece> border_pieces(const ConvexPolygon& outline, double tolerance_m) {
  std::vector<BorderPiece> pieces;
  const std::size_t n = outline.size();
  if (n < 3) return pieces;
  Vec2d mean{0, 0};
  for (const Vec2d& p : outline)
    mean = {mean.x + p.x / static_cast<double>(n), mean.y + p.y / static_cast<double>(n)};
  ConvexPolygon corners;
  for (const Vec2d& p : outline) corners.push_back({p.x - mean.x, p.y - mean.y});
  const auto circle = circle_of(corners, tolerance_m);
  if (circle)
    pieces.push_back(
        BorderPiece::circle({circle->center.x + mean.x, circle->center.y + mean.y}, circle->radius));
  const std::size_t start = furthest(corners), end = start + n;
  for (std::size_t first = start; first < end;) {
    std::size_t last = first + 1;
    while (last < end && is_straight(corners, first, last + 1, tolerance_m)) ++last;
    // Beside a circle, only what cuts a part of it off.
    const Vec2d a = corners[first % n], b = corners[last % n];
    const Vec2d half{(a.x + b.x) / 2, (a.y + b.y) / 2};
    if (!circle || std::hypot(half.x - circle->center.x, half.y - circle->center.y) <
                       circle->radius - kMostSagittas * tolerance_m)
      pieces.push_back(BorderPiece::line(outline[first % n], outline[last % n]));
    first = last;
  }
  return pieces;
}

}  // namespace pc
