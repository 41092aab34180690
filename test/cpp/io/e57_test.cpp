#include "io/e57.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "core/memory.h"
#include "io/e57_support.h"

namespace {

using namespace pc;
using namespace pc::e57_test;

constexpr double kPi = std::numbers::pi;

/// Random points with every kind of field, widths that straddle bytes and words among them.
Scan rich_scan(std::size_t points, unsigned seed) {
  std::mt19937_64 random(seed);
  const auto ints = [&](std::int64_t low, std::int64_t high) {
    std::vector<std::int64_t> out;
    const std::uint64_t span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
    for (std::size_t i = 0; i < points; ++i) {
      const std::uint64_t step = span == 0 ? random() : random() % span;
      out.push_back(static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + step));
    }
    return out;
  };
  std::vector<float> singles;
  std::vector<double> doubles;
  for (std::size_t i = 0; i < points; ++i) {
    singles.push_back(static_cast<float>(random() % 1000) / 8);
    doubles.push_back(static_cast<double>(random() % 100000) / 7);
  }
  Scan scan;
  scan.fields = {
      Field::integer("cartesianX", -262144, 262143, ints(-262144, 262143), "scale=\"0.25\" offset=\"-3\""),
      Field::single("cartesianY", singles),
      Field::real("cartesianZ", doubles),
      Field::integer("intensity", -2048, 2047, ints(-2048, 2047)),
      Field::integer("colorRed", 0, 255, ints(0, 255)),
      Field::integer("colorGreen", 0, 255, ints(0, 255)),
      Field::integer("colorBlue", 0, 255, ints(0, 255)),
      Field::integer("rowIndex", 0, 1000, ints(0, 1000)),
      Field::integer("columnIndex", 5, 5, std::vector<std::int64_t>(points, 5)),
      Field::integer(
          "x:wide", std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(),
          ints(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max())),
      Field::integer("x:bits61", -7, (std::int64_t{1} << 60), ints(-7, (std::int64_t{1} << 60))),
      Field::integer("x:bits57", 0, (std::int64_t{1} << 57) - 1, ints(0, (std::int64_t{1} << 57) - 1)),
      Field::integer("x:flag", 0, 1, ints(0, 1)),
      Field::single("x:single", singles)};
  return scan;
}

std::vector<std::int64_t> stored_of(const Field& field) {
  std::vector<std::int64_t> out;
  for (const std::uint64_t raw : field.raw) {
    out.push_back(static_cast<std::int64_t>(raw + static_cast<std::uint64_t>(field.minimum)));
  }
  return out;
}

TEST(E57, DecodesEveryKindOfFieldHoweverItsPacketsFall) {
  for (const unsigned skew : {0U, 40U}) {
    for (const std::size_t packet : {60UL, 4000UL, 60000UL}) {
      Scan scan = rich_scan(3001, 7);
      scan.packet_bytes = packet;
      scan.skew = skew;
      scan.extra_packets = packet < 60000;
      const Scan copy = scan;
      const E57Cloud cloud = read_scans({scan});
      const io::CloudTable& table = cloud.table;
      ASSERT_EQ(table.positions.size(), 3001u) << packet << " " << skew;
      const auto x = stored_of(copy.fields[0]);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const Vec3d want{static_cast<double>(x[i]) * 0.25 - 3,
                         std::bit_cast<float>(static_cast<std::uint32_t>(copy.fields[1].raw[i])),
                         std::bit_cast<double>(copy.fields[2].raw[i])};
        ASSERT_EQ(table.positions[i], want) << i;
      }
      EXPECT_EQ(values_of<std::int64_t>(table, "x:wide"), stored_of(copy.fields[9]));
      EXPECT_EQ(values_of<std::int64_t>(table, "x:bits61"), stored_of(copy.fields[10]));
      EXPECT_EQ(values_of<std::int64_t>(table, "x:bits57"), stored_of(copy.fields[11]));
      const auto flags = stored_of(copy.fields[12]);
      EXPECT_EQ(values_of<std::uint8_t>(table, "x:flag"),
                std::vector<std::uint8_t>(flags.begin(), flags.end()));
      const auto rows = stored_of(copy.fields[7]);
      EXPECT_EQ(values_of<std::int32_t>(table, "row_index"),
                std::vector<std::int32_t>(rows.begin(), rows.end()));
      EXPECT_EQ(values_of<std::int32_t>(table, "column_index"), std::vector<std::int32_t>(3001, 5));
      EXPECT_EQ(values_of<float>(table, "x:single").size(), 3001u);
      EXPECT_EQ(find_column(table, "is_miss"), nullptr);
      EXPECT_TRUE(find_column(table, "x:wide")->extra);
      EXPECT_TRUE(table.warnings.empty());
    }
  }
}

TEST(E57, SameForAnyThreadCount) {
  Scan first = rich_scan(70000, 3), second = rich_scan(9000, 4);
  first.packet_bytes = 30000;
  E57File file;
  file.scans = {first, second};
  const ScratchFile scratch(text_of(file.build()), ".e57");
  const E57Cloud one = read_path(scratch.path(), {}, 1);
  for (const int threads : {2, 5}) expect_same(one.table, read_path(scratch.path(), {}, threads).table);
  EXPECT_EQ(one.scans[1].first_row, 70000u);
  EXPECT_EQ(values_of<std::uint16_t>(one.table, "scan_index")[69999], 0);
  EXPECT_EQ(values_of<std::uint16_t>(one.table, "scan_index")[70000], 1);
}

TEST(E57, MovesEachScanByItsPoseIntoTheStoredFrame) {
  Scan turned = cartesian({{1, 0, 0}, {0, 2, 5}});
  const double half = std::sqrt(0.5);
  turned.xml = "<name type=\"String\">A &amp; B</name>" + pose_xml(half, 0, 0, half, {100, 200, 300});
  const Scan still = cartesian({{7, 8, 9}});
  const E57Cloud cloud = read_scans({turned, still}, {{2.0, {10, 0, 0}}, std::nullopt});
  ASSERT_EQ(cloud.table.positions.size(), 3u);
  // A quarter turn about z takes (1, 0, 0) to (0, 1, 0); file units are halves of a metre.
  expect_near(cloud.table.positions[0], {2 * 100 - 10, 2 * 201, 2 * 300}, 1e-5);
  expect_near(cloud.table.positions[1], {2 * 98 - 10, 2 * 200, 2 * 305}, 1e-5);
  expect_near(cloud.table.positions[2], {4, 16, 18}, 0);
  expect_near(cloud.scans[0].origin_stored, {190, 400, 600}, 0);
  EXPECT_TRUE(cloud.scans[0].has_pose);
  EXPECT_FALSE(cloud.scans[1].has_pose);
  EXPECT_EQ(cloud.header.scans[0].name, "A & B");
  const E57Cloud second = read_scans({turned, still}, {{}, 1});
  EXPECT_EQ(points_of(second.table), (std::vector<Vec3d>{{7, 8, 9}}));
  EXPECT_EQ(second.scans[0].scan_index, 1u);
  EXPECT_EQ(find_column(second.table, "scan_index"), nullptr);
}

TEST(E57, ConvertsSphericalPoints) {
  Scan scan;
  scan.fields = {Field::real("sphericalRange", {2, 3, 4}), Field::real("sphericalAzimuth", {0, kPi / 2, 0.3}),
                 Field::real("sphericalElevation", {0, 0, kPi / 2})};
  const E57Cloud cloud = read_scans({scan});
  expect_near(cloud.table.positions[0], {2, 0, 0}, 1e-15);
  expect_near(cloud.table.positions[1], {0, 3, 0}, 1e-15);
  expect_near(cloud.table.positions[2], {0, 0, 4}, 1e-15);
}

TEST(E57, PlacesMissesByTheirAngles) {
  Scan scan;
  scan.fields = {Field::real("sphericalRange", {1, 0, 0, 0}),
                 Field::real("sphericalAzimuth", {0, kPi / 2, 0, 0}),
                 Field::real("sphericalElevation", {0, 0, 0, 0}),
                 Field::integer("sphericalInvalidState", 0, 2, {0, 2, 1, 2}),
                 Field::integer("rowIndex", 0, 3, {0, 1, 2, 3}),
                 Field::single("intensity", {5, 9, 9, 9})};
  scan.xml = pose_xml(std::sqrt(0.5), 0, 0, std::sqrt(0.5), {10, 0, 0});
  const E57Cloud cloud = read_scans({scan});
  const io::CloudTable& t = cloud.table;
  expect_near(t.positions[0], {10, 1, 0}, 1e-6);
  expect_near(t.positions[1], {10 - 20000, 0, 0}, 0.02);  // six decimals of the pose over 20 km
  expect_near(t.positions[2], {10, 20000, 0}, 0.02);      // state 1: angles of zero are a direction
  EXPECT_EQ(t.positions[3], (Vec3d{10, 0, 0}));           // state 2: they are not
  EXPECT_EQ(values_of<std::uint8_t>(t, "is_miss"), (std::vector<std::uint8_t>{0, 1, 1, 1}));
  EXPECT_EQ(values_of<std::int32_t>(t, "row_index"), (std::vector<std::int32_t>{0, 1, 2, 3}));
  EXPECT_EQ(values_of<std::uint16_t>(t, "intensity"), std::vector<std::uint16_t>(4, 0));
  EXPECT_EQ(cloud.unplaceable_miss_count, 1u);
  EXPECT_EQ(cloud.scans[0].miss_count, 3u);
}

TEST(E57, PlacesMissesByTheirVectorInMetres) {
  Scan scan = cartesian({{1, 2, 3}, {0, 3e-200, 4e-200}, {0, 0, 0}, {NAN, 0, 0}, {-1e300, 0, 0}});
  scan.fields.push_back(Field::integer("cartesianInvalidState", 0, 2, {0, 1, 1, 2, 2}));
  const E57Cloud cloud = read_scans({scan}, {{0.001, {1, 0, 0}}, std::nullopt});
  EXPECT_EQ(cloud.table.positions[0], (Vec3d{0.001 - 1, 0.002, 0.003}));
  expect_near(cloud.table.positions[1], {-1, 12000, 16000}, 1e-8);
  EXPECT_EQ(cloud.table.positions[2], (Vec3d{-1, 0, 0}));
  EXPECT_EQ(cloud.table.positions[3], (Vec3d{-1, 0, 0}));
  EXPECT_EQ(cloud.table.positions[4], (Vec3d{-20001, 0, 0}));
  EXPECT_EQ(cloud.unplaceable_miss_count, 2u);
}

TEST(E57, ScalesColourPerScan) {
  const auto colored = [](const std::string& attributes, const std::vector<double>& red, double other) {
    Scan scan = cartesian(std::vector<Vec3d>(red.size(), {0, 0, 0}));
    scan.fields.push_back(Field::real("colorRed", red));
    scan.fields.push_back(Field::real("colorGreen", std::vector<double>(red.size(), other)));
    scan.fields.push_back(Field::real("colorBlue", std::vector<double>(red.size(), 0)));
    scan.xml = attributes;
    return scan;
  };
  const auto reds = [](const E57Cloud& cloud) {
    std::vector<int> out;
    for (const Rgb16& c : values_of<Rgb16>(cloud.table, "rgb")) out.push_back(c.r);
    return out;
  };
  EXPECT_EQ(reds(read_scans({colored("", {0, 100, 200, -5, NAN}, 3)})),
            (std::vector<int>{0, 25600, 51200, 0, 0}));
  EXPECT_EQ(reds(read_scans({colored("", {0.5, 0.25}, 0.5)})), (std::vector<int>{65280, 128 * 256}));
  EXPECT_EQ(reds(read_scans({colored("", {65535, 0, 32768}, 0)})), (std::vector<int>{65280, 0, 128 * 256}));
  EXPECT_EQ(reds(read_scans({colored("", {10}, 0), colored("", {1000}, 0)})),
            (std::vector<int>{2560, 65280}));
  Scan flagged = colored("", {1000, 10, 20}, 0);
  flagged.fields.push_back(Field::integer("isColorInvalid", 0, 1, {1, 0, 0}));
  EXPECT_EQ(reds(read_scans({flagged})), (std::vector<int>{0, 2560, 5120}));
  Scan missed = colored("", {10, 20, 1000}, 0);
  missed.fields.push_back(Field::integer("cartesianInvalidState", 0, 2, {0, 0, 2}));
  EXPECT_EQ(reds(read_scans({missed})), (std::vector<int>{2560, 5120, 0})) << "a miss does not set the scale";
}

TEST(E57, MapsIntensityPerScanOverValidCells) {
  Scan a = cartesian(std::vector<Vec3d>(5, {1, 1, 1}));
  a.fields.push_back(Field::real("intensity", {-10, 0, 10, 99, NAN}));
  a.fields.push_back(Field::integer("isIntensityInvalid", 0, 1, {0, 0, 0, 1, 0}));
  Scan b = cartesian({{1, 1, 1}, {2, 2, 2}});
  b.fields.push_back(Field::single("intensity", {3, 3}));
  Scan c = cartesian({{1, 1, 1}, {2, 2, 2}, {3, 3, 3}});
  c.fields.push_back(Field::real("intensity", {-1.7e308, 1.7e308, 0}));
  Scan d = cartesian({{1, 1, 1}, {2, 2, 2}, {3, 3, 3}});
  d.fields.push_back(Field::real("intensity", {1, 2, 50}));
  d.fields.push_back(Field::integer("cartesianInvalidState", 0, 2, {0, 0, 1}));
  const E57Cloud cloud = read_scans({a, b, c, d});
  EXPECT_EQ(values_of<std::uint16_t>(cloud.table, "intensity"),
            (std::vector<std::uint16_t>{0, 32768, 65535, 0, 0, 0, 0, 0, 65535, 32768, 0, 65535, 0}));
  Scan valid = cartesian({{1, 1, 1}});
  valid.fields.push_back(Field::integer("cartesianInvalidState", 0, 2, {0}));
  EXPECT_EQ(find_column(read_scans({valid}).table, "is_miss"), nullptr) << "no miss, no column";
}

TEST(E57, FillsWhatAScanLacks) {
  Scan full = cartesian({{1, 1, 1}});
  full.fields.push_back(Field::integer("rowIndex", 0, 9, {4}));
  full.fields.push_back(Field::integer("columnIndex", 0, 9, {5}));
  full.fields.push_back(Field::real("timeStamp", {12.5}));
  full.fields.push_back(Field::integer("returnIndex", 0, 3, {2}));
  full.fields.push_back(Field::integer("returnCount", 0, 3, {3}));
  full.fields.push_back(Field::integer("nor:flag", 0, 3, {3}));
  full.fields.push_back(Field::single("nor:x", {0.5F}));
  full.fields.push_back(Field::integer("rgb", 0, 7, {6}));
  const Scan bare = cartesian({{2, 2, 2}}), none;
  const E57Cloud cloud = read_scans({full, bare});
  const io::CloudTable& t = cloud.table;
  EXPECT_EQ(values_of<std::int32_t>(t, "row_index"), (std::vector<std::int32_t>{4, -1}));
  EXPECT_EQ(values_of<std::int32_t>(t, "column_index"), (std::vector<std::int32_t>{5, -1}));
  EXPECT_EQ(values_of<std::int32_t>(t, "target_index"), (std::vector<std::int32_t>{2, 0}));
  EXPECT_EQ(values_of<std::int32_t>(t, "target_count"), (std::vector<std::int32_t>{3, 1}));
  EXPECT_EQ(values_of<double>(t, "timestamp")[0], 12.5);
  EXPECT_TRUE(std::isnan(values_of<double>(t, "timestamp")[1]));
  EXPECT_EQ(values_of<double>(t, "nor:flag")[0], 3);
  EXPECT_TRUE(std::isnan(values_of<double>(t, "nor:flag")[1]));
  EXPECT_EQ(values_of<float>(t, "nor:x")[0], 0.5F);
  EXPECT_TRUE(std::isnan(values_of<float>(t, "nor:x")[1]));
  EXPECT_EQ(values_of<double>(t, "rgb_field")[0], 6);
}

TEST(E57, DropsPointsThatAreNotFinite) {
  Scan a = cartesian({{1, 1, 1}, {NAN, 1, 1}, {2, 2, 2}});
  a.fields.push_back(Field::integer("rowIndex", 0, 9, {1, 2, 3}));
  a.fields.push_back(Field::integer("colorRed", 0, 255, {1, 2, 3}));
  a.fields.push_back(Field::integer("colorGreen", 0, 255, {1, 2, 3}));
  a.fields.push_back(Field::integer("colorBlue", 0, 255, {1, 2, 3}));
  Scan b = cartesian({{1, 1, INFINITY}, {3, 3, 3}});
  const E57Cloud cloud = read_scans({a, b});
  EXPECT_EQ(points_of(cloud.table), (std::vector<Vec3d>{{1, 1, 1}, {2, 2, 2}, {3, 3, 3}}));
  EXPECT_EQ(values_of<std::int32_t>(cloud.table, "row_index"), (std::vector<std::int32_t>{1, 3, -1}));
  EXPECT_EQ(values_of<Rgb16>(cloud.table, "rgb")[1], (Rgb16{768, 768, 768}));
  EXPECT_EQ(cloud.table.nonfinite_dropped, 2u);
  EXPECT_EQ(cloud.scans[1].first_row, 2u);
  EXPECT_EQ(cloud.scans[1].row_count, 1u);
}

TEST(E57, ReportsTheRasterAndTheSweep) {
  const std::string angles =
      "<sphericalBounds type=\"Structure\"><elevationMinimum type=\"Float\">-1</elevationMinimum>"
      "<elevationMaximum type=\"Float\">1.5</elevationMaximum><azimuthStart type=\"Float\">3</azimuthStart>"
      "<azimuthEnd type=\"Float\">-3</azimuthEnd></sphericalBounds>";
  const std::string indexes =
      "<indexBounds type=\"Structure\"><rowMinimum type=\"Integer\">0</rowMinimum><rowMaximum "
      "type=\"Integer\">99</rowMaximum><columnMinimum type=\"Integer\">0</columnMinimum><columnMaximum "
      "type=\"Integer\">199</columnMaximum></indexBounds>";
  Scan scan = cartesian({{1, 1, 1}, {2, 2, 2}});
  scan.xml = angles + indexes;
  const auto bare = read_scans({scan}).scans[0];
  EXPECT_EQ(bare.n_theta, 0u) << "bounds without indexes are no raster";
  EXPECT_DOUBLE_EQ(*bare.theta_min_rad, kPi / 2 - 1.5);
  EXPECT_DOUBLE_EQ(*bare.theta_max_rad, kPi / 2 + 1);
  EXPECT_DOUBLE_EQ(*bare.phi_min_rad, kPi / 2 + 3) << "the end of the sweep, clockwise from +y";
  EXPECT_DOUBLE_EQ(*bare.phi_max_rad, kPi / 2 + 3 + 2 * kPi - 6);
  scan.fields.push_back(Field::integer("rowIndex", 0, 99, {3, 50}));
  scan.fields.push_back(Field::integer("columnIndex", 0, 199, {20, 7}));
  const auto raster = read_scans({scan}).scans[0];
  EXPECT_EQ(raster.n_theta, 100u);
  EXPECT_EQ(raster.n_phi, 200u);
  scan.xml = "";
  const auto found = read_scans({scan}).scans[0];
  EXPECT_EQ(found.n_theta, 48u);
  EXPECT_EQ(found.n_phi, 14u);
  EXPECT_FALSE(found.theta_min_rad.has_value());
  scan.fields[4] = Field::integer("columnIndex", 0, 199, {7, 7});
  EXPECT_EQ(read_scans({scan}).scans[0].n_phi, 0u) << "one column is no raster";
  EXPECT_EQ(read_scans({scan}).scans[0].n_theta, 0u);
  scan.xml =
      "<sphericalBounds type=\"Structure\"><elevationMinimum type=\"Float\">nan</elevationMinimum>"
      "<elevationMaximum type=\"Float\">1.79e999</elevationMaximum></sphericalBounds>";
  EXPECT_FALSE(read_scans({scan}).scans[0].theta_min_rad.has_value()) << "bounds only inform";
}

std::string azimuths(double start, double end) {
  return "<sphericalBounds type=\"Structure\"><azimuthStart type=\"Float\">" + std::to_string(start) +
         "</azimuthStart><azimuthEnd type=\"Float\">" + std::to_string(end) +
         "</azimuthEnd></sphericalBounds>";
}

TEST(E57, TheSweepsBearingsAreThoseOfThePoints) {
  // Every direction of the sweep is seen as atan2(dx, dy) from the scanner, whatever the heading of its pose.
  const double headings[] = {0, 0.7, -2.1, 3.0}, starts[] = {-3, -1, 0, 2.9};
  for (const double heading : headings) {
    for (const double start : starts) {
      const double span = 1.25, stop = start + span > kPi ? start + span - 2 * kPi : start + span;
      std::vector<double> range, azimuth, elevation;
      for (int i = 0; i <= 50; ++i) {
        range.push_back(7);
        azimuth.push_back(start + span * i / 50);
        elevation.push_back(0.3);
      }
      Scan scan;
      scan.fields = {Field::real("sphericalRange", range), Field::real("sphericalAzimuth", azimuth),
                     Field::real("sphericalElevation", elevation)};
      scan.xml =
          azimuths(start, stop) + pose_xml(std::cos(heading / 2), 0, 0, std::sin(heading / 2), {50, -20, 3});
      const E57Cloud cloud = read_scans({scan});
      const auto& found = cloud.scans[0];
      ASSERT_TRUE(found.phi_min_rad && found.phi_max_rad);
      EXPECT_NEAR(*found.phi_max_rad - *found.phi_min_rad, span, 2e-6) << "six decimals of the XML";
      EXPECT_GE(*found.phi_min_rad, 0);
      EXPECT_LT(*found.phi_min_rad, 2 * kPi);
      EXPECT_NEAR(found.tilt_rad, 0, 1e-12);
      for (const Vec3d& p : cloud.table.positions.view()) {
        const double bearing = std::atan2(p.x - 50, p.y + 20);
        const double from_start = std::remainder(bearing - (*found.phi_min_rad + span / 2), 2 * kPi);
        EXPECT_LE(std::abs(from_start), span / 2 + 1e-5) << heading << " " << start;
      }
    }
  }
}

TEST(E57, TheSweepOfACircleATiltAndNonsense) {
  Scan scan = cartesian({{1, 1, 1}});
  scan.xml = azimuths(-kPi, kPi) + pose_xml(std::cos(0.25), std::sin(0.25), 0, 0, {0, 0, 0});
  const auto circle = read_scans({scan}).scans[0];
  EXPECT_EQ(*circle.phi_min_rad, 0);
  EXPECT_DOUBLE_EQ(*circle.phi_max_rad, 2 * kPi);
  EXPECT_NEAR(circle.tilt_rad, 0.5, 1e-6);
  scan.xml = azimuths(-180, 180);  // degrees, against the standard
  EXPECT_FALSE(read_scans({scan}).scans[0].phi_min_rad.has_value());
  scan.xml =
      "<sphericalBounds type=\"Structure\"><elevationMinimum type=\"Float\">-60</elevationMinimum>"
      "<elevationMaximum type=\"Float\">90</elevationMaximum></sphericalBounds>";
  EXPECT_FALSE(read_scans({scan}).scans[0].theta_min_rad.has_value());
}

TEST(E57, ReadsTheHeader) {
  Scan scan = cartesian({});
  scan.xml =
      "<guid type=\"String\">g</guid><intensityLimits type=\"Structure\"><intensityMinimum "
      "type=\"ScaledInteger\" "
      "scale=\"0.5\" offset=\"1\">-4</intensityMinimum><intensityMaximum type=\"Float\"/></intensityLimits>" +
      pose_xml(2, 0, 0, 0, {1, 2, 3});
  E57File file;
  file.scans = {scan};
  file.root_xml =
      "<images2D type=\"Vector\"><vectorChild type=\"Structure\"/><vectorChild "
      "type=\"Structure\"/></images2D>";
  const ScratchFile scratch(text_of(file.build()), ".e57");
  const io::E57Header header = io::read_e57_header(scratch.path());
  EXPECT_EQ(header.guid, "{file}");
  ASSERT_EQ(header.scans.size(), 1u);
  EXPECT_EQ(header.scans[0].guid, "g");
  EXPECT_EQ(header.scans[0].fields.size(), 3u);
  EXPECT_EQ(header.scans[0].fields[1].name, "cartesianY");
  EXPECT_EQ(header.scans[0].intensity_limits->minimum, -1);
  EXPECT_EQ(header.scans[0].intensity_limits->maximum, 0);
  EXPECT_EQ(header.scans[0].rotation, (std::array<double, 4>{1, 0, 0, 0}));
  EXPECT_EQ(header.image_count, 2u);
  ASSERT_EQ(header.warnings.size(), 2u);
  EXPECT_EQ(header.warnings[1], "2 image(s) in the file are not imported");
  EXPECT_EQ(read_path(scratch.path()).table.positions.size(), 0u);
}

TEST(E57, TellsThatTimesOfScansWithOtherStartsDoNotCompare) {
  const auto begun = [](const char* second, bool has_times) {
    Scan scan = cartesian({{1, 1, 1}});
    if (has_times) scan.fields.push_back(Field::real("timeStamp", {0.5}));
    if (second != nullptr)
      scan.xml = std::string("<acquisitionStart type=\"Structure\"><dateTimeValue type=\"Float\">") + second +
                 "</dateTimeValue></acquisitionStart>";
    return scan;
  };
  const auto told = [](const std::vector<Scan>& scans) {
    const std::vector<std::string> warnings = read_scans(scans).header.warnings;
    return std::count_if(warnings.begin(), warnings.end(), [](const std::string& warning) {
      return warning.find("the scans begin at different moments") != std::string::npos;
    });
  };
  EXPECT_EQ(told({begun("1e9", true), begun("1000000060", true)}), 1);
  EXPECT_EQ(told({begun("1e9", true), begun("1e9", true)}), 0);
  EXPECT_EQ(told({begun("1e9", true), begun("1000000060", false)}), 0);
  EXPECT_EQ(told({begun("1e9", true), begun(nullptr, true)}), 0);
}

TEST(E57, MemoryIsTheColumnsAndAFewBuffers) {
  Scan scan = rich_scan(200000, 9);
  scan.packet_bytes = 60000;
  E57File file;
  file.scans = {scan};
  const ScratchFile scratch(text_of(file.build()), ".e57");
  const std::uint64_t before = bulk_bytes_in_use();
  reset_bulk_bytes_peak();
  std::uint64_t columns = 0, peak = 0;
  {
    const E57Cloud cloud = read_path(scratch.path());
    peak = bulk_bytes_peak() - before;
    columns = cloud.table.positions.bytes();
    for (const auto& column : cloud.table.columns) columns += column.values.bytes();
  }
  EXPECT_LT(peak, columns + (std::uint64_t{16} << 20));
  EXPECT_EQ(bulk_bytes_in_use(), before);
}

}  // namespace
