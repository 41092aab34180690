#include "support/worst_shapes.h"

#include <gtest/gtest.h>

#include <chrono>

#include "support/cancel.h"
#include "support/columns.h"
#include "support/cpu_time.h"

namespace pc {
namespace {

using test::shape_cloud;
using test::worst_shapes;

double cpu_seconds(const test::ShapeOp& op, const test::ShapeCloud& cloud) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 1);
  return test::least_cpu_seconds(2, [&] { op.run(cloud, ctx); });
}

/// Clouds whose points share few places made the noise method `auto` quadratic: 400 times the time of these, and more.
TEST(WorstShapes, PointsAtFewPlacesCostNoMoreThanOthers) {
  for (const auto& op : test::shape_ops()) {
    const double plain = cpu_seconds(op, shape_cloud(worst_shapes()[0], 20'000));
    for (const auto& shape : worst_shapes()) {
      const std::string name = shape.name;
      if (name != "one place" && name != "two places") continue;
      EXPECT_LT(cpu_seconds(op, shape_cloud(shape, 20'000)), 4 * plain + 0.25) << op.name << ", " << name;
    }
  }
}

TEST(WorstShapes, EveryOpIsCanceledInTime) {
  std::uint64_t number = 0;
  int caught = 0;
  for (const auto& shape : worst_shapes()) {
    const test::ShapeCloud cloud = shape_cloud(shape, 50'000);
    for (const auto& op : test::shape_ops()) {
      const std::uint64_t before = bulk_bytes_in_use();
      const auto delay = std::chrono::microseconds(static_cast<int>(20'000 * random_unit(7, ++number)));
      const auto run = [&](OpContext& ctx) {
        try {
          op.run(cloud, ctx);
        } catch (const Error& error) {
          if (error.code() == ErrorCode::kCanceled) throw;  // an op may refuse a shape
        }
      };
      const double seconds =
          test::least_cancel_latency(run, {"", 0, delay, 1 + static_cast<int>(number % 2)});
      caught += seconds >= 0 ? 1 : 0;
      EXPECT_LT(seconds, test::kCancelSeconds)
          << op.name << ", " << shape.name << ", after " << delay.count() << " us";
      EXPECT_EQ(bulk_bytes_in_use(), before) << op.name << ", " << shape.name;
    }
  }
  EXPECT_GT(caught, 40);  // of 195
}

}  // namespace
}  // namespace pc
