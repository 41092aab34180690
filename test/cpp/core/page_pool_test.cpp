#include "core/page_pool.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "core/error.h"
#include "core/memory.h"
#include "core/platform.h"

namespace pc {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

TEST(PagePool, KeepsNothingUnlessAskedTo) {
  { const PageBlock block = PageBlock::allocate(kMiB); }
  EXPECT_EQ(PagePool::shared().held(), 0U);
}

TEST(PagePool, HandsFreedPagesOnZeroFilled) {
  const PageReuse reuse(4 * kMiB);
  const std::byte* before = nullptr;
  {
    const PageBlock block = PageBlock::allocate(kMiB + 5);
    before = block.data();
    for (std::size_t i = 0; i < block.bytes(); ++i) block.data()[i] = std::byte{7};
  }
  EXPECT_GT(PagePool::shared().held(), kMiB);
  const PageBlock again = PageBlock::allocate(kMiB + 9'000);  // the same size class, so the same pages
  EXPECT_EQ(again.data(), before);
  EXPECT_EQ(again.bytes(), kMiB + 9'000);
  for (std::size_t i = 0; i < again.bytes(); ++i) ASSERT_EQ(again.data()[i], std::byte{0}) << i;
  EXPECT_EQ(PagePool::shared().held(), 0U);
}

TEST(PagePool, StaysUnderItsLimitAndGivesAllBackAtTheEnd) {
  {
    const PageReuse reuse(3 * kMiB);
    std::vector<PageBlock> blocks;
    for (int i = 0; i < 10; ++i) blocks.push_back(PageBlock::allocate(kMiB));
    blocks.push_back(PageBlock::allocate(20 * kMiB));  // more than it takes
    blocks.clear();
    EXPECT_EQ(PagePool::shared().held(), 3 * kMiB);
    {
      const PageReuse more(2 * kMiB);
      for (int i = 0; i < 10; ++i) blocks.push_back(PageBlock::allocate(kMiB));
      blocks.clear();
      EXPECT_EQ(PagePool::shared().held(), 5 * kMiB);
    }
    EXPECT_EQ(PagePool::shared().held(), 3 * kMiB);
  }
  EXPECT_EQ(PagePool::shared().held(), 0U);
}

TEST(PagePool, ABlockServesWhoWantsSomewhatLess) {
  const PageReuse reuse(4 * kMiB);
  const auto given = [](std::size_t bytes) { return PageBlock::allocate(bytes).data(); };
  const std::byte* const before = given(3 * kMiB / 2);
  EXPECT_EQ(given(kMiB), before);
  EXPECT_EQ(PagePool::shared().held(), 3 * kMiB / 2);  // whole again
  EXPECT_NE(given(kMiB - kMiB / 4), before);           // half of it would lie idle
  EXPECT_NE(given(2 * kMiB), before);
}

TEST(PagePool, BlocksNobodyTookMakeRoom) {
  const PageReuse reuse(4 * kMiB);
  { const PageBlock idle = PageBlock::allocate(3 * kMiB); }
  const std::byte* last = nullptr;
  {
    const PageBlock block = PageBlock::allocate(3 * kMiB / 2);
    last = block.data();
  }
  EXPECT_EQ(PagePool::shared().held(), 3 * kMiB / 2);
  EXPECT_EQ(PageBlock::allocate(3 * kMiB / 2).data(), last);
  {
    std::vector<PageBlock> blocks;
    for (int i = 0; i < 400; ++i) blocks.push_back(PageBlock::allocate(4096));  // more than it has places
  }
  EXPECT_EQ(PagePool::shared().held(), 256U * 4096);
}

TEST(PagePool, GoesBeforeAnAllocationFails) {
  const PageReuse reuse(4 * kMiB);
  { const PageBlock block = PageBlock::allocate(kMiB); }
  EXPECT_EQ(PagePool::shared().held(), kMiB);
  EXPECT_THROW(PageBlock::allocate(std::size_t{1} << 46), Error);  // a quarter of the address space
  EXPECT_EQ(PagePool::shared().held(), 0U);
}

TEST(PagePool, BlocksMayOutliveIt) {
  const std::uint64_t before = bulk_bytes_in_use();
  PageBlock block;
  {
    const PageReuse reuse(4 * kMiB);
    block = PageBlock::allocate(kMiB + 1);
  }
  block.data()[kMiB] = std::byte{1};
  block = PageBlock();
  EXPECT_EQ(bulk_bytes_in_use(), before);
  EXPECT_EQ(PagePool::shared().held(), 0U);
}

TEST(PagePool, ThreadsShareIt) {
  const std::uint64_t before = bulk_bytes_in_use();
  {
    const PageReuse reuse(4 * kMiB);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([t] {
        for (std::size_t i = 0; i < 2'000; ++i) {
          const PageBlock block =
              PageBlock::allocate((64 << 10) + (i * 7 + static_cast<std::size_t>(t)) % 5 * 8'192);
          ASSERT_EQ(block.data()[i % block.bytes()], std::byte{0});
          block.data()[i % block.bytes()] = std::byte{1};
        }
      });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_LE(PagePool::shared().held(), 4 * kMiB);
  }
  EXPECT_EQ(bulk_bytes_in_use(), before);
}

}  // namespace
}  // namespace pc
