#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>

#include "io/las_checks.h"

/// Real files of the shared test data (data_folder()); skipped, saying so, where the folder is absent.
namespace pc::io {
namespace {

using namespace las_test;

#define SKIP_WITHOUT_DATA() \
  if (data_folder().empty()) GTEST_SKIP() << "no shared test data: set APP_TEST_DATA to its folder"

std::string data(const std::string& path) { return data_folder() + "/" + path; }

struct Expected {
  const char* path;
  int minor, format;
  std::uint64_t rows;
  int epsg;           ///< 0 = none
  double unit_m;      ///< 0 = unknown or degrees
  bool exact_bounds;  ///< the header's bounds are those of the points, to half a step
};

constexpr double kSurveyFoot = 1200.0 / 3937.0;

// Counts and versions from the data manifest; codes and units from the key directories and WKT texts
// themselves.
constexpr Expected kFiles[] = {
    {"als/pdal_sample_c.las", 2, 3, 14408, 0, 0, true},
    {"las/crs/1.2-empty-geotiff-vlrs.las", 2, 1, 43, 0, 1.0, true},
    {"las/crs/certainty3d-color-utm-feet-navd88.las", 2, 3, 10126, 2229, kSurveyFoot,
     false},  // thinned, old bounds
    {"las/crs/epsg_4326.las", 2, 0, 5380, 4326, 0, true},
    {"las/crs/file_with_both_wkt_and_geotiff_vlrs.las", 4, 6, 25408, 32104, kSurveyFoot, true},
    {"las/crs/test_epsg_4326_axis.las", 2, 3, 10, 4326, 0, true},
    {"las/extra_bytes/extra_bytes_scalar_types.las", 4, 6, 3000, 0, 0, true},
    {"las/extra_bytes/laszip_5points_14.las", 4, 6, 5, 0, 0, false},
    {"las/extra_bytes/pdal_extrabytes.las", 4, 3, 1065, 0, 0, true},
    {"las/extra_bytes/unregistered_extra_bytes.las", 4, 6, 4, 0, 0, true},
    {"las/formats/1_4_w_evlr.las", 4, 6, 1000, 2903, kSurveyFoot, true},
    {"las/formats/laspy_pf7_1.4.las", 4, 7, 22600, 4326, 0, true},
    {"las/formats/pdrf10-1.4.las", 4, 10, 1024, 0, 0, true},
    {"las/formats/pdrf4-1.3.las", 3, 4, 1024, 0, 0, true},
    {"las/formats/pdrf5-1.3.las", 3, 5, 1024, 0, 0, true},
    {"las/formats/pdrf6-1.4.las", 4, 6, 1024, 0, 0, true},
    {"las/formats/pdrf8-1.4.las", 4, 8, 1024, 0, 0, true},
    {"las/formats/pdrf9-1.4.las", 4, 9, 1024, 0, 0, true},
    {"las/formats/point-color-time.las", 2, 3, 1065, 26910, 1.0, true},
    {"las/formats/point-color.las", 2, 2, 1065, 26910, 1.0, true},
    {"las/formats/point-time.las", 2, 1, 1065, 26910, 1.0, true},
    {"las/formats/point-version-1-point-wise.las", 0, 0, 11781, 32128, kSurveyFoot, true},
    {"las/formats/point10.las", 2, 0, 1065, 26910, 1.0, true},
    {"las/malformed/bad_vlr_count.las", 2, 3, 10, 32617, 1.0, true},
    {"las/malformed/garbage_nVariableLength.las", 2, 0, 718, 0, 0, false},
    {"las/malformed/gps-time-nan.las", 2, 1, 1, 0, 0, true},
    {"las/malformed/no-points.las", 2, 3, 0, 4269, 0, false},
    {"las/waveform/simple1_3.las", 3, 4, 999, 0, 0, false},  // header bounds are unscaled integers
    {"trees_als_idtrees/MLBS_1.las", 3, 1, 12318, 32617, 1.0, true},
    {"trees_als_idtrees/MLBS_16.las", 3, 1, 15623, 32617, 1.0, true},
    {"trees_als_idtrees/MLBS_21.las", 3, 1, 11784, 32617, 1.0, true},
    {"trees_als_idtrees/MLBS_25.las", 3, 1, 5507, 32617, 1.0, true},
    {"trees_als_idtrees/MLBS_30.las", 3, 1, 9078, 32617, 1.0, true},
    {"trees_als_idtrees/MLBS_34.las", 3, 1, 4986, 32617, 1.0, true},
    {"trees_als_idtrees/OSBS_11.las", 3, 3, 3051, 32617, 1.0, true},
    {"trees_als_idtrees/OSBS_18.las", 3, 3, 4904, 32617, 1.0, true},
    {"trees_als_idtrees/OSBS_2.las", 3, 3, 2288, 32617, 1.0, true},
    {"trees_als_idtrees/OSBS_21.las", 3, 3, 4160, 32617, 1.0, true},
    {"trees_als_idtrees/OSBS_24.las", 3, 3, 3340, 32617, 1.0, true},
    {"trees_als_idtrees/OSBS_7.las", 3, 3, 1658, 32617, 1.0, true},
    {"trees_tls/itsme_tree1.las", 2, 3, 30826, 0, 0, true},
};

TEST(LasData, EveryFileHasItsVersionCountCrsAndBounds) {
  SKIP_WITHOUT_DATA();
  for (const Expected& want : kFiles) {
    const LasCloud cloud = read(data(want.path), {}, 2);
    const LasHeader& h = cloud.header;
    EXPECT_EQ(h.version_minor, want.minor) << want.path;
    EXPECT_EQ(h.point_format, want.format) << want.path;
    EXPECT_EQ(cloud.table.positions.size(), want.rows) << want.path;
    EXPECT_EQ(h.crs.epsg.value_or(0), want.epsg) << want.path;
    EXPECT_EQ(h.crs.unit_m.value_or(0), want.unit_m) << want.path << " " << h.crs.unit_name;
    for (const NamedColumn& c : cloud.table.columns)
      ASSERT_EQ(c.values.size(), want.rows) << want.path << c.name;
    if (!want.exact_bounds) continue;
    Box3d box;
    for (const Vec3d& p : cloud.table.positions.view()) box.add(p);
    const auto near = [&](double a, double b, double scale) {
      EXPECT_NEAR(a, b, std::abs(scale) * 0.51) << want.path;
    };
    near(box.min.x, h.declared_bounds.min.x, h.scale.x);
    near(box.max.x, h.declared_bounds.max.x, h.scale.x);
    near(box.min.y, h.declared_bounds.min.y, h.scale.y);
    near(box.max.y, h.declared_bounds.max.y, h.scale.y);
    near(box.min.z, h.declared_bounds.min.z, h.scale.z);
    near(box.max.z, h.declared_bounds.max.z, h.scale.z);
  }
}

TEST(LasData, EveryPointFormatAndVersionIsAmongTheFiles) {
  SKIP_WITHOUT_DATA();
  std::set<int> formats, minors;
  for (const Expected& want : kFiles) {
    formats.insert(want.format);
    minors.insert(want.minor);
  }
  EXPECT_EQ(formats, (std::set<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  EXPECT_EQ(minors, (std::set<int>{0, 2, 3, 4})) << "1.1 and 1.5 are generated by the other tests";
}

TEST(LasData, EveryExtraByteTypeKeepsItsOwn) {
  SKIP_WITHOUT_DATA();
  const LasCloud cloud = read(data("las/extra_bytes/extra_bytes_scalar_types.las"));
  std::set<DType> types;
  for (const NamedColumn& c : cloud.table.columns) {
    if (c.extra) types.insert(c.values.dtype());
  }
  // i16_scaled_cm is the one with a scale, and becomes f64.
  EXPECT_EQ(types, (std::set<DType>{DType::kU8, DType::kI8, DType::kU16, DType::kU32, DType::kI32,
                                    DType::kU64, DType::kI64, DType::kF32, DType::kF64}));
  EXPECT_EQ(std::count_if(cloud.table.columns.begin(), cloud.table.columns.end(),
                          [](const NamedColumn& c) { return c.extra; }),
            10);
}

TEST(LasData, ExtraBytesClosedForms) {
  SKIP_WITHOUT_DATA();
  const LasCloud cloud = read(data("las/extra_bytes/extra_bytes_scalar_types.las"));
  const auto& u8 = column(cloud.table, "u8_counter").values;
  const auto& i16 = column(cloud.table, "i16_scaled_cm").values;
  const auto& u64 = column(cloud.table, "u64_huge").values;
  const auto& f32 = column(cloud.table, "f32_reflectance").values;
  const auto& f64 = column(cloud.table, "f64_time").values;
  ASSERT_EQ(i16.dtype(), DType::kF64);
  for (std::size_t i = 0; i < 3000; ++i) {
    ASSERT_EQ(u8.as<std::uint8_t>()[i], 7919 * i % 256);
    ASSERT_EQ(u64.as<std::uint64_t>()[i], i * 6148914691236517ULL);
    ASSERT_NEAR(f32.as<float>()[i], 20.0 * std::sin(static_cast<double>(i) / 10.0),
                2e-6);  // half a float32 step at 20
    ASSERT_EQ(f64.as<double>()[i], 1.3e9 + static_cast<double>(i) * 1e-6);
    ASSERT_EQ(i16.as<double>()[i], (static_cast<double>(1918 * i % 6001) - 3000.0) * 0.01 + 5.0);
  }
  EXPECT_NE(column(cloud.table, "u16_id").description.find("no-data value 65535"), std::string::npos);
}

TEST(LasData, ExtraBytesOfOtherWriters) {
  SKIP_WITHOUT_DATA();
  const LasCloud pdal = read(data("las/extra_bytes/pdal_extrabytes.las"));
  // The file stores its red, green and blue again as the array 'Colors', and its time and intensity as
  // extras.
  const auto& rgb = column(pdal.table, "rgb").values;
  for (std::size_t i = 0; i < 1065; ++i) {
    const Rgb16 color = rgb.as<Rgb16>()[i];
    ASSERT_EQ(column(pdal.table, "Colors[0]").values.as<std::uint16_t>()[i], color.r);
    ASSERT_EQ(column(pdal.table, "Colors[1]").values.as<std::uint16_t>()[i], color.g);
    ASSERT_EQ(column(pdal.table, "Colors[2]").values.as<std::uint16_t>()[i], color.b);
    ASSERT_EQ(column(pdal.table, "Intensity").values.as<std::uint32_t>()[i],
              column(pdal.table, "intensity").values.as<std::uint16_t>()[i]);
  }
  EXPECT_NE(find_column(pdal.table, "Reserved[6]"), nullptr);
  EXPECT_EQ(column(pdal.table, "Flags[1]").values.dtype(), DType::kI8);

  const LasCloud five = read(data("las/extra_bytes/laszip_5points_14.las"));
  EXPECT_EQ(column(five.table, "height above ground").values.dtype(), DType::kF64);
  EXPECT_EQ(five.header.vlrs[2].user_id, "funny");

  const LasCloud bare = read(data("las/extra_bytes/unregistered_extra_bytes.las"));
  EXPECT_NE(find_column(bare.table, "extra_bytes_3"), nullptr);

  const LasCloud riegl = read(data("las/crs/1.2-empty-geotiff-vlrs.las"));
  EXPECT_EQ(column(riegl.table, "Reflectance").description, "Echo signal reflectance [dB]");
}

TEST(LasData, TwinsOfOtherFormatsHoldTheSamePoints) {
  SKIP_WITHOUT_DATA();
  const LasCloud full = read(data("las/formats/point-color-time.las"));
  for (const char* name : {"point10.las", "point-color.las", "point-time.las"}) {
    const LasCloud part = read(data(std::string("las/formats/") + name));
    for (std::size_t i = 0; i < 1065; ++i)
      ASSERT_EQ(part.table.positions[i], full.table.positions[i]) << name;
    for (const NamedColumn& c : part.table.columns) {
      const AnyColumn& other = column(full.table, c.name).values;
      ASSERT_EQ(std::memcmp(c.values.data(), other.data(), other.bytes()), 0) << name << " " << c.name;
    }
  }
}

TEST(LasData, Classes) {
  SKIP_WITHOUT_DATA();
  std::map<int, std::uint64_t> counts;
  const LasCloud plot = read(data("trees_als_idtrees/MLBS_1.las"));
  for (const std::uint8_t c : column(plot.table, "classification").values.as<std::uint8_t>()) ++counts[c];
  EXPECT_EQ(counts, (std::map<int, std::uint64_t>{{1, 192}, {2, 2308}, {5, 9817}, {7, 1}}));
}

TEST(LasData, DamagedFilesAreReadOrRefusedLoudly) {
  SKIP_WITHOUT_DATA();
  const LasCloud vlrs = read(data("las/malformed/bad_vlr_count.las"));
  EXPECT_NE(joined(vlrs.table.warnings).find("declares 3 variable length records, but only 2"),
            std::string::npos);
  const LasCloud garbage = read(data("las/malformed/garbage_nVariableLength.las"));
  EXPECT_NE(joined(garbage.table.warnings).find("declares 719 points"), std::string::npos);
  EXPECT_NE(joined(garbage.table.warnings).find("1069128089 variable length records"), std::string::npos);
  EXPECT_EQ(code_of([] { read(data("las/malformed/1.2-no-points.las")); }), ErrorCode::kInvalidFile);
  const LasCloud nan_time = read(data("las/malformed/gps-time-nan.las"));
  EXPECT_TRUE(std::isnan(column(nan_time.table, "gps_time").values.as<double>()[0]));
}

}  // namespace
}  // namespace pc::io
