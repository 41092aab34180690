#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <numbers>
#include <random>

#include "io/ascii_table.h"
#include "io/pts.h"
#include "io/ptx.h"
#include "io/record_support.h"
#include "support/cancel.h"

namespace {

using namespace pc;
using namespace pc::record_test;

/// A cloud whose view can be written.
struct SmallCloud {
  std::vector<Vec3d> points;
  std::vector<Rgb16> colors;
  std::vector<std::uint16_t> intensity;
  std::vector<std::uint8_t> skip;
  std::vector<std::pair<std::string, std::vector<std::int32_t>>> scalars;
  std::vector<AnyColumn> columns;

  io::CloudView view() {
    io::CloudView view;
    view.positions = {points.data(), points.size()};
    view.colors = {colors.data(), colors.size()};
    view.intensity = {intensity.data(), intensity.size()};
    view.skip = {skip.data(), skip.size()};
    columns.clear();
    for (const auto& [slug, values] : scalars) {
      Column<std::int32_t> column(values.size());
      std::copy(values.begin(), values.end(), column.view().begin());
      columns.emplace_back(std::move(column));
    }
    for (std::size_t i = 0; i < scalars.size(); ++i)
      view.scalars.push_back({scalars[i].first, "", &columns[i]});
    return view;
  }
};

struct Written {
  std::string text;
  io::PtxWriteResult result;
};

Written write(const std::vector<io::PtxWriteScan>& scans, int threads = 2,
              std::uint64_t max_cells = 1000000) {
  const ScratchFile file("", ".ptx");
  Written out;
  out.result = with_context(
      threads, [&](OpContext& ctx) { return io::write_ptx(scans, {max_cells}, file.path(), ctx); });
  out.text = file.contents();
  EXPECT_EQ(out.result.bytes, out.text.size());
  return out;
}

constexpr const char* kIdentityAt10 =
    "10.000000 0.000000 0.000000\n1.000000 0.000000 0.000000\n0.000000 1.000000 0.000000\n0.000000 0.000000 "
    "1.000000\n1.000000 0.000000 0.000000 0.000000\n0.000000 1.000000 0.000000 0.000000\n0.000000 0.000000 "
    "1.000000 "
    "0.000000\n10.000000 0.000000 0.000000 1.000000\n";

TEST(PtxWriter, WritesTheRasterOfTheIndexes) {
  SmallCloud cloud;
  cloud.points = {{2, 0, 0}, {3, 0, 0}, {2.5, 0, 0}, {4, 4, 4}, {9, 9, 9}, {1, 0, 0}};
  cloud.colors.assign(6, Rgb16{65280, 256, 0});
  cloud.intensity = {65535, 0, 32768, 0, 0, 0};
  cloud.scalars = {{"row_index", {5, 6, 5, -1, 6, 5}},
                   {"column_index", {3, 4, 3, 3, 3, 3}},
                   {"target_index", {1, 0, 0, 0, 0, 0}},
                   {"is_miss", {0, 0, 0, 0, 1, 0}}};
  io::PtxWriteScan scan{cloud.view(), {1, 0, 0}, std::nullopt};
  scan.view.offset = {9, 0, 0};
  const Written out = write({scan});
  EXPECT_EQ(out.text, std::string("2\n2\n") + kIdentityAt10 +
                          "1.500000 0.000000 0.000000 0.500008 255 1 0\n0 0 0 0.5 0 0 0\n0 0 0 0.5 0 0 0\n"
                          "2.000000 0.000000 0.000000 0.000000 255 1 0\n");
  EXPECT_EQ(out.result.scans[0].filled, 2u);
  EXPECT_EQ(out.result.scans[0].collapsed, 1u);
  EXPECT_EQ(out.result.scans[0].unplaced, 2u) << "one without an index, one at the origin";
  EXPECT_EQ(out.result.scans[0].source, io::PtxRasterSource::kIndexes);
  scan.sweep = io::PtxSweep{8, 6, 0, 0.1, 0, 0.1};
  const auto wide = write({scan}).result.scans[0];
  EXPECT_EQ(wide.rows, 8u);
  EXPECT_EQ(wide.columns, 6u);
}

TEST(PtxWriter, WritesTheRasterOfTheSweep) {
  constexpr double kPi = std::numbers::pi;
  SmallCloud cloud;
  const io::PtxSweep sweep{5, 8, kPi / 6, kPi / 6, 0.1, kPi / 4};
  std::vector<std::pair<int, int>> want;
  for (int row = 0; row < 5; ++row) {
    for (int column = row % 2; column < 8; column += 2) {
      const double theta = sweep.theta_min_rad + row * sweep.theta_step_rad;
      const double phi = sweep.phi_min_rad + column * sweep.phi_step_rad;
      cloud.points.push_back(
          {3 * std::sin(theta) * std::sin(phi), 3 * std::sin(theta) * std::cos(phi), 3 * std::cos(theta)});
      want.emplace_back(row, column);
    }
  }
  cloud.points.push_back({0, 0, 5});  // zenith 0 is half a step and more outside
  cloud.points.push_back({0, 0, -5});
  const Written out = write({{cloud.view(), {0, 0, 0}, sweep}});
  EXPECT_EQ(out.result.scans[0].filled, want.size());
  EXPECT_EQ(out.result.scans[0].unplaced, 2u);
  EXPECT_EQ(out.result.scans[0].source, io::PtxRasterSource::kSweep);
  const io::PtxCloud back =
      with_context(1, [&](OpContext& ctx) { return io::read_ptx(ScratchFile(out.text).path(), {}, ctx); });
  EXPECT_EQ(back.unplaceable_miss_count, 40 - want.size());
  const auto rows = values_of<std::int32_t>(back.table, "row_index"),
             columns = values_of<std::int32_t>(back.table, "column_index");
  for (std::size_t i = 0; i < want.size(); ++i) {
    const std::size_t cell = static_cast<std::size_t>(want[i].second * 5 + want[i].first);
    EXPECT_EQ(rows[cell], want[i].first);
    EXPECT_EQ(columns[cell], want[i].second);
    EXPECT_LT(squared_distance(back.table.positions[cell], cloud.points[i]), 1e-11);
  }
}

TEST(PtxWriter, ReadsBackWhatItWroteForAnyThreadCount) {
  std::mt19937 random(3);
  SmallCloud cloud;
  std::vector<std::int32_t> rows, columns;
  for (std::int32_t column = 0; column < 300; ++column) {
    for (std::int32_t row = 0; row < 200; ++row) {
      if (random() % 4 == 0) continue;
      rows.push_back(row);
      columns.push_back(column);
      cloud.points.push_back(
          {500000.0 + static_cast<double>(random() % 100000) / 1000, column * 0.01, row * 0.01});
      cloud.colors.push_back({static_cast<std::uint16_t>(random() % 256 * 256), 0, 512});
      cloud.intensity.push_back(static_cast<std::uint16_t>(random()));
    }
  }
  cloud.scalars = {{"row_index", rows}, {"column_index", columns}};
  const io::PtxWriteScan scan{cloud.view(), {500000, -3, 2}, std::nullopt};
  const Written out = write({scan, scan}, 1);
  EXPECT_EQ(out.text, write({scan, scan}, 3).text);
  const io::PtxCloud back = with_context(2, [&](OpContext& ctx) {
    return io::read_ptx(ScratchFile(out.text).path(), {{}, 1}, ctx);
  });
  const auto miss = values_of<std::uint8_t>(back.table, "is_miss");
  std::size_t i = 0;
  for (std::size_t cell = 0; cell < miss.size(); ++cell) {
    if (miss[cell] != 0) continue;
    ASSERT_LT(squared_distance(back.table.positions[cell], cloud.points[i]), 1e-11);
    ASSERT_EQ(values_of<std::int32_t>(back.table, "row_index").size(), miss.size());
    ASSERT_EQ(back.table.columns[0].values.as<Rgb16>()[cell], cloud.colors[i]);
    ASSERT_EQ(back.table.columns[1].values.as<std::uint16_t>()[cell], cloud.intensity[i]) << i;
    if (++i == 200) break;
  }
  EXPECT_EQ(i, 200u);
}

/// The cells of a text, as they should be: for every cell the lowest echo, then the first row.
std::vector<std::size_t> placed_by_hand(const SmallCloud& cloud, std::int32_t height, std::int32_t width) {
  std::vector<std::size_t> cells(static_cast<std::size_t>(height) * static_cast<std::size_t>(width),
                                 SIZE_MAX);
  const auto& rows = cloud.scalars[0].second;
  const auto& columns = cloud.scalars[1].second;
  const auto& echoes = cloud.scalars[2].second;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] < 0) continue;
    std::size_t& cell = cells[static_cast<std::size_t>(columns[i]) * static_cast<std::size_t>(height) +
                              static_cast<std::size_t>(rows[i])];
    if (cell == SIZE_MAX || echoes[i] < echoes[cell]) cell = i;
  }
  return cells;
}

TEST(PtxWriter, RastersOfSeveralBandsInAnyOrderOfRows) {
  constexpr std::int32_t kHeight = 3000, kWidth = 3100;  // 9.3 million cells, three bands
  std::mt19937 random(11);
  SmallCloud cloud;
  std::vector<std::int32_t> rows = {0, kHeight - 1}, columns = {0, kWidth - 1}, echoes = {0, 0};
  for (int i = 0; i < 200'000; ++i) {
    rows.push_back(static_cast<std::int32_t>(random() % kHeight));
    columns.push_back(i < 100'000 ? i / 33 : static_cast<std::int32_t>(random() % kWidth));
    echoes.push_back(static_cast<std::int32_t>(random() % 3));
  }
  for (int i = 0; i < 5'000; ++i) {  // a busy corner
    rows.push_back(static_cast<std::int32_t>(random() % 20));
    columns.push_back(static_cast<std::int32_t>(random() % 20));
    echoes.push_back(static_cast<std::int32_t>(random() % 3));
  }
  for (int i = 0; i < 7; ++i) {  // without a row
    rows.push_back(-1);
    columns.push_back(400 * i);
    echoes.push_back(0);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) cloud.points.push_back({1.0 + static_cast<double>(i), 0, 0});
  cloud.scalars = {{"row_index", rows}, {"column_index", columns}, {"target_index", echoes}};
  const Written out = write({{cloud.view(), {0, 0, 0}, std::nullopt}}, 3, 10'000'000);
  const auto cells = placed_by_hand(cloud, kHeight, kWidth);
  std::size_t at = 0, filled = 0;
  for (int line = 0; line < 10; ++line) at = out.text.find('\n', at) + 1;
  for (const std::size_t want : cells) {
    const std::string line = out.text.substr(at, out.text.find('\n', at) - at);
    ASSERT_EQ(line, want == SIZE_MAX ? std::string("0 0 0 0.5")
                                     : std::to_string(want + 1) + ".000000 0.000000 0.000000 0.5");
    at += line.size() + 1;
    filled += want != SIZE_MAX;
  }
  EXPECT_EQ(at, out.text.size());
  const io::PtxWrittenScan& scan = out.result.scans[0];
  EXPECT_EQ(scan.filled, filled);
  EXPECT_EQ(scan.collapsed, rows.size() - 7 - filled);
  EXPECT_EQ(scan.unplaced, 7u) << "counted once, whatever the number of bands";
  EXPECT_EQ(out.text, write({{cloud.view(), {0, 0, 0}, std::nullopt}}, 1, 10'000'000).text);
}

Written write_cloud(const io::CloudView& view, const io::PtxCloudWriteParams& params, int threads = 2) {
  const ScratchFile file("", ".ptx");
  Written out;
  out.result = with_context(
      threads, [&](OpContext& ctx) { return io::write_ptx_cloud(view, params, file.path(), ctx); });
  out.text = file.contents();
  EXPECT_EQ(out.result.bytes, out.text.size());
  return out;
}

TEST(PtxWriter, AScanForEveryScanIndexAlsoWhereTheyAlternate) {
  SmallCloud cloud;
  std::vector<std::int32_t> rows, columns, scans;
  std::vector<SmallCloud> apart(3);
  std::vector<std::vector<std::int32_t>> apart_rows(3), apart_columns(3);
  for (std::int32_t i = 0; i < 60'000; ++i) {
    const auto scan = static_cast<std::size_t>(i % 7 == 0 ? 2 : i < 40'000 ? 0 : 1);
    rows.push_back(i % 100);
    columns.push_back(i / 100);
    scans.push_back(scan == 2 ? 65'534 : static_cast<std::int32_t>(scan));
    cloud.points.push_back({i + 0.5, 1, 2});
    apart[scan].points.push_back(cloud.points.back());
    apart_rows[scan].push_back(rows.back());
    apart_columns[scan].push_back(columns.back());
  }
  cloud.points.push_back({1, 1, 1});
  rows.push_back(0);
  columns.push_back(0);
  scans.push_back(-1);
  cloud.scalars = {{"row_index", rows}, {"column_index", columns}, {"scan_index", scans}};
  const Vec3d places[3] = {{0, 0, 0}, {10, 0, 0}, {20, 1, 0}};
  std::vector<io::PtxWriteScan> by_hand;
  for (std::size_t scan = 0; scan < 3; ++scan) {
    apart[scan].scalars = {{"row_index", apart_rows[scan]}, {"column_index", apart_columns[scan]}};
    by_hand.push_back({apart[scan].view(), places[scan], std::nullopt});
  }
  const Written out =
      write_cloud(cloud.view(), {1'000'000, {0, 0, 0}, {{1, places[1]}, {65'534, places[2]}}});
  EXPECT_EQ(out.text, write(by_hand).text);
  EXPECT_EQ(out.result.without_scan, 1u);
  ASSERT_EQ(out.result.scans.size(), 3u);
  EXPECT_EQ(out.result.scans[2].scan_index, 65'534u);
  EXPECT_EQ(out.result.scans[1].first_column, 400u);
  cloud.scalars.pop_back();
  EXPECT_EQ(write_cloud(cloud.view(), {1'000'000, {0, 0, 0}, {}}).text,
            write({{cloud.view(), {0, 0, 0}, std::nullopt}}).text);
  cloud.scalars.push_back({"scan_index", std::vector<std::int32_t>(rows.size(), -1)});
  EXPECT_MESSAGE(error_of([&] {
                   write_cloud(cloud.view(), {1'000'000, {0, 0, 0}, {}});
                 }),
                 "no point has a scan_index");
}

TEST(PtxWriter, ARasterOfOneLongColumnStaysInItsMemory) {
  SmallCloud cloud;
  cloud.points = {{1, 0, 0}, {2, 0, 0}};
  cloud.scalars = {{"row_index", {0, 20'000'000}}, {"column_index", {5, 5}}};
  const io::CloudView view = cloud.view();
  reset_bulk_bytes_peak();
  const std::uint64_t before = bulk_bytes_in_use();
  const Written out = write({{view, {0, 0, 0}, std::nullopt}}, 2, 100'000'000);
  EXPECT_EQ(out.result.scans[0].filled, 2u);
  EXPECT_EQ(out.result.scans[0].first_column, 5u);
  EXPECT_LT(bulk_bytes_peak() - before, std::uint64_t{64} << 20);
}

TEST(PtxWriter, CancelComesInTime) {
  SmallCloud cloud;
  for (int i = 0; i < 300000; ++i) cloud.points.push_back({std::sin(i), std::cos(i), 0.001 * i});
  const ScratchFile file("", ".ptx");
  const io::PtxWriteScan scan{cloud.view(), {0, 0, 0}, io::PtxSweep{500, 500, 0, 0.006, 0, 0.0125}};
  test::expect_cancel_after(std::chrono::milliseconds(30), [&](OpContext& ctx) {
    for (;;) io::write_ptx({scan}, {1000000}, file.path(), ctx);
  });
}

TEST(PtxWriter, RefusesWhatHasNoRaster) {
  SmallCloud cloud;
  cloud.points = {{1, 1, 1}};
  const Error raster = error_of([&] { write({{cloud.view(), {0, 0, 0}, std::nullopt}}); });
  EXPECT_EQ(raster.code(), ErrorCode::kInvalidArgument);
  EXPECT_MESSAGE(raster, "PTX needs a raster");
  const Error cells = error_of([&] {
    write({{cloud.view(), {0, 0, 0}, io::PtxSweep{100, 100, 0, 1, 0, 1}}}, 1, 9999);
  });
  EXPECT_MESSAGE(cells, "more than 9999 cells");
  EXPECT_MESSAGE(error_of([&] { write({}); }), "at least one scan");
  EXPECT_MESSAGE(error_of([&] {
                   write({{cloud.view(), {NAN, 0, 0}, std::nullopt}});
                 }),
                 "origin must be finite");
  cloud.intensity = {1, 2};
  EXPECT_MESSAGE(error_of([&] {
                   write({{cloud.view(), {0, 0, 0}, std::nullopt}});
                 }),
                 "column intensity has 2 rows");
}

TEST(PtsWriter, WritesCountIntensityAndColour) {
  SmallCloud cloud;
  cloud.points = {{1, 2, 3}, {4, 5, 6}, {-7.5, 8, 9}};
  cloud.colors = {{65535, 256, 0}, {0, 0, 0}, {0, 512, 65280}};
  cloud.intensity = {12, 5, 65535};
  cloud.skip = {0, 1, 0};
  const ScratchFile file("", ".pts");
  io::CloudView view = cloud.view();
  view.offset = {100, 0, 0};
  const auto result = with_context(2, [&](OpContext& ctx) { return io::write_pts(view, file.path(), ctx); });
  EXPECT_EQ(file.contents(),
            "2\n101.000000 2.000000 3.000000 -2047 255 1 0\n92.500000 8.000000 9.000000 2047 0 2 255\n");
  EXPECT_EQ(result.rows, 2u);
  EXPECT_EQ(result.bytes, file.contents().size());
  SmallCloud bare;
  bare.points = {{1, 2, 3}};
  with_context(1, [&](OpContext& ctx) { return io::write_pts(bare.view(), file.path(), ctx); });
  EXPECT_EQ(file.contents(), "1\n1.000000 2.000000 3.000000 0 0 0 0\n");
}

TEST(PtsWriter, TheBytesDoNotDependOnThreads) {
  SmallCloud cloud;
  for (int i = 0; i < 50000; ++i) cloud.points.push_back({i * 0.25, i * 0.5, -i * 1.0});
  std::string texts[2];
  for (const int threads : {1, 4}) {
    const ScratchFile file("", ".pts");
    with_context(threads, [&](OpContext& ctx) { return io::write_pts(cloud.view(), file.path(), ctx); });
    texts[threads == 4] = file.contents();
  }
  EXPECT_EQ(texts[0], texts[1]);
  EXPECT_EQ(std::count(texts[0].begin(), texts[0].end(), '\n'), 50001);
}

}  // namespace
