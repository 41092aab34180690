#include "io/ply.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "io/ply_support.h"

namespace {

using namespace pc;
using namespace pc::record_test;

constexpr double kInf = std::numeric_limits<double>::infinity();

template <class T>
void check_type(const std::string& name) {
  using Limits = std::numeric_limits<T>;
  const std::vector<T> values = {Limits::lowest(), Limits::max(), T{0}, T{1}, static_cast<T>(2.5)};
  for (const std::string format : kFormats) {
    SCOPED_TRACE(name + " " + format);
    std::string as_scalar = header(format, values.size(), {"float x", "float y", name + " v", "float z"});
    std::string as_x = header(format, values.size(), {"float y", name + " x", "float z"});
    for (const T v : values) {
      as_scalar += encode(format, 1.5f) + encode(format, -2.f) + encode(format, v) + encode(format, 3.f) +
                   row_end(format);
      as_x += encode(format, 1.5f) + encode(format, v) + encode(format, 3.f) + row_end(format);
    }
    const CloudTable table = read(as_scalar);
    EXPECT_EQ(values_of<T>(table, "v"), values);
    EXPECT_EQ(points_of(table), std::vector<Vec3d>(5, Vec3d{1.5, -2, 3}));
    EXPECT_TRUE(find_column(table, "v")->extra);
    const CloudTable moved = read(as_x, {{2.0, {10, 20, 30}}, 0, kAllRows});
    std::vector<Vec3d> expected;
    for (const T v : values) {
      const double x = static_cast<double>(v) * 2.0 - 10;  // the largest doubles overflow and are dropped
      if (std::isfinite(x)) expected.push_back({x, -17, -24});
    }
    EXPECT_EQ(points_of(moved), expected);
    EXPECT_EQ(moved.nonfinite_dropped, values.size() - expected.size());
  }
}

TEST(Ply, ReadsEveryTypeInEveryFormat) {
  check_type<std::int8_t>("char");
  check_type<std::int8_t>("int8");
  check_type<std::uint8_t>("uchar");
  check_type<std::uint8_t>("uint8");
  check_type<std::int16_t>("short");
  check_type<std::int16_t>("int16");
  check_type<std::uint16_t>("ushort");
  check_type<std::uint16_t>("uint16");
  check_type<std::int32_t>("int");
  check_type<std::int32_t>("int32");
  check_type<std::uint32_t>("uint");
  check_type<std::uint32_t>("uint32");
  check_type<float>("float");
  check_type<float>("float32");
  check_type<double>("double");
  check_type<double>("float64");
}

TEST(Ply, ReadsTheHeader) {
  const std::string text =
      "ply\r\nformat binary_big_endian 1.0\r\ncomment made by hand\r\nobj_info two  words\r\nelement face "
      "7\r\n"
      "property list uchar int vertex_indices\r\ncomment between\r\nelement vertex 3\r\nproperty double x\r\n"
      "property float my value\r\nend_header\r\n";
  const io::PlyHeader h = io::read_ply_header(ScratchFile(text + "\n\n").path());
  EXPECT_EQ(h.format, io::PlyFormat::kBinaryBigEndian);
  EXPECT_EQ(h.comments, (std::vector<std::string>{"made by hand", "two words", "between"}));
  ASSERT_EQ(h.elements.size(), 2u);
  EXPECT_EQ(h.elements[0].count, 7u);
  EXPECT_TRUE(h.elements[0].properties[0].is_list);
  EXPECT_EQ(h.elements[0].properties[0].count_type, DType::kU8);
  EXPECT_EQ(h.elements[0].properties[0].type, DType::kI32);
  EXPECT_EQ(h.vertex_count(), 3u);
  EXPECT_EQ(h.vertex()->properties[1].name, "my value");
  EXPECT_EQ(h.body_offset, text.size());
  EXPECT_EQ(h.line_count, 11u);
}

TEST(Ply, TakesEveryLineEnd) {
  for (const std::string end : {"\n", "\r\n", "\r"}) {
    std::string text = header("ascii", 2, kXyz) + "1 2 3\n\n4 5 6\n", converted;
    for (const char c : text) converted += c == '\n' ? end : std::string(1, c);
    EXPECT_EQ(points_of(read(converted)), (std::vector<Vec3d>{{1, 2, 3}, {4, 5, 6}}));
  }
}

TEST(Ply, ReadsOverListsAndOtherElements) {
  for (const std::string format : kFormats) {
    SCOPED_TRACE(format);
    const CloudTable table = read(mixed_file(format));
    EXPECT_EQ(points_of(table), (std::vector<Vec3d>{{0, 10, 20}, {1, 11, 21}, {2, 12, 22}}));
    EXPECT_EQ(values_of<std::uint8_t>(table, "class"), (std::vector<std::uint8_t>{100, 101, 102}));
    ASSERT_EQ(table.warnings.size(), 1u);
    EXPECT_NE(table.warnings[0].find("\"neighbours\" is a list"), std::string::npos);
    EXPECT_EQ(points_of(read(mixed_file(format), {{}, 1, 1})), (std::vector<Vec3d>{{1, 11, 21}}));
    EXPECT_EQ(points_of(read(mixed_file(format), {{}, 3, 1})).size(), 0u);
  }
}

TEST(Ply, ScalesColours) {
  const auto rgb = [](const std::string& types, const std::string& row,
                      const char* names = "red green blue") {
    std::istringstream type_words(types), name_words(names);
    std::string text =
        "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\n";
    for (std::string type, name; type_words >> type && name_words >> name;)
      text += "property " + type + " " + name + "\n";
    return read(text + "end_header\n0 0 0 " + row + "\n");
  };
  const auto color = [](const CloudTable& table) { return values_of<Rgb16>(table, "rgb").at(0); };
  EXPECT_EQ(color(rgb("uchar uchar uchar", "255 1 0")), (Rgb16{65280, 256, 0}));
  EXPECT_EQ(color(rgb("ushort ushort ushort", "255 65535 1")), (Rgb16{255, 65535, 1}));
  EXPECT_EQ(color(rgb("float float float", "1 0.5 0")), (Rgb16{65535, 32768, 0}));
  EXPECT_EQ(color(rgb("float float float", "255 128 nan")), (Rgb16{65280, 32768, 0}));
  EXPECT_EQ(color(rgb("int int int", "255 1 -4")), (Rgb16{65280, 256, 0}));
  EXPECT_EQ(color(rgb("int int int", "70000 1000 3")), (Rgb16{65535, 1000, 3}));
  EXPECT_EQ(color(rgb("uchar uchar uchar", "1 2 3", "diffuse_red diffuse_green diffuse_blue")),
            (Rgb16{256, 512, 768}));
  EXPECT_EQ(color(rgb("uchar uchar uchar", "1 2 3", "b g r")), (Rgb16{768, 512, 256}));
  EXPECT_EQ(rgb("int int int", "70000 1000 3").warnings.size(), 1u);

  const CloudTable with_alpha =
      rgb("uchar uchar uchar uchar float", "1 2 3 4 5", "red green blue alpha intensity");
  ASSERT_EQ(with_alpha.columns.size(), 3u);
  EXPECT_EQ(with_alpha.columns[0].name, "rgb");
  EXPECT_EQ(values_of<std::uint8_t>(with_alpha, "alpha"), std::vector<std::uint8_t>{4});
  for (const io::NamedColumn& column : with_alpha.columns) EXPECT_FALSE(column.extra);
  const CloudTable partial = rgb("uchar uchar", "1 2", "red green");
  EXPECT_EQ(values_of<std::uint8_t>(partial, "green"), std::vector<std::uint8_t>{2});
  EXPECT_EQ(find_column(partial, "rgb"), nullptr);
}

TEST(Ply, DropsPointsThatAreNotFinite) {
  for (const std::string format : kFormats) {
    std::string f = header(format, 5, {"float x", "float y", "double z", "int id"});
    const double z[] = {1, std::nan(""), 2, -kInf, 3};
    for (int i = 0; i < 5; ++i) {
      f += encode(format, static_cast<float>(i)) + encode(format, 0.f) + encode(format, z[i]) +
           encode(format, i) + row_end(format);
    }
    const CloudTable table = read(f);
    EXPECT_EQ(points_of(table), (std::vector<Vec3d>{{0, 0, 1}, {2, 0, 2}, {4, 0, 3}})) << format;
    EXPECT_EQ(values_of<std::int32_t>(table, "id"), (std::vector<std::int32_t>{0, 2, 4}));
    EXPECT_EQ(table.nonfinite_dropped, 2u);
    EXPECT_EQ(table.malformed_dropped, 0u);
  }
}

TEST(Ply, ParsesAsciiNumbersExactly) {
  const CloudTable table =
      read(header("ascii", 6, {"float x", "float y", "float z", "float v", "int n"}) +
           "431234.567 5e-1 +7 0.1 2147483647\n"
           "1 2 3 1.#QNAN 3.0\n1 2 3 -1.#INF 1e3\n1 2 3 1e-60 -0\n1 2 3 -inf -2147483648\n"
           "1e-400 -0.000 1 nan(ind) +5\n");
  EXPECT_EQ(table.positions[0], (Vec3d{431234.567, 0.5, 7}));  // more digits than float32 has
  const auto v = values_of<float>(table, "v");
  EXPECT_EQ(v[0], 0.1f);
  EXPECT_TRUE(std::isnan(v[1]));
  EXPECT_EQ(v[2], -std::numeric_limits<float>::infinity());
  EXPECT_EQ(v[3], 0.f);
  EXPECT_EQ(v[4], -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(v[5]));
  EXPECT_EQ(values_of<std::int32_t>(table, "n"),
            (std::vector<std::int32_t>{2147483647, 3, 1000, 0, -2147483647 - 1, 5}));
  EXPECT_EQ(table.positions[5], (Vec3d{0, 0, 1}));
}

TEST(Ply, LeavesOutRowsThatCannotBeReadAndSaysWhich) {
  const CloudTable table = read(header("ascii", 7, {"float x", "float y", "float z", "uchar c"}) +
                                "0 0 0 1\n1 1 1 256\n2 2 2\n3 3 3 1.5\n4 4 4 4 9\n5 5 0x5 5\n6 nan 6 6\n");
  EXPECT_EQ(points_of(table), (std::vector<Vec3d>{{0, 0, 0}, {4, 4, 4}}));
  EXPECT_EQ(values_of<std::uint8_t>(table, "c"), (std::vector<std::uint8_t>{1, 4}));
  EXPECT_EQ(table.malformed_dropped, 4u);
  EXPECT_EQ(table.nonfinite_dropped, 1u);
  ASSERT_EQ(table.warnings.size(), 2u);
  EXPECT_NE(table.warnings[0].find("line 10: \"256\" is not a value of \"c\" (u8)"), std::string::npos)
      << table.warnings[0];
  EXPECT_NE(table.warnings[1].find("1 row(s) hold more values"), std::string::npos);
}

TEST(Ply, CountsLinesAcrossTheWholeFile) {
  std::string text = header("ascii", 60000, kXyz);
  for (int i = 0; i < 60000; ++i) text += i == 59000 ? "\noops\n" : "1 2 3\n";
  const CloudTable table = read(text);
  ASSERT_EQ(table.warnings.size(), 1u);
  EXPECT_NE(table.warnings[0].find("the first is line 59009: \"oops\""), std::string::npos)
      << table.warnings[0];
}

TEST(Ply, NamesWhatIsWrong) {
  const std::string head = "ply\nformat ascii 1.0\n", vertex = "element vertex 1\n";
  const std::string xyz = "property float x\nproperty float y\nproperty float z\n";
  const struct {
    std::string text;
    const char* part;
  } cases[] = {
      {"", "line 1: a PLY file starts with \"ply\""},
      {"plyx\n", "line 1: a PLY file starts with"},
      {"ply\n", "line 2: the file ends inside the PLY header"},
      {head + vertex + xyz, "line 7: the file ends inside the PLY header"},
      {"ply\nformat ascii 2.0\nend_header\n", "line 2: PLY version \"2.0\" is not supported"},
      {"ply\nformat utf8 1.0\n", "line 2: unknown PLY format \"utf8\""},
      {"ply\n" + vertex + xyz + "end_header\n1 2 3\n", "no format line"},
      {head + "element vertex -5\n", "line 3: the count of element \"vertex\" is \"-5\""},
      {head + "element vertex 99999999999999999999\n", "must be a whole number"},
      {head + "property float x\n", "line 3: a property before the first element"},
      {head + vertex + "property half x\n", "line 4: \"half\" is not a PLY type"},
      {head + vertex + "property list float int x\n", "must have an integer type"},
      {head + vertex + "propertie float x\n", "line 4: \"propertie\" is not a PLY header keyword"},
      {head + "end_header\n", "no vertex element (found: no element)"},
      {head + "element face 3\nend_header\n", "no vertex element (found: face)"},
      {head + vertex + "property float x\nproperty float y\nend_header\n1 2\n", "one scalar property z"},
      {head + vertex + xyz + "property float x\nend_header\n1 2 3 4\n",
       "one scalar property x, this file declares 2"},
      {head + vertex + xyz + "end_header\n", "declares 1 vertices, the file holds no complete one"},
      {head + vertex + xyz + "end_header\n1,2,3\n",
       "no row can be read; line 8: \"1,2,3\" is not a value of \"x\" (f32); values must be separated by "
       "blanks"},
      {head + vertex + xyz + "end_header\n1 2\n", "line 8: 2 value(s) found, 3 expected"},
      {header("binary_little_endian", 2, kXyz) + "12345678901", "ends before the first one is complete"},
      {header("binary_little_endian", 1, {"list char int l", "float x", "float y", "float z"}) + "\xff",
       "negative count -1"},
  };
  for (const auto& c : cases) {
    const Error error = error_of([&] { read(c.text); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidFile);
    EXPECT_MESSAGE(error, c.part);
  }
  EXPECT_EQ(error_of([] { read_path("does/not/exist.ply"); }).code(), ErrorCode::kNotFound);
  std::string wide = head + vertex;
  for (int i = 0; i < 5000; ++i) wide += "property uchar p" + std::to_string(i) + "\n";
  EXPECT_MESSAGE(error_of([&] { read(wide); }), "more than 4096 properties");
  const Error long_line = error_of([&] { read(header("ascii", 2, kXyz) + std::string(17u << 20, 'a')); });
  EXPECT_MESSAGE(long_line, "longer than 16 MiB");
  EXPECT_MESSAGE(error_of([&] { read("ply\n" + std::string(5u << 20, 'a')); }), "longer than 4 MiB");
}

TEST(Ply, ReadsAnEmptyCloudAndWindows) {
  for (const std::string format : kFormats) {
    const CloudTable empty = read(header(format, 0, {"float x", "float y", "float z", "int v"}));
    EXPECT_EQ(empty.positions.size(), 0u);
    EXPECT_EQ(empty.columns.size(), 1u);
    EXPECT_TRUE(empty.warnings.empty());
    std::string f = header(format, 10, kXyz);
    for (int i = 0; i < 10; ++i) {
      for (int k = 0; k < 3; ++k) f += encode(format, static_cast<float>(i));
      f += row_end(format);
    }
    EXPECT_EQ(points_of(read(f, {{}, 4, 2})), (std::vector<Vec3d>{{4, 4, 4}, {5, 5, 5}}));
    EXPECT_EQ(points_of(read(f, {{}, 9, kAllRows})), (std::vector<Vec3d>{{9, 9, 9}}));
    EXPECT_EQ(points_of(read(f, {{}, kAllRows, kAllRows})).size(), 0u);
  }
}

TEST(Ply, ShowsSampleRows) {
  const auto sample = [](const std::string& text, std::size_t rows) {
    const ScratchFile file(text, ".ply");
    return with_context(1, [&](OpContext& ctx) {
      return io::read_ply_sample_rows(file.path(), io::read_ply_header(file.path()), rows, ctx);
    });
  };
  using Rows = std::vector<std::vector<std::string>>;
  EXPECT_EQ(sample(mixed_file("ascii"), 2), (Rows{{"0", "10", "100", "20"}, {"1", "11", "101", "21"}}));
  EXPECT_EQ(sample(mixed_file("ascii"), 20).size(), 3u);
  EXPECT_EQ(sample(mixed_file("binary_big_endian"), 20), Rows{}) << "lists before the vertices";
  for (const std::string format : kFormats) {
    SCOPED_TRACE(format);
    std::string text =
        header(format, 3, {"float x", "list uchar short l", "double y", "uchar z", "int tree"});
    for (int i = 0; i < 3; ++i) {
      text += encode(format, 0.1f) + encode(format, static_cast<std::uint8_t>(i));
      for (int k = 0; k < i; ++k) text += encode(format, std::int16_t{-7});
      text +=
          encode(format, 1e7 + i) + encode(format, std::uint8_t{200}) + encode(format, -i) + row_end(format);
    }
    const Rows rows = sample(text, 20);
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_EQ(std::stof(rows[2][0]), 0.1f);
    EXPECT_EQ((std::vector<std::string>(rows[2].begin() + 1, rows[2].end())),
              (std::vector<std::string>{"10000002", "200", "-2"}));
    const auto cut = sample(text.substr(0, text.size() - 3), 20);
    EXPECT_EQ(cut.size(), format == "ascii" ? 3u : 2u);
    EXPECT_EQ(sample(text, 1).size(), 1u);
  }
  EXPECT_EQ(sample(header("binary_little_endian", std::size_t{1} << 62, kXyz), 20), Rows{});
}

}  // namespace
