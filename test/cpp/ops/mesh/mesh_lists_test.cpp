#include "ops/mesh/mesh_lists.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace pc {
namespace {

MeshColumns read(const std::vector<double>& vertices, const std::vector<double>& indices) {
  JobControl control;
  OpContext ctx(control);
  return mesh_of_lists({vertices.data(), vertices.size()}, {indices.data(), indices.size()}, ctx);
}

const std::vector<double> kCorners{0, 0, 0, 1, 0, 0, 0, 1, 0};

TEST(MeshLists, BecomeVerticesAndTriangles) {
  const MeshColumns mesh = read(kCorners, {0, 1, 2, 2, 1, 0});
  ASSERT_EQ(mesh.vertices.size(), 3U);
  EXPECT_EQ(mesh.vertices[1], (Vec3d{1, 0, 0}));
  EXPECT_EQ(mesh.view().triangle_count(), 2U);
  EXPECT_EQ(mesh.indices[3], 2U);
  EXPECT_EQ(read({}, {}).view().triangle_count(), 0U);
}

TEST(MeshLists, RefusalsNameTheFirstOffender) {
  const auto refused = [](const std::vector<double>& vertices, const std::vector<double>& indices,
                          const std::string& words) {
    try {
      read(vertices, indices);
      ADD_FAILURE() << "accepted: " << words;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  };
  refused(kCorners, {0, 1, 3, 9, 9, 9}, "mesh_indices[2] is 3, not the number of one of the 3 vertices");
  refused(kCorners, {0, 1, -1}, "mesh_indices[2] is -1");
  refused(kCorners, {0, 0.5, 1}, "mesh_indices[1] is 0.5");
  refused(kCorners, {0, 4294967296, 1}, "mesh_indices[1] is 4294967296");
  refused(kCorners, {0, 1}, "mesh_indices has 2 numbers, not a multiple of 3");
  refused({0, 0, 0, 1}, {0, 0, 0}, "mesh_vertices has 4 numbers, not a multiple of 3");
  refused({0, 0, 0, 1, std::numeric_limits<double>::infinity(), 0}, {0, 0, 0}, "mesh vertex 1 ");
}

}  // namespace
}  // namespace pc
