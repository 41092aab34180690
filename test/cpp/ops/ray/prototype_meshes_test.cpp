#include "ops/ray/prototype_meshes.h"

#include <gtest/gtest.h>

#include <chrono>
#include <ctime>
#include <set>
#include <thread>
#include <vector>

#include "core/error.h"
#include "core/op_context.h"
#include "core/random.h"
#include "support/cancel.h"

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

/// Vertices in no order, each many times.
std::vector<std::uint32_t> shuffled(std::size_t count, std::uint32_t first, std::uint32_t range) {
  std::vector<std::uint32_t> out;
  for (std::size_t i = 0; i < count; ++i)
    out.push_back(first + static_cast<std::uint32_t>(random_u64(1, i) % range));
  return out;
}

TEST(PrototypeMeshes, VerticesInNoOrder) {
  std::vector<Vec3d> vertices;
  for (int i = 0; i < 1000; ++i) vertices.push_back({1.0 * i, 0, 0});
  PrototypeMeshes parts;
  JobControl control;
  OpContext ctx(control, Device::kCpu, 1);
  for (const std::uint32_t range : {1U, 64U, 65U, 128U, 900U}) {
    const auto part = shuffled(300, 63, range);
    parts.add({vertices.data(), vertices.size()}, {part.data(), part.size()}, ctx);
    const TriangleMesh mesh = parts.meshes().back();
    EXPECT_EQ(mesh.vertices.size, std::set<std::uint32_t>(part.begin(), part.end()).size());
    for (std::size_t i = 0; i < part.size(); ++i)
      ASSERT_EQ(mesh.vertices[mesh.indices[i]].x, vertices[part[i]].x);
  }
  parts.add({vertices.data(), vertices.size()}, {}, ctx);
  EXPECT_EQ(parts.meshes().back().vertices.size, 0U);
}

TEST(PrototypeMeshes, ALargePartIsCanceled) {
  const auto part = shuffled(15'000'000, 0, 4'000'000);
  const std::vector<Vec3d> vertices(4'000'000);
  PrototypeMeshes parts;
  JobControl control;
  OpContext ctx(control, Device::kCpu, 1);
  std::clock_t asked = 0;
  std::thread canceler([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    asked = std::clock();
    control.cancel_requested = true;
  });
  EXPECT_THROW(parts.add({vertices.data(), vertices.size()}, {part.data(), part.size()}, ctx), Error);
  const std::clock_t ended = std::clock();
  canceler.join();
  EXPECT_LT(static_cast<double>(ended - asked) / CLOCKS_PER_SEC, test::kCancelSeconds);
}

}  // namespace
}  // namespace pc
