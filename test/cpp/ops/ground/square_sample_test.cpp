#include "ops/ground/square_sample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace {

using namespace pc;

using Cloud = std::vector<Vec3d>;

Cloud scattered(std::size_t n, double side, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> at(-side / 2, side / 2);
  Cloud out(n);
  for (Vec3d& p : out) p = {at(random), at(random), at(random)};
  return out;
}

SquareSample sample_of(const Cloud& cloud, int threads = 2, const std::vector<std::uint8_t>& skip = {}) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return square_sample({cloud.data(), cloud.size()}, {skip.data(), skip.size()}, ctx);
}

std::vector<std::size_t> rows_of(const SquareSample& sample) {
  std::vector<std::size_t> rows(sample.rows.begin(), sample.rows.end());
  std::sort(rows.begin(), rows.end());
  return rows;
}

/// Numbers of random squares, counted by so many and added.
std::vector<std::pair<Square, std::size_t>> counts_by(int parts, std::size_t n, std::size_t most) {
  std::vector<SquareCounts> own(static_cast<std::size_t>(parts), SquareCounts(most));
  std::mt19937_64 random(2);
  for (std::size_t i = 0; i < n; ++i) {
    const auto x = static_cast<std::int64_t>(random() % 100), y = static_cast<std::int64_t>(random() % 100);
    // The first part sees few squares, so that it leaves out none.
    SquareCounts& one = own[y < 2 ? 0 : i % static_cast<std::size_t>(parts)];
    if (std::size_t* count = one.find({x, y - 50})) ++*count;
  }
  for (std::size_t k = 1; k < own.size(); ++k) own[0].add(own[k]);
  std::vector<std::pair<Square, std::size_t>> out(own[0].counts().begin(), own[0].counts().end());
  std::sort(out.begin(), out.end());
  return out;
}

TEST(SquareCounts, AreTheSameHoweverTheyAreAdded) {
  for (const std::size_t most : {20'000U, 2000U, 300U}) {
    const auto one = counts_by(1, 100'000, most);
    EXPECT_LE(one.size(), most);
    EXPECT_GT(one.size(), most / 4);
    for (const int parts : {2, 3, 7}) EXPECT_EQ(counts_by(parts, 100'000, most), one) << parts;
  }
}

TEST(SquareCounts, OfASquareAreWholeOrNone) {
  SquareCounts counts(10);
  for (std::int64_t round = 0; round < 5; ++round)
    for (std::int64_t k = 0; k < 100; ++k)
      if (std::size_t* count = counts.find({k, -k})) ++*count;
  EXPECT_LE(counts.counts().size(), 10);
  EXPECT_FALSE(counts.counts().empty());
  for (const auto& [square, count] : counts.counts()) EXPECT_EQ(count, 5) << square.first;
}

TEST(SquareCounts, AddingFewToManyLeavesOutTheSame) {
  const auto of = [](std::int64_t from, std::int64_t to) {
    SquareCounts counts(10);
    for (std::int64_t k = from; k < to; ++k)
      if (std::size_t* count = counts.find({k, 3})) ++*count;
    return counts;
  };
  // Two squares that were all counted, and up to 200 of which most were left out.
  for (std::int64_t n = 20; n < 200; n += 7) {
    SquareCounts few = of(0, 2);
    few.add(of(2, n));
    EXPECT_EQ(few.counts(), of(0, n).counts()) << n;
  }
}

TEST(SquareSample, HoldsAllPointsOfASmallCloud) {
  const Cloud cloud = scattered(20'000, 60);
  const SquareSample sample = sample_of(cloud);
  EXPECT_EQ(sample.points.size(), cloud.size());
  for (std::size_t k = 0; k < sample.squares.size(); ++k) {
    const Vec3d corner = sample.corner(k);
    for (const Vec3d& p : sample.of(k)) {
      EXPECT_TRUE(p.x >= corner.x && p.x < corner.x + kSquareSide);
      EXPECT_TRUE(p.y >= corner.y && p.y < corner.y + kSquareSide);
    }
  }
  for (std::size_t i = 0; i < sample.rows.size(); ++i) EXPECT_EQ(cloud[sample.rows[i]].z, sample.points[i].z);
}

TEST(SquareSample, LeavesOutSkippedRowsStraysAndThinSquares) {
  Cloud cloud = scattered(1000, 5);
  for (Vec3d& p : cloud) p = p + Vec3d{5, 5, 0};
  const double inf = std::numeric_limits<double>::infinity();
  for (const Vec3d& stray : {Vec3d{std::nan(""), 1, 1}, Vec3d{1, inf, 1}, Vec3d{1, 1, -1e300},
                             Vec3d{1e300, 1, 1}, Vec3d{1, 2e11, 1}})
    for (int i = 0; i < 60; ++i) cloud.push_back(stray);
  for (int i = 0; i < 49; ++i) cloud.push_back({100, 100, 0});
  for (int i = 0; i < 50; ++i) cloud.push_back({200, 200, 0});
  std::vector<std::uint8_t> skip(cloud.size(), 0);
  skip[7] = 1;
  std::vector<std::size_t> expected(1000);
  std::iota(expected.begin(), expected.end(), std::size_t{0});
  expected.erase(expected.begin() + 7);
  for (std::size_t i = cloud.size() - 50; i < cloud.size(); ++i) expected.push_back(i);
  EXPECT_EQ(rows_of(sample_of(cloud, 2, skip)), expected);
  EXPECT_TRUE(sample_of({}).points.empty());
}

TEST(SquareSample, IsBoundedAndTheSameForAnyThreadsAndOrder) {
  Cloud cloud = scattered(3'500'000, 50);
  for (std::size_t i = 0; i < 600'000; ++i)
    cloud[i] = {std::fmod(cloud[i].x, 5), std::fmod(cloud[i].y, 5), cloud[i].z};
  const auto places = [](const SquareSample& sample) {
    std::vector<std::pair<double, double>> out;
    for (const Vec3d& p : sample.points) out.emplace_back(p.x, p.y);
    std::sort(out.begin(), out.end());
    return out;
  };
  const SquareSample one = sample_of(cloud, 1);
  EXPECT_LT(one.points.size(), 2'520'000);
  EXPECT_GT(one.points.size(), 2'000'000);
  std::reverse(cloud.begin(), cloud.end());
  const SquareSample other = sample_of(cloud, 3);
  EXPECT_EQ(one.squares, other.squares);
  EXPECT_EQ(one.first, other.first);
  EXPECT_TRUE(places(one) == places(other));
}

TEST(SquareSample, TakesAPartOfASquareOfVeryMany) {
  const SquareSample sample = sample_of(scattered(1'000'000, 4.9), 2);
  std::size_t most = 0;
  for (std::size_t k = 0; k < sample.squares.size(); ++k) most = std::max(most, sample.of(k).size);
  EXPECT_NEAR(most, 200'000, 2000);
}

}  // namespace
