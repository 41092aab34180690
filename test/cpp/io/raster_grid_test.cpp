#include "io/raster_grid.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "core/error.h"

namespace pc::io {
namespace {

std::string text_of(const std::vector<double>& values, std::uint64_t nx, double nodata, int threads = 1) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  const auto text = raster_text({{values.data(), values.size()}, nx, values.size() / nx}, nodata, ctx);
  return {text.view().begin(), text.view().end()};
}

TEST(RasterGrid, RowsFromNorthToSouth) {
  EXPECT_EQ(text_of({1, 2, 3, 4, 5, 6}, 3, -9999), "4.0000 5.0000 6.0000\n1.0000 2.0000 3.0000\n");
}

/// Values and texts of ECMA-262 Number.prototype.toFixed(4) and toString().
TEST(RasterGrid, NumbersAreThoseOfJavaScript) {
  const std::vector<std::pair<double, std::string>> cases = {{0.03125, "0.0313"},
                                                             {-0.03125, "-0.0313"},
                                                             {0.09375, "0.0938"},
                                                             {0.00005, "0.0001"},
                                                             {1.00005, "1.0001"},
                                                             {1.00015, "1.0002"},
                                                             {-0.00001, "-0.0000"},
                                                             {-0.0, "0.0000"},
                                                             {1e20, "100000000000000000000.0000"},
                                                             {1e21, "1e+21"},
                                                             {-1.5e300, "-1.5e+300"},
                                                             {123456.78905, "123456.7891"},
                                                             {99999.99995, "99999.9999"}};
  for (const auto& [value, text] : cases) EXPECT_EQ(text_of({value}, 1, -9999), text + "\n") << value;
}

TEST(RasterGrid, NoHeightBecomesNodataByRounding) {
  EXPECT_EQ(text_of({0.00001, -0.00004, 1e-7, 0, 0.00006}, 5, 0), "0.00001 -0.00004 1e-7 0 0.0001\n");
  EXPECT_EQ(text_of({-9999, -9998.99999, -9999.0001}, 3, -9999), "-9999 -9998.99999 -9999.0001\n");
}

TEST(RasterGrid, TheTextDoesNotDependOnThreads) {
  std::vector<double> values(200'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i) / 7;
  EXPECT_EQ(text_of(values, 400, -9999, 1), text_of(values, 400, -9999, 3));
}

TEST(RasterGrid, FloatsAreFlippedAndTheFirstValueOutOfRangeIsNamed) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  const std::vector<double> values = {1, 2, 3, 4};
  const auto floats = raster_floats({{values.data(), 4}, 2, 2}, ctx);
  EXPECT_FALSE(floats.refused);
  EXPECT_EQ((std::vector<float>(floats.values.view().begin(), floats.values.view().end())),
            (std::vector<float>{3, 4, 1, 2}));
  std::vector<double> large(300'000, 1.0);
  large[250'000] = 1e39;
  large[70'000] = -1e40;
  const auto refused = raster_floats({{large.data(), large.size()}, 1000, 300}, ctx);
  EXPECT_TRUE(refused.refused);
  EXPECT_EQ(refused.refused_value, -1e40);
}

TEST(RasterGrid, AnotherCountIsRefused) {
  JobControl control;
  OpContext ctx(control);
  const std::vector<double> values = {1, 2, 3};
  EXPECT_THROW(raster_text({{values.data(), 3}, 2, 2}, 0, ctx), Error);
  EXPECT_THROW(raster_floats({{values.data(), 3}, 0, 3}, ctx), Error);
}

}  // namespace
}  // namespace pc::io
