#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/memory.h"
#include "ops/cloud/region_select.h"

/// Point tests on the canvas, prepared once for many points. The result is always that of the plain loop over all edges
/// or squares, even for points on a vertex, an edge or a border: a grid cell gets a precomputed answer only if no edge
/// comes closer to it than the rounding error of the test.
namespace pc::screen_shape {

/// The three rows of P V that a pixel needs.
struct Projector {
  explicit Projector(const ScreenView& screen);
  /// False for points behind the camera and for NaN.
  bool project(const Vec3d& p, Pixel& pixel) const {
    const double w = row_w[0] * p.x + row_w[1] * p.y + row_w[2] * p.z + row_w[3];
    const double x = row_x[0] * p.x + row_x[1] * p.y + row_x[2] * p.z + row_x[3];
    const double y = row_y[0] * p.x + row_y[1] * p.y + row_y[2] * p.z + row_y[3];
    pixel = {(x / w + 1) / 2 * width, (1 - (y / w + 1) / 2) * height};
    return w > 0;
  }
  double row_x[4], row_y[4], row_w[4];
  double width, height;
};

/// Equal cells over a rectangle. Cell numbers never decrease with the coordinate, including rounding; coordinates
/// beyond an end belong to the last cell there. So the points of a cell form a rectangle.
struct CellGrid {
  struct Axis {
    double low = 0, cell = 0, per_unit = 0;
    int count = 1;

    void cut(double from, double to, int cells) {
      low = from;
      count = cells;
      cell = (to - from) / cells;
      per_unit = cells / (to - from);
    }
    int of(double v) const {
      const double at = (v - low) * per_unit;
      return at >= count ? count - 1 : at > 0 ? static_cast<int>(at) : 0;
    }
    /// Ends of a cell, with a margin above the rounding error of `of`.
    double begin(int i) const { return low + (i - kSlack) * cell; }
    double end(int i) const { return low + (i + 1 + kSlack) * cell; }
  };
  static constexpr double kSlack = 1e-6;  ///< cells; rounding is below 1e-12 of a cell at 256 cells

  std::size_t of(const Pixel& p) const { return index(y.of(p.y), x.of(p.x)); }
  std::size_t index(int row, int column) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(x.count) +
           static_cast<std::size_t>(column);
  }
  std::size_t size() const { return static_cast<std::size_t>(x.count) * static_cast<std::size_t>(y.count); }
  Axis x, y;
};

enum class Cell : std::uint8_t { kOutside, kInside, kMixed };

class Polygon {
 public:
  /// Errors: kInvalidArgument for fewer than three points or points that are not finite.
  explicit Polygon(const std::vector<Pixel>& points);

  bool holds(const Pixel& p) const {
    // Outside this range the plain loop crosses no edge or all edges, which is an even number.
    if (!(p.y >= bottom_ && p.y < top_ && p.x >= left_ && p.x <= right_)) return false;
    const int row = grid_.y.of(p.y);
    const Cell cell = cells_[grid_.index(row, grid_.x.of(p.x))];
    return cell == Cell::kMixed ? crossings_odd(row, p) : cell == Cell::kInside;
  }
  /// Most edges that one point may have to be compared with.
  std::size_t worst_case() const { return worst_edges_; }

 private:
  struct Edge {
    Pixel a, b;
  };
  bool crossings_odd(int row, const Pixel& p) const {
    bool inside = false;
    for (std::size_t e = starts_[static_cast<std::size_t>(row)];
         e < starts_[static_cast<std::size_t>(row) + 1]; ++e) {
      const Edge& edge = edges_[e];
      if ((edge.a.y > p.y) != (edge.b.y > p.y) &&
          p.x < (edge.b.x - edge.a.x) * (p.y - edge.a.y) / (edge.b.y - edge.a.y) + edge.a.x)
        inside = !inside;
    }
    return inside;
  }
  bool measure(const std::vector<Edge>& edges);
  void sort_edges(const std::vector<Edge>& edges);
  void mark_mixed(const Edge& edge);
  void settle_cells();

  double left_, right_, bottom_, top_, margin_ = 0;
  CellGrid grid_;
  std::vector<Cell> cells_;
  std::vector<Edge> edges_;          ///< by row of the grid; an edge is in every row that it reaches
  std::vector<std::size_t> starts_;  ///< first edge of a row
  std::size_t worst_edges_ = 0;
};

class Squares {
 public:
  /// Errors: kInvalidArgument for lists of different lengths, values that are not finite, half sizes that are not
  /// positive.
  explicit Squares(const SquaresRegion& region);

  bool holds(const Pixel& p) const {
    if (!(p.x >= left_ && p.x <= right_ && p.y >= bottom_ && p.y <= top_)) return false;
    const std::size_t at = grid_.of(p);
    if (cells_[at] != Cell::kMixed) return cells_[at] == Cell::kInside;
    for (std::size_t s = starts_[at]; s < starts_[at + 1]; ++s) {
      const Square& square = listed_[s];
      if (std::abs(p.x - square.center.x) <= square.half && std::abs(p.y - square.center.y) <= square.half)
        return true;
    }
    return false;
  }
  /// Most squares that one point may have to be compared with.
  std::size_t worst_case() const { return worst_squares_; }

 private:
  struct Square {
    Pixel center;
    double half;
  };
  /// The cells that a square reaches, both ends included.
  struct Reach {
    int left, right, bottom, top;
  };
  Reach reach_of(const Square& square) const;
  bool measure(const std::vector<Square>& squares);
  template <class Visit>
  void each_cell(const Square& square, const Visit& visit) const;
  bool covers(const Square& square, int row, int column) const;

  double left_, right_, bottom_, top_, margin_ = 0;
  CellGrid grid_;
  std::vector<Cell> cells_;
  std::vector<Square> listed_;       ///< by cell; a square is in every mixed cell that it reaches
  std::vector<std::size_t> starts_;  ///< first square of a cell
  std::size_t worst_squares_ = 0;
};

}  // namespace pc::screen_shape
