#include "io/pcd_write.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <random>

#include "io/pcd_support.h"
#include "support/cancel.h"

namespace {

using namespace pc;
using namespace pc::record_test;

template <class T>
AnyColumn column_of(const std::vector<T>& values) {
  Column<T> column(values.size());
  std::copy(values.begin(), values.end(), column.view().begin());
  return AnyColumn(std::move(column));
}

/// A cloud with a column of every type.
struct EveryColumn {
  std::vector<Vec3d> points, origins;
  std::vector<Rgb16> colors;
  std::vector<std::uint16_t> intensity;
  std::vector<double> times;
  std::vector<std::uint8_t> skip;
  std::vector<AnyColumn> scalars;

  explicit EveryColumn(std::size_t n) {
    std::mt19937_64 random(n);
    std::vector<std::uint64_t> bits(n);
    for (auto& value : bits) value = random();
    for (std::size_t i = 0; i < n; ++i) {
      points.push_back(
          {1e7 + std::ldexp(static_cast<double>(random()), -50), -0.1 * static_cast<double>(i), 0});
      origins.push_back({static_cast<double>(i), 0.3, -1e-9});
      colors.push_back({static_cast<std::uint16_t>(random() % 256 * 256), 0, 65280});
      intensity.push_back(static_cast<std::uint16_t>(random()));
      times.push_back(static_cast<double>(random()) / 7);
      skip.push_back(i % 5 == 0);
    }
    const auto add = [&](auto type) {
      std::vector<decltype(type)> values;
      for (const std::uint64_t value : bits) values.push_back(static_cast<decltype(type)>(value));
      scalars.push_back(column_of(values));
    };
    add(std::uint8_t{});
    add(std::int8_t{});
    add(std::uint16_t{});
    add(std::int16_t{});
    add(std::uint32_t{});
    add(std::int32_t{});
    add(std::uint64_t{});
    add(std::int64_t{});
    add(float{});
    add(double{});
    if (n > 1) scalars[9].as_mutable<double>()[1] = std::nan("");
  }
  io::CloudView view() const {
    io::CloudView view;
    view.positions = {points.data(), points.size()};
    view.colors = {colors.data(), colors.size()};
    view.intensity = {intensity.data(), intensity.size()};
    view.timestamps = {times.data(), times.size()};
    view.beam_origins = {origins.data(), origins.size()};
    for (const AnyColumn& scalar : scalars) view.scalars.push_back({dtype_name(scalar.dtype()), "", &scalar});
    return view;
  }
};

struct Written {
  std::string bytes;
  io::PcdWriteResult result;
};

Written write(const io::CloudView& view, int threads = 2, std::optional<Vec3d> viewpoint = {}) {
  const ScratchFile file("", ".pcd");
  Written out;
  out.result = with_context(
      threads, [&](OpContext& ctx) { return io::write_pcd(view, {viewpoint}, file.path(), ctx); });
  out.bytes = file.contents();
  EXPECT_EQ(out.result.bytes, out.bytes.size());
  return out;
}

TEST(PcdWriter, EveryColumnComesBackBitForBitForAnyThreadCount) {
  const EveryColumn cloud(50'000);
  io::CloudView view = cloud.view();
  view.skip = {cloud.skip.data(), cloud.skip.size()};
  view.stride = 3;
  const Written out = write(view, 1);
  EXPECT_EQ(out.bytes, write(view, 3).bytes);
  EXPECT_FALSE(out.result.colors_cut);
  const PcdCloud back = read_pcd_bytes(out.bytes);
  std::vector<std::size_t> rows;
  for (std::size_t i = 0, kept = 0; i < cloud.points.size(); ++i) {
    if (cloud.skip[i] == 0 && kept++ % 3 == 0) rows.push_back(i);
  }
  ASSERT_EQ(out.result.rows, rows.size());
  ASSERT_EQ(back.table.positions.size(), rows.size());
  EXPECT_EQ(back.table.columns.size(), 1u + 1 + 1 + 3 + 10);
  const auto intensity = values_of<std::uint16_t>(back.table, "intensity");
  const auto times = values_of<double>(back.table, "timestamp"),
             y = values_of<double>(back.table, "origin_y");
  const auto colors = find_column(back.table, "rgb")->values.as<Rgb16>();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ASSERT_EQ(back.table.positions[i], cloud.points[rows[i]]);
    ASSERT_EQ(intensity[i], cloud.intensity[rows[i]]);
    ASSERT_EQ(times[i], cloud.times[rows[i]]);
    ASSERT_EQ(y[i], 0.3);
    ASSERT_EQ(colors[i], cloud.colors[rows[i]]);
  }
  for (const AnyColumn& scalar : cloud.scalars) {
    const io::NamedColumn* column = find_column(back.table, dtype_name(scalar.dtype()));
    ASSERT_NE(column, nullptr);
    ASSERT_EQ(column->values.dtype(), scalar.dtype());
    const std::size_t size = dtype_size(scalar.dtype());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      ASSERT_EQ(std::memcmp(column->values.data() + i * size, scalar.data() + rows[i] * size, size), 0)
          << column->name << " " << i;
    }
  }
}

TEST(PcdWriter, WritesTheHeaderOfTheFormat) {
  const EveryColumn cloud(2);
  io::CloudView view;
  const Vec3d points[] = {{0.5, -1, 4096}, {1, 2, 3}};
  view.positions = {points, 2};
  view.offset = {0.25, 0, 0};
  const AnyColumn column = column_of<std::int16_t>({7, -7});
  view.scalars = {{"a b", "", &column},
                  {"a_b", "", &column},
                  {"x", "", &column},
                  {"rgb", "", &column},
                  {"_", "", &column}};
  const auto five = [](std::int16_t value) {
    std::string bytes;
    for (int i = 0; i < 5; ++i) bytes += raw(value);
    return bytes;
  };
  EXPECT_EQ(
      write(view).bytes,
      (std::string("# .PCD v0.7 - Point Cloud Data file format\nVERSION 0.7\n") +
       "FIELDS x y z a_b a_b_2 x_2 rgb_2 __2\nSIZE 4 4 4 2 2 2 2 2\nTYPE F F F I I I I I\n" +
       "COUNT 1 1 1 1 1 1 1 1\nWIDTH 2\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS 2\nDATA binary\n" +
       raw(0.75F) + raw(-1.0F) + raw(4096.0F) + five(7) + raw(1.25F) + raw(2.0F) + raw(3.0F) + five(-7)));
  EXPECT_EQ(read_pcd_bytes(write(view).bytes).table.columns.size(), 5u);
}

TEST(PcdWriter, TheViewpointIsTheScannersPlace) {
  const EveryColumn cloud(2);
  io::CloudView view = cloud.view();
  view.offset = {1e7, 0, 0.1};
  const PcdCloud back = read_pcd_bytes(write(view, 1, Vec3d{1.0 / 3, 2, -0.1}).bytes);
  EXPECT_FALSE(back.default_viewpoint);
  EXPECT_EQ(back.scan_origin, (Vec3d{1.0 / 3, 2, -0.1} + view.offset));
  EXPECT_TRUE(read_pcd_bytes(write(view).bytes).default_viewpoint);
  EXPECT_MESSAGE(error_of([&] { write(view, 1, Vec3d{NAN, 0, 0}); }), "viewpoint must be finite");
}

TEST(PcdWriter, SixteenBitColoursAreSaidToBeCut) {
  EveryColumn cloud(3);
  cloud.colors = {{0x1200, 0x1212, 65535}, {0, 0, 0}, {0, 0, 0x1213}};
  EXPECT_TRUE(write(cloud.view()).result.colors_cut);
  io::CloudView view = cloud.view();
  const std::uint8_t skip[] = {0, 0, 1};
  view.skip = {skip, 3};
  EXPECT_FALSE(write(view).result.colors_cut) << "the row that needs them is not written";
}

TEST(PcdWriter, NoPointsAndWrongColumns) {
  const EveryColumn none(0);
  EXPECT_EQ(io::read_pcd_header(ScratchFile(write(none.view()).bytes, ".pcd").path()).points, 0u);
  const EveryColumn cloud(3);
  io::CloudView view = cloud.view();
  view.intensity.size = 2;
  EXPECT_MESSAGE(error_of([&] { write(view); }), "column intensity has 2 rows, the cloud 3");
  view = cloud.view();
  view.stride = 0;
  EXPECT_MESSAGE(error_of([&] { write(view); }), "stride must be at least 1");
  const ScratchFile folder;
  EXPECT_EQ(error_of([&] {
              with_context(1, [&](OpContext& ctx) {
                return io::write_pcd(cloud.view(), {}, folder.path() + "/no.pcd", ctx);
              });
            }).code(),
            ErrorCode::kNotFound);
}

TEST(PcdWriter, CancelComesInTime) {
  const EveryColumn cloud(200'000);
  const ScratchFile file("", ".pcd");
  test::expect_cancel_after(std::chrono::milliseconds(30), [&](OpContext& ctx) {
    for (;;) io::write_pcd(cloud.view(), {}, file.path(), ctx);
  });
}

}  // namespace
