#include "core/parallel.h"

#include <gtest/gtest.h>

#include <chrono>
#include <numeric>
#include <thread>

#include "core/random.h"

namespace pc {
namespace {

TEST(ParallelFor, VisitsEveryIndexOnceForAnyTeam) {
  for (const int threads : {1, 2, 3, 16}) {
    for (const std::size_t n : {0u, 1u, 7u, 1000u, 4097u}) {
      JobControl control;
      OpContext ctx(control, Device::kCpu, threads);
      std::vector<std::atomic<int>> seen(n);
      ctx.begin_phase("Counting", n);
      parallel_for_worker(ctx, n, 10, [&](std::size_t begin, std::size_t end, int worker) {
        ASSERT_LT(worker, threads);
        for (std::size_t i = begin; i < end; ++i) ++seen[i];
      });
      for (const auto& count : seen) EXPECT_EQ(count.load(), 1);
      EXPECT_EQ(control.done.load(), n);
    }
  }
}

TEST(ParallelFor, CarriesTheFirstExceptionOutAndStops) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 4);
  std::atomic<int> blocks{0};
  EXPECT_THROW(parallel_for(ctx, 1'000'000, 1,
                            [&](std::size_t begin, std::size_t) {
                              ++blocks;
                              if (begin == 50) throw Error(ErrorCode::kInvalidFile, "bad block");
                            }),
               Error);
  EXPECT_LT(blocks.load(), 1'000'000);
}

TEST(ParallelFor, CancelIsSeenBetweenBlocks) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  std::atomic<std::uint64_t> blocks{0};
  std::thread canceler([&] {
    while (blocks.load() < 10) std::this_thread::yield();
    control.cancel_requested = true;
  });
  try {
    parallel_for(ctx, std::size_t{1} << 40, 1, [&](std::size_t, std::size_t) { ++blocks; });
    ADD_FAILURE() << "ran to the end";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCanceled);
  }
  canceler.join();
}

TEST(ParallelSum, SameBitsForAnyTeam) {
  const std::size_t n = 100'003;
  const auto term = [](std::size_t i) { return random_unit(5, i) * (i % 2 == 0 ? 1e16 : -1e-16); };
  JobControl control;
  OpContext one(control, Device::kCpu, 1);
  const double expected = parallel_sum(one, n, term);
  for (const int threads : {2, 3, 7}) {
    OpContext many(control, Device::kCpu, threads);
    EXPECT_EQ(parallel_sum(many, n, term), expected) << threads;
  }
}

TEST(Random, DependsOnSeedAndCounterAloneAndCoversTheUnitInterval) {
  EXPECT_EQ(random_u64(1, 2), random_u64(1, 2));
  EXPECT_NE(random_u64(1, 2), random_u64(2, 1));
  double low = 1, high = 0, sum = 0;
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    const double u = random_unit(9, i);
    low = std::min(low, u);
    high = std::max(high, u);
    sum += u;
  }
  EXPECT_GE(low, 0.0);
  EXPECT_LT(high, 1.0);
  EXPECT_NEAR(sum / 100'000, 0.5, 0.005);  // 5 sigma of a uniform mean: 5 * 0.2887 / sqrt(1e5)
}

}  // namespace
}  // namespace pc
