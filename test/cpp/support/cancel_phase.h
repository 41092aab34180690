#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <string>
#include <thread>

#include "core/error.h"
#include "core/memory.h"
#include "core/op_context.h"
#include "support/cancel_time.h"

namespace pc::test {

/// Runs that may end too late, because other programs have the cores.
constexpr int kMostLate = 8;

/// Cancels `run` as soon as it is in a phase whose name begins with `phase`, and asserts that it ends in time and that its
/// memory goes back. On a busy machine the phase may be over before this is seen, or the run may wait for a core; then it
/// runs once more.
inline void expect_cancel_in_phase(const std::string& phase, const std::function<void(OpContext&)>& run) {
  using Clock = std::chrono::steady_clock;
  const std::uint64_t before = bulk_bytes_in_use();
  double fastest = HUGE_VAL;
  int late = 0;
  for (int attempt = 0; attempt < 20; ++attempt) {
    JobControl control;
    Clock::time_point asked;
    std::atomic<bool> over{false};
    std::thread canceler([&] {
      while (!over && std::string(control.phase.load()).rfind(phase, 0) != 0) std::this_thread::yield();
      asked = Clock::now();
      control.cancel_requested = true;
    });
    bool canceled = false;
    try {
      OpContext ctx(control, Device::kCpu, 2);
      run(ctx);
    } catch (const Error& error) {
      canceled = error.code() == ErrorCode::kCanceled;
      EXPECT_TRUE(canceled) << phase << ": " << error.what();
    }
    const Clock::time_point ended = Clock::now();
    over = true;
    canceler.join();
    EXPECT_EQ(bulk_bytes_in_use(), before) << phase;
    if (!canceled) continue;
    fastest = std::min(fastest, std::chrono::duration<double>(ended - asked).count());
    if (fastest < kCancelSeconds) return;
    if (++late == kMostLate) break;
  }
  if (late > 0) {
    EXPECT_LT(fastest, kCancelSeconds) << phase;
    return;
  }
  ADD_FAILURE() << phase << ": never canceled";
}

}  // namespace pc::test
