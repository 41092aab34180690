#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/column.h"
#include "core/op_context.h"
#include "core/random.h"
#include "core/vec3.h"

/// The ops whose cost the job `costs` measures, each on the inputs that are worst for it.
namespace pc::bench {

using CostWork = std::function<void(OpContext&)>;

struct CostCase {
  std::string op;     ///< file of the op, and the function if it has several
  std::string input;  ///< the first input of an op is what the others are compared with
  std::size_t n;      ///< smaller size; the larger one is four times that
  std::function<CostWork(std::size_t)> prepare;  ///< makes an input of n and returns the work to time
  double growth = 1;                             ///< power of n that the header states; n log n counts as 1
  double slower = 1;  ///< times of the first input that the header states for this one
};

using CostCases = std::vector<CostCase>;

void add_value_costs(CostCases& cases);    ///< ops/cloud: columns of values
void add_mask_costs(CostCases& cases);     ///< ops/cloud, ops/denoise: masks and sets of rows
void add_point_costs(CostCases& cases);    ///< ops/cloud: positions, colours, regions
void add_spatial_costs(CostCases& cases);  ///< spatial, core, and the ops of points in trees
void add_raster_costs(CostCases& cases);   ///< ops/dem, rasters of spatial and io
void add_table_costs(CostCases& cases);    ///< io: readers and writers of clouds
void add_parser_costs(CostCases& cases);   ///< io: JSON, frames, XML, checksums

/// A case's `prepare` from a function that makes the input and one that runs the op on it.
template <class Make, class Run>
std::function<CostWork(std::size_t)> prepared(Make make, Run run) {
  return [make, run](std::size_t n) -> CostWork {
    auto input = std::make_shared<decltype(make(n))>(make(n));
    return [input, run](OpContext& ctx) { run(*input, ctx); };
  };
}

/// A distribution of values: value i of n.
struct WorstValues {
  const char* name;
  double (*at)(std::uint64_t i, std::uint64_t n);
};

/// Values that sorts, brackets and histograms find hard. The first ones are what the others are compared with.
inline const std::vector<WorstValues>& worst_values() {
  using I = std::uint64_t;
  static const std::vector<WorstValues> values{
      {"random", [](I i, I) { return 1000 * random_unit(3, i); }},
      {"all equal", [](I, I) { return 7.0; }},
      {"sorted", [](I i, I n) { return 1000.0 * static_cast<double>(i) / static_cast<double>(n); }},
      {"reversed", [](I i, I n) { return 1000.0 * static_cast<double>(n - i) / static_cast<double>(n); }},
      {"alternating", [](I i, I) { return i % 2 == 0 ? 0.0 : 1000.0; }},
      {"one NaN",
       [](I i, I n) {
         return i == n / 2 ? std::numeric_limits<double>::quiet_NaN() : 1000 * random_unit(3, i);
       }},
      {"all NaN", [](I, I) { return std::numeric_limits<double>::quiet_NaN(); }},
      {"one huge", [](I i, I n) { return i == n / 2 ? 1e300 : 1000 * random_unit(3, i); }},
      {"huge classes", [](I i, I) { return 1e10 * static_cast<double>(random_u64(3, i) % 500'000); }},
  };
  return values;
}

/// A mask: entry i of n.
struct WorstMask {
  const char* name;
  bool (*at)(std::uint64_t i, std::uint64_t n);
};

inline const std::vector<WorstMask>& worst_masks() {
  using I = std::uint64_t;
  static const std::vector<WorstMask> masks{
      {"random half", [](I i, I) { return random_u64(5, i) % 2 == 0; }},
      {"none", [](I, I) { return false; }},
      {"all", [](I, I) { return true; }},
      {"every second", [](I i, I) { return i % 2 == 0; }},
      {"one", [](I i, I n) { return i == n / 2; }},
      {"every 100th", [](I i, I) { return i % 100 == 0; }},
      {"runs of 100", [](I i, I) { return i / 100 % 2 == 0; }},
  };
  return masks;
}

inline Column<double> value_column(const WorstValues& values, std::size_t n) {
  Column<double> column(n);
  for (std::size_t i = 0; i < n; ++i) column[i] = values.at(i, n);
  return column;
}

inline Column<std::uint8_t> mask_column(const WorstMask& mask, std::size_t n) {
  Column<std::uint8_t> column(n);
  for (std::size_t i = 0; i < n; ++i) column[i] = mask.at(i, n) ? 1 : 0;
  return column;
}

/// Positions whose coordinates are distributed alike.
inline Column<Vec3d> position_column(const WorstValues& values, std::size_t n) {
  Column<Vec3d> column(n);
  for (std::size_t i = 0; i < n; ++i)
    column[i] = {values.at(i, n), values.at(n - 1 - i, n), values.at(i / 2, n)};
  return column;
}

template <class T>
Span<const T> const_view(const Column<T>& column) {
  return column.view();
}

}  // namespace pc::bench
