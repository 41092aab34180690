#include "ops/dem/cell_percentile.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <vector>

#include "core/error.h"
#include "core/float_bits.h"
#include "core/parallel.h"
#include "ops/dem/cell_bands.h"

namespace pc {

namespace {

constexpr std::size_t kLongCell = std::size_t{1} << 20;  // 15 ms; all threads search a longer cell

/// Value of a rank, found 16 bits per pass from the top.
double value_of_rank(Span<const CellEntry> entries, std::uint64_t rank, OpContext& ctx) {
  std::uint64_t prefix = 0;
  for (int shift = 48; shift >= 0; shift -= 16) {
    BulkVector<std::uint64_t> bins(65536);
    parallel_for(ctx, entries.size, std::size_t{1} << 20, [&](std::size_t begin, std::size_t end) {
      BulkVector<std::uint64_t> own(65536);
      for (std::size_t i = begin; i < end; ++i) {
        const std::uint64_t bits = ordered_bits(entries[i].z);
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
  return double_of_ordered(prefix);
}

/// Among the entries of one cell with this z, the first in the order of cell_percentiles.
struct Representative {
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();

  double z;
  std::int64_t distance = kNone;
  CellEntry entry{};

  void offer(const CellEntry& other) {
    if (other.z != z) return;
    const std::int64_t away = other.squared_distance();
    if (away > distance || (away == distance && other.word >= entry.word)) return;
    distance = away;
    entry = other;
  }
};

class Chooser {
 public:
  Chooser(const RasterFrame& frame, double percentile, CellBands& bands, OpContext& ctx)
      : percentile_(percentile),
        bands_(bands),
        ctx_(ctx),
        result_{Column<double>(frame.cells()), BulkVector<CellPlace>(frame.cells()), 0} {}

  CellPercentiles run() {
    const std::size_t in_band = std::size_t{1} << bands_.shift;
    parallel_for(ctx_, bands_.count(), 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t b = begin; b < end; ++b) choose_band(b * in_band, bands_.band(b));
    });
    for (const LongCell& cell : long_cells_) choose_long(cell);
    result_.populated_count = populated_;
    return std::move(result_);
  }

 private:
  struct LongCell {
    std::size_t cell;
    Span<const CellEntry> entries;
  };

  std::uint64_t rank_of(std::uint64_t count) const {
    const auto rank = [&](double percentile) {
      return static_cast<std::uint64_t>(static_cast<double>(count - 1) * percentile / 100);
    };
    return percentile_ > 50 ? count - 1 - rank(100 - percentile_) : rank(percentile_);
  }
  void set(std::size_t cell, const CellEntry& entry) {
    result_.z[cell] = entry.z;
    result_.place[cell] = entry.place();
  }

  /// Orders entries by cell; returns the index of the first entry of each cell, then the end. Empty if canceled.
  std::vector<std::uint64_t> group(std::size_t cells, Span<CellEntry> entries) const {
    std::vector<std::uint64_t> starts(cells + 1), next(cells);
    for (std::size_t i = 0; i < entries.size; ++i) {
      ++starts[entries[i].local() + 1];
      if (i % kLongCell == 0 && ctx_.canceled()) return {};
    }
    for (std::size_t c = 0; c < cells; ++c) starts[c + 1] += starts[c];
    std::copy_n(starts.begin(), cells, next.begin());
    std::uint64_t steps = 0;
    for (std::size_t c = 0; c < cells; ++c) {
      while (next[c] < starts[c + 1]) {
        CellEntry& entry = entries[next[c]];
        const std::uint32_t home = entry.local();
        if (home == c) {
          ++next[c];
        } else {
          std::swap(entry, entries[next[home]++]);
        }
        if (++steps % kLongCell == 0 && ctx_.canceled()) return {};
      }
    }
    return starts;
  }

  void choose_band(std::size_t first_cell, Span<CellEntry> entries) {
    const std::size_t cells = std::min(std::size_t{1} << bands_.shift, result_.z.size() - first_cell);
    const std::vector<std::uint64_t> starts = group(cells, entries);
    if (starts.empty()) return;
    std::uint64_t found = 0, work = 0;
    for (std::size_t c = 0; c < cells; ++c) {
      const Span<CellEntry> own = entries.subspan(starts[c], starts[c + 1] - starts[c]);
      found += own.size > 0;
      if (own.size == 0) {
        result_.z[first_cell + c] = std::numeric_limits<double>::quiet_NaN();
      } else if (own.size > kLongCell) {
        const std::scoped_lock lock(mutex_);
        long_cells_.push_back({first_cell + c, {own.data, own.size}});
      } else {
        choose(first_cell + c, own);
        work += own.size;
      }
      if (work > kLongCell) {
        if (ctx_.canceled()) return;
        work = 0;
      }
    }
    populated_ += found;
    ctx_.advance(cells);
  }

  void choose(std::size_t cell, Span<CellEntry> own) {
    if (own.size == 1) return set(cell, own[0]);
    const auto lower = [](const CellEntry& a, const CellEntry& b) { return a.z < b.z; };
    CellEntry* const at = own.begin() + rank_of(own.size);
    std::nth_element(own.begin(), at, own.end(), lower);
    Representative best{at->z};
    for (const CellEntry& entry : own) best.offer(entry);
    set(cell, best.entry);
  }

  void choose_long(const LongCell& long_cell) {
    Representative best{value_of_rank(long_cell.entries, rank_of(long_cell.entries.size), ctx_)};
    parallel_for(ctx_, long_cell.entries.size, kLongCell, [&](std::size_t begin, std::size_t end) {
      Representative own{best.z};
      for (std::size_t i = begin; i < end; ++i) own.offer(long_cell.entries[i]);
      if (own.distance == Representative::kNone) return;
      const std::scoped_lock lock(mutex_);
      best.offer(own.entry);
    });
    set(long_cell.cell, best.entry);
  }

  double percentile_;
  CellBands& bands_;
  OpContext& ctx_;
  CellPercentiles result_;
  std::atomic<std::uint64_t> populated_{0};
  std::mutex mutex_;
  std::vector<LongCell> long_cells_;
};

}  // namespace

CellPercentiles cell_percentiles(HitPoints points, const RasterFrame& frame, double percentile,
                                 OpContext& ctx) {
  check_raster(frame);
  require(percentile >= 0 && percentile <= 100, "percentile must be 0 to 100");
  CellBands bands = cell_bands(points.xyz(), frame, ctx);
  return Chooser(frame, percentile, bands, ctx).run();
}

}  // namespace pc
