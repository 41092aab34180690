#include <gtest/gtest.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <limits>

#include "io/las_checks.h"
#include "support/cancel.h"

namespace pc::io {
namespace {

using namespace las_test;

LasWriteResult write(const CloudView& view, const LasWriteParams& params, const std::string& path,
                     int threads = 1) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return write_las(view, params, path, ctx);
}

bool mentions(const std::vector<std::string>& texts, const std::string& part) {
  for (const std::string& text : texts) {
    if (text.find(part) != std::string::npos) return true;
  }
  return false;
}

template <class T>
AnyColumn make_column(std::size_t n, const std::function<T(std::size_t)>& value) {
  Column<T> c(n);
  for (std::size_t i = 0; i < n; ++i) c[i] = value(i);
  return AnyColumn(std::move(c));
}

/// Points on the 1 mm grid whose file coordinates start at `offset` exactly.
Column<Vec3d> grid_points(std::size_t n, const Vec3d& offset, double scale = 0.001) {
  Column<Vec3d> points(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto step = [&](std::uint64_t axis) {
      return i == 0 ? 0.0 : static_cast<double>(random_u64(axis, i) % 500000);
    };
    points[i] = {step(0) * scale + offset.x, step(1) * scale + offset.y, step(2) * scale + offset.z};
  }
  return points;
}

TEST(LasWriter, EveryTypeComesBackBitForBit) {
  constexpr std::size_t n = 40000;
  const auto points = grid_points(n, {1e7, -2e7, 12});
  const auto bits = [](std::size_t i) { return random_u64(99, i); };
  const std::vector<AnyColumn> columns = [&] {
    std::vector<AnyColumn> c;
    c.push_back(
        make_column<std::uint8_t>(n, [&](std::size_t i) { return static_cast<std::uint8_t>(bits(i)); }));
    c.push_back(
        make_column<std::int8_t>(n, [&](std::size_t i) { return static_cast<std::int8_t>(bits(i)); }));
    c.push_back(
        make_column<std::uint16_t>(n, [&](std::size_t i) { return static_cast<std::uint16_t>(bits(i)); }));
    c.push_back(
        make_column<std::int16_t>(n, [&](std::size_t i) { return static_cast<std::int16_t>(bits(i)); }));
    c.push_back(
        make_column<std::uint32_t>(n, [&](std::size_t i) { return static_cast<std::uint32_t>(bits(i)); }));
    c.push_back(
        make_column<std::int32_t>(n, [&](std::size_t i) { return static_cast<std::int32_t>(bits(i)); }));
    c.push_back(make_column<std::uint64_t>(n, bits));
    c.push_back(
        make_column<std::int64_t>(n, [&](std::size_t i) { return static_cast<std::int64_t>(bits(i)); }));
    c.push_back(make_column<float>(
        n, [&](std::size_t i) { return i == 3 ? std::nanf("") : std::sin(static_cast<float>(i)); }));
    c.push_back(make_column<double>(
        n, [&](std::size_t i) { return i == 5 ? -0.0 : std::sin(static_cast<double>(i)); }));
    return c;
  }();
  const auto colors = make_column<Rgb16>(n, [&](std::size_t i) {
    return std::bit_cast<Rgb16>(std::array<std::uint16_t, 3>{static_cast<std::uint16_t>(bits(i)),
                                                             static_cast<std::uint16_t>(bits(i) >> 16),
                                                             static_cast<std::uint16_t>(bits(i) >> 32)});
  });
  const auto intensity =
      make_column<std::uint16_t>(n, [&](std::size_t i) { return static_cast<std::uint16_t>(bits(i) >> 7); });
  const auto times =
      make_column<double>(n, [](std::size_t i) { return 2.5e8 + static_cast<double>(i) * 1e-5; });
  const auto origins = make_column<Vec3d>(n, [](std::size_t i) {
    return Vec3d{1.0 / (1.0 + static_cast<double>(i)), 2, 3};
  });
  const auto nir = make_column<std::uint16_t>(n, [](std::size_t i) { return static_cast<std::uint16_t>(i); });
  CloudView view;
  view.positions = points.view();
  view.colors = colors.as<Rgb16>();
  view.intensity = intensity.as<std::uint16_t>();
  view.timestamps = times.as<double>();
  view.beam_origins = origins.as<Vec3d>();
  for (const AnyColumn& c : columns)
    view.scalars.push_back({std::string("v_") + dtype_name(c.dtype()), "label", &c});
  for (const LasVersion version : {LasVersion::k12, LasVersion::k14}) {
    view.scalars.resize(columns.size());
    if (version == LasVersion::k14) view.scalars.push_back({"nir", "NIR", &nir});
    LasWriteParams params;
    params.version = version;
    params.adjusted_standard_time = true;
    const TempFile file("types.las");
    const LasWriteResult result = write(view, params, file.path(), 3);
    EXPECT_EQ(result.point_format, version == LasVersion::k14 ? 8 : 3);
    EXPECT_EQ(result.point_count, n);
    EXPECT_EQ(result.bytes, std::filesystem::file_size(file.path()));
    EXPECT_TRUE(result.warnings.empty()) << result.warnings[0];
    const LasCloud cloud = read(file.path());
    EXPECT_TRUE(cloud.table.warnings.empty());
    EXPECT_EQ(cloud.header.gps_time_encoding, "adjusted_standard");
    const auto same = [&](const std::string& name, const AnyColumn& want) {
      const AnyColumn& got = column(cloud.table, name).values;
      ASSERT_EQ(got.dtype(), want.dtype()) << name;
      ASSERT_EQ(got.size(), n);
      EXPECT_EQ(std::memcmp(got.data(), want.data(), want.bytes()), 0) << name;
    };
    EXPECT_EQ(std::memcmp(cloud.table.positions.view().data, points.view().data, n * sizeof(Vec3d)), 0);
    for (const AnyColumn& c : columns) same(std::string("v_") + dtype_name(c.dtype()), c);
    EXPECT_EQ(column(cloud.table, "v_f32").description, "label");
    same("rgb", colors);
    same("intensity", intensity);
    same("gps_time", times);
    if (version == LasVersion::k14) same("nir", nir);
    for (std::size_t i = 0; i < n; ++i)
      ASSERT_EQ(column(cloud.table, "origin_x").values.as<double>()[i], origins.as<Vec3d>()[i].x);
    EXPECT_EQ(column(cloud.table, "origin_z").values.as<double>()[7], 3.0);
  }
}

TEST(LasWriter, StandardFieldsTakeWhatFits) {
  constexpr std::size_t n = 1000;
  const auto points = grid_points(n, {0, 0, 0});
  const auto returns = make_column<float>(n, [](std::size_t i) { return static_cast<float>(1 + i % 3); });
  const auto counts = make_column<std::int64_t>(n, [](std::size_t) { return std::int64_t{3}; });
  const auto classes =
      make_column<std::uint32_t>(n, [](std::size_t i) { return static_cast<std::uint32_t>(i % 256); });
  const auto angle = make_column<double>(n, [](std::size_t i) { return static_cast<double>(i) - 500.0; });
  const auto source = make_column<double>(n, [](std::size_t i) { return static_cast<double>(i) + 0.5; });
  const auto channel =
      make_column<std::uint8_t>(n, [](std::size_t i) { return static_cast<std::uint8_t>(i % 4); });
  const auto flag =
      make_column<std::uint8_t>(n, [](std::size_t i) { return static_cast<std::uint8_t>(i % 2); });
  CloudView view;
  view.positions = points.view();
  view.scalars = {
      {"return_number", "", &returns}, {"number_of_returns", "", &counts}, {"classification", "", &classes},
      {"scan_angle", "", &angle},      {"point_source_id", "", &source},   {"scanner_channel", "", &channel},
      {"withheld", "", &flag},         {"edge_of_flight_line", "", &flag}, {"user_data", "", &classes}};
  const TempFile file("fields.las");
  const LasWriteResult result = write(view, {}, file.path());
  const LasCloud cloud = read(file.path());
  for (std::size_t i = 0; i < n; ++i) {
    ASSERT_EQ(column(cloud.table, "return_number").values.as<std::uint8_t>()[i], 1 + i % 3);
    ASSERT_EQ(column(cloud.table, "number_of_returns").values.as<std::uint8_t>()[i], 3);
    ASSERT_EQ(column(cloud.table, "classification").values.as<std::uint8_t>()[i], i % 256);
    ASSERT_EQ(column(cloud.table, "user_data").values.as<std::uint8_t>()[i], i % 256);
    ASSERT_EQ(column(cloud.table, "scan_angle").values.as<std::int16_t>()[i], static_cast<int>(i) - 500);
    ASSERT_EQ(column(cloud.table, "scanner_channel").values.as<std::uint8_t>()[i], i % 4);
    ASSERT_EQ(column(cloud.table, "withheld").values.as<std::uint8_t>()[i], i % 2);
    ASSERT_EQ(column(cloud.table, "edge_of_flight_line").values.as<std::uint8_t>()[i], i % 2);
    ASSERT_EQ(column(cloud.table, "overlap").values.as<std::uint8_t>()[i], 0);
    ASSERT_EQ(column(cloud.table, "point_source_id_field").values.as<double>()[i],
              static_cast<double>(i) + 0.5);
  }
  EXPECT_TRUE(mentions(result.warnings, "point_source_id: some values"));
  EXPECT_EQ(cloud.header.points_by_return[0], 334U);
  EXPECT_EQ(cloud.header.points_by_return[1], 333U);
  EXPECT_EQ(cloud.header.points_by_return[2], 333U);
  EXPECT_EQ(cloud.header.global_encoding, 16);
  // 1.2 holds classes up to 31 only.
  LasWriteParams params;
  params.version = LasVersion::k12;
  write(view, params, file.path());
  const LasCloud old = read(file.path());
  EXPECT_EQ(old.header.point_format, 0);
  EXPECT_EQ(column(old.table, "classification_field").values.as<std::uint32_t>()[255], 255U);
  EXPECT_EQ(column(old.table, "scan_angle_field").values.as<double>()[0], -500.0);
  EXPECT_EQ(old.header.points_by_return[0], 334U);
}

TEST(LasWriter, WithoutReturnsEveryPointIsReturnOneOfOne) {
  const auto points = grid_points(10, {0, 0, 0});
  CloudView view;
  view.positions = points.view();
  const TempFile file("returns.las");
  write(view, {}, file.path());
  const LasCloud cloud = read(file.path());
  EXPECT_EQ(column(cloud.table, "return_number").values.as<std::uint8_t>()[9], 1);
  EXPECT_EQ(column(cloud.table, "number_of_returns").values.as<std::uint8_t>()[9], 1);
  EXPECT_EQ(cloud.header.points_by_return[0], 10U);
  EXPECT_EQ(cloud.header.global_encoding, 16 | 8);
}

TEST(LasWriter, ConstantsGoToFieldsThatNoColumnFills) {
  const TempFile file("constants.las");
  const auto points = grid_points(3, {0, 0, 0});
  const auto classes =
      make_column<std::uint8_t>(3, [](std::size_t i) { return static_cast<std::uint8_t>(i); });
  CloudView view;
  view.positions = points.view();
  view.scalars = {{"classification", "classification", &classes}};
  LasWriteParams params;
  params.constants = {{"classification", 9}, {"return_number", 4},    {"number_of_returns", 5},
                      {"overlap", 1},        {"scan_angle", -2000},   {"gps_time", -0.125},
                      {"user_data", 0},      {"scan_angle_rank", -12}};
  write(view, params, file.path());
  const LasCloud back = read(file.path());
  const auto all = [&](const char* name) {
    return visit_scalar(column(back.table, name).values, [](auto values) {
      const bool same = values.size == 3 && values[0] == values[1] && values[1] == values[2];
      return same ? static_cast<double>(values[0]) : -1e9;
    });
  };
  EXPECT_EQ(column(back.table, "classification").values.as<std::uint8_t>()[2], 2);
  EXPECT_EQ(all("return_number"), 4);
  EXPECT_EQ(all("number_of_returns"), 5);
  EXPECT_EQ(all("overlap"), 1);
  EXPECT_EQ(all("scan_angle"), -2000);
  EXPECT_EQ(all("gps_time"), -0.125);
  EXPECT_EQ(all("scan_angle_rank_field"), -12);  // an extra dimension: format 6 has another field for it
  EXPECT_EQ(back.header.points_by_return[3], 3U);
  EXPECT_EQ(back.header.global_encoding & 8, 0);
  params.constants = {{"colour", 1}};
  EXPECT_EQ(code_of([&] { write(view, params, file.path()); }), ErrorCode::kInvalidArgument);
}

TEST(LasWriter, SkipThenStrideThenOffset) {
  constexpr std::size_t n = 100000;
  const auto points = grid_points(n, {0, 0, 0});
  const auto row = make_column<std::uint32_t>(n, [](std::size_t i) { return static_cast<std::uint32_t>(i); });
  Column<std::uint8_t> skip(n);
  for (std::size_t i = 0; i < n; ++i) skip[i] = random_u64(5, i) % 3 == 0 || (i > 20000 && i < 60000);
  CloudView view;
  view.positions = points.view();
  view.offset = {100, 200, 300};
  view.skip = skip.view();
  view.scalars = {{"row", "", &row}};
  for (const std::size_t stride :
       {std::size_t{1}, std::size_t{7}, std::size_t{50000}, std::numeric_limits<std::size_t>::max() / 2}) {
    std::vector<std::uint32_t> want;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (skip[i] == 0 && kept++ % stride == 0) want.push_back(static_cast<std::uint32_t>(i));
    }
    view.stride = stride;
    const TempFile file("stride.las");
    EXPECT_EQ(write(view, {}, file.path(), 2).point_count, want.size());
    const LasCloud cloud = read(file.path());
    ASSERT_EQ(cloud.table.positions.size(), want.size());
    Box3d box;
    for (std::size_t k = 0; k < want.size(); ++k) {
      ASSERT_EQ(column(cloud.table, "row").values.as<std::uint32_t>()[k], want[k]);
      const Vec3d p = points[want[k]] + view.offset, got = cloud.table.positions[k];
      ASSERT_LE(std::abs(got.x - p.x), 0.0005 + 1e-9);
      box.add(got);
    }
    EXPECT_EQ(box.min,
              cloud.header.declared_bounds.min);  // the header's bounds are those of the records, exactly
    EXPECT_EQ(box.max, cloud.header.declared_bounds.max);
  }
}

TEST(LasWriter, BytesDoNotDependOnThreads) {
  constexpr std::size_t n = 150000;
  const auto points = grid_points(n, {5, 5, 5});
  Column<std::uint8_t> skip(n);
  for (std::size_t i = 0; i < n; ++i) skip[i] = i % 11 == 0;
  CloudView view;
  view.positions = points.view();
  view.skip = skip.view();
  view.stride = 2;
  const TempFile one("one.las"), many("many.las");
  write(view, {}, one.path(), 1);
  const Bytes want = read_file(one.path());
  for (const int threads : {2, 5}) {
    write(view, {}, many.path(), threads);
    EXPECT_TRUE(read_file(many.path()) == want) << threads;
  }
}

TEST(LasWriter, NoRowsGiveAValidFile) {
  CloudView view;
  for (const LasVersion version : {LasVersion::k12, LasVersion::k14}) {
    LasWriteParams params;
    params.version = version;
    const TempFile file("empty.las");
    EXPECT_EQ(write(view, params, file.path()).point_count, 0U);
    const LasCloud cloud = read(file.path());
    EXPECT_EQ(cloud.table.positions.size(), 0U);
    EXPECT_TRUE(cloud.table.warnings.empty());
    EXPECT_EQ(cloud.header.declared_bounds.max, (Vec3d{0, 0, 0}));
  }
  const auto points = grid_points(3, {0, 0, 0});
  Column<std::uint8_t> skip(3);
  for (std::size_t i = 0; i < 3; ++i) skip[i] = 1;
  view.positions = points.view();
  view.skip = skip.view();
  const TempFile file("skipped.las");
  EXPECT_EQ(write(view, {}, file.path()).point_count, 0U);
  EXPECT_EQ(read(file.path()).table.positions.size(), 0U);
}

TEST(LasWriter, TheStepGrowsUntilTheRangeFits) {
  Column<Vec3d> points(2);
  points[0] = {-1e7, 0, 1e15};
  points[1] = {1e7, 1, 1e15 + 1};
  CloudView view;
  view.positions = points.view();
  const TempFile file("step.las");
  const LasWriteResult result = write(view, {}, file.path());
  EXPECT_EQ(result.scale.x, 0.01);  // 2e10 steps of 1 mm do not fit, 2e9 of 1 cm do
  EXPECT_EQ(result.scale.y, 0.001);
  EXPECT_TRUE(mentions(result.warnings, "the x coordinates span"));
  const LasCloud cloud = read(file.path());
  EXPECT_EQ(cloud.table.positions[0].x, -1e7);
  EXPECT_EQ(cloud.table.positions[1].x, 1e7);
  points[1].x = 1e308;
  points[0].x = -1e308;
  EXPECT_EQ(code_of([&] { write(view, {}, file.path()); }), ErrorCode::kInvalidArgument);
  points[1].x = std::nan("");
  EXPECT_EQ(code_of([&] { write(view, {}, file.path()); }), ErrorCode::kInvalidArgument);
}

/// Points anywhere in a square of `side`, on one plane.
Column<Vec3d> scattered(std::size_t n, double side, const Vec3d& from = {0, 0, 0}) {
  Column<Vec3d> points(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto part = [&](std::uint64_t axis) {
      return static_cast<double>(random_u64(axis, i) >> 11U) * 0x1p-53;
    };
    points[i] = Vec3d{part(0) * side, part(1) * side, part(2) * 0.01 * side} + from;
  }
  return points;
}

/// Largest difference along an axis between the points and those that a reader of the file gets.
double largest_move(const CloudView& view, const std::string& path) {
  const LasCloud cloud = read(path);
  double largest = 0;
  for (std::size_t i = 0; i < view.positions.size; ++i) {
    const Vec3d d = cloud.table.positions[i] - view.positions[i];
    largest = std::max({largest, std::abs(d.x), std::abs(d.y), std::abs(d.z)});
  }
  return largest;
}

TEST(LasWriter, StepsAsFineAsTheDigitsOfTheCoordinates) {
  for (const double step : {1e-3, 1e-4, 1e-5}) {
    for (const Vec3d from : {Vec3d{0, 0, 0}, Vec3d{500'000, 5'400'000, -300}}) {
      const auto points = grid_points(5000, from, step);
      CloudView view;
      view.positions = points.view();
      const TempFile file("digits.las");
      const LasWriteResult result = write(view, {}, file.path(), 3);
      EXPECT_EQ(result.scale, (Vec3d{step, step, step})) << step << " " << from.y;
      EXPECT_EQ(joined(result.warnings), "");
      EXPECT_LT(largest_move(view, file.path()), 1e-8) << step << " " << from.y;
    }
  }
}

TEST(LasWriter, EachAxisHasItsOwnStep) {
  auto points = grid_points(100, {0, 0, 0});
  for (std::size_t i = 0; i < 100; ++i) points[i].z = static_cast<double>(i) * 0.0123;
  CloudView view;
  view.positions = points.view();
  const TempFile file("axis.las");
  EXPECT_EQ(write(view, {}, file.path()).scale, (Vec3d{0.001, 0.001, 0.0001}));
}

/// Coordinates of a millimetre that were float32 in between, and float64 with noise; closer than a centimetre.
TEST(LasWriter, NoiseFarBelowTheStepNeedsNoFinerOne) {
  auto points = grid_points(20'000, {0, 0, 0});
  for (Vec3d& p : points.view()) {
    const auto mm = [](double value) { return std::round(value * 2) / 1000; };  // within a metre
    p = {double{static_cast<float>(100 + mm(p.x))}, mm(p.y) + 3e-8, mm(p.z) - 1e-6};
  }
  CloudView view;
  view.positions = points.view();
  const TempFile file("noise.las");
  const LasWriteResult result = write(view, {}, file.path());
  EXPECT_EQ(result.scale, (Vec3d{0.001, 0.001, 0.001}));
  EXPECT_EQ(joined(result.warnings), "");
}

TEST(LasWriter, TheStepIsATenthOfTheSpacingAtMost) {
  struct Case {
    double side, step;
  };
  // 10000 points on a square: the spacing is a hundredth of its side.
  for (const Case& one : {Case{100, 1e-3}, Case{2, 1e-3}, Case{0.5, 1e-4}, Case{0.05, 1e-5}}) {
    for (const int threads : {1, 3}) {
      const auto points = scattered(10'000, one.side, {-37, 5000, 2});
      CloudView view;
      view.positions = points.view();
      const TempFile file("spacing.las");
      const LasWriteResult result = write(view, {}, file.path(), threads);
      EXPECT_EQ(result.scale, (Vec3d{one.step, one.step, one.step})) << one.side;
      EXPECT_EQ(joined(result.warnings), "");
      EXPECT_LE(largest_move(view, file.path()), one.side / 100 / 20) << one.side;
    }
  }
}

/// Sky points lie far out, and would make the spacing of a plant that of a landscape.
TEST(LasWriter, MissesDoNotCountForTheSpacing) {
  auto points = scattered(10'000, 0.5);
  const auto is_miss = [](std::size_t i) { return i % 3 == 0; };
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (is_miss(i)) points[i] = points[i] * 4000;
  }
  const auto misses =
      make_column<std::uint8_t>(points.size(), [&](std::size_t i) { return is_miss(i) ? 1 : 0; });
  CloudView view;
  view.positions = points.view();
  view.scalars = {{"is_miss", "Miss", &misses}};
  const TempFile file("misses.las");
  EXPECT_EQ(write(view, {}, file.path()).scale.x, 1e-4);
}

/// What a rotation made of a file with steps of 1 mm is no finer than these.
TEST(LasWriter, CoordinatesOfASourceWithStepsGetThose) {
  const auto points = scattered(10'000, 0.5);
  CloudView view;
  view.positions = points.view();
  LasWriteParams params;
  params.step_known = true;
  const TempFile file("known.las");
  const LasWriteResult result = write(view, params, file.path());
  EXPECT_EQ(result.scale, (Vec3d{0.001, 0.001, 0.001}));
  EXPECT_EQ(joined(result.warnings), "");
}

TEST(LasWriter, MovesThatNoStepAvoidsAreCounted) {
  Column<Vec3d> points(4);
  points[0] = {0, 0.00001, 0};
  points[1] = {100'000, 0.00002, 0};
  points[2] = {30'000.00004, 0.00003, 0};
  points[3] = {10.00003, 0.00004, 0};
  CloudView view;
  view.positions = points.view();
  const TempFile file("moves.las");
  // Steps of 0.00001 reach 21 km; the points are kilometres apart, so that 0.04 mm are nothing.
  LasWriteResult result = write(view, {}, file.path());
  EXPECT_EQ(result.scale, (Vec3d{1e-4, 1e-5, 1e-3}));
  EXPECT_EQ(joined(result.warnings), "");
  // Dense points and one far out.
  Column<Vec3d> dense = scattered(10'001, 0.05);
  dense[10'000] = {1e7, 0, 0};
  view.positions = dense.view();
  result = write(view, {}, file.path());
  EXPECT_EQ(result.scale.x, 0.01);
  EXPECT_TRUE(mentions(result.warnings, "the x coordinates span 10000000")) << joined(result.warnings);
  EXPECT_TRUE(
      mentions(result.warnings, "steps of 0.01 are written, which moves 10000 of 10001 points by up to 0.00"))
      << joined(result.warnings);
}

TEST(LasWriter, NamesAreUniqueShortAndWhole) {
  const auto points = grid_points(2, {0, 0, 0});
  const auto value = make_column<float>(2, [](std::size_t i) { return static_cast<float>(i); });
  std::string umlauts;
  for (int i = 0; i < 20; ++i) umlauts += "\xC3\xBC";  // 40 bytes; 32 is between characters
  CloudView view;
  view.positions = points.view();
  view.scalars = {{"a", std::string(40, 'd'), &value},
                  {"a", "", &value},
                  {"x" + umlauts, "", &value},
                  {"X", "", &value},
                  {"origin_x", "", &value},
                  {"", "", &value}};
  const auto origins = make_column<Vec3d>(2, [](std::size_t) { return Vec3d{1, 2, 3}; });
  view.beam_origins = origins.as<Vec3d>();
  const TempFile file("names.las");
  const LasWriteResult result = write(view, {}, file.path());
  const LasCloud cloud = read(file.path());
  EXPECT_EQ(column(cloud.table, "a").description, std::string(32, 'd'));
  for (const char* name : {"a_2", "X_field", "origin_x", "origin_x_2", "origin_y", "field"}) {
    EXPECT_NO_THROW(column(cloud.table, name)) << name;
  }
  EXPECT_NO_THROW(column(cloud.table, "x" + umlauts.substr(0, 30)));
  EXPECT_TRUE(mentions(result.warnings, "'a_2'"));
}

TEST(LasWriter, CoordinateSystems) {
  const auto points = grid_points(2, {0, 0, 0});
  CloudView view;
  view.positions = points.view();
  LasWriteParams params;
  params.epsg = 32633;
  const TempFile file("crs.las");
  EXPECT_TRUE(
      mentions(write(view, params, file.path()).warnings, "EPSG:32633 is in the file as GeoTIFF keys"));
  EXPECT_EQ(read(file.path()).header.crs.epsg, 32633);
  params.wkt = R"(PROJCS["x",UNIT["metre",1],AUTHORITY["EPSG","32633"]])";
  EXPECT_TRUE(write(view, params, file.path()).warnings.empty());
  EXPECT_EQ(read(file.path()).header.crs.epsg, 32633);
  EXPECT_EQ(read(file.path()).header.crs.wkt, params.wkt);
  params.version = LasVersion::k12;
  EXPECT_TRUE(write(view, params, file.path()).warnings.empty());
  EXPECT_EQ(read(file.path()).header.crs.epsg, 32633);
  params.version = LasVersion::k14;
  params.wkt = std::string(70000, 'w');
  EXPECT_TRUE(mentions(write(view, params, file.path()).warnings, "longer than"));
}

TEST(LasWriter, WrongCallsAreRefused) {
  const auto points = grid_points(4, {0, 0, 0});
  const auto short_column = make_column<float>(3, [](std::size_t) { return 0.0F; });
  const auto good_column = make_column<float>(4, [](std::size_t) { return 0.0F; });
  const TempFile file("bad.las");
  CloudView view;
  view.positions = points.view();
  view.scalars = {{"s", "", &short_column}};
  EXPECT_EQ(code_of([&] { write(view, {}, file.path()); }), ErrorCode::kInvalidArgument);
  view.scalars = {{"s", "", &good_column}};
  for (const double scale : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
    LasWriteParams params;
    params.scale_m = scale;
    EXPECT_EQ(code_of([&] { write(view, params, file.path()); }), ErrorCode::kInvalidArgument) << scale;
  }
  view.scalars.assign(342, {"s", "", &good_column});
  EXPECT_EQ(code_of([&] { write(view, {}, file.path()); }), ErrorCode::kUnsupported);
  view.scalars.resize(341);
  EXPECT_NO_THROW(write(view, {}, file.path()));
  EXPECT_EQ(read(file.path()).table.columns.size(), 15U + 341U);
  view.scalars.clear();
  EXPECT_EQ(code_of([&] { write(view, {}, "/nonexistent/folder/x.las"); }), ErrorCode::kNotFound);
  JobControl control;
  control.cancel_requested = true;
  OpContext ctx(control, Device::kCpu, 1);
  EXPECT_EQ(code_of([&] { write_las(view, {}, file.path(), ctx); }), ErrorCode::kCanceled);
}

TEST(LasWriter, CancelIsSeenInTime) {
  constexpr std::size_t n = 20'000'000;
  const Column<Vec3d> points(n);  // zero pages
  CloudView view;
  view.positions = points.view();
  const TempFile file("cancel.las");
  test::expect_cancel_after(std::chrono::milliseconds(100),
                            [&](OpContext& ctx) { write_las(view, {}, file.path(), ctx); });
}

}  // namespace
}  // namespace pc::io
