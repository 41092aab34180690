#include "ops/registration/pair_consensus.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

#include "core/random.h"
#include "support/rigid_scenes.h"

namespace pc {
namespace {

std::vector<ConsensusPose> poses_of(const std::vector<PointPair>& pairs, double bound_m, int threads = 2) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return consensus_poses({pairs.data(), pairs.size()}, {bound_m, 5}, ctx);
}

double unit(std::uint64_t counter) { return random_unit(77, counter); }

/// `right` pairs of a motion with an error of up to 1 cm an axis, then `wrong` ones of random places, in a cube of 10 m.
std::vector<PointPair> pairs_of(const RigidTransform& truth, std::size_t right, std::size_t wrong,
                                std::uint64_t seed) {
  std::vector<PointPair> pairs;
  for (std::size_t i = 0; i < right + wrong; ++i) {
    const std::uint64_t at = seed * 1'000'000 + 9 * i;
    const Vec3d p{10 * unit(at), 10 * unit(at + 1), 10 * unit(at + 2)};
    const Vec3d error{0.02 * unit(at + 3) - 0.01, 0.02 * unit(at + 4) - 0.01, 0.02 * unit(at + 5) - 0.01};
    const Vec3d anywhere{10 * unit(at + 6), 10 * unit(at + 7), 10 * unit(at + 8)};
    pairs.push_back({p, i < right ? truth(p) + error : anywhere});
  }
  return pairs;
}

TEST(PairConsensus, FindsTheMotionOfOnePairInFifty) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const RigidTransform truth =
        test::turned({6 * unit(seed) - 3, 6 * unit(seed + 50) - 3, 6 * unit(seed + 90) - 3}, {1, 2, -3});
    const auto pairs = pairs_of(truth, 20, 980, seed);
    const auto found = poses_of(pairs, 0.03);
    ASSERT_FALSE(found.empty());
    EXPECT_GE(found[0].agreeing, 20U) << seed;
    EXPECT_LT(test::apart(found[0].pose, truth, {{0, 0, 0}, {10, 0, 0}, {0, 10, 0}, {0, 0, 10}}), 0.03)
        << seed;
  }
}

TEST(PairConsensus, TwoMotionsAreBothFoundTheCommonerFirst) {
  const RigidTransform one = test::turned({0, 0, 1}, {1, 0, 0}),
                       two = test::turned({3.1415, 0, 0}, {0, 5, 0});
  auto pairs = pairs_of(one, 60, 100, 6);
  const auto more = pairs_of(two, 40, 0, 7);
  pairs.insert(pairs.end(), more.begin(), more.end());
  const auto found = poses_of(pairs, 0.03);
  ASSERT_GE(found.size(), 2U);
  EXPECT_GE(found[0].agreeing, 60U);
  EXPECT_GE(found[1].agreeing, 40U);
  const test::Points corners{{0, 0, 0}, {10, 0, 0}, {0, 10, 0}, {0, 0, 10}};
  EXPECT_LT(test::apart(found[0].pose, one, corners), 0.03);
  EXPECT_LT(test::apart(found[1].pose, two, corners), 0.03);
}

TEST(PairConsensus, TheSameBitsForAnyThreadCount) {
  const auto pairs = pairs_of(test::turned({1, 1, 0}, {0, 0, 0}), 40, 400, 8);
  const auto one = poses_of(pairs, 0.03, 1), four = poses_of(pairs, 0.03, 4);
  ASSERT_EQ(one.size(), four.size());
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_EQ(std::memcmp(&one[i], &four[i], sizeof one[i]), 0);
}

/// A file of three lines of numbers separated by commas: x, y, z of the points.
test::Points columns_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<double> axis[3];
  for (auto& values : axis) {
    std::string line, value;
    std::getline(file, line);
    for (std::istringstream row(line); std::getline(row, value, ',');) values.push_back(std::stod(value));
  }
  test::Points out;
  for (std::size_t i = 0; i < axis[0].size(); ++i) out.push_back({axis[0][i], axis[1].at(i), axis[2].at(i)});
  return out;
}

TEST(PairConsensus, AgreesWithThePublishedPairsOfTeaser) {
  const char* named = std::getenv("APP_TEST_DATA");
  const std::filesystem::path folder =
      std::filesystem::path(named != nullptr ? named : "../shared/data") / "registration";
  if (!std::filesystem::exists(folder))
    GTEST_SKIP() << "no shared test data: set APP_TEST_DATA to its folder";
  const test::Points object = columns_of(folder / "teaser_objectIn.csv"),
                     scene = columns_of(folder / "teaser_sceneIn.csv");
  ASSERT_EQ(object.size(), 168U);
  std::vector<PointPair> pairs;
  for (std::size_t i = 0; i < object.size(); ++i) pairs.push_back({object[i], scene.at(i)});
  const auto found = poses_of(pairs, 0.02);
  ASSERT_FALSE(found.empty());
  EXPECT_GE(found[0].agreeing, 47U);  // the published pose has 47, least squares on those 49
  std::uint32_t within = 0;
  for (const PointPair& pair : pairs)
    within += std::sqrt(squared_distance(found[0].pose(pair.moving), pair.fixed)) <= 0.02;
  EXPECT_EQ(within, found[0].agreeing);
}

TEST(PairConsensus, NothingToAgreeOn) {
  EXPECT_TRUE(poses_of({}, 1).empty());
  EXPECT_TRUE(poses_of({{{0, 0, 0}, {1, 1, 1}}, {{1, 0, 0}, {2, 1, 1}}}, 0.1).empty());
  EXPECT_TRUE(poses_of(std::vector<PointPair>(100, PointPair{{1, 2, 3}, {3, 2, 1}}), 0.1).empty());
}

TEST(PairConsensus, RefusesABoundThatIsNone) {
  for (const double bound : {0.0, -1.0, std::numeric_limits<double>::infinity(), std::nan("")})
    EXPECT_THROW(poses_of({}, bound), Error);
}

}  // namespace
}  // namespace pc
