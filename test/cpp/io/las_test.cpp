#include "io/las.h"

#include <gtest/gtest.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <thread>

#include "core/memory.h"
#include "io/las_builder.h"

namespace pc::io {
namespace {

using namespace las_test;

LasCloud read(const std::string& path, LasReadParams params = {}, int threads = 1) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return read_las(path, params, ctx);
}

LasCloud read(const Bytes& bytes, const LasReadParams& params = {}, int threads = 1) {
  const TempFile file("read.las", bytes);
  return read(file.path(), params, threads);
}

const NamedColumn& column(const CloudTable& table, const std::string& name) {
  for (const NamedColumn& c : table.columns) {
    if (c.name == name) return c;
  }
  throw std::runtime_error("no column " + name);
}

bool has_column(const CloudTable& table, const std::string& name) {
  for (const NamedColumn& c : table.columns) {
    if (c.name == name) return true;
  }
  return false;
}

std::string all_warnings(const CloudTable& table) {
  std::string text;
  for (const std::string& w : table.warnings) text += w + "\n";
  return text;
}

template <class Action>
ErrorCode code_of(Action&& action, std::string* what = nullptr) {
  try {
    action();
  } catch (const Error& error) {
    if (what != nullptr) *what = error.what();
    return error.code();
  }
  ADD_FAILURE() << "nothing was thrown";
  return ErrorCode::kInternal;
}

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

std::uint64_t element_bits(const AnyColumn& c, std::size_t row) {
  std::uint64_t value = 0;
  std::memcpy(&value, c.data() + row * dtype_size(c.dtype()), dtype_size(c.dtype()));
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

template <class T>
std::vector<double> raw_values(const Bytes& points, std::size_t stride, std::size_t offset, std::size_t n) {
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) {
    T value;
    std::memcpy(&value, points.data() + i * stride + offset, sizeof value);
    values[i] = static_cast<double>(value);
  }
  return values;
}

std::vector<double> raw_values(int type, const Bytes& points, std::size_t stride, std::size_t offset,
                               std::size_t n) {
  switch (type) {
    case 1:
      return raw_values<std::uint8_t>(points, stride, offset, n);
    case 2:
      return raw_values<std::int8_t>(points, stride, offset, n);
    case 3:
      return raw_values<std::uint16_t>(points, stride, offset, n);
    case 4:
      return raw_values<std::int16_t>(points, stride, offset, n);
    case 5:
      return raw_values<std::uint32_t>(points, stride, offset, n);
    case 6:
      return raw_values<std::int32_t>(points, stride, offset, n);
    case 7:
      return raw_values<std::uint64_t>(points, stride, offset, n);
    case 8:
      return raw_values<std::int64_t>(points, stride, offset, n);
    case 9:
      return raw_values<float>(points, stride, offset, n);
    default:
      return raw_values<double>(points, stride, offset, n);
  }
}

TEST(LasExtraBytes, AllTypesArraysAndScales) {
  constexpr int kBytes[10] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
  std::vector<Extra> extras;
  LasFile file;
  for (int type = 1; type <= 30; ++type) {
    Extra extra;
    extra.type = static_cast<std::uint8_t>(type);
    extra.name = "t" + std::to_string(type);
    extra.options = type % 2 == 1 ? 24 : 0;  // every second one scaled
    for (int e = 0; e < 3; ++e) {
      extra.scale[e] = 0.5 + e;
      extra.offset[e] = 10.0 * e - 3.0;
    }
    extras.push_back(extra);
    file.extra_bytes =
        static_cast<std::uint16_t>(file.extra_bytes + kBytes[(type - 1) % 10] * (1 + (type - 1) / 10));
  }
  file.vlrs = {extra_record(extras)};
  file.random_points(200, 11);
  const LasCloud cloud = read(file.build());
  std::size_t offset = 30;
  for (int type = 1; type <= 30; ++type) {
    const int base = (type - 1) % 10 + 1, elements = 1 + (type - 1) / 10;
    for (int e = 0; e < elements; ++e) {
      const std::string name =
          "t" + std::to_string(type) + (elements > 1 ? "[" + std::to_string(e) + "]" : "");
      const NamedColumn& c = column(cloud.table, name);
      EXPECT_TRUE(c.extra);
      const auto raw = raw_values(base, file.points, file.record_bytes(), offset, 200);
      if (type % 2 == 1) {
        ASSERT_EQ(c.values.dtype(), DType::kF64);
        for (std::size_t i = 0; i < 200; ++i) {
          const double want = raw[i] * (0.5 + e) + (10.0 * e - 3.0);
          ASSERT_EQ(std::bit_cast<std::uint64_t>(c.values.as<double>()[i]) << 1,
                    std::bit_cast<std::uint64_t>(want) << 1)
              << name;
        }
      } else {
        ASSERT_EQ(c.values.bytes(), 200U * static_cast<std::size_t>(kBytes[base - 1]));
        for (std::size_t i = 0; i < 200; ++i) {
          ASSERT_EQ(std::memcmp(c.values.data() + i * kBytes[base - 1],
                                file.points.data() + i * file.record_bytes() + offset, kBytes[base - 1]),
                    0)
              << name;
        }
      }
      offset += kBytes[base - 1];
    }
  }
}

TEST(LasExtraBytes, NoDataBecomesNanOrIsStated) {
  Extra scaled{4, 1 | 8, "scaled", "", {static_cast<std::uint64_t>(-9999), 0, 0}, {0.01, 0, 0}, {}};
  Extra real{9, 1, "real", "dB", {std::bit_cast<std::uint64_t>(-1.0), 0, 0}, {}, {}};
  Extra whole{3, 1, "whole", "id", {65535, 0, 0}, {}, {}};
  Extra ones{3, 1 | 16, "ones", "", {~std::uint64_t{0}, 0, 0}, {}, {7.0, 0, 0}};
  Extra outside{1, 1 | 8, "outside", "", {300, 0, 0}, {2.0, 0, 0}, {}};
  LasFile file;
  file.extra_bytes = 2 + 4 + 2 + 2 + 1;
  file.vlrs = {extra_record({scaled, real, whole, ones, outside})};
  file.random_points(2, 5);
  put(file.points, 30, std::int16_t{-9999});
  put(file.points, 32, -1.0F);
  put(file.points, 36, std::uint16_t{65535});
  put(file.points, 38, std::uint16_t{65535});
  put(file.points, 40, std::uint8_t{44});  // 300 modulo 256: must not count as no-data
  const std::size_t second = file.record_bytes();
  put(file.points, second + 30, std::int16_t{150});
  put(file.points, second + 32, 2.5F);
  const LasCloud cloud = read(file.build());
  const auto value = [&](const char* name) { return column(cloud.table, name).values.as<double>()[0]; };
  EXPECT_TRUE(std::isnan(value("scaled")));
  EXPECT_EQ(column(cloud.table, "scaled").values.as<double>()[1], 1.5);
  EXPECT_TRUE(std::isnan(column(cloud.table, "real").values.as<float>()[0]));
  EXPECT_EQ(column(cloud.table, "real").values.as<float>()[1], 2.5F);
  EXPECT_EQ(column(cloud.table, "whole").values.as<std::uint16_t>()[0], 65535);
  EXPECT_EQ(column(cloud.table, "whole").description, "id; no-data value 65535");
  EXPECT_TRUE(std::isnan(value("ones")));
  EXPECT_EQ(value("outside"), 88.0);
}

TEST(LasExtraBytes, UndescribedBytesAreKept) {
  Extra untyped{0, 3, "blob", "", {}, {}, {}};
  Extra one{0, 1, "flag", "", {}, {}, {}};
  LasFile file;
  file.extra_bytes = 6;
  file.vlrs = {extra_record({untyped, one})};
  file.random_points(4, 9);
  const LasCloud cloud = read(file.build());
  const char* names[6] = {"blob[0]", "blob[1]", "blob[2]", "flag", "extra_bytes_4", "extra_bytes_5"};
  for (std::size_t k = 0; k < 6; ++k) {
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(column(cloud.table, names[k]).values.as<std::uint8_t>()[i], file.points[i * 36 + 30 + k])
          << names[k];
    }
  }
}

TEST(LasExtraBytes, ARecordThatDescribesTooMuchIsNotTrusted) {
  Extra big{10, 0, "big", "", {}, {}, {}};
  Extra odd{77, 0, "odd", "", {}, {}, {}};
  LasFile file;
  file.extra_bytes = 4;
  file.random_points(3, 9);
  for (const Extra& extra : {big, odd}) {
    file.vlrs = {extra_record({extra})};
    const LasCloud cloud = read(file.build());
    EXPECT_TRUE(has_column(cloud.table, "extra_bytes_3"));
    EXPECT_FALSE(has_column(cloud.table, extra.name));
    EXPECT_NE(all_warnings(cloud.table).find("not valid"), std::string::npos);
  }
  Extra zero_scale{4, 8, "zero", "", {}, {}, {}};
  file.vlrs = {extra_record({zero_scale})};
  const LasCloud cloud = read(file.build());
  EXPECT_EQ(column(cloud.table, "zero").values.dtype(), DType::kI16);
  EXPECT_NE(all_warnings(cloud.table).find("cannot be used"), std::string::npos);
}

TEST(LasExtraBytes, TooManyColumnsAreRefused) {
  LasFile file;
  file.extra_bytes = 5000;
  file.random_points(1, 9);
  std::string what;
  EXPECT_EQ(code_of([&] { read(file.build()); }, &what), ErrorCode::kUnsupported);
  EXPECT_NE(what.find("5000 extra columns"), std::string::npos) << what;
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
  const std::string text = all_warnings(cloud.table);
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
  EXPECT_NE(all_warnings(cloud.table).find("incomplete"), std::string::npos);
}

TEST(LasMalformed, UndeclaredTrailingRecordsAreReported) {
  LasFile file;
  file.random_points(10, 1);
  Bytes bytes = file.build();
  put(bytes, 247, std::uint64_t{7});
  const LasCloud cloud = read(bytes);
  EXPECT_EQ(cloud.table.positions.size(), 7U);
  EXPECT_NE(all_warnings(cloud.table).find("room for 3 more"), std::string::npos);
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
      {"LAZ", 104, bytes_of(std::uint8_t{6 | 128}), ErrorCode::kUnsupported},
      {"LAZ", 104, bytes_of(std::uint8_t{6 | 64}), ErrorCode::kUnsupported},
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
  EXPECT_EQ(cloud.table.warnings.size(), 3U) << all_warnings(cloud.table);
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
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  std::chrono::steady_clock::time_point asked;
  std::thread canceler([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    asked = std::chrono::steady_clock::now();
    control.cancel_requested = true;
  });
  const ErrorCode code = code_of([&] { read_las(on_disk.path(), params, ctx); });
  const auto ended = std::chrono::steady_clock::now();
  canceler.join();
  EXPECT_EQ(code, ErrorCode::kCanceled);
  EXPECT_LT(ended - asked, std::chrono::milliseconds(250));
  EXPECT_LT(control.done.load(), file.count);
}

}  // namespace
}  // namespace pc::io
