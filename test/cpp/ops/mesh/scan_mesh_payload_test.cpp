#include "ops/mesh/scan_mesh_payload.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/error.h"
#include "ops/mesh/mesh_points.h"

namespace pc {
namespace {

using Points = std::vector<Vec3d>;
using Indices = std::vector<std::uint32_t>;

struct Mesh {
  Points vertices;
  Indices indices, scan_ids;
  void add(double side, const Vec3d& at, double other = 0) {
    const auto first = static_cast<std::uint32_t>(vertices.size());
    for (const Vec3d& p : {at, at + Vec3d{side, 0, 0}, at + Vec3d{0, other > 0 ? other : side, 0}})
      vertices.push_back(p);
    for (std::uint32_t k = 0; k < 3; ++k) indices.push_back(first + k);
    scan_ids.push_back(static_cast<std::uint32_t>(10 + scan_ids.size()));
  }
};

constexpr VoxelBox kOneCell{{0, 0, 0}, {1e6, 1e6, 1e6}, 1, 1, 1, 0, {}, {}};

ScanMeshPayload payload_of(const Mesh& mesh, const VoxelBox& grid, std::uint64_t most) {
  JobControl control;
  OpContext ctx(control);
  return scan_mesh_payload({mesh.vertices.data(), mesh.vertices.size()},
                           {mesh.indices.data(), mesh.indices.size()},
                           {mesh.scan_ids.data(), mesh.scan_ids.size()}, grid, most, ctx);
}
Indices listed(const Column<std::uint32_t>& column) { return {column.view().begin(), column.view().end()}; }

TEST(ScanMeshPayload, UpToTheLimitEverythingIsReturned) {
  Mesh mesh;
  mesh.add(1, {0, 0, 0});
  mesh.add(0.1, {0, 0, 0}, 20);
  const ScanMeshPayload out = payload_of(mesh, kOneCell, 2);
  EXPECT_EQ(listed(out.indices), mesh.indices);
  EXPECT_EQ(listed(out.scan_ids), (Indices{10, 11}));
  EXPECT_EQ(listed(out.cell_ids), (Indices{0, 0}));
  EXPECT_DOUBLE_EQ(out.surface_area, 1.5);
  EXPECT_DOUBLE_EQ(out.cap_lmax_m, std::hypot(0.1, 20));
  EXPECT_EQ(out.cap_aspect, 1e9);
  EXPECT_EQ(out.capped_count, 0U);
}

TEST(ScanMeshPayload, AboveItTheShortestOfWellShapedTrianglesRemain) {
  Mesh mesh;
  for (const double side : {5.0, 1.0, 3.0, 1.0, 2.0, 1.0}) mesh.add(side, {0, 0, 0});
  mesh.add(0.1, {0, 0, 0}, 0.9);  // short, but its aspect ratio is 9
  const ScanMeshPayload five = payload_of(mesh, kOneCell, 5);
  EXPECT_EQ(listed(five.scan_ids), (Indices{11, 12, 13, 14, 15}));
  EXPECT_DOUBLE_EQ(five.cap_lmax_m, 3 * std::sqrt(2.0));
  EXPECT_EQ(five.cap_aspect, 4);
  EXPECT_EQ(five.capped_count, 2U);
  EXPECT_EQ(listed(payload_of(mesh, kOneCell, 2).scan_ids), (Indices{11, 13}));  // of equal ones the first
  EXPECT_EQ(listed(payload_of(mesh, kOneCell, 6).scan_ids), (Indices{10, 11, 12, 13, 14, 15}));
  EXPECT_DOUBLE_EQ(payload_of(mesh, kOneCell, 1).cap_lmax_m, std::sqrt(2.0));
}

TEST(ScanMeshPayload, CellsOfARotatedGridWithTerrainColumns) {
  const std::vector<double> offsets{0, 10};
  const std::vector<std::uint8_t> kept{1, 1}, first_only{1, 0};
  VoxelBox grid{{100, 200, 0}, {4, 2, 2}, 2, 1, 2, 90, {offsets.data(), 2}, {kept.data(), 2}};
  Mesh mesh;  // rotated by 90 degrees, column 0 lies at y = 198..200, column 1 at y = 200..202
  const auto at = [&](double y, double z) { mesh.add(0.03, {100 - 0.01, y - 0.01, z}); };
  at(199, -0.5);  // column 0, lower cell: 0
  at(199, 0.5);   // column 0, upper cell: 2
  at(201, 0.5);   // column 1 is raised by 10 m: outside
  at(201, 10.5);  // column 1, upper cell: 3
  at(203, 0.5);   // outside
  const ScanMeshPayload out = payload_of(mesh, grid, 100);
  EXPECT_EQ(listed(out.cell_ids), (Indices{0, 2, 3}));
  EXPECT_EQ(listed(out.scan_ids), (Indices{10, 11, 13}));
  EXPECT_EQ(out.outside_count, 2U);
  grid.kept = {first_only.data(), 2};
  EXPECT_EQ(listed(payload_of(mesh, grid, 100).cell_ids), (Indices{0, 2}));
  JobControl control;
  OpContext ctx(control);
  Points places;
  for (std::size_t i = 0; i < mesh.vertices.size(); i += 3)
    places.push_back(mesh.vertices[i] - Vec3d{1, 0, 0});
  const MeshPoints inside =
      mesh_points_in_voxels({{places.data(), places.size()}, {}, {}, {1, 0, 0}}, grid, ctx);
  ASSERT_EQ(inside.points.size(), 2U);
  EXPECT_EQ(inside.points[1].z, 0.5);
}

TEST(ScanMeshPayload, RefusesWrongInput) {
  Mesh mesh;
  mesh.add(1, {0, 0, 0});
  EXPECT_THROW(payload_of(mesh, kOneCell, 0), Error);
  EXPECT_THROW(payload_of(mesh, {{0, 0, 0}, {1, 0, 1}, 1, 1, 1, 0, {}, {}}, 5), Error);
  mesh.scan_ids.push_back(1);
  EXPECT_THROW(payload_of(mesh, kOneCell, 5), Error);
}

}  // namespace
}  // namespace pc
