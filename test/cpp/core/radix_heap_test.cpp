#include "core/radix_heap.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <queue>
#include <tuple>
#include <vector>

#include "core/random.h"

namespace pc {
namespace {

struct Item {
  double cost;
  std::uint32_t name;
  friend bool operator<(const Item& a, const Item& b) { return a.name < b.name; }
};

struct Later {
  bool operator()(const Item& a, const Item& b) const {
    return std::tie(a.cost, a.name) > std::tie(b.cost, b.name);
  }
};

/// Pushes and takes in turns, beside the standard library's heap. `step`: what a new cost adds to the last one.
template <class Step>
void compare(int rounds, const Step& step) {
  RadixHeap<Item> heap;
  std::priority_queue<Item, std::vector<Item>, Later> oracle;
  std::uint32_t name = 0;
  double last = 0;
  const auto add = [&](double cost) {
    const Item item{cost, (name++ * 2654435761U) % 1000};
    heap.push(item);
    oracle.push(item);
  };
  for (int i = 0; i < 2000; ++i) add(step(i));
  for (int i = 0; i < rounds && !oracle.empty(); ++i) {
    const Item expected = oracle.top();
    oracle.pop();
    const Item found = heap.pop([](const Item&) {});
    ASSERT_EQ(found.cost, expected.cost) << i;
    ASSERT_EQ(found.name, expected.name) << i;
    last = found.cost;
    for (int k = 0; k < i % 3; ++k) add(last + step(i + k));
    ASSERT_EQ(heap.empty(), oracle.empty());
  }
}

TEST(RadixHeap, TakesWhatAHeapTakes) {
  std::uint64_t drawn = 0;
  const auto random = [&] { return random_unit(5, drawn++); };
  compare(20000, [&](int) { return random(); });
  compare(20000, [&](int) { return std::pow(10, 40 * random() - 30); });
}

TEST(RadixHeap, TakesEqualCostsInTheOrderOfTheEntries) {
  compare(20000, [](int i) { return i % 5 == 0 ? 0.25 : 0.0; });
  compare(6000, [](int) { return 0.0; });
}

TEST(RadixHeap, HoldsInfinityAndNegativeZero) {
  RadixHeap<Item> heap;
  const double infinity = std::numeric_limits<double>::infinity();
  for (const Item& item : {Item{infinity, 1}, Item{0.0, 2}, Item{-0.0, 1}, Item{5e-324, 3}}) heap.push(item);
  std::vector<std::uint32_t> names;
  while (!heap.empty()) names.push_back(heap.pop([](const Item&) {}).name);
  EXPECT_EQ(names, (std::vector<std::uint32_t>{1, 2, 3, 1}));
}

TEST(RadixHeap, NamesEntriesBeforeTheyAreTaken) {
  RadixHeap<Item> heap;
  for (std::uint32_t i = 0; i < 10; ++i) heap.push({static_cast<double>(i + 1), i});
  std::vector<int> named(10, 0);
  int unnamed = 0;
  while (!heap.empty()) {
    const Item item = heap.pop([&](const Item& soon) { ++named[soon.name]; });
    unnamed += named[item.name] == 0 ? 1 : 0;
  }
  EXPECT_EQ(unnamed, 0);
}

}  // namespace
}  // namespace pc
