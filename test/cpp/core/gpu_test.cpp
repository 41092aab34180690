#include "core/gpu.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "core/parallel.h"
#include "core/platform.h"

namespace pc {
namespace {

namespace fs = std::filesystem;

class TempFolder {
 public:
  TempFolder()
      : path_(
            fs::temp_directory_path() /
            ("pc_gpu_test_" + std::to_string(std::chrono::steady_clock::now().time_since_epoch().count()))) {
    fs::create_directories(path_);
  }
  ~TempFolder() { fs::remove_all(path_); }
  std::string file(const char* name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

GpuStatus probe_without_device(GpuProbe* out, GpuError* error) {
  *out = GpuProbe{};
  out->driver_version = 12040;
  out->runtime_version = 13000;
  std::snprintf(error->text, sizeof error->text, "CUDA driver version is insufficient");
  return GpuStatus::kFailed;
}

GpuStatus probe_with_device(GpuProbe* out, GpuError* error) {
  *out = GpuProbe{2, 13010, 13000, 90, std::uint64_t{80} << 30, "Test device"};
  error->text[0] = '\0';
  return GpuStatus::kOk;
}

GpuStatus probe_that_says_nothing(GpuProbe* out, GpuError* error) {
  *out = GpuProbe{};
  error->text[0] = '\0';
  return GpuStatus::kOk;
}

GpuStatus memory_of_80_gib(std::uint64_t* free_bytes, std::uint64_t* total_bytes, GpuError*) {
  *free_bytes = std::uint64_t{60} << 30;
  *total_bytes = std::uint64_t{80} << 30;
  return GpuStatus::kOk;
}

GpuTable table_with(GpuStatus (*probe)(GpuProbe*, GpuError*)) {
  return {kGpuAbiVersion, sizeof(GpuTable), probe, memory_of_80_gib, nullptr, nullptr, nullptr};
}

TEST(Gpu, ReasonWhenTheDriverIsTooOld) {
  const GpuTable table = table_with(probe_without_device);
  gpu_install(&table, "");
  EXPECT_EQ(gpu_table(), nullptr);
  EXPECT_EQ(gpu_reason(), "CUDA driver version is insufficient");
  EXPECT_FALSE(gpu_memory().has_value());
  const GpuInfo info = gpu_info();
  EXPECT_FALSE(info.present);
  EXPECT_EQ(info.device_count, 0);
  EXPECT_EQ(info.driver_version, "12.4");
  EXPECT_EQ(info.runtime_version, "13.0");
  gpu_install(nullptr, "the test is over");
}

TEST(Gpu, AUsableDeviceHasNoReason) {
  const GpuTable table = table_with(probe_with_device);
  gpu_install(&table, "");
  EXPECT_EQ(gpu_table(), &table);
  const GpuInfo info = gpu_info();
  EXPECT_TRUE(info.present);
  EXPECT_EQ(info.device_count, 2);
  EXPECT_EQ(info.name, "Test device");
  EXPECT_EQ(info.driver_version, "13.1");
  EXPECT_EQ(info.total_bytes, std::uint64_t{80} << 30);
  EXPECT_EQ(info.reason, "");
  ASSERT_TRUE(gpu_memory().has_value());
  EXPECT_EQ(gpu_memory()->free_bytes, std::uint64_t{60} << 30);
  gpu_install(nullptr, "the test is over");
}

TEST(Gpu, NoDeviceAlwaysHasAReason) {
  const GpuTable table = table_with(probe_that_says_nothing);
  gpu_install(&table, "");
  EXPECT_EQ(gpu_table(), nullptr);
  EXPECT_FALSE(gpu_reason().empty());
  gpu_install(nullptr, "the test is over");
}

TEST(OpenLibrary, MissingAndBrokenFilesAreReasons) {
  const TempFolder folder;
  std::string reason;
  EXPECT_EQ(platform::open_library(folder.file("absent.so"), reason), nullptr);
  EXPECT_NE(reason.find("absent.so"), std::string::npos) << reason;

  const std::string broken = folder.file("broken.so");
  std::ofstream(broken)
      << "this is no library, but long enough to be looked at as if it were one, byte after byte";
  reason.clear();
  EXPECT_EQ(platform::open_library(broken, reason), nullptr);
  EXPECT_NE(reason.find("broken.so"), std::string::npos) << reason;

  std::ofstream(broken, std::ios::trunc).close();
  reason.clear();
  EXPECT_EQ(platform::open_library(broken, reason), nullptr);
  EXPECT_FALSE(reason.empty());
}

TEST(GpuSlot, OneAtATimeAndCancelEndsTheWait) {
  JobControl first_control, second_control;
  OpContext first(first_control), second(second_control);
  ErrorCode code = ErrorCode::kInternal;
  {
    const GpuSlot slot(first);
    std::thread waiting([&] {
      try {
        const GpuSlot never(second);
      } catch (const Error& e) {
        code = e.code();
      }
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    second_control.cancel_requested = true;
    waiting.join();
  }
  EXPECT_EQ(code, ErrorCode::kCanceled);
  second_control.cancel_requested = false;
  const GpuSlot now(second);  // free again
}

TEST(GpuControl, CopiesEveryByteWithAnyTeam) {
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{1} << 20, (std::size_t{3} << 20) + 7}) {
    std::vector<unsigned char> from(size + 1);
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<unsigned char>(i * 7919 >> 8);
    for (const int threads : {1, 3, 8}) {
      JobControl job;
      OpContext ctx(job, Device::kCuda, threads);
      const GpuControl control = gpu_control(ctx);
      std::vector<unsigned char> to(size + 1, 0xaa);
      control.copy(control.user, to.data(), from.data(), size);
      EXPECT_TRUE(std::equal(from.begin(), from.end() - 1, to.begin())) << size << " " << threads;
      EXPECT_EQ(to.back(), 0xaa);
      std::atomic<int> wrong{0};
      run_team(2, [&](int) {  // a worker of a team copies alone
        std::vector<unsigned char> own(size + 1);
        control.copy(control.user, own.data(), from.data(), size);
        wrong += std::equal(from.begin(), from.end() - 1, own.begin()) ? 0 : 1;
      });
      EXPECT_EQ(wrong, 0);
      EXPECT_FALSE(take_team_shortage());
    }
  }
}

TEST(GpuSlot, CallsOfOneKindRunSideBySideAndNeverHoldUpAnother) {
  JobControl control;
  OpContext ctx(control);
  std::atomic<int> inside{0}, most{0};
  std::atomic<bool> alone{false}, done{false};
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k)
    threads.emplace_back([&] {
      while (!done) {
        const GpuSlot slot(ctx, GpuShare::kBeside);
        EXPECT_FALSE(alone);
        const int now = ++inside;
        for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) continue;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        --inside;
      }
    });
  const auto began = std::chrono::steady_clock::now();
  for (int k = 0; k < 5; ++k) {
    const GpuSlot slot(ctx);  // though there is always a call under way
    alone = true;
    EXPECT_EQ(inside, 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_EQ(inside, 0);
    alone = false;
  }
  const auto took = std::chrono::steady_clock::now() - began;
  while (most < 2 && std::chrono::steady_clock::now() - began < std::chrono::seconds(20))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  done = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_GE(most, 2);
  EXPECT_LT(took, std::chrono::seconds(10));
}

}  // namespace
}  // namespace pc
