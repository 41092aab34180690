#include "ops/dem/cell_percentile.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/memory.h"
#include "core/parallel.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 15;
constexpr std::uint32_t kOutside = 0xFFFFFFFF;
constexpr std::size_t kLongCell = std::size_t{1} << 20;  // 15 ms; longer ones are searched by all threads

std::uint64_t add_one(std::uint64_t& counter) {
  return std::atomic_ref<std::uint64_t>(counter).fetch_add(1, std::memory_order_relaxed);
}

/// z values ordered by cell: those of cell c end at ends[c] and begin where the cell before ends.
struct CellValues {
  BulkVector<std::uint64_t> ends;
  BulkVector<double> z;

  std::uint64_t begin(std::size_t cell) const { return cell == 0 ? 0 : ends[cell - 1]; }
};

CellValues by_cell(Span<const Vec3d> xyz, const RasterFrame& frame, OpContext& ctx) {
  CellValues values{BulkVector<std::uint64_t>(frame.cells()), {}};
  BulkVector<std::uint32_t> cells(xyz.size);
  parallel_for(ctx, xyz.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      cells[i] = frame.contains(xyz[i]) ? frame.cell_of(xyz[i]) : kOutside;
      if (cells[i] != kOutside) add_one(values.ends[cells[i]]);
    }
  });
  std::uint64_t sum = 0;
  for (std::uint64_t& end : values.ends) {
    const std::uint64_t count = end;
    end = sum;
    sum += count;
  }
  values.z.resize(sum);
  parallel_for(ctx, xyz.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (cells[i] != kOutside) values.z[add_one(values.ends[cells[i]])] = xyz[i].z + 0.0;  // never -0
    }
  });
  return values;
}

/// Bits that order as the values do.
std::uint64_t ordered_bits(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  return bits >> 63 != 0 ? ~bits : bits | std::uint64_t{1} << 63;
}

double from_ordered(std::uint64_t bits) {
  return std::bit_cast<double>(bits >> 63 != 0 ? bits & ~(std::uint64_t{1} << 63) : ~bits);
}

/// Value of a rank: 16 bits of it a pass, from the top.
double value_of_rank(Span<const double> values, std::uint64_t rank, OpContext& ctx) {
  std::uint64_t prefix = 0;
  for (int shift = 48; shift >= 0; shift -= 16) {
    BulkVector<std::uint64_t> bins(65536);
    parallel_for(ctx, values.size, std::size_t{1} << 20, [&](std::size_t begin, std::size_t end) {
      BulkVector<std::uint64_t> own(65536);
      for (std::size_t i = begin; i < end; ++i) {
        const std::uint64_t bits = ordered_bits(values[i]);
        if (shift == 48 || bits >> (shift + 16) == prefix) ++own[bits >> shift & 65535];
      }
      for (std::size_t b = 0; b < 65536; ++b) {
        if (own[b] != 0) std::atomic_ref<std::uint64_t>(bins[b]).fetch_add(own[b], std::memory_order_relaxed);
      }
    });
    std::uint64_t digit = 0;
    while (rank >= bins[digit]) rank -= bins[digit++];
    prefix = prefix << 16 | digit;
  }
  return from_ordered(prefix);
}

}  // namespace

CellPercentiles cell_percentiles(HitPoints points, const RasterFrame& frame, double percentile,
                                 OpContext& ctx) {
  check_raster(frame);
  require(percentile >= 0 && percentile <= 100, "percentile must be 0 to 100");
  CellValues values = by_cell(points.xyz(), frame, ctx);
  const auto rank_of = [&](std::uint64_t count) {
    return static_cast<std::uint64_t>(static_cast<double>(count - 1) * percentile / 100);
  };
  CellPercentiles result{Column<double>(frame.cells()), 0};
  std::atomic<std::uint64_t> populated{0};
  parallel_for(ctx, frame.cells(), 4096, [&](std::size_t begin, std::size_t end) {
    std::uint64_t found = 0, work = 0;
    for (std::size_t c = begin; c < end; ++c) {
      const std::uint64_t first = values.begin(c), count = values.ends[c] - first;
      found += count > 0;
      if (count == 0) result.z[c] = std::numeric_limits<double>::quiet_NaN();
      if (count == 0 || count > kLongCell) continue;
      double* z = values.z.data() + first;
      const std::uint64_t rank = rank_of(count);
      std::nth_element(z, z + rank, z + count);
      result.z[c] = z[rank];
      work += count;
      if (work > kLongCell) {
        if (ctx.canceled()) return;
        work = 0;
      }
    }
    populated += found;
  });
  for (std::size_t c = 0; c < frame.cells(); ++c) {
    const std::uint64_t first = values.begin(c), count = values.ends[c] - first;
    if (count > kLongCell)
      result.z[c] = value_of_rank(values.z.view().subspan(first, count), rank_of(count), ctx);
  }
  result.populated_count = populated;
  return result;
}

}  // namespace pc
