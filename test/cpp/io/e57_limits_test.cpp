#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "io/e57.h"
#include "io/e57_support.h"

/// Declared limits of colour and intensity, and the position of a scanner without a pose.
namespace pc::e57_test {
namespace {

std::string limits_xml(const std::string& group, const std::vector<std::string>& names, double low,
                       double high) {
  std::string xml = "<" + group + " type=\"Structure\">";
  for (const std::string& name : names) {
    xml += "<" + name + "Minimum type=\"Float\">" + std::to_string(low) + "</" + name + "Minimum>";
    xml += "<" + name + "Maximum type=\"Float\">" + std::to_string(high) + "</" + name + "Maximum>";
  }
  return xml + "</" + group + ">";
}

Scan colored(const std::vector<double>& red, double low, double high) {
  Scan scan = cartesian(std::vector<Vec3d>(red.size(), {1, 1, 1}));
  for (const char* name : {"colorRed", "colorGreen", "colorBlue"})
    scan.fields.push_back(Field::real(name, red));
  scan.xml = limits_xml("colorLimits", {"colorRed", "colorGreen", "colorBlue"}, low, high);
  return scan;
}

std::vector<int> reds(const E57Cloud& cloud) {
  std::vector<int> out;
  for (const Rgb16& c : values_of<Rgb16>(cloud.table, "rgb")) out.push_back(c.r / 256);
  return out;
}

TEST(E57Limits, ColourUsesTheDeclaredRangeAndNotItsOwn) {
  const std::vector<std::pair<Scan, std::vector<int>>> cases{
      {colored({0, 1, 1}, 0, 255), {0, 1, 1}},               // dark, not saturated
      {colored({0, 16384, 32768}, 0, 65535), {0, 64, 128}},  // round(v / 257)
      {colored({0.25, 0.5}, 0, 1), {64, 128}},
      {colored({0.25, 0.5}, 0, 0.5), {128, 255}},
      {colored({100, 150, 200}, 100, 200), {0, 128, 255}},
      {colored({0, 300, 600}, 0, 1200), {0, 64, 128}},
  };
  for (const auto& [scan, expected] : cases) {
    const E57Cloud cloud = read_scans({scan});
    EXPECT_EQ(reds(cloud), expected) << scan.xml;
    EXPECT_TRUE(cloud.table.warnings.empty());
  }
}

TEST(E57Limits, ColourBeyondTheDeclaredRangeIsReported) {
  const E57Cloud cloud = read_scans({colored({0, 510}, 0, 255)});
  EXPECT_EQ(reds(cloud), (std::vector<int>{0, 255}));
  ASSERT_EQ(cloud.table.warnings.size(), 1u);
  EXPECT_EQ(cloud.table.warnings[0],
            "scan 0: values exceed its colorLimits, so the colour is scaled by the values instead");
  EXPECT_EQ(reds(read_scans({colored({0, 10}, 7, 7)})), (std::vector<int>{0, 10})) << "an empty range";
}

TEST(E57Limits, IntensityUsesTheDeclaredRange) {
  const auto scanned = [](const std::vector<float>& values, double low, double high) {
    Scan scan = cartesian(std::vector<Vec3d>(values.size(), {1, 1, 1}));
    scan.fields.push_back(Field::single("intensity", values));
    scan.xml = limits_xml("intensityLimits", {"intensity"}, low, high);
    return scan;
  };
  const E57Cloud both = read_scans({scanned({0, 25, 50}, 0, 100), scanned({50, 50}, 0, 100)});
  EXPECT_EQ(values_of<std::uint16_t>(both.table, "intensity"),
            (std::vector<std::uint16_t>{0, 16384, 32768, 32768, 32768}))
      << "the same value is the same in both scans";
  const E57Cloud rounded = read_scans({scanned({-66.6F, 66.6F}, -66.6, 66.6)});
  EXPECT_EQ(values_of<std::uint16_t>(rounded.table, "intensity"), (std::vector<std::uint16_t>{0, 65535}));
  EXPECT_TRUE(rounded.table.warnings.empty());
  const E57Cloud wrong = read_scans({scanned({0, 50, 200}, 0, 100)});
  EXPECT_EQ(values_of<std::uint16_t>(wrong.table, "intensity"),
            (std::vector<std::uint16_t>{0, 16384, 65535}));
  ASSERT_EQ(wrong.table.warnings.size(), 1u);
  EXPECT_NE(wrong.table.warnings[0].find("intensityLimits"), std::string::npos);
}

TEST(E57Limits, ScannerWithoutAPoseIsAtTheZeroOfItsCoordinates) {
  Scan spherical;
  spherical.fields = {Field::real("sphericalRange", {2}), Field::real("sphericalAzimuth", {0}),
                      Field::real("sphericalElevation", {0})};
  Scan marked = cartesian({{1, 1, 1}});
  marked.fields.push_back(Field::integer("cartesianInvalidState", 0, 2, {0}));
  const Scan plain = cartesian({{4e6, 5e6, 1}});
  Scan posed = plain;
  posed.xml = pose_xml(1, 0, 0, 0, {1, 2, 3});
  const E57Cloud cloud = read_scans({spherical, marked, plain, posed}, {{1.0, {10, 20, 30}}, std::nullopt});
  ASSERT_EQ(cloud.scans.size(), 4u);
  for (const std::size_t s : {0, 1}) {
    EXPECT_TRUE(cloud.scans[s].has_origin && !cloud.scans[s].has_pose);
    EXPECT_EQ(cloud.scans[s].origin_stored, (Vec3d{-10, -20, -30}));
  }
  EXPECT_FALSE(cloud.scans[2].has_origin) << "Cartesian points without a pose may be in any frame";
  EXPECT_TRUE(cloud.scans[3].has_origin && cloud.scans[3].has_pose);
  EXPECT_EQ(cloud.scans[3].origin_stored, (Vec3d{-9, -18, -27}));
}

}  // namespace
}  // namespace pc::e57_test
