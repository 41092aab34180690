#include "ops/wood/wood_leaf.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/parallel.h"
#include "ops/skeleton/geodesic_skeleton.h"
#include "ops/wood/local_geometry_features.h"
#include "ops/wood/reflectance_vote.h"
#include "ops/wood/wood_class.h"
#include "ops/wood/wood_mixture.h"
#include "ops/wood/wood_points.h"
#include "ops/wood/wood_regions.h"
#include "ops/wood/wood_segments.h"
#include "ops/wood/wood_shape.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = 65'536;
constexpr double kLeastSeed = 0.85;       // probability of a point that branches grow from
constexpr double kNormalQuantile = 0.99;  // sphericity that counts as a ball
constexpr double kGateFactor = 2;         // of branch_grow_sph: sphericity near the backbone
constexpr double kLeastGate = 0.04;
constexpr double kPartShare = 0.0005;  // of all points: components of fewer are no wood
constexpr std::uint64_t kLeastPart = 3;
constexpr double kBackboneShare = 0.002;  // of all points, that the backbone carries at least
constexpr double kLeastBackbone = 30;
constexpr double kFinestShape_m =
    0.0175;  // kSota: neighbours closer than this lie on one leaf, which is as flat as bark
constexpr double kShapesPerPlant = 150;  // finer on plants of less than so many of them
constexpr double kCylinderGate = 0.5;    // of wood_bias: near a cylinder less evidence is enough

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorCode::kInvalidArgument, what); }

void check_range(const char* name, double value, double most) {
  if (value >= 0 && value <= most) return;
  const std::string limits =
      std::isfinite(most) ? "0 to " + std::to_string(static_cast<int>(most)) : "a number from 0";
  refuse(std::string(name) + " must be " + limits + ", not " + std::to_string(value));
}

void check(HitPoints points, Span<const float> reflectance, const WoodLeafParams& params) {
  check_range("wood_bias", params.wood_bias, 1);
  check_range("reflectance_weight_max", params.reflectance_weight_max, 1);
  for (const auto& [name, value] : {std::pair{"branch_grow_sph", params.branch_grow_sph},
                                    std::pair{"backbone_support", params.backbone_support},
                                    std::pair{"voxel_size", params.voxel_size_m}}) {
    if (!std::isfinite(value)) refuse(std::string(name) + " must be finite");
    check_range(name, value, HUGE_VAL);
  }
  if (params.reg_k == 0 || params.reg_k > kMostLocalNeighbors)
    refuse("reg_k must be 1 to " + std::to_string(kMostLocalNeighbors) + ", not " +
           std::to_string(params.reg_k));
  if (params.reg_iters > 100) refuse("reg_iters must be 0 to 100, not " + std::to_string(params.reg_iters));
  require(params.most_points > 0, "most_points must be 1 or more");
  if (!reflectance.empty() && reflectance.size != points.size())
    refuse("reflectance has " + std::to_string(reflectance.size) + " values for " +
           std::to_string(points.size()) + " points");
}

/// The finest voxels that auto takes; 0 = all points.
double finest_voxel(HitPoints points, WoodMethod method, OpContext& ctx) {
  if (method != WoodMethod::kSota) return 0;
  Box3d box;
  const auto xyz = points.xyz();
  for (std::size_t i = 0; i < xyz.size; ++i) {
    if (i % kGrain == 0) ctx.checkpoint();
    if (is_finite(xyz[i])) box.add(xyz[i]);
  }
  const Vec3d size = box.max - box.min;
  return std::min(kFinestShape_m, std::max({size.x, size.y, size.z, 0.0}) / kShapesPerPlant);
}

/// State of a run over the points that are told apart.
struct Run {
  const WoodLeafParams& params;
  Span<const Vec3d> place;
  const LocalGeometryFeatures& shape;
  WoodLeafResult& result;
  OpContext& ctx;
};

float ball_sphericity(const LocalGeometryFeatures& shape) {
  BulkVector<float> sorted(shape.sphericity.size());
  std::copy(shape.sphericity.begin(), shape.sphericity.end(), sorted.begin());
  const auto at = static_cast<std::ptrdiff_t>(kNormalQuantile * static_cast<double>(sorted.size() - 1));
  std::nth_element(sorted.begin(), sorted.begin() + at, sorted.end());
  return sorted[static_cast<std::size_t>(at)];
}

/// Probability of wood by the shape of one neighbourhood.
BulkVector<float> mixture_probability(const Run& run) {
  const float ball = ball_sphericity(run.shape);
  BulkVector<float> value(run.place.size);
  const auto score_of = [&](std::size_t i) {
    const float round = ball > 0 ? std::min(run.shape.sphericity[i] / ball, 1.0F) : 0.0F;
    return 0.5F * run.shape.verticality[i] + 0.5F * (1 - round);
  };
  parallel_for(run.ctx, value.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) value[i] = score_of(i);
  });
  const ScoreMixture mixture = score_mixture(value.view(), run.ctx);
  run.result.mixture_separated = mixture.separated;
  if (!mixture.separated)
    run.result.warnings.push_back(
        "The shapes do not fall into two groups: wood is the share of points with the most wood-like shapes "
        "that "
        "wood_bias leaves.");
  parallel_for(run.ctx, value.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) value[i] = static_cast<float>(mixture.of(value[i]));
  });
  return value;
}

/// Points from `least` on are wood; elongated ones join their seeds.
WoodFlags wood_of(const Run& run, Span<const float> probability) {
  const double seed_from = std::max(run.params.wood_bias, kLeastSeed);
  WoodFlags wood(probability.size), seed(probability.size), joins(probability.size);
  parallel_for(run.ctx, probability.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto p = static_cast<double>(probability[i]);
      wood[i] = p >= run.params.wood_bias ? 1 : 0;
      seed[i] = p >= seed_from ? 1 : 0;
      joins[i] = static_cast<double>(run.shape.sphericity[i]) <= run.params.branch_grow_sph &&
                         run.shape.linearity[i] >= run.shape.planarity[i]
                     ? 1
                     : 0;
    }
  });
  grow_wood(run.shape, run.params.reg_k, seed.view(), joins.view(), wood, run.ctx);
  return wood;
}

/// The skeleton of the points, which lie in an order of position.
GeodesicSkeleton skeleton_of(const Run& run) {
  return geodesic_skeleton(HitPoints::assume_hits(run.place), run.ctx);
}

void join_backbone(const Run& run, WoodFlags& wood) {
  const GeodesicSkeleton skeleton = skeleton_of(run);
  const double count = static_cast<double>(run.place.size);
  const double support = run.params.backbone_support > 0 ? run.params.backbone_support
                                                         : std::max(kLeastBackbone, kBackboneShare * count);
  const auto near = near_backbone(skeleton, run.place.size, support, run.ctx);
  const double gate = std::max(kGateFactor * run.params.branch_grow_sph, kLeastGate);
  for (std::size_t i = 0; i < wood.size(); ++i) {
    if (i % kGrain == 0) run.ctx.checkpoint();
    if (near[i] != 0 && static_cast<double>(run.shape.sphericity[i]) <= gate) wood[i] = 1;
  }
  const auto least = static_cast<std::uint64_t>(kPartShare * count);
  drop_speckle(run.shape, run.params.reg_k, std::max(kLeastPart, least), wood, run.ctx);
}

/// Wood by shapes over many sizes and along the plant, and by cylinders.
WoodFlags sota_wood(const Run& run) {
  const GeodesicSkeleton skeleton = skeleton_of(run);
  const auto parts = static_cast<std::uint32_t>(skeleton.nodes.size());
  const BulkVector<float> probability =
      wood_probability(run.shape, skeleton.node_of_point.view(), parts, run.params.reg_k, run.ctx);
  WoodFlags wood = wood_of(run, probability.view());
  const SegmentCylinders cylinders = segment_cylinders(run.place, skeleton, run.ctx);
  run.result.segment_count = cylinders.segment_count;
  run.result.cylinder_count = cylinders.cylinder_count;
  const double least = kCylinderGate * run.params.wood_bias;
  for (std::size_t i = 0; i < wood.size(); ++i) {
    if (i % kGrain == 0) run.ctx.checkpoint();
    if (cylinders.near[i] != 0 && static_cast<double>(probability[i]) >= least) wood[i] = 1;
  }
  return wood;
}

WoodFlags classify(const Run& run) {
  WoodFlags wood =
      run.params.method == WoodMethod::kSota ? sota_wood(run) : wood_of(run, mixture_probability(run).view());
  run.ctx.begin_phase("Smoothing labels", 0);
  majority_smooth(run.shape, run.params.reg_k, run.params.reg_iters, wood, run.ctx);
  if (run.params.method == WoodMethod::kConnectivity) join_backbone(run, wood);
  drop_speckle(run.shape, run.params.reg_k, run.params.min_speckle, wood, run.ctx);
  return wood;
}

void count_labels(WoodLeafResult& result, OpContext& ctx) {
  const auto labels = result.wood_class.view();
  for (std::size_t i = 0; i < labels.size; ++i) {
    if (i % kGrain == 0) ctx.checkpoint();
    result.wood_count += labels[i] == kWood ? 1 : 0;
  }
  result.leaf_count = labels.size - result.wood_count;
}

}  // namespace

WoodLeafResult wood_leaf(HitPoints points, Span<const float> reflectance, const WoodLeafParams& params,
                         OpContext& ctx) {
  check(points, reflectance, params);
  WoodLeafResult result{};
  ctx.begin_phase("Sorting points", 0);
  const double finest = finest_voxel(points, params.method, ctx);
  WoodPoints used = wood_points(points, {params.voxel_size_m, finest, params.most_points}, ctx);
  if (used.finite_count < 3) refuse("Need at least 3 points");
  result.non_finite_count = points.size() - used.finite_count;
  result.used_count = used.place.size();
  result.voxel_m = used.voxel_m;
  WoodFlags wood;
  {
    const LocalGeometryParams local{params.k_min, params.k_max, params.k_step, params.reg_k,
                                    params.method == WoodMethod::kSota};
    const LocalGeometryFeatures shape = local_geometry_features(used.place.view(), local, ctx);
    wood = classify({params, used.place.view(), shape, result, ctx});
  }
  for (std::size_t i = 0; i < wood.size(); ++i) wood[i] = wood[i] != 0 ? kWood : kLeaf;
  result.wood_class = Column<std::uint8_t>(points.size());
  spread_labels(points, used, wood.view(), kLeaf, result.wood_class.view(), ctx);
  const ReflectanceVote vote =
      reflectance_vote(reflectance, params.reflectance_weight_max, result.wood_class.view(), ctx);
  result.reflectance_weight = vote.weight;
  result.promoted_count = vote.promoted;
  count_labels(result, ctx);
  return result;
}

WoodLeafCost wood_leaf_cost(std::uint64_t points, const WoodLeafParams& params) {
  constexpr double kPerPoint = 1.2e-6, kPerNeighbor = 1.5e-7, kSkeletonPerPoint = 3e-6;
  const std::uint64_t used = params.voxel_size_m > 0 ? points : std::min(points, params.most_points);
  const LocalGeometryParams local{params.k_min, params.k_max, params.k_step, params.reg_k, true};
  const bool skeleton = params.method != WoodMethod::kGeometric;
  const std::uint64_t graph = skeleton ? geodesic_skeleton_bytes(used) : 0;
  const double k = std::max(params.k_max, params.reg_k);
  return {points * 60 + used * 40 + local_geometry_bytes(used, local) + graph,
          static_cast<double>(points) * kPerPoint +
              static_cast<double>(used) * (kPerNeighbor * k + (skeleton ? kSkeletonPerPoint : 0))};
}

}  // namespace pc
