#include <numbers>

#include "cost_case.h"
#include "ops/cloud/convert.h"
#include "ops/cloud/miss_detection.h"
#include "ops/cloud/project_misses.h"
#include "ops/cloud/region_select.h"
#include "ops/cloud/transform.h"
#include "ops/cloud/unit_colors.h"

namespace pc::bench {

namespace {

constexpr std::size_t kRows = 200'000;

/// Seen from above: x and y of 0 .. 1000 m are the pixels of the canvas.
ScreenView camera() {
  ScreenView screen{{}, {}, 1000, 1000};
  screen.projection[0] = screen.projection[5] = 0.002;
  screen.projection[10] = screen.projection[15] = 1;
  screen.projection[12] = screen.projection[13] = -1;
  for (const std::size_t i : {0, 5, 10, 15}) screen.view[i] = 1;
  return screen;
}

Pixel on_circle(std::size_t i, std::size_t n, double radius) {
  const double angle = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n);
  return {500 + radius * std::cos(angle), 500 + radius * std::sin(angle)};
}

PolygonRegion polygon_of(std::size_t corners, Pixel (*corner)(std::size_t, std::size_t)) {
  PolygonRegion polygon{{}, camera()};
  for (std::size_t i = 0; i < corners; ++i) polygon.points.push_back(corner(i, corners));
  return polygon;
}

SquaresRegion squares_of(std::size_t count, double spread, double half_size) {
  SquaresRegion squares{{}, {}, camera()};
  for (std::size_t i = 0; i < count; ++i) {
    squares.centers.push_back(
        {500 + spread * (random_unit(7, 2 * i) - 0.5), 500 + spread * (random_unit(7, 2 * i + 1) - 0.5)});
    squares.half_sizes.push_back(half_size * (0.5 + random_unit(8, i)));
  }
  return squares;
}

using PointRun = std::function<void(Span<const Vec3d>, OpContext&)>;

PointRun selecting(const Region& region) {
  return [region](Span<const Vec3d> points, OpContext& ctx) { region_select({points, {region}, {}}, ctx); };
}

std::vector<std::pair<const char*, PointRun>> point_ops() {
  using P = Span<const Vec3d>;
  using X = OpContext&;
  const auto circle = [](std::size_t i, std::size_t n) { return on_circle(i, n, 400); };
  return {
      {"transform_positions",
       [](P points, X ctx) {
         transform_positions(points, {0, -1, 0, 5, 1, 0, 0, 6, 0, 0, 1, 7}, ctx);
       }},
      {"unit_colors", [](P points, X ctx) { unit_colors(points, ctx); }},
      {"miss_detection",
       [](P points, X ctx) {
         detect_misses({points, nullptr, nullptr, Vec3d{500, 500, 0}, {}}, {900}, ctx);
       }},
      {"project_misses",
       [](P points, X ctx) {
         project_misses(points, {500, 500, 0}, 100, ctx);
       }},
      {"project_misses radius",
       [](P points, X ctx) {
         miss_shell_radius(HitPoints::assume_hits(points), {500, 500, 0}, ctx);
       }},
      {"region_select box", selecting({BoxRegion{{100, 100, 0}, {600, 700, 1000}}, false})},
      {"region_select polygon", selecting({polygon_of(500, circle), false})},
      {"region_select squares", selecting({squares_of(4000, 600, 12), false})},
  };
}

/// Corners and squares whose number grows, for 20 000 points: what one point costs grows at most as their number.
void add_shape_costs(CostCases& cases) {
  const auto add = [&](const char* op, const char* input, double slower, const auto& region) {
    cases.push_back(
        {op, input, 1000,
         prepared(
             [region](std::size_t n) {
               return std::pair{position_column(worst_values()[0], 20'000), Region{region(n), false}};
             },
             [](auto& input, OpContext& ctx) {
               region_select({const_view(input.first), {input.second}, {}}, ctx);
             }),
         1, slower});
  };
  add("region_select corners", "circle", 1, [](std::size_t n) {
    return polygon_of(n, [](std::size_t i, std::size_t of) { return on_circle(i, of, 400); });
  });
  add("region_select corners", "star", HUGE_VAL, [](std::size_t n) {
    return polygon_of(n,
                      [](std::size_t i, std::size_t of) { return on_circle(i, of, i % 2 == 0 ? 450 : 50); });
  });
  add("region_select corners", "upright comb", HUGE_VAL, [](std::size_t n) {
    return polygon_of(n, [](std::size_t i, std::size_t of) {
      return Pixel{1000 * static_cast<double>(i) / static_cast<double>(of), i % 2 == 0 ? 10.0 : 990.0};
    });
  });
  add("region_select corners", "lying comb", HUGE_VAL, [](std::size_t n) {
    return polygon_of(n, [](std::size_t i, std::size_t of) {
      return Pixel{i % 2 == 0 ? 10.0 : 990.0, 1000 * static_cast<double>(i) / static_cast<double>(of)};
    });
  });
  add("region_select number", "spread", 1, [](std::size_t n) { return squares_of(n, 1000, 3); });
  add("region_select number", "one heap", HUGE_VAL, [](std::size_t n) { return squares_of(n, 4, 200); });
  add("region_select number", "equal", HUGE_VAL, [](std::size_t n) {
    return SquaresRegion{std::vector<Pixel>(n, {500, 500}), std::vector<double>(n, 200), camera()};
  });
  add("region_select number", "small and far", HUGE_VAL, [](std::size_t n) {
    SquaresRegion squares = squares_of(n, 1, 0.2);
    squares.centers[0] = {1e7, 1e7};
    return squares;
  });
}

}  // namespace

void add_point_costs(CostCases& cases) {
  for (const auto& [op, run] : point_ops()) {
    for (const WorstValues& values : worst_values()) {
      cases.push_back(
          {op, values.name, kRows,
           prepared([values](std::size_t n) { return position_column(values, n); },
                    [run](const Column<Vec3d>& points, OpContext& ctx) { run(points.view(), ctx); })});
    }
  }
  cases.push_back({"transform_normals", "random", kRows,
                   prepared([](std::size_t n) { return AnyColumn(value_column(worst_values()[0], n)); },
                            [](const AnyColumn& c, OpContext& ctx) {
                              transform_normals(c, c, c, {0, -1, 0, 1, 0, 0, 0, 0, 1}, ctx);
                            })});
  cases.push_back({"convert max_channel", "random", 10 * kRows,
                   prepared([](std::size_t n) { return Column<Rgb16>(n); },
                            [](const Column<Rgb16>& c, OpContext& ctx) { max_channel(c.view(), ctx); })});
  add_shape_costs(cases);
}

}  // namespace pc::bench
