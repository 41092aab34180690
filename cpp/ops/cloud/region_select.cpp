#include "ops/cloud/region_select.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <type_traits>

#include "core/parallel.h"
#include "ops/cloud/class_set.h"
#include "ops/cloud/screen_shape.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 16;
/// Rows per tile: few enough that their positions stay in the first cache levels from one region to the next.
constexpr std::size_t kTile = 1024;
/// Comparisons with edges or squares between two cancel checks: some milliseconds in the worst case.
constexpr std::size_t kTileComparisons = std::size_t{1} << 22;

/// Clears the mask entries of rows in [begin, end) that fail the test; mask[0] belongs to row `begin`.
using RowTest = std::function<void(std::size_t begin, std::size_t end, std::uint8_t* mask)>;

void check_screen(const ScreenView& screen) {
  const auto finite = [](double v) { return std::isfinite(v); };
  require(std::all_of(screen.projection.begin(), screen.projection.end(), finite) &&
              std::all_of(screen.view.begin(), screen.view.end(), finite),
          "projection and view of a region must be 16 finite numbers each");
  require(finite(screen.width_px) && screen.width_px > 0 && finite(screen.height_px) && screen.height_px > 0,
          "the canvas of a region must have a positive width and height");
}

RowTest box_test(Span<const Vec3d> positions, const BoxRegion& box, bool invert) {
  for (const double corner : {box.min.x, box.min.y, box.min.z, box.max.x, box.max.y, box.max.z})
    require(!std::isnan(corner), "min and max of a box must be three numbers each");
  return [=](std::size_t begin, std::size_t end, std::uint8_t* mask) {
    for (std::size_t i = begin; i < end; ++i) {
      const Vec3d& p = positions[i];
      const bool inside = (p.x >= box.min.x) & (p.x <= box.max.x) & (p.y >= box.min.y) & (p.y <= box.max.y) &
                          (p.z >= box.min.z) & (p.z <= box.max.z);
      mask[i - begin] &= static_cast<std::uint8_t>(inside != invert);
    }
  };
}

template <class Shape>
RowTest screen_test(Span<const Vec3d> positions, const ScreenView& screen, Shape shape, bool invert) {
  check_screen(screen);
  return [positions, invert, shape = std::move(shape), projector = screen_shape::Projector(screen)](
             std::size_t begin, std::size_t end, std::uint8_t* mask) {
    for (std::size_t i = begin; i < end; ++i) {
      Pixel pixel;
      const bool inside = projector.project(positions[i], pixel) && shape.holds(pixel);
      mask[i - begin] &= static_cast<std::uint8_t>(inside != invert);
    }
  };
}

/// min <= v <= max, in the column's own type if that is exact.
template <class T>
RowTest range_test(Span<const T> values, double min, double max) {
  if constexpr (std::is_integral_v<T>) {
    const double above = std::ldexp(1.0, std::numeric_limits<T>::digits);
    const double below = std::is_signed_v<T> ? -above : 0.0;
    const double first = std::ceil(min), last = std::floor(max);
    const bool none = first > last || first >= above || last < below;
    const T low = first <= below ? std::numeric_limits<T>::lowest() : none ? T{0} : static_cast<T>(first);
    const T high = last >= above ? std::numeric_limits<T>::max() : none ? T{0} : static_cast<T>(last);
    return [=](std::size_t begin, std::size_t end, std::uint8_t* mask) {
      for (std::size_t i = begin; i < end; ++i)
        mask[i - begin] &= static_cast<std::uint8_t>(!none & (values[i] >= low) & (values[i] <= high));
    };
  } else {
    return [=](std::size_t begin, std::size_t end, std::uint8_t* mask) {
      for (std::size_t i = begin; i < end; ++i) {
        const auto v = static_cast<double>(values[i]);
        mask[i - begin] &= static_cast<std::uint8_t>((v >= min) & (v <= max));
      }
    };
  }
}

RowTest filter_test(std::size_t row_count, const ScalarFilter& filter) {
  require(filter.column->size() == row_count, "a filter column must have one value per point");
  return visit_scalar(*filter.column, [&](auto values) -> RowTest {
    if (filter.values.empty()) {
      require(!std::isnan(filter.min) && !std::isnan(filter.max), "min and max of a filter must be numbers");
      return range_test(values, filter.min, filter.max);
    }
    return
        [values, classes = ClassSet(filter.values)](std::size_t begin, std::size_t end, std::uint8_t* mask) {
          for (std::size_t i = begin; i < end; ++i)
            mask[i - begin] &= static_cast<std::uint8_t>(classes.holds(values[i]));
        };
  });
}

}  // namespace

Column<std::uint8_t> region_select(const RowSelection& selection, OpContext& ctx) {
  const std::size_t n = selection.positions.size;
  std::vector<RowTest> tests;
  std::size_t tile = kTile;
  const auto add_screen = [&](const ScreenView& screen, auto shape, bool invert) {
    tile = std::clamp<std::size_t>(kTileComparisons / std::max<std::size_t>(1, shape.worst_case()), 1, tile);
    tests.push_back(screen_test(selection.positions, screen, std::move(shape), invert));
  };
  for (const Region& region : selection.regions) {
    if (const auto* box = std::get_if<BoxRegion>(&region.shape)) {
      tests.push_back(box_test(selection.positions, *box, region.invert));
    } else if (const auto* polygon = std::get_if<PolygonRegion>(&region.shape)) {
      add_screen(polygon->screen, screen_shape::Polygon(polygon->points), region.invert);
    } else if (const auto* squares = std::get_if<SquaresRegion>(&region.shape)) {
      add_screen(squares->screen, screen_shape::Squares(*squares), region.invert);
    }
  }
  for (const ScalarFilter& filter : selection.filters) tests.push_back(filter_test(n, filter));

  ctx.begin_phase("Selecting points", n);
  Column<std::uint8_t> mask(n);
  parallel_for(ctx, n, kGrain, [&, out = mask.view()](std::size_t begin, std::size_t end) {
    for (std::size_t first = begin; first < end; first += tile) {
      const std::size_t last = std::min(end, first + tile);
      std::fill(out.data + first, out.data + last, std::uint8_t{1});
      for (const RowTest& test : tests) test(first, last, out.data + first);
      ctx.checkpoint();
    }
  });
  return mask;
}

}  // namespace pc
