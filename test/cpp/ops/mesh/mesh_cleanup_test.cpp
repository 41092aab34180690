#include "ops/mesh/mesh_cleanup.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
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
#include "support/cancel.h"

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
  EXPECT_EQ(mesh.crowded_edge_count, 0U);
}

/// What a surface needs, counted by brute force: edges of more than two triangles, edges along which two run in the same
/// direction, and vertices whose triangles are not linked by edges at it.
struct Faults {
  std::size_t crowded = 0, twisted = 0, pinched = 0, boundary = 0;
  double area = 0;
};
Faults faults_of(const Points& vertices, const Indices& indices) {
  Faults faults;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::size_t>> edges;
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> directed;
  std::map<std::uint32_t, std::vector<std::size_t>> at;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const std::uint32_t a = indices[i], b = indices[i - i % 3 + (i + 1) % 3];
    edges[std::minmax(a, b)].push_back(i / 3);
    faults.twisted += ++directed[{a, b}] > 1 ? 1 : 0;
    at[a].push_back(i / 3);
  }
  for (const auto& [edge, triangles] : edges) {
    faults.crowded += triangles.size() > 2 ? 1 : 0;
    faults.boundary += triangles.size() == 1 ? 1 : 0;
  }
  for (const auto& [vertex, triangles] : at) {
    std::vector<std::size_t> reached{triangles[0]};
    for (std::size_t k = 0; k < reached.size(); ++k)
      for (const auto& other : triangles)
        for (std::size_t c = 0; c < 3; ++c) {
          const std::uint32_t w = indices[3 * other + c];
          if (w == vertex || std::find(reached.begin(), reached.end(), other) != reached.end()) continue;
          const auto& pair = edges[std::minmax(vertex, w)];
          if (std::find(pair.begin(), pair.end(), reached[k]) != pair.end()) reached.push_back(other);
        }
    faults.pinched += reached.size() < triangles.size() ? 1 : 0;
  }
  for (std::size_t i = 0; i < indices.size(); i += 3) {
    const Vec3d u = vertices[indices[i + 1]] - vertices[indices[i]],
                v = vertices[indices[i + 2]] - vertices[indices[i]], n = cross(u, v);
    faults.area += std::sqrt(dot(n, n)) / 2;
  }
  return faults;
}
Faults faults_of(const CleanMesh& mesh) { return faults_of(list(mesh.vertices), list(mesh.indices)); }
void expect_surface(const CleanMesh& mesh) {
  const Faults faults = faults_of(mesh);
  EXPECT_EQ(faults.crowded, 0U);
  EXPECT_EQ(faults.twisted, 0U);
  EXPECT_EQ(faults.pinched, 0U);
}

/// The faces of the cells of a 3-D lattice that are solid, outward.
void add_solid(std::uint32_t cells, const std::vector<std::uint8_t>& solid, Points& vertices,
               Indices& indices) {
  const std::uint32_t n = cells + 1;
  for (std::uint32_t i = 0; i < n * n * n; ++i)
    vertices.push_back({double(i % n), double(i / n % n), double(i / n / n)});
  const auto is_solid = [&](std::uint32_t x, std::uint32_t y, std::uint32_t z) {
    return x < cells && y < cells && z < cells && solid[x + cells * (y + cells * z)] != 0;
  };
  for (std::uint32_t c = 0; c < cells * cells * cells; ++c) {
    std::uint32_t at[3] = {c % cells, c / cells % cells, c / cells / cells};
    if (!is_solid(at[0], at[1], at[2])) continue;
    for (std::uint32_t axis = 0; axis < 3; ++axis) {
      for (std::uint32_t side = 0; side < 2; ++side) {
        std::uint32_t beyond[3] = {at[0], at[1], at[2]};
        beyond[axis] += side == 1 ? 1 : ~0U;
        if (is_solid(beyond[0], beyond[1], beyond[2])) continue;
        const std::uint32_t step[3] = {1, n, n * n};
        const std::uint32_t u = step[(axis + 1) % 3], v = step[(axis + 2) % 3];
        const std::uint32_t low = at[0] + n * (at[1] + n * at[2]) + side * step[axis];
        Indices quad{low, low + u, low + u + v, low, low + u + v, low + v};
        if (side == 0) std::reverse(quad.begin(), quad.end());
        indices.insert(indices.end(), quad.begin(), quad.end());
      }
    }
  }
}

TEST(MeshCleanup, CutsTwoBoxesThatShareAnEdgeIntoTwoClosedOnes) {
  Points vertices;
  Indices indices;
  add_solid(2, {1, 0, 0, 1, 1, 0, 0, 1}, vertices, indices);
  ASSERT_EQ(faults_of(vertices, indices).crowded, 2U);
  const CleanMesh mesh = clean(vertices, indices);
  expect_surface(mesh);
  EXPECT_EQ(mesh.crowded_edge_count, 2U);
  EXPECT_EQ(mesh.copied_vertex_count, 3U);
  EXPECT_EQ(mesh.turned_count, 0U);
  EXPECT_EQ(faults_of(mesh).boundary, 0U);
  EXPECT_EQ(mesh.indices.size(), indices.size());
  // Each vertex has the coordinates it had.
  for (std::size_t i = 0; i < indices.size(); ++i)
    EXPECT_EQ(mesh.vertices[mesh.indices[i]], vertices[indices[i]]);
  // No triangle of one box has a vertex of the other.
  std::map<std::uint32_t, int> box;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const std::size_t first = i - i % 3;
    const Vec3d sum = vertices[indices[first]] + vertices[indices[first + 1]] + vertices[indices[first + 2]];
    const int own = sum.x + sum.y < 6 ? 1 : 2;
    EXPECT_EQ(box.emplace(mesh.indices[i], own).first->second, own);
  }
}

TEST(MeshCleanup, SolidsOfRandomCellsBecomeClosedSurfacesOfTheSameArea) {
  std::size_t crowded = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const std::uint32_t cells = 2 + seed % 4;
    std::vector<std::uint8_t> solid(cells * cells * cells);
    for (std::size_t i = 0; i < solid.size(); ++i) solid[i] = random_unit(seed, i) < 0.45 ? 1 : 0;
    Points vertices;
    Indices indices;
    add_solid(cells, solid, vertices, indices);
    const CleanMesh mesh = clean(vertices, indices);
    expect_surface(mesh);
    const Faults faults = faults_of(mesh);
    EXPECT_EQ(faults.boundary, 0U) << seed;
    EXPECT_NEAR(faults.area, static_cast<double>(indices.size()) / 6, 1e-9);
    EXPECT_EQ(mesh.indices.size(), indices.size());
    crowded += mesh.crowded_edge_count;
  }
  EXPECT_GT(crowded, 500U);
}

TEST(MeshCleanup, JoinsTheFlattestPairWhereNoSolidIs) {
  // A sheet in z = 0 that runs both ways from the edge 0 1, and a wall on it; one half of the sheet is turned over.
  const Points vertices{{0, 0, 0}, {1, 0, 0}, {0, 3, 0}, {0, -2, 0}, {0, 0.1, 1}};
  const CleanMesh mesh = clean(vertices, {0, 1, 2, 0, 1, 3, 0, 1, 4});
  expect_surface(mesh);
  EXPECT_EQ(mesh.crowded_edge_count, 1U);
  EXPECT_EQ(mesh.copied_vertex_count, 2U);
  EXPECT_EQ(mesh.turned_count, 1U);  // the smaller half
  EXPECT_EQ(list(mesh.indices), (Indices{0, 1, 2, 0, 3, 1, 5, 6, 4}));
}

TEST(MeshCleanup, ABandOfOneSideIsCutAndOthersAreTurned) {
  constexpr std::uint32_t kSteps = 40;
  for (const bool one_sided : {false, true}) {
    Points vertices;
    Indices indices;
    for (std::uint32_t i = 0; i < kSteps; ++i) {
      const double angle = 2 * M_PI * i / kSteps, turn = one_sided ? angle / 2 : 0;
      for (const double side : {-0.3, 0.3}) {
        const double r = 1 + side * std::cos(turn);
        vertices.push_back({r * std::cos(angle), r * std::sin(angle), side * std::sin(turn)});
      }
    }
    for (std::uint32_t i = 0; i < kSteps; ++i) {
      const bool last = i + 1 == kSteps && one_sided;
      const std::uint32_t a = 2 * i, b = a + 1, c = (2 * i + 2) % (2 * kSteps) + (last ? 1 : 0),
                          d = (2 * i + 2) % (2 * kSteps) + (last ? 0 : 1);
      // Every third triangle runs the other way.
      for (const auto& t : {std::array{a, c, b}, std::array{b, c, d}}) {
        const bool over = indices.size() / 3 % 3 == 2;
        indices.insert(indices.end(), {t[0], t[over ? 2 : 1], t[over ? 1 : 2]});
      }
    }
    const CleanMesh mesh = clean(vertices, indices);
    expect_surface(mesh);
    EXPECT_EQ(mesh.indices.size(), indices.size());
    EXPECT_EQ(mesh.copied_vertex_count, one_sided ? 2U : 0U);
    EXPECT_GE(mesh.turned_count, 20U);
    EXPECT_EQ(faults_of(mesh).boundary, 2U * kSteps + (one_sided ? 2 : 0));
  }
}

TEST(MeshCleanup, MakesSurfacesOfAnyTrianglesForAnyThreadCount) {
  Points vertices;
  for (std::uint64_t i = 0; i < 60; ++i)
    vertices.push_back({random_unit(1, 3 * i), random_unit(1, 3 * i + 1), random_unit(1, 3 * i + 2)});
  for (const std::uint64_t count : {201U, 900U, 6000U}) {
    Indices indices;
    for (std::uint64_t i = 0; i < count; ++i)
      indices.push_back(static_cast<std::uint32_t>(random_u64(2, i) % 60));
    const CleanMesh mesh = clean(vertices, indices, 1);
    EXPECT_EQ(list(mesh.indices), list(clean(vertices, indices, 3).indices));
    expect_surface(mesh);
    EXPECT_EQ(count / 3, mesh.indices.size() / 3 + mesh.flat_count + mesh.repeated_count);
    // Each triangle has the corners it had, in their order or the other one.
    for (std::size_t i = 0, t = 0; i < count; i += 3) {
      const Vec3d a = vertices[indices[i]], b = vertices[indices[i + 1]], c = vertices[indices[i + 2]];
      if (3 * t >= mesh.indices.size() || a == b || b == c || c == a) continue;
      const std::uint32_t* const found = &mesh.indices[3 * t];
      const Vec3d p = mesh.vertices[found[1]], q = mesh.vertices[found[2]];
      if (mesh.vertices[found[0]] == a && ((p == b && q == c) || (p == c && q == b))) ++t;
      if (i + 3 >= count) {
        EXPECT_EQ(t, mesh.indices.size() / 3);
      }
    }
  }
}

TEST(MeshCleanup, CutsTheEdgesOfAVertexWithAllTriangles) {
  // Two triangles at each of 200,000 edges from the hub, but three at every thousandth.
  constexpr std::uint32_t kRays = 200'000;
  Points vertices{{0, 0, 0}};
  Indices indices;
  for (std::uint32_t i = 0; i < kRays; ++i) {
    const double angle = 6.283185307179586 * i / kRays;
    vertices.push_back({std::cos(angle), std::sin(angle), 0});
    indices.insert(indices.end(), {0, i + 1, (i + 1) % kRays + 1});
  }
  for (std::uint32_t i = 0; i < kRays; i += 1000) {
    vertices.push_back({0, 0, 1e-9});
    indices.insert(indices.end(), {i + 1, 0, kRays + 1});
  }
  const CleanMesh mesh = clean(vertices, indices);
  EXPECT_EQ(mesh.crowded_edge_count, kRays / 1000 + 1);  // the flaps share the edge from the hub upward
  EXPECT_EQ(mesh.indices.size(), indices.size());
  // The disc stays whole.
  EXPECT_EQ(mesh.vertices.size(), vertices.size() - (kRays / 1000 - 1) + mesh.copied_vertex_count);
  for (std::size_t i = 0; i < 3 * std::size_t{kRays}; ++i) EXPECT_LE(mesh.indices[i], kRays);
}

TEST(MeshCleanup, AnEdgeOfAllTrianglesIsCutInTime) {
  constexpr std::uint32_t kLeaves = 300'000;
  Points vertices{{0, 0, 0}, {0, 0, 1}};
  Indices indices;
  for (std::uint32_t i = 0; i < kLeaves; ++i) {
    const double angle = 6.283185307179586 * random_unit(3, i);
    vertices.push_back({std::cos(angle), std::sin(angle), 0.5});
    indices.insert(indices.end(), {i % 3 == 0 ? 0U : 1U, i % 3 == 0 ? 1U : 0U, i + 2});
  }
  const CleanMesh mesh = clean(vertices, indices);
  EXPECT_EQ(mesh.crowded_edge_count, 1U);
  EXPECT_EQ(mesh.indices.size(), indices.size());
  // A third runs up: all of those have a partner.
  EXPECT_EQ(mesh.vertices.size(), kLeaves + 2U * (kLeaves - kLeaves / 3));
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
    const MeshPoints some = mesh_points({view(points), {}, view(skip), {10, 5, 0}}, box, ctx);
    EXPECT_EQ(list(some.points),
              (Points{{10, 5, 0}, {12, 5, 0}, {14, 5, 0}}));  // the face y = 5 belongs to the box
    EXPECT_EQ(some.unusable_count, 2U);
    EXPECT_EQ(some.origins.size(), 0U);
    const Points seen{{0, 0, 1}, {0, 0, 2}, {0, 0, 3}, {0, 0, 4}, {0, 0, 5}, {0, 0, 6}, {0, 0, 7}},
        one{{0, 0, 9}};
    const MeshRows rows{view(points), view(seen), view(skip), {10, 5, 0}};
    EXPECT_EQ(list(mesh_points(rows, box, ctx).origins), (Points{{10, 5, 1}, {10, 5, 3}, {10, 5, 5}}));
    const MeshRows single{view(points), view(one), view(skip), {10, 5, 0}};
    EXPECT_EQ(list(mesh_points(single, box, ctx).origins), (Points{{10, 5, 9}, {10, 5, 9}, {10, 5, 9}}));
    const Points two{{0, 0, 9}, {0, 0, 9}};
    EXPECT_THROW(mesh_points({view(points), view(two), {}, {0, 0, 0}}, box, ctx), Error);
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
          mesh_points({view(points), {}, {}, {0, 0, 0}}, CropBox{{8, 19, -1}, {12, 21, 1}, degrees}, ctx)
              .points);
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
