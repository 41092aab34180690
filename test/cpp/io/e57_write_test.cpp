#include "io/e57_write.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "io/crc32c.h"
#include "io/e57_support.h"
#include "io/scan_rows.h"

namespace {

using namespace pc;
using namespace pc::e57_test;

template <class T>
AnyColumn column_of(const std::vector<T>& values) {
  Column<T> column(values.size());
  std::copy(values.begin(), values.end(), column.view().begin());
  return AnyColumn(std::move(column));
}

/// A cloud whose columns can be exchanged.
struct TestCloud {
  std::vector<Vec3d> points, origins;
  std::vector<Rgb16> colors;
  std::vector<std::uint16_t> intensity;
  std::vector<double> times;
  std::vector<std::uint8_t> skip;
  std::vector<std::pair<std::string, AnyColumn>> scalars;
  Vec3d offset{0, 0, 0};
  std::size_t stride = 1;

  io::CloudView view() const {
    io::CloudView view;
    view.positions = {points.data(), points.size()};
    view.offset = offset;
    view.colors = {colors.data(), colors.size()};
    view.intensity = {intensity.data(), intensity.size()};
    view.timestamps = {times.data(), times.size()};
    view.beam_origins = {origins.data(), origins.size()};
    view.skip = {skip.data(), skip.size()};
    view.stride = stride;
    for (const auto& [slug, values] : scalars) view.scalars.push_back({slug, "", &values});
    return view;
  }
  const AnyColumn* scalar(const std::string& slug) const {
    for (const auto& [name, values] : scalars) {
      if (name == slug) return &values;
    }
    return nullptr;
  }
};

template <class T>
AnyColumn random_column(std::size_t n, unsigned bits, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> values(n);
  for (T& value : values) value = static_cast<T>(random() >> (64 - bits));
  return column_of(values);
}

TestCloud every_column(std::size_t n) {
  TestCloud cloud;
  std::mt19937_64 random(n);
  for (std::size_t i = 0; i < n; ++i) {
    cloud.points.push_back(
        {1e7 + std::ldexp(static_cast<double>(random()), -50), -0.1 * static_cast<double>(i), 0});
    cloud.origins.push_back({static_cast<double>(i), 0.3, -1e-9});
    cloud.colors.push_back({static_cast<std::uint16_t>(random() % 256 * 256), 0, 65280});
    cloud.intensity.push_back(static_cast<std::uint16_t>(random()));
    cloud.times.push_back(i % 7 == 0 ? std::nan("") : static_cast<double>(random()) / 7);
  }
  cloud.colors[0] = {65280, 65280, 65280};  // fixes the range of every channel
  cloud.scalars.emplace_back("u8", random_column<std::uint8_t>(n, 3, 1));
  cloud.scalars.emplace_back("i8", random_column<std::int8_t>(n, 8, 2));
  cloud.scalars.emplace_back("u16", random_column<std::uint16_t>(n, 11, 3));
  cloud.scalars.emplace_back("i16", random_column<std::int16_t>(n, 16, 4));
  cloud.scalars.emplace_back("u32", random_column<std::uint32_t>(n, 27, 5));
  cloud.scalars.emplace_back("i32", random_column<std::int32_t>(n, 32, 6));
  cloud.scalars.emplace_back("u64", random_column<std::uint64_t>(n, 61, 7));
  cloud.scalars.emplace_back("i64", random_column<std::int64_t>(n, 64, 8));
  cloud.scalars.emplace_back("f32", random_column<float>(n, 64, 9));
  cloud.scalars.emplace_back("f64", random_column<double>(n, 64, 10));
  cloud.scalars.emplace_back("constant", column_of(std::vector<std::int32_t>(n, -7)));
  if (n > 1) cloud.scalars[9].second.as_mutable<double>()[1] = std::nan("");
  return cloud;
}

struct Written {
  std::string bytes;
  io::E57WriteResult result;
};

io::E57WriteParams params_of(std::optional<Vec3d> origin = {}, std::vector<io::E57ScanOrigin> origins = {}) {
  return {"plot", "{a-guid}", "test 1", "", 1.25e9, origin, std::move(origins)};
}

Written write(const io::CloudView& view, const io::E57WriteParams& params = params_of(), int threads = 2) {
  const ScratchFile file("", ".e57");
  Written out;
  out.result =
      with_context(threads, [&](OpContext& ctx) { return io::write_e57(view, params, file.path(), ctx); });
  out.bytes = file.contents();
  EXPECT_EQ(out.result.bytes, out.bytes.size());
  return out;
}

E57Cloud read_back(const Written& written, const E57ReadParams& params = {}) {
  return read_path(ScratchFile(written.bytes, ".e57").path(), params);
}

const io::NamedColumn* find(const E57Cloud& cloud, const std::string& name) {
  for (const io::NamedColumn& column : cloud.table.columns) {
    if (column.name == name) return &column;
  }
  return nullptr;
}

/// The value as a double and, for integers beyond 2^53, exact.
template <class Check>
void for_each_pair(const AnyColumn& a, const AnyColumn& b, Check&& check) {
  visit_scalar(a, [&](auto x) { visit_scalar(b, [&](auto y) { check(x, y); }); });
}

void expect_same_values(const AnyColumn& expected, const AnyColumn& back,
                        const std::vector<std::size_t>& rows, const std::string& name) {
  for_each_pair(expected, back, [&](auto x, auto y) {
    ASSERT_EQ(y.size, rows.size()) << name;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto want = x[rows[i]];
      const auto got = y[i];
      const bool same = (want != want && got != got) ||
                        (static_cast<decltype(want)>(got) == want && static_cast<decltype(got)>(want) == got);
      ASSERT_TRUE(same) << name << " row " << i;
    }
  });
}

TEST(E57Writer, EveryColumnComesBackForAnyThreadCount) {
  TestCloud cloud = every_column(60'000);
  for (std::size_t i = 0; i < cloud.points.size(); ++i) cloud.skip.push_back(i % 5 == 0 && i != 0);
  cloud.stride = 3;
  const Written out = write(cloud.view(), params_of(), 1);
  EXPECT_EQ(out.bytes, write(cloud.view(), params_of(), 3).bytes);
  EXPECT_FALSE(out.result.colors_cut);
  std::vector<std::size_t> rows;
  for (std::size_t i = 0, kept = 0; i < cloud.points.size(); ++i) {
    if (cloud.skip[i] == 0 && kept++ % 3 == 0) rows.push_back(i);
  }
  ASSERT_EQ(out.result.rows, rows.size());
  const E57Cloud back = read_back(out);
  ASSERT_EQ(back.table.positions.size(), rows.size());
  EXPECT_TRUE(back.table.warnings.empty());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ASSERT_EQ(back.table.positions.view()[i], cloud.points[rows[i]]);
    ASSERT_EQ(find(back, "intensity")->values.as<std::uint16_t>()[i], cloud.intensity[rows[i]]);
    ASSERT_EQ(find(back, "rgb")->values.as<Rgb16>()[i], cloud.colors[rows[i]]);
  }
  expect_same_values(column_of(cloud.times), find(back, "timestamp")->values, rows, "timestamp");
  for (const auto& [slug, values] : cloud.scalars) {
    ASSERT_NE(find(back, slug), nullptr) << slug;
    expect_same_values(values, find(back, slug)->values, rows, slug);
  }
  ASSERT_NE(find(back, "origin_y"), nullptr);
  EXPECT_EQ(find(back, "origin_y")->values.as<double>()[5], 0.3);
}

TEST(E57Writer, PointsLieAroundTheScannerAndThePoseBringsThemBack) {
  TestCloud cloud;
  cloud.points = {{2.5, 0, 1}, {3, -4, 0.125}};
  cloud.offset = {500000, 5000000, 100};
  const Written out = write(cloud.view(), params_of(Vec3d{1, 2, 0.5}));
  const E57Cloud back = read_back(out);
  ASSERT_EQ(back.scans.size(), 1u);
  EXPECT_TRUE(back.scans[0].has_pose);
  EXPECT_EQ(back.scans[0].origin_stored, (Vec3d{500001, 5000002, 100.5}));
  EXPECT_EQ(back.table.positions.view()[1], (Vec3d{500003, 4999996, 100.125}));
  EXPECT_EQ(back.header.scans[0].fields[0].type, io::E57FieldType::kFloat32);  // 1.5, -2, .5: exact
  EXPECT_EQ(back.header.scans[0].name, "plot");
  EXPECT_EQ(back.header.guid, "{a-guid}");
  EXPECT_EQ(back.header.creation_time_s, 1.25e9);
}

TEST(E57Writer, ScansAreToldApartAndKeepTheirOrigins) {
  TestCloud cloud;
  std::vector<std::int32_t> scan;
  for (int i = 0; i < 3000; ++i) {
    cloud.points.push_back({static_cast<double>(i), 0, 0});
    scan.push_back(i % 7 == 6 ? -1 : i % 3 * 2);
  }
  cloud.scalars.emplace_back("scan_index", column_of(scan));
  const Written out = write(cloud.view(), params_of({}, {{0, {1, 1, 1}}, {4, {5, 5, 5}}}));
  EXPECT_EQ(out.result.scans, 4u);
  EXPECT_TRUE(out.result.renumbered);
  const E57Cloud back = read_back(out);
  ASSERT_EQ(back.scans.size(), 4u);
  EXPECT_EQ(back.scans[0].origin_stored, (Vec3d{1, 1, 1}));
  EXPECT_FALSE(back.scans[1].has_pose);
  EXPECT_EQ(back.scans[2].origin_stored, (Vec3d{5, 5, 5}));
  EXPECT_FALSE(back.scans[3].has_pose);
  EXPECT_EQ(back.scans[3].row_count, out.result.without_scan);
  std::size_t row = 0;
  for (const int number : {0, 2, 4, -1}) {
    for (std::size_t i = 0; i < scan.size(); ++i) {
      if (scan[i] == number) {
        ASSERT_EQ(back.table.positions.view()[row++], cloud.points[i]);
      }
    }
  }
  EXPECT_EQ(row, scan.size());
}

TEST(E57Writer, MissesKeepTheirDirections) {
  TestCloud cloud;
  const Vec3d origin{10, 20, 30};
  const Vec3d along{0.6, 0, 0.8};
  cloud.points = {{11, 20, 30}, origin + along * io::kE57MissDistanceM, origin};
  cloud.scalars.emplace_back("is_miss", column_of(std::vector<std::uint8_t>{0, 1, 1}));
  const Written out = write(cloud.view(), params_of(origin));
  EXPECT_EQ(out.result.misses, 2u);
  EXPECT_EQ(out.result.directionless, 1u);
  EXPECT_EQ(out.result.misses_from_zero, 0u);
  const E57Cloud back = read_back(out);
  EXPECT_EQ(back.scans[0].miss_count, 2u);
  EXPECT_EQ(back.unplaceable_miss_count, 1u);
  expect_near(back.table.positions.view()[1], cloud.points[1], 1e-9);
  EXPECT_EQ(back.table.positions.view()[2], origin);
  const auto flags = find(back, "is_miss")->values.as<std::uint8_t>();
  EXPECT_EQ(std::vector<std::uint8_t>(flags.begin(), flags.end()), (std::vector<std::uint8_t>{0, 1, 1}));
  EXPECT_EQ(write(cloud.view()).result.misses_from_zero, 2u);  // no scanner position: from the file's zero
}

TEST(E57Writer, RastersAndReturnsAreStandardElements) {
  TestCloud cloud;
  cloud.points = {{1, 0, 0}, {2, 0, 0}, {3, 0, 0}};
  cloud.scalars.emplace_back("row_index", column_of(std::vector<double>{5, 6, 7}));
  cloud.scalars.emplace_back("column_index", column_of(std::vector<std::uint16_t>{9, 9, 900}));
  cloud.scalars.emplace_back("target_index", column_of(std::vector<std::int32_t>{0, 1, 0}));
  cloud.scalars.emplace_back("target_count", column_of(std::vector<std::int32_t>{2, 2, 1}));
  const E57Cloud back = read_back(write(cloud.view()));
  EXPECT_EQ(back.scans[0].n_theta, 3u);
  EXPECT_EQ(back.scans[0].n_phi, 892u);
  EXPECT_EQ(find(back, "column_index")->values.as<std::int32_t>()[2], 900);
  EXPECT_EQ(find(back, "target_index")->values.as<std::int32_t>()[1], 1);
  EXPECT_EQ(find(back, "target_count")->values.as<std::int32_t>()[0], 2);
  ASSERT_TRUE(back.header.scans[0].index_bounds.has_value());
  EXPECT_EQ(back.header.scans[0].index_bounds->row_minimum, 5);

  cloud.scalars[0].second = column_of(std::vector<double>{5.5, 6, 7});  // no index: a column of its own
  const E57Cloud halves = read_back(write(cloud.view()));
  EXPECT_EQ(halves.scans[0].n_theta, 0u);
  EXPECT_EQ(find(halves, "row_index_field")->values.as<double>()[0], 5.5);
}

TEST(E57Writer, EveryPageHasItsChecksumAndTheLastOneIsComplete) {
  const Written out = write(every_column(5000).view());
  ASSERT_EQ(out.bytes.size() % 1024, 0u);
  for (std::size_t page = 0; page < out.bytes.size(); page += 1024) {
    const auto* bytes = reinterpret_cast<const std::byte*>(out.bytes.data() + page);
    std::uint32_t stored = 0;
    for (std::size_t i = 1020; i < 1024; ++i) stored = stored << 8 | static_cast<std::uint32_t>(bytes[i]);
    ASSERT_EQ(stored, io::crc32c(bytes, 1020)) << "page " << page / 1024;
  }
}

TEST(E57Writer, StrangeNamesAndWideRecordsAreWritten) {
  TestCloud cloud;
  for (int i = 0; i < 50; ++i) cloud.points.push_back({0.1 * i, 0, 0});
  for (int i = 0; i < 1000; ++i) {
    cloud.scalars.emplace_back("c" + std::to_string(i), random_column<double>(50, 64, 1));
  }
  cloud.scalars.emplace_back("1 & <two>", random_column<float>(50, 64, 2));
  cloud.scalars.emplace_back("cartesianX", random_column<float>(50, 64, 3));
  cloud.scalars.emplace_back(std::string("timeStamp"), random_column<float>(50, 64, 4));
  const Written out = write(cloud.view());
  EXPECT_EQ(out.result.warnings.size(), 3u);
  const E57Cloud back = read_back(out);
  std::vector<std::size_t> rows(50);
  std::iota(rows.begin(), rows.end(), 0);
  expect_same_values(cloud.scalars[999].second, find(back, "c999")->values, rows, "c999");
  expect_same_values(*cloud.scalar("cartesianX"), find(back, "cartesianX_2")->values, rows, "cartesianX_2");

  for (int i = 0; i < 100; ++i) {
    cloud.scalars.emplace_back("d" + std::to_string(i), random_column<double>(50, 64, 5));
  }
  EXPECT_THROW(write(cloud.view()), Error);
}

TEST(E57Writer, LongNamesComeBackOrAreShortened) {
  TestCloud cloud;
  for (int i = 0; i < 50; ++i) cloud.points.push_back({0.1 * i, 0, 0});
  std::string wide;
  while (wide.size() < 4200) wide += "\u00e9";  // two bytes each
  const std::string names[] = {std::string(500, 'n'), std::string(4096, 'm'), wide + "a", wide + "b"};
  for (std::size_t i = 0; i < 4; ++i) cloud.scalars.emplace_back(names[i], random_column<float>(50, 64, i));
  const Written out = write(cloud.view());
  EXPECT_EQ(out.result.warnings.size(), 2u);
  const E57Cloud back = read_back(out);
  std::vector<std::size_t> rows(50);
  std::iota(rows.begin(), rows.end(), 0);
  for (std::size_t i = 0; i < 2; ++i)
    expect_same_values(cloud.scalars[i].second, find(back, names[i])->values, rows, names[i]);
  const std::string cut = wide.substr(0, 4080);
  expect_same_values(cloud.scalars[2].second, find(back, cut)->values, rows, "first");
  expect_same_values(cloud.scalars[3].second, find(back, cut + "_2")->values, rows, "second");
}

TEST(E57Writer, IntegersAboveTheRangeBecomeReal) {
  TestCloud cloud;
  cloud.points = {{1, 0, 0}, {2, 0, 0}};
  cloud.scalars.emplace_back("id", column_of(std::vector<std::uint64_t>{1, std::uint64_t{1} << 63}));
  const Written out = write(cloud.view());
  ASSERT_EQ(out.result.warnings.size(), 1u);
  EXPECT_NE(out.result.warnings[0].find("id"), std::string::npos);
  EXPECT_EQ(find(read_back(out), "id")->values.as<double>()[1], 0x1p63);
}

TEST(E57Writer, RefusesWhatItCannotWrite) {
  TestCloud cloud;
  EXPECT_THROW(write(cloud.view()), Error);
  cloud.points = {{1, 0, 0}};
  cloud.skip = {1};
  EXPECT_THROW(write(cloud.view()), Error);
  cloud.skip = {0};
  EXPECT_THROW(write(cloud.view(), params_of(Vec3d{std::nan(""), 0, 0})), Error);
  EXPECT_NO_THROW(write(cloud.view()));
}

TEST(E57Writer, StopsOnCancel) {
  TestCloud cloud = every_column(20'000);
  const ScratchFile file("", ".e57");
  JobControl control;
  control.cancel_requested = true;
  OpContext ctx(control, Device::kCpu, 2);
  EXPECT_THROW(io::write_e57(cloud.view(), params_of(), file.path(), ctx), Error);
}

/// Sizes around those of packets, pages and blocks.
TEST(E57Writer, EverySizeComesBack) {
  for (const std::size_t n :
       {1u, 7u, 8u, 9u, 63u, 64u, 65u, 169u, 170u, 171u, 2729u, 2730u, 16384u, 16385u}) {
    TestCloud cloud;
    std::vector<std::uint8_t> bits;
    for (std::size_t i = 0; i < n; ++i) {
      cloud.points.push_back({1.0 / static_cast<double>(i + 1), static_cast<double>(i), 0.1});
      bits.push_back(static_cast<std::uint8_t>(i * 7 % 5));
    }
    cloud.scalars.emplace_back("label", column_of(bits));
    const E57Cloud back = read_back(write(cloud.view()));
    ASSERT_EQ(back.table.positions.size(), n);
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(back.table.positions.view()[i], cloud.points[i]) << n;
    std::vector<std::size_t> rows(n);
    std::iota(rows.begin(), rows.end(), 0);
    expect_same_values(cloud.scalars[0].second, find(back, "label")->values, rows, std::to_string(n));
  }
}

}  // namespace
