#include <gtest/gtest.h>

#include <cmath>

#include "io/e57_support.h"

namespace {

using namespace pc;
using namespace pc::e57_test;

io::E57Sample sample_of(const Bytes& bytes, std::size_t scan = 0, std::size_t rows = 20) {
  const ScratchFile file(text_of(bytes), ".e57");
  return with_context(1, [&](OpContext& ctx) {
    return io::read_e57_sample(file.path(), io::read_e57_header(file.path()), scan, rows, ctx);
  });
}

io::E57Sample sample_of(const Scan& scan, std::size_t rows = 20) {
  E57File file;
  file.scans = {scan};
  return sample_of(file.build(), 0, rows);
}

Scan large_scan(std::size_t points) {
  std::vector<double> x;
  std::vector<std::int64_t> tag;
  for (std::size_t i = 0; i < points; ++i) {
    x.push_back(1e7 + 0.001 * static_cast<double>(i));
    tag.push_back(static_cast<std::int64_t>(i) - 5);
  }
  Scan scan;
  scan.fields = {Field::real("cartesianX", x), Field::real("cartesianY", x), Field::real("cartesianZ", x),
                 Field::integer("tag", -5, 100000, tag)};
  return scan;
}

/// Records so wide that a block holds fewer points than a sample has rows.
Scan wide_scan(std::size_t points, std::size_t fields) {
  Scan scan;
  for (std::size_t f = 0; f < fields; ++f) {
    std::vector<double> values(points);
    for (std::size_t i = 0; i < points; ++i) values[i] = static_cast<double>(1000 * f + i);
    scan.fields.push_back(Field::real("x:field" + std::to_string(f), values));
  }
  return scan;
}

TEST(E57Sample, OfWideRecordsIsReadInBlocks) {
  constexpr std::size_t kFields = 1024, kRows = 500;
  const io::E57Sample sample = sample_of(wide_scan(kRows, kFields), io::kE57MaxSampleRows);
  ASSERT_EQ(sample.values.size(), kFields);
  for (std::size_t f = 0; f < kFields; ++f) {
    ASSERT_EQ(sample.values[f].size(), kRows);
    const auto& values = sample.values[f];
    for (std::size_t i = 0; i < kRows; ++i)
      if (values[i] != static_cast<double>(1000 * f + i)) FAIL() << f << " " << i << ": " << values[i];
  }
}

TEST(E57Sample, GivesTheFirstPointsOfAnyScan) {
  E57File file;
  file.scans = {cartesian({}), large_scan(1000)};
  const io::E57Sample sample = sample_of(file.build(), 1);
  ASSERT_EQ(sample.positions.size(), 20u);
  ASSERT_EQ(sample.values.size(), 4u);
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(sample.positions[i].x, 1e7 + 0.001 * static_cast<double>(i));
    EXPECT_EQ(sample.values[3][i], static_cast<double>(i) - 5);
  }
  EXPECT_TRUE(sample_of(file.build(), 0).positions.empty()) << "a scan without points";
  EXPECT_EQ(error_of([&] { sample_of(file.build(), 2); }).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(sample_of(large_scan(7)).positions.size(), 7u);
}

TEST(E57Sample, MovesPointsByThePoseAndLeavesMissesOut) {
  Scan scan;
  scan.fields = {
      Field::real("sphericalRange", {2, 2, 2}), Field::real("sphericalAzimuth", {0, 0, 3.14159265358979 / 2}),
      Field::real("sphericalElevation", {0, 0, 0}), Field::integer("sphericalInvalidState", 0, 2, {0, 1, 0}),
      Field::integer("intensity", -66, 66, {-66, 0, 66})};
  scan.xml = pose_xml(std::sqrt(0.5), 0, 0, std::sqrt(0.5), {10, 20, 30});  // a quarter turn to the left
  const io::E57Sample sample = sample_of(scan);
  ASSERT_EQ(sample.positions.size(), 3u);
  expect_near(sample.positions[0], {10, 22, 30}, 1e-6);
  EXPECT_FALSE(is_finite(sample.positions[1]));
  expect_near(sample.positions[2], {8, 20, 30}, 1e-5);
  EXPECT_EQ(sample.values[4], (std::vector<double>{-66, 0, 66})) << "as the file has them, not scaled";
}

TEST(E57Sample, LooksAtTheHeadOnly) {
  E57File file;
  file.scans = {large_scan(60000)};
  Bytes bytes = file.build();
  const std::size_t last_point_page = (bytes.size() / 1024 - 3) * 1024;  // the XML has the last pages
  bytes[last_point_page + 7] ^= 1;
  EXPECT_EQ(sample_of(bytes).positions.size(), 20u);
  EXPECT_EQ(error_of([&] { read_bytes(bytes); }).code(), ErrorCode::kInvalidFile) << "the damage is real";
  bytes = file.build();
  bytes[200] ^= 1;
  EXPECT_MESSAGE(error_of([&] { sample_of(bytes); }), "checksum");
}

TEST(E57Sample, OfAScanWithoutCoordinatesHasValuesOnly) {
  Scan scan;
  scan.fields = {Field::integer("intensity", 0, 9, {1, 2})};
  const io::E57Sample sample = sample_of(scan);
  ASSERT_EQ(sample.positions.size(), 2u);
  EXPECT_FALSE(is_finite(sample.positions[0]));
  EXPECT_EQ(sample.values[0], (std::vector<double>{1, 2}));
}

TEST(E57Sample, BoundsAreMovedByThePose) {
  const std::string box =
      "<cartesianBounds type=\"Structure\"><xMinimum type=\"Float\">-1</xMinimum><xMaximum "
      "type=\"Float\">3</xMaximum>"
      "<yMinimum type=\"Float\">-2</yMinimum><yMaximum type=\"Float\">2</yMaximum><zMinimum "
      "type=\"Float\">0</zMinimum><zMaximum type=\"Float\">5</zMaximum></cartesianBounds>";
  const auto bounds_of = [](const std::string& xml) {
    Scan scan = cartesian({{0, 0, 1}});
    scan.xml = xml;
    E57File file;
    file.scans = {scan};
    const ScratchFile scratch(text_of(file.build()), ".e57");
    return io::file_bounds(io::read_e57_header(scratch.path()).scans[0]);
  };
  const auto turned = bounds_of(box + pose_xml(std::sqrt(0.5), 0, 0, std::sqrt(0.5), {100, 0, 0}));
  ASSERT_TRUE(turned.has_value());
  expect_near(turned->min, {98, -1, 0}, 1e-5);
  expect_near(turned->max, {102, 3, 5}, 1e-5);
  EXPECT_FALSE(bounds_of("").has_value());
  std::string inverted = box;
  inverted.replace(inverted.find(">3<"), 3, ">-9<");
  EXPECT_FALSE(bounds_of(inverted).has_value()) << "no box";
  std::string huge = box;
  huge.replace(huge.find(">3<"), 3, ">1.7e308<");
  EXPECT_FALSE(bounds_of(huge + pose_xml(std::sqrt(0.5), 0, 0, std::sqrt(0.5), {1, 1.7e308, 0})).has_value())
      << "out of the range of numbers";
}

TEST(E57Sample, TellsWhetherMissesCanBeMarked) {
  const auto may = [](Scan scan) {
    E57File file;
    file.scans = {std::move(scan)};
    const ScratchFile scratch(text_of(file.build()), ".e57");
    return io::may_have_misses(io::read_e57_header(scratch.path()).scans[0]);
  };
  Scan scan = cartesian({{0, 0, 1}});
  EXPECT_FALSE(may(scan));
  scan.fields.push_back(Field::integer("cartesianInvalidState", 0, 0, {0}));
  EXPECT_FALSE(may(scan)) << "a constant zero";
  scan.fields[3] = Field::integer("cartesianInvalidState", 0, 2, {0});
  EXPECT_TRUE(may(scan));
}

TEST(E57Sample, EveryCutIsReadOrRefused) {
  E57File file;
  file.scans = {large_scan(40)};
  const Bytes bytes = file.build();
  for (std::size_t size = 0; size < bytes.size(); size += 13) {
    try {
      sample_of(Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)));
      ADD_FAILURE() << size;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidFile) << size << error.what();
    }
  }
}

}  // namespace
