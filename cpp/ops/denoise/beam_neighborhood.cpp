#include "ops/denoise/beam_neighborhood.h"

#include <algorithm>

namespace pc::beams {

namespace {

/// Never 0, so that its reciprocal is finite.
double apart_from_zero(double value) { return std::abs(value) < 1e-30 ? std::copysign(1e-30, value) : value; }

}  // namespace

Cone::Cone(const Beam& beam, double steps)
    : origin(beam.origin),
      ray(beam.ray),
      reciprocal{1 / apart_from_zero(ray.x), 1 / apart_from_zero(ray.y), 1 / apart_from_zero(ray.z)},
      tangent(std::tan(std::min(1.0, steps * beam.step))) {
  across_x = cross(std::abs(ray.z) < 0.9 ? Vec3d{0, 0, 1} : Vec3d{1, 0, 0}, ray);
  across_x = across_x * (1 / std::sqrt(dot(across_x, across_x)));
  across_y = cross(ray, across_x);
}

Neighborhood::Neighborhood(const Beam& beam, std::uint64_t own_row, double steps, const KdTreeView& tree,
                           const BeamOrigins& origins) {
  const Cone cone(beam, steps);
  std::uint32_t visited = 0;
  const auto may_hold = [&](const kd_tree::Node& node, std::uint32_t) { return cone.may_meet(node); };
  tree.for_each_leaf(may_hold, [&](const kd_tree::Node& node) {
    const kd_tree::Leaf leaf = tree.leaf(node);
    for (std::uint32_t j = 0; j < leaf.count && complete_; ++j) {
      const Vec3d q = leaf.point(j);
      if (cone.holds(q) && leaf.row[j] != own_row && beam.same_scan(origins.of(leaf.row[j])))
        take(beam, cone, q, leaf.row[j]);
    }
    if (++visited == kMostLeaves) complete_ = false;
    return complete_;
  });
  std::sort(points_.begin(), points_.begin() + static_cast<std::ptrdiff_t>(count_),
            [](const Beside& a, const Beside& b) {
              return a.angle != b.angle ? a.angle < b.angle : a.row < b.row;
            });
  while (first_ < count_ && points_[first_].angle <= kOneBeam) ++first_;
}

void Neighborhood::take(const Beam& beam, const Cone& cone, const Vec3d& q, std::uint64_t row) {
  if (count_ == kMost) {
    complete_ = false;
    return;
  }
  const Vec3d to = q - beam.origin;
  const double along = dot(to, beam.ray);
  const Vec3d off = to - beam.ray * along;
  const double per_step = 1 / (along * beam.step), angle = std::sqrt(dot(off, off)) * per_step;
  const double range = std::sqrt(dot(to, to));
  const double slope = (range - beam.range) / (std::max(angle, kOneBeam) * beam.step * beam.range);
  points_[count_++] = {q,     row,  dot(off, cone.across_x) * per_step, dot(off, cone.across_y) * per_step,
                       angle, slope};
}

bool Neighborhood::has_echo(double slope) const {
  return std::any_of(points_.begin(), points_.begin() + static_cast<std::ptrdiff_t>(first_),
                     [&](const Beside& q) { return std::abs(q.slope) * kOneBeam > slope; });
}

}  // namespace pc::beams
