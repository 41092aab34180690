#include "ops/cloud/screen_shape.h"

#include <algorithm>
#include <limits>

namespace pc::screen_shape {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kCells = 256;
/// An index may hold this many entries, or four per edge or square if that is more; otherwise its cells are enlarged.
constexpr std::size_t kEntries = std::size_t{1} << 20;
/// Between these sizes the tests neither overflow nor lose bits to underflow; outside, no cell is precomputed.
constexpr double kSmallest = 1e-100, kLargest = 1e100;

/// Exceeds the rounding error of both tests and of the values compared with it here, each of which is below 16 units in
/// the last place of the largest coordinate.
double margin_of(double largest) { return 64 * std::numeric_limits<double>::epsilon() * largest + 1e-200; }

/// One row of the product of two column-major matrices.
void product_row(const ScreenView& screen, int row, double* out) {
  for (int column = 0; column < 4; ++column) {
    out[column] = 0;
    for (int k = 0; k < 4; ++k) out[column] += screen.projection[4 * k + row] * screen.view[4 * column + k];
  }
}

void check_pixels(const std::vector<Pixel>& pixels, const char* message) {
  require(std::all_of(pixels.begin(), pixels.end(),
                      [](const Pixel& p) { return std::isfinite(p.x) && std::isfinite(p.y); }),
          message);
}

/// Turns numbers of entries at [1, size) into indices of first entries.
void accumulate(std::vector<std::size_t>& starts) {
  for (std::size_t i = 1; i < starts.size(); ++i) starts[i] += starts[i - 1];
}

}  // namespace

Projector::Projector(const ScreenView& screen) : width(screen.width_px), height(screen.height_px) {
  product_row(screen, 0, row_x);
  product_row(screen, 1, row_y);
  product_row(screen, 3, row_w);
}

Polygon::Polygon(const std::vector<Pixel>& points)
    : left_(-kInfinity), right_(kInfinity), bottom_(kInfinity), top_(-kInfinity) {
  require(points.size() >= 3, "a polygon needs at least three points");
  check_pixels(points, "points of a polygon must be two finite numbers each");
  std::vector<Edge> edges;
  for (std::size_t i = 0, j = points.size() - 1; i < points.size(); j = i++)
    edges.push_back({points[i], points[j]});
  const bool tame = measure(edges);
  sort_edges(edges);
  cells_.assign(grid_.size(), tame ? Cell::kOutside : Cell::kMixed);
  if (!tame) return;
  for (const Edge& edge : edges) mark_mixed(edge);
  settle_cells();
}

/// Finds the bounds. Returns true, with a grid, if the size of the shape allows cells to be precomputed.
bool Polygon::measure(const std::vector<Edge>& edges) {
  double low_x = kInfinity, high_x = -kInfinity, largest = 0, flattest = kInfinity;
  for (const Edge& edge : edges) {
    low_x = std::min(low_x, edge.a.x);
    high_x = std::max(high_x, edge.a.x);
    bottom_ = std::min(bottom_, edge.a.y);
    top_ = std::max(top_, edge.a.y);
    largest = std::max({largest, std::abs(edge.a.x), std::abs(edge.a.y)});
    if (edge.a.y != edge.b.y) flattest = std::min(flattest, std::abs(edge.a.y - edge.b.y));
  }
  if (!(largest <= kLargest && flattest >= kSmallest && top_ - bottom_ >= kSmallest)) return false;
  margin_ = margin_of(largest);
  left_ = low_x - margin_;
  right_ = high_x + margin_;
  grid_.x.cut(left_, right_, kCells);
  const std::size_t limit = std::max(kEntries, 4 * edges.size());
  for (int rows = kCells;; rows /= 2) {
    grid_.y.cut(bottom_, top_, rows);
    std::size_t entries = 0;
    for (const Edge& edge : edges)
      entries += static_cast<std::size_t>(std::abs(grid_.y.of(edge.a.y) - grid_.y.of(edge.b.y))) + 1;
    if (entries <= limit || rows == 1) return true;
  }
}

void Polygon::sort_edges(const std::vector<Edge>& edges) {
  const auto each_row = [&](const auto& visit) {
    for (const Edge& edge : edges) {
      if (edge.a.y == edge.b.y) continue;  // never crossed
      const int a = grid_.y.of(edge.a.y), b = grid_.y.of(edge.b.y);
      for (int row = std::min(a, b); row <= std::max(a, b); ++row) visit(edge, static_cast<std::size_t>(row));
    }
  };
  starts_.assign(static_cast<std::size_t>(grid_.y.count) + 1, 0);
  each_row([&](const Edge&, std::size_t row) { ++starts_[row + 1]; });
  worst_edges_ = *std::max_element(starts_.begin(), starts_.end());
  accumulate(starts_);
  edges_.resize(starts_.back());
  std::vector<std::size_t> next(starts_.begin(), starts_.end() - 1);
  each_row([&](const Edge& edge, std::size_t row) { edges_[next[row]++] = edge; });
}

/// Marks the cells that the edge, enlarged by the margin, reaches.
void Polygon::mark_mixed(const Edge& edge) {
  const Pixel &low = edge.a.y < edge.b.y ? edge.a : edge.b, &high = edge.a.y < edge.b.y ? edge.b : edge.a;
  const double slope = low.y < high.y ? (high.x - low.x) / (high.y - low.y) : 0;
  const double left = std::min(low.x, high.x), right = std::max(low.x, high.x);
  const auto x_at = [&](double y) { return std::clamp(low.x + slope * (y - low.y), left, right); };
  for (int row = grid_.y.of(low.y - margin_); row <= grid_.y.of(high.y + margin_); ++row) {
    const double from = std::max(low.y, grid_.y.begin(row) - margin_);
    const double to = std::min(high.y, grid_.y.end(row) + margin_);
    const bool level = low.y == high.y || from > to;
    const double at_from = level ? left : x_at(from), at_to = level ? right : x_at(to);
    const double slack = margin_ + CellGrid::kSlack * grid_.x.cell;
    const int first = grid_.x.of(std::min(at_from, at_to) - slack);
    const int last = grid_.x.of(std::max(at_from, at_to) + slack);
    for (int column = first; column <= last; ++column) cells_[grid_.index(row, column)] = Cell::kMixed;
  }
}

/// No edge passes through a run of unmarked cells in a row, so one point decides for the whole run.
void Polygon::settle_cells() {
  for (int row = 0; row < grid_.y.count; ++row) {
    const double y = grid_.y.low + (row + 0.5) * grid_.y.cell;
    for (int column = 0; column < grid_.x.count; ++column) {
      Cell& cell = cells_[grid_.index(row, column)];
      if (cell == Cell::kMixed) continue;
      const bool goes_on = column > 0 && cells_[grid_.index(row, column - 1)] != Cell::kMixed;
      const Pixel center{grid_.x.low + (column + 0.5) * grid_.x.cell, y};
      if (goes_on) {
        cell = cells_[grid_.index(row, column - 1)];
      } else if (grid_.of(center) != grid_.index(row, column)) {
        cell = Cell::kMixed;  // the cell is as narrow as the rounding error
      } else {
        cell = crossings_odd(row, center) ? Cell::kInside : Cell::kOutside;
      }
    }
  }
}

Squares::Squares(const SquaresRegion& region)
    : left_(kInfinity), right_(-kInfinity), bottom_(kInfinity), top_(-kInfinity) {
  require(region.centers.size() == region.half_sizes.size(), "every center of a square needs a half size");
  check_pixels(region.centers, "centers of squares must be two finite numbers each");
  std::vector<Square> squares;
  for (std::size_t i = 0; i < region.centers.size(); ++i) {
    const double half = region.half_sizes[i];
    require(std::isfinite(half) && half > 0, "half sizes of squares must be positive numbers");
    squares.push_back({region.centers[i], half});
  }
  if (squares.empty()) return;
  const bool tame = measure(squares);
  cells_.assign(grid_.size(), Cell::kOutside);
  starts_.assign(grid_.size() + 1, 0);
  for (const Square& square : squares) {
    each_cell(square, [&](int row, int column) {
      Cell& cell = cells_[grid_.index(row, column)];
      if (tame && covers(square, row, column)) cell = Cell::kInside;
      if (cell == Cell::kOutside) cell = Cell::kMixed;
    });
  }
  const auto each_entry = [&](const auto& visit) {
    for (const Square& square : squares) {
      each_cell(square, [&](int row, int column) {
        const std::size_t at = grid_.index(row, column);
        if (cells_[at] == Cell::kMixed) visit(square, at);
      });
    }
  };
  each_entry([&](const Square&, std::size_t at) { ++starts_[at + 1]; });
  worst_squares_ = *std::max_element(starts_.begin(), starts_.end());
  accumulate(starts_);
  listed_.resize(starts_.back());
  std::vector<std::size_t> next(starts_.begin(), starts_.end() - 1);
  each_entry([&](const Square& square, std::size_t at) { listed_[next[at]++] = square; });
}

bool Squares::measure(const std::vector<Square>& squares) {
  double largest = 0;
  for (const Square& square : squares) {
    left_ = std::min(left_, square.center.x - square.half);
    right_ = std::max(right_, square.center.x + square.half);
    bottom_ = std::min(bottom_, square.center.y - square.half);
    top_ = std::max(top_, square.center.y + square.half);
    largest = std::max({largest, std::abs(square.center.x), std::abs(square.center.y), square.half});
  }
  if (!(largest <= kLargest && largest >= kSmallest)) {
    left_ = bottom_ = -kInfinity;
    right_ = top_ = kInfinity;
    return false;
  }
  margin_ = margin_of(2 * largest);
  left_ -= margin_;
  right_ += margin_;
  bottom_ -= margin_;
  top_ += margin_;
  const std::size_t limit = std::max(kEntries, 4 * squares.size());
  for (int cells = kCells;; cells /= 2) {
    grid_.x.cut(left_, right_, cells);
    grid_.y.cut(bottom_, top_, cells);
    std::size_t entries = 0;
    for (const Square& square : squares) {
      const Reach reach = reach_of(square);
      entries += static_cast<std::size_t>(reach.right - reach.left + 1) *
                 static_cast<std::size_t>(reach.top - reach.bottom + 1);
    }
    if (entries <= limit || cells == 1) return true;
  }
}

Squares::Reach Squares::reach_of(const Square& square) const {
  const double reach = square.half + margin_;
  return {grid_.x.of(square.center.x - reach), grid_.x.of(square.center.x + reach),
          grid_.y.of(square.center.y - reach), grid_.y.of(square.center.y + reach)};
}

template <class Visit>
void Squares::each_cell(const Square& square, const Visit& visit) const {
  const Reach reach = reach_of(square);
  for (int row = reach.bottom; row <= reach.top; ++row) {
    for (int column = reach.left; column <= reach.right; ++column) visit(row, column);
  }
}

/// True if every position in the cell passes the test, including rounding.
bool Squares::covers(const Square& square, int row, int column) const {
  const auto inside = [&](double begin, double end, double center) {
    return begin - center >= margin_ - square.half && end - center <= square.half - margin_;
  };
  return inside(grid_.x.begin(column), grid_.x.end(column), square.center.x) &&
         inside(grid_.y.begin(row), grid_.y.end(row), square.center.y);
}

}  // namespace pc::screen_shape
