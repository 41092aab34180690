#include "core/platform.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "core/error.h"

namespace pc {
namespace {

std::string temporary(const char* name) {
  return (std::filesystem::temp_directory_path() / ("pc_platform_" + std::to_string(::getpid()) + name))
      .string();
}

TEST(FileLock, OneHolderAtATimeAndFreeAgainAfterwards) {
  const auto path = temporary(".lock");
  {
    const auto first = platform::FileLock::try_acquire(path);
    ASSERT_TRUE(first.has_value());
    EXPECT_FALSE(platform::FileLock::try_acquire(path).has_value());
  }
  EXPECT_TRUE(platform::FileLock::try_acquire(path).has_value());  // the file that stays stops nobody
  std::filesystem::remove(path);
  EXPECT_THROW(platform::FileLock::try_acquire(temporary("_missing") + "/a.lock"), Error);
}

TEST(FileLock, RacingThreadsNeverHoldItTogether) {
  const auto path = temporary("_race.lock");
  std::atomic<int> holders{0}, most{0}, won{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        const auto lock = platform::FileLock::try_acquire(path);
        if (!lock) continue;
        const int now = ++holders;
        if (now > most) most = now;
        ++won;
        std::this_thread::yield();
        --holders;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(most, 1);
  EXPECT_GT(won, 0);
  std::filesystem::remove(path);
}

TEST(File, ReportsPathAndReason) {
  const auto path = temporary("_none");
  try {
    platform::File::open_read(path);
    ADD_FAILURE() << "opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kNotFound);
    EXPECT_NE(std::string(error.what()).find(path), std::string::npos);
  }
  EXPECT_THROW(platform::File::open_read(std::filesystem::temp_directory_path().string()),
               Error);  // a folder
}

TEST(File, WritesFromSeveralThreadsCountTheWholeFile) {
  const auto path = temporary("_write");
  {
    platform::File file = platform::File::create(path);
    std::vector<std::thread> threads;
    for (std::uint64_t t = 0; t < 4; ++t) {
      threads.emplace_back([&file, t] {
        const char byte = static_cast<char>('a' + t);
        for (std::uint64_t i = 0; i < 1000; ++i) file.write_at(4 * i + t, &byte, 1);
      });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(file.size(), 4000u);
    file.close_checked();
  }
  char four[4];
  EXPECT_EQ(platform::File::open_read(path).read_at(3996, four, 4), 4u);
  EXPECT_EQ(std::string(four, 4), "abcd");
  std::filesystem::remove(path);
}

TEST(File, ALinkIsASecondNameAndReplacesWhatWasThere) {
  const auto from = temporary("_from"), to = temporary("_to");
  const auto write = [](const std::string& path, const std::string& text) {
    platform::File file = platform::File::create(path);
    file.write_at(0, text.data(), text.size());
  };
  write(from, "points");
  write(to, "old");
  for (int twice = 0; twice < 2; ++twice) {
    EXPECT_TRUE(platform::link_file(from, to));
    EXPECT_TRUE(std::filesystem::equivalent(from, to));
    EXPECT_EQ(std::filesystem::hard_link_count(from), 2U);
  }
  EXPECT_TRUE(platform::link_file(from, from));
  std::filesystem::remove(from);
  EXPECT_EQ(platform::File::open_read(to).size(), 6U);
  try {
    platform::link_file(from, to);
    FAIL() << "linked what is not there";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kNotFound);
  }
  EXPECT_EQ(platform::File::open_read(to).size(), 6U);  // what was there stays
  std::filesystem::remove(to);
}

}  // namespace
}  // namespace pc
