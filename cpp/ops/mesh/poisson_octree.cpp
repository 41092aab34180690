#include "ops/mesh/poisson_octree.h"

#include <algorithm>

#include "core/parallel.h"
#include "core/radix_sort.h"

namespace pc::poisson_detail {

namespace {

constexpr std::size_t kGrain = 16'384;

std::uint64_t spread_bits(std::uint64_t v) {
  v = (v | v << 32) & 0x1f00000000ffffULL;
  v = (v | v << 16) & 0x1f0000ff0000ffULL;
  v = (v | v << 8) & 0x100f00f00f00f00fULL;
  v = (v | v << 4) & 0x10c30c30c30c30c3ULL;
  return (v | v << 2) & 0x1249249249249249ULL;
}

std::uint32_t gather_bits(std::uint64_t v) {
  v &= 0x1249249249249249ULL;
  v = (v | v >> 2) & 0x10c30c30c30c30c3ULL;
  v = (v | v >> 4) & 0x100f00f00f00f00fULL;
  v = (v | v >> 8) & 0x1f0000ff0000ffULL;
  v = (v | v >> 16) & 0x1f00000000ffffULL;
  v = (v | v >> 32) & 0x1fffffULL;
  return static_cast<std::uint32_t>(v);
}

/// Codes of the cells of `level` with a sample that asks for it, ascending.
BulkVector<std::uint64_t> wanted_cells(const Samples& samples, std::uint32_t level, OpContext& ctx) {
  BulkVector<std::uint64_t> cells;
  const std::uint32_t shift = 3 * (samples.bits - level);
  for (std::size_t s = 0; s < samples.size(); ++s) {
    if (s % 65'536 == 0) ctx.checkpoint();
    if (samples.leaf_depth[s] < level) continue;
    const std::uint64_t key = samples.key[s] >> shift;
    if (cells.empty() || cells.back() != key) cells.push_back(key);
  }
  return cells;
}

/// Codes of the parents of the cells and of the parents around each, ascending.
BulkVector<std::uint64_t> parents_around(const BulkVector<std::uint64_t>& cells, std::uint32_t level,
                                         OpContext& ctx) {
  BulkVector<std::uint64_t> own, parents;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i % 65'536 == 0) ctx.checkpoint();
    if (own.empty() || own.back() != cells[i] / 8) own.push_back(cells[i] / 8);
  }
  parents.reserve(27 * own.size());  // growing would copy gigabytes between two checks for a cancel
  const std::uint32_t last = (1U << (level - 1)) - 1;
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (i % 4096 == 0) ctx.checkpoint();
    const CellPlace p = morton_decode(own[i]);
    for (std::uint32_t z = p.z - std::min(p.z, 1U); z <= std::min(p.z + 1, last); ++z)
      for (std::uint32_t y = p.y - std::min(p.y, 1U); y <= std::min(p.y + 1, last); ++y)
        for (std::uint32_t x = p.x - std::min(p.x, 1U); x <= std::min(p.x + 1, last); ++x)
          parents.push_back(morton_encode({x, y, z}));
  }
  BulkVector<std::uint32_t> unused(parents.size());
  radix_sort_pairs(parents.view(), unused.view(), static_cast<int>(3 * level), ctx);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < parents.size(); ++i) {
    if (i % 65'536 == 0) ctx.checkpoint();
    if (kept == 0 || parents[kept - 1] != parents[i]) parents[kept++] = parents[i];
  }
  BulkVector<std::uint64_t> distinct;  // of its own size: the list above is several times as long
  distinct.reserve(kept);
  for (std::size_t i = 0; i < kept; ++i) {
    if (i % 65'536 == 0) ctx.checkpoint();
    distinct.push_back(parents[i]);
  }
  return distinct;
}

void link_parents(Level& level, Level& above, const BulkVector<std::uint64_t>& refined, OpContext& ctx) {
  level.key.resize(8 * refined.size());
  level.parent.resize(refined.size());
  parallel_for(ctx, refined.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto* const at = std::lower_bound(above.key.begin(), above.key.end(), refined[i]);
      const auto parent = static_cast<std::uint32_t>(at - above.key.begin());
      level.parent[i] = parent;
      above.child[parent] = static_cast<std::uint32_t>(i);
      for (std::uint64_t o = 0; o < 8; ++o) level.key[8 * i + o] = 8 * refined[i] + o;
    }
  });
}

void find_samples(Level& level, const Level& above, const Samples& samples, OpContext& ctx) {
  level.first.resize(level.cell_count());
  level.last.resize(level.cell_count());
  const std::uint32_t shift = 3 * (samples.bits - level.depth);
  parallel_for(ctx, level.cell_count(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t parent = level.parent[i / 8];
      const auto* const from = samples.key.begin() + above.first[parent];
      const auto* const to = samples.key.begin() + above.last[parent];
      const auto* const first = std::lower_bound(from, to, level.key[i] << shift);
      level.first[i] = static_cast<std::uint32_t>(first - samples.key.begin());
      level.last[i] = static_cast<std::uint32_t>(std::lower_bound(first, to, (level.key[i] + 1) << shift) -
                                                 samples.key.begin());
    }
  });
}

void fill_none(BulkVector<std::uint32_t>& list, OpContext& ctx) {
  parallel_for(ctx, list.size(), 262'144, [&](std::size_t begin, std::size_t end) {
    std::fill(list.begin() + begin, list.begin() + end, kNone);
  });
}

/// Numbers the corners of all cells in Morton order.
template <class Key>
void number_vertices(Level& level, OpContext& ctx) {
  const std::size_t count = 8 * level.cell_count();
  BulkVector<Key> keys(count);
  BulkVector<std::uint32_t> users(count);
  parallel_for(ctx, level.cell_count(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const CellPlace p = morton_decode(level.key[i]);
      for (std::uint32_t c = 0; c < 8; ++c) {
        keys[8 * i + c] =
            static_cast<Key>(morton_encode({p.x + (c & 1), p.y + (c >> 1 & 1), p.z + (c >> 2)}));
        users[8 * i + c] = static_cast<std::uint32_t>(8 * i + c);
      }
    }
  });
  radix_sort_pairs(keys.view(), users.view(), static_cast<int>(3 * (level.depth + 1)), ctx);
  level.corner.resize(count);
  std::size_t vertices = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (i % 1'048'576 == 0) ctx.checkpoint();
    vertices += i == 0 || keys[i] != keys[i - 1] ? 1 : 0;
  }
  level.incident.resize(8 * vertices);
  fill_none(level.incident, ctx);
  level.is_free.resize(vertices);
  ctx.checkpoint();
  const std::uint32_t side = 1U << level.depth;
  const auto cells_along = [&](std::uint32_t at) { return at == 0 || at == side ? 1U : 2U; };
  for (std::size_t i = 0, vertex = 0; i < count; ++vertex) {
    if (vertex % 65'536 == 0) ctx.checkpoint();
    std::size_t end = i;
    for (; end < count && keys[end] == keys[i]; ++end) {
      level.corner[users[end]] = static_cast<std::uint32_t>(vertex);
      level.incident[8 * vertex + users[end] % 8] = users[end] / 8;
    }
    const CellPlace p = morton_decode(keys[i]);
    level.is_free[vertex] = end - i == cells_along(p.x) * cells_along(p.y) * cells_along(p.z) ? 1 : 0;
    i = end;
  }
}

}  // namespace

CellPlace morton_decode(std::uint64_t key) {
  return {gather_bits(key), gather_bits(key >> 1), gather_bits(key >> 2)};
}

std::uint64_t morton_encode(const CellPlace& place) {
  return spread_bits(place.x) | spread_bits(place.y) << 1 | spread_bits(place.z) << 2;
}

std::vector<BulkVector<std::uint64_t>> refined_cells(const Samples& samples, std::uint32_t depth,
                                                     OpContext& ctx) {
  std::vector<BulkVector<std::uint64_t>> refined(1);
  for (std::uint32_t level = 1; level <= depth; ++level) {
    BulkVector<std::uint64_t> cells;
    if (level <= kFullDepth) {
      cells.resize(std::size_t{1} << 3 * (level - 1));
      for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = i;
    } else {
      cells = parents_around(wanted_cells(samples, level, ctx), level, ctx);
    }
    if (cells.empty()) break;
    refined.push_back(std::move(cells));
  }
  return refined;
}

std::vector<Level> build_levels(const Samples& samples, std::vector<BulkVector<std::uint64_t>> refined,
                                OpContext& ctx) {
  std::vector<Level> levels(refined.size());
  Level& root = levels[0];
  root.key.push_back(0);
  root.first.push_back(0);
  root.last.push_back(static_cast<std::uint32_t>(samples.size()));
  for (std::uint32_t d = 0; d < levels.size(); ++d) {
    Level& level = levels[d];
    level.depth = d;
    if (d > 0) {
      link_parents(level, levels[d - 1], refined[d], ctx);
      refined[d].reset();
      find_samples(level, levels[d - 1], samples, ctx);
    }
    level.child.resize(level.cell_count());
    fill_none(level.child, ctx);
    if (3 * (d + 1) <= 32)
      number_vertices<std::uint32_t>(level, ctx);
    else
      number_vertices<std::uint64_t>(level, ctx);
    level.value.resize(level.vertex_count());
  }
  return levels;
}

std::uint64_t level_bytes(const std::vector<BulkVector<std::uint64_t>>& refined) {
  double kept = 0, most = 0;
  for (const auto& list : refined) {
    const auto cells = 8 * static_cast<double>(list.size());
    kept += cells * (8 + 0.5 + 4 + 8 + 32 + kVerticesPerCell * (32 + 1 + 8 + 12 + 12));
    most = std::max(most, cells * std::max(8 * 24.0, kVerticesPerCell * (27 * 8 + 5 * 8 + 24)));
  }
  return static_cast<std::uint64_t>(kept + most);
}

}  // namespace pc::poisson_detail
