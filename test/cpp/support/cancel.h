#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <system_error>
#include <thread>

#include "core/error.h"
#include "core/memory.h"
#include "core/op_context.h"
#include "support/cancel_time.h"

/// Runs that are canceled at work, and how soon they end. The time of other programs on the machine is left out twice: what
/// the system counts of it is subtracted, and a run that ended late is run once more.
namespace pc::test {

/// Runs that may end late before a test fails.
constexpr int kMostLate = 8;
/// Runs that may be over before they are canceled, because another thread had the core.
constexpr int kMostOver = 20;

/// The moment at which a run is canceled: in a phase whose name begins with `phase` (any phase when empty), once `done`
/// steps are done, and `delay` later.
struct CancelAt {
  std::string phase;
  std::uint64_t done = 0;
  std::chrono::microseconds delay{0};
  int threads = 2;
};

/// Seconds that the threads of this process stood ready without a core, and that the host of a virtual machine took from
/// each core; zero where the system does not tell.
class WaitedTimes {
 public:
  WaitedTimes() {
    std::error_code none;  // Linux alone has the folder
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", none)) {
      std::uint64_t ran_ns = 0, waited_ns = 0;
      if (std::ifstream(task.path() / "schedstat") >> ran_ns >> waited_ns)
        of_thread_[task.path().filename().string()] = static_cast<double>(waited_ns) * 1e-9;
    }
    std::string cpu;
    double ticks[8] = {};  // user, nice, system, idle, iowait, irq, softirq, steal: hundredths of a second
    std::ifstream stat("/proc/stat");
    stat >> cpu;
    for (double& each : ticks) stat >> each;
    if (stat) stolen_ = 0.01 * ticks[7] / std::max(1U, std::thread::hardware_concurrency());
  }
  /// Of the thread that waited longest, among those that were there before, and of the host.
  double since(const WaitedTimes& before) const {
    double longest = 0;
    for (const auto& [thread, seconds] : of_thread_) {
      const auto found = before.of_thread_.find(thread);
      if (found != before.of_thread_.end()) longest = std::max(longest, seconds - found->second);
    }
    return longest + stolen_ - before.stolen_;
  }

 private:
  std::map<std::string, double> of_thread_;
  double stolen_ = 0;
};

/// Runs once and cancels. Seconds from the request until kCanceled was thrown, without what other programs and the host
/// took; negative when the run was over before. Any other error fails the test.
inline double cancel_latency(const std::function<void(OpContext&)>& run, const CancelAt& at) {
  using Clock = std::chrono::steady_clock;
  JobControl control;
  std::atomic<bool> over{false};
  Clock::time_point asked;
  WaitedTimes waited;
  std::thread client([&] {
    const auto is_there = [&] {
      const std::string phase = control.phase.load();
      return !phase.empty() && phase.rfind(at.phase, 0) == 0 && control.done.load() >= at.done;
    };
    while (!over && !is_there()) std::this_thread::yield();
    if (at.delay.count() > 0) std::this_thread::sleep_for(at.delay);
    waited = WaitedTimes();
    asked = Clock::now();
    control.cancel_requested = true;
  });
  bool canceled = false;
  try {
    OpContext ctx(control, Device::kCpu, at.threads);
    run(ctx);
  } catch (const Error& error) {
    canceled = error.code() == ErrorCode::kCanceled;
    EXPECT_TRUE(canceled) << at.phase << ": " << error.what();
  }
  const auto ended = Clock::now();
  const WaitedTimes later;
  over = true;
  client.join();
  if (!canceled) return -1;
  return std::max(0.0, std::chrono::duration<double>(ended - asked).count() - later.since(waited));
}

/// The least of several runs, which ends with the first that is in time; negative when the first run was over before.
inline double least_cancel_latency(const std::function<void(OpContext&)>& run, const CancelAt& at) {
  double least = std::numeric_limits<double>::infinity();
  for (int late = 0; late < kMostLate && least >= kCancelSeconds; ++late) {
    const double seconds = cancel_latency(run, at);
    if (seconds < 0) return std::isinf(least) ? -1 : least;
    least = std::min(least, seconds);
  }
  return least;
}

/// Asserts that `run`, canceled at that moment, ends in time and that its memory goes back. A run that was over before is
/// run again.
inline void expect_cancel_in_time(const std::function<void(OpContext&)>& run, const CancelAt& at) {
  const std::uint64_t before = bulk_bytes_in_use();
  double seconds = -1;
  for (int attempt = 0; attempt < kMostOver && seconds < 0; ++attempt) {
    seconds = least_cancel_latency(run, at);
    EXPECT_EQ(bulk_bytes_in_use(), before) << at.phase;
  }
  EXPECT_GE(seconds, 0) << at.phase << ": never canceled";
  EXPECT_LT(seconds, kCancelSeconds) << at.phase << ", " << at.done << " steps, " << at.delay.count()
                                     << " us";
}

/// As soon as it is in a phase whose name begins with `phase`.
inline void expect_cancel_in_phase(const std::string& phase, const std::function<void(OpContext&)>& run) {
  expect_cancel_in_time(run, {phase, 0, {}, 2});
}

/// `delay` after its start: for runs that begin no phase, or whose phases do not matter.
inline void expect_cancel_after(std::chrono::microseconds delay, const std::function<void(OpContext&)>& run) {
  expect_cancel_in_time(
      [&](OpContext& ctx) {
        ctx.begin_phase("Working", 0);
        run(ctx);
      },
      {"", 0, delay, 2});
}

/// Early and later in the work, by one thread and by two.
inline void expect_cancel_in_time(const std::function<void(OpContext&)>& run) {
  const std::uint64_t before = bulk_bytes_in_use();
  for (const int threads : {1, 2}) {
    bool caught = false;
    for (const int delay_us : {200, 200, 200, 200, 200, 5'000, 25'000, 60'000}) {
      const double seconds = least_cancel_latency(run, {"", 0, std::chrono::microseconds(delay_us), threads});
      caught = caught || seconds >= 0;
      EXPECT_LT(seconds, kCancelSeconds) << threads << " threads, " << delay_us << " us";
      EXPECT_EQ(bulk_bytes_in_use(), before);
    }
    EXPECT_TRUE(caught) << "never caught at work";
  }
}

}  // namespace pc::test
