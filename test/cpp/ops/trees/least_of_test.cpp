#include "ops/trees/least_of.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

namespace {

using namespace pc;

TEST(LeastOf, IsTheBeginningOfASort) {
  std::mt19937_64 random{4};
  for (const std::size_t n : {0, 1, 5, 19, 20, 21, 400, 5000})
    for (const std::size_t count : {1, 7, 20, 6000})
      for (const std::uint64_t values : {3ULL, 1'000'000ULL}) {
        std::vector<std::uint64_t> all(n);
        for (auto& value : all) value = random() % values;
        LeastOf<std::uint64_t, std::less<>> least(count, {});
        for (const auto value : all) least.add(value);
        std::sort(all.begin(), all.end());
        all.resize(std::min(n, count));
        EXPECT_EQ(least.take(), all) << n << " " << count;
      }
}

}  // namespace
