#include "ops/cloud/transform.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>

#include "core/random.h"
#include "support/cancel.h"
#include "support/columns.h"

namespace pc::test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
using Matrix3 = std::array<double, 9>;

double signed_unit(std::uint64_t seed, std::uint64_t i) { return 2 * random_unit(seed, i) - 1; }

class Transform : public testing::TestWithParam<int> {
 protected:
  NormalColumns turned(const std::vector<Vec3d>& normals, const Matrix3& linear) {
    std::vector<double> x, y, z;
    for (const Vec3d& n : normals) {
      x.push_back(n.x);
      y.push_back(n.y);
      z.push_back(n.z);
    }
    return transform_normals(column_of(x), column_of(y), column_of(z), linear, ctx);
  }
  static Vec3d at(const NormalColumns& normals, std::size_t i) {
    return {normals.nx.as<double>()[i], normals.ny.as<double>()[i], normals.nz.as<double>()[i]};
  }
  JobControl control;
  OpContext ctx{control, Device::kCpu, GetParam()};
};

TEST_P(Transform, PositionsFollowThePlainFormulaToTheLastBit) {
  std::vector<Vec3d> points{{kNaN, 1, 2}, {0, 0, 0}};
  for (std::uint64_t i = 0; i < 100'003; ++i)
    points.push_back(
        {4e6 + signed_unit(1, 3 * i), 5e6 + signed_unit(1, 3 * i + 1), signed_unit(1, 3 * i + 2)});
  std::array<double, 12> m{};
  for (std::size_t i = 0; i < 12; ++i) m[i] = signed_unit(2, i) * (i % 4 == 3 ? 1e6 : 1);
  const Column<Vec3d> moved = transform_positions(span_of(points), m, ctx);
  const auto row = [&](const Vec3d& p, std::size_t r) {
    // volatile: each product and sum is rounded by itself.
    volatile double xx = m[r] * p.x, yy = m[r + 1] * p.y, zz = m[r + 2] * p.z;
    volatile double sum = xx + yy;
    sum = sum + zz;
    return sum + m[r + 3];
  };
  for (std::size_t i = 1; i < points.size(); ++i)
    ASSERT_EQ(moved[i], (Vec3d{row(points[i], 0), row(points[i], 4), row(points[i], 8)})) << i;
  EXPECT_TRUE(std::isnan(moved[0].x));
  EXPECT_EQ(transform_positions({}, m, ctx).size(), 0U);
  m[7] = HUGE_VAL;
  EXPECT_EQ(code_of([&] { transform_positions(span_of(points), m, ctx); }), ErrorCode::kInvalidArgument);
}

/// A rotation about a slanted axis.
Matrix3 rotation() {
  const double c = std::cos(0.7), s = std::sin(0.7), a = 1 / std::sqrt(3.0), t = (1 - c) / 3;
  return {c + t, t - s * a, t + s * a, t + s * a, c + t, t - s * a, t - s * a, t + s * a, c + t};
}

TEST_P(Transform, NormalsUnderARotationAreRotated) {
  const Matrix3 r = rotation();
  std::vector<Vec3d> normals;
  for (std::uint64_t i = 0; i < 70'001; ++i) {
    const Vec3d n{signed_unit(3, 3 * i), signed_unit(3, 3 * i + 1), signed_unit(3, 3 * i + 2)};
    const double length = std::sqrt(squared_distance(n, {0, 0, 0}));
    normals.push_back(n * (1 / length));
  }
  const NormalColumns out = turned(normals, r);
  for (std::size_t i = 0; i < normals.size(); ++i) {
    const Vec3d n = normals[i];
    const Vec3d wanted{r[0] * n.x + r[1] * n.y + r[2] * n.z, r[3] * n.x + r[4] * n.y + r[5] * n.z,
                       r[6] * n.x + r[7] * n.y + r[8] * n.z};
    // A few units in the last place of components up to 1.
    ASSERT_LT(std::sqrt(squared_distance(at(out, i), wanted)), 2e-15) << i;
  }
}

TEST_P(Transform, NormalsStayPerpendicularToTransformedTangents) {
  const Matrix3 a{1.3, 0.4, -0.2, 0.1, 0.6, 0.3, -0.5, 0.2, 2.1};  // shear and unequal scales, det > 0
  for (const double scale : {1.0, 1e-120, 1e120}) {
    Matrix3 m = a;
    for (double& v : m) v *= scale;
    for (std::uint64_t i = 0; i < 300; ++i) {
      const Vec3d n{signed_unit(4, 6 * i), signed_unit(4, 6 * i + 1), signed_unit(4, 6 * i + 2)};
      const Vec3d t0{signed_unit(4, 6 * i + 3), signed_unit(4, 6 * i + 4), signed_unit(4, 6 * i + 5)};
      const Vec3d t{n.y * t0.z - n.z * t0.y, n.z * t0.x - n.x * t0.z, n.x * t0.y - n.y * t0.x};
      const Vec3d moved{a[0] * t.x + a[1] * t.y + a[2] * t.z, a[3] * t.x + a[4] * t.y + a[5] * t.z,
                        a[6] * t.x + a[7] * t.y + a[8] * t.z};
      const Vec3d out = at(turned({n}, m), 0);
      EXPECT_NEAR(out.x * moved.x + out.y * moved.y + out.z * moved.z, 0, 1e-14);
      EXPECT_NEAR(squared_distance(out, {0, 0, 0}), 1, 1e-14);
      // The side stays: a point in front of the surface stays there (A n . n' > 0 for det > 0).
      const Vec3d front{a[0] * n.x + a[1] * n.y + a[2] * n.z, a[3] * n.x + a[4] * n.y + a[5] * n.z,
                        a[6] * n.x + a[7] * n.y + a[8] * n.z};
      EXPECT_GT(front.x * out.x + front.y * out.y + front.z * out.z, 0);
    }
  }
}

TEST_P(Transform, ZeroNormalsStayTinyOnesAreNormalisedOddOnesBecomeNaN) {
  const NormalColumns out =
      turned({{0, -0.0, 0}, {0, 3e-320, 0}, {1e300, 0, 0}, {kNaN, 0, 0}, {HUGE_VAL, 0, 0}},
             {2, 0, 0, 0, 2, 0, 0, 0, 2});
  EXPECT_EQ(at(out, 0), (Vec3d{0, 0, 0}));
  EXPECT_TRUE(std::signbit(at(out, 0).y));
  EXPECT_EQ(at(out, 1), (Vec3d{0, 1, 0}));
  EXPECT_EQ(at(out, 2), (Vec3d{1, 0, 0}));
  EXPECT_TRUE(std::isnan(at(out, 3).y));
  EXPECT_TRUE(std::isnan(at(out, 4).x));
}

TEST_P(Transform, NormalsKeepTheirTypes) {
  const AnyColumn x = column_of<float>({3}), y = column_of<double>({0}), z = column_of<float>({4});
  const NormalColumns out = transform_normals(x, y, z, {1, 0, 0, 0, 1, 0, 0, 0, 1}, ctx);
  EXPECT_EQ(values_of<float>(out.nx)[0], 0.6F);
  EXPECT_EQ(values_of<double>(out.ny)[0], 0);
  EXPECT_EQ(values_of<float>(out.nz)[0], 0.8F);
}

TEST_P(Transform, NormalsRefuseIntegersAndMirrors) {
  const AnyColumn x(DType::kF32, 2), one(DType::kF32, 1), bytes(DType::kI8, 2), triples(DType::kVec3d, 2);
  const Matrix3 same{1, 0, 0, 0, 1, 0, 0, 0, 1};
  constexpr auto kRefused = ErrorCode::kInvalidArgument;
  const auto code = [&](const AnyColumn& z, const Matrix3& m) {
    return code_of([&] { transform_normals(x, x, z, m, ctx); });
  };
  EXPECT_EQ(code(bytes, same), kRefused);
  EXPECT_EQ(code(triples, same), kRefused);
  EXPECT_EQ(code(one, same), kRefused);
  EXPECT_EQ(code(x, {1, 0, 0, 0, 1, 0, 0, 0, -1}), kRefused);
  EXPECT_EQ(code(x, {1, 0, 0, 0, 1, 0, 0, 0, 0}), kRefused);
  EXPECT_EQ(code(x, Matrix3{}), kRefused);
  EXPECT_EQ(code(x, {1, 0, 0, 0, kNaN, 0, 0, 0, 1}), kRefused);
}

TEST_P(Transform, VerticalityIsTheAngleFromHorizontalSurfaces) {
  const AnyColumn nz = column_of<double>({1, -1, 0, -0.0, 0.5, -0.5, 1.0000001, -7, kNaN, std::sqrt(0.5)});
  const Column<float> degrees = verticality(nz, ctx);
  const std::vector<float> wanted{0, 0, 90, 90, 60, 60, 0, 0};
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_FLOAT_EQ(degrees[i], wanted[i]) << i;
  EXPECT_TRUE(std::isnan(degrees[8]));
  EXPECT_FLOAT_EQ(degrees[9], 45);
  EXPECT_FLOAT_EQ(verticality(column_of<float>({0.9F}), ctx)[0],
                  static_cast<float>(std::acos(static_cast<double>(0.9F)) * 180 / std::numbers::pi));
  EXPECT_EQ(verticality(AnyColumn(DType::kF32, 0), ctx).size(), 0U);
  EXPECT_EQ(code_of([&] { verticality(AnyColumn(DType::kRgb16, 1), ctx); }), ErrorCode::kInvalidArgument);
}

TEST_P(Transform, ScaledColumnsAreFloats) {
  const AnyColumn wide = scale_column(column_of<double>({0.1, kNaN}), 3, ctx);
  EXPECT_EQ(values_of<double>(wide)[0], 0.1 * 3);
  EXPECT_TRUE(std::isnan(values_of<double>(wide)[1]));
  EXPECT_EQ(values_of<float>(scale_column(column_of<float>({0.1F}), 3, ctx))[0],
            static_cast<float>(static_cast<double>(0.1F) * 3));
  EXPECT_EQ(values_of<float>(scale_column(column_of<std::uint32_t>({16777217}), 0.5, ctx))[0], 8388608.5F);
  EXPECT_EQ(code_of([&] { scale_column(wide, kNaN, ctx); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of([&] { scale_column(AnyColumn(DType::kVec3d, 1), 1, ctx); }), ErrorCode::kInvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(Threads, Transform, testing::Values(1, 4));

TEST(TransformCancel, EndsInTime) {
  const AnyColumn column(DType::kF32, 20'000'000);
  const std::vector<Vec3d> points(5'000'000);
  expect_cancel_in_time([&](OpContext& ctx) { transform_positions(span_of(points), {1}, ctx); });
  expect_cancel_in_time([&](OpContext& ctx) {
    transform_normals(column, column, column, {1, 0, 0, 0, 1, 0, 0, 0, 1}, ctx);
  });
  expect_cancel_in_time([&](OpContext& ctx) { verticality(column, ctx); });
  expect_cancel_in_time([&](OpContext& ctx) { scale_column(column, 2, ctx); });
}

}  // namespace
}  // namespace pc::test
