#include "spatial/pseudo_normals.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "spatial/bvh_queries.h"
#include "support/meshes.h"

namespace pc {
namespace {

using test::Mesh;
using test::MeshDraw;

/// A prism over a polygon (x, z) of which `caps` are the triangles, from y = 0 to y = depth.
Mesh prism(const std::vector<Vec3d>& polygon, const std::vector<std::uint32_t>& caps, double depth) {
  Mesh mesh{"prism", {}, {}};
  const auto n = static_cast<std::uint32_t>(polygon.size());
  for (const double y : {0.0, depth})
    for (const Vec3d& p : polygon) mesh.vertices.push_back({p.x, y, p.z});
  for (std::size_t i = 0; i < caps.size(); i += 3) {
    mesh.indices.insert(mesh.indices.end(), {caps[i], caps[i + 1], caps[i + 2]});
    mesh.indices.insert(mesh.indices.end(), {caps[i] + n, caps[i + 2] + n, caps[i + 1] + n});
  }
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::uint32_t j = (i + 1) % n;
    mesh.indices.insert(mesh.indices.end(), {i, j + n, j});
    mesh.indices.insert(mesh.indices.end(), {i, i + n, j + n});
  }
  return mesh;
}

/// Winding number of the mesh around a point, by solid angles: Van Oosterom & Strackee 1983.
double winding(const Mesh& mesh, const Vec3d& p) {
  double sum = 0;
  for (std::size_t t = 0; t < mesh.indices.size(); t += 3) {
    const auto at = [&](std::size_t k) { return mesh.vertices[mesh.indices[t + k]] - p; };
    const Vec3d a = at(0), b = at(1), c = at(2);
    const double la = std::sqrt(dot(a, a)), lb = std::sqrt(dot(b, b)), lc = std::sqrt(dot(c, c));
    sum += std::atan2(dot(a, cross(b, c)), la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb);
  }
  return sum / (2 * M_PI);
}

std::vector<Mesh> closed_meshes() {
  std::vector<Mesh> meshes{test::sphere(7, {0.2, 0.1, -0.3}, 1.5)};
  meshes.push_back(prism({{0, 0, 0}, {1, 0, 0}, {1, 0, 1}, {0, 0, 1}}, {0, 1, 2, 0, 2, 3}, 1));  // cube
  meshes.push_back(prism({{0, 0, 0}, {3, 0, 0}, {3, 0, 1}, {1, 0, 1}, {1, 0, 3}, {0, 0, 3}},     // concave
                         {0, 1, 2, 0, 2, 3, 0, 3, 4, 0, 4, 5}, 2));
  meshes.push_back(prism({{0, 0, 0}, {5, 0, 0.02}, {5, 0, 0.3}}, {0, 1, 2}, 1));  // sharp wedge
  meshes.push_back(prism({{-2, 0, 0}, {0, 0, 0.1}, {2, 0, 0}, {0, 0, 4}}, {0, 1, 3, 1, 2, 3}, 0.5));  // arrow
  const std::size_t count = meshes.size();
  for (std::size_t i = 0; i < count; ++i) {
    Mesh inverted = meshes[i];
    inverted.name += " inverted";
    for (std::size_t t = 0; t < inverted.indices.size(); t += 3)
      std::swap(inverted.indices[t], inverted.indices[t + 1]);
    meshes.push_back(inverted);
    Mesh apart{meshes[i].name + " unwelded", {}, {}};
    for (std::size_t t = 0; t < meshes[i].indices.size(); t += 3) {
      const auto at = [&](std::size_t k) { return meshes[i].vertices[meshes[i].indices[t + k]]; };
      apart.add(at(0), at(1), at(2));
    }
    meshes.push_back(apart);
  }
  return meshes;
}

/// Points around, inside, and close to every face, edge and vertex.
std::vector<Vec3d> around(const Mesh& mesh) {
  MeshDraw draw(3);
  std::vector<Vec3d> points;
  for (int i = 0; i < 400; ++i) points.push_back(draw.in_cube(8) + Vec3d{1, 0.5, 1});
  for (std::size_t t = 0; t < mesh.indices.size(); t += 3) {
    const auto at = [&](std::size_t k) { return mesh.vertices[mesh.indices[t + k % 3]]; };
    for (std::size_t k = 0; k < 3; ++k) {
      for (const double size : {0.5, 1e-3}) {
        points.push_back(at(k) + draw.in_cube(size));
        points.push_back((at(k) + at(k + 1)) * 0.5 + draw.in_cube(size));
        points.push_back((at(0) + at(1) + at(2)) * (1.0 / 3) + draw.in_cube(size));
      }
    }
  }
  return points;
}

TEST(PseudoNormals, TellInsideAsTheWindingNumberDoes) {
  for (const Vec3d offset : {Vec3d{0, 0, 0}, Vec3d{4.5e5, 5.4e6, 100}}) {
    for (Mesh mesh : closed_meshes()) {
      const std::vector<Vec3d> points = around(mesh);
      const Mesh local = mesh;
      for (Vec3d& vertex : mesh.vertices) vertex = vertex + offset;
      JobControl control;
      OpContext ctx(control);
      const Bvh tree(mesh.view(), ctx);
      const PseudoNormals sides(mesh.view(), ctx);
      ASSERT_TRUE(sides.defined()) << mesh.name << " " << sides.open_edge_count() << " "
                                   << sides.flat_count();
      std::size_t inside_count = 0;
      for (const Vec3d& local_point : points) {
        const double number = std::abs(winding(local, local_point));
        const Vec3d point = local_point + offset, p = point - tree.view().origin;
        ClosestTriangle found{};
        fastest_bvh_queries().closest(tree.view(), &point, 1, Vec3d{0, 0, 0} - tree.view().origin, bvh::kNone,
                                      &found);
        if (found.squared < 1e-14) continue;
        const bvh::Triangle& t = tree.triangles()[found.slot];
        const bool inside = sides.inside(t.index, closest_on_triangle(t.a, t.b, t.c, p));
        ASSERT_EQ(inside, number > 0.5)
            << mesh.name << " winding " << number << " distance " << std::sqrt(found.squared);
        inside_count += inside ? 1 : 0;
      }
      EXPECT_GT(inside_count, 5U) << mesh.name;
    }
  }
}

PseudoNormals sides_of(const Mesh& mesh) {
  JobControl control;
  OpContext ctx(control);
  return PseudoNormals(mesh.view(), ctx);
}

TEST(PseudoNormals, AreNotDefinedForOpenMeshes) {
  const Mesh closed = test::sphere(5, {0, 0, 0}, 1);
  Mesh hole = closed;
  hole.indices.resize(hole.indices.size() - 3);
  EXPECT_FALSE(sides_of(hole).defined());
  EXPECT_EQ(sides_of(hole).open_edge_count(), 3U);
  Mesh turned = closed;
  std::swap(turned.indices[0], turned.indices[1]);
  EXPECT_FALSE(sides_of(turned).defined()) << "neighbours that run along an edge in the same direction";
  Mesh doubled = closed;
  doubled.indices.insert(doubled.indices.end(), closed.indices.begin(), closed.indices.end());
  EXPECT_FALSE(sides_of(doubled).defined());
  EXPECT_FALSE(sides_of(Mesh{"none", {}, {}}).defined());
}

TEST(PseudoNormals, AreNotDefinedWhereATriangleHasNoNormal) {
  Mesh mesh{"tetrahedron with a flat triangle in an edge",
            {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0.5, 0, 0}},
            {}};
  mesh.indices = {0, 2, 4, 4, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3, 0, 4, 1};
  EXPECT_EQ(sides_of(mesh).open_edge_count(), 0U);
  EXPECT_EQ(sides_of(mesh).flat_count(), 1U);
  EXPECT_FALSE(sides_of(mesh).defined());
}

#if !defined(_WIN32)  // the queries are read through gzip
std::string reference_folder() {
  const char* named = std::getenv("APP_TEST_DATA");
  const std::filesystem::path folder =
      std::filesystem::path(named != nullptr ? named : "../shared/data") / "geometry_reference/distance";
  return std::filesystem::is_directory(folder) ? folder.string() : "";
}

/// A binary PLY of float positions and triangles, as the reference has it.
Mesh read_ply(const std::string& path) {
  Mesh mesh{path, {}, {}};
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return mesh;
  std::size_t vertices = 0, faces = 0;
  char line[256];
  while (std::fgets(line, sizeof line, file) != nullptr && std::string(line) != "end_header\n") {
    std::sscanf(line, "element vertex %zu", &vertices);
    std::sscanf(line, "element face %zu", &faces);
  }
  for (std::size_t i = 0; i < vertices; ++i) {
    float at[3];
    if (std::fread(at, sizeof at, 1, file) != 1) break;
    mesh.vertices.push_back({at[0], at[1], at[2]});
  }
  for (std::size_t i = 0; i < faces; ++i) {
    std::uint32_t at[3];
    if (std::fgetc(file) != 3 || std::fread(at, sizeof at, 1, file) != 1) break;
    mesh.indices.insert(mesh.indices.end(), at, at + 3);
  }
  std::fclose(file);
  return mesh;
}

struct Reference {
  Vec3d point;
  double distance, sided;
};

std::vector<Reference> read_queries(const std::string& path) {
  std::vector<Reference> rows;
  std::FILE* const file = popen(("gzip -dc '" + path + "'").c_str(), "r");
  if (file == nullptr) return rows;
  char line[512];
  while (std::fgets(line, sizeof line, file) != nullptr) {
    float x, y, z;  // the queries are float32 values
    Reference row{};
    const int read = std::sscanf(line, "%f,%f,%f,%lf,%*d,%*[^,],%lf", &x, &y, &z, &row.distance, &row.sided);
    if (read < 4) continue;
    row.point = {x, y, z};
    rows.push_back(row);
  }
  pclose(file);
  return rows;
}

/// Brute force in long double; sides by winding numbers (the reference's manifest).
TEST(PseudoNormals, DistancesAndSidesOfTheReference) {
  if (reference_folder().empty()) GTEST_SKIP() << "no shared test data: set APP_TEST_DATA to its folder";
  for (const char* name : {"closed_bumpy_torus", "closed_fuze", "open_birch", "slivers"}) {
    const bool closed = std::string(name).starts_with("closed");
    const Mesh mesh = read_ply(reference_folder() + "/" + name + ".ply");
    const std::vector<Reference> rows = read_queries(reference_folder() + "/" + name + "_queries.csv.gz");
    ASSERT_EQ(rows.size(), 20'000U) << name;
    JobControl control;
    OpContext ctx(control);
    const Bvh tree(mesh.view(), ctx);
    const PseudoNormals sides(mesh.view(), ctx);
    EXPECT_EQ(sides.defined(), closed) << name;
    Box3d box;
    for (const Vec3d& vertex : mesh.vertices) box.add(vertex);
    const double diagonal = std::sqrt(squared_distance(box.min, box.max));
    double worst = 0;
    std::size_t sided = 0;
    for (const Reference& row : rows) {
      ClosestTriangle found{};
      fastest_bvh_queries().closest(tree.view(), &row.point, 1, Vec3d{0, 0, 0} - tree.view().origin,
                                    bvh::kNone, &found);
      worst = std::max(worst, std::abs(std::sqrt(found.squared) - row.distance));
      if (!closed || row.distance <= 1e-6 * diagonal) continue;
      const bvh::Triangle& t = tree.triangles()[found.slot];
      const bool inside =
          sides.inside(t.index, closest_on_triangle(t.a, t.b, t.c, row.point - tree.view().origin));
      ASSERT_EQ(inside, row.sided < 0) << name;
      ++sided;
    }
    EXPECT_LT(worst, 1e-9) << name;
    EXPECT_EQ(sided > 17'000, closed) << name;
    std::printf("%s: largest error %.1e m, %zu sides right\n", name, worst, sided);
  }
}
#endif

}  // namespace
}  // namespace pc
