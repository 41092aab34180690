#include "core/symmetric_eigen.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "core/random.h"

namespace pc {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();
constexpr double kBound = 8 * kEps;  // as the header states

struct Case {
  std::string name;
  Symmetric3 m;
};

Symmetric3 scaled(const Symmetric3& m, double s) {
  return {m.xx * s, m.xy * s, m.xz * s, m.yy * s, m.yz * s, m.zz * s};
}

/// Q diag(values) Q^T with a random rotation Q.
Symmetric3 with_values(double a, double b, double c, std::uint64_t seed) {
  const auto angle = [&](std::uint64_t i) { return 6.283185307179586 * random_unit(seed, i); };
  const Eigen::Matrix3d q = (Eigen::AngleAxisd(angle(0), Eigen::Vector3d::UnitX()) *
                             Eigen::AngleAxisd(angle(1), Eigen::Vector3d::UnitY()) *
                             Eigen::AngleAxisd(angle(2), Eigen::Vector3d::UnitZ()))
                                .toRotationMatrix();
  const Eigen::Matrix3d m = q * Eigen::Vector3d(a, b, c).asDiagonal() * q.transpose();
  return {m(0, 0), (m(0, 1) + m(1, 0)) / 2, (m(0, 2) + m(2, 0)) / 2,
          m(1, 1), (m(1, 2) + m(2, 1)) / 2, m(2, 2)};
}

std::vector<Case> cases() {
  std::vector<Case> all{{"zero", {0, 0, 0, 0, 0, 0}},
                        {"identity", {1, 0, 0, 1, 0, 1}},
                        {"descending", {3, 0, 0, 2, 0, 1}},
                        {"ones", {1, 1, 1, 1, 1, 1}},
                        {"exchange", {0, 1, 0, 0, 0, 0}},
                        {"all off", {0, 1, 1, 0, 1, 0}},
                        {"nearly diagonal", {1, 1e-17, 1e-160, 1, 1e-8, 1}},
                        {"graded", {1, 1e-10, 1e-20, 1e-10, 1e-20, 1e-20}}};
  for (std::uint64_t i = 0; i < 500; ++i) {
    const auto value = [&](std::uint64_t k) { return 2 * random_unit(7, 6 * i + k) - 1; };
    all.push_back({"random", {value(0), value(1), value(2), value(3), value(4), value(5)}});
    const double gap = std::pow(10.0, -static_cast<double>(i % 18));
    all.push_back({"rank 1", with_values(0, 0, 1, i)});
    all.push_back({"rank 2", with_values(0, value(0), 1, i)});
    all.push_back({"two equal", with_values(1, 1, 2, i)});
    all.push_back({"two close", with_values(1, 1 + gap, 2, i)});
    all.push_back({"three close", with_values(1 - gap, 1, 1 + gap, i)});
    all.push_back({"flat", with_values(gap * gap, gap, 1, i)});
    all.push_back({"indefinite", with_values(-1, gap, 1, i)});
  }
  std::vector<Case> out;
  for (const Case& one : all) {
    for (const double scale : {1.0, 1e-30, 1e30, 1e-150, 1e150, 1e-300, 1e300})
      out.push_back({one.name + " x " + std::to_string(std::log10(scale)), scaled(one.m, scale)});
  }
  return out;
}

Vec3d times(const Symmetric3& m, const Vec3d& v) {
  return {m.xx * v.x + m.xy * v.y + m.xz * v.z, m.xy * v.x + m.yy * v.y + m.yz * v.z,
          m.xz * v.x + m.yz * v.y + m.zz * v.z};
}

TEST(SymmetricEigen, KeepsItsBounds) {
  double residual = 0, orthogonal = 0, unit = 0;
  for (const Case& one : cases()) {
    const SymmetricEigen3 found = symmetric_eigen(one.m);
    const double norm = std::max(std::abs(found.value[0]), std::abs(found.value[2]));
    for (int i = 0; i < 3; ++i) {
      const Vec3d& v = found.vector[i];
      const Vec3d off = times(one.m, v) - v * found.value[i];
      const double length = std::max({std::abs(off.x), std::abs(off.y), std::abs(off.z)});
      if (norm > 0) residual = std::max(residual, length / norm);
      ASSERT_LE(length, kBound * norm) << one.name << " " << i;
      unit = std::max(unit, std::abs(std::sqrt(dot(v, v)) - 1));
      ASSERT_NEAR(std::sqrt(dot(v, v)), 1, kBound) << one.name << " " << i;
      orthogonal = std::max(orthogonal, std::abs(dot(v, found.vector[(i + 1) % 3])));
      ASSERT_NEAR(dot(v, found.vector[(i + 1) % 3]), 0, kBound) << one.name << " " << i;
    }
    ASSERT_LE(found.value[0], found.value[1]) << one.name;
    ASSERT_LE(found.value[1], found.value[2]) << one.name;
  }
  std::printf("largest residual %.1f eps, unit %.1f eps, orthogonal %.1f eps\n", residual / kEps, unit / kEps,
              orthogonal / kEps);
}

TEST(SymmetricEigen, AgreesWithEigen) {
  double worst = 0;
  for (const Case& one : cases()) {
    const SymmetricEigen3 found = symmetric_eigen(one.m);
    Eigen::Matrix3d m;
    m << one.m.xx, one.m.xy, one.m.xz, one.m.xy, one.m.yy, one.m.yz, one.m.xz, one.m.yz, one.m.zz;
    const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> solver(m);
    ASSERT_EQ(solver.info(), Eigen::Success) << one.name;
    const double norm = std::max(std::abs(found.value[0]), std::abs(found.value[2]));
    for (int i = 0; i < 3; ++i) {
      const double off = std::abs(found.value[i] - solver.eigenvalues()(i));
      if (norm > 0) worst = std::max(worst, off / norm);
      ASSERT_LE(off, 2 * kBound * norm) << one.name << " " << i;  // each has its own error
      const double to_others = std::min(i == 0 ? HUGE_VAL : found.value[i] - found.value[i - 1],
                                        i == 2 ? HUGE_VAL : found.value[i + 1] - found.value[i]);
      if (!(to_others > 1e-3 * norm)) continue;  // otherwise the direction is any of their space
      const Eigen::Vector3d v = solver.eigenvectors().col(i);
      ASSERT_NEAR(std::abs(dot(found.vector[i], {v(0), v(1), v(2)})), 1, 1e-11) << one.name << " " << i;
    }
  }
  std::printf("largest difference of an eigenvalue %.1f eps\n", worst / kEps);
}

TEST(SymmetricEigen, FramesAreRightHandedAndFaceOneWay) {
  for (const Case& one : cases()) {
    const SymmetricEigen3 found = symmetric_eigen(one.m);
    const Vec3d &a = found.vector[0], &b = found.vector[1], &c = found.vector[2];
    const Vec3d cross{a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
    ASSERT_NEAR(dot(cross, c), 1, 1e-14) << one.name;
    for (const Vec3d& v : {a, b}) {
      const double largest = std::max({v.x, v.y, v.z});
      ASSERT_GE(largest, -std::min({v.x, v.y, v.z})) << one.name;
    }
  }
}

TEST(SymmetricEigen, PowersOfTwoScaleExactly) {
  for (const Case& one : cases()) {
    if (one.name.find("x 0.0") == std::string::npos) continue;
    const SymmetricEigen3 here = symmetric_eigen(one.m), there = symmetric_eigen(scaled(one.m, 0x1p-700));
    for (int i = 0; i < 3; ++i) {
      const double wanted = std::abs(here.value[i]) > 1e-20 ? here.value[i] * 0x1p-700 : there.value[i];
      ASSERT_EQ(there.value[i], wanted) << one.name;
      ASSERT_EQ(here.vector[i], there.vector[i]) << one.name;
    }
  }
}

TEST(SymmetricEigen, SubnormalAndHugeMatricesWork) {
  for (const double scale : {5e-324, 1e-310, 2e-308, 1e307}) {
    const SymmetricEigen3 found = symmetric_eigen(scaled({2, 1, 0, 2, 0, 3}, scale));
    EXPECT_NEAR(found.value[0] / scale, 1, 1e-9) << scale;
    EXPECT_NEAR(found.value[2] / scale, 3, 1e-9) << scale;
  }
}

TEST(SymmetricEigen, WhatIsNotFiniteGivesNan) {
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), HUGE_VAL, -HUGE_VAL}) {
    for (const Symmetric3& m : {Symmetric3{bad, 0, 0, 1, 0, 1}, Symmetric3{1, 0, 0, 1, bad, 1}}) {
      const SymmetricEigen3 found = symmetric_eigen(m);
      for (const double value : found.value) EXPECT_TRUE(std::isnan(value));
      EXPECT_EQ(found.vector[1], (Vec3d{0, 1, 0}));
    }
  }
}

}  // namespace
}  // namespace pc
