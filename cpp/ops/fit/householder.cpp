#include "ops/fit/householder.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pc {

namespace {

/// Length of a vector; does not overflow when its square does.
double length_of(const double* v, std::size_t count) {
  double largest = 0;
  for (std::size_t i = 0; i < count; ++i) largest = std::max(largest, std::abs(v[i]));
  if (largest == 0) return 0;
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += (v[i] / largest) * (v[i] / largest);
  return largest * std::sqrt(sum);
}

/// Reflects column `step` onto its first element and applies the reflection to the columns behind it.
void reflect(double* matrix, std::size_t rows, std::size_t columns, std::size_t step) {
  double* pivot = matrix + step * rows;
  const double length = length_of(pivot + step, rows - step);
  if (length == 0) return;
  const double head = pivot[step] > 0 ? -length : length;  // no cancellation in pivot - head
  pivot[step] = (pivot[step] - head) / length;
  for (std::size_t i = step + 1; i < rows; ++i) pivot[i] /= length;
  const double factor = 1 / std::abs(pivot[step]);  // 2 / |v|^2, since |v|^2 = 2 |v0|
  for (std::size_t j = step + 1; j < columns; ++j) {
    double* column = matrix + j * rows;
    double dot = 0;
    for (std::size_t i = step; i < rows; ++i) dot += pivot[i] * column[i];
    dot *= factor;
    for (std::size_t i = step; i < rows; ++i) column[i] -= dot * pivot[i];
  }
  pivot[step] = head;
  std::fill(pivot + step + 1, pivot + rows, 0.0);
}

}  // namespace

void reduce_to_triangle(double* matrix, std::size_t rows, std::size_t columns, std::size_t steps) {
  for (std::size_t step = 0; step < std::min({rows, columns, steps}); ++step)
    reflect(matrix, rows, columns, step);
}

TriangleOfRows::TriangleOfRows(std::size_t columns)
    : width_(columns + 1), work_(width_ * (width_ + kBlock), 0.0) {}

void TriangleOfRows::add_block(std::size_t rows) {
  for (std::size_t j = 0; j < width_; ++j)
    std::fill(work_.begin() + j * stride() + width_ + rows, work_.begin() + (j + 1) * stride(), 0.0);
  reduce_to_triangle(work_.data(), stride(), width_, width_);
}

std::vector<double> TriangleOfRows::triangle() const {
  const std::size_t columns = width_ - 1;
  std::vector<double> out(columns * columns);
  for (std::size_t j = 0; j < columns; ++j)
    std::copy_n(work_.begin() + j * stride(), columns, out.begin() + j * columns);
  return out;
}

std::vector<double> TriangleOfRows::right_side() const {
  const auto begin = work_.begin() + (width_ - 1) * stride();
  return {begin, begin + (width_ - 1)};
}

PivotedSolution solve_pivoted(std::vector<double>& matrix, std::size_t rows, std::size_t columns,
                              double tolerance) {
  PivotedSolution out{std::vector<double>(columns, 0.0), std::vector<std::size_t>(columns), {}, 0};
  std::iota(out.order.begin(), out.order.end(), std::size_t{0});
  double longest = 0;
  for (std::size_t step = 0; step < std::min(rows, columns); ++step) {
    std::size_t best = step;
    double best_length = -1;
    for (std::size_t j = step; j < columns; ++j) {
      const double length = length_of(matrix.data() + j * rows + step, rows - step);
      if (length > best_length) {
        best = j;
        best_length = length;
      }
    }
    longest = std::max(longest, best_length);
    if (!(best_length > tolerance * longest)) break;
    if (best != step) {
      std::swap_ranges(matrix.begin() + step * rows, matrix.begin() + (step + 1) * rows,
                       matrix.begin() + best * rows);
      std::swap(out.order[step], out.order[best]);
    }
    reflect(matrix.data(), rows, columns + 1, step);
    out.rank = step + 1;
  }
  for (std::size_t i = out.rank; i-- > 0;) {
    double sum = -matrix[columns * rows + i];
    for (std::size_t j = i + 1; j < out.rank; ++j) sum -= matrix[j * rows + i] * out.x[out.order[j]];
    out.x[out.order[i]] = sum / matrix[i * rows + i];
  }
  out.triangle.assign(columns * columns, 0.0);
  for (std::size_t j = 0; j < columns; ++j)
    for (std::size_t i = 0; i < std::min({columns, rows, out.rank}); ++i)
      out.triangle[j * columns + i] = matrix[j * rows + i];
  return out;
}

}  // namespace pc
