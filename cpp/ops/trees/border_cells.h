#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <tuple>

#include "core/span.h"

/// Points near a border in layers along it and in cells of these: part of cut_trees.
namespace pc::border_cells {

constexpr std::size_t kLayers = 4;
constexpr std::uint32_t kFewestCells = 16, kFewestColumns = 4;
constexpr double kMostShare = 3;  ///< of the first layer over the next ones
constexpr double kLeastScatter = 1;
constexpr double kFewestStemPoints = 50, kMostPoints = 2;

/// A point of a tree in a cell of a layer.
struct CellPoint {
  std::uint64_t tree;
  std::int32_t column, row;
  std::uint32_t layer;
  double along;

  auto place() const { return std::tuple(column, row); }
  auto key() const { return std::tuple(column, row, layer); }
};

/// How much of the layers has points.
struct Filled {
  std::array<std::uint32_t, kLayers> cells{};
  std::array<std::uint64_t, kLayers> points{};
  std::array<std::uint32_t, 2> columns{};  ///< of the first two layers
  /// Sums over the cells of the first layer: their columns and rows, the squares of these, their product.
  double c = 0, r = 0, cc = 0, rr = 0, cr = 0;

  /// Adds the cells of one place, a bit for each layer that has points.
  void add(double column, double row, std::uint32_t layers) {
    if ((layers & 1) != 0) {
      c += column;
      r += row;
      cc += column * column;
      rr += row * row;
      cr += column * row;
    }
    for (std::size_t k = 0; k < kLayers; ++k) cells[k] += (layers >> k) & 1;
  }
  void add(const Filled& other, int sign = 1) {
    const auto more = static_cast<std::uint32_t>(sign);  // -1 wraps around
    for (std::size_t k = 0; k < kLayers; ++k) cells[k] += more * other.cells[k];
    for (std::size_t k = 0; k < 2; ++k) columns[k] += more * other.columns[k];
    for (std::size_t k = 0; k < kLayers; ++k) points[k] += static_cast<std::uint64_t>(sign) * other.points[k];
    c += sign * other.c;
    r += sign * other.r;
    cc += sign * other.cc;
    rr += sign * other.rr;
    cr += sign * other.cr;
  }
  /// Variance of the cells of the first layer across the straight line that fits them best, cells^2: small for a stem or a branch.
  double scatter() const {
    const double n = cells[0], wide = (cc - c * c / n) / n, high = (rr - r * r / n) / n,
                 both = (cr - c * r / n) / n;
    return (wide + high) / 2 - std::hypot((wide - high) / 2, both);
  }
  double inside() const { return (cells[1] + cells[2] + cells[3]) / 3.0; }
  bool fades(double least_share) const { return cells[0] < least_share * inside(); }
  /// Whether a column holds the side of a stem, whose points crowd where it touches the border.
  bool is_stem() const {
    const auto first = static_cast<double>(points[0]);
    return first >= kFewestStemPoints &&
           first > kMostPoints / 3 * static_cast<double>(points[1] + points[2] + points[3]);
  }
  /// Whether a crown was cut here: the first layer is as full as `least_share` of the next ones.
  bool is_cut(double least_share) const {
    const double first = cells[0];
    return cells[0] >= kFewestCells && std::min(columns[0], columns[1]) >= kFewestColumns &&
           !fades(least_share) && first <= kMostShare * inside() && scatter() >= kLeastScatter;
  }
};

/// Adds the points to `by_column(column)`. They are sorted by key.
template <class ByColumn>
void fill_columns(Span<const CellPoint> points, const ByColumn& by_column) {
  for (std::size_t i = 0; i < points.size;) {
    const std::int32_t column = points[i].column;
    Filled filled;
    while (i < points.size && points[i].column == column) {
      const double row = points[i].row;
      std::uint32_t layers = 0;
      for (const auto place = points[i].place(); i < points.size && points[i].place() == place; ++i) {
        layers |= 1U << points[i].layer;
        ++filled.points[points[i].layer];
      }
      filled.add(column, row, layers);
    }
    for (std::size_t k = 0; k < 2; ++k) filled.columns[k] = filled.cells[k] > 0 ? 1 : 0;
    by_column(static_cast<std::size_t>(column), filled);
  }
}

}  // namespace pc::border_cells
