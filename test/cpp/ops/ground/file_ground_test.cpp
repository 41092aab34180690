// Ground by the classes of a file.
#include "ops/ground/file_ground.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/error.h"
#include "support/columns.h"

namespace {

using namespace pc;

struct Once {
  JobControl control;
  OpContext ctx;
  explicit Once(int threads = 1) : ctx(control, Device::kCpu, threads) {}
};

std::vector<std::uint8_t> listed(const Column<std::uint8_t>& column) {
  std::vector<std::uint8_t> out;
  for (std::size_t i = 0; i < column.size(); ++i) out.push_back(column[i]);
  return out;
}

using Labels = std::vector<std::uint8_t>;

TEST(FileGround, TakesTheClassesAndLeavesOutWhatIsSkippedOrNowhere) {
  Once run;
  const double nan = std::nan("");
  const std::vector<Vec3d> points{{0, 0, 0}, {1, 0, 0}, {2, 0, nan}, {3, 0, 0}, {4, 0, 0}, {1e300, 0, 0}};
  const Labels skip{0, 0, 0, 1, 0, 0}, wanted{2, 9};
  const std::vector<double> classes{2, 9.2, 2, 2, 5, 2};
  const FileGround found = ground_of_file({points.data(), points.size()}, {skip.data(), skip.size()},
                                          test::column_of(classes), {wanted.data(), wanted.size()}, run.ctx);
  EXPECT_EQ(listed(found.ground_class), (Labels{1, 1, 2, 0, 2, 1}));
  EXPECT_EQ(found.ground_count, 3U);
  EXPECT_EQ(found.plant_count, 2U);
}

TEST(FileGround, ValuesThatAreNoClassesAreNone) {
  Once run;
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> classes{-1, 256, 1e300, -inf, inf, std::nan(""), 0, 255, -0.2, 255.4};
  const std::vector<Vec3d> points(classes.size(), Vec3d{0, 0, 0});
  const Labels wanted{0, 255};
  const FileGround found = ground_of_file({points.data(), points.size()}, {}, test::column_of(classes),
                                          {wanted.data(), wanted.size()}, run.ctx);
  EXPECT_EQ(listed(found.ground_class), (Labels{2, 2, 2, 2, 2, 2, 1, 1, 1, 1}));
  const auto counts =
      labels_by_class({listed(found.ground_class).data(), classes.size()}, test::column_of(classes), run.ctx);
  EXPECT_EQ(counts[0].ground, 2U);
  EXPECT_EQ(counts[255].ground, 2U);
  std::uint64_t all = 0;
  for (const ClassLabels& one : counts) all += one.ground + one.plant;
  EXPECT_EQ(all, 4U);
}

TEST(FileGround, ManyRowsForAnyNumberOfThreads) {
  constexpr std::size_t kRows = 1'000'000;
  std::vector<Vec3d> points(kRows, Vec3d{5e6, 0, 1});
  std::vector<std::uint8_t> classes(kRows), labels(kRows);
  for (std::size_t i = 0; i < kRows; ++i) {
    classes[i] = static_cast<std::uint8_t>(i % 7);
    labels[i] = static_cast<std::uint8_t>(i % 3);
  }
  const Labels wanted{2};
  for (const int threads : {1, 2, 5}) {
    Once run(threads);
    const AnyColumn column = test::column_of(classes);
    const FileGround found =
        ground_of_file({points.data(), kRows}, {}, column, {wanted.data(), wanted.size()}, run.ctx);
    EXPECT_EQ(found.ground_count, kRows / 7) << threads;
    EXPECT_EQ(found.ground_count + found.plant_count, kRows);
    const auto counts = labels_by_class({labels.data(), kRows}, column, run.ctx);
    std::uint64_t ground = 0, plant = 0;
    for (const ClassLabels& one : counts) {
      ground += one.ground;
      plant += one.plant;
    }
    EXPECT_EQ(ground, kRows / 3);
    EXPECT_EQ(plant, kRows / 3);
    EXPECT_EQ(counts[6].ground + counts[6].plant, (kRows / 7) * 2 / 3);
  }
}

TEST(FileGround, LengthsMustFit) {
  Once run;
  const std::vector<Vec3d> points(3, Vec3d{0, 0, 0});
  const Labels two{1, 2}, three{1, 2, 0};
  const AnyColumn column = test::column_of(two);
  const auto ground = [&](Span<const std::uint8_t> skip, const AnyColumn& classes) {
    return ground_of_file({points.data(), points.size()}, skip, classes, {two.data(), 1}, run.ctx);
  };
  EXPECT_THROW(ground({}, column), Error);
  EXPECT_THROW(ground({two.data(), 2}, test::column_of(three)), Error);
  EXPECT_THROW(labels_by_class({three.data(), 3}, column, run.ctx), Error);
}

}  // namespace
