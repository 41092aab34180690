#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>

#include "io/e57_support.h"
#include "io/xml_reader.h"
#include "support/cancel.h"

namespace {

using namespace pc;
using namespace pc::e57_test;

Scan small_scan() {
  Scan scan = cartesian({{1, 2, 3}, {4, 5, 6}});
  scan.fields.push_back(Field::integer("colorRed", 0, 5, {1, 2}));
  return scan;
}

Bytes small_file() {
  E57File file;
  file.scans = {small_scan()};
  return file.build();
}

/// The file with `from` replaced by `to`, of the same length, and right checksums.
Bytes replaced(Bytes bytes, const std::string& from, const std::string& to) {
  std::string text = text_of(bytes);
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  EXPECT_EQ(from.size(), to.size()) << from;
  text.replace(at, from.size(), to);
  bytes.assign(text.begin(), text.end());
  E57File::seal(bytes);
  return bytes;
}

void expect_refused(const Bytes& bytes, ErrorCode code, const char* part) {
  const Error error = error_of([&] { read_bytes(bytes); });
  EXPECT_EQ(error.code(), code) << error.what();
  EXPECT_MESSAGE(error, part);
}

TEST(E57Robustness, EveryFlippedByteIsReported) {
  const Bytes whole = small_file();
  const std::size_t last = whole.size() - 4;
  std::size_t tested = 0;
  for (std::size_t at = 0; at < whole.size(); at += at < 200 ? 1 : 37) {
    Bytes bytes = whole;
    bytes[at] ^= 0x10;
    const Error error = error_of([&] { read_bytes(bytes); });
    const bool reported = error.code() == ErrorCode::kInvalidFile || error.code() == ErrorCode::kUnsupported;
    EXPECT_TRUE(reported) << at << ": " << error.what();
    if (at >= 48 && at < last) {
      EXPECT_MESSAGE(error, "has checksum") << at;
    }
    ++tested;
  }
  EXPECT_GT(tested, 200u);
}

TEST(E57Robustness, EveryTruncationIsReported) {
  const Bytes whole = small_file();
  for (std::size_t size = 0; size < whole.size(); size += size < 64 ? 1 : 53) {
    const Error error = error_of(
        [&] { read_bytes(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size))); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidFile) << size;
  }
  Bytes longer = whole;
  longer.resize(longer.size() + 100);
  EXPECT_EQ(read_bytes(longer).table.positions.size(), 2u)
      << "bytes behind the declared length do not matter";
}

TEST(E57Robustness, NamesWhatIsWrong) {
  const Bytes file = small_file();
  using enum ErrorCode;
  expect_refused({'n', 'o', ' ', 'e', '5', '7', '!', '!', '!'}, kInvalidFile, "starts with \"ASTM-E57\"");
  const std::string header = text_of(file).substr(0, 48);
  const auto patched = [&](std::size_t at, std::uint8_t value) {
    Bytes bytes = file;
    bytes[at] = value;
    E57File::seal(bytes);
    return bytes;
  };
  expect_refused(patched(8, 2), kUnsupported, "version 2.0");
  expect_refused(patched(41, 8), kUnsupported, "pages of 2048 bytes");
  expect_refused(patched(16, 1), kInvalidFile, "multiple of 1024");
  expect_refused(patched(18, 1), kInvalidFile, "cut off");
  expect_refused(patched(26, 1), kInvalidFile, "the XML section lies at byte");
  expect_refused(patched(34, 1), kInvalidFile, "the XML section has");
  expect_refused(patched(48, 0), kInvalidFile, "must have type 1");
  expect_refused(patched(48, 2), kInvalidFile, "byte 48: a binary section of points must have type 1");
  expect_refused(patched(49, 1), kInvalidFile, "byte 49: the reserved bytes 1 to 7");
  expect_refused(patched(55, 1), kInvalidFile, "byte 49: the reserved bytes 1 to 7");
  expect_refused(patched(56, static_cast<std::uint8_t>(file[56] + 1)), kInvalidFile, "multiple of 4");
  expect_refused(patched(56, 28), kInvalidFile, "byte 56: a binary section declares 28 bytes");
  expect_refused(patched(57, 1), kInvalidFile, "overlap those of another scan or the XML section");
  expect_refused(patched(58, 9), kInvalidFile, "byte 56: a binary section declares");
  expect_refused(patched(64, 48), kInvalidFile, "byte 64: the first packet does not lie inside");
  expect_refused(patched(65, 2), kInvalidFile, "first packet");
  expect_refused(patched(74, 1), kInvalidFile, "byte 72: the index of a binary section lies at byte");
  expect_refused(patched(80, 7), kInvalidFile, "a packet has type 7");
  expect_refused(patched(82, 6), kInvalidFile, "lengths are multiples of 4");
  expect_refused(patched(83, 9), kInvalidFile, "does not fit its section");
  expect_refused(patched(84, 3), kInvalidFile, "3 byte streams, the scan has 4 fields");
  expect_refused(patched(87, 3), kInvalidFile, "longer than its");
  expect_refused(patched(86, 15), kInvalidFile, "need 16 bytes of field cartesianX, the packets hold 15");
  expect_refused(replaced(file, "recordCount=\"2\"", "recordCount=\"9\""), kInvalidFile,
                 "9 points need 72 bytes");
  expect_refused(replaced(file, "recordCount=\"2\"", "recordCount=\"x\""), kInvalidFile, "recordCount \"x\"");
  expect_refused(replaced(file, "fileOffset=\"48\"", "fileOffset=\"-1\""), kInvalidFile, "fileOffset \"-1\"");
  expect_refused(replaced(file, "cartesianZ", "cartesianY"), kInvalidFile, "declared twice");
  expect_refused(replaced(file, "cartesianZ", "cartesianW"), kInvalidFile, "a point needs cartesianX");
  expect_refused(replaced(file, "maximum=\"5\"", "maximum=\"-\""), kInvalidFile, "64-bit integer");
  expect_refused(replaced(file, "minimum=\"0\"", "minimum=\"7\""), kInvalidFile, "below its minimum");
  expect_refused(replaced(file, "<e57Root", "<e57Boot"), kInvalidFile, "end tag does not fit");
  expect_refused(replaced(file, "\"UTF-8\"", "\"UTF-7\""), kUnsupported, "encoding utf-7");
  const Error index = error_of([&] { read_bytes(file, {{}, 1}); });
  EXPECT_EQ(index.code(), kInvalidArgument);
  EXPECT_MESSAGE(index, "scan_index 1 is too large, the file has 1 scan(s)");
  const Error scale = error_of([&] { read_bytes(file, {{0.0, {0, 0, 0}}, std::nullopt}); });
  EXPECT_EQ(scale.code(), kInvalidArgument);
  EXPECT_EQ(error_of([] { read_path("/nowhere.e57"); }).code(), kNotFound);
}

TEST(E57Robustness, RefusesOtherCodecsAndZeroQuaternions) {
  Scan scan = small_scan();
  scan.codecs = "<vectorChild type=\"Structure\"><bitPackCodec type=\"Structure\"/></vectorChild>";
  EXPECT_EQ(read_scans({scan}).table.positions.size(), 2u);
  scan.codecs = "<vectorChild type=\"Structure\"><zipCodec type=\"Structure\"/></vectorChild>";
  EXPECT_EQ(error_of([&] { read_scans({scan}); }).code(), ErrorCode::kUnsupported);
  Scan posed = small_scan();
  posed.xml = pose_xml(0, 0, 0, 0, {1, 1, 1});
  EXPECT_MESSAGE(error_of([&] { read_scans({posed}); }), "quaternion is zero");
}

TEST(E57Robustness, LeavesTextFieldsOut) {
  Scan scan = small_scan();
  scan.fields.push_back({"remark", "type=\"String\"", 8, 0, {2, 65}});
  const E57Cloud cloud = read_scans({scan});
  EXPECT_EQ(cloud.table.positions.size(), 2u);
  EXPECT_EQ(find_column(cloud.table, "remark"), nullptr);
  ASSERT_EQ(cloud.table.warnings.size(), 1u);
  EXPECT_EQ(cloud.table.warnings[0], "scan 0: field remark is text and is left out");
}

TEST(E57Robustness, RefusesScansThatShareBytesAndPointsWithoutBytes) {
  E57File file;
  file.scans = {small_scan(), small_scan()};
  const std::string text = text_of(file.build());
  const std::size_t second = text.find("fileOffset=\"", text.find("fileOffset=\"") + 5);
  std::string same = text;
  const std::size_t end = same.find('"', second + 12);
  same.replace(second, end - second + 1, "fileOffset=\"48\"" + std::string(end - second + 1 - 15, ' '));
  Bytes bytes(same.begin(), same.end());
  E57File::seal(bytes);
  expect_refused(bytes, ErrorCode::kInvalidFile, "overlap those of another scan");
  Scan constant;
  for (const char* name : {"cartesianX", "cartesianY", "cartesianZ"}) {
    constant.fields.push_back(Field::integer(name, 4, 4, {4}));
  }
  EXPECT_EQ(points_of(read_scans({constant}).table), (std::vector<Vec3d>{{4, 4, 4}}));
  E57File many;
  many.scans = {constant};
  many.scans[0].xml = "<name type=\"String\">0000000000</name>";
  const std::string one = text_of(many.build());
  std::string huge = one;
  huge.replace(huge.find("recordCount=\"1\""), 15, "recordCount=\"9");
  huge.replace(huge.find("0000000000</name>"), 10, "");
  huge.insert(huge.find("recordCount=\"9") + 14, "0000000000\"");
  huge.resize(one.size());
  bytes.assign(huge.begin(), huge.end());
  E57File::seal(bytes);
  expect_refused(bytes, ErrorCode::kInvalidFile, "bytes cannot hold them");
}

TEST(E57Robustness, CancelComesInTime) {
  Scan scan;
  const std::size_t points = 400000;
  const std::vector<double> values(points, 1.5);
  scan.fields = {Field::real("sphericalRange", values), Field::real("sphericalAzimuth", values),
                 Field::real("sphericalElevation", values)};
  scan.packet_bytes = 60000;
  E57File file;
  file.scans = {scan};
  const ScratchFile scratch(text_of(file.build()), ".e57");
  test::expect_cancel_after(std::chrono::milliseconds(30), [&](OpContext& ctx) {
    for (;;) io::read_e57(scratch.path(), {}, ctx);
  });
}

TEST(XmlReader, RefusesWhatCouldExpandOrConfuse) {
  const auto parse = [](const std::string& text) {
    BulkVector<char> bytes(text.size());
    std::copy(text.begin(), text.end(), bytes.begin());
    return io::XmlDocument::parse(std::move(bytes), "x");
  };
  const auto document = parse(
      "<?xml version='1.0'?><!-- c --><a b=\"1&lt;2\" c='\"'>\n <d>x &amp; "
      "<![CDATA[<&>]]>&#65;&#xe9;</d><e/></a>\n");
  EXPECT_EQ(document.root().attribute("b"), "1<2");
  EXPECT_EQ(document.root().attribute("c"), "\"");
  EXPECT_EQ(document.root().attribute("d"), std::nullopt);
  EXPECT_EQ(document.root().child("d")->text(), "x & <&>A\xc3\xa9");
  EXPECT_EQ(document.root().child("d")->next_sibling()->name(), "e");
  EXPECT_EQ(document.root().child("e")->text(), "");
  std::string deep, wide = "<a";
  for (int i = 0; i < 100; ++i) deep += "<a>";
  for (int i = 0; i < 70; ++i) wide += " n" + std::to_string(i) + "=''";
  const struct {
    std::string text;
    const char* part;
  } cases[] = {
      {"", "root element is missing"},
      {"</a>", "root element is missing"},
      {"<![CDATA[]]>", "<! markup is not allowed"},
      {"<!DOCTYPE a [<!ENTITY x \"y\">]><a>&x;</a>", "document type declaration"},
      {"<a>&x;</a>", "'&' must start"},
      {"<a>&#0;</a>", "'&' must start"},
      {"<a>&#xd800;</a>", "'&' must start"},
      {"<a b='&x;'/>", "'&' must start"},
      {"<a><b></a></b>", "end tag does not fit element b"},
      {"<a>", "ends inside element a"},
      {"<a", "must end with > or />"},
      {"<a b/>", "needs a value"},
      {"<a b=1/>", "in quotes"},
      {"<a b='1/>", "not closed"},
      {"<a b='<'/>", "'<' is not allowed"},
      {"<a b='' b=''/>", "given twice"},
      {"<a b=''c=''/>", "separated by blanks"},
      {"<a/><b/>", "may follow the root"},
      {"<a><!-- </a>", "comment is not closed"},
      {"<a><![CDATA[ </a>", "CDATA section is not closed"},
      {"<1/>", "a name is expected"},
      {std::string("<a>\0</a>", 8), "control character 0"},
      {deep, "deeper than 64"},
      {wide + "/>", "more than 64 attributes"},
  };
  for (const auto& c : cases) {
    const Error error = error_of([&] { parse(c.text); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidFile);
    EXPECT_MESSAGE(error, c.part);
  }
}

TEST(XmlReader, TimeIsLinear) {
  // Ten times the elements take ten times as long, a hundred times if it were quadratic. A ratio holds on busy machines.
  const auto seconds_of = [](int elements) {
    std::string text = "<a b='1' c='2'>";
    for (int i = 0; i < elements; ++i) text += "<b c='d'>&lt;</b>";
    text += "</a>";
    double least = std::numeric_limits<double>::infinity();
    for (int run = 0; run < 3; ++run) {
      BulkVector<char> bytes(text.size());
      std::copy(text.begin(), text.end(), bytes.begin());
      const auto start = std::chrono::steady_clock::now();
      io::XmlDocument::parse(std::move(bytes), "x");
      least =
          std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    return least;
  };
  const double few = seconds_of(20'000), many = seconds_of(200'000);
  EXPECT_LT(many, 30 * few);
}

}  // namespace
