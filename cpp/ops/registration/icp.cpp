#include "ops/registration/icp.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/parallel.h"
#include "ops/registration/robust_diagonal.h"
#include "ops/registration/symmetric_eigen6.h"

namespace pc {

namespace {

/// Passes over the pairs in one iteration, for its progress: search, limit, residuals and their median, equations.
constexpr std::uint64_t kPassesPerStep = 7;
constexpr double kMaxCoordinate = 1e15;
constexpr std::size_t kPollEvery = std::size_t{1} << 16;
constexpr double kLimitShare = 0.05;  // contract terrain section 3.2
constexpr double kFirstVoxel = 0.02, kVoxelRatio = 2.5, kFinestVoxel = 1.5;
constexpr std::size_t kLeastVoxels = 200;  // a coarser level says too little
constexpr double kShare = 0.35, kSigmas = 4, kLeastSpacings = 3, kNextVoxels = 3;
constexpr double kCauchy = 2.3849, kMedianToSigma = 1.4826;
constexpr double kGlobalLimit = 3, kGlobalLevel = 1.5;    // voxels of the global alignment
constexpr double kCoarseStep = 1e-2, kFinestStep = 1e-4;  // a level ends below so many spacings
constexpr std::size_t kJudges = 20'000;                   // points that compare two poses
constexpr double kWorse = 1.01, kAlike = 1e-3;            // the latter in spacings: below, both fit
constexpr double kMostLost = 0.8;

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorCode::kInvalidArgument, why); }

}  // namespace

IcpRegistration::Local IcpRegistration::local_points(const IcpSide& side, const char* name, OpContext& ctx) {
  require(side.skip.empty() || side.skip.size == side.positions.size, "skip needs one entry per point");
  require(side.stride >= 1, "the stride must be at least 1");
  require(is_finite(side.shift), "the shift must be finite");
  Local local{{}, {0, 0, 0}, 0, 0};
  local.points.reserve(side.positions.size / side.stride + 1);
  Vec3d sum{0, 0, 0}, origin{0, 0, 0};
  std::uint64_t kept = 0;
  const auto usable = [](double v) { return std::abs(v) <= kMaxCoordinate; };
  for (std::size_t row = 0; row < side.positions.size; ++row) {
    if (row % kPollEvery == 0) ctx.checkpoint();
    if (!side.skip.empty() && side.skip[row] != 0) continue;
    if (kept++ % side.stride != 0) continue;
    const Vec3d& p = side.positions[row];
    if (!usable(p.x) || !usable(p.y) || !usable(p.z)) {
      ++local.unusable;
      continue;
    }
    if (local.points.empty()) origin = p;
    local.points.push_back(p - origin);
    sum = sum + (p - origin);
  }
  local.count = local.points.size();
  if (local.count < kLeastPoints)
    refuse("the " + std::string(name) + " has " + std::to_string(local.count) +
           " usable points; registration needs at least " + std::to_string(kLeastPoints));
  const Vec3d mean = sum * (1 / static_cast<double>(local.count));
  Box3d box;
  for (std::size_t i = 0; i < local.points.size(); ++i) {
    if (i % kPollEvery == 0) ctx.checkpoint();
    box.add(local.points[i]);
    local.points[i] = local.points[i] - mean;
  }
  if (box.min == box.max) refuse("all points of the " + std::string(name) + " lie at one place");
  local.center = origin + mean + side.shift;
  return local;
}

IcpRegistration::IcpRegistration(const IcpSide& fixed, const IcpSide& moving, const IcpParams& params,
                                 OpContext& ctx)
    : params_(params),
      fixed_(local_points(fixed, "target", ctx)),
      moving_(local_points(moving, "source", ctx)),
      diagonal_(robust_diagonal(fixed_.points.view(), ctx)),
      moving_diagonal_(robust_diagonal(moving_.points.view(), ctx)) {
  require(params.max_iterations >= 1, "max_iterations must be at least 1");
  require(std::isfinite(params.rmse_threshold_m), "rmse_threshold must be finite");
  // More than half of the points at one place: the size of the rest decides.
  if (!(diagonal_ > 0)) {
    Box3d box;
    for (const Vec3d& p : fixed_.points) box.add(p);
    diagonal_ = std::sqrt(squared_distance(box.min, box.max));
  }
  greatest_limit_ = params.max_correspondence_distance_m.value_or(kLimitShare * diagonal_);
  require(std::isfinite(greatest_limit_) && greatest_limit_ > 0,
          "max_correspondence_distance must be finite and greater than 0");
  require(!params.start || params.initial == IcpInitial::kCentroid, "a start leaves nothing to search for");
  if (params.start) {
    bool finite = is_finite(params.start->translation);
    for (const Vec3d& row : params.start->rows) finite = finite && is_finite(row);
    require(finite, "the start must be finite");
  }
  ctx.begin_phase("Estimating normals", 0);
  add_levels(ctx);
  choose_start(ctx);
  begin_level(ctx);
}

void IcpRegistration::add_levels(OpContext& ctx) {
  const double first = diagonal_ / 4096;
  const BulkVector<Vec3d> fixed = at_most_points(std::move(fixed_.points), kMostPoints, first, ctx);
  const BulkVector<Vec3d> moving = at_most_points(std::move(moving_.points), kMostPoints, first, ctx);
  IcpScale finest{0, icp_level(fixed.view(), ctx), icp_level(moving.view(), ctx)};
  const double end = kFinestVoxel * finest.spacing_m();
  for (double voxel_m = kFirstVoxel * diagonal_; end > 0 && voxel_m > end; voxel_m /= kVoxelRatio) {
    const BulkVector<Vec3d> f = voxel_means(fixed.view(), voxel_m, ctx);
    const BulkVector<Vec3d> m = voxel_means(moving.view(), voxel_m, ctx);
    if (std::min(f.size(), m.size()) < kLeastVoxels) continue;
    levels_.push_back({voxel_m, icp_level(f.view(), ctx), icp_level(m.view(), ctx)});
  }
  levels_.push_back(std::move(finest));
}

RigidTransform IcpRegistration::local(const RigidTransform& common) const {
  RigidTransform out = orthonormal(common);
  out.translation = out(moving_.center) - fixed_.center;
  return out;
}

GlobalAlignment IcpRegistration::searched(OpContext& ctx) const {
  const RigidTransform given[] = {{}, local({})};
  const IcpScale& finest = levels_.back();
  return global_alignment(finest.fixed.points.view(), finest.moving.points.view(), {given, 2}, ctx);
}

/// Starts from a global alignment; false if it finds none.
bool IcpRegistration::align(OpContext& ctx) {
  global_ = searched(ctx);
  if (global_->outcome == GlobalOutcome::kNone) return false;
  start_kind_ = IcpStart::kGlobal;
  begin_at(*global_);
  return true;
}

void IcpRegistration::begin_at(const GlobalAlignment& found) {
  start_ = pose_ = found.pose;
  limit_ = std::min(greatest_limit_, kGlobalLimit * found.voxel_m);
  level_ = 0;
  while (level_ + 1 < levels_.size() && levels_[level_].voxel_m > kGlobalLevel * found.voxel_m) ++level_;
}

void IcpRegistration::choose_start(OpContext& ctx) {
  if (params_.initial == IcpInitial::kAuto && align(ctx)) return;
  if (params_.start) {
    start_ = local(*params_.start);
  } else {
    const RigidTransform centroid{}, placed = local({});
    const double reach = std::max(greatest_limit_, kLimitShare * diagonal_);
    const bool stay =
        misfit(levels_.front(), placed, reach, ctx) < misfit(levels_.front(), centroid, reach, ctx);
    start_kind_ = stay ? IcpStart::kAsPlaced : IcpStart::kCentroid;
    start_ = stay ? placed : centroid;
  }
  pose_ = start_;
  limit_ = greatest_limit_;
}

std::optional<GpuRun> IcpRegistration::gpu_of(OpContext& ctx) {
  if (!warnings_.empty()) return std::nullopt;
  return std::optional<GpuRun>(std::in_place, ctx, "Registration", warnings_);
}

std::optional<IcpGpu> IcpRegistration::gpu_with(std::optional<GpuRun>& run) {
  if (!run) return std::nullopt;
  return IcpGpu{*run, device_};
}

double IcpRegistration::least_limit() const { return kLeastSpacings * levels_[level_].spacing_m(); }

void IcpRegistration::begin_level(OpContext& ctx) {
  // What is left is shared among the levels to come, so that the finest one gets its part.
  const auto levels = static_cast<std::uint32_t>(levels_.size() - level_);
  level_left_ = (params_.max_iterations - iterations_ + levels - 1) / levels;
  frame_ = icp_frame(levels_[level_].moving, ctx);
  pairs_ = {};
  batch_rmse_ = -1;
  if (level_ > 0)
    limit_ = std::min(limit_, std::max(kNextVoxels * levels_[level_ - 1].voxel_m, least_limit()));
}

IcpProgress IcpRegistration::advance(std::uint32_t iterations, OpContext& ctx) {
  const auto phase = [&](std::uint32_t left) {
    ctx.begin_phase("Iterating", std::uint64_t{left} * kPassesPerStep * levels_[level_].pair_count());
  };
  phase(iterations);
  std::optional<GpuRun> run = gpu_of(ctx);
  const std::optional<IcpGpu> gpu = gpu_with(run);
  for (std::uint32_t done = 0; done < iterations && !finished_; ++done) {
    bool settled = step(ctx, gpu ? &*gpu : nullptr);
    ++iterations_;
    --level_left_;
    if (done + 1 == iterations) {
      const double rmse = history_.back().rmse_m, gain = batch_rmse_ - rmse;
      if (batch_rmse_ >= 0 && gain >= 0 && gain < params_.rmse_threshold_m) settled = true;
      batch_rmse_ = rmse;
    }
    if (level_ends(settled)) {
      const bool last = level_ + 1 == levels_.size();
      converged_ = last && settled && history_.back().pair_count > 0;
      finished_ = last;
      if (!last && iterations_ < params_.max_iterations) {
        ++level_;
        begin_level(ctx);
        phase(iterations - done - 1);
      }
    }
    finished_ = finished_ || iterations_ >= params_.max_iterations;
  }
  return {iterations_, history_.empty() ? 0 : history_.back().rmse_m, levels_[level_].voxel_m, finished_};
}

/// One iteration; true if the level has settled.
bool IcpRegistration::step(OpContext& ctx, const IcpGpu* gpu) {
  const IcpScale& scale = levels_[level_];
  find_pairs(scale, pose_, limit_, IcpQueries::kBoth, pairs_, ctx, gpu);
  const double sigma = pair_distance(scale, pairs_, kShare, ctx) / std::sqrt(-2 * std::log(1 - kShare));
  const double before = limit_;
  limit_ = std::min(limit_, std::max(least_limit(), kSigmas * sigma));
  narrow_pairs(scale, limit_, pairs_, ctx);
  const double median = median_residual(scale, pose_, params_.method, pairs_, ctx);
  if (median < 0) {
    history_.push_back({scale.voxel_m, limit_, 0, 0});
    return true;
  }
  const double cauchy_m = kCauchy * std::max(kMedianToSigma * median, 1e-9 * diagonal_);
  const IcpFrame frame{pose_(frame_.center), frame_.radius_m};
  const IcpSystem system = icp_system(scale, pose_, params_.method, pairs_, frame, cauchy_m, ctx);
  const double rmse =
      system.pair_count > 0 ? std::sqrt(system.squared / static_cast<double>(system.pair_count)) : 0;
  history_.push_back({scale.voxel_m, limit_, rmse, system.pair_count});
  move(system, frame);
  const double enough = level_ + 1 == levels_.size() ? kFinestStep : kCoarseStep;
  return limit_ > 0.99 * before && moved_ <= enough * scale.spacing_m();
}

/// Moves the pose by the solution of the system, at most by the limit.
void IcpRegistration::move(const IcpSystem& system, const IcpFrame& frame) {
  const IcpMotion step = icp_motion(system, frame, limit_);
  moved_ = step.length_m;
  pose_ = orthonormal(composed(step.motion, pose_));
}

/// Mean squared distance of moving points to the fixed side, each cut off at the limit: the smaller, the better.
double IcpRegistration::misfit(const IcpScale& scale, const RigidTransform& pose, double limit_m,
                               OpContext& ctx) const {
  const std::size_t stride = (scale.moving.points.size() + kJudges - 1) / kJudges;
  const std::size_t count = (scale.moving.points.size() + stride - 1) / stride;
  const KdTreeView tree = scale.fixed.tree->view();
  const double sum = parallel_sum(ctx, count, [&](std::size_t i) {
    double squared = 0;
    std::uint64_t row = 0, slot = 0;
    const Vec3d p = pose(scale.moving.points[i * stride]);
    const bool found = tree.knn_within(p, 1, limit_m * limit_m, ~std::uint64_t{0}, &squared, &row, &slot) > 0;
    return found ? squared : limit_m * limit_m;
  });
  return sum / static_cast<double>(count);
}

/// Whether the steps have led to a place that fits worse.
bool IcpRegistration::worse_than_start(double limit_m, OpContext& ctx, const IcpGpu* gpu) {
  const IcpScale& finest = levels_.back();
  const double alike = kAlike * finest.spacing_m();
  if (start_kind_ != IcpStart::kGlobal)
    return misfit(finest, pose_, limit_m, ctx) >
           kWorse * misfit(finest, start_, limit_m, ctx) + alike * alike;
  // Both poses are near the right one: points beyond the common part must not decide, as their distances change most.
  struct Near {
    double residual_m, pairs;
  };
  const auto near = [&](const RigidTransform& pose) {
    IcpPairs pairs;
    find_pairs(finest, pose, limit_m, IcpQueries::kMoving, pairs, ctx, gpu);
    narrow_pairs(finest, limit_m, pairs, ctx);
    const auto lost = std::count(pairs.slot.begin(), pairs.slot.end(), IcpPairs::kNone);
    return Near{median_residual(finest, pose, params_.method, pairs, ctx),
                static_cast<double>(pairs.slot.size()) - static_cast<double>(lost)};
  };
  const Near before = near(start_), after = near(pose_);
  return after.pairs < kMostLost * before.pairs || after.residual_m > kWorse * before.residual_m + alike;
}

/// Moving points with a partner within the limit, on the rim or not.
IcpRegistration::Fit IcpRegistration::fit(const IcpPairs& pairs, double limit_m, OpContext& ctx) const {
  const std::size_t count = levels_.back().moving.points.size();
  const auto near = [&](std::size_t i) { return pairs.squared[i] <= limit_m * limit_m; };
  const double paired = parallel_sum(ctx, count, [&](std::size_t i) { return near(i) ? 1.0 : 0.0; });
  const double squared =
      parallel_sum(ctx, count, [&](std::size_t i) { return near(i) ? pairs.squared[i] : 0.0; });
  return {paired / static_cast<double>(count), paired > 0 ? std::sqrt(squared / paired) : 0};
}

IcpConditioning IcpRegistration::conditioning(const IcpPairs& pairs, OpContext& ctx) const {
  const IcpScale& scale = levels_.back();
  IcpFrame frame = icp_frame(scale.moving, ctx);
  frame.center = pose_(frame.center);
  const double all_alike = std::numeric_limits<double>::max();
  const IcpSystem system = icp_system(scale, pose_, IcpMethod::kPointToPlane, pairs, frame, all_alike, ctx);
  const SymmetricEigen6 eigen = symmetric_eigen6(system.h);
  const auto& v = eigen.vector[0];
  const double ratio = eigen.value[5] > 0 ? std::max(0.0, eigen.value[0] / eigen.value[5]) : 0;
  return {ratio, {v[0], v[1], v[2]}, {v[3], v[4], v[5]}};
}

/// Where noise is averaged and surfaces are sampled evenly; all points where there is no coarser level.
const IcpScale& IcpRegistration::judged_scale() const {
  const auto few = [](const IcpScale& scale) {
    return std::min(scale.fixed.points.size(), scale.moving.points.size()) <= kJudgedPoints;
  };
  const auto last = std::find_if(levels_.rbegin(), levels_.rend(), few);
  return last == levels_.rend() ? levels_.front() : *last;
}

IcpResult IcpRegistration::result(OpContext& ctx) {
  ctx.begin_phase("Judging the fit", 0);
  const IcpScale& finest = levels_.back();
  const double spacing = finest.spacing_m();
  IcpResult r{};
  const double judged_within = std::max(limit_, kLeastSpacings * spacing);
  std::optional<GpuRun> run = gpu_of(ctx);
  const std::optional<IcpGpu> found_by = gpu_with(run);
  const IcpGpu* const gpu = found_by ? &*found_by : nullptr;
  r.kept_start = worse_than_start(judged_within, ctx, gpu);
  if (r.kept_start) pose_ = start_;
  find_pairs(finest, pose_, greatest_limit_, IcpQueries::kMoving, pairs_, ctx, gpu);
  device_.close();
  const Fit wide = fit(pairs_, greatest_limit_, ctx), narrow = fit(pairs_, limit_, ctx);
  narrow_pairs(finest, limit_, pairs_, ctx);
  r.pose = pose_;
  r.pose.translation = pose_.translation + fixed_.center - pose_.rotate(moving_.center);
  r.start = start_kind_;
  r.global = global_;
  r.robust_diagonal_m = diagonal_;
  r.moving_diagonal_m = moving_diagonal_;
  r.max_correspondence_distance_m = greatest_limit_;
  r.fitness = wide.share;
  r.rmse_m = wide.rmse_m;
  r.final_limit_m = limit_;
  r.final_fitness = narrow.share;
  r.final_rmse_m = narrow.rmse_m;
  r.spacing_m = spacing;
  r.converged = converged_ && !r.kept_start;
  r.conditioning = conditioning(pairs_, ctx);
  r.surface = surface_agreement(judged_scale(), pose_, ctx);
  r.history = history_;
  r.warnings = warnings_;
  r.fixed_count = fixed_.count;
  r.moving_count = moving_.count;
  r.fixed_unusable = fixed_.unusable;
  r.moving_unusable = moving_.unusable;
  r.fixed_finest_count = finest.fixed.points.size();
  r.moving_finest_count = finest.moving.points.size();
  return r;
}

std::uint64_t icp_bytes(std::uint64_t fixed_points, std::uint64_t moving_points, IcpInitial initial) {
  const auto side = [](std::uint64_t points) {
    const std::uint64_t finest = std::min<std::uint64_t>(points, IcpRegistration::kMostPoints);
    // Local points; keys, rows and their copies while voxels are sorted; then levels, pairs and scratch.
    return points * 24 + std::max(points > finest ? points * 48 : 0, finest * 168);
  };
  const std::uint64_t both = side(fixed_points) + side(moving_points);
  return initial == IcpInitial::kAuto ? both + global_alignment_bytes(fixed_points, moving_points) : both;
}

}  // namespace pc
