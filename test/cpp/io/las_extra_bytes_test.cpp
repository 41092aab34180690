#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <optional>

#include "io/las_checks.h"

namespace pc::io {
namespace {

using namespace las_test;

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
    extra.name.append("t").append(std::to_string(type));
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
          std::string("t").append(std::to_string(type)) + (elements > 1 ? "[" + std::to_string(e) + "]" : "");
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

TEST(LasExtraBytes, ScaleAndOffsetCountOneByOne) {
  Extra offset_only{13, 16, "offset only", "", {}, {4, 4, 4}, {100.5, -7.5, 0}};
  Extra scale_only{3, 8, "scale only", "", {}, {0.25, 0, 0}, {9, 9, 9}};
  LasFile file;
  file.extra_bytes = 4 + 2;
  file.vlrs = {extra_record({offset_only, scale_only})};
  file.random_points(1, 3);
  for (std::size_t k = 0; k < 3; ++k) put(file.points, 30 + 2 * k, static_cast<std::uint16_t>(10 * (k + 1)));
  const LasCloud cloud = read(file.build());
  const auto value = [&](const char* name) { return column(cloud.table, name).values.as<double>()[0]; };
  EXPECT_EQ(value("offset only[0]"), 110.5);
  EXPECT_EQ(value("offset only[1]"), 12.5);
  EXPECT_EQ(value("scale only"), 7.5);
  for (const LasDimension& dimension : cloud.header.dimensions) {
    if (!dimension.record) continue;
    const bool is_scaled = dimension.name == "scale only";
    EXPECT_EQ(dimension.record->scale, is_scaled ? std::optional(0.25) : std::nullopt) << dimension.name;
    EXPECT_EQ(dimension.record->offset.has_value(), !is_scaled) << dimension.name;
  }
}

TEST(LasExtraBytes, NoDataBecomesNanOrIsStated) {
  Extra scaled{4, 1 | 8, "scaled", "", {static_cast<std::uint64_t>(-9999), 0, 0}, {0.01, 0, 0}, {}};
  Extra real{9, 1, "real", "dB", {std::bit_cast<std::uint64_t>(-1.0), 0, 0}, {}, {}};
  Extra whole{3, 1, "whole", "id", {65535, 0, 0}, {}, {}};
  Extra ones{3, 1 | 16, "ones", "", {~std::uint64_t{0}, 0, 0}, {}, {7.0, 0, 0}};
  Extra outside{1, 1 | 8, "outside", "", {300, 0, 0}, {2.0, 0, 0}, {}};
  LasFile file;
  Extra negative{2, 1 | 8, "negative", "", {200, 0, 0}, {2.0, 0, 0}, {}};
  file.extra_bytes = 2 + 4 + 2 + 2 + 1 + 1;
  file.vlrs = {extra_record({scaled, real, whole, ones, outside, negative})};
  file.random_points(2, 5);
  put(file.points, 30, std::int16_t{-9999});
  put(file.points, 32, -1.0F);
  put(file.points, 36, std::uint16_t{65535});
  put(file.points, 38, std::uint16_t{65535});
  put(file.points, 40, std::uint8_t{44});  // 300 modulo 256: must not count as no-data
  put(file.points, 41, std::int8_t{-56});  // the bits of 200
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
  EXPECT_EQ(value("negative"), -112.0);
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
    EXPECT_NE(find_column(cloud.table, "extra_bytes_3"), nullptr);
    EXPECT_EQ(find_column(cloud.table, extra.name), nullptr);
    EXPECT_NE(joined(cloud.table.warnings).find("not valid"), std::string::npos);
  }
  Extra zero_scale{4, 8, "zero", "", {}, {}, {}};
  file.vlrs = {extra_record({zero_scale})};
  const LasCloud cloud = read(file.build());
  EXPECT_EQ(column(cloud.table, "zero").values.dtype(), DType::kI16);
  EXPECT_NE(joined(cloud.table.warnings).find("cannot be used"), std::string::npos);
}

TEST(LasExtraBytes, TooManyColumnsAreRefused) {
  LasFile file;
  file.extra_bytes = 5000;
  file.random_points(1, 9);
  std::string what;
  EXPECT_EQ(code_of([&] { read(file.build()); }, &what), ErrorCode::kUnsupported);
  EXPECT_NE(what.find("5000 extra columns"), std::string::npos) << what;
}

}  // namespace
}  // namespace pc::io
