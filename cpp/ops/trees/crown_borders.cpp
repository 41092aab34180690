#include "ops/trees/crown_borders.h"

#include <algorithm>

#include "core/parallel.h"

namespace pc {

namespace {

constexpr std::size_t kRows = 64;

/// Edges of cells between a crown and what is not that crown, seen from both sides.
struct Edges {
  std::uint64_t all = 0, shared = 0;
  void add(std::uint32_t one, std::uint32_t other) {
    if (one == other) return;
    const std::uint64_t sides = one != 0 && other != 0 ? 2 : 1;
    all += sides;
    shared += sides == 2 ? 2 : 0;
  }
};

}  // namespace

double touching_part(const RasterFrame& frame, const Column<std::uint32_t>& crowns, OpContext& ctx) {
  std::vector<Edges> rows(frame.ny);
  parallel_for(ctx, frame.ny, kRows, [&](std::size_t begin, std::size_t end) {
    for (std::size_t y = begin; y < end; ++y) {
      Edges edges;
      const std::size_t first = y * frame.nx;
      for (std::size_t x = 0; x < frame.nx; ++x) {
        edges.add(crowns[first + x], x + 1 < frame.nx ? crowns[first + x + 1] : 0);
        edges.add(crowns[first + x], y + 1 < frame.ny ? crowns[first + x + frame.nx] : 0);
        if (x == 0) edges.add(crowns[first], 0);
        if (y == 0) edges.add(crowns[x], 0);
      }
      rows[y] = edges;
    }
  });
  Edges sum;
  for (const Edges& edges : rows) {
    sum.all += edges.all;
    sum.shared += edges.shared;
  }
  return sum.all == 0 ? 0 : static_cast<double>(sum.shared) / static_cast<double>(sum.all);
}

std::vector<double> top_rises(const RasterFrame& frame, Span<const double> heights,
                              const Column<std::uint32_t>& crowns, Span<const double> tops, OpContext& ctx) {
  std::vector<double> saddles(tops.size, 0);
  const auto higher = [&](std::uint32_t one, std::uint32_t other) {
    const double a = tops[one - 1], b = tops[other - 1];
    return a != b ? a > b : one < other;
  };
  const auto meet = [&](std::size_t cell, std::size_t beside) {
    const std::uint32_t one = crowns[cell], other = crowns[beside];
    if (one == other || one == 0 || other == 0) return;
    double& saddle = saddles[(higher(one, other) ? other : one) - 1];
    saddle = std::max(saddle, std::min(heights[cell], heights[beside]));
  };
  for (std::size_t y = 0; y < frame.ny; ++y) {
    if (y % kRows == 0) ctx.checkpoint();
    for (std::size_t x = 0; x < frame.nx; ++x) {
      const std::size_t cell = y * frame.nx + x;
      if (x + 1 < frame.nx) meet(cell, cell + 1);
      if (y + 1 == frame.ny) continue;
      meet(cell, cell + frame.nx);
      if (x > 0) meet(cell, cell + frame.nx - 1);
      if (x + 1 < frame.nx) meet(cell, cell + frame.nx + 1);
    }
  }
  std::vector<double> rises(tops.size, 1);
  for (std::size_t i = 0; i < tops.size; ++i)
    if (saddles[i] > 0) rises[i] = std::clamp(1 - saddles[i] / tops[i], 0.0, 1.0);
  return rises;
}

}  // namespace pc
