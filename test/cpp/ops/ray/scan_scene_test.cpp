#include "ops/ray/scan_scene.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "support/columns.h"
#include "support/scans.h"

namespace pc {
namespace {

using test::forward_pulses;
using test::in_radians;
using test::RequestMesh;
using test::scanned;
using test::scanner;
using test::scene_of;

/// To a tenth of a millimetre.
std::vector<float> distances(const SyntheticScan& scan) {
  std::vector<float> out = test::to_vector(scan.distance);
  for (float& value : out) value = std::round(value * 1e4F) / 1e4F;
  return out;
}

/// Left half opaque red, right half clear.
SceneTexture half_clear() {
  std::vector<std::uint8_t> rgba;
  for (int row = 0; row < 2; ++row) rgba.insert(rgba.end(), {255, 0, 0, 255, 0, 255, 0, 127});
  return {2, 2, std::make_shared<const AnyColumn>(test::column_of(rgba)), true};
}

SceneMesh textured(const RequestMesh& mesh) {
  SceneMesh out = mesh.mesh();
  out.surfaces.materials.push_back({0, {mesh.textured.data(), mesh.textured.size()}});
  return out;
}

TEST(ScanScene, RaysPassHolesOfTextures) {
  RequestMesh leaf, wall;
  leaf.wall(5, 1);
  leaf.wall(6, 1);
  leaf.textured = {0, 1, 2, 3};
  wall.wall(9, 5);
  auto params = scanner({1, 41, 90, 90, -8, 8});
  const auto scan = scanned(scene_of({textured(leaf), wall.mesh()}, {half_clear()}), params);
  ASSERT_EQ(scan.positions.size(), 41U);
  for (std::size_t i = 0; i < 41; ++i) {
    const double x = std::tan(in_radians(-8 + 0.4 * static_cast<double>(i)));
    EXPECT_NEAR(scan.positions[i].y, x < 0 ? 5 : 9, 1e-9) << i;
    EXPECT_EQ(scan.color[i].r, x < 0 ? 65535 : 32768);
  }
}

TEST(ScanScene, TexturesWithoutCoordinatesAreCountedAndNotUsed) {
  RequestMesh leaf;
  leaf.wall(5, 1);
  leaf.textured = {0, 1};
  leaf.uvs.pop_back();
  const ScanScene scene = scene_of({textured(leaf)}, {half_clear()});
  EXPECT_EQ(scene.unused_texture_count(), 1U);
  EXPECT_EQ(scanned(scene, scanner({1, 41, 90, 90, -8, 8})).hit_count, 41U);
}

TEST(ScanScene, ColoursAreTheMeanOfTheCornersAndOrgansThoseOfTheTriangle) {
  RequestMesh wall;
  wall.wall(5, 1);
  wall.colors = {{1, 0, 0}, {1, 0.5, 0}, {1, 1, 0}, {7, -3, 0}};  // clipped
  wall.organs = {2, 6};
  const auto scan = scanned(scene_of({wall.mesh()}), scanner({1, 2, 90, 90, -8, 8}));
  ASSERT_EQ(scan.positions.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(scan.color[i].r, 65535);
    EXPECT_EQ(scan.color[i].b, 0);
  }
  EXPECT_NE(scan.organ[0], scan.organ[1]);
}

TEST(ScanScene, InstancesEqualTheExpandedMesh) {
  const test::Mesh shape = test::soup(40, 1, 0.5, 11);
  test::MeshDraw draw(4);
  RequestMesh prototype(shape), expanded;
  prototype.organs.assign(prototype.triangles.size() / 3, 1);
  std::vector<double> of, matrices;
  for (int i = 0; i < 30; ++i) {
    const Rotation turn = roll_pitch_yaw(6 * draw.unit(), 6 * draw.unit(), 6 * draw.unit());
    const Vec3d at = draw.in_cube(9);
    const double scale = 0.5 + draw.unit(), at_of[3] = {at.x, at.y, at.z};
    of.push_back(i % 2);
    for (std::size_t r = 0; r < 3; ++r) {
      for (std::size_t c = 0; c < 3; ++c) matrices.push_back(scale * turn.r[r][c]);
      matrices.push_back(at_of[r]);
    }
    const auto first = static_cast<double>(expanded.vertices.size());
    for (const Vec3d& p : shape.vertices) expanded.vertices.push_back(turn.apply(p) * scale + at);
    const std::size_t half = prototype.triangles.size() / 2;  // the second prototype is the second half
    for (std::size_t k = 0; k < half; ++k)
      expanded.triangles.push_back(first + prototype.triangles[i % 2 == 0 ? k : half + k]);
  }
  expanded.organs.assign(expanded.triangles.size() / 3, 1);
  RequestMesh ground;
  ground.quad({-20, -20, -6}, {20, -20, -6}, {20, 20, -6}, {-20, 20, -6});
  ground.organs = {0, 0};
  SceneMesh placed = ground.mesh({100, 0, 0});
  placed.prototypes = prototype.surfaces();
  placed.firsts = {0, 20, 40};
  placed.instance_prototype = {of.data(), of.size()};
  placed.instance_matrix = {matrices.data(), matrices.size()};
  auto params = scanner({90, 180, 20, 160, 0, 358});
  params.origin = {100, 0, 0};
  const ScanScene instanced = scene_of({placed});
  EXPECT_EQ(instanced.triangle_count(), 2U + 30 * 20);
  const auto found = scanned(instanced, params);
  const auto wanted = scanned(scene_of({ground.mesh({100, 0, 0}), expanded.mesh({100, 0, 0})}), params);
  ASSERT_EQ(found.hit_count, wanted.hit_count);
  for (std::size_t i = 0; i < found.positions.size(); ++i) {
    ASSERT_EQ(found.time[i], wanted.time[i]);
    ASSERT_NEAR(static_cast<double>(found.distance[i]), static_cast<double>(wanted.distance[i]), 1e-5);
    ASSERT_NEAR(static_cast<double>(found.intensity[i]), static_cast<double>(wanted.intensity[i]), 1e-5);
    ASSERT_EQ(found.organ[i], wanted.organ[i]);
  }
}

TEST(ScanScene, SurfacesOutsideTheBoxDoNotExist) {
  RequestMesh walls;
  walls.wall(5, 4);
  walls.wall(10, 4);
  const ScanScene scene = scene_of({walls.mesh()});
  auto params = scanner({1, 3, 90, 90, -60, 60});
  params.record_misses = true;
  EXPECT_EQ(scanned(scene, params).miss_count, 2U);
  params.box = TraceBox{{0, 10, 0}, {4, 2, 4}, 0};
  const auto inside = scanned(scene, params);  // the pulses beside the box are not fired
  EXPECT_EQ(distances(inside), (std::vector<float>{10}));
  params.box = TraceBox{{0, 8, 0}, {0.2, 2, 4}, in_radians(90)};  // turned: wide across, thin along y
  EXPECT_EQ(distances(scanned(scene, params)), (std::vector<float>{1001}));
  EXPECT_EQ(scanned(scene, params).miss_count, 1U);
}

TEST(ScanScene, MissesLieAlongTheirBeam) {
  RequestMesh wall;
  wall.wall(5, 1);
  auto params = scanner({3, 5, 70, 110, -60, 60});
  const ScanScene scene = scene_of({wall.mesh()});
  const auto hits = scanned(scene, params);
  params.record_misses = true;
  const auto all = scanned(scene, params);
  EXPECT_EQ(hits.miss_count, 0U);
  EXPECT_EQ(all.hit_count, hits.hit_count);
  EXPECT_EQ(all.positions.size(), 15U);
  for (std::size_t i = 0; i < 15; ++i) {
    if (all.is_miss[i] == 0) continue;
    EXPECT_EQ(all.target_index[i], 99);
    EXPECT_EQ(all.target_count[i], 0);
    EXPECT_EQ(all.intensity[i], 0);
    const Vec3d d = scan_pattern::pulse_direction(params.pattern, i);
    EXPECT_LT(squared_distance(all.positions[i], d * 1001), 1e-12);
  }
}

TEST(ScanScene, PulsesOfAMovingScannerStartAtItsPoses) {
  RequestMesh wall;
  wall.wall(20, 60);
  const double half = in_radians(15);
  const Pose poses[] = {{5, {-10, 0, 0}, {0, 0, 0, 1}},
                        {9, {10, 4, 2}, {0, 0, std::sin(half), std::cos(half)}}};
  const PoseStreamView stream{{poses, 2}, {0.5, 0.25, -1}, roll_pitch_yaw(0, 0, in_radians(-30))};
  auto params = forward_pulses(41);
  params.is_moving = true;
  params.first_time_s = 5;
  params.pulse_interval_s = 0.1;
  const auto scan = scanned(scene_of({wall.mesh()}), params, 2, stream);
  ASSERT_EQ(scan.hit_count, 41U);
  for (std::size_t i = 0; i < 41; ++i) {
    const double part = static_cast<double>(i) / 40, yaw = 2 * half * part;
    EXPECT_NEAR(scan.time[i], 5 + 4 * part, 1e-12);
    EXPECT_EQ(scan.pulse[i], i);
    const Vec3d lever{0.5 * std::cos(yaw) - 0.25 * std::sin(yaw), 0.5 * std::sin(yaw) + 0.25 * std::cos(yaw),
                      -1};
    const Vec3d from = Vec3d{-10 + 20 * part, 4 * part, 2 * part} + lever;
    EXPECT_LT(squared_distance(scan.beam_origin[i], from), 1e-20) << i;
    const double angle = yaw - in_radians(30);  // +y turned counter-clockwise by yaw and boresight
    const double range = (20 - from.y) / std::cos(angle);
    EXPECT_NEAR(static_cast<double>(scan.distance[i]), range, 1e-5) << i;
    EXPECT_NEAR(scan.positions[i].x, from.x - range * std::sin(angle), 1e-9);
  }
}

TEST(ScanScene, TheTiltRollsBeforeItPitches) {
  RequestMesh room(test::sphere(20, {0, 0, 0}, 5));
  auto params = forward_pulses(1);
  params.tilt = roll_pitch_yaw(in_radians(90), in_radians(90), 0);  // +y to +z to +x
  const auto scan = scanned(scene_of({room.mesh()}), params);
  ASSERT_EQ(scan.hit_count, 1U);
  EXPECT_GT(scan.positions[0].x, 4.9);
}

TEST(ScanScene, ReturnsOfAPulse) {
  RequestMesh steps;  // three walls behind each other, each half as far up
  for (const auto& [y, top] : {std::pair{10.0, -0.004}, {10.5, 0.003}, {11.0, 5.0}})
    steps.quad({-5, y, top}, {5, y, top}, {5, y, -5}, {-5, y, -5});
  auto params = forward_pulses(1);
  params.rays_per_pulse = 1000;
  params.divergence_rad = 1e-3;
  params.is_multi_return = true;
  const ScanScene scene = scene_of({steps.mesh()});
  const auto all = scanned(scene, params);
  EXPECT_EQ(distances(all), (std::vector<float>{10, 10.5, 11}));
  EXPECT_EQ(test::to_vector(all.target_index), (std::vector<std::uint8_t>{0, 1, 2}));
  EXPECT_EQ(test::to_vector(all.target_count), (std::vector<std::uint8_t>{3, 3, 3}));
  EXPECT_EQ(all.ray_count[0] + all.ray_count[1] + all.ray_count[2], 1000U);
  params.pulse_distance_m = 0.6;
  EXPECT_EQ(scanned(scene, params).target_count[0], 2);
  params.pulse_distance_m = 0.02;
  params.is_multi_return = false;
  const auto single = [&](ReturnSelection selection) {
    params.selection = selection;
    return distances(scanned(scene, params));
  };
  EXPECT_EQ(single(ReturnSelection::kFirst), (std::vector<float>{10}));
  EXPECT_EQ(single(ReturnSelection::kLast), (std::vector<float>{11}));
  EXPECT_EQ(single(ReturnSelection::kStrongest), (std::vector<float>{10.5}));
  EXPECT_EQ(scanned(scene, params).deviation.size(), 0U);
}

TEST(ScanScene, AnIdealBeamOfManyRaysIsOneRay) {
  RequestMesh wall;
  wall.wall(5, 1);
  auto params = forward_pulses(2);
  params.rays_per_pulse = 100;
  params.is_multi_return = true;
  const auto scan = scanned(scene_of({wall.mesh()}), params);
  EXPECT_EQ(test::to_vector(scan.ray_count), (std::vector<std::uint32_t>{100, 100}));
  EXPECT_EQ(test::to_vector(scan.deviation), (std::vector<float>{0, 0}));
}

std::string problem(const SceneMesh& mesh) {
  try {
    (void)scene_of({mesh});
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    return error.what();
  }
  return "";
}

TEST(ScanScene, WrongListsAreRefusedByName) {
  RequestMesh wall;
  wall.wall(5, 1);
  const auto with = [&](const auto& change) {
    RequestMesh mesh = wall;
    change(mesh);
    return problem(mesh.mesh());
  };
  EXPECT_EQ(with([](RequestMesh&) {}), "");
  EXPECT_EQ(with([](RequestMesh& m) { m.triangles.clear(); }), "Geometry has no triangles");
  EXPECT_NE(with([](RequestMesh& m) { m.triangles[4] = 9; }).find("meshes[0].triangles"), std::string::npos);
  EXPECT_NE(with([](RequestMesh& m) { m.triangles[4] = -1; }), "");
  EXPECT_NE(with([](RequestMesh& m) { m.triangles[4] = 0.5; }), "");
  EXPECT_NE(with([](RequestMesh& m) { m.triangles[4] = NAN; }), "");
  EXPECT_NE(with([](RequestMesh& m) { m.triangles.pop_back(); }), "");
  EXPECT_NE(with([](RequestMesh& m) { m.colors = {{0, 0, 0}}; }).find("colors"), std::string::npos);
  EXPECT_NE(with([](RequestMesh& m) { m.colors.assign(4, {NAN, 0, 0}); }), "");
  EXPECT_NE(with([](RequestMesh& m) { m.organs = {1, 7}; }).find("organ_codes"), std::string::npos);
  EXPECT_NE(with([](RequestMesh& m) { m.vertices[0].x = NAN; }), "");
  SceneMesh placed = wall.mesh();
  placed.prototypes = wall.surfaces();
  const std::vector<double> of{0}, matrix{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
  placed.instance_prototype = {of.data(), 1};
  placed.instance_matrix = {matrix.data(), 12};
  placed.firsts = {0, 2};
  EXPECT_EQ(problem(placed), "");
  placed.firsts = {0, 1};
  EXPECT_NE(problem(placed).find("prototype_first_triangle"), std::string::npos);
  placed.firsts = {0, 2};
  placed.instance_matrix = {matrix.data(), 11};
  EXPECT_NE(problem(placed).find("instance_matrix"), std::string::npos);
}

}  // namespace
}  // namespace pc
