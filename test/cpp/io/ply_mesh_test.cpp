#include "io/ply_mesh.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "io/ply_support.h"

namespace {

using namespace pc;
using namespace pc::record_test;

using List = std::vector<std::uint32_t>;

PolygonMesh read_mesh(const std::string& bytes, int threads = 2) {
  const ScratchFile file(bytes, ".ply");
  return with_context(threads, [&](OpContext& ctx) {
    return io::read_ply_mesh(file.path(), {1, 0, 0}, ctx);
  });
}

template <class T>
std::vector<T> list(const BulkVector<T>& values) {
  return {values.begin(), values.end()};
}

/// Faces with a scalar and another list beside theirs, before the vertices; one has two corners, one a wrong index.
std::string mixed_mesh(const std::string& format) {
  std::string f =
      "ply\nformat " + format +
      " 1.0\nelement face 4\nproperty list uchar float weights\nproperty list uchar int vertex_indices\n"
      "property uchar flag\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
      "property float nx\nproperty float ny\nproperty float nz\nproperty uchar red\n"
      "property uchar green\nproperty uchar blue\nproperty float s\nend_header\n";
  const auto add = [&](auto v) { f += encode(format, v); };
  const std::vector<std::vector<std::int32_t>> faces = {{0, 1, 2, 3}, {0, 1}, {0, -1, 7}, {2, 1, 0}};
  for (const auto& face : faces) {
    add(std::uint8_t{2});
    add(0.5f);
    add(1.5f);
    add(static_cast<std::uint8_t>(face.size()));
    for (const std::int32_t index : face) add(index);
    add(std::uint8_t{9});
    f += row_end(format);
  }
  for (int i = 0; i < 4; ++i) {
    add(static_cast<float>(i));
    add(i == 3 ? std::nanf("") : 1.0f);
    for (int k = 0; k < 3; ++k) add(static_cast<float>(k));
    add(0.0f);
    for (const int channel : {255, 51, 0}) add(static_cast<std::uint8_t>(channel));
    add(0.5f);
    f += row_end(format);
  }
  return f;
}

TEST(PlyMesh, ReadsFacesNormalsAndColoursInEveryFormat) {
  for (const std::string format : kFormats) {
    SCOPED_TRACE(format);
    const PolygonMesh mesh = read_mesh(mixed_mesh(format));
    EXPECT_EQ(mesh.positions.size(), 4u);
    EXPECT_EQ(mesh.positions[2], (Vec3d{1, 1, 0}));
    EXPECT_FALSE(is_finite(mesh.positions[3]));
    EXPECT_EQ(list(mesh.corner_position), (List{0, 1, 2, 3, 0, kNoIndex, kNoIndex, 2, 1, 0}));
    EXPECT_EQ(list(mesh.face_first), (std::vector<std::uint64_t>{0, 4, 7, 10}));
    EXPECT_EQ((std::vector<float>{mesh.normals[3], mesh.normals[4], mesh.normals[5]}),
              (std::vector<float>{1, 2, 0}));
    EXPECT_EQ((std::vector<float>{mesh.colors[0], mesh.colors[1], mesh.colors[2]}),
              (std::vector<float>{1, 0.2f, 0}));
    EXPECT_EQ(mesh.warnings,
              (std::vector<std::string>{
                  "1 face(s) have fewer than three corners and are left out",
                  "1 face(s) name a vertex that does not exist; their triangles with it are left out",
                  "these properties of faces are not used: weights, flag",
                  "texture coordinates of PLY files are not used: s"}));
  }
}

TEST(PlyMesh, AFileThatEndsEarlyGivesTheCompleteFaces) {
  const std::string head =
      "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
      "element face 3\nproperty list uchar int vertex_index\nend_header\n0 0 0\n1 0 0\n0 1 0\n";
  const PolygonMesh cut = read_mesh(head + "3 0 1 2\n3 0 x 1\n");
  EXPECT_EQ(cut.face_count(), 1u);
  EXPECT_EQ(cut.warnings.front(),
            "the header declares 3 faces, the file holds 2 complete ones: the rest is missing");
  EXPECT_EQ(cut.warnings.back(), "1 face(s) could not be read and are left out (first: line 14)");
  const std::string binary = mixed_mesh("binary_little_endian");
  EXPECT_THROW(read_mesh(binary.substr(0, binary.size() - 200)), Error);  // no vertex left
}

TEST(PlyMesh, RefusesWhatIsNoMesh) {
  const std::string vertices = "element vertex 1\nproperty float x\nproperty float y\nproperty float z\n";
  const std::string head = "ply\nformat ascii 1.0\n";
  EXPECT_MESSAGE(error_of([&] { read_mesh(head + vertices + "end_header\n1 2 3\n"); }), "declares no faces");
  const std::string no_list = vertices + "element face 1\nproperty int a\nend_header\n1 2 3\n1\n";
  EXPECT_MESSAGE(error_of([&] { read_mesh(head + no_list); }), "vertex_indices");
  std::string comments;
  for (int i = 0; i < 10'000; ++i) comments += "comment\n";
  const std::string face =
      "element face 1\nproperty list uchar int vertex_index\nend_header\n1 2 3\n3 0 0 0\n";
  EXPECT_MESSAGE(error_of([&] { read_mesh(head + comments + vertices + face); }), "more than 10000");
  EXPECT_EQ(read_mesh(head + vertices + face).face_count(), 1u);
  const std::string wide =
      "element face 1\nproperty list int int vertex_index\nend_header\n1 2 3\n2000000000 0 0 0\n";
  EXPECT_EQ(error_of([&] { read_mesh(head + vertices + wide); }).code(), ErrorCode::kUnsupported);
}

TEST(PlyMesh, DoesNotDependOnThreads) {
  std::string text =
      "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
      "element face 90000\nproperty list uchar int vertex_index\nend_header\n0 0 0\n1 0 0\n0 1 0\n";
  for (int i = 0; i < 90'000; ++i) text += i % 3 == 0 ? "3 0 1 2\n" : i % 3 == 1 ? "4 0 1 2 0\n" : "2 0 1\n";
  const PolygonMesh one = read_mesh(text, 1), three = read_mesh(text, 3);
  EXPECT_EQ(one.face_count(), 60'000u);
  EXPECT_EQ(list(one.corner_position), list(three.corner_position));
  EXPECT_EQ(list(one.face_first), list(three.face_first));
}

}  // namespace
