#pragma once
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

namespace pc {

/// Counts one free that runs behind the caller's back, from its construction to its destruction.
class PendingFree {
 public:
  PendingFree();
  ~PendingFree();
  PendingFree(const PendingFree&) = delete;
  PendingFree& operator=(const PendingFree&) = delete;
};

/// Blocks until no free of free_later is under way.
void await_frees();

/// Drops `value` on a thread of its own: unmapping a gigabyte, or freeing millions of parts, takes a tenth of a second, too
/// long for an event loop. Without a thread it is dropped here. `value` is null afterwards.
template <class Pointer>
void free_later(Pointer& value) {
  if (value == nullptr) return;
  struct Work {
    PendingFree pending;  // ends after the value
    Pointer value;
  };
  auto work = std::make_unique<Work>();
  work->value = std::exchange(value, nullptr);
  try {
    std::thread([raw = work.get()] { delete raw; }).detach();
    (void)work.release();  // owned by the thread
  } catch (const std::system_error&) {
    work.reset();  // no thread available
  }
}

}  // namespace pc
