#include "ops/fit/thin_parts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"
#include "core/radix_sort.h"
#include "spatial/all_knn.h"
#include "spatial/kd_tree.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = 4096;
constexpr int kBits = 21;  // per axis; the first and the last cell of an axis stay empty
constexpr double kMostCells = 1 << 20;
constexpr int kRounds = 3;
constexpr std::size_t kPollEvery = std::size_t{1} << 14;
// Cells of 4 spacings find branches out of sampled surfaces, too; smaller ones shorten what is left of them at filled solids.
struct ThinScale {
  double spacings;
  std::uint32_t fewest_kept;
};
constexpr std::array<ThinScale, 3> kThinScales{{{4, 5}, {3, 5}, {2, 7}}};

/// Points ordered by their cells.
struct CellRows {
  BulkVector<std::uint32_t> order;
  BulkVector<std::uint64_t> keys;    ///< of the occupied cells, ascending
  BulkVector<std::uint32_t> firsts;  ///< (keys + 1) first point of each cell in the order
};

CellRows cells_of(Span<const Vec3d> points, double cell_m, OpContext& ctx) {
  Box3d box;
  for (std::size_t i = 0; i < points.size; ++i) {
    if (i % (16 * kGrain) == 0) ctx.checkpoint();
    box.add(points[i]);
  }
  const Vec3d size = box.max - box.min;
  const double edge = std::max(cell_m, std::max({size.x, size.y, size.z}) / kMostCells);
  BulkVector<std::uint64_t> keys(points.size);
  parallel_for(ctx, points.size, kGrain, [&](std::size_t begin, std::size_t end) {
    const auto place = [&](double value) { return static_cast<std::uint64_t>(value / edge) + 1; };
    for (std::size_t i = begin; i < end; ++i) {
      const Vec3d d = points[i] - box.min;
      keys[i] = place(d.x) << (2 * kBits) | place(d.y) << kBits | place(d.z);
    }
  });
  CellRows out{radix_sort_order(keys.view(), 3 * kBits, ctx), {}, {}};
  for (std::size_t i = 0; i < out.order.size(); ++i) {
    if (i % (16 * kGrain) == 0) ctx.checkpoint();
    const std::uint64_t key = keys[out.order[i]];
    if (!out.keys.empty() && out.keys.back() == key) continue;
    out.keys.push_back(key);
    out.firsts.push_back(static_cast<std::uint32_t>(i));
  }
  out.firsts.push_back(static_cast<std::uint32_t>(points.size));
  return out;
}

/// Occupied cells around each cell, none for cells that are out.
BulkVector<std::uint8_t> neighbors_of(const CellRows& cells, const BulkVector<std::uint8_t>& is_out,
                                      OpContext& ctx) {
  BulkVector<std::uint8_t> counts(cells.keys.size());
  parallel_for(ctx, cells.keys.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t cell = begin; cell < end; ++cell) {
      for (int around = 0; around < 27; ++around) {
        if (around == 13) continue;
        const std::uint64_t x =
            cells.keys[cell] + (std::uint64_t(around / 9) << (2 * kBits)) - (1ULL << (2 * kBits));
        const std::uint64_t key =
            x + (std::uint64_t(around / 3 % 3) << kBits) - (1ULL << kBits) + around % 3 - 1;
        const auto* const at = std::lower_bound(cells.keys.begin(), cells.keys.end(), key);
        if (at != cells.keys.end() && *at == key && is_out[at - cells.keys.begin()] == 0) ++counts[cell];
      }
    }
  });
  return counts;
}

/// Mean distance from a place to the nearest other one, without tetrahedra.
double mean_spacing(const BulkVector<Vec3d>& points, OpContext& ctx) {
  BulkVector<Vec3d> places(points.size());
  std::copy(points.begin(), points.end(), places.begin());
  std::size_t compared = 0;
  std::sort(places.begin(), places.end(), [&](const Vec3d& a, const Vec3d& b) {
    if (++compared % kPollEvery == 0) ctx.checkpoint();
    return a.x != b.x ? a.x < b.x : a.y != b.y ? a.y < b.y : a.z < b.z;
  });
  places.resize(static_cast<std::size_t>(std::unique(places.begin(), places.end()) - places.begin()));
  require(places.size() > 3, kFlatAlphaCrown);
  const KdTree tree(places.view(), ctx);
  const std::vector<std::size_t> blocks = tree.leaf_blocks(all_knn_block(1));
  const KdTreeView view = tree.view();
  BulkVector<double> nearest(places.size());
  all_knn(tree, {1, 0, KnnColumns::kSquared}, {blocks.data(), blocks.size()}, ctx,
          [&](std::uint32_t number, const LeafKnn& found) {
            const kd_tree::Leaf leaf = view.leaf(view.nodes[number]);
            for (std::uint32_t p = 0; p < leaf.count; ++p)
              nearest[leaf.row[p]] = std::sqrt(found.squared(p)[0]);
          });
  return parallel_sum(ctx, nearest.size(), [&](std::size_t i) { return nearest[i]; }) /
         static_cast<double>(nearest.size());
}

}  // namespace

BulkVector<std::uint8_t> outside_thin_parts(Span<const Vec3d> points, const ThinCells& thin,
                                            std::uint64_t droppable, OpContext& ctx) {
  require(thin.edge_m > 0 && std::isfinite(thin.edge_m), "cells need a finite edge above 0");
  const CellRows cells = cells_of(points, thin.edge_m, ctx);
  BulkVector<std::uint8_t> is_out(cells.keys.size()), kept(points.size);
  std::fill(kept.begin(), kept.end(), 1);
  for (int round = 0; round < kRounds; ++round) {
    const auto counts = neighbors_of(cells, is_out, ctx);
    for (std::uint32_t count = 0; count < thin.fewest_kept; ++count) {
      for (std::size_t cell = 0; cell < counts.size(); ++cell) {
        if (cell % (16 * kGrain) == 0) ctx.checkpoint();
        const std::uint64_t size = cells.firsts[cell + 1] - cells.firsts[cell];
        if (counts[cell] != count || is_out[cell] != 0 || size > droppable) continue;
        droppable -= size;
        is_out[cell] = 1;
        for (std::size_t i = cells.firsts[cell]; i < cells.firsts[cell + 1]; ++i) kept[cells.order[i]] = 0;
      }
    }
  }
  return kept;
}

std::uint64_t remove_thin_parts(BulkVector<Vec3d>& points, std::uint64_t droppable, OpContext& ctx) {
  const double spacing = mean_spacing(points, ctx);
  for (const auto& [spacings, fewest_kept] : kThinScales) {
    const auto kept = outside_thin_parts(points.view(), {spacings * spacing, fewest_kept}, droppable, ctx);
    std::size_t count = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (i % kPollEvery == 0) ctx.checkpoint();
      if (kept[i] != 0) points[count++] = points[i];
    }
    droppable -= points.size() - count;
    points.resize(count);
  }
  return droppable;
}

}  // namespace pc
