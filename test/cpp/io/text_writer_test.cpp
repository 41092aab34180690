#include "io/text_writer.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <set>
#include <utility>

#include "io/ply.h"
#include "io/record_support.h"
#include "io/text_format.h"
#include "support/cancel.h"

namespace {

using namespace pc;
using namespace pc::record_test;
using io::CloudView;
using io::TextFormat;
using io::TextHeader;
using io::TextWriteParams;
using io::TextWriteResult;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr TextFormat kFormats[] = {TextFormat::kXyz, TextFormat::kTxt, TextFormat::kCsv, TextFormat::kPly,
                                   TextFormat::kObj};

template <class T>
Span<const T> span(const std::vector<T>& values) {
  return {values.data(), values.size()};
}

template <class T>
AnyColumn column(const std::vector<T>& values) {
  Column<T> out(values.size());
  std::copy(values.begin(), values.end(), out.view().begin());
  return AnyColumn(std::move(out));
}

std::string write(const CloudView& view, const TextWriteParams& params, int threads = 2) {
  const ScratchFile file;
  const TextWriteResult result =
      with_context(threads, [&](OpContext& ctx) { return io::write_text(view, params, file.path(), ctx); });
  const std::string text = file.contents();
  EXPECT_EQ(result.bytes, text.size());
  return text;
}

/// What printf writes, with the sign of zero left out.
std::string by_printf(double value) {
  char text[400];
  std::snprintf(text, sizeof text, "%.6f", value);
  return std::string(text) == "-0.000000" ? "0.000000" : text;
}

std::string fixed6(double value) {
  char text[io::text_format::kMaxNumberBytes];
  return {text, io::text_format::fixed6(value, text)};
}

TEST(TextFormat, RoundsAsPrintf) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200000; ++i) {
    const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
    const double value = (unit - 0.5) * std::pow(10.0, static_cast<int>(random() % 22) - 8);
    ASSERT_EQ(fixed6(value), by_printf(value)) << value;
    // Halves of the last digit, exact or off by the last bit: where the product's rounding matters.
    const double half = (static_cast<double>(random() % 2000000000) + 0.5) / 1e6;
    for (const double v : {half, std::nextafter(half, 0.0), std::nextafter(half, 1e9), -half}) {
      ASSERT_EQ(fixed6(v), by_printf(v)) << v;
    }
  }
  for (int k = 0; k < 60; ++k) {
    for (const double v :
         {std::ldexp(1.0, -k), std::ldexp(3.0, -k), std::ldexp(12345.0, -k), std::ldexp(1.0, k)}) {
      ASSERT_EQ(fixed6(v), by_printf(v));
      ASSERT_EQ(fixed6(-v), by_printf(-v));
    }
  }
  for (const double v : {0.0, 1e-7, 5e-7, 4.9e-324, 0.9999995, 999999.9999995, 2251799813.685248,
                         2251799813.685247, 4503599627.370496, 1e15, 1e22, 1.7976931348623157e308}) {
    EXPECT_EQ(fixed6(v), by_printf(v));
    EXPECT_EQ(fixed6(-v), by_printf(-v));
  }
  EXPECT_EQ(fixed6(-0.0), "0.000000");
  EXPECT_EQ(fixed6(-1e-9), "0.000000");
  EXPECT_EQ(fixed6(std::nan("")), "nan");
  EXPECT_EQ(fixed6(kInf), "inf");
  EXPECT_EQ(fixed6(-kInf), "-inf");
}

TEST(TextFormat, EightBitColoursComeBack) {
  using namespace io::text_format;
  char text[40];
  for (int v = 0; v <= 255; ++v) {
    for (const int widened : {v * 256, v * 257}) {
      ASSERT_EQ(std::string(text, color255(static_cast<std::uint16_t>(widened), text)), std::to_string(v))
          << widened;
    }
  }
}

TEST(TextFormat, ScalesAllSixteenBitValues) {
  using namespace io::text_format;
  char text[40], expected[40];
  for (int v = 0; v <= 65535; ++v) {
    const auto value = static_cast<std::uint16_t>(v);
    ASSERT_EQ(std::string(text, color255(value, text)), std::to_string(v / 256));
    std::snprintf(expected, sizeof expected, "%.4f", v / 65535.0);
    ASSERT_EQ(std::string(text, unit16(value, 4, text)), expected);
    std::snprintf(expected, sizeof expected, "%.6f", v / 65535.0);
    ASSERT_EQ(std::string(text, unit16(value, 6, text)), expected);
  }
}

TEST(TextFormat, WritesIntegers) {
  using namespace io::text_format;
  char text[40];
  for (const std::int64_t v :
       {std::int64_t{0}, std::int64_t{-1}, std::int64_t{10}, std::int64_t{99}, std::int64_t{100},
        std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}) {
    EXPECT_EQ(std::string(text, integer(v, text)), std::to_string(v));
  }
  EXPECT_EQ(std::string(text, unsigned_integer(~std::uint64_t{0}, text)), "18446744073709551615");
}

/// Three points with every kind of column.
struct Sample {
  std::vector<Vec3d> xyz = {{1, 2, 3}, {-0.5, 1e-7, 4.25}, {7, 8, 9}};
  std::vector<Rgb16> rgb = {{65535, 0, 257}, {0, 128, 129}, {1, 2, 3}};
  std::vector<std::uint16_t> intensity = {0, 65535, 6554};
  std::vector<double> time = {412345.123456, 0, -1};
  std::vector<Vec3d> origin = {{0, 0, 1}, {0, 0, 2}, {0, 0, 3}};
  AnyColumn label = column<std::int32_t>({1, -2, 3});
  AnyColumn whole = column<float>({1.0f, NAN, -3.0f});
  AnyColumn real = column<double>({0.25, NAN, 1e300});
  CloudView view() const {
    CloudView v;
    v.positions = span(xyz);
    v.offset = {100, 200, 0};
    v.colors = span(rgb);
    v.intensity = span(intensity);
    v.timestamps = span(time);
    v.beam_origins = span(origin);
    v.scalars = {{"label", "Label", &label}, {"whole", "Whole", &whole}, {"real", "Real", &real}};
    v.skip = {};
    return v;
  }
};

TEST(TextWriter, WritesTheExportLayouts) {
  const Sample sample;
  CloudView view = sample.view();
  view.timestamps = {};
  view.beam_origins = {};
  view.scalars.clear();
  EXPECT_EQ(write(view, io::cloud_export_layout(TextFormat::kXyz)),
            "101.000000 202.000000 3.000000\n99.500000 200.000000 4.250000\n107.000000 208.000000 9.000000");
  EXPECT_EQ(write(view, io::cloud_export_layout(TextFormat::kTxt)),
            "X Y Z R G B Intensity\n101.000000 202.000000 3.000000 255 0 1 0.0000\n"
            "99.500000 200.000000 4.250000 0 0 0 1.0000\n107.000000 208.000000 9.000000 0 0 0 0.1000");
  EXPECT_EQ(write(view, io::cloud_export_layout(TextFormat::kPly)),
            "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
            "property uchar red\nproperty uchar green\nproperty uchar blue\nend_header\n"
            "101.000000 202.000000 3.000000 255 0 1\n99.500000 200.000000 4.250000 0 0 0\n"
            "107.000000 208.000000 9.000000 0 0 0\n");
  EXPECT_EQ(write(view, io::cloud_export_layout(TextFormat::kObj)),
            "# Point cloud\n# Points: 3\nv 101.000000 202.000000 3.000000\nv 99.500000 200.000000 4.250000\n"
            "v 107.000000 208.000000 9.000000");
}

TEST(TextWriter, WritesScalarsTimesAndOrigins) {
  const Sample sample;
  CloudView view = sample.view();
  view.positions = view.positions.subspan(0, 2);
  view.colors = {};
  view.intensity = {};
  view.timestamps = view.timestamps.subspan(0, 2);
  view.beam_origins = view.beam_origins.subspan(0, 2);
  const AnyColumn label = column<std::int32_t>({1, -2}), whole = column<float>({1.0f, NAN}),
                  real = column<double>({0.25, NAN}), big = column<std::uint64_t>({~std::uint64_t{0}, 0});
  view.scalars = {{"label", "", &label}, {"whole", "", &whole}, {"real", "", &real}, {"big", "", &big}};
  EXPECT_EQ(write(view, io::cloud_export_layout(TextFormat::kCsv)),
            "X,Y,Z,timestamp,origin_x,origin_y,origin_z,label,whole,real,big\n"
            "101.000000,202.000000,3.000000,412345.123456,100.000000,200.000000,1.000000,1,1,0.250000,"
            "18446744073709551615\n"
            "99.500000,200.000000,4.250000,0.000000,100.000000,200.000000,2.000000,-2,,,0");
  EXPECT_EQ(write(view, io::scan_export_layout(TextFormat::kXyz)),
            "# x y z timestamp origin_x origin_y origin_z label whole real big\n"
            "101.000000 202.000000 3.000000 412345.123456 100.000000 200.000000 1.000000 1 1 0.250000 "
            "18446744073709551615\n"
            "99.500000 200.000000 4.250000 0.000000 100.000000 200.000000 2.000000 -2 nan nan 0");
  const std::string ply = write(view, io::scan_export_layout(TextFormat::kPly));
  EXPECT_NE(
      ply.find("property double timestamp\nproperty double origin_x\nproperty double origin_y\n"
               "property double origin_z\nproperty int label\nproperty float whole\nproperty double real\n"
               "property double big\nend_header\n"),
      std::string::npos)
      << ply;
}

TEST(TextWriter, NeutralizesNamesThatBreakOrRun) {
  const std::vector<Vec3d> xyz = {{0, 0, 0}};
  const AnyColumn one = column<std::uint8_t>({1});
  CloudView view;
  view.positions = span(xyz);
  for (const char* slug :
       {"=cmd()", "+a", "-b", "@c", "a,b", "say \"hi\"", "two\nlines", "x", "dup", "dup", "dup"}) {
    view.scalars.push_back({slug, "", &one});
  }
  const std::string csv = write(view, io::cloud_export_layout(TextFormat::kCsv));
  EXPECT_EQ(csv.substr(0, csv.rfind('\n')),
            "X,Y,Z,'=cmd(),'+a,'-b,'@c,\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\",x_2,dup,dup_2,dup_3");
  const std::string txt = write(view, io::cloud_export_layout(TextFormat::kTxt));
  EXPECT_EQ(txt.substr(0, txt.find('\n')),
            "X Y Z =cmd() +a -b @c a,b say_\"hi\" two_lines x_2 dup dup_2 dup_3");
}

TEST(TextWriter, WritesTheHeaderAloneWhenEmpty) {
  const AnyColumn none = column<float>({});
  CloudView view;
  view.scalars = {{"height", "", &none}};
  EXPECT_EQ(write(view, io::cloud_export_layout(TextFormat::kXyz)), "");
  EXPECT_EQ(write(view, io::cloud_export_layout(TextFormat::kTxt)), "X Y Z height");
  EXPECT_EQ(write(view, io::cloud_export_layout(TextFormat::kCsv)), "X,Y,Z,height");
  EXPECT_EQ(write(view, io::cloud_export_layout(TextFormat::kObj)), "# Point cloud\n# Points: 0");
  const ScratchFile ply(write(view, io::cloud_export_layout(TextFormat::kPly)), ".ply");
  const auto table = with_context(1, [&](OpContext& ctx) {
    return io::read_ply(ply.path(), {{}, 0, io::kAllRows}, ctx);
  });
  EXPECT_EQ(table.positions.size(), 0u);
  EXPECT_EQ(table.columns.size(), 1u);
  const std::vector<Vec3d> xyz = {{1, 1, 1}};
  const std::vector<std::uint8_t> skip = {1};
  CloudView hidden;
  hidden.positions = span(xyz);
  hidden.skip = span(skip);
  EXPECT_EQ(write(hidden, io::cloud_export_layout(TextFormat::kXyz)), "");
}

TEST(TextWriter, RefusesColumnsOfAnotherLength) {
  const std::vector<Vec3d> xyz = {{1, 1, 1}, {2, 2, 2}};
  const std::vector<std::uint16_t> short_intensity = {1};
  const AnyColumn short_scalar = column<float>({}), triple = column<Vec3d>({{1, 2, 3}, {1, 2, 3}});
  const TextWriteParams txt = io::cloud_export_layout(TextFormat::kTxt);
  CloudView view;
  view.positions = span(xyz);
  view.intensity = span(short_intensity);
  EXPECT_MESSAGE(error_of([&] { write(view, txt); }), "column intensity has 1 rows, the cloud 2");
  view.intensity = {};
  view.scalars = {{"height", "", &short_scalar}};
  EXPECT_MESSAGE(error_of([&] { write(view, txt); }), "column height has 0 rows, the cloud 2");
  view.scalars = {{"where", "", &triple}};
  EXPECT_EQ(error_of([&] { write(view, txt); }).code(), ErrorCode::kInvalidArgument);
  view.scalars.clear();
  view.stride = 0;
  EXPECT_MESSAGE(error_of([&] { write(view, txt); }), "stride must be at least 1");
}

/// A cloud of several blocks; row i is recognisable by its x.
struct BigSample {
  explicit BigSample(std::size_t rows, double base) {
    std::mt19937 random(9);
    for (std::size_t i = 0; i < rows; ++i) {
      const auto channel = [&] { return static_cast<std::uint16_t>(random()); };
      xyz.push_back({base + static_cast<double>(i), random() / 65536.0 - 30000, random() / 4294967296.0});
      rgb.push_back({channel(), channel(), channel()});
      skip.push_back(random() % 3 == 0 ? 1 : 0);
    }
  }
  CloudView view() const {
    CloudView v;
    v.positions = span(xyz);
    v.colors = span(rgb);
    return v;
  }
  std::vector<Vec3d> xyz;
  std::vector<Rgb16> rgb;
  std::vector<std::uint8_t> skip;
};

TEST(TextWriter, SelectsRowsAndDoesNotDependOnThreads) {
  const BigSample sample(33001, 0);
  for (const bool masked : {false, true}) {
    for (const std::size_t stride : {std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{60000}}) {
      CloudView view = sample.view();
      if (masked) view.skip = span(sample.skip);
      view.stride = stride;
      std::string expected;
      std::size_t rank = 0;
      for (std::size_t i = 0; i < sample.xyz.size(); ++i) {
        if (masked && sample.skip[i] != 0) continue;
        if (rank++ % stride != 0) continue;
        expected += (expected.empty() ? "" : "\n") + by_printf(sample.xyz[i].x) + " " +
                    by_printf(sample.xyz[i].y) + " " + by_printf(sample.xyz[i].z);
      }
      for (const int threads : {1, 2, 5}) {
        ASSERT_TRUE(write(view, io::cloud_export_layout(TextFormat::kXyz), threads) == expected)
            << masked << stride << threads;
      }
    }
  }
  for (const TextFormat format : kFormats) {
    const std::string one = write(sample.view(), io::cloud_export_layout(format), 1);
    for (const int threads : {2, 5})
      EXPECT_TRUE(write(sample.view(), io::cloud_export_layout(format), threads) == one);
  }
}

TEST(TextWriter, PlyReadsBackWithinItsDecimals) {
  for (const double base : {0.0, 431234.567, -1e7}) {
    const BigSample sample(3000, base);
    const AnyColumn id = column<std::uint32_t>([&] {
      std::vector<std::uint32_t> ids(sample.xyz.size());
      for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = 4294967295u - static_cast<std::uint32_t>(i);
      return ids;
    }());
    CloudView view = sample.view();
    view.scalars = {{"id", "", &id}};
    const ScratchFile file(write(view, io::cloud_export_layout(TextFormat::kPly)), ".ply");
    EXPECT_NE(file.contents().find("property double x"), std::string::npos);  // y reaches -30000
    const io::CloudTable table = with_context(2, [&](OpContext& ctx) {
      return io::read_ply(file.path(), {{}, 0, io::kAllRows}, ctx);
    });
    ASSERT_EQ(table.positions.size(), sample.xyz.size());
    EXPECT_TRUE(table.warnings.empty());
    const auto rgb = values_of<Rgb16>(table, "rgb");
    const auto ids = values_of<std::uint32_t>(table, "id");
    for (std::size_t i = 0; i < sample.xyz.size(); ++i) {
      ASSERT_LE(std::fabs(table.positions[i].x - sample.xyz[i].x),
                0.501e-6);  // half a digit and the ulps of 1e7
      ASSERT_LE(std::fabs(table.positions[i].y - sample.xyz[i].y), 0.501e-6);
      ASSERT_EQ(rgb[i].g, sample.rgb[i].g / 256 * 256);
      ASSERT_EQ(ids[i], 4294967295u - static_cast<std::uint32_t>(i));
    }
  }
}

TEST(TextWriter, NamesWhatSixDecimalsChangeAndWhatIsRenamed) {
  const Sample sample;
  CloudView view = sample.view();
  view.positions = view.positions.subspan(0, 2);
  view.colors = {};
  view.intensity = {};
  view.timestamps = {};
  view.beam_origins = {};
  const AnyColumn tenth = column<float>({0.1f, NAN}), third = column<double>({1.0 / 3, 0}),
                  micro = column<double>({0.000001, 1e17}), tiny = column<float>({1e-9f, 1});
  view.scalars = {{"tenth", "", &tenth},
                  {"third", "", &third},
                  {"micro", "", &micro},
                  {"tiny", "", &tiny},
                  {"x", "", &tenth}};
  const ScratchFile file;
  const auto result = with_context(2, [&](OpContext& ctx) {
    return io::write_text(view, io::cloud_export_layout(TextFormat::kPly), file.path(), ctx);
  });
  EXPECT_EQ(result.rounded, (std::vector<std::string>{"third", "tiny"}));
  EXPECT_EQ(result.warnings, std::vector<std::string>{"the column 'x' is named 'x_2' in the file"});
}

/// A reader multiplies by 65535 and rounds.
TEST(TextWriter, TellsWhetherDecimalsChangeAnIntensity) {
  const std::vector<Vec3d> points{{1, 2, 3}, {4, 5, 6}};
  CloudView view;
  view.positions = span(points);
  const ScratchFile file;
  const auto cut = [&](const TextWriteParams& params) {
    return with_context(
        2, [&](OpContext& ctx) { return io::write_text(view, params, file.path(), ctx).intensity_cut; });
  };
  std::size_t kept = 0;
  for (std::uint32_t value = 0; value < 65536; value += value < 200 || value > 65500 ? 1 : 619) {
    const std::vector<std::uint16_t> intensity{0, static_cast<std::uint16_t>(value)};
    view.intensity = span(intensity);
    char text[16];
    std::snprintf(text, sizeof text, "%.4f", value / 65535.0);
    const bool survives = std::floor(std::strtod(text, nullptr) * 65535 + 0.5) == value;
    kept += survives ? 1 : 0;
    ASSERT_EQ(cut(io::cloud_export_layout(TextFormat::kCsv)), !survives) << value;
    ASSERT_EQ(cut(io::scan_export_layout(TextFormat::kXyz)), !survives) << value;
    ASSERT_FALSE(cut(io::scan_export_layout(TextFormat::kPly))) << value << ": six decimals";
    ASSERT_FALSE(cut(io::cloud_export_layout(TextFormat::kXyz))) << value << ": not in the file";
  }
  EXPECT_GT(kept, 20U);
  const std::vector<std::uint16_t> intensity{0, 1};
  const std::vector<std::uint8_t> skip{0, 1};  // leaves out the value that four decimals change
  view.intensity = span(intensity);
  EXPECT_TRUE(cut(io::cloud_export_layout(TextFormat::kTxt)));
  view.skip = span(skip);
  EXPECT_FALSE(cut(io::cloud_export_layout(TextFormat::kTxt)));
}

TEST(TextWriter, StopsSoonWhenCanceledAndReportsDiskErrors) {
  const BigSample sample(20000, 0);
  CloudView view = sample.view();
  // The same column many times over: seconds of work without much memory.
  const AnyColumn real = column<double>(std::vector<double>(20000, 1e299 / 3));
  for (int i = 0; i < 1500; ++i) view.scalars.push_back({"c" + std::to_string(i), "", &real});
  const ScratchFile file;
  test::expect_cancel_after(std::chrono::milliseconds(30), [&](OpContext& ctx) {
    io::write_text(view, io::cloud_export_layout(TextFormat::kTxt), file.path(), ctx);
  });
  EXPECT_EQ(error_of([&] {
              with_context(2, [&](OpContext& ctx) {
                return io::write_text(sample.view(), io::cloud_export_layout(TextFormat::kXyz),
                                      "does/not/exist.xyz", ctx);
              });
            }).code(),
            ErrorCode::kNotFound);
}

}  // namespace
