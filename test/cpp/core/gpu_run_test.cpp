#include "core/gpu_run.h"

#include <gtest/gtest.h>

#include <cstdio>

namespace pc {
namespace {

GpuStatus probe_with_device(GpuProbe* out, GpuError* error) {
  *out = GpuProbe{1, 13010, 13000, 90, std::uint64_t{80} << 30, "Test device"};
  error->text[0] = '\0';
  return GpuStatus::kOk;
}

const GpuTable kDevice{kGpuAbiVersion, sizeof(GpuTable), probe_with_device, nullptr, nullptr,
                       nullptr,        nullptr};

class GpuRunTest : public testing::Test {
 protected:
  void TearDown() override { gpu_install(nullptr, "the test is over"); }

  /// Three calls that end with `status`; how many were made, and what each answered.
  void run_three(Device device, GpuStatus status) {
    OpContext ctx(control, device, 1);
    GpuRun gpu(ctx, "Testing", warnings);
    usable = gpu.usable();
    for (int i = 0; i < 3; ++i) {
      done += gpu.run([&](const GpuTable& table, const GpuControl& given, GpuError& error) {
        ++calls;
        EXPECT_EQ(&table, &kDevice);
        EXPECT_EQ(given.canceled(given.user), status == GpuStatus::kCanceled);
        std::snprintf(error.text, sizeof error.text, "the GPU has no memory left");
        return status;
      });
    }
  }

  JobControl control;
  std::vector<std::string> warnings;
  bool usable = false;
  int calls = 0, done = 0;
};

TEST_F(GpuRunTest, DoesEveryCallOnTheDevice) {
  gpu_install(&kDevice, "");
  run_three(Device::kCuda, GpuStatus::kOk);
  EXPECT_TRUE(usable);
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(done, 3);
  EXPECT_TRUE(warnings.empty());
}

TEST_F(GpuRunTest, AsksADeviceThatFailedNoSecondTime) {
  for (const GpuStatus status : {GpuStatus::kOutOfMemory, GpuStatus::kFailed}) {
    gpu_install(&kDevice, "");
    calls = done = 0;
    warnings.clear();
    run_three(Device::kCuda, status);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(done, 0);
    EXPECT_EQ(warnings, std::vector<std::string>{"Testing ran on the CPU: the GPU has no memory left"});
  }
}

TEST_F(GpuRunTest, SaysWhyThereIsNoDevice) {
  gpu_install(nullptr, "no driver here");
  run_three(Device::kCuda, GpuStatus::kOk);
  EXPECT_FALSE(usable);
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(warnings, std::vector<std::string>{"Testing ran on the CPU: no driver here"});
}

TEST_F(GpuRunTest, AContextOfTheCpuAsksNothing) {
  gpu_install(&kDevice, "");
  run_three(Device::kCpu, GpuStatus::kOk);
  EXPECT_FALSE(usable);
  EXPECT_EQ(calls, 0);
  EXPECT_TRUE(warnings.empty());
}

TEST_F(GpuRunTest, ACancelIsNoReasonForTheCpu) {
  gpu_install(&kDevice, "");
  control.cancel_requested = true;
  EXPECT_THROW(run_three(Device::kCuda, GpuStatus::kCanceled), Error);
  EXPECT_LE(calls, 1);
  EXPECT_TRUE(warnings.empty());
}

}  // namespace
}  // namespace pc
