#include "core/parallel_select.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace pc {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double selected(const std::vector<double>& values, int threads, double share) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return select_non_negative(Span<const double>{values.data(), values.size()}, ctx, [&](std::size_t count) {
    return static_cast<std::size_t>(share * static_cast<double>(count - 1));
  });
}

double sorted_out(std::vector<double> values, double share) {
  values.erase(std::remove_if(values.begin(), values.end(), [](double v) { return !(v >= 0); }),
               values.end());
  if (values.empty()) return -1;
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

void expect_as_sorted(const std::vector<double>& values) {
  for (const double share : {0.0, 0.2, 0.5, 0.999, 1.0})
    for (const int threads : {1, 3})
      EXPECT_EQ(selected(values, threads, share), sorted_out(values, share)) << values.size() << " " << share;
}

TEST(ParallelSelect, GivesTheValueOfASort) {
  std::mt19937_64 random(3);
  for (const std::size_t count : {1U, 2U, 1000U, 32767U, 32768U, 200'000U}) {
    std::vector<double> values(count);
    for (double& value : values) value = std::exp(std::normal_distribution<double>(0, 4)(random));
    expect_as_sorted(values);
  }
}

TEST(ParallelSelect, LeavesOutWhatIsNegativeOrNoNumber) {
  std::mt19937_64 random(4);
  for (const std::size_t count : {500U, 100'000U}) {
    std::vector<double> values(count);
    for (std::size_t i = 0; i < count; ++i)
      values[i] = i % 3 == 0   ? -1
                  : i % 3 == 1 ? std::nan("")
                               : std::uniform_real_distribution<double>(0, 1)(random);
    expect_as_sorted(values);
    for (double& value : values) value = -value;
    expect_as_sorted(std::vector<double>(count, -1.0));
    expect_as_sorted(std::vector<double>(count, std::nan("")));
  }
}

TEST(ParallelSelect, TakesAnyRangeOfValues) {
  for (const std::size_t count : {300U, 90'000U}) {
    std::vector<double> values(count, 0.25);
    expect_as_sorted(values);
    for (std::size_t i = 0; i < count; ++i)
      values[i] = i % 4 == 0   ? kInfinity
                  : i % 4 == 1 ? 5e-324 * static_cast<double>(i)
                  : i % 4 == 2 ? -0.0
                               : 1e308;
    expect_as_sorted(values);
    expect_as_sorted(std::vector<double>(count, kInfinity));
  }
}

TEST(ParallelSelect, StopsWhenCanceled) {
  const std::vector<double> values(100'000, 1.0);
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  control.cancel_requested = true;
  const Span<const double> view{values.data(), values.size()};
  EXPECT_ANY_THROW(select_non_negative(view, ctx, [](std::size_t) { return std::size_t{0}; }));
}

}  // namespace
}  // namespace pc
