#include "ops/trees/crown_cover.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

#include "core/error.h"
#include "core/memory.h"
#include "core/parallel.h"

namespace pc {

namespace {

constexpr std::size_t kRows = 4;
constexpr double kMostCrownCells = 1 << 20;

struct Box2d {
  Vec2d low{HUGE_VAL, HUGE_VAL}, high{-HUGE_VAL, -HUGE_VAL};
  void add(const Vec2d& p) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y)};
  }
  bool meets(const Box2d& o) const {
    return low.x <= o.high.x && o.low.x <= high.x && low.y <= o.high.y && o.low.y <= high.y;
  }
};

Box2d box_of(const ConvexPolygon& polygon) {
  Box2d box;
  for (const Vec2d& p : polygon) box.add(p);
  return box;
}

/// Centres of the cells of a row that lie in [low, high], counted from `first`.
std::pair<std::size_t, std::size_t> cells_in(double low, double high, double first, double cell,
                                             std::size_t count) {
  const double begin = std::ceil((low - first) / cell - 0.5),
               end = std::floor((high - first) / cell - 0.5) + 1;
  const auto limit = [&](double value) {
    return static_cast<std::size_t>(std::clamp(value, 0.0, static_cast<double>(count)));
  };
  if (!(end > begin)) return {0, 0};
  return {limit(begin), limit(end)};
}

/// Crowns that may share area: those whose boxes meet, in ascending order.
class Neighbors {
 public:
  explicit Neighbors(const std::vector<ConvexPolygon>& hulls) {
    boxes_.resize(hulls.size());
    for (std::size_t i = 0; i < hulls.size(); ++i) {
      if (hulls[i].size() < 3) continue;
      boxes_[i] = box_of(hulls[i]);
      order_.push_back(i);
      widest_ = std::max(widest_, boxes_[i].high.x - boxes_[i].low.x);
    }
    std::sort(order_.begin(), order_.end(),
              [&](std::size_t a, std::size_t b) { return boxes_[a].low.x < boxes_[b].low.x; });
  }
  const Box2d& box(std::size_t i) const { return boxes_[i]; }

  std::vector<std::size_t> of(std::size_t i) const {
    std::vector<std::size_t> found;
    for_each_of(i, [&](std::size_t other) { found.push_back(other); });
    std::sort(found.begin(), found.end());
    return found;
  }
  std::uint64_t count_of(std::size_t i) const {
    std::uint64_t count = 0;
    for_each_of(i, [&](std::size_t) { ++count; });
    return count;
  }

 private:
  template <class Visit>
  void for_each_of(std::size_t i, Visit&& visit) const {
    const Box2d& own = boxes_[i];
    const auto before = [&](std::size_t a, double x) { return boxes_[a].low.x < x; };
    auto at = std::lower_bound(order_.begin(), order_.end(), own.low.x - widest_, before);
    for (; at != order_.end() && boxes_[*at].low.x <= own.high.x; ++at) {
      if (*at != i && boxes_[*at].meets(own)) visit(*at);
    }
  }

  std::vector<Box2d> boxes_;
  std::vector<std::size_t> order_;
  double widest_ = 0;
};

/// True if at most `most` pairs have boxes that meet, each counted from both sides. Stops counting beyond that.
bool has_few_pairs(const std::vector<ConvexPolygon>& hulls, const Neighbors& neighbors, double most,
                   OpContext& ctx) {
  std::atomic<std::uint64_t> pairs{0};
  const auto few = [&] { return static_cast<double>(pairs.load(std::memory_order_relaxed)) <= most; };
  parallel_for(ctx, hulls.size(), 1, [&](std::size_t begin, std::size_t) {
    if (few() && hulls[begin].size() >= 3) pairs += neighbors.count_of(begin);
  });
  return few();
}

/// Share of a crown's cells that lie in one of the others.
double shared_fraction(const ConvexPolygon& own, const Box2d& box,
                       const std::vector<const ConvexPolygon*>& others, double least_cell) {
  const double width = box.high.x - box.low.x, height = box.high.y - box.low.y;
  const double cell = std::max(
      {least_cell, std::sqrt(width * height / kMostCrownCells), std::max(width, height) / kMostCrownCells});
  const auto nx = static_cast<std::size_t>(std::ceil(width / cell)),
             ny = static_cast<std::size_t>(std::ceil(height / cell));
  std::size_t inside = 0, shared = 0;
  std::vector<std::uint8_t> covered(nx);
  for (std::size_t row = 0; row < ny; ++row) {
    const double y = box.low.y + (static_cast<double>(row) + 0.5) * cell;
    const auto [low, high] = span_at(own, y);
    const auto [begin, end] = cells_in(low, high, box.low.x, cell, nx);
    std::fill(covered.begin() + static_cast<std::ptrdiff_t>(begin),
              covered.begin() + static_cast<std::ptrdiff_t>(end), 0);
    for (const ConvexPolygon* other : others) {
      const auto [other_low, other_high] = span_at(*other, y);
      const auto [first, last] = cells_in(other_low, other_high, box.low.x, cell, nx);
      for (std::size_t i = std::max(first, begin); i < std::min(last, end); ++i) covered[i] = 1;
    }
    inside += end - begin;
    for (std::size_t i = begin; i < end; ++i) shared += covered[i];
  }
  return inside == 0 ? 0 : static_cast<double>(shared) / static_cast<double>(inside);
}

/// Area of the union of the crowns inside the plot.
double union_area(const std::vector<ConvexPolygon>& crowns, const Box2d& frame, double cell, OpContext& ctx) {
  const auto nx = static_cast<std::size_t>(std::ceil((frame.high.x - frame.low.x) / cell));
  const auto ny = static_cast<std::size_t>(std::ceil((frame.high.y - frame.low.y) / cell));
  // Crowns by their lower edge, so that each row looks only at those that may reach it.
  struct Reaching {
    double low, high;
    std::size_t crown;
  };
  std::vector<Reaching> order;
  double tallest = 0;
  for (std::size_t i = 0; i < crowns.size(); ++i) {
    if (crowns[i].size() < 3) continue;
    const Box2d box = box_of(crowns[i]);
    order.push_back({box.low.y, box.high.y, i});
    tallest = std::max(tallest, box.high.y - box.low.y);
  }
  std::sort(order.begin(), order.end(), [](const Reaching& a, const Reaching& b) {
    return a.low < b.low || (a.low == b.low && a.crown < b.crown);
  });
  std::vector<std::uint64_t> counts((ny + kRows - 1) / kRows, 0);
  parallel_for(ctx, ny, kRows, [&](std::size_t begin, std::size_t end) {
    std::vector<std::uint8_t> covered(nx);
    for (std::size_t row = begin; row < end; ++row) {
      std::fill(covered.begin(), covered.end(), std::uint8_t{0});
      const double y = frame.low.y + (static_cast<double>(row) + 0.5) * cell;
      ctx.checkpoint();
      auto at = std::lower_bound(order.begin(), order.end(), y - tallest - cell,
                                 [](const Reaching& one, double least) { return one.low < least; });
      for (; at != order.end() && at->low <= y; ++at) {
        if (at->high < y) continue;
        const auto [low, high] = span_at(crowns[at->crown], y);
        const auto [first, last] = cells_in(low, high, frame.low.x, cell, nx);
        if (last > first)
          std::fill(covered.begin() + static_cast<std::ptrdiff_t>(first),
                    covered.begin() + static_cast<std::ptrdiff_t>(last), std::uint8_t{1});
      }
      counts[begin / kRows] += std::accumulate(covered.begin(), covered.end(), std::uint64_t{0});
    }
  });
  const std::uint64_t total = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  return static_cast<double>(total) * cell * cell;
}

}  // namespace

CrownCover crown_cover(const std::vector<ConvexPolygon>& hulls, const CrownCoverParams& params,
                       OpContext& ctx) {
  require(params.least_cell_m > 0 && params.most_cells >= 1, "cells must have a size and a number");
  const std::size_t n = hulls.size();
  CrownCover out;
  out.overlap_m2.assign(n, 0);
  out.overlap_fraction.assign(n, std::nan(""));
  const Neighbors neighbors(hulls);
  ctx.begin_phase("Stand metrics", n);
  out.overlap_known = has_few_pairs(hulls, neighbors, params.most_pairs, ctx);
  if (!out.overlap_known) out.overlap_m2.assign(n, std::nan(""));
  parallel_for(ctx, out.overlap_known ? n : 0, 1, [&](std::size_t begin, std::size_t) {
    const ConvexPolygon& own = hulls[begin];
    if (own.size() < 3) return;
    std::vector<const ConvexPolygon*> others;
    for (const std::size_t j : neighbors.of(begin)) {
      const double area = area_of(intersection_of(own, hulls[j]));
      if (area <= 0) continue;
      out.overlap_m2[begin] += area;
      others.push_back(&hulls[j]);
    }
    out.overlap_fraction[begin] =
        others.empty() ? 0 : shared_fraction(own, neighbors.box(begin), others, params.least_cell_m);
  });
  if (params.plot.size() < 3) return out;
  std::vector<ConvexPolygon> clipped(n);
  parallel_for(ctx, n, 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) clipped[i] = intersection_of(hulls[i], params.plot);
  });
  const Box2d frame = box_of(params.plot);
  const double width = frame.high.x - frame.low.x, height = frame.high.y - frame.low.y;
  // A narrow plot across its box would have few cells in a huge raster.
  out.cell_m = std::max({params.least_cell_m, std::sqrt(area_of(params.plot) / params.most_cells),
                         std::sqrt(width * height / params.most_cells) / 2,
                         std::max(width, height) / params.most_cells});
  out.union_area_m2 = union_area(clipped, frame, out.cell_m, ctx);
  return out;
}

}  // namespace pc
