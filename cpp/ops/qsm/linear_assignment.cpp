#include "ops/qsm/linear_assignment.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/error.h"

namespace pc {

namespace {

constexpr std::uint32_t kNone = 0xffffffff;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Most rows read by a row reduction, per row of the matrix.
constexpr std::size_t kMostSteps = 8;

class Assignment {
 public:
  Assignment(std::size_t n, const CostRow& cost_row, OpContext& ctx)
      : n_(n), cost_row_(cost_row), ctx_(ctx), column_of_(n, kNone), row_of_(n, kNone), price_(n), cost_(n) {}

  std::vector<std::uint32_t> solve() {
    reduce_columns();
    auction();
    reduce_rows(0);
    reduce_rows(0);
    augment();
    return std::move(column_of_);
  }

 private:
  void read(std::uint32_t row) {
    ctx_.checkpoint();
    cost_row_(row, cost_.data());
  }
  void join(std::uint32_t row, std::uint32_t column) {
    column_of_[row] = column;
    row_of_[column] = row;
  }

  /// The price of each column becomes its smallest cost.
  void reduce_columns() {
    std::fill(price_.begin(), price_.end(), kInfinity);
    for (std::uint32_t i = 0; i < n_; ++i) {
      read(i);
      for (std::size_t j = 0; j < n_; ++j) {
        require(std::isfinite(cost_[j]), "a cost of the assignment is not finite");
        price_[j] = std::min(price_[j], cost_[j]);
        lowest_ = std::min(lowest_, cost_[j]);
        highest_ = std::max(highest_, cost_[j]);
      }
    }
    release_all();
  }

  /// Moves the prices near the final ones: rows bid for their cheapest column with a step that shrinks from round to round.
  void auction() {
    if (n_ < 2) return;
    constexpr double kCoarsest = 0.1, kShrink = 5, kFinestPerRow = 0.1;
    const double range = highest_ - lowest_;
    for (double step = kCoarsest * range; step > kFinestPerRow * range / static_cast<double>(n_);
         step /= kShrink) {
      release_all();
      reduce_rows(step);
    }
    release_all();
  }
  void release_all() {
    std::fill(column_of_.begin(), column_of_.end(), kNone);
    std::fill(row_of_.begin(), row_of_.end(), kNone);
    free_.resize(n_);
    std::iota(free_.begin(), free_.end(), 0u);
  }

  struct TwoBest {
    double first = kInfinity, second = kInfinity;
    std::uint32_t at = kNone, next = kNone;
  };
  TwoBest two_best() const {
    TwoBest best;
    for (std::uint32_t j = 0; j < n_; ++j) {
      const double reduced = cost_[j] - price_[j];
      if (!(reduced < best.second)) continue;
      if (reduced < best.first) {
        best.second = best.first;
        best.next = best.at;
        best.first = reduced;
        best.at = j;
      } else {
        best.second = reduced;
        best.next = j;
      }
    }
    return best;
  }

  /// Free rows take their cheapest column, from another row if need be; the price falls so that it is no cheaper than
  /// the second one, and by `step` more.
  void reduce_rows(double step) {
    std::vector<std::uint32_t> waiting;
    std::vector<std::uint32_t> queue(free_.rbegin(), free_.rend());
    for (std::size_t steps = 0; !queue.empty(); ++steps) {
      const std::uint32_t row = queue.back();
      queue.pop_back();
      if (n_ < 2 || steps >= kMostSteps * n_) {
        waiting.push_back(row);
        continue;
      }
      read(row);
      const TwoBest best = two_best();
      std::uint32_t column = best.at;
      const double lowered = price_[column] - (best.second - best.first) - step;
      const bool falls = lowered < price_[column];  // not, if the difference is lost to rounding
      if (falls) {
        price_[column] = lowered;
      } else if (row_of_[column] != kNone) {
        column = best.next;
      }
      const std::uint32_t driven = row_of_[column];
      join(row, column);
      if (driven == kNone) continue;
      column_of_[driven] = kNone;
      (falls ? queue : waiting).push_back(driven);
    }
    free_ = std::move(waiting);
  }

  /// Shortest path in reduced costs from a free row to a free column, then the rows along it change columns.
  void augment() {
    distance_.resize(n_);
    from_.resize(n_);
    open_.resize(n_);
    for (const std::uint32_t row : free_) {
      scanned_.clear();
      double length = 0;
      std::uint32_t column = shortest_path(row, length);
      for (const std::uint32_t j : scanned_) price_[j] += distance_[j] - length;
      for (std::uint32_t i = kNone; i != row;) {
        i = from_[column];
        const std::uint32_t freed = column_of_[i];
        join(i, column);
        column = freed;
      }
    }
  }

  /// `open_` repeats the distance of columns that are not scanned, and is infinite for the others.
  std::uint32_t shortest_path(std::uint32_t free_row, double& length) {
    read(free_row);
    for (std::size_t j = 0; j < n_; ++j) {
      distance_[j] = open_[j] = cost_[j] - price_[j];
      from_[j] = free_row;
    }
    for (;;) {
      const std::uint32_t column = nearest_open();
      length = distance_[column];
      if (row_of_[column] == kNone) return column;
      scanned_.push_back(column);
      open_[column] = kInfinity;
      relax(column, length);
    }
  }

  /// The nearest column that is not scanned; a free one among equals.
  std::uint32_t nearest_open() const {
    double least = kInfinity;
    for (std::size_t j = 0; j < n_; ++j) least = std::min(least, open_[j]);
    std::uint32_t found = kNone;
    for (std::uint32_t j = 0; j < n_; ++j) {
      if (open_[j] != least) continue;
      if (row_of_[j] == kNone) return j;
      if (found == kNone) found = j;
    }
    return found;
  }

  void relax(std::uint32_t column, double length) {
    const std::uint32_t row = row_of_[column];
    read(row);
    const double base = cost_[column] - price_[column] - length;
    for (std::size_t j = 0; j < n_; ++j) {
      const double through = cost_[j] - price_[j] - base;
      if (!(through < open_[j]) || open_[j] == kInfinity) continue;
      distance_[j] = open_[j] = through;
      from_[j] = row;
    }
  }

  const std::size_t n_;
  const CostRow& cost_row_;
  OpContext& ctx_;
  std::vector<std::uint32_t> column_of_, row_of_, free_, from_, scanned_;
  std::vector<double> price_, cost_, distance_, open_;
  double lowest_ = kInfinity, highest_ = -kInfinity;
};

}  // namespace

std::vector<std::uint32_t> linear_assignment(std::size_t n, const CostRow& cost_row, OpContext& ctx) {
  require(n < kNone, "too many rows to assign");
  return Assignment(n, cost_row, ctx).solve();
}

}  // namespace pc
