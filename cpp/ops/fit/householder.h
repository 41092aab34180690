#pragma once
#include <cstddef>
#include <vector>

#include "core/span.h"

namespace pc {

/// Reduces a matrix (rows x columns, column by column, `rows` apart) to its upper triangle by Householder reflections of
/// the first `steps` columns, which are applied to the columns behind them too. What is below the triangle becomes 0.
///
/// Cost     O(rows columns steps).
/// Source   Golub & Van Loan 2013, Matrix Computations, algorithms 5.1.1 and 5.2.1.
void reduce_to_triangle(double* matrix, std::size_t rows, std::size_t columns, std::size_t steps);

/// The triangle R and the right-hand side c of min |A x + b|, so that |A x + b|^2 = |R x + c|^2 + rest^2 for every x, built
/// from blocks of the rows of A and b without holding A.
class TriangleOfRows {
 public:
  explicit TriangleOfRows(std::size_t columns);

  /// Rows of a block that add_block takes at most.
  static constexpr std::size_t kBlock = 256;
  /// Where a block is written: column j (j = columns: b) begins at j * stride().
  double* block() { return work_.data() + width_; }
  std::size_t stride() const { return width_ + kBlock; }
  /// Adds the first `rows` rows of the block.
  void add_block(std::size_t rows);

  /// (columns x columns) column by column; 0 below the diagonal.
  std::vector<double> triangle() const;
  /// (columns)
  std::vector<double> right_side() const;

 private:
  std::size_t width_;  // columns with the right-hand side
  std::vector<double> work_;
};

/// A solution of least squares, and what it says about the columns.
struct PivotedSolution {
  std::vector<double> x;           ///< (columns) 0 for the columns that depend on others
  std::vector<std::size_t> order;  ///< columns, the independent ones first
  std::vector<double> triangle;    ///< (columns x columns) of the columns in this order, column by column
  std::size_t rank;
};

/// Minimises |A x + b| with column pivoting. `matrix` has (rows x (columns + 1)) numbers, column by column, b as the last;
/// it is overwritten. Columns whose part independent of the others is at most `tolerance` of the longest are dropped.
///
/// Cost     O(rows columns^2).
/// Source   Businger & Golub 1965, Numerische Mathematik 7: 269.
PivotedSolution solve_pivoted(std::vector<double>& matrix, std::size_t rows, std::size_t columns,
                              double tolerance);

}  // namespace pc
