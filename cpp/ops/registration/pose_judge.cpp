#include "ops/registration/pose_judge.h"

#include <algorithm>
#include <cmath>

#include "core/parallel.h"

namespace pc {

namespace {

constexpr int kIterations = 12;
constexpr double kFirstLimit = 4, kLastLimit = 1.5, kNarrowing = 0.75,
                 kSettled = 0.01;  // voxels, but for the factor
constexpr double kCauchy = 2.3849, kMedianToSigma = 1.4826, kLeastScale = 1e-3;
constexpr double kReach = 1.5, kThickness = 0.5;                                 // voxels
constexpr double kAlike = 0.8660254037844386, kSameNormal = 0.9659258262890683;  // cos of 30, 15 degrees
constexpr std::size_t kSample = 1000;  // normals that say how common a direction is

}  // namespace

PoseJudge::PoseJudge(const IcpScale& scale, double voxel_m, OpContext& ctx)
    : scale_(scale),
      voxel_m_(voxel_m),
      frame_(icp_frame(scale.moving, ctx)),
      weight_(scale.moving.points.size()) {
  require(voxel_m > 0, "poses are judged at a voxel size");
  const BulkVector<Vec3d>& normals = scale.moving.normals;
  const std::size_t stride = (normals.size() + kSample - 1) / kSample;
  parallel_for(ctx, normals.size(), 256, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      double alike = 1;
      for (std::size_t j = 0; j < normals.size(); j += stride)
        alike += std::abs(dot(normals[i], normals[j])) > kSameNormal;
      weight_[i] = dot(normals[i], normals[i]) > 0 ? 1 / alike : 0;
    }
  });
  const double sum = parallel_sum(ctx, weight_.size(), [&](std::size_t i) { return weight_[i]; });
  if (sum > 0)
    for (double& weight : weight_) weight /= sum;
}

JudgedPose PoseJudge::refined(const RigidTransform& start, OpContext& ctx) const {
  RigidTransform pose = start;
  IcpPairs pairs;
  double limit = kFirstLimit * voxel_m_;
  for (int i = 0; i < kIterations; ++i) {
    find_pairs(scale_, pose, limit, IcpQueries::kMoving, pairs, ctx);
    narrow_pairs(scale_, limit, pairs, ctx);
    const double median = median_residual(scale_, pose, IcpMethod::kPointToPlane, pairs, ctx);
    if (median < 0) break;
    const double cauchy_m = kCauchy * std::max(kMedianToSigma * median, kLeastScale * voxel_m_);
    const IcpFrame frame{pose(frame_.center), frame_.radius_m};
    const IcpMotion step = icp_motion(
        icp_system(scale_, pose, IcpMethod::kPointToPlane, pairs, frame, cauchy_m, ctx), frame, limit);
    pose = orthonormal(composed(step.motion, pose));
    if (step.length_m < kSettled * voxel_m_ && limit <= kLastLimit * voxel_m_) break;
    limit = std::max(kLastLimit * voxel_m_, kNarrowing * limit);
  }
  return {pose, agreement(pose, ctx)};
}

double PoseJudge::agreement(const RigidTransform& pose, OpContext& ctx) const {
  const IcpLevel &moving = scale_.moving, &fixed = scale_.fixed;
  const KdTreeView tree = fixed.tree->view();
  const double reach = kReach * voxel_m_;
  return parallel_sum(ctx, moving.points.size(), [&](std::size_t i) {
    double squared = 0;
    std::uint64_t row = 0, slot = 0;
    const Vec3d p = pose(moving.points[i]);
    if (tree.knn_within(p, 1, reach * reach, ~std::uint64_t{0}, &squared, &row, &slot) == 0) return 0.0;
    const Vec3d& normal = fixed.normals[slot];
    if (std::abs(dot(normal, pose.rotate(moving.normals[i]))) < kAlike) return 0.0;
    const double off = dot(normal, p - fixed.points[slot]) / (kThickness * voxel_m_);
    return weight_[i] * std::max(0.0, 1 - off * off);
  });
}

double PoseJudge::apart(const RigidTransform& a, const RigidTransform& b) const {
  return rms_apart(a, b, frame_) / voxel_m_;
}

}  // namespace pc
