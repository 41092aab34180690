#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>
#include <numeric>
#include <random>

#include "core/error.h"
#include "ops/qsm/leaf_angle_assignment.h"
#include "ops/qsm/linear_assignment.h"
#include "support/cancel.h"

namespace {

using namespace pc;

std::vector<std::uint32_t> assign(const std::vector<double>& costs, std::size_t n) {
  JobControl control;
  OpContext ctx(control);
  return linear_assignment(
      n, [&](std::size_t row, double* out) { std::copy_n(costs.begin() + row * n, n, out); }, ctx);
}

double sum_of(const std::vector<double>& costs, const std::vector<std::uint32_t>& column) {
  double sum = 0;
  for (std::size_t i = 0; i < column.size(); ++i) sum += costs[i * column.size() + column[i]];
  return sum;
}

TEST(LinearAssignment, EqualsBruteForce) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 400; ++round) {
    const std::size_t n = 1 + round % 7;
    std::vector<double> costs(n * n);
    for (double& cost : costs)  // few values: many ties
      cost = round % 3 == 0 ? static_cast<double>(random() % 4)
                            : std::uniform_real_distribution<>(-1, 1)(random);
    std::vector<std::uint32_t> order(n);
    std::iota(order.begin(), order.end(), 0u);
    double least = HUGE_VAL;
    do least = std::min(least, sum_of(costs, order));
    while (std::next_permutation(order.begin(), order.end()));
    std::vector<std::uint32_t> found = assign(costs, n);
    EXPECT_NEAR(sum_of(costs, found), least, 1e-12) << "round " << round;
    std::sort(found.begin(), found.end());
    for (std::uint32_t j = 0; j < n; ++j) EXPECT_EQ(found[j], j);
  }
  EXPECT_TRUE(assign({}, 0).empty());
}

TEST(LinearAssignment, RefusesCostsThatAreNotFinite) {
  for (const double wrong : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    EXPECT_THROW(assign({1, 2, wrong, 3}, 2), Error);
    EXPECT_THROW(assign({wrong, wrong, wrong, wrong}, 2), Error);
  }
}

TEST(LinearAssignment, EqualCostsAndHugeRangesEnd) {
  const std::size_t n = 300;
  EXPECT_EQ(assign(std::vector<double>(n * n, 2.5), n).size(), n);
  std::vector<double> costs(n * n);
  for (std::size_t i = 0; i < costs.size(); ++i) costs[i] = std::pow(10.0, static_cast<double>(i % 31) - 15);
  std::vector<std::uint32_t> found = assign(costs, n);
  std::sort(found.begin(), found.end());
  for (std::uint32_t j = 0; j < n; ++j) EXPECT_EQ(found[j], j);
}

VoxelBox grid(std::uint32_t n) { return {{0, 0, 0}, {2, 2, 2}, n, n, n, 0, {}, {}}; }

std::vector<Leaf> leaves_at(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> place(-0.99, 0.99);
  std::normal_distribution<double> part;
  std::vector<Leaf> out;
  while (out.size() < count) {
    Vec3d tip{part(random), part(random), part(random)}, other{part(random), part(random), part(random)};
    tip = tip * (1 / std::sqrt(dot(tip, tip)));
    Vec3d width = cross(tip, other);
    width = width * (1 / std::sqrt(dot(width, width)));
    out.push_back({{place(random), place(random), place(random)}, tip, width, cross(tip, width)});
  }
  return out;
}

LeafAngleResult adjust(std::vector<Leaf>& leaves, const std::vector<LeafAngleTarget>& targets,
                       const VoxelBox& box, std::uint64_t most = 0, int threads = 2) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return leaf_angle_assignment(leaves, targets, box, {7, most}, ctx);
}

/// Mean and second moments of the drawn normals against the closed forms of the target.
TEST(LeafAngles, DrawsFollowTheTarget) {
  const LeafAngleTarget target{3, 1.5, 2.5, 0.9, 40, 0};
  const auto drawn = draw_leaf_normals(target, 40000, 1);
  double mean = 0, sine = 0, cosine = 0;
  for (const Vec3d& n : drawn) {
    EXPECT_NEAR(dot(n, n), 1, 1e-12);
    EXPECT_GE(n.z, 0);
    mean += std::acos(n.z) / (std::numbers::pi / 2);
    const double bearing = std::atan2(n.x, n.y);
    sine += std::sin(2 * bearing);
    cosine += std::cos(2 * bearing);
  }
  const double count = static_cast<double>(drawn.size());
  EXPECT_NEAR(mean / count, 2.5 / 4, 0.005);
  EXPECT_NEAR(0.5 * std::atan2(sine, cosine) * 180 / std::numbers::pi, 40, 1.5);
  EXPECT_NEAR(ellipse_eccentricity(std::hypot(sine, cosine) / count), 0.9, 0.01);
}

TEST(LeafAngles, ExtremeShapesGiveUnitVectors) {
  for (const double mu : {1e-320, 1e-308, 1e-3, 1e300, 1.7e308})
    for (const double nu : {1e-320, 1e-308, 1e-3, 1e300, 1.7e308})
      for (const double phi0 : {1e300, 1e308, -1.7e308})
        for (const Vec3d& normal : draw_leaf_normals({0, mu, nu, 0.999999, phi0, 0}, 50, 3))
          ASSERT_NEAR(dot(normal, normal), 1, 1e-12) << mu << " " << nu << " " << phi0;
}

TEST(LeafAngles, TurnsAsLittleAsPossible) {
  const std::vector<LeafAngleTarget> targets{{0, 2, 1, 0.5, 100, 0}};
  const std::vector<Leaf> before = leaves_at(7, 3);
  std::vector<Leaf> after = before;
  EXPECT_EQ(adjust(after, targets, grid(1)).adjusted_count, 7u);
  const auto drawn = draw_leaf_normals(targets[0], 7, 7);
  const auto up = [](Vec3d n) { return n.z < 0 ? n * -1 : n; };
  std::vector<std::uint32_t> order{0, 1, 2, 3, 4, 5, 6};
  double least = HUGE_VAL;
  do {
    double sum = 0;
    for (std::size_t i = 0; i < 7; ++i)
      sum += std::sqrt(squared_distance(up(before[i].normal), drawn[order[i]]));
    least = std::min(least, sum);
  } while (std::next_permutation(order.begin(), order.end()));
  double turned = 0;
  for (std::size_t i = 0; i < 7; ++i)
    turned += std::sqrt(squared_distance(up(before[i].normal), up(after[i].normal)));
  EXPECT_NEAR(turned, least, 1e-9);
}

TEST(LeafAngles, BasesStayAndDirectionsStayOrthonormal) {
  std::vector<LeafAngleTarget> targets;
  for (std::uint32_t cell = 0; cell < 8; cell += 2) targets.push_back({cell, 2.0 + cell, 1, 0.3, 10, 0});
  const std::vector<Leaf> before = leaves_at(4000, 9);
  std::vector<Leaf> one = before, two = before;
  const LeafAngleResult result = adjust(one, targets, grid(2), 0, 1);
  (void)adjust(two, targets, grid(2), 0, 4);
  EXPECT_EQ(result.cell_count, 4u);
  EXPECT_EQ(result.adjusted_count + result.untouched_count, 4000u);
  std::size_t changed = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(one[i].base, before[i].base);
    EXPECT_EQ(one[i].normal, two[i].normal);  // any thread count
    EXPECT_NEAR(dot(one[i].tip, one[i].width), 0, 1e-12);
    EXPECT_NEAR(dot(one[i].tip, one[i].tip), 1, 1e-12);
    EXPECT_LT(squared_distance(one[i].normal, cross(one[i].tip, one[i].width)), 1e-20);
    changed += one[i].normal == before[i].normal ? 0 : 1;
  }
  EXPECT_EQ(changed, result.adjusted_count);
}

TEST(LeafAngles, OppositeNormalsTakeAHalfTurn) {
  // Both are horizontal: the fold does not bring them together.
  std::vector<Leaf> leaves{{{0, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 0}}};
  const LeafAngleTarget flat{0, 1e-9, 1e9, 0, 0, 0};  // inclination 90
  const Vec3d target = draw_leaf_normals(flat, 1, 7).front();
  leaves[0].normal = target * -1;
  leaves[0].normal.z = 0;
  leaves[0].tip = {-leaves[0].normal.y, leaves[0].normal.x, 0};
  leaves[0].width = cross(leaves[0].normal, leaves[0].tip);
  (void)adjust(leaves, {flat}, grid(1));
  EXPECT_LT(squared_distance(leaves[0].normal, target), 1e-12);
  EXPECT_NEAR(dot(leaves[0].tip, leaves[0].normal), 0, 1e-9);
  EXPECT_TRUE(is_finite(leaves[0].tip));
}

TEST(LeafAngles, LimitsTheLeavesOfACell) {
  std::vector<Leaf> leaves = leaves_at(100, 5);
  const auto result = adjust(leaves, {{0, 1, 3, 0, 0, 0}}, grid(1), 30);
  EXPECT_EQ(result.adjusted_count, 30u);
  EXPECT_EQ(result.capped_count, 70u);
}

TEST(LeafAngles, RotatedRaisedAndDroppedColumns) {
  std::vector<Leaf> leaves = leaves_at(2, 5);
  leaves[0].base = {0.9, 0.1, 5.2};  // 90 degrees back: (0.1, -0.9): column (1, 0), raised by 5
  leaves[1].base = {-0.9, 0.1, 0.2};
  const std::vector<double> offsets{0, 5, 0, 0};
  const std::vector<std::uint8_t> kept{1, 1, 1, 0};
  const VoxelBox box{{0, 0, 0}, {2, 2, 2}, 2, 2, 1, 90, {offsets.data(), 4}, {kept.data(), 4}};
  std::vector<LeafAngleTarget> targets;
  for (std::uint32_t cell = 0; cell < 4; ++cell) targets.push_back({cell, 1, 1, 0, 0, 0});
  const auto result = adjust(leaves, targets, box);
  EXPECT_EQ(result.adjusted_count, 1u);  // the other lies in the dropped column (1, 1)
  EXPECT_EQ(result.untouched_count, 1u);
}

TEST(LeafAngles, RefusesBadTargets) {
  std::vector<Leaf> leaves = leaves_at(3, 5);
  for (const LeafAngleTarget bad :
       {LeafAngleTarget{0, 0, 1, 0, 0, 0}, LeafAngleTarget{0, 1, std::nan(""), 0, 0, 0},
        LeafAngleTarget{0, 1, 1, 1, 0, 0}, LeafAngleTarget{0, 1, 1, 0, HUGE_VAL, 0}})
    EXPECT_THROW(adjust(leaves, {bad}, grid(1)), Error);
  EXPECT_THROW(adjust(leaves, {{0, 1, 1, 0, 0, 0}, {0, 2, 1, 0, 0, 0}}, grid(1)), Error);
}

TEST(LeafAngles, CancelEndsAHugeCell) {
  const std::vector<Leaf> leaves = leaves_at(20000, 8);
  test::expect_cancel_after(std::chrono::milliseconds(150), [&](OpContext& ctx) {
    std::vector<Leaf> turned = leaves;
    leaf_angle_assignment(turned, {{0, 2, 2, 0, 0, 0}}, grid(1), {1, 0}, ctx);
  });
}

/// R2 of the ellipse's azimuths by quadrature equals (1 - b) / (1 + b).
TEST(LeafAngleTargets, EccentricityHasAClosedForm) {
  for (const double ecc : {0.0, 0.3, 0.7, 0.95, 0.99}) {
    const double b = std::sqrt(1 - ecc * ecc);
    double cosine = 0;
    const int steps = 200000;
    for (int i = 0; i < steps; ++i) {
      const double t = 2 * std::numbers::pi * (i + 0.5) / steps;
      cosine += std::cos(2 * std::atan2(b * std::sin(t), std::cos(t)));
    }
    EXPECT_NEAR(cosine / steps, (1 - b) / (1 + b), 1e-9);
    EXPECT_NEAR(ellipse_eccentricity(cosine / steps), ecc, 1e-6);
  }
}

struct Mesh {
  std::vector<double> vertices, indices, cells;
  void add(const Vec3d& normal, double cell) {
    const Vec3d side = std::abs(normal.z) < 0.9 ? Vec3d{0, 0, 1} : Vec3d{1, 0, 0};
    const Vec3d u = cross(normal, side), v = cross(normal, u);
    for (const Vec3d& p : {Vec3d{0, 0, 0}, u, v}) {
      indices.push_back(static_cast<double>(vertices.size() / 3));
      vertices.insert(vertices.end(), {p.x, p.y, p.z});
    }
    cells.push_back(cell);
  }
  LeafAngleTargets fit(std::uint64_t cell_count) const {
    JobControl control;
    OpContext ctx(control);
    return leaf_angle_targets(
        {{vertices.data(), vertices.size()}, {indices.data(), indices.size()}, {cells.data(), cells.size()}},
        cell_count, ctx);
  }
};

TEST(LeafAngleTargets, RecoverPlantedDistributions) {
  const std::vector<LeafAngleTarget> planted{{1, 2.77, 1.17, 0.0, 0, 0}, {4, 1.5, 3.0, 0.9, 120, 0}};
  Mesh mesh;
  for (const LeafAngleTarget& one : planted)
    for (const Vec3d& normal : draw_leaf_normals(one, 30000, 11)) {
      const double length = std::sqrt(dot(cross(normal, {0, 0, 1}), cross(normal, {0, 0, 1})));
      mesh.add(std::abs(normal.z) < 0.9 ? normal * (1 / std::sqrt(std::max(length, 1e-9))) : normal,
               one.cell);
    }
  mesh.add({0, 0, 1}, -1);
  mesh.add({0, 0, 1}, 4294967295.0);
  const LeafAngleTargets found = mesh.fit(8);
  ASSERT_EQ(found.targets.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(found.targets[i].cell, planted[i].cell);
    EXPECT_EQ(found.targets[i].n_measured, 30000u);
  }
  EXPECT_NEAR(found.targets[1].ecc, 0.9, 0.03);
  EXPECT_NEAR(found.targets[1].phi0_deg, 120, 3);
}

TEST(LeafAngleTargets, WeighByAreaInBins) {
  Mesh mesh;
  const auto leaning = [](double degrees) {
    const double a = degrees * std::numbers::pi / 180;
    return Vec3d{std::sin(a), 0, std::cos(a)};
  };
  mesh.add(leaning(31), 0);  // the triangle of a unit normal n has the area |n x side|^2 / 2
  mesh.add(leaning(62), 0);
  const double a31 = std::pow(std::sin(31 * std::numbers::pi / 180), 2);
  const double a62 = std::pow(std::sin(62 * std::numbers::pi / 180), 2);
  const double w = a62 / (a31 + a62), low = 32.5 / 90, high = 62.5 / 90;
  const double mean = low + w * (high - low), variance = w * (1 - w) * (high - low) * (high - low);
  const double size = mean * (1 - mean) / variance - 1;
  const auto found = mesh.fit(1).targets;
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NEAR(found[0].beta_nu, mean * size, 1e-9);
  EXPECT_NEAR(found[0].beta_mu, (1 - mean) * size, 1e-9);
  EXPECT_NEAR(found[0].phi0_deg, 95, 1e-9);  // bearing 90: middle of its bin
}

TEST(LeafAngleTargets, SkipsCellsWithoutSpreadAndRefusesBadLists) {
  Mesh mesh;
  mesh.add({0.1, 0, 1}, 0);
  mesh.add({0.1, 0, 1}, 0);
  EXPECT_TRUE(mesh.fit(1).targets.empty());
  EXPECT_EQ(mesh.fit(1).unfit_count, 1u);
  mesh.cells[0] = 1;
  EXPECT_THROW(mesh.fit(1), Error);
  mesh.cells[0] = 0.5;
  EXPECT_THROW(mesh.fit(1), Error);
  mesh.cells[0] = 0;
  mesh.indices[2] = 6;
  EXPECT_THROW(mesh.fit(1), Error);
  mesh.indices[2] = std::nan("");
  EXPECT_THROW(mesh.fit(1), Error);
  Mesh broken;
  broken.vertices = {0, 0, 0, HUGE_VAL, 0, 0, 0, std::nan(""), 1};
  broken.indices = {0, 1, 2};
  broken.cells = {0};
  EXPECT_TRUE(broken.fit(1).targets.empty());
}

}  // namespace
