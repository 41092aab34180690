#pragma once
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "core/column.h"
#include "core/random.h"
#include "ops/octree/octree_build.h"
#include "support/octree_reader.h"
#include "support/plot.h"

/// Clouds for the octree tests and the run of the op over them.
namespace pc::test {

struct NamedCloud {
  std::string name;
  std::vector<Vec3d> points;
  double scale = 0.001;
  std::vector<std::uint8_t> skip;
};

inline std::vector<Vec3d> random_box(std::size_t n, Vec3d low, Vec3d size, std::uint64_t seed) {
  std::vector<Vec3d> points;
  for (std::size_t i = 0; i < n; ++i) {
    const auto unit = [&](std::uint64_t axis) { return random_unit(seed, 3 * i + axis); };
    points.push_back({low.x + size.x * unit(0), low.y + size.y * unit(1), low.z + size.z * unit(2)});
  }
  return points;
}

/// Dense clusters far apart: deep trees whose nodes keep points at every level.
inline std::vector<Vec3d> clusters(std::size_t count, std::size_t points_each) {
  std::vector<Vec3d> points;
  for (const Vec3d& center : random_box(count, {100, 200, 300}, {10, 10, 10}, 31)) {
    const std::vector<Vec3d> around = random_box(points_each, center, {.006, .006, .006}, 32 + points.size());
    points.insert(points.end(), around.begin(), around.end());
  }
  return points;
}

inline std::vector<Vec3d> plot_positions(std::size_t n) {
  const PlotCloud plot = make_plot(n);
  return {plot.positions.view().begin(), plot.positions.view().end()};
}

/// One attribute of every type, with values that depend on the row and reach the type's ends.
struct AttributeColumns {
  std::vector<std::pair<std::string, AnyColumn>> columns;

  template <class T>
  void add(const std::string& name, std::size_t n) {
    Column<T> column(n);
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint64_t bits = random_u64(17, i * 16 + columns.size());
      if constexpr (std::is_floating_point_v<T>) {
        column[i] = static_cast<T>((random_unit(19, i) - 0.5) * 1e6);
        if (i % 7 == 3) column[i] = std::numeric_limits<T>::quiet_NaN();
        if (i % 7 == 5) column[i] = std::numeric_limits<T>::infinity();
        if (i % 7 == 6) column[i] = static_cast<T>(-0.0);
      } else {
        column[i] = static_cast<T>(bits);
      }
    }
    columns.emplace_back(name, AnyColumn(std::move(column)));
  }
  explicit AttributeColumns(std::size_t n) {
    Column<std::uint32_t> row(n);
    Column<Rgb16> rgb(n);
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint64_t bits = random_u64(23, i);
      row[i] = static_cast<std::uint32_t>(i);
      rgb[i] = {static_cast<std::uint16_t>(bits), static_cast<std::uint16_t>(bits >> 16),
                static_cast<std::uint16_t>(bits >> 32)};
    }
    columns.emplace_back("row", AnyColumn(std::move(row)));  // first: the reader finds the row at byte 12
    columns.emplace_back("rgb", AnyColumn(std::move(rgb)));
    add<std::uint8_t>("u8", n);
    add<std::int8_t>("i8", n);
    add<std::uint16_t>("u16", n);
    add<std::int16_t>("i16", n);
    add<std::int32_t>("i32", n);
    add<std::uint64_t>("u64", n);
    add<std::int64_t>("i64", n);
    add<float>("f32", n);
    add<double>("f64", n);
    add<double>("gps-time", n);
  }
  std::vector<OctreeAttribute> attributes() const {
    std::vector<OctreeAttribute> list;
    for (const auto& [name, column] : columns) list.push_back({name, "The " + name, &column});
    return list;
  }
};

struct Built {
  MemorySink sink;
  OctreeResult result;
};

inline OctreeInput input_of(const NamedCloud& cloud, std::vector<OctreeAttribute> attributes = {}) {
  return {{cloud.points.data(), cloud.points.size()},
          {cloud.skip.data(), cloud.skip.size()},
          std::move(attributes)};
}

inline void build(const OctreeInput& input, double scale, std::uint32_t leaf_capacity, int threads,
                  Built& out) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  out.result = octree_build(input, {.scale = scale, .leaf_capacity = leaf_capacity}, out.sink, ctx);
}

inline std::vector<NamedCloud> adversarial_clouds() {
  std::vector<NamedCloud> clouds;
  clouds.push_back({"empty", {}, 0.001, {}});
  clouds.push_back({"one point", {{1.2345, -7.5, 1e6}}, 0.001, {}});
  clouds.push_back({"duplicates", std::vector<Vec3d>(3000, Vec3d{3.25, 4.5, -1}), 0.001, {}});
  NamedCloud mixed{"duplicates among others", random_box(2000, {0, 0, 0}, {10, 10, 10}, 1), 0.001, {}};
  mixed.points.insert(mixed.points.begin() + 700, 900, Vec3d{4.001, 5.002, 6.003});
  mixed.points.insert(mixed.points.begin() + 100, 300, Vec3d{4.002, 5.002, 6.003});
  mixed.points.insert(mixed.points.end(), 300, Vec3d{0, 0, 0});
  clouds.push_back(mixed);
  clouds.push_back({"coplanar", random_box(6000, {-5, -5, 2}, {10, 10, 0}, 2), 0.001, {}});
  clouds.push_back({"line", random_box(3000, {0, 1, 2}, {0, 0, 90}, 3), 0.001, {}});
  NamedCloud lattice{"lattice", {}, 0.001, {}};
  for (int i = 0; i < 15 * 15 * 15; ++i)
    lattice.points.push_back({i % 15 * 1.0, i / 15 % 15 * 1.0, i / 225 * 1.0});
  clouds.push_back(lattice);
  clouds.push_back(
      {"UTM offset", random_box(4000, {512345.678, 5412345.678, 234.5}, {30, 40, 20}, 4), 0.001, {}});
  clouds.push_back(
      {"1e7 offset, 0.1 mm", random_box(4000, {1e7 + .1234, -1e7, 1e7}, {3, 4, 2}, 5), 0.0001, {}});
  clouds.push_back({"1e7 m wide", random_box(4000, {-5e6, -5e6, 0}, {1e7, 1e7, 100}, 6), 0.001, {}});
  NamedCloud outlier{"far outlier", random_box(5000, {0, 0, 0}, {20, 20, 5}, 7), 0.001, {}};
  outlier.points.insert(outlier.points.begin() + 1234, Vec3d{1e6, -3e5, 10});
  clouds.push_back(outlier);
  NamedCloud masked{"skip mask", random_box(5000, {0, 0, 0}, {20, 20, 5}, 8), 0.001, {}};
  for (std::size_t i = 0; i < masked.points.size(); ++i) {
    masked.skip.push_back(random_u64(9, i) % 3 == 0 ? static_cast<std::uint8_t>(1 + i % 250) : 0);
    if (masked.skip[i] != 0 && i % 2 == 0)
      masked.points[i] = {NAN, 2e4, -2e4};  // misses are far out or not finite
  }
  clouds.push_back(masked);
  NamedCloud nothing{"all skipped", random_box(100, {0, 0, 0}, {1, 1, 1}, 10), 0.001,
                     std::vector<std::uint8_t>(100, 1)};
  clouds.push_back(nothing);
  clouds.push_back({"clusters", clusters(40, 150), 0.00001, {}});
  clouds.push_back({"plot", plot_positions(12000), 0.001, {}});
  return clouds;
}

}  // namespace pc::test
