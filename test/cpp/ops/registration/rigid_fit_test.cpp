#include "ops/registration/rigid_fit.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/rigid_scenes.h"

namespace pc {
namespace {

constexpr double kPi = 3.14159265358979323846;

RigidTransform fitted(const test::Points& moving, const test::Points& fixed) {
  RigidFit fit;
  for (std::size_t i = 0; i < moving.size(); ++i)
    fit.add(moving[i], fixed[i], 1 + static_cast<double>(i % 3));
  return fit.motion();
}

double determinant(const RigidTransform& t) { return dot(t.rows[0], cross(t.rows[1], t.rows[2])); }

TEST(RigidFit, FindsTurnsUpToHalfATurnFarFromTheOrigin) {
  const test::Points points = test::rough_ground(50, 10, 1);
  const Vec3d turns[] = {{0, 0, 0}, {kPi, 0, 0}, {0, kPi, 0}, {0, 0, kPi}, {1, -2, 0.5}, {0, 1e-6, 0}};
  for (const Vec3d& turn : turns) {
    const RigidTransform truth = test::turned(turn, {5e6, -4e5, 12});
    const RigidTransform found = fitted(points, test::moved(truth, points));
    EXPECT_LT(test::apart(found, truth, points), 1e-8) << turn.x << " " << turn.y << " " << turn.z;
    EXPECT_NEAR(determinant(found), 1, 1e-12);
  }
}

TEST(RigidFit, AMirroredCloudIsTurnedAndNotMirrored) {
  test::Points points = test::rough_ground(50, 10, 2), mirrored = points;
  for (Vec3d& p : mirrored) p.x = -p.x;
  EXPECT_NEAR(determinant(fitted(points, mirrored)), 1, 1e-12);
}

TEST(RigidFit, TooFewPointsGiveAMotionThatStillFitsThem) {
  const test::Points one{{1, 2, 3}}, line{{0, 0, 0}, {1, 1, 0}, {2, 2, 0}};
  const RigidTransform truth = test::turned({0.3, 0.2, -1}, {4, 5, 6});
  for (const test::Points& points : {one, line})
    EXPECT_LT(test::apart(fitted(points, test::moved(truth, points)), truth, points), 1e-9);
  EXPECT_EQ(RigidFit{}.motion().translation, (Vec3d{0, 0, 0}));
}

}  // namespace
}  // namespace pc
