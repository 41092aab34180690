#include "io/las.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>

#include "io/las_checks.h"
#include "support/cancel.h"

namespace pc::io {
namespace {

using namespace las_test;

/// Where a field lies in bits, written down from the specification's tables: the oracle of the decoder.
struct BitField {
  const char* name;
  int bit, width;
};

std::vector<BitField> bit_fields(int format) {
  std::vector<BitField> f{{"intensity", 96, 16}};
  const auto add = [&](std::vector<BitField> more) { f.insert(f.end(), more.begin(), more.end()); };
  int next = 0;
  if (format < 6) {
    add({{"return_number", 112, 3},
         {"number_of_returns", 115, 3},
         {"scan_direction_flag", 118, 1},
         {"edge_of_flight_line", 119, 1},
         {"classification", 120, 5},
         {"synthetic", 125, 1},
         {"key_point", 126, 1},
         {"withheld", 127, 1},
         {"scan_angle_rank", 128, 8},
         {"user_data", 136, 8},
         {"point_source_id", 144, 16}});
    next = 160;
  } else {
    add({{"return_number", 112, 4},
         {"number_of_returns", 116, 4},
         {"synthetic", 120, 1},
         {"key_point", 121, 1},
         {"withheld", 122, 1},
         {"overlap", 123, 1},
         {"scanner_channel", 124, 2},
         {"scan_direction_flag", 126, 1},
         {"edge_of_flight_line", 127, 1},
         {"classification", 128, 8},
         {"user_data", 136, 8},
         {"scan_angle", 144, 16},
         {"point_source_id", 160, 16}});
    next = 176;
  }
  const auto chain = [&](const char* name, int width) {
    f.push_back({name, next, width});
    next += width;
  };
  if (format == 1 || format >= 3) chain("gps_time", 64);
  if (format == 2 || format == 3 || format == 5 || format == 7 || format == 8 || format == 10)
    chain("rgb", 48);
  if (format == 8 || format == 10) chain("nir", 16);
  if (format == 4 || format == 5 || format == 9 || format == 10) {
    chain("wave_packet_index", 8);
    chain("wave_packet_offset", 64);
    chain("wave_packet_size", 32);
    for (const char* name : {"return_point_location", "x_t", "y_t", "z_t"}) chain(name, 32);
  }
  EXPECT_EQ(next, kRecordBytes[format] * 8);
  return f;
}

std::uint64_t bits_of(const std::uint8_t* record, int bit, int width) {
  std::uint64_t value = 0;
  for (int i = 0; i < width; ++i) {
    value |= static_cast<std::uint64_t>((record[(bit + i) / 8] >> ((bit + i) % 8)) & 1) << i;
  }
  return value;
}

class LasFormat : public testing::TestWithParam<int> {};

TEST_P(LasFormat, EveryFieldEqualsItsBits) {
  LasFile file;
  file.format = GetParam();
  file.minor = file.format >= 6 ? 4 : 3;
  file.extra_bytes = 3;
  file.random_points(501, 7 + static_cast<std::uint64_t>(file.format));
  const LasCloud cloud = read(file.build(), {}, 2);
  const auto fields = bit_fields(file.format);
  ASSERT_EQ(cloud.table.columns.size(), fields.size() + 3);
  ASSERT_EQ(cloud.header.dimensions.size(), cloud.table.columns.size());
  for (std::size_t row = 0; row < 501; ++row) {
    const std::uint8_t* record = file.points.data() + row * file.record_bytes();
    for (std::size_t k = 0; k < fields.size(); ++k) {
      const NamedColumn& c = cloud.table.columns[k];
      ASSERT_EQ(c.name, fields[k].name);
      ASSERT_FALSE(c.extra);
      ASSERT_EQ(element_bits(c.values, row), bits_of(record, fields[k].bit, fields[k].width))
          << c.name << " row " << row;
    }
    for (std::size_t k = 0; k < 3; ++k) {
      const NamedColumn& c = column(cloud.table, "extra_bytes_" + std::to_string(k));
      ASSERT_TRUE(c.extra);
      ASSERT_EQ(c.values.as<std::uint8_t>()[row], record[kRecordBytes[file.format] + k]);
    }
    const auto xyz = [&](int axis) {
      return static_cast<std::int32_t>(bits_of(record, 32 * axis, 32)) * 0.001;
    };
    ASSERT_EQ(cloud.table.positions[row], (Vec3d{xyz(0), xyz(1), xyz(2)}));
  }
}

INSTANTIATE_TEST_SUITE_P(AllFormats, LasFormat, testing::Range(0, 11));

TEST(LasReader, EveryVersionHoldsTheSamePoints) {
  LasFile file;
  file.format = 1;
  file.minor = 2;
  file.random_points(500, 7);
  const LasCloud want = read(file.build());
  for (const int minor : {0, 1, 3, 4, 5}) {
    file.minor = minor;
    const LasCloud cloud = read(file.build());
    EXPECT_EQ(cloud.header.version_minor, minor);
    expect_same(cloud.table, want.table, "1." + std::to_string(minor));
    EXPECT_EQ(joined(cloud.table.warnings), joined(want.table.warnings)) << minor;
  }
  file.minor = 6;
  std::string what;
  EXPECT_EQ(code_of([&] { read(file.build()); }, &what), ErrorCode::kUnsupported);
  EXPECT_NE(what.find("1.6"), std::string::npos) << what;
}

/// Reads a file whose user data is 8 in `rows` and whose other fields are zero.
void expect_only(const LasFile& file, const std::vector<std::size_t>& rows, int threads) {
  const LasCloud cloud = read(file.build(), {}, threads);
  const auto values = column(cloud.table, "user_data").values.as<std::uint8_t>();
  std::vector<std::size_t> found;
  for (std::size_t row = 0; row < values.size; ++row)
    if (values[row] != 0) found.push_back(row);
  EXPECT_EQ(found, rows) << threads << " threads";
  for (const std::size_t row : rows) EXPECT_EQ(values[row], 8) << row;
  const auto colors = column(cloud.table, "rgb").values.as<Rgb16>();
  for (std::size_t row = 0; row < colors.size; ++row)
    ASSERT_EQ(colors[row].r + colors[row].g + colors[row].b, 0) << row;
}

TEST(LasReader, ValuesAmongZerosKeepTheirRows) {
  constexpr std::size_t kRows = 70'000;  // of several blocks, tiles and looks at a column without values
  LasFile file;
  file.format = 7;
  file.count = kRows;
  file.points.resize(kRows * file.record_bytes());
  expect_only(file, {}, 2);
  for (const std::vector<std::size_t>& rows : std::vector<std::vector<std::size_t>>{
           {0}, {1023}, {1024}, {2729, 2730}, {29'126}, {0, 5000, 40'000}, {kRows - 1}}) {
    for (const std::size_t row : rows) file.points[row * file.record_bytes() + 17] = 8;
    for (const int threads : {1, 2}) expect_only(file, rows, threads);
    for (const std::size_t row : rows) file.points[row * file.record_bytes() + 17] = 0;
  }
}

TEST(LasReader, SignedFieldsKeepTheirSign) {
  LasFile file;
  file.format = 0;
  file.minor = 2;
  file.random_points(1, 1);
  file.points[16] = 0xF1;  // -15 degrees
  EXPECT_EQ(column(read(file.build()).table, "scan_angle_rank").values.as<std::int8_t>()[0], -15);
  file.format = 6;
  file.minor = 4;
  file.random_points(1, 1);
  put(file.points, 18, std::int16_t{-5000});
  EXPECT_EQ(column(read(file.build()).table, "scan_angle").values.as<std::int16_t>()[0], -5000);
}

TEST(LasReader, FileToStoredFrameIsExactAtLargeOffsets) {
  LasFile file;
  file.format = 1;
  file.minor = 2;
  file.random_points(1000, 3);
  for (int axis = 0; axis < 3; ++axis) {
    file.scale[axis] = 1e-4;
    file.offset[axis] = 1e7 * (axis + 1);
  }
  LasReadParams params;
  params.frame.shift = {1e7, 2e7, -5.25};
  params.frame.unit_scale = 0.3048;
  const LasCloud plain = read(file.build()), shifted = read(file.build(), params, 2);
  for (std::size_t i = 0; i < 1000; ++i) {
    std::int32_t raw[3];
    std::memcpy(raw, file.points.data() + i * 28, 12);
    const Vec3d want{raw[0] * 1e-4 + 1e7, raw[1] * 1e-4 + 2e7, raw[2] * 1e-4 + 3e7};
    ASSERT_EQ(plain.table.positions[i], want);
    ASSERT_EQ(shifted.table.positions[i],
              (Vec3d{want.x * 0.3048 - 1e7, want.y * 0.3048 - 2e7, want.z * 0.3048 + 5.25}));
  }
}
TEST(LasReader, RowRangeAndWantedColumns) {
  LasFile file;
  file.format = 7;
  file.random_points(1000, 2);
  const LasCloud whole = read(file.build());
  LasReadParams params;
  params.first_row = 400;
  params.row_count = 20;
  params.wanted = [](const LasDimension& d) { return d.name == "gps_time"; };
  const LasCloud part = read(file.build(), params);
  ASSERT_EQ(part.table.positions.size(), 20U);
  ASSERT_EQ(part.table.columns.size(), 1U);
  EXPECT_EQ(part.table.positions[0], whole.table.positions[400]);
  EXPECT_EQ(element_bits(part.table.columns[0].values, 19),
            element_bits(column(whole.table, "gps_time").values, 419));
  params.first_row = 995;
  EXPECT_EQ(read(file.build(), params).table.positions.size(), 5U);
  params.first_row = std::numeric_limits<std::uint64_t>::max();
  params.row_count = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(read(file.build(), params).table.positions.size(), 0U);
}

TEST(LasReader, ThreadCountDoesNotMatter) {
  LasFile file;
  file.format = 10;
  file.extra_bytes = 11;
  file.random_points(60000, 4);
  const TempFile on_disk("threads.las", file.build());
  const LasCloud one = read(on_disk.path());
  for (const int threads : {2, 5}) {
    const LasCloud many = read(on_disk.path(), {}, threads);
    ASSERT_EQ(many.table.positions.size(), 60000U);
    EXPECT_EQ(
        std::memcmp(many.table.positions.view().data, one.table.positions.view().data, 60000 * sizeof(Vec3d)),
        0);
    for (std::size_t k = 0; k < one.table.columns.size(); ++k) {
      const AnyColumn &a = one.table.columns[k].values, &b = many.table.columns[k].values;
      ASSERT_EQ(a.bytes(), b.bytes());
      EXPECT_EQ(std::memcmp(a.data(), b.data(), a.bytes()), 0) << one.table.columns[k].name;
    }
  }
}

TEST(LasReader, HeaderMeta) {
  LasFile file;
  file.format = 6;
  file.minor = 5;
  file.global_encoding = 1 | 64;
  file.time_offset = 1250;
  file.vlrs = {{"someone", 42, Bytes(7)}};
  file.evlrs = {{"other", 43, Bytes(100000)}};
  file.random_points(3, 8);
  for (std::size_t i = 0; i < 3; ++i) put(file.points, i * 30 + 22, 1000.25);
  const LasCloud cloud = read(file.build());
  const LasHeader& h = cloud.header;
  EXPECT_EQ(h.version_minor, 5);
  EXPECT_EQ(h.system_identifier, "TEST SYSTEM");
  EXPECT_EQ(h.generating_software, "test software");
  EXPECT_EQ(h.creation_day_of_year, 59);
  EXPECT_EQ(h.creation_year, 2024);
  EXPECT_EQ(h.gps_time_encoding, "adjusted_standard");
  EXPECT_EQ(column(cloud.table, "gps_time").values.as<double>()[0], 1000.25 + 250e6);  // 1250e6 - 1e9
  ASSERT_EQ(h.vlrs.size(), 2U);
  EXPECT_EQ(h.vlrs[0].user_id, "someone");
  EXPECT_EQ(h.vlrs[0].payload_bytes, 7U);
  EXPECT_TRUE(h.vlrs[1].extended);
  EXPECT_EQ(h.vlrs[1].payload_bytes, 100000U);
  EXPECT_TRUE(h.warnings.empty()) << h.warnings[0];
  file.minor = 4;
  EXPECT_EQ(column(read(file.build()).table, "gps_time").values.as<double>()[0], 1000.25);
  file.format = 0;
  file.minor = 2;
  file.random_points(1, 1);
  EXPECT_EQ(read(file.build()).header.gps_time_encoding, "");
}

TEST(LasReader, ZeroPointsIsAValidFile) {
  LasFile file;
  const LasCloud cloud = read(file.build());
  EXPECT_EQ(cloud.table.positions.size(), 0U);
  EXPECT_EQ(cloud.table.columns.size(), 15U);
  EXPECT_TRUE(cloud.table.warnings.empty());
}

TEST(LasReader, CancelIsSeenInTime) {
  LasFile file;
  file.format = 0;
  file.minor = 2;
  file.count = 100'000'000;  // 2 GB of holes: reading them takes seconds
  const TempFile on_disk("cancel.las", file.build());
  std::filesystem::resize_file(on_disk.path(), 227 + file.count * 20);
  LasReadParams params;
  params.wanted = [](const LasDimension& d) { return d.name == "intensity"; };
  test::expect_cancel_after(std::chrono::milliseconds(60),
                            [&](OpContext& ctx) { read_las(on_disk.path(), params, ctx); });
}

}  // namespace
}  // namespace pc::io
