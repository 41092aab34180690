#include <gtest/gtest.h>

#include <cmath>

#include "core/memory.h"
#include "io/las_checks.h"

namespace pc::io {
namespace {

using namespace las_test;

TEST(LasMalformed, MissingPointsAreLoudAndTheRestIsRead) {
  LasFile file;
  file.format = 3;
  file.minor = 2;
  file.random_points(100, 1);
  Bytes bytes = file.build();
  bytes.resize(bytes.size() - 34 * 40 - 5);  // 59 complete records remain
  const LasCloud cloud = read(bytes);
  EXPECT_EQ(cloud.table.positions.size(), 59U);
  EXPECT_EQ(cloud.header.declared_point_count, 100U);
  const std::string text = joined(cloud.table.warnings);
  EXPECT_NE(text.find("declares 100 points"), std::string::npos) << text;
  EXPECT_NE(text.find("59 complete records"), std::string::npos) << text;
  EXPECT_NE(text.find("41 points are missing"), std::string::npos) << text;
  bytes.resize(227 + 33);
  std::string what;
  EXPECT_EQ(code_of([&] { read(bytes); }, &what), ErrorCode::kInvalidFile);
  EXPECT_NE(what.find("declares 100 points"), std::string::npos) << what;
}

TEST(LasMalformed, PointsNeverRunIntoExtendedRecords) {
  LasFile file;
  file.random_points(10, 1);
  file.evlrs = {{"someone", 1, Bytes(500)}};
  Bytes bytes = file.build();
  put(bytes, 247, std::uint64_t{20});  // room for 18 more in the file, but the EVLR starts after 10
  const LasCloud cloud = read(bytes);
  EXPECT_EQ(cloud.table.positions.size(), 10U);
  EXPECT_NE(joined(cloud.table.warnings).find("incomplete"), std::string::npos);
}

TEST(LasMalformed, UndeclaredTrailingRecordsAreReported) {
  LasFile file;
  file.random_points(10, 1);
  Bytes bytes = file.build();
  put(bytes, 247, std::uint64_t{7});
  const LasCloud cloud = read(bytes);
  EXPECT_EQ(cloud.table.positions.size(), 7U);
  EXPECT_NE(joined(cloud.table.warnings).find("room for 3 more"), std::string::npos);
}

TEST(LasMalformed, RefusalsNameTheField) {
  LasFile file;
  file.random_points(2, 1);
  const Bytes good = file.build();
  const double nan = std::nan("");
  struct Case {
    const char* name;
    std::size_t at;
    Bytes bytes;
    ErrorCode code;
  };
  const auto bytes_of = [](auto value) {
    Bytes b;
    put(b, 0, value);
    return b;
  };
  const std::vector<Case> cases = {
      {"LASF", 0, bytes_of(std::uint8_t{'X'}), ErrorCode::kInvalidFile},
      {"version", 24, bytes_of(std::uint8_t{2}), ErrorCode::kUnsupported},
      {"version", 25, bytes_of(std::uint8_t{6}), ErrorCode::kUnsupported},
      {"byte 94", 94, bytes_of(std::uint16_t{226}), ErrorCode::kInvalidFile},
      {"byte 96", 96, bytes_of(std::uint32_t{100}), ErrorCode::kInvalidFile},
      {"byte 104", 104, bytes_of(std::uint8_t{11}), ErrorCode::kUnsupported},
      {"LAZ", 104, bytes_of(std::uint8_t{6 | 128}), ErrorCode::kInvalidFile},
      {"LAZ", 104, bytes_of(std::uint8_t{6 | 64}), ErrorCode::kInvalidFile},
      {"byte 105", 105, bytes_of(std::uint16_t{29}), ErrorCode::kInvalidFile},
      {"byte 131", 131, bytes_of(0.0), ErrorCode::kInvalidFile},
      {"byte 139", 139, bytes_of(nan), ErrorCode::kInvalidFile},
      {"byte 147", 147, bytes_of(HUGE_VAL), ErrorCode::kInvalidFile},
      {"byte 155", 155, bytes_of(nan), ErrorCode::kInvalidFile},
      {"byte 171", 171, bytes_of(-HUGE_VAL), ErrorCode::kInvalidFile},
      {"byte 131", 131, bytes_of(1e300), ErrorCode::kInvalidFile},
  };
  for (const Case& c : cases) {
    Bytes bad = good;
    std::copy(c.bytes.begin(), c.bytes.end(), bad.begin() + static_cast<std::ptrdiff_t>(c.at));
    std::string what;
    EXPECT_EQ(code_of([&] { read(bad); }, &what), c.code) << c.name;
    EXPECT_NE(what.find(c.name), std::string::npos) << what;
  }
  EXPECT_EQ(code_of([&] { read(std::string("/nonexistent/file.las")); }), ErrorCode::kNotFound);
}

TEST(LasMalformed, CoordinatesAreFiniteOrRefused) {
  LasFile file;
  file.random_points(50, 1);
  file.scale[0] = 1e298;
  LasReadParams params;
  const LasCloud cloud = read(file.build());
  for (const Vec3d& p : cloud.table.positions.view()) ASSERT_TRUE(is_finite(p));
  params.frame.unit_scale = 1e10;
  EXPECT_EQ(code_of([&] { read(file.build(), params); }), ErrorCode::kInvalidArgument);
  params.frame.unit_scale = 0.0;
  EXPECT_EQ(code_of([&] { read(file.build(), params); }), ErrorCode::kInvalidArgument);
}

TEST(LasMalformed, HugeDeclaredCountsCostNothing) {
  LasFile file;
  file.random_points(2, 1);
  Bytes bytes = file.build();
  put(bytes, 247, ~std::uint64_t{0});       // points
  put(bytes, 100, ~std::uint32_t{0});       // VLRs
  put(bytes, 235, ~std::uint64_t{0} - 10);  // EVLR start
  put(bytes, 243, ~std::uint32_t{0});       // EVLRs
  reset_bulk_bytes_peak();
  const std::uint64_t before = bulk_bytes_peak();
  const LasCloud cloud = read(bytes);
  EXPECT_EQ(cloud.table.positions.size(), 2U);
  EXPECT_LT(bulk_bytes_peak() - before, std::uint64_t{4} << 20);
  EXPECT_EQ(cloud.table.warnings.size(), 3U) << joined(cloud.table.warnings);
}

TEST(LasMalformed, ATextRecordOverOneMebibyteIsLeftAlone) {
  LasFile file;
  file.evlrs = {wkt_record(std::string(std::size_t{2} << 20, 'x'))};
  const LasCloud cloud = read(file.build());
  EXPECT_NE(joined(cloud.table.warnings).find("more than 1 MiB"), std::string::npos);
  EXPECT_EQ(cloud.header.crs.wkt, "");
}

TEST(LasMalformed, CutAtEveryByte) {
  LasFile file;
  file.extra_bytes = 5;
  Extra extra{4, 8 | 16, "a", "", {}, {0.5, 0, 0}, {}};
  file.vlrs = {wkt_record("GEOGCS[\"x\",AUTHORITY[\"EPSG\",\"4326\"]]"), extra_record({extra})};
  file.evlrs = {{"e", 9, Bytes(30)}};
  file.random_points(20, 1);
  const Bytes bytes = file.build();
  const TempFile on_disk("cut.las");
  std::size_t last = 0;
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    on_disk.write(Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length)));
    try {
      const LasCloud cloud = read(on_disk.path());
      ASSERT_GE(cloud.table.positions.size(), last) << length;
      ASSERT_FALSE(cloud.table.warnings.empty()) << length;  // something is always missing
      last = cloud.table.positions.size();
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ErrorCode::kInvalidFile) << length << ": " << error.what();
      ASSERT_EQ(last, 0U) << length;
    }
  }
  EXPECT_EQ(last, 20U);
}

}  // namespace
}  // namespace pc::io
