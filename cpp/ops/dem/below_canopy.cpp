#include "ops/dem/below_canopy.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

#include "core/error.h"
#include "core/memory.h"
#include "core/parallel.h"

namespace pc {

namespace {

constexpr double kFinest = 0.5, kPoints = 6, kMostCells = 0x1p22;
constexpr float kCanopy = 2, kBelow = 0.5F;
constexpr float kRough = 0.2F;  // of the edge of a cell
constexpr std::size_t kBlock = 65'536, kRows = 64;

struct Box {
  double low_x = std::numeric_limits<double>::infinity(), low_y = low_x, high_x = -low_x, high_y = -low_x;
  std::uint64_t points = 0;

  void add(const Box& other) {
    low_x = std::min(low_x, other.low_x), low_y = std::min(low_y, other.low_y);
    high_x = std::max(high_x, other.high_x), high_y = std::max(high_y, other.high_y);
    points += other.points;
  }
};

/// Calls visit(block, i, height) for the rows that take part, from any thread.
template <class Visit>
void each_height(Span<const Vec3d> positions, Span<const std::uint8_t> skip, const AnyColumn& heights,
                 OpContext& ctx, const Visit& visit) {
  visit_scalar(heights, [&](auto values) {
    parallel_for(ctx, positions.size, kBlock, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        if (!skip.empty() && skip[i] != 0) continue;
        const auto height = static_cast<float>(values[i]);
        const Vec3d& p = positions[i];
        if (std::isfinite(height) && std::isfinite(p.x) && std::isfinite(p.y))
          visit(begin / kBlock, p, height);
      }
    });
  });
}

/// The highest point of each cell: 0 = no point, else the bits of its height, 1 for those at the terrain and below. Bits of
/// heights above 0 are in the order of the heights.
struct Tops {
  double low_x, low_y, edge;
  std::size_t columns, rows;
  BulkVector<std::uint32_t> bits;

  std::size_t cell_of(const Vec3d& p) const {
    const auto step = [&](double at, double low, std::size_t count) {
      return std::min(count - 1, static_cast<std::size_t>((at - low) / edge));
    };
    return step(p.y, low_y, rows) * columns + step(p.x, low_x, columns);
  }
  static std::uint32_t bits_of(float height) { return height > 0 ? std::bit_cast<std::uint32_t>(height) : 1; }
  std::uint64_t occupied() const {
    return bits.size() - static_cast<std::uint64_t>(std::count(bits.begin(), bits.end(), 0U));
  }
};

Tops cells_over(const Box& box) {
  double edge = kFinest;
  const auto count = [&](double low, double high) { return std::floor((high - low) / edge) + 1; };
  while (!(count(box.low_x, box.high_x) * count(box.low_y, box.high_y) <= kMostCells)) edge *= 2;
  Tops tops{box.low_x,
            box.low_y,
            edge,
            static_cast<std::size_t>(count(box.low_x, box.high_x)),
            static_cast<std::size_t>(count(box.low_y, box.high_y)),
            {}};
  tops.bits.resize(tops.columns * tops.rows);
  return tops;
}

/// Cells of twice the edge.
Tops coarser(const Tops& fine, OpContext& ctx) {
  Tops out{fine.low_x, fine.low_y, 2 * fine.edge, (fine.columns + 1) / 2, (fine.rows + 1) / 2, {}};
  out.bits.resize(out.columns * out.rows);
  for (std::size_t row = 0; row < fine.rows; ++row) {
    if (row % kRows == 0) ctx.checkpoint();
    for (std::size_t column = 0; column < fine.columns; ++column) {
      std::uint32_t& top = out.bits[row / 2 * out.columns + column / 2];
      top = std::max(top, fine.bits[row * fine.columns + column]);
    }
  }
  return out;
}

/// Whether a top lies off the line between its neighbours along x or along y, as on crowns and not on roofs.
bool is_rough(const Tops& tops, std::size_t cell) {
  const auto top = [&](std::size_t at) { return std::bit_cast<float>(tops.bits[at]); };
  const auto off = [&](std::size_t step) {
    return std::abs(top(cell) - (top(cell - step) + top(cell + step)) / 2);
  };
  return std::max(off(1), off(tops.columns)) > kRough * static_cast<float>(tops.edge);
}

/// Of each cell: height below which a point was seen below the canopy; 0 = the canopy is not closed there.
BulkVector<float> limits_of(const Tops& tops, OpContext& ctx) {
  BulkVector<float> limits(tops.bits.size());
  for (std::size_t row = 1; row + 1 < tops.rows; ++row) {
    if (row % kRows == 0) ctx.checkpoint();
    for (std::size_t column = 1; column + 1 < tops.columns; ++column) {
      std::uint32_t lowest = ~0U;
      for (std::size_t r = row - 1; r <= row + 1; ++r)
        for (std::size_t c = column - 1; c <= column + 1; ++c)
          lowest = std::min(lowest, tops.bits[r * tops.columns + c]);
      const auto top = std::bit_cast<float>(lowest);
      if (top > kCanopy && is_rough(tops, row * tops.columns + column))
        limits[row * tops.columns + column] = kBelow * top;
    }
  }
  return limits;
}

}  // namespace

BelowCanopy below_canopy(Span<const Vec3d> positions, Span<const std::uint8_t> skip, const AnyColumn& heights,
                         OpContext& ctx) {
  require(heights.size() == positions.size, "one height per point is needed");
  require(skip.empty() || skip.size == positions.size, "the mask needs one value per point");
  ctx.begin_phase("Looking below the canopy", 0);
  std::vector<Box> boxes((positions.size + kBlock - 1) / kBlock);
  each_height(positions, skip, heights, ctx, [&](std::size_t block, const Vec3d& p, float) {
    boxes[block].add({p.x, p.y, p.x, p.y, 1});
  });
  Box box;
  for (const Box& one : boxes) box.add(one);
  BelowCanopy out;
  if (box.points == 0 || !std::isfinite(box.high_x - box.low_x) || !std::isfinite(box.high_y - box.low_y))
    return out;
  Tops tops = cells_over(box);
  each_height(positions, skip, heights, ctx, [&](std::size_t, const Vec3d& p, float height) {
    std::atomic_ref<std::uint32_t> top(tops.bits[tops.cell_of(p)]);
    const std::uint32_t bits = Tops::bits_of(height);
    std::uint32_t old = top.load(std::memory_order_relaxed);
    while (old < bits && !top.compare_exchange_weak(old, bits, std::memory_order_relaxed)) {
    }
  });
  out.cells = tops.occupied();
  while (static_cast<double>(box.points) < kPoints * static_cast<double>(out.cells) && tops.bits.size() > 9) {
    tops = coarser(tops, ctx);
    out.cells = tops.occupied();
  }
  out.cell = tops.edge;
  const BulkVector<float> limits = limits_of(tops, ctx);
  BulkVector<std::uint8_t> seen(tops.bits.size());
  each_height(positions, skip, heights, ctx, [&](std::size_t, const Vec3d& p, float height) {
    const std::size_t cell = tops.cell_of(p);
    if (height < limits[cell]) std::atomic_ref<std::uint8_t>(seen[cell]).store(1, std::memory_order_relaxed);
  });
  for (std::size_t cell = 0; cell < limits.size(); ++cell) {
    if (!(limits[cell] > 0)) continue;
    ++out.closed;
    out.seen += seen[cell];
  }
  return out;
}

}  // namespace pc
