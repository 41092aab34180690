#include "ops/trees/layer_stem.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "ops/trees/tree_stem.h"

namespace {

using namespace pc;
constexpr double kPi = std::numbers::pi;
constexpr double kRadius = 0.07;

StemParams stem_params() {
  StemParams params{};
  params.search = CircleSearch::kRansac;
  params.breast_height_m = 1.3;
  params.slice_thickness_m = 0.10;
  params.widened = {0.20, 0.30};
  params.inlier_distance_m = params.min_radius_m = 0.02;
  params.curve_step_m = params.curve_start_m = params.seed_min_m = params.ellipticity_square = 0.5;
  params.max_radius_m = 1.5;
  params.min_inliers = 20;
  params.min_slice_points = 8;
  params.partial_arc_coverage = params.seed_step_m = 0.25;
  params.seed_max_m = 2.5;
  params.lean_fit_max_m = 4;
  params.max_failures = 2;
  params.seed = 7;
  return params;
}

/// A young spruce of 9 m with limbs to the ground, on a slope: z = slope x.
struct Spruce {
  double slope = 0;
  std::mt19937_64 random{3};
  std::uniform_real_distribution<double> unit;
  std::vector<Vec3d> points;

  double within(double half) { return half * (2 * unit(random) - 1); }
  Spruce& stem(double arc_deg) {
    for (int i = 0; i < 9000; ++i) {
      const double turn = arc_deg * kPi / 180 * unit(random), z = 9 * unit(random);
      const double r = kRadius * (1 - (z - 1.3) / 9) + 0.003 * std::normal_distribution<double>()(random);
      points.push_back({r * std::cos(turn), r * std::sin(turn), z});
    }
    return *this;
  }
  Spruce& limbs() {
    for (double z = 0.25; z < 8.7; z += 0.35) {
      const double reach = 1.5 * (1 - z / 9);
      for (int limb = 0; limb < 6; ++limb) {
        const double turn = 2 * kPi * (limb + 0.5 * unit(random)) / 6 + z;
        for (int tuft = 0; tuft < 60 * reach; ++tuft) {
          const double s = 0.12 + 0.88 * std::sqrt(unit(random)), width = 0.25 * reach * (1.1 - s);
          const Vec3d at{s * reach * std::cos(turn) + within(width),
                         s * reach * std::sin(turn) + within(width), z - 0.15 * reach * s * s + within(0.04)};
          for (int i = 0; i < 20; ++i)
            points.push_back(at + Vec3d{within(0.022), within(0.022), within(0.022)});
        }
      }
    }
    return *this;
  }
  template <class Call>
  auto on_ground(Call&& call) const {
    JobControl control;
    OpContext ctx(control, Device::kCpu, 1);
    std::vector<Vec3d> tilted = points;
    std::vector<double> heights;
    for (Vec3d& p : tilted) {
      heights.push_back(p.z);
      p.z += slope * p.x;
    }
    const GroundHeights none;
    const Span<const Vec3d> all{tilted.data(), tilted.size()};
    return call(all, TreeGround(all, {heights.data(), heights.size()}, none, ctx), ctx);
  }
  std::optional<StemStart> start() const {
    return on_ground([](Span<const Vec3d> all, const TreeGround& ground, OpContext& ctx) {
      return layer_stem(all, ground, stem_params(), ctx);
    });
  }
  TreeStem measured() const {
    return on_ground([](Span<const Vec3d> all, const TreeGround& ground, OpContext& ctx) {
      Box3d box;
      for (const Vec3d& p : all) box.add(p);
      return stem_of_tree({all, ground, box, 0}, stem_params(), {1.5, 7, 0.03}, ctx);
    });
  }
};

TEST(LayerStem, IsFoundAmongLimbs) {
  for (const double slope : {0.0, 0.6}) {
    for (const double arc : {360.0, 140.0}) {
      Spruce spruce;
      spruce.slope = slope;
      const auto found = spruce.limbs().stem(arc).start();
      ASSERT_TRUE(found) << slope << " " << arc;
      EXPECT_LT(std::hypot(found->place.x, found->place.y), 0.02) << slope << " " << arc;
      EXPECT_NEAR(found->radius_m, kRadius, 0.012) << slope << " " << arc;
    }
  }
}

TEST(LayerStem, LimbsAloneHaveNone) {
  EXPECT_FALSE(Spruce().limbs().start());
  Spruce nothing;
  nothing.points = {{0, 0, 0.2}, {0, 0, 5}};
  EXPECT_FALSE(nothing.start());
  Spruce strewn;
  strewn.stem(360).points.push_back({2e8, 0, 1.5});
  EXPECT_FALSE(strewn.start()) << "wider than any layer";
}

TEST(LayerStem, ACancelEndsIt) {
  Spruce spruce;
  spruce.limbs().stem(360);
  JobControl control;
  OpContext ctx(control, Device::kCpu, 1);
  const GroundHeights none;
  const TreeGround ground({spruce.points.data(), spruce.points.size()}, {}, none, ctx);
  control.cancel_requested = true;
  EXPECT_THROW(layer_stem({spruce.points.data(), spruce.points.size()}, ground, stem_params(), ctx), Error);
}

// The best circle of a slice passes through needles: without the bark the diameter is unknown or that of leaves.
TEST(TreeStem, HasTheDiameterOfAStemAmongLimbs) {
  int hidden = 0;
  for (const unsigned seed : {1U, 2U, 4U}) {
    Spruce spruce;
    spruce.random.seed(seed);
    spruce.limbs().stem(360);
    const auto alone = spruce.on_ground([](Span<const Vec3d> all, const TreeGround& ground, OpContext& ctx) {
      return measure_stem(all, ground, stem_params(), ctx).breast_height;
    });
    if (!alone || std::abs(alone->circle.radius - kRadius) > 0.01) ++hidden;
    const TreeStem found = spruce.measured();
    ASSERT_TRUE(found.stem.breast_height) << seed;
    EXPECT_NEAR(found.stem.breast_height->circle.radius, kRadius, 0.002) << seed;
    EXPECT_NEAR(found.height_m, 8.9, 0.2) << seed;
  }
  EXPECT_EQ(hidden, 3);
}

}  // namespace
