#include "ops/dem/lone_returns.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "spatial/kd_tree.h"

namespace pc {

namespace {

constexpr double kLeastReach_m = 2, kReach = 8;       // of the spacing
constexpr std::uint64_t kGroup = 2, kEnoughRows = 9;  // a point and one beside it
constexpr int kMostRounds = 4;
constexpr std::uint64_t kNoRow = ~std::uint64_t{0};
constexpr std::size_t kGrain = std::size_t{1} << 15, kFew = std::size_t{1} << 12;

struct Points {
  Span<const Vec3d> positions;
  Span<const std::uint8_t> skip;
  const RasterFrame& frame;

  /// Calls visit(row, cell) for the rows of the frame that `mask` keeps, from any thread.
  template <class Visit>
  void each(Span<const std::uint8_t> mask, OpContext& ctx, const Visit& visit) const {
    each_block(mask, ctx, [&](auto&& rows) { rows(visit); });
  }
  /// Calls block(rows) for parts of the rows; rows(visit) calls visit(row, cell) for each of them.
  template <class Block>
  void each_block(Span<const std::uint8_t> mask, OpContext& ctx, const Block& block) const {
    parallel_for(ctx, positions.size, kGrain, [&](std::size_t begin, std::size_t end) {
      block([&](const auto& visit) {
        for (std::size_t i = begin; i < end; ++i)
          if ((skip.empty() || skip[i] == 0) && (mask.empty() || mask[i] == 0) &&
              frame.contains(positions[i]))
            visit(i, std::size_t{frame.cell_of(positions[i])});
      });
    });
  }
};

/// Number of rows in each rectangle of cells that begins at the first one: (ny + 1, nx + 1).
class RowSums {
 public:
  RowSums(const Points& points, Span<const std::uint8_t> rows, OpContext& ctx)
      : frame_(points.frame),
        width_(std::size_t{frame_.nx} + 1),
        sums_(width_ * (frame_.ny + std::size_t{1})) {
    points.each_block(rows, ctx, [&](auto&& rows_of_block) {
      std::size_t cell = 0;
      std::uint64_t run = 0;  // neighbours in the file are mostly neighbours in space: one atomic sum for all
      const auto add = [&] {
        if (run == 0) return;
        const std::size_t at = (cell / frame_.nx + 1) * width_ + cell % frame_.nx + 1;
        std::atomic_ref(sums_[at]).fetch_add(run, std::memory_order_relaxed);
      };
      rows_of_block([&](std::size_t, std::size_t c) {
        if (c != cell) {
          add();
          cell = c, run = 0;
        }
        ++run;
      });
      add();
    });
    for (std::size_t j = 1; j <= frame_.ny; ++j) {
      ctx.checkpoint();
      std::uint64_t row = 0;
      for (std::size_t i = 1; i < width_; ++i) {
        row += sums_[j * width_ + i];
        sums_[j * width_ + i] = row + sums_[(j - 1) * width_ + i];
      }
    }
  }

  /// Distance between rows around a cell, seen from above, metres; infinite where there are too few.
  double spacing(std::size_t cell) const {
    const std::size_t i = cell % frame_.nx, j = cell / frame_.nx;
    for (std::size_t half = 1;; half *= 2) {
      const auto low = [&](std::size_t at) { return at - std::min(at, half); };
      const auto high = [&](std::size_t at, std::size_t count) { return std::min(at + half + 1, count); };
      const std::size_t i0 = low(i), i1 = high(i, frame_.nx), j0 = low(j), j1 = high(j, frame_.ny);
      const std::uint64_t count = sum(i1, j1) - sum(i0, j1) - sum(i1, j0) + sum(i0, j0);
      const auto area = static_cast<double>((i1 - i0) * (j1 - j0));
      if (count >= kEnoughRows) return frame_.cell * std::sqrt(area / static_cast<double>(count));
      if (i1 - i0 == frame_.nx && j1 - j0 == frame_.ny) return kd_tree::kInfinity;
    }
  }

 private:
  std::uint64_t sum(std::size_t i, std::size_t j) const { return sums_[j * width_ + i]; }

  RasterFrame frame_;
  std::size_t width_;
  BulkVector<std::uint64_t> sums_;
};

/// The outermost row of each cell; kNoRow in empty cells.
class Outermost {
 public:
  Outermost(const Points& points, SurfaceSide side)
      : points_(points), sign_(side == SurfaceSide::kHighest ? 1 : -1), row_(points.frame.cells()) {
    std::fill(row_.begin(), row_.end(), kNoRow);
  }

  std::uint64_t row(std::size_t cell) const { return row_[cell]; }

  /// Looks for the rows of cells that have none.
  void find(Span<const std::uint8_t> rows, OpContext& ctx) {
    BulkVector<std::uint8_t> is_open(row_.size());
    for (std::size_t c = 0; c < row_.size(); ++c) is_open[c] = row_[c] == kNoRow;
    points_.each(rows, ctx, [&](std::size_t i, std::size_t c) {
      if (is_open[c] == 0) return;
      std::atomic_ref<std::uint64_t> at(row_[c]);
      std::uint64_t seen = at.load(std::memory_order_relaxed);
      while (is_further(i, seen) && !at.compare_exchange_weak(seen, i, std::memory_order_relaxed)) {
      }
    });
  }
  void forget(std::size_t cell) { row_[cell] = kNoRow; }

 private:
  bool is_further(std::size_t i, std::uint64_t seen) const {
    if (seen == kNoRow) return true;
    const double own = sign_ * points_.positions[i].z, other = sign_ * points_.positions[seen].z;
    return own > other || (own == other && i < seen);
  }

  const Points& points_;
  double sign_;
  BulkVector<std::uint64_t> row_;
};

struct Candidate {
  std::uint64_t row;
  std::size_t cell;
  double reach;
};

/// Of the candidates those with less company among themselves: most are sorted out at the price of one tree.
std::vector<Candidate> alone_among_tops(const std::vector<Candidate>& all, Span<const Vec3d> positions,
                                        OpContext& ctx) {
  std::vector<Vec3d> tops;
  tops.reserve(all.size());
  for (const Candidate& one : all) tops.push_back(positions[one.row]);
  const KdTree tree({tops.data(), tops.size()}, ctx);
  std::vector<std::uint8_t> is_alone(all.size());
  const KdTreeView view = tree.view();
  parallel_for(ctx, all.size(), kFew, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      const double reach = all[k].reach;
      is_alone[k] = view.count_within(tops[k], reach * reach, kGroup + 1) <= kGroup;
    }
  });
  std::vector<Candidate> alone;
  for (std::size_t k = 0; k < all.size(); ++k)
    if (is_alone[k] != 0) alone.push_back(all[k]);
  return alone;
}

/// The candidates of one size of reach in cells that are at least as wide: company lies in the cells around.
class Neighbourhood {
 public:
  Neighbourhood(const Points& points, const std::vector<Candidate>& candidates, double reach, OpContext& ctx)
      : points_(points), candidates_(candidates), reach_(reach), frame_(wider(points.frame, reach)) {
    starts_.resize(frame_.cells() + 1);
    open_.resize(frame_.cells());
    company_.resize(candidates.size());
    for (std::size_t k = 0; k < candidates.size(); ++k) {
      if (k % kGrain == 0) ctx.checkpoint();
      ++starts_[home(k) + 1];
      each_cell_around(home(k), [&](std::size_t c) { ++open_[c]; });
    }
    std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
    order_.resize(candidates.size());
    std::vector<std::uint32_t> next(starts_.begin(), starts_.end() - 1);
    for (std::size_t k = 0; k < candidates.size(); ++k) {
      if (k % kGrain == 0) ctx.checkpoint();
      order_[next[home(k)]++] = static_cast<std::uint32_t>(k);
    }
    parallel_for(ctx, frame_.cells(), kFew, [&](std::size_t begin, std::size_t end) {
      for (std::size_t c = begin; c < end; ++c)
        std::sort(order_.begin() + starts_[c], order_.begin() + starts_[c + 1],
                  [&](std::uint32_t a, std::uint32_t b) {
                    return std::pair(place(a).z, a) < std::pair(place(b).z, b);
                  });
    });
    z_.resize(order_.size());
    for (std::size_t at = 0; at < order_.size(); ++at) z_[at] = place(order_[at]).z;
  }

  /// Counts the points around each candidate, until it has company.
  void count(OpContext& ctx) {
    const auto& [positions, skip, frame] = points_;
    parallel_for(ctx, positions.size, kFew, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        if ((skip.empty() || skip[i] == 0) && frame_.contains(positions[i])) add(positions[i]);
    });
  }
  bool is_alone(std::size_t candidate) const { return company_[candidate] <= kGroup; }

 private:
  static RasterFrame wider(const RasterFrame& frame, double reach) {
    const double cell = std::max(frame.cell, reach);
    const auto cells = [&](std::uint32_t n) {
      return static_cast<std::uint32_t>(std::ceil(n * frame.cell / cell)) + 2;
    };
    return {frame.min_x - cell, frame.min_y - cell, cell, cells(frame.nx), cells(frame.ny)};
  }
  const Vec3d& place(std::size_t k) const { return points_.positions[candidates_[k].row]; }
  std::size_t home(std::size_t k) const { return frame_.cell_of(place(k)); }

  template <class Visit>
  void each_cell_around(std::size_t cell, const Visit& visit) const {
    const std::size_t i = cell % frame_.nx, j = cell / frame_.nx;
    for (std::size_t v = j - std::min<std::size_t>(j, 1); v <= std::min<std::size_t>(j + 1, frame_.ny - 1);
         ++v)
      for (std::size_t u = i - std::min<std::size_t>(i, 1); u <= std::min<std::size_t>(i + 1, frame_.nx - 1);
           ++u)
        visit(v * frame_.nx + u);
  }

  void add(const Vec3d& p) {
    const std::size_t cell = frame_.cell_of(p);
    if (std::atomic_ref(open_[cell]).load(std::memory_order_relaxed) == 0) return;
    each_cell_around(cell, [&](std::size_t c) {
      const auto first = std::lower_bound(z_.begin() + starts_[c], z_.begin() + starts_[c + 1], p.z - reach_);
      for (auto at = static_cast<std::size_t>(first - z_.begin());
           at < starts_[c + 1] && z_[at] <= p.z + reach_; ++at) {
        const std::uint32_t k = order_[at];
        const std::atomic_ref<std::uint32_t> company(company_[k]);
        if (company.load(std::memory_order_relaxed) > kGroup) continue;
        const double reach = candidates_[k].reach;
        if (squared_distance(p, place(k)) > reach * reach) continue;
        if (company.fetch_add(1, std::memory_order_relaxed) != kGroup) continue;
        each_cell_around(c, [&](std::size_t near) {
          std::atomic_ref(open_[near]).fetch_sub(1, std::memory_order_relaxed);
        });
      }
    });
  }

  const Points& points_;
  const std::vector<Candidate>& candidates_;
  double reach_;  ///< of none is longer
  RasterFrame frame_;
  BulkVector<std::uint32_t> starts_;   ///< (cells + 1) of the candidates in `order_`
  BulkVector<std::uint32_t> open_;     ///< (cells) candidates without company in the cells around
  BulkVector<std::uint32_t> order_;    ///< candidates by cell, then from below
  BulkVector<double> z_;               ///< of these
  BulkVector<std::uint32_t> company_;  ///< (candidates) points within reach, itself too
};

/// Of the candidates those with less company in the cloud.
std::vector<Candidate> alone_in_cloud(std::vector<Candidate> candidates, const Points& points,
                                      OpContext& ctx) {
  const auto size = [](const Candidate& one) { return std::ilogb(one.reach); };
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](const Candidate& a, const Candidate& b) { return size(a) < size(b); });
  std::vector<Candidate> alone;
  for (auto from = candidates.begin(); from != candidates.end();) {
    const auto to =
        std::find_if(from, candidates.end(), [&](const Candidate& one) { return size(one) > size(*from); });
    const std::vector<Candidate> same(from, to);
    Neighbourhood around(points, same, std::ldexp(2.0, size(*from)), ctx);
    around.count(ctx);
    for (std::size_t k = 0; k < same.size(); ++k)
      if (around.is_alone(k)) alone.push_back(same[k]);
    from = to;
  }
  return alone;
}

}  // namespace

LoneReturns lone_returns(Span<const Vec3d> positions, Span<const std::uint8_t> skip,
                         Span<const std::uint8_t> rows, const RasterFrame& frame, SurfaceSide side,
                         OpContext& ctx) {
  check_raster(frame);
  require(skip.empty() || skip.size == positions.size, "skip needs one entry per point");
  require(rows.empty() || rows.size == positions.size, "rows needs one entry per point");
  const Points points{positions, skip, frame};
  LoneReturns out{Column<std::uint8_t>(positions.size), 0};
  for (std::size_t i = 0; i < rows.size; ++i) out.skip[i] = rows[i] != 0;
  const Span<const std::uint8_t> kept = std::as_const(out.skip).view();
  const RowSums sums(points, kept, ctx);
  Outermost outer(points, side);
  std::vector<std::size_t> cells(frame.cells());
  std::iota(cells.begin(), cells.end(), std::size_t{0});
  for (int round = 0; round < kMostRounds && !cells.empty(); ++round) {
    outer.find(kept, ctx);
    std::vector<Candidate> candidates;
    for (const std::size_t c : cells) {
      if (c % kFew == 0) ctx.checkpoint();
      if (outer.row(c) == kNoRow) continue;
      const double reach = std::max(kLeastReach_m, kReach * sums.spacing(c));
      if (std::isfinite(reach)) candidates.push_back({outer.row(c), c, reach});
    }
    if (round == 0) candidates = alone_among_tops(candidates, positions, ctx);
    candidates = alone_in_cloud(std::move(candidates), points, ctx);
    cells.clear();
    for (const Candidate& one : candidates) {
      out.skip[one.row] = 1;
      outer.forget(one.cell);
      cells.push_back(one.cell);
    }
    out.count += candidates.size();
  }
  return out;
}

}  // namespace pc
