#pragma once
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "core/error.h"
#include "core/memory.h"
#include "core/op_context.h"

namespace pc::test {

/// Cancels `run` as soon as it is in a phase whose name begins with `phase`, and asserts that it ends in time and that its
/// memory goes back. On a busy machine the phase may be over before this is seen; then it runs once more.
inline void expect_cancel_in_phase(const std::string& phase, const std::function<void(OpContext&)>& run) {
  using Clock = std::chrono::steady_clock;
  const std::uint64_t before = bulk_bytes_in_use();
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
    // 250 ms is promised; sanitizers and busy cores cost up to ten times as much.
    EXPECT_LT(std::chrono::duration<double>(ended - asked).count(), 2.5) << phase;
    return;
  }
  ADD_FAILURE() << phase << ": never canceled";
}

}  // namespace pc::test
