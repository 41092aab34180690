#include "ops/registration/global_alignment.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "core/random.h"
#include "support/cancel.h"
#include "support/rigid_scenes.h"

namespace pc {
namespace {

using test::apart;
using test::boxes_on_ground;
using test::moved;
using test::Points;
using test::turned;

constexpr double kPi = 3.14159265358979323846;

/// Points about their centroid.
struct Centered {
  Points points;
  Vec3d center;
};

Centered centered(Points points) {
  Vec3d sum{0, 0, 0};
  for (const Vec3d& p : points) sum = sum + (p - points[0]);
  const Vec3d center = points[0] + sum * (1 / static_cast<double>(points.size()));
  for (Vec3d& p : points) p = p - center;
  return {std::move(points), center};
}

GlobalAlignment aligned(const Centered& fixed, const Centered& moving, int threads = 1) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  const RigidTransform given[] = {{}, turned({0, 0, 0}, moving.center - fixed.center)};
  return global_alignment({fixed.points.data(), fixed.points.size()},
                          {moving.points.data(), moving.points.size()}, {given, 2}, ctx);
}

/// How far the alignment of two clouds is from `truth`, which maps the moving onto the fixed one.
struct Tried {
  GlobalAlignment found;
  double off;  ///< largest distance of a moving point from its place
};

Tried tried(const Points& fixed, const Points& moving, const RigidTransform& truth, int threads = 1) {
  const Centered f = centered(fixed), m = centered(moving);
  Tried out{aligned(f, m, threads), 0};
  for (const Vec3d& p : m.points)
    out.off =
        std::max(out.off, std::sqrt(squared_distance(out.found.pose(p), truth(p + m.center) - f.center)));
  return out;
}

Points between(const Points& points, double from, double to) {
  Points out;
  for (const Vec3d& p : points)
    if (p.x >= from && p.x <= to) out.push_back(p);
  return out;
}

const Vec3d kTurns[] = {{kPi, 0, 0}, {0, kPi, 0}, {0, 0, kPi}, {2, -1, 0.5}, {-0.4, 1.2, 2.5}, {0, 0, 0}};

TEST(GlobalAlignment, FindsAnyTurn) {
  const Points fixed = boxes_on_ground(4000, 40, 1, 2), other = boxes_on_ground(4000, 40, 1, 3);
  for (const Vec3d& turn : kTurns) {
    const RigidTransform truth = turned(turn, {30, -20, 10});
    const Tried one = tried(fixed, moved(inverse(truth), other), truth);
    EXPECT_EQ(one.found.outcome, GlobalOutcome::kFound);
    EXPECT_LT(one.off, one.found.voxel_m) << turn.x << " " << turn.y << " " << turn.z;
    EXPECT_GT(one.found.consensus_count, 20U);
    EXPECT_GE(one.found.match_count, one.found.consensus_count);
  }
}

TEST(GlobalAlignment, APartialOverlapAmongStraysFromAnyTurn) {
  // Each side holds 62 % of the scene's width, so 40 % of a side is common; every tenth point lies anywhere.
  for (std::uint64_t scene = 1; scene <= 2; ++scene) {
    Points fixed = between(boxes_on_ground(7000, 40, scene, 10), 0, 25);
    Points other = between(boxes_on_ground(7000, 40, scene, 11), 15, 40);
    for (Points* side : {&fixed, &other})
      for (std::size_t i = 0; i < side->size(); i += 10)
        (*side)[i] = {40 * random_unit(scene, 3 * i), 40 * random_unit(scene, 3 * i + 1),
                      8 * random_unit(scene, 3 * i + 2)};
    const RigidTransform truth = turned(kTurns[scene % 6], {30, -20, 10});
    const Tried one = tried(fixed, moved(inverse(truth), other), truth);
    EXPECT_EQ(one.found.outcome, GlobalOutcome::kFound) << scene;
    EXPECT_LT(one.off, 1.5 * one.found.voxel_m) << scene;
  }
}

TEST(GlobalAlignment, NeitherUnitNorPlaceMatters) {
  const Points fixed = boxes_on_ground(4000, 40, 1, 2);
  const RigidTransform truth = turned({2, -1, 0.5}, {3, 2, 1});
  const Points moving = moved(inverse(truth), boxes_on_ground(4000, 40, 1, 3));
  const GlobalAlignment here = aligned(centered(fixed), centered(moving));
  const RigidTransform far = turned({0, 0, 0}, {1e7, -1e7, 1e7});
  const GlobalAlignment there = aligned(centered(moved(far, fixed)), centered(moved(far, moving)));
  EXPECT_LT(apart(here.pose, there.pose, moving),
            0.05 * here.voxel_m);  // some points fall into the next voxel
  Points big = fixed, large = moving;
  for (Points* side : {&big, &large})
    for (Vec3d& p : *side) p = p * 1024;
  const GlobalAlignment scaled = aligned(centered(big), centered(large));
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_LT(squared_distance(here.pose.rows[i], scaled.pose.rows[i]), 1e-12);
  EXPECT_NEAR(scaled.voxel_m, 1024 * here.voxel_m, 1e-6 * scaled.voxel_m);
}

TEST(GlobalAlignment, TheSameBitsForAnyThreadCount) {
  const Points fixed = boxes_on_ground(3000, 40, 2, 2), moving = boxes_on_ground(3000, 40, 2, 3);
  const GlobalAlignment one = aligned(centered(fixed), centered(moving), 1);
  for (const int threads : {5}) {
    const GlobalAlignment more = aligned(centered(fixed), centered(moving), threads);
    EXPECT_EQ(std::memcmp(&more.pose, &one.pose, sizeof one.pose), 0) << threads;
    EXPECT_EQ(more.agreement, one.agreement);
    EXPECT_EQ(more.rival_agreement, one.rival_agreement);
    EXPECT_EQ(more.consensus_count, one.consensus_count);
  }
}

/// Random places of the faces of a box about the origin.
Points box_faces(std::uint64_t count, const Vec3d& size, std::uint64_t seed) {
  Points out;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto unit = [&](std::uint64_t k) { return random_unit(seed, 4 * i + k) - 0.5; };
    Vec3d p{unit(0), unit(1), unit(2)};
    const auto face = i % 6;
    (face < 2 ? p.x : face < 4 ? p.y : p.z) = face % 2 == 0 ? -0.5 : 0.5;
    out.push_back({p.x * size.x, p.y * size.y, p.z * size.z});
  }
  return out;
}

TEST(GlobalAlignment, SymmetricShapesAreToldToBeAmbiguous) {
  const Points box = box_faces(2500, {2, 3, 5}, 1), other = box_faces(2500, {2, 3, 5}, 2);
  const GlobalAlignment found =
      aligned(centered(box), centered(moved(turned({1, 2, 0.3}, {9, 9, 9}), other)));
  EXPECT_EQ(found.outcome, GlobalOutcome::kAmbiguous);
  EXPECT_NEAR(found.rival_turn_rad, kPi, 0.1);  // half a turn about an axis of the box
  EXPECT_LT(found.rival_shift_m, 0.3);
  EXPECT_GT(found.agreement, 0.5);
}

TEST(GlobalAlignment, UnrelatedCloudsAreNotSaidToMatch) {
  Points cloud, other;
  for (std::uint64_t i = 0; i < 900; ++i)
    for (const auto& [side, seed] : {std::pair{&cloud, 5ULL}, {&other, 6ULL}})
      side->push_back({10 * random_unit(seed, 3 * i), 10 * random_unit(seed, 3 * i + 1),
                       10 * random_unit(seed, 3 * i + 2)});
  EXPECT_NE(aligned(centered(cloud), centered(other)).outcome, GlobalOutcome::kFound);
  EXPECT_NE(aligned(centered(cloud), centered(boxes_on_ground(2500, 10, 3, 1))).outcome,
            GlobalOutcome::kFound);
}

TEST(GlobalAlignment, HostileCloudsGiveAFiniteMotionAndNoClaim) {
  const Points ground = test::rough_ground(300, 10, 14);
  std::vector<Points> clouds(6);
  for (int i = 0; i < 60; ++i) clouds[0].push_back({0.1 * i, 0.2 * i, -0.1 * i});             // a line
  for (int i = 0; i < 900; ++i) clouds[1].push_back({0.1 * (i % 30), 0.1 * (i / 30), 0});     // a plane
  for (int i = 0; i < 60; ++i) clouds[2].push_back(ground[static_cast<std::size_t>(i % 4)]);  // duplicates
  for (int i = 0; i < 4; ++i) clouds[3].push_back(ground[static_cast<std::size_t>(i)]);
  clouds[4] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {1, 0, 0}, {1e7, 0, 0}};
  clouds[5] = ground;
  clouds[5].push_back({1e12, 0, 0});
  for (const Points& fixed : clouds)
    for (const Points& moving : clouds) {
      const GlobalAlignment found = aligned(centered(fixed), centered(moving));
      for (const Vec3d& row : found.pose.rows) ASSERT_NEAR(dot(row, row), 1, 1e-12);
      ASSERT_TRUE(is_finite(found.pose.translation));
      ASSERT_TRUE(found.agreement >= 0 && found.agreement <= 1);
      if (&fixed != &clouds[5] || &moving != &clouds[5]) {
        EXPECT_NE(found.outcome, GlobalOutcome::kFound)
            << &fixed - clouds.data() << " " << &moving - clouds.data();
      }
    }
}

TEST(GlobalAlignment, CancelEndsEveryPhase) {
  const Points fixed = boxes_on_ground(60'000, 40, 1, 2), moving = boxes_on_ground(60'000, 40, 4, 3);
  const RigidTransform given[] = {{}};
  for (const char* phase : {"Thinning points", "Describing surfaces", "Matching surfaces",
                            "Searching for a consensus", "Comparing poses"})
    test::expect_cancel_in_phase(phase, [&](OpContext& ctx) {
      global_alignment({fixed.data(), fixed.size()}, {moving.data(), moving.size()}, {given, 1}, ctx);
    });
}

}  // namespace
}  // namespace pc
