#include "core/radix_sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <vector>

#include "core/random.h"

namespace pc {
namespace {

template <class Key>
struct Sorted {
  std::vector<Key> keys;
  std::vector<std::uint32_t> values;
};

/// Oracle: a stable comparison sort.
template <class Key>
Sorted<Key> stable_oracle(const std::vector<Key>& keys) {
  Sorted<Key> out;
  out.values.resize(keys.size());
  std::iota(out.values.begin(), out.values.end(), 0u);
  std::stable_sort(out.values.begin(), out.values.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return keys[a] < keys[b]; });
  for (const std::uint32_t i : out.values) out.keys.push_back(keys[i]);
  return out;
}

template <class Key>
Sorted<Key> radix(const std::vector<Key>& keys, int bits, int threads) {
  Sorted<Key> out{keys, std::vector<std::uint32_t>(keys.size())};
  std::iota(out.values.begin(), out.values.end(), 0u);
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  radix_sort_pairs(Span<Key>{out.keys.data(), out.keys.size()}, {out.values.data(), out.values.size()}, bits,
                   ctx);
  return out;
}

template <class Key>
void expect_sorted(const std::vector<Key>& keys, int bits) {
  const Sorted<Key> expected = stable_oracle(keys);
  for (const int threads : {1, 2, 3, 8}) {
    const Sorted<Key> got = radix(keys, bits, threads);
    EXPECT_EQ(got.keys, expected.keys)
        << keys.size() << " keys, " << bits << " bits, " << threads << " threads";
    EXPECT_EQ(got.values, expected.values)
        << keys.size() << " keys, " << bits << " bits, " << threads << " threads";
  }
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  const auto order = radix_sort_order(Span<const Key>{keys.data(), keys.size()}, bits, ctx);
  EXPECT_EQ(std::vector<std::uint32_t>(order.begin(), order.end()), expected.values);
}

template <class Key>
std::vector<Key> random_keys(std::size_t n, int bits) {
  std::vector<Key> keys(n);
  for (std::size_t i = 0; i < n; ++i) keys[i] = static_cast<Key>(random_u64(3, i) >> (64 - bits));
  return keys;
}

TEST(RadixSort, MatchesStableSortForAnyThreadCount) {
  for (const std::size_t n : {0u, 1u, 2u, 1000u, 65536u, 65537u, 140000u}) {
    expect_sorted(random_keys<std::uint64_t>(n, 63), 63);
    expect_sorted(random_keys<std::uint32_t>(n, 32), 32);
  }
}

TEST(RadixSort, SortsTheBitsItIsTold) {
  for (const int bits : {1, 8, 9, 31, 64}) expect_sorted(random_keys<std::uint64_t>(70000, bits), bits);
}

TEST(RadixSort, KeepsTheOrderOfEqualKeys) {
  expect_sorted(std::vector<std::uint64_t>(200000, 7), 64);
  expect_sorted(random_keys<std::uint64_t>(200000, 2), 64);
}

TEST(RadixSort, SkipsDigitsThatAreEqualEverywhere) {
  auto keys = random_keys<std::uint64_t>(150000, 8);
  for (auto& key : keys) key = key << 40 | 0xabcdef;
  expect_sorted(keys, 64);
}

TEST(RadixSort, HandlesSortedAndReversedKeys) {
  std::vector<std::uint32_t> keys(200000);
  std::iota(keys.begin(), keys.end(), 0u);
  expect_sorted(keys, 32);
  std::reverse(keys.begin(), keys.end());
  expect_sorted(keys, 32);
}

TEST(RadixSort, RefusesBadArguments) {
  JobControl control;
  OpContext ctx(control);
  std::vector<std::uint64_t> keys(3);
  std::vector<std::uint32_t> values(2);
  EXPECT_THROW(radix_sort_pairs(Span<std::uint64_t>{keys.data(), 3}, {values.data(), 2}, 64, ctx), Error);
  EXPECT_THROW(radix_sort_pairs(Span<std::uint64_t>{keys.data(), 2}, {values.data(), 2}, 65, ctx), Error);
  EXPECT_THROW(radix_sort_pairs(Span<std::uint64_t>{keys.data(), 2}, {values.data(), 2}, 0, ctx), Error);
}

TEST(RadixSort, CancelThrowsAndReturnsItsMemory) {
  const std::uint64_t before = bulk_bytes_in_use();
  JobControl control;
  control.cancel_requested = true;
  OpContext ctx(control, Device::kCpu, 2);
  auto keys = random_keys<std::uint64_t>(200000, 64);
  std::vector<std::uint32_t> values(keys.size());
  try {
    radix_sort_pairs(Span<std::uint64_t>{keys.data(), keys.size()}, {values.data(), values.size()}, 64, ctx);
    FAIL() << "a canceled sort must throw";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCanceled);
  }
  EXPECT_EQ(bulk_bytes_in_use(), before);
}

}  // namespace
}  // namespace pc
