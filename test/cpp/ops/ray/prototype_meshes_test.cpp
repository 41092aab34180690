#include "ops/ray/prototype_meshes.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/op_context.h"

namespace pc {
namespace {

TEST(PrototypeMeshes, EachHasTheVerticesItUses) {
  std::vector<Vec3d> vertices;
  for (int i = 0; i < 1000; ++i) vertices.push_back({1.0 * i, 2.0 * i, -1.0 * i});
  const std::vector<std::uint32_t> range = {10, 11, 12, 12, 11, 13}, far = {999, 0, 500, 500, 0, 7};
  PrototypeMeshes parts;
  JobControl control;
  OpContext ctx(control, Device::kCpu, 1);
  parts.add({vertices.data(), vertices.size()}, {range.data(), range.size()}, ctx);
  parts.add({vertices.data(), vertices.size()}, {far.data(), far.size()}, ctx);
  const std::vector<TriangleMesh> meshes = parts.meshes();
  ASSERT_EQ(meshes.size(), 2U);
  EXPECT_EQ(meshes[0].vertices.size, 4U);
  EXPECT_EQ(meshes[1].vertices.size, 4U);
  const std::vector<std::vector<std::uint32_t>> wanted = {range, far};
  for (std::size_t p = 0; p < 2; ++p) {
    ASSERT_EQ(meshes[p].indices.size, wanted[p].size());
    for (std::size_t i = 0; i < wanted[p].size(); ++i)
      EXPECT_EQ(meshes[p].vertices[meshes[p].indices[i]].x, vertices[wanted[p][i]].x);
  }
}

}  // namespace
}  // namespace pc
