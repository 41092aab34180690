#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/cloud/miss_detection.h"
#include "ops/cloud/project_misses.h"
#include "ops/cloud/select_hits.h"
#include "support/spacing_clouds.h"

namespace pc {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

template <class T>
AnyColumn column_of(const std::vector<T>& values) {
  Column<T> column(values.size());
  std::copy(values.begin(), values.end(), column.view().begin());
  return AnyColumn(std::move(column));
}

std::vector<std::uint8_t> to_vector(const Column<std::uint8_t>& column) {
  return {column.view().begin(), column.view().end()};
}

template <class T>
Span<const T> span_of(const std::vector<T>& values) {
  return {values.data(), values.size()};
}

class HitsAndMisses : public testing::TestWithParam<int> {
 protected:
  JobControl control;
  OpContext ctx{control, Device::kCpu, GetParam()};
};

TEST_P(HitsAndMisses, MaskJoinsMissesAndDeletedRows) {
  const AnyColumn is_miss = column_of<float>({0, 1, 0, static_cast<float>(kNaN), -0.0F, 0.5F});
  const HitMask mask = hit_mask(6, &is_miss, span_of<std::uint8_t>({0, 0, 9, 1, 0, 0}), ctx);
  EXPECT_EQ(to_vector(mask.skip), (std::vector<std::uint8_t>{0, 1, 2, 3, 0, 1}));
  EXPECT_EQ(mask.hit_count, 2U);
  EXPECT_EQ(mask.miss_count, 3U);
  EXPECT_EQ(mask.deleted_count, 2U);
  const HitMask none = hit_mask(3, nullptr, {}, ctx);
  EXPECT_EQ(none.hit_count, 3U);
  EXPECT_EQ(hit_mask(0, nullptr, {}, ctx).hit_count, 0U);
}

TEST_P(HitsAndMisses, MaskTakesEveryScalarTypeAndNoOther) {
  for (const DType type : {DType::kU8, DType::kI8, DType::kU16, DType::kI16, DType::kU32, DType::kI32,
                           DType::kU64, DType::kI64, DType::kF32, DType::kF64}) {
    const AnyColumn zeros(type, 5);
    EXPECT_EQ(hit_mask(5, &zeros, {}, ctx).miss_count, 0U) << dtype_name(type);
  }
  const AnyColumn triples(DType::kVec3d, 5), five(DType::kU8, 5);
  EXPECT_THROW(hit_mask(5, &triples, {}, ctx), Error);
  EXPECT_THROW(hit_mask(4, &five, {}, ctx), Error);
  EXPECT_THROW(hit_mask(4, nullptr, five.as<std::uint8_t>(), ctx), Error);
}

TEST_P(HitsAndMisses, SelectionGathersAndScattersBack) {
  constexpr std::size_t kRows = 200'000;
  std::vector<Vec3d> points;
  std::vector<std::uint8_t> skip;
  for (std::size_t i = 0; i < kRows; ++i) {
    points.push_back(test::random_point(3, i));
    skip.push_back(random_u64(4, i) % 3 == 0 ? 2 : 0);
  }
  const HitSelection hits = select_hits(span_of(points), span_of(skip), ctx);
  EXPECT_FALSE(hits.all_rows());
  std::size_t at = 0;
  for (std::size_t i = 0; i < kRows; ++i) {
    if (skip[i] != 0) continue;
    ASSERT_LT(at, hits.size());
    ASSERT_EQ(hits.points().xyz()[at], points[i]);
    ASSERT_EQ(hits.row(at), i);
    ++at;
  }
  EXPECT_EQ(hits.size(), at);
  EXPECT_EQ(hits.source_index().dtype(), DType::kU32);

  std::vector<std::uint8_t> labels(hits.size(), 7), rows(kRows, 1);
  scatter_to_rows<std::uint8_t>(hits, span_of(labels), {rows.data(), rows.size()}, ctx);
  for (std::size_t i = 0; i < kRows; ++i) ASSERT_EQ(rows[i], skip[i] == 0 ? 7 : 1);
}

TEST_P(HitsAndMisses, ValuesOfHitsComeBackToAllRows) {
  constexpr std::size_t kRows = 600'000;
  const std::vector<Vec3d> points(kRows);
  std::vector<std::uint8_t> skip(kRows);
  for (std::size_t i = 0; i < kRows; ++i) skip[i] = random_u64(4, i) % 3 == 0 ? kSkipMiss : 0;
  const HitSelection hits = select_hits(span_of(points), span_of(skip), ctx);
  Column<float> values(hits.size());
  for (std::size_t i = 0; i < hits.size(); ++i) values[i] = static_cast<float>(hits.row(i));
  const Column<float> rows = on_all_rows(hits, std::move(values), kRows, -1.0F, ctx);
  ASSERT_EQ(rows.size(), kRows);
  for (std::size_t i = 0; i < kRows; ++i) ASSERT_EQ(rows[i], skip[i] == 0 ? static_cast<float>(i) : -1.0F);

  const HitSelection all = select_hits(span_of(points), {}, ctx);
  const Column<float> same = on_all_rows(all, Column<float>(kRows), kRows, -1.0F, ctx);
  EXPECT_EQ(same[0], 0.0F);
}

TEST_P(HitsAndMisses, TheOverlayHoldsTheMissesThatAreNotDeleted) {
  std::vector<Vec3d> points;
  AnyColumn is_miss(DType::kU8, 90'000);
  std::vector<std::uint8_t> deleted(is_miss.size());
  std::vector<Vec3d> wanted;
  for (std::size_t i = 0; i < is_miss.size(); ++i) {
    points.push_back(test::random_point(3, i) * 10.0 + Vec3d{1, 1, 1});
    is_miss.as_mutable<std::uint8_t>()[i] = i % 3 == 0 ? 1 : 0;
    deleted[i] = i % 5 == 0 ? 1 : 0;
    if (i % 3 == 0 && i % 5 != 0) wanted.push_back(points[i]);
  }
  const Column<Vec3d> where_they_are =
      miss_overlay(span_of(points), &is_miss, span_of(deleted), {}, std::nullopt, ctx);
  ASSERT_EQ(where_they_are.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) ASSERT_EQ(where_they_are[i], wanted[i]);

  const Vec3d origin{0, 0, 0};
  std::vector<Vec3d> hits;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (i % 3 != 0 && i % 5 != 0) hits.push_back(points[i]);
  const double radius = miss_shell_radius(HitPoints::assume_hits(span_of(hits)), origin, ctx);
  const ProjectMissesResult projected = project_misses(span_of(wanted), origin, radius, ctx);
  const Column<Vec3d> on_shell = miss_overlay(span_of(points), &is_miss, span_of(deleted), {}, origin, ctx);
  ASSERT_EQ(on_shell.size(), projected.positions.size());
  for (std::size_t i = 0; i < on_shell.size(); ++i) ASSERT_EQ(on_shell[i], projected.positions[i]);

  const std::vector<Vec3d> recovered{{0, 0, 20'000}, {0, 0, 0}};  // the second one has no direction
  const Column<Vec3d> both =
      miss_overlay(span_of(points), &is_miss, {}, span_of(recovered), std::nullopt, ctx);
  ASSERT_EQ(both.size(), 30'002U);
  EXPECT_EQ(both[30'000], recovered[0]);
  const Column<Vec3d> only = miss_overlay(span_of(points), nullptr, {}, span_of(recovered), origin, ctx);
  ASSERT_EQ(only.size(), 1U);
  EXPECT_DOUBLE_EQ(only[0].z, miss_shell_radius(HitPoints::assume_hits(span_of(points)), origin, ctx));
}

TEST_P(HitsAndMisses, SelectionOfEverythingCopiesNothing) {
  const std::vector<Vec3d> points{{1, 2, 3}, {4, 5, 6}};
  for (const auto& skip : {std::vector<std::uint8_t>{}, std::vector<std::uint8_t>{0, 0}}) {
    const HitSelection hits = select_hits(span_of(points), span_of(skip), ctx);
    EXPECT_TRUE(hits.all_rows());
    EXPECT_EQ(hits.points().xyz().data, points.data());
    EXPECT_EQ(hits.row(1), 1U);
  }
  EXPECT_EQ(select_hits(span_of(points), span_of<std::uint8_t>({1, 1}), ctx).size(), 0U);
  EXPECT_EQ(select_hits({}, {}, ctx).size(), 0U);
  EXPECT_THROW(select_hits(span_of(points), span_of<std::uint8_t>({1}), ctx), Error);
}

TEST_P(HitsAndMisses, FlagsOfTheFileWin) {
  const std::vector<Vec3d> points{{0, 0, 0}, {5000, 0, 0}, {1, 0, 0}};
  const AnyColumn flags = column_of<float>({0, 0, 2}), zeros = column_of<float>({0, 0, 0});
  const AnyColumn echo = column_of<std::uint8_t>({99, 1, 1});
  MissDetectionInput input{span_of(points), &flags, &echo, Vec3d{0, 0, 0}, {}};
  const MissDetectionResult own = detect_misses(input, {1001}, ctx);
  EXPECT_EQ(own.source, MissSource::kColumn);
  EXPECT_EQ(to_vector(own.is_miss), (std::vector<std::uint8_t>{0, 0, 1}));
  EXPECT_EQ(own.miss_count, 1U);
  input.is_miss = &zeros;
  const MissDetectionResult found = detect_misses(input, {1001}, ctx);
  EXPECT_EQ(found.source, MissSource::kDetected);
  EXPECT_EQ(to_vector(found.is_miss), (std::vector<std::uint8_t>{1, 1, 0}));
  EXPECT_EQ(found.target_index_count, 1U);
  EXPECT_EQ(found.distance_count, 1U);
  EXPECT_EQ(found.miss_count, 2U);
}

TEST_P(HitsAndMisses, DistanceCountsFrom98PercentOfTheFarRange) {
  const double limit = 0.98 * 1001;
  const std::vector<Vec3d> points{
      {limit, 0, 0}, {std::nextafter(limit, 0), 0, 0}, {0, 0, -1e200}, {kNaN, 0, 1e9}, {0, 2000, 0}};
  MissDetectionInput input{span_of(points), nullptr, nullptr, Vec3d{0, 0, 0}, {}};
  EXPECT_EQ(to_vector(detect_misses(input, {1001}, ctx).is_miss), (std::vector<std::uint8_t>{1, 0, 1, 0, 1}));
  const std::vector<Vec3d> origins{{limit, 0, 0}, {5000, 0, 0}, {kNaN, 0, 0}, {0, 0, 0}, {0, 2000, 0}};
  input.beam_origins = span_of(origins);  // instead of the one origin
  EXPECT_EQ(to_vector(detect_misses(input, {1001}, ctx).is_miss), (std::vector<std::uint8_t>{0, 1, 0, 0, 0}));
}

TEST_P(HitsAndMisses, NothingKnownMeansNoMisses) {
  const std::vector<Vec3d> points{{5000, 0, 0}};
  const MissDetectionResult result = detect_misses({span_of(points), nullptr, nullptr, {}, {}}, {1001}, ctx);
  EXPECT_EQ(result.source, MissSource::kNone);
  EXPECT_EQ(result.miss_count, 0U);
  EXPECT_EQ(result.is_miss.size(), 0U);
  EXPECT_THROW(detect_misses({span_of(points), nullptr, nullptr, {}, {}}, {0}, ctx), Error);
  EXPECT_THROW(detect_misses({span_of(points), nullptr, nullptr, {}, {}}, {kNaN}, ctx), Error);
}

TEST_P(HitsAndMisses, MissesLieOnAShellAroundTheOrigin) {
  const Vec3d origin{5e5, 4.5e6, 100};
  const std::vector<Vec3d> hits{origin + Vec3d{3, 4, 0}, origin + Vec3d{0, 0, -10}, {kNaN, 0, 0}};
  const double radius = miss_shell_radius(HitPoints::assume_hits(span_of(hits)), origin, ctx);
  EXPECT_EQ(radius, 14.0);
  std::vector<Vec3d> misses;
  for (std::size_t i = 0; i < 70'000; ++i) {
    const Vec3d u = test::random_point(9, i) - Vec3d{0.5, 0.5, 0.5};
    misses.push_back(i % 5 == 0 ? origin : origin + u * 20'000.0);
  }
  misses.push_back({kNaN, 1, 1});
  const ProjectMissesResult result = project_misses(span_of(misses), origin, radius, ctx);
  EXPECT_EQ(result.dropped_count, 14'001U);
  std::size_t at = 0;
  for (std::size_t i = 0; i + 1 < misses.size(); ++i) {
    if (i % 5 == 0) continue;
    const Vec3d d = result.positions[at++] - origin, wanted = misses[i] - origin;
    // Coordinates of 4.5e6 m keep 1e-9 m.
    ASSERT_NEAR(std::sqrt(squared_distance(d, {0, 0, 0})), radius, 1e-8);
    ASSERT_NEAR((d.x * wanted.x + d.y * wanted.y + d.z * wanted.z) / radius /
                    std::sqrt(squared_distance(wanted, {0, 0, 0})),
                1.0, 1e-9);
  }
  EXPECT_EQ(at, result.positions.size());
}

TEST_P(HitsAndMisses, ShellWithoutHitsHasRadiusOne) {
  const Vec3d origin{1, 2, 3};
  EXPECT_EQ(miss_shell_radius(HitPoints::assume_hits({}), origin, ctx), 1.0);
  EXPECT_EQ(miss_shell_radius(HitPoints::assume_hits({&origin, 1}), origin, ctx), 1.0);
  const std::vector<Vec3d> misses{{1 + 1e-9 / 2, 2, 3}, {1, 2, 3 + 3e-9}};
  const ProjectMissesResult result = project_misses(span_of(misses), origin, 1.0, ctx);
  ASSERT_EQ(result.positions.size(), 1U);
  EXPECT_EQ(result.positions[0], (Vec3d{1, 2, 4}));
  EXPECT_THROW(project_misses(span_of(misses), {kNaN, 0, 0}, 1.0, ctx), Error);
  EXPECT_THROW(project_misses(span_of(misses), origin, 0.0, ctx), Error);
}

TEST_P(HitsAndMisses, EveryOpSeesACancel) {
  const std::vector<Vec3d> points{{1, 2, 3}};
  const std::vector<std::uint8_t> skip{1};
  control.cancel_requested = true;
  EXPECT_THROW(hit_mask(1, nullptr, {}, ctx), Error);
  EXPECT_THROW(select_hits(span_of(points), span_of(skip), ctx), Error);
  EXPECT_THROW(detect_misses({span_of(points), nullptr, nullptr, {}, {}}, {1001}, ctx), Error);
  EXPECT_THROW(miss_shell_radius(HitPoints::assume_hits(span_of(points)), {0, 0, 0}, ctx), Error);
  EXPECT_THROW(project_misses(span_of(points), {0, 0, 0}, 1.0, ctx), Error);
  const AnyColumn one(DType::kU8, 1);
  EXPECT_THROW(miss_overlay(span_of(points), &one, {}, {}, std::nullopt, ctx), Error);
}

INSTANTIATE_TEST_SUITE_P(Threads, HitsAndMisses, testing::Values(1, 4));

}  // namespace
}  // namespace pc
