#include "ops/registration/global_alignment.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/random.h"
#include "core/symmetric_eigen.h"
#include "ops/registration/local_features.h"
#include "ops/registration/pair_consensus.h"
#include "ops/registration/pose_judge.h"

namespace pc {

namespace {

constexpr std::size_t kScalePoints[] = {3000, 6000, 12'000};
constexpr std::size_t kMostPoints = 16'000;  // of the side that fills more voxels
constexpr std::size_t kThinned = 200'000;    // points from which voxel sizes are derived
constexpr double kFeatureRadius = 5, kBound = 1.5, kSpacingPerVoxel = 1.3, kSparse = 1.5, kFiner = 0.9;
constexpr std::uint32_t kMostPoses = 10;
constexpr std::size_t kJudges = 2000;  // moving points that compare poses: few, as there are many poses
constexpr std::size_t kCarried = 3, kRandomPoses = 6;
constexpr std::uint64_t kSeed = 20090512;
constexpr double kOther = 5, kFarShift = 8;  // voxels: poses that are not the same; a shift to another one
constexpr double kHalfTurn = 3.14159265358979323846;
constexpr double kClearOfRival = 1.5, kAboveChance = 2;
constexpr std::size_t kLeastPoints = 50;  // fewer fit on too much

/// Edge of the voxels that leave at most `most` points and not much less; 0 if all points are so few.
double voxel_for(Span<const Vec3d> points, std::size_t most, OpContext& ctx) {
  if (points.size <= most) return 0;
  Box3d box;
  for (const Vec3d& p : points) box.add(p);
  const double diagonal = std::sqrt(squared_distance(box.min, box.max));
  double low = 0, high = 0, voxel_m = diagonal / 64;  // too fine; coarse enough
  for (int i = 0; i < 12; ++i) {
    const auto count = static_cast<double>(voxel_means(points, voxel_m, ctx).size());
    const double share = count / static_cast<double>(most);
    (share > 1 ? low : high) = voxel_m;
    if (share <= 1 && share > 0.85) return voxel_m;
    // Surfaces have a quarter of the voxels at twice the edge.
    double next = voxel_m * std::sqrt(share / 0.93);
    if (low > 0 && high > 0 && !(next > low && next < high)) next = std::sqrt(low * high);
    voxel_m = next;
  }
  return high > 0 ? high : voxel_m;
}

struct Thinned {
  IcpScale scale;
  double voxel_m;  ///< distance of neighbouring points
};

IcpLevel thinned_level(Span<const Vec3d> points, double voxel_m, OpContext& ctx) {
  if (!(voxel_m > 0)) return icp_level(points, ctx);
  return icp_level(voxel_means(points, voxel_m, ctx).view(), ctx);
}

/// Both sides, thinned so that the one that fills fewer voxels keeps about `most` points; the other one at most
/// kMostPoints.
Thinned thinned(Span<const Vec3d> fixed, Span<const Vec3d> moving, std::size_t most, OpContext& ctx) {
  const double finer = std::min(voxel_for(fixed, most, ctx), voxel_for(moving, most, ctx));
  const double least = std::max(voxel_for(fixed, kMostPoints, ctx), voxel_for(moving, kMostPoints, ctx));
  Thinned out{{0, {}, {}}, std::max(finer, least)};
  for (bool again = false;;) {
    const bool thins = out.voxel_m > 0;
    out.scale.voxel_m = out.voxel_m;
    out.scale.fixed = thinned_level(fixed, out.voxel_m, ctx);
    out.scale.moving = thinned_level(moving, out.voxel_m, ctx);
    const double sampled = out.scale.spacing_m() / kSpacingPerVoxel;
    const bool sparse =
        sampled > kSparse * out.voxel_m;  // a side that is sparser than the voxels sets the scale
    out.voxel_m = std::max(out.voxel_m, sampled);
    if (!thins || !sparse || again) return out;
    again = true;
  }
}

/// Uniform over all rotations (Shoemake 1992).
RigidTransform random_rotation(std::uint64_t index) {
  constexpr double kTurn = 2 * kHalfTurn;
  const double u = random_unit(kSeed, 3 * index), a = kTurn * random_unit(kSeed, 3 * index + 1),
               b = kTurn * random_unit(kSeed, 3 * index + 2);
  const double w = std::sqrt(1 - u) * std::sin(a), s = std::sqrt(u);
  const Vec3d axis{std::sqrt(1 - u) * std::cos(a), s * std::sin(b), s * std::cos(b)};
  const double length = std::sqrt(dot(axis, axis));
  return length > 0 ? rotation(axis * (2 * std::atan2(length, w) / length)) : RigidTransform{};
}

/// Leaves every k-th point of a level for comparisons. It has no tree any more.
void sample(IcpLevel& level, std::size_t most) {
  const std::size_t stride = (level.points.size() + most - 1) / most;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < level.points.size(); i += stride, ++kept) {
    level.points[kept] = level.points[i];
    level.normals[kept] = level.normals[i];
    level.is_rim[kept] = level.is_rim[i];
  }
  level.points.resize(kept);
  level.normals.resize(kept);
  level.is_rim.resize(kept);
  level.tree.reset();
}

/// All poses tried at one scale.
struct Trial {
  std::vector<JudgedPose> poses;  ///< most agreement first
  std::vector<double> chance;     ///< agreements of the poses at random
  JudgedPose given;               ///< the best of the given ones
  std::vector<PointPair> pairs;
  Vec3d center;  ///< of the moving side
  double voxel_m;
};

/// The lower quartile: of a symmetric shape, many poses at random end in a right one.
double lower_quartile(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 4);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

std::vector<PointPair> matched_pairs(const IcpScale& scale, double voxel_m, OpContext& ctx) {
  ctx.begin_phase("Describing surfaces", 0);
  const BulkVector<LocalFeature> fixed = local_features(scale.fixed, kFeatureRadius * voxel_m, ctx);
  const BulkVector<LocalFeature> moving = local_features(scale.moving, kFeatureRadius * voxel_m, ctx);
  ctx.begin_phase("Matching surfaces", fixed.size() + moving.size());
  BulkVector<FeatureMatch> matches = reciprocal_matches(moving.view(), fixed.view(), ctx);
  if (matches.size() > kMostPairs) {
    std::stable_sort(matches.begin(), matches.end(),
                     [](const FeatureMatch& a, const FeatureMatch& b) { return a.squared < b.squared; });
    matches.resize(kMostPairs);
  }
  std::vector<PointPair> pairs;
  for (const FeatureMatch& match : matches)
    pairs.push_back({scale.moving.points[match.moving], scale.fixed.points[match.fixed]});
  return pairs;
}

/// Most agreement first; of poses that are the same, only the best.
void keep_distinct(std::vector<JudgedPose>& poses, const PoseJudge& judge) {
  std::stable_sort(poses.begin(), poses.end(),
                   [](const JudgedPose& a, const JudgedPose& b) { return a.agreement > b.agreement; });
  std::vector<JudgedPose> distinct;
  for (const JudgedPose& pose : poses)
    if (std::none_of(distinct.begin(), distinct.end(),
                     [&](const JudgedPose& other) { return judge.apart(pose.pose, other.pose) <= kOther; }))
      distinct.push_back(pose);
  poses = std::move(distinct);
}

/// The moving side turned by quarters about its principal axes, and shifted along them: where shapes that repeat
/// themselves fit as well.
std::vector<RigidTransform> self_similar_motions(const IcpLevel& moving, double voxel_m) {
  Vec3d sum{0, 0, 0};
  for (const Vec3d& p : moving.points) sum = sum + p;
  const auto count = static_cast<double>(moving.points.size());
  const Vec3d center = sum * (1 / count);
  Symmetric3 moments{0, 0, 0, 0, 0, 0};
  for (const Vec3d& p : moving.points) {
    const Vec3d d = p - center;
    moments.xx += d.x * d.x, moments.xy += d.x * d.y, moments.xz += d.x * d.z;
    moments.yy += d.y * d.y, moments.yz += d.y * d.z, moments.zz += d.z * d.z;
  }
  const SymmetricEigen3 eigen = symmetric_eigen(moments);
  std::vector<RigidTransform> out;
  for (int axis = 0; axis < 3; ++axis) {
    const Vec3d along = eigen.vector[axis];
    for (const double turn : {kHalfTurn / 2, kHalfTurn, -kHalfTurn / 2}) {
      RigidTransform motion = rotation(along * turn);
      motion.translation = center - motion.rotate(center);
      out.push_back(motion);
    }
    const double far = std::max(std::sqrt(std::max(0.0, eigen.value[axis]) / count), kFarShift * voxel_m);
    for (const double shift : {far, -far}) {
      RigidTransform motion;
      motion.translation = along * shift;
      out.push_back(motion);
    }
  }
  return out;
}

std::vector<JudgedPose> judged(const PoseJudge& judge, const std::vector<RigidTransform>& starts,
                               OpContext& ctx) {
  std::vector<JudgedPose> out;
  for (const RigidTransform& start : starts) out.push_back(judge.refined(start, ctx));
  return out;
}

Trial tried(Thinned sides, Span<const RigidTransform> given, const std::vector<RigidTransform>& carried,
            OpContext& ctx) {
  Trial trial{{},
              {},
              {},
              matched_pairs(sides.scale, sides.voxel_m, ctx),
              icp_frame(sides.scale.moving, ctx).center,
              sides.voxel_m};
  ctx.begin_phase("Searching for a consensus", 0);
  const auto found =
      consensus_poses({trial.pairs.data(), trial.pairs.size()}, {kBound * sides.voxel_m, kMostPoses}, ctx);
  ctx.begin_phase("Comparing poses", 0);
  sample(sides.scale.moving, kJudges);
  const PoseJudge judge(sides.scale, sides.voxel_m, ctx);
  std::vector<RigidTransform> starts(given.begin(), given.end());
  for (std::uint64_t i = 0; i < kRandomPoses; ++i) starts.push_back(composed(random_rotation(i), given[0]));
  starts.insert(starts.end(), carried.begin(), carried.end());
  for (const ConsensusPose& pose : found) starts.push_back(pose.pose);
  trial.poses = judged(judge, starts, ctx);
  trial.given = {given[0], -1};
  for (std::size_t i = 0; i < given.size; ++i)
    if (trial.poses[i].agreement > trial.given.agreement) trial.given = {given[i], trial.poses[i].agreement};
  for (std::size_t i = 0; i < kRandomPoses; ++i)
    trial.chance.push_back(trial.poses[given.size + i].agreement);
  keep_distinct(trial.poses, judge);
  std::vector<RigidTransform> similar = self_similar_motions(sides.scale.moving, sides.voxel_m);
  for (RigidTransform& motion : similar) motion = composed(trial.poses[0].pose, motion);
  for (const JudgedPose& pose : judged(judge, similar, ctx)) trial.poses.push_back(pose);
  keep_distinct(trial.poses, judge);
  return trial;
}

/// Agreement of the best pose over that of the next other one.
double lead(const Trial& trial) {
  const double best = trial.poses[0].agreement, rival = trial.poses.size() > 1 ? trial.poses[1].agreement : 0;
  return best > 0 ? best / std::max(rival, 1e-9) : 0;
}

GlobalAlignment outcome_of(const Trial& trial) {
  const JudgedPose& best = trial.poses[0];
  GlobalAlignment out{best.pose, GlobalOutcome::kAmbiguous, trial.voxel_m, best.agreement, 0, 0, 0, 0, 0};
  out.match_count = static_cast<std::uint32_t>(trial.pairs.size());
  const double bound = kBound * trial.voxel_m;
  for (const PointPair& pair : trial.pairs)
    out.consensus_count += squared_distance(best.pose(pair.moving), pair.fixed) <= bound * bound;
  if (trial.poses.size() > 1) {
    const RigidTransform &a = best.pose, &b = trial.poses[1].pose;
    out.rival_agreement = trial.poses[1].agreement;
    out.rival_turn_rad = turn_between(a, b);
    out.rival_shift_m = std::sqrt(squared_distance(a(trial.center), b(trial.center)));
  }
  if (lead(trial) >= kClearOfRival) out.outcome = GlobalOutcome::kFound;
  if (!(best.agreement >= kAboveChance * lower_quartile(trial.chance)) || !(best.agreement > 0)) {
    out.outcome = GlobalOutcome::kNone;
    out.pose = trial.given.pose;
    out.agreement = trial.given.agreement;
  }
  return out;
}

}  // namespace

GlobalAlignment global_alignment(Span<const Vec3d> fixed, Span<const Vec3d> moving,
                                 Span<const RigidTransform> given, OpContext& ctx) {
  require(!given.empty(), "an alignment needs a pose to compare with");
  const auto coarse = [&](Span<const Vec3d> points) {
    BulkVector<Vec3d> copy(points.size);
    std::copy(points.begin(), points.end(), copy.begin());
    Box3d box;
    for (const Vec3d& p : points) box.add(p);
    const double first = std::sqrt(squared_distance(box.min, box.max)) / 1024;
    return first > 0 ? at_most_points(std::move(copy), kThinned, first, ctx) : std::move(copy);
  };
  ctx.begin_phase("Thinning points", 0);
  const BulkVector<Vec3d> f = coarse(fixed), m = coarse(moving);
  std::vector<RigidTransform> carried;
  GlobalAlignment out{given[0], GlobalOutcome::kNone, 0, 0, 0, 0, 0, 0, 0};
  double most_lead = -1, last_voxel_m = 0;
  for (const std::size_t most : kScalePoints) {
    ctx.begin_phase("Thinning points", 0);
    Thinned sides = thinned(f.view(), m.view(), most, ctx);
    const std::size_t fewer = std::min(sides.scale.fixed.points.size(), sides.scale.moving.points.size());
    const bool same = last_voxel_m > 0 && sides.voxel_m > kFiner * last_voxel_m;
    if (!(sides.voxel_m > 0) || same || fewer < kLeastPoints) break;
    last_voxel_m = sides.voxel_m;
    const Trial trial = tried(std::move(sides), given, carried, ctx);
    if (lead(trial) > most_lead) out = outcome_of(trial);
    most_lead = std::max(most_lead, lead(trial));
    if (out.outcome == GlobalOutcome::kFound) break;
    carried.clear();
    for (std::size_t i = 0; i < std::min(kCarried, trial.poses.size()); ++i)
      carried.push_back(trial.poses[i].pose);
  }
  return out;
}

double agreement_near(Span<const Vec3d> fixed, Span<const Vec3d> moving, const RigidTransform& pose,
                      double voxel_m, OpContext& ctx) {
  IcpScale scale{voxel_m, thinned_level(fixed, voxel_m, ctx), thinned_level(moving, voxel_m, ctx)};
  sample(scale.moving, kJudges);
  return PoseJudge(scale, voxel_m, ctx).refined(pose, ctx).agreement;
}

std::uint64_t global_alignment_bytes(std::uint64_t fixed_points, std::uint64_t moving_points) {
  // A copy of a side's points, and keys and rows while it is thinned; features, levels and links of both sides.
  constexpr std::uint64_t kPerPoint = 24 + 48, kPerThinned = 1000, kLinks = kMostPairs * kMostPairs / 8;
  return kPerPoint * (fixed_points + moving_points) + 2 * kPerThinned * kMostPoints + kLinks;
}

}  // namespace pc
