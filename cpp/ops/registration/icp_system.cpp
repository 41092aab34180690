#include "ops/registration/icp_system.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/parallel.h"
#include "core/parallel_select.h"
#include "core/prefetch.h"
#include "ops/registration/symmetric_eigen6.h"

namespace pc {

namespace {

constexpr std::size_t kBlock = 2048;  // points whose equations are summed together
/// Thickness of a plane over its width in the covariances: Segal et al. 2009, section III B.
constexpr double kFlat = 1e-3;
/// Weight of a point-to-plane pair: one half where 1 - cos of the normals' angle is twice this (16 degrees).
constexpr double kAgree = 0.02;
constexpr double kNoResidual = -1;
constexpr std::size_t kAhead = 16;  // pairs that are loaded while others are computed

/// Up to three directions at right angles, and the weight of a distance along each.
struct Directions {
  std::array<Vec3d, 3> along;
  std::array<double, 3> weight;
  int count;
};

constexpr std::array<Vec3d, 3> kAxes{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};

Vec3d any_normal_to(const Vec3d& n) {
  const Vec3d v = cross(n, std::abs(n.x) < 0.6 ? kAxes[0] : kAxes[1]);
  return v * (1 / std::sqrt(dot(v, v)));
}

/// Eigenvectors and eigenvalues of 2 kFlat (C_a + C_b)^-1, C = I - (1 - kFlat) n n^T: the sum differs from 2 I only in
/// the plane of the normals, where it is symmetric about their bisectors. A normal of 0 stands for C = I.
Directions plane_to_plane(const Vec3d& a, const Vec3d& b) {
  const bool has_a = dot(a, a) > 0, has_b = dot(b, b) > 0;
  if (!has_a && !has_b) return {kAxes, {kFlat, kFlat, kFlat}, 3};
  const double cosine = dot(a, b);
  const Vec3d towards = cosine < 0 ? b * -1 : b;
  const Vec3d sum = a + towards, difference = a - towards;
  const double apart = dot(difference, difference);
  const auto weight = [](double share) { return 2 * kFlat / (2 - (1 - kFlat) * share); };
  Directions d{{}, {kFlat, kFlat, kFlat}, 3};
  d.along[0] = sum * (1 / std::sqrt(dot(sum, sum)));
  if (!has_a || !has_b) {
    d.weight[0] = weight(1);
    d.along[1] = any_normal_to(d.along[0]);
  } else if (apart < 1e-12) {
    d.weight[0] = weight(2);
    d.along[1] = any_normal_to(d.along[0]);
  } else {
    d.weight[0] = weight(1 + std::abs(cosine));
    d.weight[1] = weight(1 - std::abs(cosine));
    d.along[1] = difference * (1 / std::sqrt(apart));
  }
  d.along[2] = cross(d.along[0], d.along[1]);
  return d;
}

/// A pair at a pose.
struct Pair {
  Vec3d place, apart;  ///< of the moving point; from the fixed to the moving point
  Vec3d found, other;  ///< normals of the point that was found and of the one that looked for it
};

Directions directions(IcpMethod method, const Pair& pair) {
  switch (method) {
    case IcpMethod::kPointToPlane:
      return {{pair.found},
              {2 * kAgree / (2 * kAgree + 1 - std::abs(dot(pair.found, pair.other)))},
              dot(pair.found, pair.found) > 0 ? 1 : 0};
    case IcpMethod::kGicp:
      return plane_to_plane(pair.found, pair.other);
    case IcpMethod::kPointToPoint:
      break;
  }
  return {kAxes, {1, 1, 1}, 3};
}

double residual_of(const Directions& d, const Vec3d& apart) {
  if (d.count == 0) return kNoResidual;
  double squared = 0;
  for (std::size_t k = 0; k < static_cast<std::size_t>(d.count); ++k) {
    const double along = dot(d.along[k], apart);
    squared += d.weight[k] * along * along;
  }
  return std::sqrt(squared);
}

/// The pairs of a scale at a pose.
class PosedPairs {
 public:
  PosedPairs(const IcpScale& scale, const RigidTransform& pose, IcpMethod method, const IcpPairs& pairs)
      : scale_(scale),
        pose_(pose),
        pairs_(pairs),
        moving_count_(scale.moving.points.size()),
        with_normals_(method != IcpMethod::kPointToPoint) {}

  bool of_moving(std::size_t i) const { return i < moving_count_; }
  /// Pair i, whose partner is at `slot`; without normals where the method needs none.
  Pair at(std::size_t i, std::uint32_t slot) const {
    const bool forward = of_moving(i);
    const std::size_t m = forward ? i : slot, f = forward ? slot : i - moving_count_;
    const Vec3d place = pose_(scale_.moving.points[m]);
    Pair pair{place, place - scale_.fixed.points[f], {0, 0, 0}, {0, 0, 0}};
    if (!with_normals_) return pair;
    const Vec3d turned = pose_.rotate(scale_.moving.normals[m]);
    const Vec3d& fixed = scale_.fixed.normals[f];
    pair.found = forward ? fixed : turned;
    pair.other = forward ? turned : fixed;
    return pair;
  }
  /// Starts to load the partner of a pair that is due soon.
  void fetch(std::size_t i) const {
    if (i >= pairs_.slot.size()) return;
    const std::uint32_t slot = pairs_.slot[i];
    if (slot == IcpPairs::kNone) return;
    const IcpLevel& other = of_moving(i) ? scale_.fixed : scale_.moving;
    prefetch(&other.points[slot]);
    if (with_normals_) prefetch(&other.normals[slot]);
  }

 private:
  const IcpScale& scale_;
  const RigidTransform& pose_;
  const IcpPairs& pairs_;
  std::size_t moving_count_;
  bool with_normals_;
};

void add_row(IcpSystem& s, const std::array<double, 6>& row, double weight, double along) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    const double scaled = weight * row[i];
    s.g[i] += scaled * along;
    for (std::size_t j = 0; j <= i; ++j) s.h[at++] += scaled * row[j];
  }
}

void add(IcpSystem& s, const IcpSystem& o) {
  for (std::size_t i = 0; i < s.h.size(); ++i) s.h[i] += o.h[i];
  for (std::size_t i = 0; i < s.g.size(); ++i) s.g[i] += o.g[i];
  s.squared += o.squared;
  s.pair_count += o.pair_count;
  s.equations += o.equations;
}

/// Adds the equations of pair i; its frame has the inverse radius `per_radius`.
void add_pair(IcpSystem& s, const Pair& pair, const Directions& d, const Vec3d& center, double per_radius,
              double scale_m) {
  const double residual = residual_of(d, pair.apart);
  if (residual < 0) return;
  ++s.equations;
  const double over = residual / scale_m, weight = 1 / (1 + over * over);
  const Vec3d arm = (pair.place - center) * per_radius;
  for (std::size_t k = 0; k < static_cast<std::size_t>(d.count); ++k) {
    const Vec3d &along = d.along[k], turn = cross(arm, along);
    add_row(s, {turn.x, turn.y, turn.z, along.x, along.y, along.z}, weight * d.weight[k],
            dot(along, pair.apart));
  }
}

}  // namespace

IcpFrame icp_frame(const IcpLevel& moving, OpContext& ctx) {
  const std::size_t size = moving.points.size();
  const auto count = static_cast<double>(size);
  const auto sum = [&](double Vec3d::*axis) {
    return parallel_sum(ctx, size, [&](std::size_t i) { return moving.points[i].*axis; });
  };
  const Vec3d mean{sum(&Vec3d::x) / count, sum(&Vec3d::y) / count, sum(&Vec3d::z) / count};
  const double squared =
      parallel_sum(ctx, size, [&](std::size_t i) { return squared_distance(moving.points[i], mean); });
  const double radius = std::sqrt(squared / count);
  return {mean, radius > 0 ? radius : 1};
}

double median_residual(const IcpScale& scale, const RigidTransform& pose, IcpMethod method,
                       const IcpPairs& pairs, OpContext& ctx) {
  const PosedPairs posed(scale, pose, method, pairs);
  BulkVector<double> residuals(pairs.slot.size());
  parallel_for(ctx, residuals.size(), kBlock, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      posed.fetch(i + kAhead);
      const std::uint32_t slot = pairs.slot[i];
      residuals[i] = kNoResidual;
      if (slot == IcpPairs::kNone) continue;
      const Pair pair = posed.at(i, slot);
      residuals[i] = residual_of(directions(method, pair), pair.apart);
    }
  });
  return select_non_negative(residuals.view(), ctx, [](std::size_t count) { return count / 2; });
}

IcpSystem icp_system(const IcpScale& scale, const RigidTransform& pose, IcpMethod method,
                     const IcpPairs& pairs, const IcpFrame& frame, double scale_m, OpContext& ctx) {
  const PosedPairs posed(scale, pose, method, pairs);
  const std::size_t count = pairs.slot.size();
  std::vector<IcpSystem> parts((count + kBlock - 1) / kBlock, IcpSystem{});
  const double per_radius = 1 / frame.radius_m;
  parallel_for(ctx, count, kBlock, [&](std::size_t begin, std::size_t end) {
    IcpSystem part{};  // of its own: parts beside each other share cache lines
    for (std::size_t i = begin; i < end; ++i) {
      posed.fetch(i + kAhead);
      const std::uint32_t slot = pairs.slot[i];
      if (slot == IcpPairs::kNone) continue;
      if (posed.of_moving(i)) {
        part.squared += pairs.squared[i];
        ++part.pair_count;
      }
      const Pair pair = posed.at(i, slot);
      add_pair(part, pair, directions(method, pair), frame.center, per_radius, scale_m);
    }
    parts[begin / kBlock] = part;
  });
  IcpSystem sum{};
  for (const IcpSystem& part : parts) add(sum, part);
  return sum;
}

IcpMotion icp_motion(const IcpSystem& system, const IcpFrame& frame, double longest_m) {
  constexpr double kFree = 1e-4;
  const SymmetricEigen6 eigen = symmetric_eigen6(system.h);
  std::array<double, 6> x{};
  for (std::size_t k = 0; k < 6; ++k) {
    if (!(eigen.value[k] > kFree * eigen.value[5])) continue;
    double along = 0;
    for (std::size_t i = 0; i < 6; ++i) along += eigen.vector[k][i] * system.g[i];
    for (std::size_t i = 0; i < 6; ++i) x[i] -= along / eigen.value[k] * eigen.vector[k][i];
  }
  double squared = 0;
  for (const double value : x) squared += value * value;
  const double length = std::sqrt(squared);
  const double shorter = length > longest_m ? longest_m / length : 1, per_radius = shorter / frame.radius_m;
  IcpMotion out{rotation({x[0] * per_radius, x[1] * per_radius, x[2] * per_radius}), length};
  out.motion.translation = frame.center - out.motion.rotate(frame.center) + Vec3d{x[3], x[4], x[5]} * shorter;
  return out;
}

}  // namespace pc
