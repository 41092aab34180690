#include "ops/trees/path_carpets.h"

#include <algorithm>
#include <cstddef>
#include <tuple>

#include "spatial/union_find.h"

namespace pc {

namespace {

constexpr std::size_t kPollEvery = 4096;

/// Joins cells that touch.
UnionFind touching(const std::vector<BaseCell>& cells, OpContext& ctx) {
  UnionFind sets(cells.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i % kPollEvery == 0) ctx.checkpoint();
    if (i + 1 < cells.size() && cells[i + 1] == BaseCell{cells[i].y, cells[i].x + 1}) sets.join(i, i + 1);
    auto above = std::lower_bound(cells.begin(), cells.end(), BaseCell{cells[i].y + 1, cells[i].x - 1});
    for (; above != cells.end() && above->y == cells[i].y + 1 && above->x <= cells[i].x + 1; ++above)
      sets.join(i, static_cast<std::size_t>(above - cells.begin()));
  }
  return sets;
}

/// Which cells belong to sets that are wider than so many cells. A set is named after its first cell.
std::vector<std::uint8_t> in_carpets(const std::vector<BaseCell>& cells,
                                     const std::vector<std::uint32_t>& set_of, std::int64_t widest) {
  struct Box {
    BaseCell low, high;
  };
  std::vector<Box> boxes(cells.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const BaseCell& cell = cells[i];
    Box& box = boxes[set_of[i]];
    if (set_of[i] == i) box = {cell, cell};
    box.low = {std::min(box.low.y, cell.y), std::min(box.low.x, cell.x)};
    box.high = {std::max(box.high.y, cell.y), std::max(box.high.x, cell.x)};
  }
  std::vector<std::uint8_t> out;
  for (const std::uint32_t set : set_of) {
    const Box& box = boxes[set];
    out.push_back(box.high.y - box.low.y >= widest || box.high.x - box.low.x >= widest ? 1 : 0);
  }
  return out;
}

/// The highest cell within reach, the cell itself included.
std::uint32_t highest_around(std::size_t cell, const std::vector<BaseCell>& cells,
                             const std::vector<float>& top, std::int64_t reach) {
  std::size_t best = cell;
  const BaseCell& at = cells[cell];
  for (std::int64_t y = at.y - reach; y <= at.y + reach; ++y) {
    auto other = std::lower_bound(cells.begin(), cells.end(), BaseCell{y, at.x - reach});
    for (; other != cells.end() && other->y == y && other->x <= at.x + reach; ++other) {
      const auto k = static_cast<std::size_t>(other - cells.begin());
      if (std::tuple(-top[k], k) < std::tuple(-top[best], best)) best = k;
    }
  }
  return static_cast<std::uint32_t>(best);
}

}  // namespace

BaseSets base_sets(const std::vector<BaseCell>& cells, const std::vector<float>& top, std::int64_t widest,
                   std::int64_t reach, OpContext& ctx) {
  UnionFind sets = touching(cells, ctx);
  BaseSets out;
  for (std::size_t i = 0; i < cells.size(); ++i) out.owner.push_back(sets.root_of(i));
  out.in_carpet = in_carpets(cells, out.owner, widest);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i % kPollEvery == 0) ctx.checkpoint();
    if (out.in_carpet[i] != 0) out.owner[i] = highest_around(i, cells, top, reach);
  }
  // Heights rise along the way, so it ends.
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i % kPollEvery == 0) ctx.checkpoint();
    std::uint32_t at = static_cast<std::uint32_t>(i);
    while (out.owner[at] != at) at = out.owner[at] = out.owner[out.owner[at]];
    out.owner[i] = at;
  }
  return out;
}

}  // namespace pc
