#include "ops/trees/stem_layer.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <tuple>

#include "core/error.h"
#include "core/parallel.h"
#include "core/radix_sort.h"
#include "spatial/union_find.h"

namespace pc {

namespace {

constexpr std::size_t kBlock = std::size_t{1} << 16;
constexpr std::size_t kCellGrain = std::size_t{1} << 12;

/// Ascending by z. A cell may hold the whole cloud, so it polls.
struct Precedes {
  const OpContext& ctx;
  std::uint32_t compared = 0;
  bool operator()(const LayerPoint& a, const LayerPoint& b) {
    if (++compared % kBlock == 0) ctx.checkpoint();
    return std::tie(a.at.z, a.at.x, a.at.y, a.height) < std::tie(b.at.z, b.at.x, b.at.y, b.height);
  }
};

}  // namespace

StemLayer::StemLayer(Span<const Vec3d> points, Span<const float> heights, double min, double max,
                     OpContext& ctx) {
  gather(points, heights, min, max, ctx);
  if (!points_.empty()) sort(ctx);
}

void StemLayer::gather(Span<const Vec3d> points, Span<const float> heights, double min, double max,
                       OpContext& ctx) {
  const auto belongs = [&](std::size_t i) {
    return heights[i] >= min && heights[i] <= max && is_finite(points[i]);
  };
  struct Part {
    std::size_t count = 0;
    Box3d box;
  };
  std::vector<Part> parts((points.size + kBlock - 1) / kBlock);
  parallel_for(ctx, points.size, kBlock, [&](std::size_t begin, std::size_t end) {
    Part part;
    for (std::size_t i = begin; i < end; ++i) {
      if (!belongs(i)) continue;
      ++part.count;
      part.box.add(points[i]);
    }
    parts[begin / kBlock] = part;
  });
  Box3d box;
  std::size_t total = 0;
  for (Part& part : parts) {
    box.add(part.box);
    const std::size_t before = total;
    total += part.count;
    part.count = before;
  }
  if (total == 0) return;
  require(total < std::numeric_limits<std::uint32_t>::max(), "the layer has too many points");
  const Vec3d size = box.max - box.min;
  require(size.x <= kMostExtent && size.y <= kMostExtent && size.z <= kMostExtent,
          "the points between band_min_m and band_max_m span more than 1e8 m");
  origin_ = box.min;
  columns_ = static_cast<std::int64_t>(std::floor(size.x / kCell)) + 1;
  rows_ = static_cast<std::int64_t>(std::floor(size.y / kCell)) + 1;
  points_.resize(total);
  parallel_for(ctx, points.size, kBlock, [&](std::size_t begin, std::size_t end) {
    std::size_t at = parts[begin / kBlock].count;
    for (std::size_t i = begin; i < end; ++i) {
      if (belongs(i)) points_[at++] = {points[i] - origin_, heights[i]};
    }
  });
}

void StemLayer::sort(OpContext& ctx) {
  BulkVector<std::uint64_t> keys(points_.size());
  parallel_for(ctx, points_.size(), kBlock, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto x = static_cast<std::uint64_t>(std::floor(points_[i].at.x / kCell));
      const auto y = static_cast<std::uint64_t>(std::floor(points_[i].at.y / kCell));
      keys[i] = y << 32 | x;
    }
  });
  const int bits = 32 + static_cast<int>(std::bit_width(static_cast<std::uint64_t>(rows_)));
  const BulkVector<std::uint32_t> order = radix_sort_order(keys.view(), bits, ctx);
  BulkVector<LayerPoint> sorted(points_.size());
  parallel_for(ctx, order.size(), kBlock, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) sorted[i] = points_[order[i]];
  });
  points_ = std::move(sorted);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i % kBlock == 0) ctx.checkpoint();
    const std::uint64_t key = keys[order[i]];
    if (!keys_.empty() && keys_.back() == key) continue;
    keys_.push_back(key);
    starts_.push_back(static_cast<std::uint32_t>(i));
  }
  starts_.push_back(static_cast<std::uint32_t>(points_.size()));
  parallel_for(ctx, cell_count(), kCellGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      std::sort(points_.begin() + starts_[i], points_.begin() + starts_[i + 1], Precedes{ctx});
  });
}

std::size_t StemLayer::lower(std::uint64_t key) const {
  return static_cast<std::size_t>(std::lower_bound(keys_.begin(), keys_.end(), key) - keys_.begin());
}

CellGroups touching_cells(const StemLayer& layer, Span<const std::uint8_t> wanted,
                          Span<const std::uint32_t> kind, OpContext& ctx) {
  const std::size_t count = layer.cell_count();
  const auto is_wanted = [&](std::size_t i) { return wanted.empty() || wanted[i] != 0; };
  UnionFind sets(count);
  std::size_t above = 0;  // first cell of the next row that is not left of the neighbours of cell i
  for (std::size_t i = 0; i < count; ++i) {
    if (i % kBlock == 0) ctx.checkpoint();
    if (!is_wanted(i)) continue;
    const std::int64_t x = layer.cell_x(i), y = layer.cell_y(i);
    const auto join = [&](std::size_t j) {
      if (is_wanted(j) && (kind.empty() || kind[i] == kind[j])) sets.join(i, j);
    };
    if (i + 1 < count && layer.cell_y(i + 1) == y && layer.cell_x(i + 1) == x + 1) join(i + 1);
    const auto is_before = [&](std::size_t j) {
      return layer.cell_y(j) <= y || (layer.cell_y(j) == y + 1 && layer.cell_x(j) < x - 1);
    };
    while (above < count && is_before(above)) ++above;
    for (std::size_t j = above; j < count && layer.cell_y(j) == y + 1 && layer.cell_x(j) <= x + 1; ++j)
      join(j);
  }
  CellGroups out;
  BulkVector<std::uint32_t> group(count);  // of roots, 1-based; roots precede their members
  std::uint32_t groups = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (is_wanted(i) && sets.root_of(i) == i) group[i] = ++groups;
  }
  out.starts.resize(groups + 1);
  for (std::size_t i = 0; i < count; ++i) {
    if (is_wanted(i)) ++out.starts[group[sets.root_of(i)]];
  }
  for (std::size_t i = 1; i <= groups; ++i) out.starts[i] += out.starts[i - 1];
  out.cells.resize(out.starts[groups]);
  BulkVector<std::uint32_t> next(groups);
  for (std::size_t i = 0; i < groups; ++i) next[i] = out.starts[i];
  for (std::size_t i = 0; i < count; ++i) {
    if (is_wanted(i)) out.cells[next[group[sets.root_of(i)] - 1]++] = static_cast<std::uint32_t>(i);
  }
  return out;
}

}  // namespace pc
