#include "spatial/union_find.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/parallel.h"
#include "core/random.h"

namespace pc {

namespace {

using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

Pairs random_pairs(std::size_t count, std::size_t size) {
  Pairs pairs;
  for (std::size_t i = 0; i < count; ++i)
    pairs.emplace_back(random_u64(1, i) % size, random_u64(2, i) % size);
  return pairs;
}

/// Set names by repeated sweeps: the slow and obvious way.
std::vector<std::uint32_t> names_by_sweeps(const Pairs& pairs, std::size_t size) {
  std::vector<std::uint32_t> name(size);
  for (std::size_t i = 0; i < size; ++i) name[i] = static_cast<std::uint32_t>(i);
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [a, b] : pairs) {
      const std::uint32_t lowest = std::min(name[a], name[b]);
      changed |= name[a] != lowest || name[b] != lowest;
      name[a] = name[b] = lowest;
    }
  }
  return name;
}

TEST(UnionFind, NamesEverySetByItsLowestMember) {
  for (const std::size_t joins : {0U, 1U, 100U, 400U, 5000U}) {
    const Pairs pairs = random_pairs(joins, 1000);
    UnionFind sets(1000);
    for (const auto& [a, b] : pairs) sets.join(a, b);
    const std::vector<std::uint32_t> wanted = names_by_sweeps(pairs, 1000);
    for (std::size_t i = 0; i < wanted.size(); ++i)
      ASSERT_EQ(sets.root_of(i), wanted[i]) << joins << " " << i;
  }
}

TEST(UnionFind, TheOrderOfTheJoinsDoesNotMatter) {
  Pairs pairs = random_pairs(700, 1000);
  UnionFind forward(1000), backward(1000);
  for (const auto& [a, b] : pairs) forward.join(a, b);
  std::reverse(pairs.begin(), pairs.end());
  for (const auto& [a, b] : pairs) backward.join(b, a);
  for (std::size_t i = 0; i < forward.size(); ++i) ASSERT_EQ(forward.root_of(i), backward.root_of(i));
}

TEST(UnionFind, TellsWhetherAJoinDidAnything) {
  UnionFind sets(4);
  EXPECT_TRUE(sets.join(3, 1));
  EXPECT_FALSE(sets.join(1, 3));
  EXPECT_FALSE(sets.join(2, 2));
  EXPECT_TRUE(sets.join(1, 0));
  EXPECT_EQ(sets.root_of(3), 0U);
  EXPECT_EQ(sets.root_of(2), 2U);
}

TEST(SharedUnionFind, ThreadsThatJoinAtOnceMakeTheSameSets) {
  constexpr std::size_t kSize = 20'000;
  for (std::uint64_t run = 0; run < 20; ++run) {
    const Pairs pairs = random_pairs(9000 + 400 * run, kSize);
    UnionFind wanted(kSize);
    for (const auto& [a, b] : pairs) wanted.join(a, b);
    SharedUnionFind sets(kSize);
    JobControl control;
    OpContext ctx(control, Device::kCpu, 8);
    parallel_for(ctx, pairs.size(), 16, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) sets.join(pairs[i].first, pairs[i].second);
    });
    for (std::size_t i = 0; i < kSize; ++i) ASSERT_EQ(sets.root_of(i), wanted.root_of(i)) << run << " " << i;
  }
}

TEST(SharedUnionFind, ChainsJoinedFromBothEnds) {
  constexpr std::size_t kSize = 200'000;
  SharedUnionFind sets(kSize);
  JobControl control;
  OpContext ctx(control, Device::kCpu, 8);
  parallel_for(ctx, kSize - 1, 64, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      sets.join(i + 1, i);
      sets.join(kSize - 1 - i, kSize - 2 - i);
    }
  });
  for (std::size_t i = 0; i < kSize; ++i) ASSERT_EQ(sets.root_of(i), 0U);
}

TEST(UnionFind, LongChainsAreShortened) {
  constexpr std::size_t kSize = 200'000;
  UnionFind sets(kSize);
  for (std::size_t i = kSize; i-- > 1;) sets.join(i, i - 1);
  for (std::size_t i = 0; i < kSize; ++i) ASSERT_EQ(sets.root_of(i), 0U);
}

}  // namespace

}  // namespace pc
