#include "io/ptx.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <random>

#include "core/memory.h"
#include "io/pts.h"
#include "io/record_support.h"
#include "support/cancel.h"

namespace {

using namespace pc;
using namespace pc::record_test;
using io::PtxCloud;
using io::PtxReadParams;

PtxCloud read_ptx_path(const std::string& path, const PtxReadParams& params = {}, int threads = 2) {
  return with_context(threads, [&](OpContext& ctx) { return io::read_ptx(path, params, ctx); });
}

PtxCloud read_ptx_text(const std::string& text, const PtxReadParams& params = {}, int threads = 2) {
  return read_ptx_path(ScratchFile(text, ".ptx").path(), params, threads);
}

io::PtxHead head_of(const std::string& text, std::uint64_t max_bytes = ~std::uint64_t{0},
                    std::size_t rows = 3) {
  const ScratchFile file(text, ".ptx");
  return with_context(1,
                      [&](OpContext& ctx) { return io::read_ptx_head(file.path(), rows, max_bytes, ctx); });
}

std::string ptx_header(int columns, int rows, const std::string& translation = "0 0 0") {
  return std::to_string(columns) + "\n" + std::to_string(rows) + "\n" + translation +
         "\n1 0 0\n0 1 0\n0 0 1\n1 0 0 0\n0 1 0 0\n0 0 1 0\n" + translation + " 1\n";
}

TEST(Ptx, ReadsColumnsRowsAndMisses) {
  const std::string text = ptx_header(2, 2, "10 20 30") +
                           "1 2 3 0 10 20 30\n0 0 0 0.5 0 0 0\n-1 0 0 1 255 300 -4\n4 5 6 0.25 1 2 3\n";
  const PtxCloud cloud = read_ptx_text(text, {{0.5, {5, 0, 0}}, std::nullopt});
  const io::CloudTable& t = cloud.table;
  EXPECT_EQ(points_of(t), (std::vector<Vec3d>{{0.5, 11, 16.5}, {0, 10, 15}, {-0.5, 10, 15}, {2, 12.5, 18}}));
  EXPECT_EQ(values_of<Rgb16>(t, "rgb"),
            (std::vector<Rgb16>{{2560, 5120, 7680}, {0, 0, 0}, {65280, 65280, 0}, {256, 512, 768}}));
  EXPECT_EQ(values_of<std::uint16_t>(t, "intensity"), (std::vector<std::uint16_t>{0, 0, 65535, 16384}));
  EXPECT_EQ(values_of<std::int32_t>(t, "row_index"), (std::vector<std::int32_t>{0, 1, 0, 1}));
  EXPECT_EQ(values_of<std::int32_t>(t, "column_index"), (std::vector<std::int32_t>{0, 0, 1, 1}));
  EXPECT_EQ(values_of<std::uint8_t>(t, "is_miss"), (std::vector<std::uint8_t>{0, 1, 0, 0}));
  EXPECT_EQ(find_column(t, "scan_index"), nullptr);
  EXPECT_EQ(cloud.unplaceable_miss_count, 1u);
  EXPECT_EQ(cloud.scans[0].origin_stored, (Vec3d{0, 10, 15}));
  EXPECT_TRUE(t.warnings.empty());
}

TEST(Ptx, ReadsOddTextTheSame) {
  const std::string plain = ptx_header(1, 3) + "1 2 3 0.5\nnan nan nan 0.5\n7 8 9 0.5\n";
  const PtxCloud want = read_ptx_text(plain);
  std::string crlf, cr, blank = "\xef\xbb\xbf\n\n";
  for (const char c : plain) {
    crlf += c == '\n' ? "\r\n" : std::string(1, c);
    cr += c == '\n' ? '\r' : c;
    blank += c == '\n' ? " \t\n\n" : std::string(1, c == ' ' ? '\t' : c);
  }
  for (const std::string& text : {crlf, cr, blank, plain.substr(0, plain.size() - 1)}) {
    expect_same(want.table, read_ptx_text(text).table);
  }
  EXPECT_EQ(want.unplaceable_miss_count, 1u);
  EXPECT_EQ(head_of(blank).scans.at(0).header.rows, 3u);
}

TEST(Ptx, ScalesUnusualColourAndIntensity) {
  const PtxCloud unit =
      read_ptx_text(ptx_header(1, 3) + "1 1 1 0.1 1 0.5019608 0\n1 1 1 0.1 0 0 0\n2 2 2 1 0 1 0.2\n");
  EXPECT_EQ(values_of<Rgb16>(unit.table, "rgb"),
            (std::vector<Rgb16>{{65280, 128 * 256, 0}, {0, 0, 0}, {0, 65280, 51 * 256}}));
  const PtxCloud ones = read_ptx_text(ptx_header(1, 1) + "1 1 1 0.1 1 1 0\n");
  EXPECT_EQ(values_of<Rgb16>(ones.table, "rgb"), (std::vector<Rgb16>{{256, 256, 0}}));
  const PtxCloud wide = read_ptx_text(ptx_header(1, 4) + "1 1 1 -2048\n2 2 2 2047\n0 0 0 9999\n3 3 3 -0.5\n");
  EXPECT_EQ(values_of<std::uint16_t>(wide.table, "intensity"),
            (std::vector<std::uint16_t>{0, 65535, 0, 32768}));
  EXPECT_EQ(find_column(wide.table, "rgb"), nullptr);
  const PtxCloud bare = read_ptx_text(ptx_header(1, 1) + "1 1 1\n");
  EXPECT_EQ(find_column(bare.table, "intensity"), nullptr);
}

TEST(Ptx, LeavesBadLinesOutAndSaysSo) {
  const PtxCloud cloud = read_ptx_text(ptx_header(1, 4) + "1 1 1 0.5\n2 2\n3 x 3 0.5\n4 4 4 0.5 1 2 3 9\n");
  EXPECT_EQ(points_of(cloud.table), (std::vector<Vec3d>{{1, 1, 1}, {4, 4, 4}}));
  EXPECT_EQ(values_of<std::int32_t>(cloud.table, "row_index"), (std::vector<std::int32_t>{0, 3}));
  EXPECT_EQ(cloud.table.malformed_dropped, 2u);
  EXPECT_EQ(cloud.scans[0].row_count, 2u);
  ASSERT_EQ(cloud.table.warnings.size(), 2u);
  EXPECT_EQ(cloud.table.warnings[0],
            "2 line(s) could not be read as points and are left out; the first is line 12");
}

TEST(Ptx, GivesWhatACutFileHolds) {
  const std::string whole = ptx_header(1, 3) + "1 1 1 0.5\n2 2 2 0.25";
  const PtxCloud cut = read_ptx_text(whole);
  EXPECT_EQ(points_of(cut.table), (std::vector<Vec3d>{{1, 1, 1}})) << "the last number may be cut short";
  ASSERT_EQ(cut.table.warnings.size(), 1u);
  EXPECT_EQ(cut.table.warnings[0],
            "scan 0 declares 3 points, the file holds 1 complete ones: the rest is missing");
  EXPECT_EQ(read_ptx_text(whole + "\n").table.positions.size(), 2u);
}

TEST(Ptx, NamesWhatIsWrong) {
  const std::string head = ptx_header(1, 1);
  const auto swapped = [&](const std::string& from, const std::string& to) {
    std::string text = head + "1 1 1 1\n";
    return text.replace(text.find(from), from.size(), to);
  };
  const struct {
    std::string text;
    const char* part;
  } cases[] = {
      {"", "ends inside the PTX header"},
      {"\n\n", "no PTX scan"},
      {"1 2 3\n", "line 1: \"1 2 3\" must be the number of columns"},
      {"1\n-1\n" + head.substr(4), "line 2: \"-1\" must be the number of rows"},
      {"1\n2147483648\n" + head.substr(4), "the number of rows"},
      {"5\n5\n", "ends inside the header of scan 0"},
      {swapped("1 0 0\n", "1 0\n"), "line 4: \"1 0\" must be a scanner axis"},
      {swapped("0 0 0\n", "0 nan 0\n"), "the scanner position"},
      {swapped("0 1 0 0", "0 1 0 5"), "ending in 0"},
      {swapped("0 0 0 1\n", "0 0 0 2\n"), "ending in 1"},
      {swapped("0 0 0 1\n", "1e308 0 0 1\n"), "out of the range"},
      {head, "the file holds no complete one"},
      {head + "x y z\n", "line 11: no line can be read as a point"},
      {head + "1 1 1 1\n2 2 2 2\n", "line 12: \"2 2 2 2\" must be the number of columns"},
  };
  for (const auto& c : cases) {
    const Error error = error_of([&] { read_ptx_text(c.text, {{1e10, {0, 0, 0}}, std::nullopt}); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidFile);
    EXPECT_MESSAGE(error, c.part);
  }
  const Error index = error_of([&] { read_ptx_text(head + "1 1 1 1\n", {{}, 1}); });
  EXPECT_EQ(index.code(), ErrorCode::kInvalidArgument);
  EXPECT_MESSAGE(index, "scan_index 1 is too large, the file has 1 scan(s)");
  EXPECT_EQ(read_ptx_text(ptx_header(0, 7)).table.positions.size(), 0u);
}

/// Many scans of different sizes, some empty, some coloured.
std::string many_scans(int count) {
  std::mt19937 random(5);
  std::string text;
  for (int s = 0; s < count; ++s) {
    const int columns = static_cast<int>(random() % 40), rows = static_cast<int>(random() % 90);
    text += ptx_header(columns, rows, std::to_string(s) + " 0 0");
    for (int i = 0; i < columns * rows; ++i) {
      text += random() % 5 == 0 ? "0 0 0 0.5"
                                : std::to_string(random() % 1000 / 8.0) + " 2 " + std::to_string(i) + " 0.25";
      text += s % 2 == 0 ? " 1 2 3\n" : "\n";
    }
  }
  return text;
}

TEST(Ptx, ManyScansAreTheSameForAnyThreadCountAndOneByOne) {
  const ScratchFile file(many_scans(60), ".ptx");
  const PtxCloud all = read_ptx_path(file.path(), {}, 1);
  ASSERT_EQ(all.scans.size(), 60u);
  for (const int threads : {2, 5}) expect_same(all.table, read_ptx_path(file.path(), {}, threads).table);
  const auto scan_index = values_of<std::uint16_t>(all.table, "scan_index");
  const auto points = points_of(all.table);
  for (const std::uint32_t s : {0U, 1U, 31U, 59U}) {
    const PtxCloud one = read_ptx_path(file.path(), {{}, s});
    EXPECT_EQ(one.scan_count, 60u);
    const auto& scan = all.scans[s];
    ASSERT_EQ(one.table.positions.size(), scan.row_count);
    EXPECT_EQ(one.scans[0].miss_count, scan.miss_count);
    const auto first = points.begin() + static_cast<std::ptrdiff_t>(scan.first_row);
    EXPECT_EQ(points_of(one.table),
              std::vector<Vec3d>(first, first + static_cast<std::ptrdiff_t>(scan.row_count)));
    if (scan.row_count != 0) {
      EXPECT_EQ(scan_index[static_cast<std::size_t>(scan.first_row)], s);
    }
  }
}

TEST(Ptx, CancelComesInTime) {
  const ScratchFile file(many_scans(200), ".ptx");
  test::expect_cancel_after(std::chrono::milliseconds(30), [&](OpContext& ctx) {
    for (;;) io::read_ptx(file.path(), {}, ctx);
  });
}

TEST(PtxData, ReadsTheSharedFiles) {
  if (data_file("ptx_pts").empty()) GTEST_SKIP() << "no shared test data: set APP_TEST_DATA to its folder";
  const PtxCloud turned = read_ptx_path(data_file("ptx_pts/complex-transform.ptx"));
  ASSERT_EQ(turned.table.positions.size(), 12u);
  EXPECT_EQ(turned.unplaceable_miss_count, 8u);
  EXPECT_EQ(turned.scans[0].origin_stored, (Vec3d{-3.028748, -3.819741, -1.384333}));
  // [x y z 1] M by hand for the fifth cell.
  const double x = -0.005630, y = 0.645218, z = -0.440506;
  const Vec3d p = turned.table.positions[4];
  EXPECT_NEAR(p.x, x * 0.999979 + y * 0.003613 + z * 0.005359 - 3.028748, 1e-12);
  EXPECT_NEAR(p.y, -x * 0.003604 + y * 0.999992 - z * 0.001650 - 3.819741, 1e-12);
  EXPECT_NEAR(p.z, -x * 0.005365 + y * 0.001630 + z * 0.999984 - 1.384333, 1e-12);
  EXPECT_EQ(values_of<Rgb16>(turned.table, "rgb")[4], (Rgb16{33 * 256, 38 * 256, 24 * 256}));

  const PtxCloud several = read_ptx_path(data_file("ptx_pts/multiple-and-transform.ptx"));
  ASSERT_EQ(several.scans.size(), 2u);
  ASSERT_EQ(several.table.positions.size(), 8u);
  for (std::size_t i = 0; i < 4; ++i) {  // the second scan holds the first one's points, transformed
    EXPECT_LT(squared_distance(several.table.positions[i], several.table.positions[i + 4]), 1e-18) << i;
  }
  EXPECT_EQ(find_column(several.table, "is_miss"), nullptr);

  const PtxCloud plain = read_ptx_path(data_file("ptx_pts/no-color.ptx"));
  ASSERT_EQ(plain.table.positions.size(), 15u);
  EXPECT_EQ(find_column(plain.table, "rgb"), nullptr);
  EXPECT_EQ(plain.table.positions[14], (Vec3d{635795.24, 849310.43, 426.61}));
  EXPECT_EQ(values_of<std::uint16_t>(plain.table, "intensity")[0], 2288);  // 0.034912 x 65535
}

TEST(PtxData, TheHeadsListsAreTheReadersScans) {
  if (data_file("ptx_pts").empty()) GTEST_SKIP() << "no shared test data: set APP_TEST_DATA to its folder";
  for (const char* name : {"complex-transform", "multiple-and-transform", "no-color"}) {
    SCOPED_TRACE(name);
    const std::string path = data_file(std::string("ptx_pts/") + name + ".ptx");
    const auto head =
        with_context(1, [&](OpContext& ctx) { return io::read_ptx_head(path, 100, ~std::uint64_t{0}, ctx); });
    const PtxCloud cloud = read_ptx_path(path);
    EXPECT_TRUE(head.complete);
    ASSERT_EQ(head.scans.size(), cloud.scans.size());
    for (std::size_t s = 0; s < head.scans.size(); ++s) {
      EXPECT_EQ(io::file_position(head.scans[s].header, {0, 0, 0}), cloud.scans[s].origin_stored);
      EXPECT_EQ(head.scans[s].header.rows * head.scans[s].header.columns, cloud.scans[s].row_count);
      EXPECT_EQ(head.scans[s].has_empty_cells, cloud.scans[s].miss_count != 0);
    }
    for (std::size_t i = 0; i < head.sample.size(); ++i) {
      if (!is_finite(head.sample[i].position)) continue;
      EXPECT_EQ(head.sample[i].position, cloud.table.positions[i]) << i;
    }
  }
}

/// `cells` lines of a scan of one column.
std::string cells(int count, const std::string& line = "1 2 3 0.5\n") {
  std::string text;
  for (int i = 0; i < count; ++i) text += line;
  return text;
}

TEST(PtxHead, ListsTheScansWithTheirPoseAndFirstCells) {
  const std::string text = "\n" + ptx_header(2, 2, "100 200 10") +
                           "1 0 0 0.25 9 8 7\n\n0 0 0.000 0.5 0 0 0\n" + cells(2) +
                           ptx_header(0, 5, "1 1 1") + ptx_header(1, 3, "7 8 9") + cells(3);
  const io::PtxHead head = head_of(text);
  EXPECT_TRUE(head.complete);
  EXPECT_TRUE(head.warnings.empty());
  ASSERT_EQ(head.scans.size(), 3u);
  EXPECT_EQ(io::file_position(head.scans[0].header, {0, 0, 0}), (Vec3d{100, 200, 10}));
  EXPECT_TRUE(head.scans[0].has_empty_cells);
  EXPECT_FALSE(head.scans[2].has_empty_cells);
  EXPECT_EQ(head.scans[2].header.first_line, 27u);
  EXPECT_EQ(io::file_position(head.scans[2].header, {1, 0, 0}), (Vec3d{8, 8, 9}));
  ASSERT_EQ(head.sample.size(), 3u);
  EXPECT_EQ(head.sample[0].position, (Vec3d{101, 200, 10}));
  EXPECT_EQ(head.sample[0].words.size(), 7u);
  EXPECT_FALSE(is_finite(head.sample[1].position)) << "an empty cell has no place";
  for (const auto& [line, empty] : {std::pair<const char*, bool>{"1 1 1 0.5\n", false},
                                    {"0 0 1e-9 0.5\n", false},
                                    {"-0.0 +0 .0 0.5\n", true}}) {
    EXPECT_EQ(head_of(ptx_header(1, 1) + line).scans.at(0).has_empty_cells, empty) << line;
  }
  // As the reader sees it.
  const PtxCloud cloud = read_ptx_text(text);
  EXPECT_EQ(cloud.scan_count, 3u);
  EXPECT_EQ(cloud.scans[2].header.first_line, head.scans[2].header.first_line);
}

TEST(PtxHead, StopsWhereItIsToldAndSaysSo) {
  // A scan of 20000 cells of 10 bytes fills the first chunk of 256 KiB only with the second one.
  const std::string scan = ptx_header(1, 20000) + cells(20000);
  const std::string text = scan + scan + scan + scan;
  const io::PtxHead all = head_of(text);
  EXPECT_EQ(all.scans.size(), 4u);
  EXPECT_TRUE(all.complete);
  const io::PtxHead some = head_of(text, 300000);
  EXPECT_EQ(some.scans.size(), 3u) << "chunks are walked whole: 512 KiB reach into the third scan";
  EXPECT_FALSE(some.complete);
  EXPECT_TRUE(some.warnings.empty());
}

TEST(PtxHead, SaysWhatIsDamagedAfterTheFirstScan) {
  const std::string good = ptx_header(1, 3) + cells(3);
  const io::PtxHead cut = head_of(good + ptx_header(1, 5) + cells(2));
  EXPECT_EQ(cut.scans.size(), 2u);
  ASSERT_EQ(cut.warnings.size(), 1u);
  EXPECT_NE(cut.warnings[0].find("scan 1 declares 5 points, the file holds 2"), std::string::npos)
      << cut.warnings[0];
  const io::PtxHead broken = head_of(good + "x y z\n" + ptx_header(1, 5));
  EXPECT_EQ(broken.scans.size(), 1u);
  EXPECT_FALSE(broken.complete);
  EXPECT_NE(broken.warnings.at(0).find("line 14"), std::string::npos) << broken.warnings[0];
  EXPECT_NE(head_of(good + "1\n1\n").warnings.at(0).find("ends inside the header of scan 1"),
            std::string::npos);
  for (const std::string& text : {std::string(), std::string("\n \n"), std::string("1\n2\n"),
                                  ptx_header(1, 3).replace(0, 1, "2147483648"), "nan\n" + good}) {
    EXPECT_EQ(error_of([&] { head_of(text); }).code(), ErrorCode::kInvalidFile) << text.substr(0, 20);
  }
  const io::PtxHead huge = head_of(ptx_header(2147483647, 2147483647) + cells(2));
  EXPECT_NE(huge.warnings.at(0).find("4611686014132420609 points, the file holds 2"), std::string::npos)
      << huge.warnings[0];
}

TEST(PtxHead, CancelsInTime) {
  const ScratchFile file(many_scans(200), ".ptx");
  test::expect_cancel_after(std::chrono::milliseconds(30), [&](OpContext& ctx) {
    for (;;) io::read_ptx_head(file.path(), 100, ~std::uint64_t{0}, ctx);
  });
}

TEST(PtxHead, EveryCutIsReadOrRefused) {
  const std::string text = ptx_header(1, 2) + cells(2) + ptx_header(2, 1) + cells(2, "0 0 0 0.5 1 2 3\n");
  for (std::size_t size = 0; size < text.size(); ++size) {
    try {
      EXPECT_LE(head_of(text.substr(0, size)).scans.size(), 2u);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidFile) << size << error.what();
    }
  }
}

}  // namespace
