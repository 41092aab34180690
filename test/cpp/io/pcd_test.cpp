#include "io/pcd.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <random>

#include "core/memory.h"
#include "io/pcd_support.h"

namespace {

using namespace pc;
using namespace pc::record_test;

const float kNan = std::numeric_limits<float>::quiet_NaN();

PcdFile xyz() { return PcdFile().field("x", "F4").field("y", "F4").field("z", "F4"); }

template <class T>
void check_type(const std::string& type) {
  using Limits = std::numeric_limits<T>;
  const std::vector<T> values = {Limits::lowest(), Limits::max(), T{0}, T{7}, static_cast<T>(2.5)};
  PcdFile file = PcdFile().field("x", "F8").field("v", type).field("Y", "F4").field("Z", "I2");
  for (const T v : values) file.value(0.1).value(v).value(2.5f).value(std::int16_t{-3});
  for (const std::string data : kPcdData) {
    SCOPED_TRACE(type + " " + data);
    const CloudTable table = read_pcd_bytes(file.bytes(data)).table;
    EXPECT_EQ(values_of<T>(table, "v"), values);
    EXPECT_EQ(points_of(table), std::vector<Vec3d>(5, Vec3d{0.1, 2.5, -3}));
    EXPECT_TRUE(table.warnings.empty());
  }
}

TEST(Pcd, ReadsEveryTypeInEveryBody) {
  check_type<std::int8_t>("I1");
  check_type<std::int16_t>("I2");
  check_type<std::int32_t>("I4");
  check_type<std::int64_t>("I8");
  check_type<std::uint8_t>("U1");
  check_type<std::uint16_t>("U2");
  check_type<std::uint32_t>("U4");
  check_type<std::uint64_t>("U8");
  check_type<float>("F4");
  check_type<double>("F8");
}

TEST(Pcd, ReadsTheHeader) {
  const std::string text =
      "# comment\r\nVERSION .7\r\nFIELDS x y z _ fpfh\r\nSIZE 4 4 4 1 8\r\nTYPE F F F U F\r\nCOUNT 1 1 1 4 "
      "3\r\n"
      "WIDTH 5\r\nHEIGHT 2\r\nVIEWPOINT 1 2 3 0.5 0.5 -0.5 0.5\r\nPOINTS 10\r\nDATA binary\r\n";
  const io::PcdHeader h = io::read_pcd_header(ScratchFile(text + "\r\n").path());
  ASSERT_EQ(h.fields.size(), 5u);
  EXPECT_EQ(h.fields[4].name, "fpfh");
  EXPECT_EQ(h.fields[4].type, DType::kF64);
  EXPECT_EQ(h.fields[4].count, 3u);
  EXPECT_TRUE(h.fields[3].padding());
  EXPECT_EQ(h.width, 5u);
  EXPECT_EQ(h.height, 2u);
  EXPECT_EQ(h.points, 10u);
  EXPECT_EQ(h.viewpoint, (Vec3d{1, 2, 3}));
  EXPECT_EQ(h.orientation, (std::array<double, 4>{0.5, 0.5, -0.5, 0.5}));
  EXPECT_EQ(h.body_offset, text.size());
}

TEST(Pcd, ReadsPaddingCountsAndTheViewpoint) {
  PcdFile file = xyz().field("_", "U1", 3).field("hist", "U2", 2).line("VIEWPOINT 10 20 30 1 0 0 0");
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) file.value(static_cast<float>(10 * i + k));
    for (int k = 0; k < 3; ++k) file.value(std::uint8_t{99});
    for (int k = 0; k < 2; ++k) file.value(static_cast<std::uint16_t>(500 * i + k));
  }
  for (const std::string data : kPcdData) {
    for (const bool padded : {false, true}) {
      const PcdCloud cloud = read_pcd_bytes(file.bytes(data, padded), {{0.5, {1, 1, 1}}, 0, kAllRows});
      EXPECT_EQ(points_of(cloud.table), (std::vector<Vec3d>{{-1, -0.5, 0}, {4, 4.5, 5}, {9, 9.5, 10}}));
      ASSERT_EQ(cloud.table.columns.size(), 2u);
      EXPECT_EQ(values_of<std::uint16_t>(cloud.table, "hist[0]"), (std::vector<std::uint16_t>{0, 500, 1000}));
      EXPECT_EQ(values_of<std::uint16_t>(cloud.table, "hist[1]"), (std::vector<std::uint16_t>{1, 501, 1001}));
      EXPECT_TRUE(cloud.has_viewpoint);
      EXPECT_EQ(cloud.scan_origin, (Vec3d{4, 9, 14}));
      EXPECT_EQ(points_of(read_pcd_bytes(file.bytes(data, padded), {{}, 1, 1}).table),
                (std::vector<Vec3d>{{10, 11, 12}}));
    }
  }
  EXPECT_FALSE(read_pcd_bytes(xyz().bytes("ascii")).has_viewpoint);
}

TEST(Pcd, UnpacksColour) {
  const std::uint32_t bits = 0x7f112233;
  const Rgb16 color{0x1100, 0x2200, 0x3300};
  for (const std::string data : kPcdData) {
    SCOPED_TRACE(data);
    const PcdFile whole = xyz().field("rgba", "U4").value(0.f).value(0.f).value(0.f).value(bits);
    const CloudTable table = read_pcd_bytes(whole.bytes(data)).table;
    EXPECT_EQ(values_of<Rgb16>(table, "rgb"), std::vector<Rgb16>{color});
    EXPECT_EQ(values_of<std::uint8_t>(table, "alpha"), std::vector<std::uint8_t>{0x7f});
    const PcdFile real =
        xyz().field("rgb", "F4").value(0.f).value(0.f).value(0.f).value(std::bit_cast<float>(bits));
    const CloudTable packed = read_pcd_bytes(real.bytes(data)).table;
    ASSERT_EQ(packed.columns.size(), 1u);
    EXPECT_EQ(values_of<Rgb16>(packed, "rgb"), std::vector<Rgb16>{color});
    const PcdFile negative =
        xyz().field("rgb", "I4").value(0.f).value(0.f).value(0.f).value(std::int32_t{-1});
    EXPECT_EQ(values_of<Rgb16>(read_pcd_bytes(negative.bytes(data)).table, "rgb"),
              std::vector<Rgb16>{(Rgb16{65280, 65280, 65280})});
    PcdFile single = xyz().field("r", "U1").field("g", "U1").field("b", "U1").field("intensity", "F4");
    single.value(0.f).value(0.f).value(0.f);
    single.value(std::uint8_t{1}).value(std::uint8_t{2}).value(std::uint8_t{3}).value(0.5f);
    const CloudTable split = read_pcd_bytes(single.bytes(data)).table;
    EXPECT_EQ(values_of<Rgb16>(split, "rgb"), std::vector<Rgb16>{(Rgb16{256, 512, 768})});
    EXPECT_FALSE(find_column(split, "intensity")->extra);
  }
  // A binary float whose alpha makes its bits a NaN keeps its colour.
  const PcdFile opaque =
      xyz().field("rgb", "F4").value(0.f).value(0.f).value(0.f).value(std::uint32_t{0xff112233});
  EXPECT_EQ(values_of<Rgb16>(read_pcd_bytes(opaque.bytes("binary")).table, "rgb"), std::vector<Rgb16>{color});
}

TEST(Pcd, DropsPointsThatAreNotFinite) {
  PcdFile file = xyz().field("id", "U4");
  for (std::uint32_t i = 0; i < 6; ++i) file.value(i % 3 == 1 ? kNan : 1.f).value(2.f).value(3.f).value(i);
  for (const std::string data : kPcdData) {
    const CloudTable table = read_pcd_bytes(file.bytes(data)).table;
    EXPECT_EQ(values_of<std::uint32_t>(table, "id"), (std::vector<std::uint32_t>{0, 2, 3, 5}));
    EXPECT_EQ(table.nonfinite_dropped, 2u);
    EXPECT_EQ(read_pcd_bytes(xyz().bytes(data)).table.positions.size(), 0u) << "an empty cloud";
  }
}

TEST(Pcd, NamesWhatIsWrong) {
  const std::string head = "VERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\n",
                    rest = "WIDTH 1\nHEIGHT 1\nPOINTS 1\n";
  const struct {
    std::string text;
    const char* part;
  } cases[] = {
      {"", "line 1: the file ends inside the PCD header"},
      {"1 2 3\n", "line 1: \"1\" is not a PCD header entry; a PCD file starts with VERSION"},
      {head, "line 5: the file ends inside the PCD header"},
      {"VERSION 0.7\n" + rest + "DATA ascii\n", "no FIELDS"},
      {head + "COUNT 1 1\n" + rest + "DATA ascii\n1 2 3\n", "FIELDS has 3 entries, SIZE 3, TYPE 3, COUNT 2"},
      {head + "DATA ascii\n1 2 3\n", "neither POINTS nor WIDTH"},
      {head + "WIDTH -1\n", "line 5: WIDTH \"-1\" must be a whole number"},
      {head + rest + "DATA zip\n", "line 8: DATA \"zip\" is not known"},
      {head + rest + "VIEWPOINT 0 0 0 1 0 0\nDATA ascii\n", "VIEWPOINT must be seven finite numbers"},
      {"FIELDS x y z\nSIZE 4 4 3\nTYPE F F F\n" + rest + "DATA ascii\n",
       "TYPE \"F\" with SIZE \"3\" is not a PCD type"},
      {"FIELDS x y q\nSIZE 4 4 4\nTYPE F F F\n" + rest + "DATA ascii\n1 2 3\n",
       "one field z, this file has 0 (fields: x y q)"},
      {"FIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 2\n" + rest + "DATA ascii\n", "field z has COUNT 2"},
      {"FIELDS x y z h\nSIZE 4 4 4 1\nTYPE F F F U\nCOUNT 1 1 1 2000000000\n" + rest + "DATA binary\n",
       "more than 4096 values per point"},
      {head + rest + "DATA ascii\n", "declares 1 points, the file holds no complete one"},
      {head + rest + "DATA ascii\n1,2,3\n",
       "line 9: \"1,2,3\" is not a value of \"x\" (f32); values must be separated"},
      {head + rest + "DATA binary\n12345678901", "1 points of 12 bytes, the file ends before the first one"},
      {head + rest + "DATA binary_compressed\n1234", "ends before the sizes of the compressed points"},
      {head + rest + "DATA binary_compressed\n" + raw(100u) + raw(12u) + "abc",
       "have 100 bytes, the file holds 3 of them"},
      {head + rest + "DATA binary_compressed\n" + raw(2u) + raw(24u) + std::string("\0a", 2),
       "unpack to 24 bytes, but 1 points of 12 bytes"},
      {head + rest + "DATA binary_compressed\n" + raw(2u) + raw(12u) + std::string("\0a", 2),
       "unpack to 1 bytes, not to the declared 12"},
      {head + rest + "DATA binary_compressed\n" + raw(2u) + raw(12u) + "\x20\x20",
       "damaged LZF data at compressed byte 0"},
  };
  for (const auto& c : cases) {
    const Error error = error_of([&] { read_pcd_bytes(c.text); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidFile);
    EXPECT_MESSAGE(error, c.part);
  }
  EXPECT_EQ(error_of([] { read_pcd_bytes("VERSION 0.8\n"); }).code(), ErrorCode::kUnsupported);
  const PcdCloud odd = read_pcd_bytes(head + "WIDTH 7\nHEIGHT 2\nPOINTS 1\nDATA ascii\n1 2 3\n");
  ASSERT_EQ(odd.table.warnings.size(), 1u);
  EXPECT_NE(odd.table.warnings[0].find("POINTS is 1, WIDTH x HEIGHT is 7 x 2"), std::string::npos);
}

PcdFile small_file() {
  PcdFile file = xyz().field("_", "U1", 2).field("hist", "U2", 2).field("rgb", "U4");
  for (int i = 0; i < 4; ++i) {
    for (int k = 0; k < 3; ++k) file.value(static_cast<float>(i) + 0.25f);
    for (int k = 0; k < 2; ++k) file.value(std::uint8_t{0});
    for (int k = 0; k < 2; ++k) file.value(static_cast<std::uint16_t>(i));
    file.value(0x010203u * static_cast<unsigned>(i));
  }
  return file;
}

TEST(Pcd, GivesTheCompletePointsOfAFileCutAnywhere) {
  for (const std::string data : kPcdData) {
    const std::string whole = small_file().bytes(data);
    const std::vector<Vec3d> expected = points_of(read_pcd_bytes(whole).table);
    ASSERT_EQ(expected.size(), 4u);
    const std::uint64_t in_use = bulk_bytes_in_use();
    std::size_t rescued = 0;
    for (std::size_t length = 0; length < whole.size(); ++length) {
      try {
        const CloudTable cut = read_pcd_bytes(whole.substr(0, length)).table;
        ASSERT_NE(data, "binary_compressed");
        const std::vector<Vec3d> points = points_of(cut);
        ASSERT_TRUE(points.size() < 4 || data == "ascii");
        ASSERT_TRUE(points.size() == 4 || !cut.warnings.empty());
        for (std::size_t i = 0; i < points.size(); ++i) ASSERT_EQ(points[i], expected[i]);
        ++rescued;
      } catch (const Error& error) {
        ASSERT_EQ(error.code() == ErrorCode::kInvalidFile || error.code() == ErrorCode::kUnsupported, true)
            << error.what();
      }
    }
    EXPECT_EQ(rescued > 0, data != "binary_compressed");
    EXPECT_EQ(bulk_bytes_in_use(), in_use);
  }
}

TEST(Pcd, SurvivesEveryByteReplaced) {
  reset_bulk_bytes_peak();
  const std::uint64_t before = bulk_bytes_peak();
  std::size_t refused = 0;
  for (const std::string data : kPcdData) {
    const std::string whole = small_file().bytes(data);
    for (std::size_t i = 0; i < whole.size(); ++i) {
      for (const char c : {'\0', '9', '\xff', '\n'}) {
        std::string changed = whole;
        changed[i] = c;
        try {
          read_pcd_bytes(changed, {{}, 0, kAllRows}, 1);
        } catch (const Error& error) {
          ++refused;
          ASSERT_NE(error.code(), ErrorCode::kInternal) << error.what();
        }
      }
    }
  }
  EXPECT_GT(refused, 0u);
  EXPECT_LT(bulk_bytes_peak() - before, std::uint64_t{64} << 20);
}

TEST(Pcd, DoesNotDependOnThreads) {
  PcdFile file = xyz().field("id", "U4").field("t", "F8");
  std::mt19937 random(11);
  for (std::uint32_t i = 0; i < 20000; ++i) {
    file.value(i % 999 == 5 ? kNan : static_cast<float>(random()))
        .value(1.f)
        .value(2.f)
        .value(i)
        .value(random() / 7.0);
  }
  for (const std::string data : {"ascii", "binary"}) {
    const ScratchFile scratch(file.bytes(data), ".pcd");
    const CloudTable one = read_pcd_path(scratch.path(), {{}, 0, kAllRows}, 1).table;
    EXPECT_EQ(one.positions.size() + one.nonfinite_dropped, 20000u);
    for (const int threads : {2, 5}) {
      expect_same(one, read_pcd_path(scratch.path(), {{}, 0, kAllRows}, threads).table);
    }
  }
  JobControl control;
  control.cancel_requested = true;
  OpContext ctx(control);
  const ScratchFile scratch(small_file().bytes("binary_compressed"), ".pcd");
  EXPECT_EQ(error_of([&] {
              io::read_pcd(scratch.path(), {{}, 0, kAllRows}, ctx);
            }).code(),
            ErrorCode::kCanceled);
}

std::string missing_data() {
  std::cout << "shared test data are absent (APP_TEST_DATA), skipped\n";
  return "shared test data are absent";
}

TEST(PcdData, OpensEveryCollectedFile) {
  if (data_file("pcd").empty()) GTEST_SKIP() << missing_data();
  const struct {
    const char* name;
    std::size_t points;
    std::size_t columns;
  } files[] = {{"pcd/Zaghetto.pcd", 59750, 0},
               {"pcd/autzen-utm.pcd", 1065, 11},
               {"pcd/pcl_colored_cloud.pcd", 1000, 5},
               {"pcd/room_scan1.pcd", 112586, 0},
               {"pcd/room_scan2.pcd", 112624, 0},
               {"pcd/simple-ascii.pcd", 213, 1},
               {"ground_isprs/samp11-utm.pcd", 38010, 0},
               {"ground_isprs/samp11-utm-ground.pcd", 21786, 0},
               {"ground_isprs/samp21-utm.pcd", 12960, 0},
               {"ground_isprs/samp21-utm-ground.pcd", 10085, 0},
               {"ground_isprs/samp31-utm.pcd", 28862, 0},
               {"ground_isprs/samp31-utm-ground.pcd", 15556, 0},
               {"ground_isprs/samp53-utm.pcd", 34378, 0},
               {"ground_isprs/samp53-utm-ground.pcd", 32989, 0},
               {"ground_isprs/samp71-utm.pcd", 15645, 0},
               {"ground_isprs/samp71-utm-ground.pcd", 13875, 0}};
  for (const auto& file : files) {
    SCOPED_TRACE(file.name);
    ASSERT_FALSE(data_file(file.name).empty());
    const CloudTable table = read_pcd_path(data_file(file.name)).table;
    EXPECT_EQ(table.positions.size() + table.nonfinite_dropped, file.points);
    EXPECT_EQ(table.malformed_dropped, 0u);
    EXPECT_TRUE(table.warnings.empty());
    EXPECT_EQ(table.columns.size(), file.columns);
  }
}

TEST(PcdData, GroundIsASubsetOfTheSite) {
  for (const std::string site : {"11", "21", "31", "53", "71"}) {
    const std::string all = data_file("ground_isprs/samp" + site + "-utm.pcd");
    const std::string ground = data_file("ground_isprs/samp" + site + "-utm-ground.pcd");
    if (all.empty()) GTEST_SKIP() << missing_data();
    const auto less = [](const Vec3d& a, const Vec3d& b) {
      return std::tie(a.x, a.y, a.z) < std::tie(b.x, b.y, b.z);
    };
    std::vector<Vec3d> a = points_of(read_pcd_path(all).table), g = points_of(read_pcd_path(ground).table);
    std::sort(a.begin(), a.end(), less);
    std::sort(g.begin(), g.end(), less);
    EXPECT_TRUE(std::includes(a.begin(), a.end(), g.begin(), g.end(), less)) << site;
  }
}

TEST(PcdData, RefusesBrokenFilesWithTheReason) {
  if (data_file("pcd").empty()) GTEST_SKIP() << missing_data();
  EXPECT_MESSAGE(error_of([] { read_pcd_path(data_file("pcd/missingheader.pcd")); }),
                 "line 1: \"289814.15\" is not a PCD header entry");
  EXPECT_MESSAGE(error_of([] { read_pcd_path(data_file("pcd/utm17_comma.pcd")); }),
                 "line 11: \"289814.15,4320978.61,170.76\" is not a value of \"X\"");
}

io::PcdSample sample_of(const std::string& bytes, std::size_t rows = 20) {
  const ScratchFile file(bytes, ".pcd");
  return with_context(1, [&](OpContext& ctx) {
    return io::read_pcd_sample(file.path(), io::read_pcd_header(file.path()), rows, ctx);
  });
}

TEST(Pcd, ShowsSampleRows) {
  PcdFile file = xyz().field("_", "U1", 2).field("rgba", "U4").field("h", "I2", 2);
  for (int i = 0; i < 30; ++i) {
    file.value(i == 0 ? kNan : 0.1f).value(2.f).value(-3.5f);
    file.value(std::uint8_t{9}).value(std::uint8_t{9}).value(0x80ff0102U);
    file.value(std::int16_t{-1}).value(static_cast<std::int16_t>(i));
  }
  for (const std::string data : kPcdData) {
    SCOPED_TRACE(data);
    for (const bool padded : {false, true}) {
      const io::PcdSample sample = sample_of(file.bytes(data, padded));
      std::vector<std::string> names;
      for (const io::PcdColumn& column : sample.columns) names.push_back(column.name);
      EXPECT_EQ(names,
                (std::vector<std::string>{"x", "y", "z", "red", "green", "blue", "alpha", "h[0]", "h[1]"}));
      ASSERT_EQ(sample.rows.size(), 20u);
      EXPECT_EQ(sample.rows[0][0], "nan") << "points without a place are shown";
      EXPECT_EQ(std::stof(sample.rows[7][0]), 0.1f);
      EXPECT_EQ((std::vector<std::string>(sample.rows[7].begin() + 1, sample.rows[7].end())),
                (std::vector<std::string>{"2", "-3.5", "255", "1", "2", "128", "-1", "7"}));
    }
  }
  EXPECT_EQ(sample_of(file.bytes("ascii"), 5).rows.size(), 5u);
  const std::string cut = file.bytes("binary");
  EXPECT_EQ(sample_of(cut.substr(0, cut.size() - 11 * 22)).rows.size(), 19u) << "what is there";
  const std::string packed = file.bytes("binary_compressed");
  EXPECT_EQ(error_of([&] { sample_of(packed.substr(0, packed.size() - 1)); }).code(),
            ErrorCode::kInvalidFile);
}

TEST(Pcd, ACompressedBodyTooLargeForALookIsSaid) {
  const ScratchFile file(xyz().header("binary_compressed", 1000), ".pcd");
  std::filesystem::resize_file(file.path(), io::kPcdMaxSampleBody * 2);  // sparse
  const io::PcdHeader header = io::read_pcd_header(file.path());
  const Error error = error_of([&] {
    with_context(1, [&](OpContext& ctx) { return io::read_pcd_sample(file.path(), header, 20, ctx); });
  });
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
}

}  // namespace
