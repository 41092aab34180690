#include "ops/trees/treetops.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "core/memory.h"
#include "core/parallel.h"
#include "spatial/union_find.h"

namespace pc {

namespace {

constexpr std::size_t kCells = std::size_t{1} << 15;
constexpr double kNone = -std::numeric_limits<double>::infinity();

/// Greatest heights of blocks of 2^level x 2^level cells.
class MaxPyramid {
 public:
  MaxPyramid(const RasterFrame& frame, Span<const double> heights, OpContext& ctx) {
    Level base{frame.nx, frame.ny, BulkVector<double>(heights.size)};
    parallel_for(ctx, heights.size, kCells, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) base.max[i] = std::isnan(heights[i]) ? kNone : heights[i];
    });
    levels_.push_back(std::move(base));
    while (levels_.back().nx > 1 || levels_.back().ny > 1) levels_.push_back(halved(levels_.back(), ctx));
  }

  std::uint32_t nx() const { return levels_[0].nx; }
  std::uint32_t ny() const { return levels_[0].ny; }
  double at(std::size_t x, std::size_t y) const { return levels_[0].at(x, y); }

  /// True if a cell within `radius` cells of (x, y) is higher than `value`.
  bool any_higher(double value, std::int64_t x, std::int64_t y, double radius) const {
    std::size_t level = 0;
    while (level + 1 < levels_.size() && std::ldexp(1.0, static_cast<int>(level)) < radius) ++level;
    const double width = std::ldexp(1.0, static_cast<int>(level));
    const auto first = [&](std::int64_t at) {
      return static_cast<std::uint32_t>(
          std::max(0.0, std::floor((static_cast<double>(at) - radius) / width)));
    };
    const auto last = [&](std::int64_t at, std::uint32_t count) {
      return static_cast<std::uint32_t>(
          std::min<double>(count - 1, std::floor((static_cast<double>(at) + radius) / width)));
    };
    const Query query{value, x, y, radius * radius};
    for (std::uint32_t j = first(y); j <= last(y, levels_[level].ny); ++j) {
      for (std::uint32_t i = first(x); i <= last(x, levels_[level].nx); ++i) {
        if (descend(level, i, j, query)) return true;
      }
    }
    return false;
  }

 private:
  struct Level {
    std::uint32_t nx, ny;
    BulkVector<double> max;
    double at(std::size_t x, std::size_t y) const { return max[y * nx + x]; }
  };
  struct Query {
    double value;
    std::int64_t x, y;
    double squared_radius;
  };

  static Level halved(const Level& fine, OpContext& ctx) {
    Level out{(fine.nx + 1) / 2, (fine.ny + 1) / 2, {}};
    out.max.resize(static_cast<std::size_t>(out.nx) * out.ny);
    parallel_row_parts(ctx, out.nx, out.ny, kCells, [&](std::size_t y, std::size_t begin, std::size_t end) {
      for (std::size_t x = begin; x < end; ++x) {
        double top = kNone;
        for (std::size_t j = 2 * y; j < std::min<std::size_t>(fine.ny, 2 * y + 2); ++j)
          for (std::size_t i = 2 * x; i < std::min<std::size_t>(fine.nx, 2 * x + 2); ++i)
            top = std::max(top, fine.at(i, j));
        out.max[y * out.nx + x] = top;
      }
    });
    return out;
  }

  /// Squared distance from a cell to the nearest cell of a block.
  static double distance_to(std::size_t level, std::uint32_t i, std::uint32_t j, const Query& query) {
    const auto gap = [level](std::uint32_t block, std::int64_t at) {
      const std::int64_t low = static_cast<std::int64_t>(block) << level;
      const std::int64_t high = low + (std::int64_t{1} << level) - 1;
      return static_cast<double>(at < low ? low - at : at > high ? at - high : 0);
    };
    const double dx = gap(i, query.x), dy = gap(j, query.y);
    return dx * dx + dy * dy;
  }

  bool descend(std::size_t level, std::uint32_t i, std::uint32_t j, const Query& query) const {
    if (!(levels_[level].at(i, j) > query.value)) return false;
    if (distance_to(level, i, j, query) > query.squared_radius) return false;
    if (level == 0) return true;
    const Level& fine = levels_[level - 1];
    for (std::uint32_t y = 2 * j; y < std::min(fine.ny, 2 * j + 2); ++y)
      for (std::uint32_t x = 2 * i; x < std::min(fine.nx, 2 * i + 2); ++x)
        if (descend(level - 1, x, y, query)) return true;
    return false;
  }

  std::vector<Level> levels_;
};

enum class Peak : std::uint8_t { kNo, kYes, kOpen };  ///< kOpen: its plateau has a higher cell beside it

template <class Visit>
void for_each_beside(const MaxPyramid& heights, std::size_t x, std::size_t y, const Visit& visit) {
  const std::size_t x0 = x == 0 ? 0 : x - 1, x1 = std::min<std::size_t>(heights.nx() - 1, x + 1);
  const std::size_t y0 = y == 0 ? 0 : y - 1, y1 = std::min<std::size_t>(heights.ny() - 1, y + 1);
  for (std::size_t j = y0; j <= y1; ++j)
    for (std::size_t i = x0; i <= x1; ++i)
      if (i != x || j != y) visit(i, j);
}

BulkVector<Peak> local_peaks(const MaxPyramid& heights, double least, OpContext& ctx) {
  BulkVector<Peak> peaks(static_cast<std::size_t>(heights.nx()) * heights.ny());
  parallel_row_parts(
      ctx, heights.nx(), heights.ny(), kCells, [&](std::size_t y, std::size_t begin, std::size_t end) {
        for (std::size_t x = begin; x < end; ++x) {
          const double top = heights.at(x, y);
          bool peak = top >= least;
          for_each_beside(heights, x, y,
                          [&](std::size_t i, std::size_t j) { peak = peak && !(heights.at(i, j) > top); });
          peaks[y * heights.nx() + x] = peak ? Peak::kYes : Peak::kNo;
        }
      });
  return peaks;
}

/// Cells of a flat top.
struct Plateau {
  double count, sum_x, sum_y, least;
  std::uint32_t cell;
  bool open;
};

/// One cell per regional maximum, ascending.
std::vector<std::uint32_t> regional_maxima(const MaxPyramid& heights, double least, OpContext& ctx) {
  const BulkVector<Peak> peaks = local_peaks(heights, least, ctx);
  const std::size_t nx = heights.nx(), cells = peaks.size();
  UnionFind flat(cells);
  std::vector<std::uint32_t> members, out;  // of flat tops; of others
  BulkVector<std::uint8_t> open(cells);
  for (std::size_t cell = 0; cell < cells; ++cell) {
    if (cell % kCells == 0) ctx.checkpoint();
    if (peaks[cell] != Peak::kYes) continue;
    bool alone = true;
    for_each_beside(heights, cell % nx, cell / nx, [&](std::size_t i, std::size_t j) {
      if (heights.at(i, j) != heights.at(cell % nx, cell / nx)) return;
      alone = false;
      if (peaks[j * nx + i] == Peak::kYes)
        flat.join(cell, j * nx + i);
      else
        open[cell] = 1;
    });
    (alone ? out : members).push_back(static_cast<std::uint32_t>(cell));
  }
  std::unordered_map<std::uint32_t, Plateau> plateaus;  // looked up, never iterated
  const auto for_each_member = [&](auto&& visit) {
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (i % kCells == 0) ctx.checkpoint();
      visit(members[i]);
    }
  };
  for_each_member([&](std::uint32_t cell) {
    Plateau& plateau =
        plateaus.try_emplace(flat.root_of(cell), Plateau{0, 0, 0, HUGE_VAL, 0, false}).first->second;
    plateau.count += 1;
    plateau.sum_x += static_cast<double>(cell % nx);
    plateau.sum_y += static_cast<double>(cell / nx);
    plateau.open = plateau.open || open[cell] != 0;
  });
  for_each_member([&](std::uint32_t cell) {
    Plateau& plateau = plateaus.at(flat.root_of(cell));
    const double dx = static_cast<double>(cell % nx) - plateau.sum_x / plateau.count;
    const double dy = static_cast<double>(cell / nx) - plateau.sum_y / plateau.count;
    if (dx * dx + dy * dy >= plateau.least) return;
    plateau.least = dx * dx + dy * dy;
    plateau.cell = cell;
  });
  for_each_member([&](std::uint32_t cell) {
    const Plateau& plateau = plateaus.at(flat.root_of(cell));
    if (!plateau.open && plateau.cell == cell) out.push_back(cell);
  });
  std::sort(out.begin(), out.end());
  return out;
}

/// The tops found so far, in blocks as wide as the radius.
class FoundTops {
 public:
  FoundTops(std::size_t nx, double radius)
      : nx_(nx), width_(std::max(1.0, radius)), squared_(radius * radius) {}

  bool any_as_high(double height, std::size_t cell) const {
    const auto [x, y] = block(cell);
    for (std::int64_t j = y - 1; j <= y + 1; ++j) {
      for (std::int64_t i = x - 1; i <= x + 1; ++i) {
        const auto found = blocks_.find(key(i, j));
        if (found == blocks_.end()) continue;
        for (const Top& top : found->second)
          if (top.height == height && squared_distance(top.cell, cell) <= squared_) return true;
      }
    }
    return false;
  }
  void add(double height, std::size_t cell) {
    const auto [x, y] = block(cell);
    blocks_[key(x, y)].push_back({height, cell});
  }

 private:
  struct Top {
    double height;
    std::size_t cell;
  };
  std::pair<std::int64_t, std::int64_t> block(std::size_t cell) const {
    return {static_cast<std::int64_t>(static_cast<double>(cell % nx_) / width_),
            static_cast<std::int64_t>(static_cast<double>(cell / nx_) / width_)};
  }
  static std::uint64_t key(std::int64_t x, std::int64_t y) {
    return static_cast<std::uint64_t>(x) << 32 ^ static_cast<std::uint64_t>(y & 0xFFFFFFFF);
  }
  double squared_distance(std::size_t a, std::size_t b) const {
    const double dx = static_cast<double>(a % nx_) - static_cast<double>(b % nx_);
    const double dy = static_cast<double>(a / nx_) - static_cast<double>(b / nx_);
    return dx * dx + dy * dy;
  }

  std::size_t nx_;
  double width_, squared_;
  std::unordered_map<std::uint64_t, std::vector<Top>> blocks_;
};

}  // namespace

std::vector<std::uint32_t> treetops(const RasterFrame& frame, Span<const double> heights, double radius,
                                    double least, OpContext& ctx) {
  ctx.begin_phase("Finding treetops", 0);
  const MaxPyramid pyramid(frame, heights, ctx);
  std::vector<std::uint32_t> maxima = regional_maxima(pyramid, least, ctx);
  std::stable_sort(maxima.begin(), maxima.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return heights[a] > heights[b]; });
  const double reach = radius / frame.cell;
  FoundTops found(frame.nx, reach);
  std::vector<std::uint32_t> out;
  for (std::size_t m = 0; m < maxima.size(); ++m) {
    if (m % 256 == 0) ctx.checkpoint();
    const std::uint32_t cell = maxima[m];
    if (found.any_as_high(heights[cell], cell)) continue;
    if (pyramid.any_higher(heights[cell], cell % frame.nx, cell / frame.nx, reach)) continue;
    found.add(heights[cell], cell);
    out.push_back(cell);
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace pc
