#include "core/nth_smallest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/random.h"

namespace pc {
namespace {

TEST(NthSmallest, EqualsSortingForEveryIndex) {
  for (std::size_t count = 1; count <= 80; ++count) {
    std::vector<double> values;
    for (std::size_t i = 0; i < count; ++i)  // some repeat
      values.push_back(std::floor(20 * random_unit(count, i)) - 5 + (i % 3 == 0 ? random_unit(7, i) : 0));
    std::vector<double> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t n = 0; n < count; ++n) {
      std::vector<double> copy = values;
      ASSERT_EQ(nth_smallest(copy.data(), count, n), sorted[n]) << count << " " << n;
    }
  }
}

}  // namespace
}  // namespace pc
