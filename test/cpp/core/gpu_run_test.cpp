#include "core/gpu_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

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

TEST_F(GpuRunTest, BelievesNoDeviceWhoseResultsAreNotTheCpus) {
  gpu_install(&kDevice, "");
  OpContext ctx(control, Device::kCuda, 1);
  GpuRun gpu(ctx, "Testing", warnings);
  const auto call = [](const GpuTable&, const GpuControl&, GpuError&) { return GpuStatus::kOk; };
  EXPECT_TRUE(gpu.run(call, [] { return true; }));
  EXPECT_FALSE(gpu.run(call, [] { return false; }));
  EXPECT_FALSE(gpu.usable());
  EXPECT_EQ(warnings, std::vector<std::string>{
                          "Testing ran on the CPU: the GPU gave other results than the CPU for a sample"});
}

TEST(GpuSample, IsSpreadOverAllResultsWithTheLast) {
  for (const std::size_t n : {0U, 1U, 255U, 256U, 257U, 100'003U}) {
    std::vector<std::size_t> asked;
    EXPECT_TRUE(sample_agrees(n, [&](std::size_t i) { return asked.push_back(i), true; }));
    ASSERT_EQ(asked.size(), std::min<std::size_t>(n, kGpuSample));
    for (std::size_t k = 1; k < asked.size(); ++k) ASSERT_LE(asked[k] - asked[k - 1], n / kGpuSample + 1);
    if (n == 0) continue;
    EXPECT_EQ(asked.back(), n - 1);
    EXPECT_FALSE(sample_agrees(n, [&](std::size_t i) { return i != asked[asked.size() / 2]; }));
  }
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
