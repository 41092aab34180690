#include "ops/cloud/region_select.h"

#include <chrono>
#include <cmath>
#include <limits>

#include "core/random.h"
#include "ops/cloud/screen_shape.h"
#include "support/cancel.h"
#include "support/columns.h"

namespace pc::test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr std::array<double, 16> kIdentity{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
/// px = x + 1, py = 1 - y: lattices of eighths reach lattices of pixels without rounding.
const ScreenView kFlat{kIdentity, kIdentity, 2, 2};

using Mask = std::vector<std::uint8_t>;

double unit(std::uint64_t seed, std::uint64_t i) { return random_unit(seed, i); }

Mask select(const RowSelection& selection, int threads) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return values_of<std::uint8_t>(AnyColumn(region_select(selection, ctx)));
}

/// The contract's words as a loop.
bool plain_polygon(const std::vector<Pixel>& points, const Pixel& p) {
  bool inside = false;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::size_t j = (i + points.size() - 1) % points.size();
    const double xi = points[i].x, yi = points[i].y, xj = points[j].x, yj = points[j].y;
    if (((yi > p.y) != (yj > p.y)) && p.x < (xj - xi) * (p.y - yi) / (yj - yi) + xi) inside = !inside;
  }
  return inside;
}

bool plain_squares(const SquaresRegion& region, const Pixel& p) {
  for (std::size_t i = 0; i < region.centers.size(); ++i) {
    if (std::abs(p.x - region.centers[i].x) <= region.half_sizes[i] &&
        std::abs(p.y - region.centers[i].y) <= region.half_sizes[i])
      return true;
  }
  return false;
}

/// clip = P V p with the product folded first (as the op does) or applied one after the other.
bool plain_project(const ScreenView& screen, const Vec3d& p, bool folded, Pixel& pixel) {
  const auto product = [](const std::array<double, 16>& a, const std::array<double, 16>& b) {
    std::array<double, 16> out{};
    for (int c = 0; c < 4; ++c) {
      for (int r = 0; r < 4; ++r) {
        for (int k = 0; k < 4; ++k) out[4 * c + r] += a[4 * k + r] * b[4 * c + k];
      }
    }
    return out;
  };
  const auto apply = [](const std::array<double, 16>& m, const std::array<double, 4>& v) {
    std::array<double, 4> out{};
    for (int r = 0; r < 4; ++r) out[r] = m[r] * v[0] + m[4 + r] * v[1] + m[8 + r] * v[2] + m[12 + r] * v[3];
    return out;
  };
  const std::array<double, 4> at{p.x, p.y, p.z, 1};
  const auto clip = folded ? apply(product(screen.projection, screen.view), at)
                           : apply(screen.projection, apply(screen.view, at));
  if (!(clip[3] > 0)) return false;
  pixel = {(clip[0] / clip[3] + 1) / 2 * screen.width_px,
           (1 - (clip[1] / clip[3] + 1) / 2) * screen.height_px};
  return true;
}

bool plain_region(const Region& region, const Vec3d& p, bool folded = true) {
  bool inside = false;
  Pixel pixel{};
  if (const auto* box = std::get_if<BoxRegion>(&region.shape)) {
    inside = p.x >= box->min.x && p.x <= box->max.x && p.y >= box->min.y && p.y <= box->max.y &&
             p.z >= box->min.z && p.z <= box->max.z;
  } else if (const auto* polygon = std::get_if<PolygonRegion>(&region.shape)) {
    inside = plain_project(polygon->screen, p, folded, pixel) && plain_polygon(polygon->points, pixel);
  } else if (const auto* squares = std::get_if<SquaresRegion>(&region.shape)) {
    inside = plain_project(squares->screen, p, folded, pixel) && plain_squares(*squares, pixel);
  }
  return inside != region.invert;
}

/// A perspective camera in the plane y = 0 that looks along +y, `at` its place.
ScreenView camera(const Vec3d& at) {
  ScreenView screen{{1.5, 0, 0, 0, 0, 2, 0, 0, 0, 0, -1.0002, -1, 0, 0, -0.20002, 0}, {}, 800, 600};
  screen.view = {1, 0, 0, 0, 0, 0, -1, 0, 0, 1, 0, 0, -at.x, -at.z, at.y, 1};
  return screen;
}

std::vector<Vec3d> lattice() {
  std::vector<Vec3d> points;
  for (int x = -10; x <= 10; ++x) {
    for (int y = -10; y <= 10; ++y) {
      for (int z = -2; z <= 2; ++z) points.push_back({x / 8.0, y / 8.0, z / 8.0});
    }
  }
  return points;
}

std::vector<std::pair<std::string, std::vector<Pixel>>> polygons() {
  std::vector<std::pair<std::string, std::vector<Pixel>>> list{
      {"square", {{.5, .5}, {1.5, .5}, {1.5, 1.5}, {.5, 1.5}}},
      {"square the other way", {{.5, .5}, {.5, 1.5}, {1.5, 1.5}, {1.5, .5}}},
      {"diamond", {{1, .25}, {1.75, 1}, {1, 1.75}, {.25, 1}}},
      {"bow tie", {{.25, .25}, {1.75, 1.75}, {1.75, .25}, {.25, 1.75}}},
      {"pentagram", {{1, 0}, {1.6, 1.8}, {.05, .7}, {1.95, .7}, {.4, 1.8}}},
      {"stairs", {{0, 0}, {.5, 0}, {.5, .5}, {1, .5}, {1, 1}, {1.5, 1}, {1.5, 1.5}, {0, 1.5}}},
      {"square twice",
       {{.5, .5}, {1.5, .5}, {1.5, 1.5}, {.5, 1.5}, {.5, .5}, {1.5, .5}, {1.5, 1.5}, {.5, 1.5}}},
      {"repeated points", {{.5, .5}, {.5, .5}, {1.5, .5}, {1.5, 1.5}, {1.5, 1.5}, {1.5, 1.5}}},
      {"one point", {{1, 1}, {1, 1}, {1, 1}}},
      {"flat", {{.25, 1}, {1.75, 1}, {1, 1}}},
      {"upright", {{1, .25}, {1, 1.75}, {1, 1}}},
      {"slanted line", {{.25, .25}, {1.75, 1.75}, {1, 1}}},
      {"touching itself", {{0, 0}, {1, 1}, {2, 0}, {2, 2}, {1, 1}, {0, 2}}},
      {"needle", {{0, 1}, {2, std::nextafter(1.0, 2.0)}, {2, 1}}},
      {"small and far out", {{1e9, 1e9}, {1e9 + 1e-6, 1e9}, {1e9, 1e9 + 1e-6}}},
      {"tiny", {{1, 1}, {1 + 4e-16, 1}, {1, 1 + 9e-16}}},
      {"as large as doubles", {{-1e308, -1e308}, {1e308, -1e308}, {1, 1e308}}},
      {"large", {{-1e120, -1e120}, {1e120, -1e119}, {0, 1e120}}},
      {"below normal doubles", {{0, 0}, {100.3, 0}, {-50.1, 1e-323}, {7, 1e-310}}},
      // At y = 0 the loop sees the first edge at x = -0.3: 0.7 of the smallest double is rounded to all of it.
      {"an edge as flat as doubles get", {{.7, 5e-324}, {.7, 1}, {0, 1}, {0, 0}}},
      {"zero", {{0, 0}, {0, 0}, {-0.0, 0}}},
  };
  const auto ring = [&](const std::string& name, std::size_t n, double wobble, std::uint64_t seed) {
    std::vector<Pixel> points;
    for (std::size_t i = 0; i < n; ++i) {
      const double angle = 6.283185307179586 * static_cast<double>(i) / static_cast<double>(n);
      const double radius = 0.8 - wobble * unit(seed, i);
      points.push_back({1 + radius * std::cos(angle), 1 + radius * std::sin(angle)});
    }
    list.emplace_back(name, points);
  };
  ring("lasso of 500", 500, 0.02, 5);
  ring("spikes", 700, 0.79, 6);
  ring("circle of 3000", 3000, 0, 7);
  std::vector<Pixel> scribble, comb;
  for (std::size_t i = 0; i < 400; ++i) scribble.push_back({2 * unit(8, 2 * i), 2 * unit(8, 2 * i + 1)});
  for (std::size_t i = 0; i < 300; ++i) comb.push_back({static_cast<double>(i) / 150, i % 2 == 0 ? .1 : 1.9});
  list.emplace_back("scribble", scribble);
  list.emplace_back("comb", comb);
  std::vector<Pixel> rounded;  // many vertices on one lattice: horizontal and upright edges, shared vertices
  for (std::size_t i = 0; i < 300; ++i)
    rounded.push_back({std::rint(16 * unit(9, 2 * i)) / 8, std::rint(16 * unit(9, 2 * i + 1)) / 8});
  list.emplace_back("scribble on a lattice", rounded);
  return list;
}

std::vector<Pixel> lasso_points() {
  for (const auto& [name, points] : polygons()) {
    if (name == "lasso of 500") return points;
  }
  throw std::logic_error("no lasso");
}

/// Positions at which the result of a shape changes, and the adjacent doubles.
std::vector<Pixel> places_near(const std::vector<Pixel>& vertices, std::uint64_t seed) {
  std::vector<Pixel> places;
  const auto around = [&](double x, double y) {
    for (const double px : {x, std::nextafter(x, -kInf), std::nextafter(x, kInf)}) {
      for (const double py : {y, std::nextafter(y, -kInf), std::nextafter(y, kInf)})
        places.push_back({px, py});
    }
  };
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    const Pixel &a = vertices[i], &b = vertices[(i + 1) % vertices.size()];
    around(a.x, a.y);
    for (int k = 0; k < 3; ++k) {
      const double y = a.y + (b.y - a.y) * unit(seed, 3 * i + static_cast<std::uint64_t>(k));
      around((a.x - b.x) * (y - b.y) / (a.y - b.y) + b.x, y);  // where the loop itself sees the edge
      around(vertices[(i * 7 + 3) % vertices.size()].x, y);
    }
  }
  for (int x = -2; x <= 18; ++x) {
    for (int y = -2; y <= 18; ++y) places.push_back({x / 8.0, y / 8.0});
  }
  for (std::uint64_t i = 0; i < 4000; ++i)
    places.push_back({3 * unit(seed + 1, 2 * i) - .5, 3 * unit(seed + 1, 2 * i + 1) - .5});
  for (const double odd : {kNaN, kInf, -kInf, 1e300, -1e300}) {
    places.push_back({odd, 1});
    places.push_back({1, odd});
    places.push_back({odd, odd});
  }
  return places;
}

TEST(ScreenShape, PolygonAnswersAsThePlainLoopOverAllEdges) {
  for (const auto& [name, points] : polygons()) {
    const screen_shape::Polygon polygon(points);
    std::size_t inside = 0;
    for (const Pixel& p : places_near(points, 11)) {
      const bool wanted = plain_polygon(points, p);
      inside += wanted;
      ASSERT_EQ(polygon.holds(p), wanted) << name << " at " << p.x << " " << p.y;
    }
    const bool area = points.size() > 4 && name != "square twice";  // twice is even: none
    EXPECT_TRUE(inside > 0 || !area) << name;
  }
}

TEST(ScreenShape, SettlesMostCellsOfALasso) {
  const auto list = polygons();
  for (const auto& [name, points] : list) {
    const screen_shape::Polygon polygon(points);
    if (name == "lasso of 500") {
      EXPECT_LE(polygon.worst_case(), 40U);
    }
    if (name == "spikes") {
      EXPECT_LE(polygon.worst_case(), 700U);
    }
  }
}

std::vector<std::pair<std::string, SquaresRegion>> square_sets() {
  std::vector<std::pair<std::string, SquaresRegion>> list{
      {"one", {{{1, 1}}, {.5}, kFlat}},
      {"two that touch", {{{.5, 1}, {1.5, 1}}, {.5, .5}, kFlat}},
      {"far apart", {{{-1e6, 0}, {1, 1}, {1e6, 5}}, {.25, .125, 3}, kFlat}},
      {"one within another", {{{1, 1}, {1, 1}, {1.25, 1}}, {.75, .25, .5}, kFlat}},
      {"as small as the rounding", {{{1e9, 1}, {1, 1}}, {1e-8, 1e-17}, kFlat}},
      {"as large as doubles", {{{1e308, 1}, {0, 0}}, {1e308, 1e308}, kFlat}},
      {"below normal doubles", {{{0, 0}}, {1e-310}, kFlat}},
      {"none", {{}, {}, kFlat}},
  };
  SquaresRegion brush{{}, {}, kFlat}, rounded{{}, {}, kFlat};
  for (std::size_t i = 0; i < 5000; ++i) {
    const double t = static_cast<double>(i) / 5000;
    brush.centers.push_back({.2 + 1.6 * t, 1 + .5 * std::sin(9 * t)});
    brush.half_sizes.push_back(.02 + .02 * unit(3, i));
    rounded.centers.push_back({std::rint(64 * unit(4, 2 * i)) / 32, std::rint(64 * unit(4, 2 * i + 1)) / 32});
    rounded.half_sizes.push_back(1.0 / 64);
  }
  list.emplace_back("brush of 5000", brush);
  list.emplace_back("checkers", rounded);
  return list;
}

TEST(ScreenShape, SquaresAnswerAsThePlainLoop) {
  for (const auto& [name, region] : square_sets()) {
    const screen_shape::Squares squares(region);
    std::vector<Pixel> corners{{1, 1}};
    for (std::size_t i = 0; i < region.centers.size(); i += 1 + region.centers.size() / 300) {
      const Pixel& c = region.centers[i];
      const double h = region.half_sizes[i];
      corners.insert(corners.end(), {{c.x - h, c.y - h}, {c.x + h, c.y + h}, {c.x - h, c.y + h}, c});
    }
    std::size_t inside = 0;
    for (const Pixel& p : places_near(corners, 13)) {
      const bool wanted = plain_squares(region, p);
      inside += wanted;
      ASSERT_EQ(squares.holds(p), wanted) << name << " at " << p.x << " " << p.y;
    }
    EXPECT_EQ(inside == 0, region.centers.empty()) << name;
  }
}

class RegionSelect : public testing::TestWithParam<int> {};

TEST_P(RegionSelect, BoxIsInclusiveOnAllFaces) {
  const std::vector<Vec3d> points = lattice();
  const BoxRegion box{{-.5, -.25, -.125}, {.5, .75, .125}};
  for (const bool invert : {false, true}) {
    const Mask mask = select({span_of(points), {{box, invert}}, {}}, GetParam());
    std::size_t inside = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      ASSERT_EQ(mask[i] != 0, plain_region({box, invert}, points[i]));
      inside += mask[i];
    }
    EXPECT_EQ(inside, invert ? points.size() - 9 * 9 * 3 : 9 * 9 * 3);
  }
  const BoxRegion point{{.5, .5, .25}, {.5, .5, .25}}, empty{{1, 0, 0}, {0, 1, 1}},
      all{{-kInf, -kInf, -kInf}, {kInf, kInf, kInf}};
  const auto count = [&](const BoxRegion& b) {
    const Mask mask = select({span_of(points), {{b, false}}, {}}, GetParam());
    return std::count(mask.begin(), mask.end(), 1);
  };
  EXPECT_EQ(count(point), 1);
  EXPECT_EQ(count(empty), 0);
  EXPECT_EQ(count(all), static_cast<std::ptrdiff_t>(points.size()));
}

TEST_P(RegionSelect, NaNIsInNoRegionAndInEveryInvertedOne) {
  const std::vector<Vec3d> points{{kNaN, 0, 0}, {0, kNaN, 0}, {0, 0, kNaN}, {0, 0, 0}};
  const std::vector<decltype(Region::shape)> shapes{
      BoxRegion{{-kInf, -kInf, -kInf}, {kInf, kInf, kInf}},
      PolygonRegion{{{-9, -9}, {9, -9}, {9, 9}, {-9, 9}}, kFlat},
      SquaresRegion{{{1, 1}}, {50}, kFlat},
  };
  for (const auto& shape : shapes) {
    EXPECT_EQ(select({span_of(points), {{shape, false}}, {}}, GetParam()), (Mask{0, 0, 0, 1}));
    EXPECT_EQ(select({span_of(points), {{shape, true}}, {}}, GetParam()), (Mask{1, 1, 1, 0}));
  }
}

TEST_P(RegionSelect, LatticeOnPolygonEdgesIsExact) {
  const std::vector<Vec3d> points = lattice();
  for (const auto& [name, polygon] : polygons()) {
    for (const bool invert : {false, true}) {
      const Region region{PolygonRegion{polygon, kFlat}, invert};
      const Mask mask = select({span_of(points), {region}, {}}, GetParam());
      for (std::size_t i = 0; i < points.size(); ++i)
        ASSERT_EQ(mask[i] != 0, plain_region(region, points[i])) << name << " point " << i;
    }
  }
}

TEST_P(RegionSelect, PerspectiveBehindTheCameraAndFarFromZero) {
  for (const Vec3d& at : {Vec3d{0, 0, 0}, Vec3d{4e6, 5e6, 100}}) {
    const ScreenView screen = camera(at);
    std::vector<Vec3d> points{at};
    for (std::uint64_t i = 0; i < 30'000; ++i)  // as many behind the camera as before it
      points.push_back(
          at + Vec3d{40 * unit(1, 3 * i) - 20, 60 * unit(1, 3 * i + 1) - 30, 30 * unit(1, 3 * i + 2) - 15});
    std::vector<Pixel> lasso;
    for (const Pixel& p : lasso_points()) lasso.push_back({400 * p.x, 300 * p.y});
    SquaresRegion squares{{}, {}, screen};
    for (std::uint64_t i = 0; i < 2000; ++i) {
      squares.centers.push_back({800 * unit(2, 2 * i), 600 * unit(2, 2 * i + 1)});
      squares.half_sizes.push_back(1 + 9 * unit(3, i));
    }
    for (const auto& shape : std::vector<decltype(Region::shape)>{PolygonRegion{lasso, screen}, squares}) {
      const Region region{shape, false};
      const Mask mask = select({span_of(points), {region}, {}}, GetParam());
      std::size_t inside = 0, unfolded_differs = 0;
      for (std::size_t i = 0; i < points.size(); ++i) {
        ASSERT_EQ(mask[i] != 0, plain_region(region, points[i])) << i;
        inside += mask[i];
        unfolded_differs += (mask[i] != 0) != plain_region(region, points[i], false);
        if (points[i].y <= at.y) {
          ASSERT_EQ(mask[i], 0) << "behind the camera";
        }
      }
      EXPECT_GT(inside, 1000U);
      // The two forms differ by about 1e-9 of the coordinates: at most a point next to an edge may change sides.
      EXPECT_LE(unfolded_differs, at.x == 0 ? 0U : 3U);
    }
  }
}

TEST_P(RegionSelect, RegionsAndFiltersMustAllHold) {
  std::vector<Vec3d> points;
  std::vector<float> heights;
  std::vector<std::uint8_t> classes;
  for (std::uint64_t i = 0; i < 150'000; ++i) {
    points.push_back({2 * unit(1, 3 * i) - 1, 2 * unit(1, 3 * i + 1) - 1, unit(1, 3 * i + 2)});
    heights.push_back(i % 11 == 0 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(unit(2, i)));
    classes.push_back(static_cast<std::uint8_t>(random_u64(3, i) % 7));
  }
  const AnyColumn height = column_of(heights), label = column_of(classes);
  const std::vector<Region> regions{{BoxRegion{{-1, -1, .25}, {1, 1, 1}}, false},
                                    {PolygonRegion{lasso_points(), kFlat}, false},
                                    {SquaresRegion{{{1, 1}}, {.25}, kFlat}, true}};
  const std::vector<ScalarFilter> filters{{&height, .25, .75, {}}, {&label, 0, 0, {1, 4, 6}}};
  const Mask mask = select({span_of(points), regions, filters}, GetParam());
  for (std::size_t i = 0; i < points.size(); ++i) {
    bool wanted =
        heights[i] >= .25F && heights[i] <= .75F && (classes[i] == 1 || classes[i] == 4 || classes[i] == 6);
    for (const Region& region : regions) wanted = wanted && plain_region(region, points[i]);
    ASSERT_EQ(mask[i] != 0, wanted) << i;
  }
  EXPECT_EQ(select({span_of(points), {}, {}}, GetParam()), Mask(points.size(), 1));
  EXPECT_EQ(select({{}, regions, {}}, GetParam()), Mask());
  EXPECT_EQ(select({{points.data(), 1}, {}, {}}, GetParam()), Mask{1});
}

template <class T>
Mask filtered(const std::vector<T>& values, double min, double max, std::vector<double> classes,
              int threads) {
  const std::vector<Vec3d> points(values.size(), Vec3d{0, 0, 0});
  const AnyColumn column = column_of(values);
  return select({span_of(points), {}, {{&column, min, max, std::move(classes)}}}, threads);
}

TEST_P(RegionSelect, RangesAreInclusiveForEveryType) {
  const int t = GetParam();
  EXPECT_EQ(filtered<std::uint8_t>({0, 1, 2, 3, 255}, 1, 2.5, {}, t), (Mask{0, 1, 1, 0, 0}));
  EXPECT_EQ(filtered<std::int8_t>({-128, -1, 0, 127}, -1.5, kInf, {}, t), (Mask{0, 1, 1, 1}));
  EXPECT_EQ(filtered<std::uint16_t>({0, 65535}, -5, 1e9, {}, t), (Mask{1, 1}));
  EXPECT_EQ(filtered<std::int16_t>({-3, 5}, 5.1, 5.9, {}, t), (Mask{0, 0}));
  EXPECT_EQ(filtered<std::uint32_t>({7, 4294967295U}, 4294967295.0, kInf, {}, t), (Mask{0, 1}));
  EXPECT_EQ(filtered<std::uint32_t>({7, 4294967295U}, 4294967296.0, kInf, {}, t), (Mask{0, 0}));
  EXPECT_EQ(filtered<std::int32_t>({-7, 7}, -kInf, -7, {}, t), (Mask{1, 0}));
  EXPECT_EQ(filtered<std::uint8_t>({0, 1}, -9, -1, {}, t), (Mask{0, 0}));
  EXPECT_EQ(filtered<std::uint8_t>({0, 1}, 1, 0, {}, t), (Mask{0, 0}));
  EXPECT_EQ(filtered<float>({0.1F, 0.2F, static_cast<float>(kNaN), HUGE_VALF, -0.0F}, 0, 0.1, {}, t),
            (Mask{0, 0, 0, 0, 1}));  // 0.1F is above 0.1
  EXPECT_EQ(filtered<double>({0.1, kNaN, kInf, -kInf}, -kInf, kInf, {}, t), (Mask{1, 0, 1, 1}));
  // float64 cannot tell these neighbours apart.
  const std::int64_t big = (std::int64_t{1} << 53) + 1;
  EXPECT_EQ(filtered<std::int64_t>({big - 1, big, big + 1}, 0, 0x1p53, {}, t), (Mask{1, 0, 0}));
  EXPECT_EQ(filtered<std::uint64_t>({~std::uint64_t{0}, 5}, 0x1p63, 0x1p64, {}, t), (Mask{1, 0}));
}

TEST_P(RegionSelect, ClassesAreComparedRoundedHalfToEven) {
  const int t = GetParam();
  const std::vector<double> two{2};
  EXPECT_EQ(filtered<float>({1.5F, 2.5F, 2.51F, 1.49F, 2, static_cast<float>(kNaN)}, 0, 0, two, t),
            (Mask{1, 1, 0, 0, 1, 0}));
  EXPECT_EQ(filtered<double>({-0.5, 0.5, -0.51, kInf, -kInf, kNaN}, 0, 0, {0}, t), (Mask{1, 1, 0, 0, 0, 0}));
  EXPECT_EQ(filtered<std::uint8_t>({1, 2, 3}, 3, 3, two, t), (Mask{0, 1, 0}));  // min and max are ignored
  EXPECT_EQ(filtered<std::int32_t>({-70000, 0, 70000, 5}, 0, 0, {70000, -70000, 5, 5}, t),
            (Mask{1, 0, 1, 1}));
  EXPECT_EQ(filtered<double>({1e300, 5, kNaN, kInf}, 0, 0, {1e300, 5, kInf}, t), (Mask{1, 1, 0, 0}));
  EXPECT_EQ(filtered<double>({kNaN, 1}, 0, 0, {kNaN, 0.5}, t), (Mask{0, 0}));
  const std::int64_t big = (std::int64_t{1} << 53) + 1;
  EXPECT_EQ(filtered<std::int64_t>({big - 1, big, std::numeric_limits<std::int64_t>::max()}, 0, 0,
                                   {0x1p53, 0x1p63}, t),
            (Mask{1, 0, 0}));
}

TEST_P(RegionSelect, RefusesWhatIsNoRegion) {
  const std::vector<Vec3d> points{{0, 0, 0}};
  const AnyColumn two(DType::kU8, 2), triples(DType::kVec3d, 1), one(DType::kU8, 1);
  ScreenView broken = kFlat, flat = kFlat;
  broken.view[5] = kNaN;
  flat.height_px = 0;
  const std::vector<Pixel> triangle{{0, 0}, {1, 0}, {0, 1}};
  const std::vector<RowSelection> bad{
      {span_of(points), {{BoxRegion{{kNaN, 0, 0}, {1, 1, 1}}, false}}, {}},
      {span_of(points), {{PolygonRegion{{{0, 0}, {1, 1}}, kFlat}, false}}, {}},
      {span_of(points), {{PolygonRegion{{{0, 0}, {1, 1}, {kInf, 0}}, kFlat}, false}}, {}},
      {span_of(points), {{PolygonRegion{triangle, broken}, false}}, {}},
      {span_of(points), {{PolygonRegion{triangle, flat}, false}}, {}},
      {span_of(points), {{SquaresRegion{{{0, 0}}, {}, kFlat}, false}}, {}},
      {span_of(points), {{SquaresRegion{{{0, 0}}, {0}, kFlat}, false}}, {}},
      {span_of(points), {{SquaresRegion{{{kNaN, 0}}, {1}, kFlat}, false}}, {}},
      {span_of(points), {}, {{&two, 0, 1, {}}}},
      {span_of(points), {}, {{&triples, 0, 1, {}}}},
      {span_of(points), {}, {{&one, kNaN, 1, {}}}},
  };
  for (const RowSelection& selection : bad)
    EXPECT_EQ(code_of([&] { select(selection, GetParam()); }), ErrorCode::kInvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(Threads, RegionSelect, testing::Values(1, 4));

TEST(RegionSelectCancel, EndsInTimeWhenEveryPointMeetsEveryEdge) {
  PolygonRegion comb{{}, kFlat};
  for (std::size_t i = 0; i < 200'000; ++i)
    comb.points.push_back({static_cast<double>(i) / 1e5, i % 2 == 0 ? 0. : 2.});
  std::vector<Vec3d> points;
  for (std::uint64_t i = 0; i < 200'000; ++i)
    points.push_back({2 * unit(1, 2 * i) - 1, 2 * unit(1, 2 * i + 1) - 1, 0});
  const auto run = [&](OpContext& ctx) { region_select({span_of(points), {{comb, false}}, {}}, ctx); };
  expect_cancel_in_time(run, {"Selecting points", 0, std::chrono::milliseconds(20), 2});
}

}  // namespace
}  // namespace pc::test
