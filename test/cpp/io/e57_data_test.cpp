#include <gtest/gtest.h>

#include <cmath>

#include "io/crc32c.h"
#include "io/e57_support.h"

namespace {

using namespace pc;
using namespace pc::e57_test;

#define SKIP_WITHOUT_DATA() \
  if (data_file("e57").empty()) GTEST_SKIP() << "no shared test data: set APP_TEST_DATA to its folder"

std::string data(const std::string& name) { return data_file("e57/" + name + ".e57"); }

struct ExpectedE57 {
  const char* name;
  std::vector<std::uint64_t> points;
};

// Counts of the data manifest.
const ExpectedE57 kE57Files[] = {{"bunnyFloat", {30571}},
                                 {"bunnyInt19", {30571}},
                                 {"empty", {}},
                                 {"empty_pc", {0}},
                                 {"float_intensity_without_min_max", {1}},
                                 {"integer_intensity", {2}},
                                 {"las2e57_no_images_tag", {153}},
                                 {"no_ext_namespace", {1}},
                                 {"original_guids", {1}},
                                 {"pdal_A_B", {2, 4}},
                                 {"pdal_A_B_different_dims", {1, 1}},
                                 {"pdal_A_moved_B", {2, 4}},
                                 {"read_error", {2651}},
                                 {"scaled_integer_intensity", {2}},
                                 {"tinyCartesianFloatRgb", {2090}},
                                 {"tiny_pc_and_images", {2}},
                                 {"tiny_pc_with_extension", {1}},
                                 {"tiny_spherical", {360}}};

TEST(E57Data, EveryFileHasItsScansAndLiesInItsBounds) {
  SKIP_WITHOUT_DATA();
  for (const ExpectedE57& want : kE57Files) {
    SCOPED_TRACE(want.name);
    const E57Cloud cloud = read_path(data(want.name));
    ASSERT_EQ(cloud.scans.size(), want.points.size());
    std::uint64_t rows = 0;
    for (std::size_t s = 0; s < want.points.size(); ++s) {
      const auto& scan = cloud.scans[s];
      EXPECT_EQ(scan.row_count, want.points[s]);
      EXPECT_EQ(scan.first_row, rows);
      const auto& bounds = cloud.header.scans[s].cartesian_bounds;
      for (std::uint64_t i = rows; bounds && i < rows + scan.row_count; ++i) {
        const Vec3d& p = cloud.table.positions[static_cast<std::size_t>(i)];
        constexpr double kFloatStep = 1e-4;  // of float32 coordinates and the pose's text
        const Vec3d t = cloud.header.scans[s].translation;
        EXPECT_GE(p.x - t.x, bounds->min.x - kFloatStep);
        EXPECT_LE(p.x - t.x, bounds->max.x + kFloatStep);
        EXPECT_GE(p.y - t.y, bounds->min.y - kFloatStep);
        EXPECT_LE(p.y - t.y, bounds->max.y + kFloatStep);
        EXPECT_GE(p.z - t.z, bounds->min.z - kFloatStep);
        EXPECT_LE(p.z - t.z, bounds->max.z + kFloatStep);
      }
      rows += scan.row_count;
    }
    EXPECT_EQ(cloud.table.positions.size(), rows);
  }
}

TEST(E57Data, BothBunniesAreTheSame) {
  SKIP_WITHOUT_DATA();
  const E57Cloud real = read_path(data("bunnyFloat")), packed = read_path(data("bunnyInt19"));
  ASSERT_EQ(real.table.positions.size(), packed.table.positions.size());
  double worst = 0;
  for (std::size_t i = 0; i < real.table.positions.size(); ++i) {
    worst = std::max(worst, std::sqrt(squared_distance(real.table.positions[i], packed.table.positions[i])));
  }
  EXPECT_LT(worst, 1e-6) << "the integers step by a micrometre";
}

TEST(E57Data, ValuesAreThoseOfTheManifest) {
  SKIP_WITHOUT_DATA();
  const E57Cloud extension = read_path(data("tiny_pc_with_extension"));
  EXPECT_EQ(values_of<float>(extension.table, "nor:normalX"), std::vector<float>{1});
  EXPECT_EQ(values_of<float>(extension.table, "nor:normalY"), std::vector<float>{0});
  EXPECT_EQ(values_of<std::uint16_t>(read_path(data("no_ext_namespace")).table, "classification"),
            std::vector<std::uint16_t>{42});
  for (const char* name : {"integer_intensity", "scaled_integer_intensity"}) {
    EXPECT_EQ(values_of<std::uint16_t>(read_path(data(name)).table, "intensity"),
              (std::vector<std::uint16_t>{0, 65535}));
  }
  const auto limits = io::read_e57_header(data("scaled_integer_intensity")).scans[0].intensity_limits;
  EXPECT_NEAR(limits->minimum, -66.6, 1e-12);
  EXPECT_NEAR(limits->maximum, 66.6, 1e-12);
  const E57Cloud las = read_path(data("las2e57_no_images_tag"));
  EXPECT_EQ(values_of<std::int32_t>(las.table, "target_index").size(), 153u);
  EXPECT_EQ(values_of<std::uint16_t>(las.table, "las:pointSourceId")[0], 1);
  const E57Cloud images = read_path(data("tiny_pc_and_images"));
  EXPECT_EQ(images.header.image_count, 4u);
  EXPECT_EQ(images.table.warnings, std::vector<std::string>{"4 image(s) in the file are not imported"});
  const E57Cloud zeros = read_path(data("read_error"));
  EXPECT_EQ(zeros.table.positions[2650], (Vec3d{0, 0, 0}));
  EXPECT_EQ(zeros.unplaceable_miss_count, 0u) << "all records are zero, the state too";
}

/// Values of the first points of a scan as the file has them.
std::vector<double> raw_values(const std::string& name, const std::string& field, std::size_t scan = 0) {
  const io::E57Header header = io::read_e57_header(data(name));
  const auto sample = with_context(
      1, [&](OpContext& ctx) { return io::read_e57_sample(data(name), header, scan, 1000, ctx); });
  const auto& fields = header.scans[scan].fields;
  for (std::size_t f = 0; f < fields.size(); ++f) {
    if (fields[f].name == field) return sample.values[f];
  }
  ADD_FAILURE() << name << " has no field " << field;
  return {};
}

TEST(E57Data, RawValuesAreThoseOfTheManifest) {
  SKIP_WITHOUT_DATA();
  EXPECT_EQ(raw_values("integer_intensity", "intensity"), (std::vector<double>{-66, 66}));
  const auto scaled = raw_values("scaled_integer_intensity", "intensity");
  ASSERT_EQ(scaled.size(), 2u);
  EXPECT_NEAR(scaled[0], -66.6, 1e-12);
  EXPECT_NEAR(scaled[1], 66.6, 1e-12);
  EXPECT_EQ(raw_values("float_intensity_without_min_max", "intensity").size(), 1u);
  EXPECT_EQ(raw_values("las2e57_no_images_tag", "colorBlue")[0], 65280) << "16-bit colour";
  EXPECT_EQ(raw_values("las2e57_no_images_tag", "returnIndex")[0], 1);
  const auto range = raw_values("tiny_spherical", "sphericalRange");
  EXPECT_EQ(range, std::vector<double>(360, 1)) << "misses have a range too";
  // Every sample agrees with what a full read gives.
  for (const ExpectedE57& want : kE57Files) {
    SCOPED_TRACE(want.name);
    const E57Cloud cloud = read_path(data(want.name));
    std::size_t first = 0;
    for (std::size_t s = 0; s < want.points.size(); first += want.points[s++]) {
      const auto sample = with_context(
          1, [&](OpContext& ctx) { return io::read_e57_sample(data(want.name), cloud.header, s, 100, ctx); });
      ASSERT_EQ(sample.positions.size(), std::min<std::uint64_t>(want.points[s], 100));
      const auto* miss = find_column(cloud.table, "is_miss");
      for (std::size_t i = 0; i < sample.positions.size(); ++i) {
        const bool is_miss = miss != nullptr && miss->values.as<std::uint8_t>()[first + i] != 0;
        EXPECT_EQ(is_finite(sample.positions[i]), !is_miss) << i;
        if (is_miss) continue;
        EXPECT_EQ(sample.positions[i], cloud.table.positions[first + i]) << i;
      }
    }
  }
}

TEST(E57Data, ScansOfOneFileKeepTheirPlacesAndFields) {
  SKIP_WITHOUT_DATA();
  const auto still = points_of(read_path(data("pdal_A_B")).table);
  const auto moved = points_of(read_path(data("pdal_A_moved_B")).table);
  ASSERT_EQ(still.size(), 6u);
  ASSERT_EQ(moved.size(), 6u);
  const Vec3d by{moved[2].x - still[2].x, moved[2].y - still[2].y, 0};
  EXPECT_GT(squared_distance(by, {0, 0, 0}), 1) << "the second scan was moved";
  for (std::size_t i = 0; i < 6; ++i) {
    const Vec3d want = i < 2 ? still[i] : Vec3d{still[i].x + by.x, still[i].y + by.y, still[i].z};
    expect_near(moved[i], want, 5e-6);  // float32 at 45 m
  }
  const E57Cloud mixed = read_path(data("pdal_A_B_different_dims"));
  EXPECT_EQ(values_of<Rgb16>(mixed.table, "rgb"),
            (std::vector<Rgb16>{{0, 0, 0}, {74 * 256, 92 * 256, 54 * 256}}))
      << "a scan without colour is black";
  EXPECT_EQ(values_of<std::uint16_t>(mixed.table, "scan_index"), (std::vector<std::uint16_t>{0, 1}));
  EXPECT_EQ(mixed.header.scans[0].name, "no-color");
  EXPECT_EQ(values_of<Rgb16>(read_path(data("las2e57_no_images_tag")).table, "rgb")[0], (Rgb16{0, 0, 65280}));
  EXPECT_EQ(values_of<Rgb16>(read_path(data("tinyCartesianFloatRgb")).table, "rgb")[0].r, 219 * 256);
}

TEST(E57Data, SphericalPointsHaveRangeOneAndMissesLieFarOut) {
  SKIP_WITHOUT_DATA();
  const E57Cloud cloud = read_path(data("tiny_spherical"));
  const auto miss = values_of<std::uint8_t>(cloud.table, "is_miss");
  std::size_t misses = 0;
  for (std::size_t i = 0; i < miss.size(); ++i) {
    const double range = std::sqrt(squared_distance(cloud.table.positions[i], {0, 0, 0}));
    EXPECT_NEAR(range, miss[i] != 0 ? 20000 : 1, 1e-9 * (miss[i] != 0 ? 20000 : 1));
    misses += miss[i];
  }
  EXPECT_EQ(misses, cloud.scans[0].miss_count);
  EXPECT_GT(misses, 0u);
}

TEST(E57Data, TheWrongChecksumIsReported) {
  SKIP_WITHOUT_DATA();
  const Error error = error_of([] { read_path(data("corrupt_crc")); });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidFile);
  EXPECT_MESSAGE(error, "page 33 (bytes 33792 to 34815) has checksum");
}

TEST(Crc32c, GivesThePublishedValues) {
  // IETF RFC 3720, B.4: 32 bytes of 0, of 255, rising, falling; and the usual check word.
  std::vector<std::byte> zeros(32), ones(32, std::byte{0xff}), rising(32), falling(32);
  for (int i = 0; i < 32; ++i) rising[static_cast<std::size_t>(i)] = static_cast<std::byte>(i);
  for (int i = 0; i < 32; ++i) falling[static_cast<std::size_t>(i)] = static_cast<std::byte>(31 - i);
  EXPECT_EQ(io::crc32c(zeros.data(), 32), 0x8a9136aaU);
  EXPECT_EQ(io::crc32c(ones.data(), 32), 0x62a8ab43U);
  EXPECT_EQ(io::crc32c(rising.data(), 32), 0x46dd794eU);
  EXPECT_EQ(io::crc32c(falling.data(), 32), 0x113fdb5cU);
  EXPECT_EQ(io::crc32c(reinterpret_cast<const std::byte*>("123456789"), 9), 0xe3069283U);
  EXPECT_EQ(io::crc32c(nullptr, 0), 0U);
}

}  // namespace
