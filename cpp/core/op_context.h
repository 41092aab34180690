#pragma once
#include <atomic>
#include <cstdint>

#include "core/error.h"

namespace pc {

enum class Device : std::uint8_t { kCpu, kCuda };

/// Shared by a running op and the event loop. Lock-free: the op writes, the event loop polls.
struct JobControl {
  std::atomic<bool> cancel_requested{false};
  std::atomic<const char*> phase{""};  ///< points to a string literal
  std::atomic<std::uint64_t> done{0};
  std::atomic<std::uint64_t> total{0};  ///< 0 = the length of the phase is unknown
};

/// What every op gets besides its data: progress, cancel, device and thread budget.
class OpContext {
 public:
  /// threads == 0 means all cores.
  explicit OpContext(JobControl& control, Device device = Device::kCpu, int threads = 0);
  /// A step of another run on one thread of the CPU: canceled with it, and its phases, in `own`, are not shown.
  OpContext(JobControl& own, const OpContext& whole);

  Device device() const { return device_; }
  int threads() const { return threads_; }  ///< >= 1; results never depend on it

  /// `name` must be a string literal, written for the user ("Building octree").
  void begin_phase(const char* name, std::uint64_t total) {
    control_.done.store(0, std::memory_order_relaxed);
    control_.total.store(total, std::memory_order_relaxed);
    control_.phase.store(name, std::memory_order_release);
    checkpoint();
  }
  void advance(std::uint64_t n) { control_.done.fetch_add(n, std::memory_order_relaxed); }
  bool canceled() const {
    return control_.cancel_requested.load(std::memory_order_relaxed) || (whole_ && whole_->canceled());
  }
  void checkpoint() const {
    if (canceled()) throw Error(ErrorCode::kCanceled, "canceled");
  }

 private:
  JobControl& control_;
  Device device_;
  int threads_;
  const OpContext* whole_ = nullptr;
};

}  // namespace pc
