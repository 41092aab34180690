#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "io/record_support.h"
#include "ops/wood/voxel_hierarchy.h"

namespace {

using namespace pc;
using record_test::with_context;

constexpr std::uint32_t kHops = 3;

/// Sheets and lines as a plant has them, and one far part.
std::vector<Vec3d> plant(std::size_t count) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> unit;
  std::vector<Vec3d> points(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double u = unit(random), v = unit(random);
    points[i] = i % 3 == 0 ? Vec3d{0, 0, 6 * u} : Vec3d{u, v, 5 + 0.3 * static_cast<double>(i % 7)};
    if (i % 97 == 0) points[i] = {100 + u, v, 0};
  }
  return points;
}

/// Whole numbers that a voxel collects in rounds over the lists: they differ if any list within reach does.
std::vector<std::uint64_t> collected(const Crop& crop, const VoxelCloud& cloud, std::uint32_t rounds,
                                     std::size_t neighbors) {
  std::vector<std::uint64_t> now, next(crop.voxel.size());
  for (const std::uint32_t v : crop.voxel) now.push_back(std::uint64_t{cloud.nodes.points[v]} + 7919 * v);
  for (std::uint32_t round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < now.size(); ++i) {
      next[i] = 0;
      for (std::size_t k = 0; k < neighbors; ++k)
        next[i] = 31 * next[i] + now[crop.levels[0].neighbor[i * neighbors + k]];
    }
    now = next;
  }
  return now;
}

struct Outcome {
  std::vector<std::uint64_t> of_voxel;
  std::size_t crops = 0, looks = 0, votes = 0;
};

Outcome run(const std::vector<Vec3d>& points, std::uint32_t max_voxels, std::uint32_t hops, int threads) {
  return with_context(threads, [&](OpContext& ctx) {
    const VoxelCloud cloud =
        voxel_cloud(HitPoints::assume_hits({points.data(), points.size()}), {}, VoxelEdges::of(0.02), ctx);
    CropSequence crops(cloud, {1, 8, max_voxels, 0.7, 2, hops}, ctx);
    Outcome out;
    out.of_voxel.resize(cloud.size());
    while (const auto crop = crops.next(ctx)) {
      EXPECT_LE(crop->voxel.size(), max_voxels);
      const auto values = collected(*crop, cloud, kHops, 8);
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (crop->weight[i] == 0) continue;
        out.of_voxel[crop->voxel[i]] = values[i];
        ++out.votes;
      }
      ++out.crops;
      out.looks += values.size();
      const std::vector<float> logits(2 * values.size());
      crops.vote(*crop, {logits.data(), logits.size()});
    }
    const std::vector<std::uint8_t> classes{1, 2};
    EXPECT_EQ(crops.labels({classes.data(), 2}, 2, ctx).size(), points.size());
    EXPECT_EQ(crops.claimed_count(), cloud.size());
    return out;
  });
}

TEST(VoxelCrops, OfPartsSeeWhatOneCropOfAllSees) {
  const std::vector<Vec3d> points = plant(20'000);
  const Outcome whole = run(points, 65'536, kHops, 1);
  EXPECT_EQ(whole.crops, 1U);
  for (const std::uint32_t most : {1024U, 3000U})
    for (const int threads : {1, 2}) {
      const Outcome parts = run(points, most, kHops, threads);
      EXPECT_GT(parts.crops, 2U);
      EXPECT_EQ(parts.votes, whole.of_voxel.size());
      EXPECT_EQ(parts.of_voxel, whole.of_voxel) << most;
    }
  // With a step too few some voxels see less: the measure can tell.
  EXPECT_NE(run(points, 1024, kHops - 1, 1).of_voxel, whole.of_voxel);
}

TEST(VoxelCrops, OfPartsHoldMostVoxelsOnce) {
  const std::vector<Vec3d> points = plant(60'000);
  const Outcome parts = run(points, 12'000, kHops, 2), balls = run(points, 12'000, 0, 2);
  EXPECT_LT(static_cast<double>(parts.looks), 1.6 * static_cast<double>(parts.of_voxel.size()));
  EXPECT_LT(2 * parts.looks, balls.looks + parts.of_voxel.size());
}

TEST(VoxelCrops, OfPartsTakeCloudsOfAnyShape) {
  std::vector<std::vector<Vec3d>> clouds{{}, {{1, 2, 3}}, std::vector<Vec3d>(500, Vec3d{1, 2, 3})};
  std::vector<Vec3d> line, far;
  for (int i = 0; i < 3000; ++i) line.push_back({0.05 * i, 0, 0});
  for (int i = 0; i < 700; ++i) far.push_back({i % 2 == 0 ? 0.0 : 1e7, 0.1 * i, 0});
  clouds.push_back(line);
  clouds.push_back(far);
  for (const auto& cloud : clouds)
    for (const std::uint32_t hops : {0U, 8U}) {
      const Outcome out = run(cloud, 256, hops, 2);
      if (hops > 0) {
        EXPECT_EQ(out.votes, out.of_voxel.size());
      }
    }
}

}  // namespace
