#include "ops/mesh/mesh_cleanup.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "core/error.h"
#include "core/random.h"
#include "io/record_support.h"
#include "ops/mesh/grid_binning.h"
#include "ops/mesh/mesh_measures.h"
#include "ops/mesh/mesh_points.h"
#include "support/cancel_phase.h"

namespace pc {
namespace {

using record_test::error_of;
using record_test::with_context;
using Points = std::vector<Vec3d>;
using Indices = std::vector<std::uint32_t>;

template <class T>
Span<const T> view(const std::vector<T>& values) {
  return {values.data(), values.size()};
}
template <class T>
std::vector<T> list(const Column<T>& values) {
  return {values.view().begin(), values.view().end()};
}

CleanMesh clean(const Points& vertices, const Indices& indices, int threads = 2) {
  return with_context(threads,
                      [&](OpContext& ctx) { return mesh_cleanup(view(vertices), view(indices), ctx); });
}

TEST(MeshCleanup, MergesVerticesAndDropsDegenerateAndRepeatedTriangles) {
  const Points vertices{{0, 0, 0}, {9, 9, 9}, {1, 0, 0}, {0, 1, 0}, {0, 0, -0.0}, {2, 0, 0}};
  const CleanMesh mesh = clean(vertices, {0, 2, 3, 3, 4, 2, 2, 3, 0, 0, 2, 5, 0, 4, 3, 4, 3, 2});
  // Turned, the second is the first; so is the third. The fourth lies on a line, the fifth has two corners at one place,
  // the last is the first from below, which stays.
  EXPECT_EQ(list(mesh.vertices), (Points{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}));
  EXPECT_EQ(list(mesh.indices), (Indices{0, 1, 2, 0, 2, 1}));
  EXPECT_EQ(mesh.merged_vertex_count, 1U);
  EXPECT_EQ(mesh.repeated_count, 2U);
  EXPECT_EQ(mesh.flat_count, 2U);
  EXPECT_EQ(mesh.non_manifold_count, 0U);
}

TEST(MeshCleanup, ThinsEdgesOfMoreThanTwoTriangles) {
  // Four triangles of heights 1 to 4 at the edge 0 1.
  const Points vertices{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 4}, {0, -3, 0}, {0, 0, -2}};
  const CleanMesh mesh = clean(vertices, {0, 1, 2, 1, 0, 3, 0, 1, 4, 1, 0, 5});
  EXPECT_EQ(list(mesh.indices), (Indices{1, 0, 2, 0, 1, 3}));
  EXPECT_EQ(mesh.vertices[2], (Vec3d{0, 0, 4}));
  EXPECT_EQ(mesh.non_manifold_count, 2U);
}

TEST(MeshCleanup, LeavesNoEdgeOfMoreThanTwoTrianglesForAnyThreadCount) {
  Points vertices;
  Indices indices;
  for (std::uint64_t i = 0; i < 60; ++i)
    vertices.push_back({random_unit(1, 3 * i), random_unit(1, 3 * i + 1), random_unit(1, 3 * i + 2)});
  for (std::uint64_t i = 0; i < 6000; ++i)
    indices.push_back(static_cast<std::uint32_t>(random_u64(2, i) % 60));
  const CleanMesh mesh = clean(vertices, indices, 1);
  EXPECT_EQ(list(mesh.indices), list(clean(vertices, indices, 3).indices));
  EXPECT_GT(mesh.indices.size(), 600U);
  EXPECT_GT(mesh.non_manifold_count, 500U);
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> uses;
  for (std::size_t i = 0; i < mesh.indices.size(); i += 3) {
    for (std::size_t k = 0; k < 3; ++k) {
      const auto [a, b] = std::minmax(mesh.indices[i + k], mesh.indices[i + (k + 1) % 3]);
      EXPECT_LE((++uses[{a, b}]), 2);
    }
  }
  const std::size_t given = indices.size() / 3, left = mesh.indices.size() / 3;
  EXPECT_EQ(given, left + mesh.flat_count + mesh.repeated_count + mesh.non_manifold_count);
}

TEST(MeshCleanup, TakesNothingAndRefusesWrongIndices) {
  EXPECT_EQ(clean({}, {}).indices.size(), 0U);
  EXPECT_MESSAGE(error_of([] { clean({{0, 0, 0}}, {0, 0, 1}); }), "a corner beyond the vertices");
  EXPECT_MESSAGE(error_of([] { clean({{0, 0, 0}}, {0, 0}); }), "three per triangle");
}

TEST(MeshCleanup, IsCanceledInTime) {
  Points vertices(1 << 20);
  Indices indices;
  for (std::size_t i = 0; i < vertices.size(); ++i) vertices[i] = {double(i % 1024), double(i / 1024), 0};
  for (std::uint32_t i = 0; i + 1025 < vertices.size(); ++i)
    indices.insert(indices.end(), {i, i + 1, i + 1024});
  test::expect_cancel_in_phase("Cleaning",
                               [&](OpContext& ctx) { mesh_cleanup(view(vertices), view(indices), ctx); });
}

TEST(MeshMeasures, AreaNormalsAndNarrowing) {
  // An edge between a triangle of area 1 in z = 0 and one of area 2 in x = 0.
  const Points vertices{{0, 0, 0}, {0, 2, 0}, {-1, 0, 0}, {0, 0, 2}, {7, 7, 7}};
  const Indices indices{0, 1, 2, 0, 1, 3};
  with_context(2, [&](OpContext& ctx) {
    EXPECT_EQ(mesh_area(view(vertices), view(indices), ctx), 3);
    const Column<float> normals = mesh_normals(view(vertices), view(indices), ctx);
    EXPECT_FLOAT_EQ(normals[0], 2 / std::sqrt(5.0F));
    EXPECT_FLOAT_EQ(normals[2], 1 / std::sqrt(5.0F));
    EXPECT_EQ(normals[3 * 2 + 2], 1);
    EXPECT_EQ(normals[3 * 4 + 2], 1);  // without a triangle: upwards
    const Points far{{1e7 + 0.125, -2, 3}};
    const NarrowVertices narrow = narrow_vertices(view(far), {1e7, 0, 0}, ctx);
    EXPECT_EQ(list(narrow.vertices), (std::vector<float>{0.125F, -2, 3}));
    EXPECT_EQ(narrow.largest, 3);
  });
  const Points huge{{1e39, 0, 0}};
  const auto narrow_huge = [&] {
    with_context(1, [&](OpContext& ctx) { narrow_vertices(view(huge), {}, ctx); });
  };
  EXPECT_MESSAGE(error_of(narrow_huge), "beyond the range of float32");
}

TEST(MeshPoints, SkipShiftCropAndStride) {
  const Points points{{0, 0, 0}, {1, 0, 0},     {2, 0, 0}, {3, 0, std::nan("")},
                      {4, 0, 0}, {5, 0, 1e200}, {6, 0, 0}};
  const std::vector<std::uint8_t> skip{0, 1, 0, 0, 0, 0, 0};
  with_context(2, [&](OpContext& ctx) {
    const CropBox box{{0, 0, 0}, {15, 5, 0}, 0};
    const MeshPoints some = mesh_points(view(points), view(skip), {10, 5, 0}, box, ctx);
    EXPECT_EQ(list(some.points),
              (Points{{10, 5, 0}, {12, 5, 0}, {14, 5, 0}}));  // the face y = 5 belongs to the box
    EXPECT_EQ(some.unusable_count, 2U);
    const Points parts[]{{{0, 0, 0}, {1, 0, 0}}, {}, {{2, 0, 0}, {3, 0, 0}, {4, 0, 0}, {5, 0, 0}}};
    const Column<Vec3d> every = stride_points({view(parts[0]), view(parts[1]), view(parts[2])}, 3, ctx);
    EXPECT_EQ(list(every), (Points{{0, 0, 0}, {3, 0, 0}}));
    EXPECT_EQ(list(stride_points({view(parts[0]), view(parts[2])}, 2, ctx)),
              (Points{{0, 0, 0}, {2, 0, 0}, {4, 0, 0}}));
  });
}

TEST(MeshPoints, TheBoxTurnsAboutItsCentre) {
  // A box of 4 x 2 around (10, 20).
  const Points points{{10, 22, 0},     {12, 20, 0},     {11, 18, 0},
                      {11.4, 21.4, 0}, {11.5, 21.5, 0}, {8.6, 18.6, 0}};
  const auto kept = [&](double degrees) {
    return with_context(1, [&](OpContext& ctx) {
      return list(
          mesh_points(view(points), {}, {0, 0, 0}, CropBox{{8, 19, -1}, {12, 21, 1}, degrees}, ctx).points);
    });
  };
  EXPECT_EQ(kept(0), (Points{{12, 20, 0}}));
  EXPECT_EQ(kept(90), (Points{{10, 22, 0}, {11, 18, 0}}));
  EXPECT_EQ(kept(-270), kept(90));
  EXPECT_EQ(kept(45), (Points{{11.4, 21.4, 0}, {8.6, 18.6, 0}}));  // 1.98 along the axis; 2.12 is outside
}

TEST(GridBinning, FollowsRotationOffsetsAndKeptColumns) {
  // Triangles around four centroids.
  const Points centroids{{1.5, 0.5, 0.5}, {0.5, 1.5, 0.5}, {1.5, 1.5, 1.5}, {0.5, 0.5, 2.5}};
  Points vertices;
  Indices indices;
  for (const Vec3d& c : centroids) {
    for (const Vec3d& d : {Vec3d{0.1, 0, 0}, {0, 0.1, 0}, {-0.1, -0.1, 0}}) {
      indices.push_back(static_cast<std::uint32_t>(vertices.size()));
      vertices.push_back(c + d);
    }
  }
  VoxelBox grid{{1, 1, 1}, {2, 2, 2}, 2, 2, 2, 0, {}, {}};
  const auto cells = [&] {
    return with_context(2, [&](OpContext& ctx) {
      return list(grid_binning(view(vertices), view(indices), grid, ctx).cell_ids);
    });
  };
  EXPECT_EQ(cells(), (Indices{1, 2, 7}));
  grid.rotation_deg = 90;  // the local x axis points to +y, local y to -x
  EXPECT_EQ(cells(), (Indices{0, 3, 5}));
  grid.rotation_deg = 0;
  const std::vector<double> offsets{1, 0, 0, 0.6};
  grid.offsets = view(offsets);
  EXPECT_EQ(cells(), (Indices{1, 2, 3, 4}));
  const std::vector<std::uint8_t> kept{1, 0, 1, 1};
  grid.kept = view(kept);
  EXPECT_EQ(cells(), (Indices{2, 3, 4}));
  grid.size.x = 0;
  EXPECT_MESSAGE(error_of([&] { cells(); }), "grid.size positive");
}

}  // namespace
}  // namespace pc
