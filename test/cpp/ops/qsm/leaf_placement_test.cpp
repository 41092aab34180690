#include "ops/qsm/leaf_placement.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>

#include "core/error.h"
#include "ops/qsm/leaf_mesh.h"
#include "support/planted_shoots.h"

namespace {

using namespace pc;
constexpr double kDegree = std::numbers::pi / 180;
constexpr double kExact = 1e-9;

LeafPlacementParams params() {
  return {.leaf_spacing_m = 0.05,
          .leaf_pitch_rad = 40 * kDegree,
          .leaf_size_m = 0.08,
          .phyllotaxis_deg = 137.5,
          .leaves_per_node = 1,
          .max_leaves = 200000};
}

LeafPlacementResult place(const Qsm& qsm, const LeafPlacementParams& wanted) {
  JobControl control;
  OpContext ctx(control);
  return leaf_placement(qsm, wanted, ctx);
}

LeafMesh mesh_of(const std::vector<Leaf>& leaves, double length, const LeafTemplate& shape) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  return leaf_mesh(leaves, length, shape, ctx);
}

/// One shoot along (1, 2, 2) / 3 of cylinders of a length, with a shoot leaving from one of them.
Qsm straight(int count, double length, int carrier = -1, const Vec3d& base = {0, 0, 0}) {
  const Vec3d axis{1.0 / 3, 2.0 / 3, 2.0 / 3};
  Qsm qsm;
  qsm.shoots.push_back({0, 0, {}, kNoQsmParent, kNoQsmParent, {}});
  for (int i = 0; i < count; ++i) {
    qsm.cylinders.push_back(
        {i, base + axis * (i * length), base + axis * ((i + 1) * length), 0.004, i - 1, 0, 0});
    qsm.shoots[0].cylinder_ids.push_back(i);
  }
  if (carrier < 0) return qsm;
  qsm.cylinders.push_back({count, {0, 0, 9}, {0, 0, 9.001}, 0.002, carrier, 1, 1});
  qsm.shoots.push_back({1, 1, {count}, 0, carrier, {}});
  qsm.shoots[0].child_shoot_ids = {1};
  return qsm;
}

TEST(LeafPlacement, FollowsItsClosedForm) {
  const Qsm qsm = straight(4, 0.1);  // 0.4 m: nodes at 0, 0.05 .. 0.4
  LeafPlacementParams wanted = params();
  wanted.leaves_per_node = 2;
  const LeafPlacementResult placed = place(qsm, wanted);
  ASSERT_EQ(placed.leaves.size(), 18u);
  EXPECT_NEAR(placed.leafy_length_m, 0.4, kExact);
  const Vec3d t{1.0 / 3, 2.0 / 3, 2.0 / 3};
  const AzimuthFrame frame = azimuth_frame(t);
  for (std::size_t i = 0; i < placed.leaves.size(); ++i) {
    const Leaf& leaf = placed.leaves[i];
    const double node = std::floor(i / 2.0), azimuth = (node * 137.5 + 180.0 * (i % 2)) * kDegree;
    const Vec3d radial = frame.u * std::cos(azimuth) + frame.v * std::sin(azimuth);
    const Vec3d base = t * (0.05 * node) + radial * 0.006;
    EXPECT_LT(squared_distance(leaf.base, base), kExact * kExact);
    EXPECT_NEAR(dot(leaf.tip, t), std::cos(40 * kDegree), kExact);
    EXPECT_NEAR(dot(leaf.tip, radial), std::sin(40 * kDegree), kExact);
    EXPECT_LT(squared_distance(leaf.width, cross(t, radial)), kExact * kExact);
    EXPECT_LT(squared_distance(leaf.normal, cross(leaf.tip, leaf.width)), kExact * kExact);
    EXPECT_NEAR(dot(leaf.normal, leaf.normal), 1, kExact);
  }
}

TEST(LeafPlacement, StartsBehindTheLastFork) {
  const Qsm qsm =
      straight(10, 0.1, 6);  // forks at 0.7 m: nodes from 0.7 to 1.0 m; the child of 1 mm has one node
  const LeafPlacementResult placed = place(qsm, params());
  EXPECT_EQ(placed.shoot_count, 2u);
  EXPECT_EQ(placed.leaves.size(), 7u + 1u);
  const Qsm ends_in_fork = straight(3, 0.1, 2);
  EXPECT_EQ(place(ends_in_fork, params()).leaves.size(), 1u);
}

TEST(LeafPlacement, AreaSizeAndSpacingOfTheMeshFarFromTheOrigin) {
  const Vec3d far{5e6, 4e6, 100};
  const LeafPlacementResult placed = place(straight(4, 0.1, -1, far), params());
  const LeafMesh mesh = mesh_of(placed.leaves, 0.08, quad_leaf(0.6));
  ASSERT_EQ(mesh.vertices.size(), 9u * 2 * placed.leaves.size());
  const auto vertex = [&](std::size_t i) {
    return Vec3d{mesh.vertices[3 * i], mesh.vertices[3 * i + 1], mesh.vertices[3 * i + 2]};
  };
  for (std::size_t l = 0; l < placed.leaves.size(); ++l) {
    double area = 0;
    for (std::size_t t = 0; t < 2; ++t) {
      const std::size_t i = 6 * l + 3 * t;
      const Vec3d n = cross(vertex(i + 1) - vertex(i), vertex(i + 2) - vertex(i));
      area += 0.5 * std::sqrt(dot(n, n));
    }
    EXPECT_NEAR(area, 0.08 * 0.048, 1e-9);
    const Vec3d base = (vertex(6 * l) + vertex(6 * l + 1)) * 0.5,
                tip = (vertex(6 * l + 2) + vertex(6 * l + 5)) * 0.5;
    EXPECT_NEAR(std::sqrt(squared_distance(base, tip)), 0.08, 1e-8);
    EXPECT_LT(squared_distance(base, placed.leaves[l].base), 1e-16);
    EXPECT_EQ(mesh.uvs[12 * l], 0);      // base
    EXPECT_EQ(mesh.uvs[12 * l + 1], 1);  // -w/2: v = 0, flipped
  }
}

TEST(LeafPlacement, ThinsEvenlyToTheLimit) {
  LeafPlacementParams wanted = params();
  const Qsm qsm = straight(100, 0.1);  // 201 nodes
  wanted.max_leaves = 67;
  const LeafPlacementResult few = place(qsm, wanted);
  ASSERT_EQ(few.leaves.size(), 67u);
  EXPECT_EQ(few.wanted_count, 201);
  wanted.max_leaves = 1000;
  const LeafPlacementResult all = place(qsm, wanted);
  ASSERT_EQ(all.leaves.size(), 201u);
  for (std::size_t i = 0; i < 67; ++i) EXPECT_EQ(few.leaves[i].base, all.leaves[3 * i].base);
  wanted.leaf_spacing_m = 1e-300;
  EXPECT_EQ(place(qsm, wanted).leaves.size(), 1000u);
}

TEST(LeafPlacement, CylindersWithoutLengthCarryNothing) {
  Qsm qsm = straight(3, 0.1);
  qsm.cylinders[1].end = qsm.cylinders[1].start;
  EXPECT_EQ(place(qsm, params()).leaves.size(), 5u);
  for (QsmCylinder& one : qsm.cylinders) one.end = one.start;
  EXPECT_EQ(place(qsm, params()).leaves.size(), 0u);
  EXPECT_EQ(place({}, params()).leaves.size(), 0u);
}

TEST(LeafPlacement, RefusesParametersOutOfRange) {
  for (const double bad : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
    LeafPlacementParams wanted = params();
    wanted.leaf_spacing_m = bad;
    EXPECT_THROW(place(straight(1, 1), wanted), Error);
  }
}

TEST(LeafMesh, MeshesLieAlongXWithoutMirroring) {
  // A right-handed corner at a place far away: its long edge along each axis in turn.
  for (int longest = 0; longest < 3; ++longest) {
    float extent[3] = {1, 1, 1};
    extent[longest] = 4;
    const auto at = [&](float x, float y, float z) {
      return std::array<float, 3>{100 + x * extent[0], 100 + y * extent[1], 100 + z * extent[2]};
    };
    std::vector<float> vertices;
    for (const auto& v : {at(0, 0, 0), at(1, 0, 0), at(0, 1, 0), at(0, 0, 0), at(0, 0, 1), at(1, 0, 0)})
      vertices.insert(vertices.end(), v.begin(), v.end());
    const std::vector<float> normals(vertices.size(), 0.0f);
    const LeafTemplate shape =
        mesh_leaf({vertices.data(), vertices.size()}, {normals.data(), normals.size()}, {}, {});
    const auto& v = shape.vertices;
    const double volume =
        dot(cross(v[1] - v[0], v[2] - v[0]), v[4] - v[0]);  // x, y, z edges: > 0 if not mirrored
    EXPECT_NEAR(volume, 4.0 / 64, 1e-6) << longest;
    Box3d box;
    for (const Vec3d& one : v) box.add(one);
    EXPECT_NEAR(box.min.x, 0, 1e-6);
    EXPECT_NEAR(box.max.x, 1, 1e-6);
    EXPECT_NEAR(box.min.y + box.max.y, 0, 1e-6);
    EXPECT_NEAR(box.min.z + box.max.z, 0, 1e-6);
  }
}

}  // namespace
