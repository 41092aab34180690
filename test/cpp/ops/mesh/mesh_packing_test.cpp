#include "ops/mesh/mesh_packing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "io/record_support.h"

namespace {

using namespace pc;
using record_test::error_of;
using record_test::with_context;

const float kNan = std::numeric_limits<float>::quiet_NaN();

template <class T>
void fill(Column<T>& column, const std::vector<T>& values) {
  column = Column<T>(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) column[i] = values[i];
}
template <class T>
std::vector<T> list(const Column<T>& values) {
  return {values.view().begin(), values.view().end()};
}

/// A square of two triangles, corners 0 1 2 3, in the plane z = 0, and a triangle without area.
PolygonMesh square() {
  PolygonMesh mesh;
  fill(mesh.positions, {{0, 0, 0}, {2, 0, 0}, {2, 1, 0}, {0, 1, 0}, {9, 9, std::nan("")}});
  for (const std::uint32_t corner : {0, 1, 2, 3, 0, 1, 1}) mesh.corner_position.push_back(corner);
  for (const std::uint64_t first : {0, 4, 7}) mesh.face_first.push_back(first);
  return mesh;
}

template <class Pack>
PackedMesh packed(const PolygonMesh& mesh, Pack&& pack) {
  return with_context(2, [&](OpContext& ctx) { return pack(mesh, triangulate(mesh, ctx), ctx); });
}

TEST(MeshPacking, ExpandsTrianglesAndFlipsV) {
  PolygonMesh mesh = square();
  fill(mesh.uvs, {0.25f, 0.25f, 1, 1});
  fill(mesh.normals, {1, 0, 0, 0, 0, 0});
  for (const std::uint32_t uv : {0U, 1U, kNoIndex, 1U, 0U, 0U, 0U}) mesh.corner_uv.push_back(uv);
  for (const std::uint32_t n : {0U, kNoIndex, 1U, 1U, kNoIndex, kNoIndex, kNoIndex})
    mesh.corner_normal.push_back(n);
  for (const std::uint32_t m : {1U, kNoIndex}) mesh.face_material.push_back(m);
  const PackedMesh out = packed(mesh, expand_triangles);
  EXPECT_EQ(list(out.indices), (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(list(out.vertices), (std::vector<float>{0, 0, 0, 2, 0, 0, 2, 1, 0, 0, 0, 0, 2, 1,
                                                    0, 0, 1, 0, 0, 0, 0, 2, 0, 0, 2, 0, 0}));
  EXPECT_EQ(list(out.uvs), (std::vector<float>{0.25f, 0.75f, 1, 0, 0, 0, 0.25f, 0.75f, 0, 0, 1, 0, 0.25f,
                                               0.75f, 0.25f, 0.75f, 0.25f, 0.75f}));
  EXPECT_EQ(list(out.normals), (std::vector<float>{1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0,
                                                   0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 1}));
  EXPECT_EQ(list(out.triangle_material), (std::vector<std::uint32_t>{1, 1, kNoIndex}));
  EXPECT_EQ(out.flat_count, 1u);
  EXPECT_EQ(out.bounds.max, (Vec3d{2, 1, 0}));
}

TEST(MeshPacking, ComputesMissingNormals) {
  PolygonMesh mesh = square();
  const PackedMesh expanded = packed(mesh, expand_triangles);
  for (std::size_t i = 0; i < 9; ++i) EXPECT_EQ(expanded.normals[3 * i + 2], 1) << i;
  // An edge between a triangle of area 1 in z = 0 and one of area 2 in x = 0: weighted by area.
  fill(mesh.positions, {{0, 0, 0}, {0, 2, 0}, {-1, 0, 0}, {0, 0, 2}});
  mesh.corner_position = BulkVector<std::uint32_t>();
  for (const std::uint32_t corner : {0, 1, 2, 0, 1, 3}) mesh.corner_position.push_back(corner);
  mesh.face_first = BulkVector<std::uint64_t>();
  for (const std::uint64_t first : {0, 3, 6}) mesh.face_first.push_back(first);
  const PackedMesh shared = packed(mesh, share_vertices);
  EXPECT_EQ(list(shared.indices), (std::vector<std::uint32_t>{0, 1, 2, 0, 1, 3}));
  EXPECT_FLOAT_EQ(shared.normals[0], static_cast<float>(2 / std::sqrt(5.0)));
  EXPECT_FLOAT_EQ(shared.normals[2], static_cast<float>(1 / std::sqrt(5.0)));
  EXPECT_EQ(shared.normals[11], 0);
}

TEST(MeshPacking, SharedVerticesThatAreNotFiniteAreLeftOut) {
  PolygonMesh mesh = square();
  fill(mesh.positions, {{std::nan(""), 0, 0}, {2, 0, 0}, {2, 1, 0}, {0, 1, 0}});
  mesh.corner_position = BulkVector<std::uint32_t>();
  for (const std::uint32_t corner : {1, 2, 3, 0, 1, 2}) mesh.corner_position.push_back(corner);
  mesh.face_first = BulkVector<std::uint64_t>();
  for (const std::uint64_t first : {0, 3, 6}) mesh.face_first.push_back(first);
  const PackedMesh out = packed(mesh, share_vertices);
  EXPECT_EQ(list(out.indices), (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(list(out.vertices), (std::vector<float>{2, 0, 0, 2, 1, 0, 0, 1, 0}));
}

TEST(MeshPacking, PaintsAndGroups) {
  const std::vector<std::uint32_t> materials = {1, kNoIndex, 0, 1};
  const Span<const std::uint32_t> view{materials.data(), materials.size()};
  std::vector<float> own(36, 0.5f);
  own[9] = kNan;
  with_context(2, [&](OpContext& ctx) {
    const Column<float> colors =
        paint_triangles(view, {kNan, kNan, kNan, 1, 0, 0.25f}, {own.data(), 36}, ctx);
    EXPECT_EQ((std::vector<float>{colors[0], colors[1], colors[2]}), (std::vector<float>{1, 0, 0.25f}));
    EXPECT_EQ((std::vector<float>{colors[9], colors[10], colors[18]}),
              (std::vector<float>{0.8f, 0.5f, 0.5f}));
    EXPECT_EQ(paint_triangles(view, {1, 1, 1, 1, 1, 1}, {}, ctx)[9], 0.8f);
    const MaterialGroups groups = group_triangles(view, 2, ctx);
    EXPECT_EQ(list(groups.triangles), (std::vector<std::uint32_t>{2, 0, 3}));
    EXPECT_EQ(groups.firsts, (std::vector<std::uint64_t>{0, 1, 3}));
    EXPECT_EQ(error_of([&] { group_triangles(view, 1, ctx); }).code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(error_of([&] {
                paint_triangles(view, {1, 1, 1}, {}, ctx);
              }).code(),
              ErrorCode::kInvalidArgument);
  });
}

}  // namespace
