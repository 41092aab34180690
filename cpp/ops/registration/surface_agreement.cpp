#include "ops/registration/surface_agreement.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/parallel.h"
#include "core/symmetric_eigen.h"

namespace pc {

namespace {

constexpr std::size_t kMostPlaces = 2000;
constexpr std::uint32_t kNeighbors = 20, kLeastNeighbors = 8;
constexpr double kFlat = 0.05, kLine = 0.1;                  // of the sum, of the largest eigenvalue
constexpr double kReach = 3, kBorder = 0.75, kOffset = 0.2;  // radii
constexpr double kThickness = 2;                             // of the thicker side
constexpr double kAlike = 0.9063077870366499;                // cos of 25 degrees
constexpr double kSameDirection = 0.9659258262890683;        // cos of 15 degrees
constexpr std::size_t kGrain = 64;

/// The plane of the neighbours of a point.
struct Patch {
  Vec3d center, normal;
  double radius_m = 0, thickness_m = 0;
  bool is_flat = false;
};

Patch patch_at(const IcpLevel& level, const Vec3d& place) {
  double squared[kNeighbors];
  std::uint64_t row[kNeighbors], slot[kNeighbors];
  const std::uint32_t count =
      level.tree->view().knn(place, kNeighbors, ~std::uint64_t{0}, squared, row, slot);
  Patch patch;
  if (count < kLeastNeighbors) return patch;
  Vec3d sum{0, 0, 0};
  for (std::uint32_t i = 0; i < count; ++i) sum = sum + (level.points[slot[i]] - place);
  const Vec3d mean = sum * (1.0 / count);
  Symmetric3 m{0, 0, 0, 0, 0, 0};
  for (std::uint32_t i = 0; i < count; ++i) {
    const Vec3d d = level.points[slot[i]] - place - mean;
    m.xx += d.x * d.x, m.xy += d.x * d.y, m.xz += d.x * d.z;
    m.yy += d.y * d.y, m.yz += d.y * d.z, m.zz += d.z * d.z;
  }
  const SymmetricEigen3 eigen = symmetric_eigen(m);
  const double all = eigen.value[0] + eigen.value[1] + eigen.value[2];
  patch.center = place + mean;
  patch.normal = eigen.vector[0];
  patch.radius_m = std::sqrt(squared[count - 1]);
  patch.thickness_m = std::sqrt(std::max(0.0, eigen.value[0]) / count);
  patch.is_flat = eigen.value[0] < kFlat * all && eigen.value[1] > kLine * eigen.value[2];
  return patch;
}

enum class Verdict : std::uint8_t { kNotFlat, kUncovered, kApart, kAgrees };

/// A place of one side against the other one.
Verdict compared(const Patch& own, const IcpLevel& other, const RigidTransform& pose) {
  if (!own.is_flat) return Verdict::kNotFlat;
  const Vec3d place = pose(own.center);
  double squared = 0;
  std::uint64_t row = 0, slot = 0;
  const KdTreeView tree = other.tree->view();
  if (tree.knn(place, 1, ~std::uint64_t{0}, &squared, &row, &slot) == 0) return Verdict::kUncovered;
  const Patch faced = patch_at(other, other.points[slot]);
  if (!faced.is_flat) return Verdict::kUncovered;
  const Vec3d apart = place - faced.center;
  const double off = dot(apart, faced.normal), reach = kReach * faced.radius_m;
  const Vec3d along = apart - faced.normal * off;
  const double border = kBorder * faced.radius_m;
  if (std::abs(off) > reach || dot(along, along) > border * border) return Verdict::kUncovered;
  const double near =
      std::max(kOffset * faced.radius_m, kThickness * std::max(own.thickness_m, faced.thickness_m));
  const bool alike = std::abs(dot(pose.rotate(own.normal), faced.normal)) >= kAlike;
  return alike && std::abs(off) <= near ? Verdict::kAgrees : Verdict::kApart;
}

struct Sums {
  double flat = 0, covered = 0, agreeing = 0;
  std::uint32_t flat_count = 0, place_count = 0;
};

/// Sums over places of a side, whose weights add up to 1.
Sums sums_of(const IcpLevel& own, const IcpLevel& other, const RigidTransform& pose, OpContext& ctx) {
  const std::size_t size = own.points.size(), stride = (size + kMostPlaces - 1) / kMostPlaces;
  if (size == 0) return {};
  const std::size_t count = (size + stride - 1) / stride;
  std::vector<Verdict> verdict(count);
  std::vector<Vec3d> normal(count);
  parallel_for(ctx, count, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Patch patch = patch_at(own, own.points[i * stride]);
      normal[i] = patch.normal;
      verdict[i] = compared(patch, other, pose);
    }
  });
  std::vector<double> weight(count, 0);
  parallel_for(ctx, count, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (verdict[i] == Verdict::kNotFlat) continue;
      double same = 0;
      for (std::size_t j = 0; j < count; ++j)
        same +=
            verdict[j] != Verdict::kNotFlat && std::abs(dot(normal[i], normal[j])) > kSameDirection ? 1 : 0;
      weight[i] = 1 / same;
    }
  });
  Sums sums;
  for (std::size_t i = 0; i < count; ++i) {
    sums.flat += weight[i];
    sums.flat_count += verdict[i] == Verdict::kNotFlat ? 0 : 1;
    if (verdict[i] < Verdict::kApart) continue;
    ++sums.place_count;
    sums.covered += weight[i];
    if (verdict[i] == Verdict::kAgrees) sums.agreeing += weight[i];
  }
  const double per = sums.flat > 0 ? 1 / sums.flat : 0;
  return {sums.flat, sums.covered * per, sums.agreeing * per, sums.flat_count, sums.place_count};
}

}  // namespace

SurfaceAgreement surface_agreement(const IcpScale& scale, const RigidTransform& pose, OpContext& ctx) {
  const Sums moving = sums_of(scale.moving, scale.fixed, pose, ctx);
  const Sums fixed = sums_of(scale.fixed, scale.moving, inverse(pose), ctx);
  const double covered = moving.covered + fixed.covered;
  return {moving.flat_count, moving.place_count + fixed.place_count, moving.covered,
          covered > 0 ? (moving.agreeing + fixed.agreeing) / covered : 0};
}

}  // namespace pc
