#include "spatial/nearest_cells.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/error.h"
#include "core/parallel.h"
#include "spatial/floor_division.h"

namespace pc {

namespace {

/// Row of the nearest marked cell of the same column, kNoCell = none; the lower of two equally near rows.
BulkVector<std::uint32_t> nearest_rows(std::uint32_t nx, std::uint32_t ny, Span<const std::uint8_t> marked,
                                       OpContext& ctx) {
  BulkVector<std::uint32_t> rows(marked.size);
  parallel_for(ctx, nx, 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t j = 0; j < ny; ++j) {
      const std::size_t at = j * nx;
      for (std::size_t i = begin; i < end; ++i) {
        const std::uint32_t below = j == 0 ? kNoCell : rows[at - nx + i];
        rows[at + i] = marked[at + i] != 0 ? static_cast<std::uint32_t>(j) : below;
      }
    }
    for (std::size_t j = ny - std::size_t{1}; j-- > 0;) {
      const std::size_t at = j * nx;
      for (std::size_t i = begin; i < end; ++i) {
        const std::uint32_t above = rows[at + nx + i];
        if (above == kNoCell || above <= j) continue;
        const std::uint32_t below = rows[at + i];
        if (below == kNoCell || above - j < j - below) rows[at + i] = above;
      }
    }
  });
  return rows;
}

/// Lower envelope of the parabolas (x - column)^2 + height of one row, with the x where each parabola begins.
struct Envelope {
  struct Piece {
    std::int64_t column, height, begin;
  };
  std::vector<Piece> pieces;

  static std::int64_t value(const Piece& piece, std::int64_t x) {
    return (x - piece.column) * (x - piece.column) + piece.height;
  }
  void add(std::int64_t column, std::int64_t height, std::int64_t end) {
    Piece piece{column, height, 0};
    while (!pieces.empty() && value(pieces.back(), pieces.back().begin) > value(piece, pieces.back().begin))
      pieces.pop_back();
    if (!pieces.empty()) {
      const Piece& last = pieces.back();
      piece.begin = 1 + floor_division(column * column - last.column * last.column + height - last.height,
                                       2 * (column - last.column));
      if (piece.begin >= end) return;
    }
    pieces.push_back(piece);
  }
};

}  // namespace

BulkVector<std::uint32_t> nearest_cells(std::uint32_t nx, std::uint32_t ny, Span<const std::uint8_t> marked,
                                        OpContext& ctx) {
  require(marked.size == static_cast<std::size_t>(nx) * ny, "one mark per cell is needed");
  if (marked.size == 0) return {};
  BulkVector<std::uint32_t> cells = nearest_rows(nx, ny, marked, ctx);
  parallel_for(ctx, ny, 1 + 65536 / (std::size_t{nx} + 1), [&](std::size_t begin, std::size_t end) {
    Envelope envelope;
    for (std::size_t j = begin; j < end; ++j) {
      std::uint32_t* row = cells.data() + j * nx;
      envelope.pieces.clear();
      for (std::int64_t i = 0; i < nx; ++i) {
        if (row[i] == kNoCell) continue;
        const std::int64_t away = std::int64_t{row[i]} - static_cast<std::int64_t>(j);
        envelope.add(i, away * away, nx);
      }
      // Filling the row overwrites entries of later pieces: their owners are computed first.
      std::vector<std::uint32_t> owner(envelope.pieces.size());
      for (std::size_t p = 0; p < owner.size(); ++p) {
        const auto column = static_cast<std::size_t>(envelope.pieces[p].column);
        owner[p] = static_cast<std::uint32_t>(row[column] * std::uint64_t{nx} + column);
      }
      for (std::size_t p = 0; p < owner.size(); ++p) {
        const std::int64_t last = p + 1 < owner.size() ? envelope.pieces[p + 1].begin : std::int64_t{nx};
        for (std::int64_t i = envelope.pieces[p].begin; i < last; ++i) row[i] = owner[p];
      }
    }
  });
  return cells;
}

CellSearch::CellSearch(std::uint32_t nx, std::uint32_t ny, Span<const std::uint8_t> marked, OpContext& ctx) {
  require(marked.size == static_cast<std::size_t>(nx) * ny && marked.size > 0, "one mark per cell is needed");
  levels_.push_back({nx, ny, BulkVector<std::uint8_t>(marked.size)});
  std::copy(marked.begin(), marked.end(), levels_[0].any.begin());
  while (levels_.back().nx > 1 || levels_.back().ny > 1) {
    const Level& fine = levels_.back();
    Level coarse{(fine.nx + 1) / 2, (fine.ny + 1) / 2, {}};
    coarse.any.resize(static_cast<std::size_t>(coarse.nx) * coarse.ny);
    parallel_for(ctx, fine.ny, 2 * (1 + 65536 / (std::size_t{fine.nx} + 1)),
                 [&](std::size_t begin, std::size_t end) {
                   for (std::size_t j = begin; j < end; ++j) {
                     for (std::size_t i = 0; i < fine.nx; ++i) {
                       if (fine.any[j * fine.nx + i] != 0) coarse.any[j / 2 * coarse.nx + i / 2] = 1;
                     }
                   }
                 });
    levels_.push_back(std::move(coarse));
  }
}

std::uint64_t CellSearch::distance_to_block(std::size_t level, std::uint32_t i, std::uint32_t j,
                                            const Query& query) {
  const auto gap = [&](std::int64_t at, std::int64_t block) {
    const std::int64_t first = block << level, last = ((block + 1) << level) - 1;
    return at < first ? first - at : (at > last ? at - last : 0);
  };
  const std::int64_t dx = gap(query.column, i), dy = gap(query.row, j);
  return static_cast<std::uint64_t>(dx * dx + dy * dy);
}

void CellSearch::descend(std::size_t level, std::uint32_t i, std::uint32_t j, const Query& query,
                         std::vector<CellNeighbor>& out) const {
  const auto before = [](const CellNeighbor& a, const CellNeighbor& b) {
    return a.squared_distance != b.squared_distance ? a.squared_distance < b.squared_distance
                                                    : a.cell < b.cell;
  };
  if (level == 0) {
    const CellNeighbor found{distance_to_block(0, i, j, query), j * levels_[0].nx + i};
    if (out.size() == query.wanted) {
      if (!before(found, out.back())) return;
      out.pop_back();
    }
    out.insert(std::upper_bound(out.begin(), out.end(), found, before), found);
    return;
  }
  struct Child {
    std::uint64_t distance;
    std::uint32_t i, j;
  };
  std::array<Child, 4> children{};
  std::size_t count = 0;
  const Level& fine = levels_[level - 1];
  for (std::uint32_t k = 0; k < 4; ++k) {
    const std::uint32_t x = 2 * i + k % 2, y = 2 * j + k / 2;
    if (x >= fine.nx || y >= fine.ny || fine.any[static_cast<std::size_t>(y) * fine.nx + x] == 0) continue;
    const Child child{distance_to_block(level - 1, x, y, query), x, y};
    std::size_t at = count++;
    for (; at > 0 && child.distance < children[at - 1].distance; --at) children[at] = children[at - 1];
    children[at] = child;
  }
  for (std::size_t k = 0; k < count; ++k) {
    if (out.size() == query.wanted && children[k].distance > out.back().squared_distance) return;
    descend(level - 1, children[k].i, children[k].j, query, out);
  }
}

void CellSearch::nearest(std::uint32_t column, std::uint32_t row, std::size_t wanted,
                         std::vector<CellNeighbor>& out) const {
  out.clear();
  if (levels_.back().any[0] != 0) descend(levels_.size() - 1, 0, 0, {column, row, wanted}, out);
}

}  // namespace pc
