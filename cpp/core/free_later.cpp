#include "core/free_later.h"

#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace pc {

namespace {

struct Frees {
  std::mutex mutex;
  std::condition_variable ended;
  std::size_t pending = 0;
};

Frees& frees() {
  static Frees* const one = new Frees;  // never destroyed: its threads may outlive the statics
  return *one;
}

}  // namespace

PendingFree::PendingFree() {
  const std::lock_guard<std::mutex> lock(frees().mutex);
  ++frees().pending;
}

PendingFree::~PendingFree() {
  const std::lock_guard<std::mutex> lock(frees().mutex);
  --frees().pending;
  frees().ended.notify_all();
}

void await_frees() {
  std::unique_lock<std::mutex> lock(frees().mutex);
  frees().ended.wait(lock, [] { return frees().pending == 0; });
}

}  // namespace pc
