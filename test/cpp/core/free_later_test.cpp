#include "core/free_later.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

namespace {

struct Slow {
  explicit Slow(std::atomic<int>& freed) : freed(freed) {}
  ~Slow() {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ++freed;
  }
  Slow(const Slow&) = delete;
  Slow& operator=(const Slow&) = delete;
  std::atomic<int>& freed;
};

TEST(FreeLater, AwaitFreesWaitsForAll) {
  std::atomic<int> freed{0};
  for (int i = 0; i < 8; ++i) {
    auto value = std::make_shared<const Slow>(freed);
    pc::free_later(value);
    EXPECT_EQ(value, nullptr);
    pc::free_later(value);  // nothing is left to free
  }
  pc::await_frees();
  EXPECT_EQ(freed, 8);
}

}  // namespace
