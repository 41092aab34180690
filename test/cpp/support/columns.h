#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "core/column.h"
#include "core/op_context.h"
#include "support/cancel_time.h"

/// Conversions between columns and vectors, and common assertions of op tests.
namespace pc::test {

template <class T>
Column<T> typed_column(const std::vector<T>& values) {
  Column<T> column(values.size());
  std::copy(values.begin(), values.end(), column.view().begin());
  return column;
}

template <class T>
AnyColumn column_of(const std::vector<T>& values) {
  return AnyColumn(typed_column(values));
}

template <class T>
std::vector<T> values_of(const AnyColumn& column) {
  return {column.as<T>().begin(), column.as<T>().end()};
}

template <class T>
Span<const T> span_of(const std::vector<T>& values) {
  return {values.data(), values.size()};
}

/// The bytes of a column: NaN payloads and signs of zero count.
inline std::string bytes_of(const AnyColumn& column) {
  return {reinterpret_cast<const char*>(column.data()), column.bytes()};
}

/// Runs `call`, which must throw, and returns the error code (and the message, if requested).
inline ErrorCode code_of(const std::function<void()>& call, std::string* message = nullptr) {
  try {
    call();
  } catch (const Error& error) {
    if (message != nullptr) *message = error.what();
    return error.code();
  }
  ADD_FAILURE() << "no error was thrown";
  return ErrorCode::kInternal;
}

/// Seconds that each thread of this process has stood ready without a core; empty where the system does not tell.
using WaitedTimes = std::map<std::string, double>;
inline WaitedTimes waited_times() {
  WaitedTimes out;
  std::error_code none;  // Linux alone has the folder
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", none)) {
    std::uint64_t ran_ns = 0, waited_ns = 0;
    if (std::ifstream(task.path() / "schedstat") >> ran_ns >> waited_ns)
      out[task.path().filename().string()] = static_cast<double>(waited_ns) * 1e-9;
  }
  return out;
}
/// Of the threads that were there before.
inline double longest_wait(const WaitedTimes& before, const WaitedTimes& after) {
  double longest = 0;
  for (const auto& [thread, seconds] : after) {
    const auto found = before.find(thread);
    if (found != before.end()) longest = std::max(longest, seconds - found->second);
  }
  return longest;
}

/// Cancels `run` some time after its first phase began and `done` steps were done. Seconds until it threw kCanceled,
/// without the longest time that one of its threads stood ready while other programs had the cores; negative when it was
/// over before.
inline double cancel_latency(const std::function<void(OpContext&)>& run, int threads,
                             std::chrono::microseconds delay, std::uint64_t done = 0) {
  using Clock = std::chrono::steady_clock;
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  std::atomic<bool> ended{false};
  Clock::time_point asked;
  WaitedTimes waited;
  std::thread client([&] {
    while (!ended && (*control.phase.load() == '\0' || control.done < done)) std::this_thread::yield();
    std::this_thread::sleep_for(delay);
    waited = waited_times();
    asked = Clock::now();
    control.cancel_requested = true;
  });
  bool canceled = false;
  try {
    run(ctx);
  } catch (const Error& error) {
    canceled = error.code() == ErrorCode::kCanceled;
  }
  const auto end = Clock::now();
  const WaitedTimes later = waited_times();
  ended = true;
  client.join();
  if (!canceled) return -1;
  return std::max(0.0, std::chrono::duration<double>(end - asked).count() - longest_wait(waited, later));
}

/// Asserts that a cancel early and later in the work ends `run` in time and that its memory goes back.
inline void expect_cancel_in_time(const std::function<void(OpContext&)>& run) {
  const std::uint64_t before = bulk_bytes_in_use();
  for (const int threads : {1, 2}) {
    bool caught = false;
    for (const int delay_us : {200, 200, 200, 200, 200, 5'000, 25'000, 60'000}) {
      const double seconds = cancel_latency(run, threads, std::chrono::microseconds(delay_us));
      caught = caught || seconds >= 0;
      EXPECT_LT(seconds, kCancelSeconds) << threads << " threads, " << delay_us << " us";
      EXPECT_EQ(bulk_bytes_in_use(), before);
    }
    EXPECT_TRUE(caught) << "never caught at work";
  }
}

}  // namespace pc::test
