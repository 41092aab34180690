#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "ops/denoise/mixed_pixel.h"

namespace pc::test {

/// Every point compared with every other one: what label_mixed_pixels promises, for clouds of one scan from `origin`.
class MixedPixelOracle {
 public:
  MixedPixelOracle(const std::vector<Vec3d>& points, const Vec3d& origin, const MixedPixelParams& params)
      : points_(points), origin_(origin), params_(params) {
    std::vector<double> steps;
    for (std::size_t i = 0; i < points.size(); ++i) {
      std::vector<double> squared;
      for (std::size_t j = 0; j < points.size(); ++j)
        if (j != i) squared.push_back(squared_distance(points[i], points[j]));
      std::sort(squared.begin(), squared.end());
      if (squared.size() > 32) squared.resize(32);
      squared.erase(std::remove(squared.begin(), squared.end(), 0.0), squared.end());
      squared.erase(std::unique(squared.begin(), squared.end()), squared.end());
      if (squared.size() > 1) steps.push_back(std::sqrt(squared[1]) / range(i));
    }
    std::sort(steps.begin(), steps.end());
    step_ = steps.empty() ? 0 : steps[steps.size() / 2];
  }
  double step() const { return step_; }

  bool is_mixed(std::size_t i) const {
    if (range(i) * step_ > params_.max_spacing_m || supports(i, 1) > 0) return false;
    std::vector<Seen> seen;
    for (std::size_t j = 0; j < points_.size(); ++j) {
      if (j == i) continue;
      const Seen q = see(i, j);
      if (q.angle > std::max(params_.edge_steps, params_.line_steps)) continue;
      if (q.angle <= 0.1 && std::abs(range(j) - range(i)) > params_.support_slope * step_ * range(i))
        return false;
      if (q.angle > 0.1) seen.push_back(q);
    }
    double before = 0, behind = 0;
    for (const Seen& q : seen) {
      if (q.angle > params_.edge_steps || supports(q.at, params_.edge_support) < params_.edge_support)
        continue;
      const double depth = range(q.at) - range(i);
      if (q.slope < -params_.support_slope) before = std::max(before, -depth);
      if (q.slope > params_.support_slope) behind = std::max(behind, depth);
    }
    return before > 0 && behind > 0 && before + behind >= params_.edge_depth_m && !on_line(seen);
  }

 private:
  struct Seen {
    std::size_t at;
    double x, y, angle, slope;
  };
  double range(std::size_t i) const { return std::sqrt(squared_distance(points_[i], origin_)); }
  Vec3d ray(std::size_t i) const { return (points_[i] - origin_) * (1 / range(i)); }

  std::uint32_t supports(std::size_t i, std::uint32_t enough) const {
    std::uint32_t found = 0;
    for (std::size_t j = 0; j < points_.size() && found < enough; ++j) {
      const Vec3d off = points_[j] - points_[i];
      const double along = dot(off, ray(i)), across = std::sqrt(std::max(0.0, dot(off, off) - along * along));
      const double spacing = range(i) * step_;
      found += across > 0.1 * spacing && across <= params_.support_steps * spacing &&
                       std::abs(along) <= params_.support_slope * across
                   ? 1
                   : 0;
    }
    return found;
  }
  /// Tangents of azimuth and elevation in the frame of a beam.
  Seen see(std::size_t i, std::size_t j) const {
    const Vec3d to = points_[j] - origin_, d = ray(i);
    const double flat = std::hypot(d.x, d.y), along = dot(to, d);
    if (!(along > 0)) return {j, 0, 0, HUGE_VAL, 0};
    const double x = (d.x * to.y - d.y * to.x) / flat;
    const double y = flat * to.z - d.z * (d.x * to.x + d.y * to.y) / flat;
    const double angle = std::hypot(x, y) / along / step_;
    const double slope = (range(j) - range(i)) / (std::max(angle, 0.1) * step_ * range(i));
    return {j, x / along / step_, y / along / step_, angle, slope};
  }
  bool on_line(const std::vector<Seen>& seen) const {
    for (const Seen& a : seen)
      for (const Seen& b : seen) {
        if (a.at == b.at || a.angle > params_.edge_steps || b.angle > params_.line_steps) continue;
        if (std::max(std::abs(a.slope), std::abs(b.slope)) > params_.line_slope) continue;
        const double cosine = (a.x * b.x + a.y * b.y) / (a.angle * b.angle);
        const double steeper = std::max(std::abs(a.slope), std::abs(b.slope));
        if (cosine < -0.9 && b.angle <= params_.edge_steps &&
            std::abs(a.slope + b.slope) <= params_.line_tolerance * steeper)
          return true;
        const double apart = b.angle - a.angle;
        if (cosine > 0.9 && apart > 0.7 &&
            std::abs(a.slope - b.slope) * b.angle <= params_.line_tolerance * std::abs(a.slope) * apart)
          return true;
      }
    return false;
  }

  const std::vector<Vec3d>& points_;
  Vec3d origin_;
  MixedPixelParams params_;
  double step_ = 0;
};

}  // namespace pc::test
