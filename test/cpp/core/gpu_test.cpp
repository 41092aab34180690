#include "core/gpu.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

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

}  // namespace
}  // namespace pc
