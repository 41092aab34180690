#include "ops/trees/crown_watershed.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/error.h"

namespace {

using namespace pc;

const RasterFrame kFrame{0, 0, 0.5, 23, 17};

std::vector<double> waves() {
  std::vector<double> out;
  for (int j = 0; j < 17; ++j) {
    for (int i = 0; i < 23; ++i) {
      const double x = i, y = j;
      out.push_back(5 + 3 * std::sin(x * 0.7 + 0.3 * std::sin(y)) + 2 * std::cos(y * 0.9 + 0.1 * x) +
                    0.4 * std::sin(3.1 * x + 1.7 * y));
    }
  }
  return out;
}

std::vector<CrownMarker> markers() {
  std::vector<CrownMarker> out;
  const int cells[][2] = {{3, 2}, {11, 3}, {20, 4}, {5, 13}, {14, 12}, {19, 14}};
  for (std::uint32_t k = 0; k < 6; ++k)
    out.push_back({static_cast<std::uint32_t>(cells[k][1] * 23 + cells[k][0]), k + 1});
  return out;
}

// scikit-image 0.19.3: watershed(-h, markers, connectivity=2, mask=h >= 3, compactness=0.03 * 0.5); without compactness 20
// cells differ.
const char* const kReference[] = {
    "11111111222222200333333", "11111100222222000033333", "11111000022222000033333",
    "01111000022222000333333", "01111100022222220333333", "11111110222222223333333",
    "11111112222222223333333", "11111112222222200333333", "11111100222225000033333",
    "11111000055555000066633", "01111000055555000066666", "01111400055555550666666",
    "11111440555555556666666", "11111444555555555666666", "11111444555555500666666",
    "11111400455555000066666", "11111000005555000066666"};

Column<std::uint32_t> grown(const std::vector<double>& heights, const std::vector<CrownMarker>& from) {
  JobControl control;
  OpContext ctx(control);
  return crown_watershed(kFrame, {heights.data(), heights.size()}, 3, from, ctx);
}

TEST(CrownWatershed, EqualsScikitImage) {
  const Column<std::uint32_t> labels = grown(waves(), markers());
  for (std::size_t j = 0; j < 17; ++j) {
    std::string row;
    for (std::size_t i = 0; i < 23; ++i) row += static_cast<char>('0' + labels[j * 23 + i]);
    EXPECT_EQ(row, kReference[j]) << j;
  }
}

TEST(CrownWatershed, MarkersOfOneLabelMakeOneCrown) {
  std::vector<CrownMarker> from = markers();
  from[1].label = 1;
  const Column<std::uint32_t> joined = grown(waves(), from), apart = grown(waves(), markers());
  for (std::size_t i = 0; i < joined.size(); ++i) EXPECT_EQ(joined[i], apart[i] == 2 ? 1U : apart[i]);
}

TEST(CrownWatershed, AMarkerOutsideTheCanopyIsAnError) {
  std::vector<double> heights = waves();
  heights[0] = 2.9;
  EXPECT_THROW(grown(heights, {{0, 1}}), Error);
  heights[0] = NAN;
  EXPECT_THROW(grown(heights, {{0, 1}}), Error);
  EXPECT_THROW(grown(heights, {{23 * 17, 1}}), Error);
}

}  // namespace
