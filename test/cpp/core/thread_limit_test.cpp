// Threads that the system refuses. Linux only, because RLIMIT_NPROC counts threads there, and as root only, because the test
// needs a user without other processes: a random one, since the limit counts the threads of a user on the whole machine.
#if defined(__linux__)
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

#include "core/parallel.h"

namespace pc {
namespace {

constexpr int kWorkers = 16;

/// Allows `threads` threads to this process, which is then not root's any more.
void limit_threads(rlim_t threads) {
  const rlimit limit{threads, threads};
  const auto user = static_cast<uid_t>(20000 + std::random_device{}() % 40000);
  if (setrlimit(RLIMIT_NPROC, &limit) != 0 || setresuid(user, user, user) != 0) std::_Exit(3);
}

/// Whether every worker of a few teams of growing and shrinking size runs exactly once.
bool teams_run(std::chrono::milliseconds each = std::chrono::milliseconds(0)) {
  for (const int count : {kWorkers, 2, kWorkers / 2, kWorkers, 3, kWorkers}) {
    std::vector<std::atomic<int>> runs(static_cast<std::size_t>(count));
    run_team(count, [&](int worker) {
      ++runs[static_cast<std::size_t>(worker)];
      std::this_thread::sleep_for(each);
    });
    for (const auto& run : runs)
      if (run != 1) return false;
  }
  return true;
}

[[noreturn]] void leave(bool right) {
  std::fputs(right ? "right\n" : "wrong\n", stderr);
  std::_Exit(right ? 0 : 1);
}

class ThreadLimit : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root, to become a user without other processes";
    testing::FLAGS_gtest_death_test_style =
        "threadsafe";  // a new process: no thread of a team runs in it yet
  }
};

TEST_F(ThreadLimit, ATeamRunsWithTheThreadsThereAre) {
#if defined(_OPENMP)  // with 20, threads of a smaller team stay beside those of a larger one
  const std::vector<rlim_t> limits{1, 2, 3, 7, 20};
#else
  const std::vector<rlim_t> limits{1, 2, 3, 7};
#endif
  for (const rlim_t threads : limits)
    EXPECT_EXIT(
        {
          limit_threads(threads);
          // Without OpenMP a thread could end before the next one begins, and none would be missing.
          const bool right = teams_run(std::chrono::milliseconds(2));
          const auto shortage = take_team_shortage();
          leave(right && shortage && shortage->wanted == kWorkers && shortage->started < kWorkers);
        },
        testing::ExitedWithCode(0), "right")
        << threads << " threads";
}

TEST_F(ThreadLimit, TeamsThatStartTogetherDoNotTakeEachOthersThreads) {
  EXPECT_EXIT(
      {
        limit_threads(12);
        std::atomic<int> right{0};
        std::vector<std::thread> masters;
        std::barrier all_there(4);  // a team of the first could take the thread of the fourth
        for (int k = 0; k < 4; ++k)
          masters.emplace_back([&] {
            all_there.arrive_and_wait();
            for (int round = 0; round < 50; ++round) right += teams_run();
          });
        for (auto& master : masters) master.join();
        leave(right == 200);
      },
      testing::ExitedWithCode(0), "right");
}

TEST_F(ThreadLimit, NothingIsReportedWithoutALimit) {
  (void)take_team_shortage();
  EXPECT_TRUE(teams_run());
  EXPECT_FALSE(take_team_shortage());
}

}  // namespace
}  // namespace pc
#endif
