#include "ops/trees/stem_cylinder.h"

#include <algorithm>
#include <cmath>

#include "core/linear_solve.h"
#include "core/nth_smallest.h"
#include "ops/trees/circle_search.h"
#include "ops/trees/stem_frame.h"

namespace pc {

namespace {

constexpr std::size_t kSearchPoints = 600;
constexpr std::size_t kSlabs = 4;
constexpr double kLeastUpright = 0.82;  // cosine of 35 degrees: stems lean less
constexpr double kLeastRatio = 0.5, kMostRatio = 2;
constexpr int kRounds = 4, kSteps = 6;
constexpr double kLeanPrior = 0.3;  // slope of the axis, where the points say nothing

Vec3d unit(const Vec3d& v) { return v * (1 / std::sqrt(dot(v, v))); }

/// The points of a part of the layer, thinned evenly.
class Sample {
 public:
  Sample(Span<const LayerPoint> points, const CircleFitParams& params) : params_(params) {
    const std::size_t count = std::min(points.size, kSearchPoints);
    for (std::size_t i = 0; i < count; ++i) points_.push_back(points[i * points.size / count].at);
    low_ = high_ = points_[0].z;
    for (const Vec3d& p : points_) {
      low_ = std::min(low_, p.z);
      high_ = std::max(high_, p.z);
    }
  }

  std::optional<StemCylinder> best() {
    consider_axis({0, 0, 1});
    if (const auto line = middle_line()) consider_axis(*line);
    consider_slabs();
    return best_;
  }

 private:
  double slab_middle(std::size_t slab) const {
    return low_ + (high_ - low_) * (static_cast<double>(slab) + 0.5) / kSlabs;
  }

  std::vector<Vec3d> slab(std::size_t index) const {
    const double half = (high_ - low_) / kSlabs / 2, middle = slab_middle(index);
    std::vector<Vec3d> out;
    for (const Vec3d& p : points_) {
      if (std::abs(p.z - middle) <= half) out.push_back(p);
    }
    return out;
  }

  /// Direction of the line through the middles of the layers.
  std::optional<Vec3d> middle_line() const {
    std::vector<Vec3d> middles;
    for (std::size_t i = 0; i < kSlabs; ++i) {
      std::vector<double> x, y, z;
      for (const Vec3d& p : slab(i)) {
        x.push_back(p.x);
        y.push_back(p.y);
        z.push_back(p.z);
      }
      if (x.size() >= 3) middles.push_back({upper_median(x), upper_median(y), upper_median(z)});
    }
    if (middles.size() < 2 || !(middles.back().z > middles.front().z)) return std::nullopt;
    double zz = 0, xz = 0, yz = 0;
    Vec3d mean{0, 0, 0};
    for (const Vec3d& m : middles) mean = mean + m * (1 / static_cast<double>(middles.size()));
    for (const Vec3d& m : middles) {
      zz += (m.z - mean.z) * (m.z - mean.z);
      xz += (m.z - mean.z) * (m.x - mean.x);
      yz += (m.z - mean.z) * (m.y - mean.y);
    }
    return unit({xz / zz, yz / zz, 1});
  }

  void consider(const StemCylinder& cylinder) {
    if (!(cylinder.axis.z >= kLeastUpright)) return;
    const AcrossAxis across(cylinder);
    const double distance = params_.distance_of(cylinder.radius);
    std::size_t near = 0;
    for (const Vec3d& p : points_) {
      const Vec2d q = across.of(p);
      if (std::abs(std::sqrt(q.x * q.x + q.y * q.y) - cylinder.radius) < distance) ++near;
    }
    if (near <= most_) return;
    most_ = near;
    best_ = cylinder;
  }

  std::optional<PlainCircle> circle_across(const std::vector<Vec3d>& points,
                                           const StemCylinder& frame) const {
    const AcrossAxis across(frame);
    std::vector<Vec2d> flat;
    for (const Vec3d& p : points) flat.push_back(across.of(p));
    if (flat.size() < params_.min_points) return std::nullopt;
    return search_circle({flat.data(), flat.size()}, params_);
  }

  void consider_axis(const Vec3d& axis) {
    if (!(axis.z >= kLeastUpright)) return;
    const StemCylinder frame{points_[points_.size() / 2], axis, 0};
    const auto circle = circle_across(points_, frame);
    if (!circle) return;
    const auto [u, v] = stem_frame(axis);
    consider({frame.at + u * circle->center.x + v * circle->center.y, axis, circle->radius});
  }

  void consider_slabs() {
    struct Level {
      Vec3d center;
      double radius;
    };
    std::vector<Level> levels;
    for (std::size_t i = 0; i < kSlabs; ++i) {
      const StemCylinder frame{{points_[0].x, points_[0].y, slab_middle(i)}, {0, 0, 1}, 0};
      const auto circle = circle_across(slab(i), frame);
      if (!circle) continue;
      const auto [u, v] = stem_frame(frame.axis);
      levels.push_back({frame.at + u * circle->center.x + v * circle->center.y, circle->radius});
    }
    for (std::size_t i = 0; i < levels.size(); ++i) {
      for (std::size_t j = i + 1; j < levels.size(); ++j) {
        const double ratio = levels[j].radius / levels[i].radius;
        if (!(levels[j].center.z > levels[i].center.z) || ratio < kLeastRatio || ratio > kMostRatio) continue;
        consider({levels[i].center, unit(levels[j].center - levels[i].center),
                  (levels[i].radius + levels[j].radius) / 2});
      }
    }
  }

  const CircleFitParams& params_;
  std::vector<Vec3d> points_;
  double low_, high_;
  std::size_t most_ = 0;
  std::optional<StemCylinder> best_;
};

/// Normal equations for the place (2), the slope (2) and the radius.
struct Step {
  std::array<double, 25> matrix{};
  std::array<double, 5> right{};
};

Step step_at(const std::vector<Vec3d>& points, const StemCylinder& at) {
  Step out;
  for (const Vec3d& p : points) {
    const Vec3d q = p - at.at;
    const double t = dot(q, at.axis);
    const Vec3d off = q - at.axis * t;
    const double d = std::sqrt(dot(off, off));
    if (!(d > 0)) continue;
    const Vec3d n = off * (1 / d);
    const double row[5] = {-n.x, -n.y, -n.x * t, -n.y * t, -1};
    for (std::size_t i = 0; i < 5; ++i) {
      for (std::size_t j = 0; j < 5; ++j) out.matrix[5 * i + j] += row[i] * row[j];
      out.right[i] -= row[i] * (d - at.radius);
    }
  }
  return out;
}

std::vector<Vec3d> near_cylinder(Span<const LayerPoint> points, const StemCylinder& at, double tolerance) {
  const AcrossAxis across(at);
  std::vector<Vec3d> out;
  for (const LayerPoint& p : points) {
    const Vec2d q = across.of(p.at);
    if (std::abs(std::sqrt(q.x * q.x + q.y * q.y) - at.radius) < tolerance) out.push_back(p.at);
  }
  return out;
}

}  // namespace

AcrossAxis::AcrossAxis(const StemCylinder& cylinder) : at_(cylinder.at), w_(cylinder.axis) {
  const auto frame = stem_frame(cylinder.axis);
  u_ = frame[0];
  v_ = frame[1];
}

std::optional<StemCylinder> search_cylinder(Span<const LayerPoint> points, const CircleFitParams& params) {
  return Sample(points, params).best();
}

StemCylinder refine_cylinder(Span<const LayerPoint> points, const StemCylinder& start, double tolerance) {
  constexpr std::size_t kLeast = 8;
  StemCylinder at = start;
  for (int round = 0; round < kRounds; ++round) {
    const std::vector<Vec3d> near = near_cylinder(points, at, tolerance);
    if (near.size() < kLeast) return at;
    // The place is where the axis passes the middle of the points: place and slope are then nearly independent.
    double middle = 0;
    for (const Vec3d& p : near) middle += (p.z - at.at.z) / static_cast<double>(near.size());
    at.at = at.at + at.axis * (middle / at.axis.z);
    for (int step = 0; step < kSteps; ++step) {
      Step equations = step_at(near, at);
      const double noise = tolerance / 2;
      for (const std::size_t i : {12u, 18u}) equations.matrix[i] += noise * noise / (kLeanPrior * kLeanPrior);
      for (const std::size_t i : {0u, 6u, 24u}) equations.matrix[i] *= 1 + 1e-6;
      const auto change = solve_positive_definite({{equations.matrix.data(), 25}, 5, 5},
                                                  {equations.right.data(), equations.right.size()});
      if (!change) return at;
      const auto& c = *change;
      StemCylinder next = at;
      next.at = {at.at.x + c[0], at.at.y + c[1], at.at.z};
      next.axis = unit({at.axis.x + c[2], at.axis.y + c[3], at.axis.z});
      next.radius = at.radius + c[4];
      if (!(next.radius > 0) || !(next.axis.z >= kLeastUpright) ||
          std::abs(c[0]) + std::abs(c[1]) > start.radius + tolerance)
        return at;
      at = next;
      if (std::abs(c[0]) + std::abs(c[1]) + std::abs(c[4]) < 1e-6) break;
    }
  }
  return at;
}

StemCylinder refine_either_side(Span<const LayerPoint> points, const StemCylinder& start, double tolerance) {
  const StemCylinder own = refine_cylinder(points, start, tolerance);
  const std::vector<Vec3d> near = near_cylinder(points, own, tolerance);
  if (near.empty()) return own;
  Vec3d mean{0, 0, 0};
  for (const Vec3d& p : near) mean = mean + (p - own.at) * (1 / static_cast<double>(near.size()));
  mean = mean - own.axis * dot(mean, own.axis);
  constexpr double kOneSided = 0.4;  // of the radius: half a circle has its mean at .64
  if (dot(mean, mean) < kOneSided * kOneSided * own.radius * own.radius) return own;
  StemCylinder mirrored = own;
  mirrored.at = own.at + mean * 2;
  const StemCylinder other = refine_cylinder(points, mirrored, tolerance);
  const auto misfit = [&](const StemCylinder& cylinder) {
    const AcrossAxis across(cylinder);
    double sum = 0;
    for (const Vec3d& p : near) {
      const Vec2d q = across.of(p);
      const double off = std::min(tolerance, std::abs(std::sqrt(q.x * q.x + q.y * q.y) - cylinder.radius));
      sum += off * off;
    }
    return sum;
  };
  return misfit(other) < misfit(own) ? other : own;
}

}  // namespace pc
