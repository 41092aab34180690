#include "ops/wood/wood_points.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/parallel.h"
#include "core/polled_sort.h"
#include "core/radix_sort.h"
#include "ops/trees/cut_pursuit_nodes.h"
#include "ops/wood/wood_voxels.h"
#include "spatial/kd_tree.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = 65'536;
constexpr int kAxisBits = 21;

std::uint64_t spread_bits(std::uint64_t v) {  // two zero bits after each of 21 bits
  v = (v | v << 32) & 0x1f00000000ffffULL;
  v = (v | v << 16) & 0x1f0000ff0000ffULL;
  v = (v | v << 8) & 0x100f00f00f00f00fULL;
  v = (v | v << 4) & 0x10c30c30c30c30c3ULL;
  return (v | v << 2) & 0x1249249249249249ULL;
}

bool before(const Vec3d& a, const Vec3d& b) {
  if (a.x != b.x) return a.x < b.x;
  return a.y != b.y ? a.y < b.y : a.z < b.z;
}

/// The finite rows, relative to the origin, in row order.
void take_finite(Span<const Vec3d> xyz, WoodPoints& out, OpContext& ctx) {
  out.place.reserve(xyz.size);
  out.row.reserve(xyz.size);
  for (std::size_t i = 0; i < xyz.size; ++i) {
    if (i % kGrain == 0) ctx.checkpoint();
    if (!is_finite(xyz[i])) continue;
    out.place.push_back(local_position(xyz[i], out.origin));
    out.row.push_back(static_cast<std::uint32_t>(i));
  }
}

BulkVector<std::uint32_t> position_order(Span<const Vec3d> place, OpContext& ctx) {
  Box3d box;
  for (std::size_t i = 0; i < place.size; ++i) {
    if (i % kGrain == 0) ctx.checkpoint();
    box.add(place[i]);
  }
  const double size = std::max({box.max.x - box.min.x, box.max.y - box.min.y, box.max.z - box.min.z, 1e-9});
  require(std::isfinite(size), "the points lie too far apart");
  const double scale = (static_cast<double>(std::uint64_t{1} << kAxisBits) - 1) / size;
  BulkVector<std::uint64_t> key(place.size);
  BulkVector<std::uint32_t> order(place.size);
  parallel_for(ctx, place.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Vec3d at = (place[i] - box.min) * scale;
      key[i] = spread_bits(static_cast<std::uint64_t>(at.x)) |
               spread_bits(static_cast<std::uint64_t>(at.y)) << 1 |
               spread_bits(static_cast<std::uint64_t>(at.z)) << 2;
      order[i] = static_cast<std::uint32_t>(i);
    }
  });
  radix_sort_pairs(key.view(), order.view(), 3 * kAxisBits, ctx);
  const auto less = [&](std::uint32_t a, std::uint32_t b) { return before(place[a], place[b]); };
  for (std::size_t begin = 0, end = 0; begin < place.size; begin = end) {
    while (end < place.size && key[end] == key[begin]) ++end;
    if (end - begin > 1) polled_stable_sort(order.begin() + begin, order.begin() + end, less, ctx);
    if (begin % kGrain < end - begin) ctx.checkpoint();
  }
  return order;
}

void sort_by_position(WoodPoints& out, OpContext& ctx) {
  const BulkVector<std::uint32_t> order = position_order(out.place.view(), ctx);
  BulkVector<Vec3d> place(order.size());
  BulkVector<std::uint32_t> row(order.size());
  parallel_for(ctx, order.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      place[i] = out.place[order[i]];
      row[i] = out.row[order[i]];
    }
  });
  out.place = std::move(place);
  out.row = std::move(row);
}

std::uint64_t finite_rows(Span<const Vec3d> xyz, OpContext& ctx) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < xyz.size; ++i) {
    if (i % kGrain == 0) ctx.checkpoint();
    count += is_finite(xyz[i]) ? 1 : 0;
  }
  return count;
}

}  // namespace

WoodPoints wood_points(HitPoints points, const WoodVoxels& voxels, OpContext& ctx) {
  WoodPoints out{box_center(points.xyz(), ctx), {}, {}, finite_rows(points.xyz(), ctx), 0};
  const bool thin = voxels.voxel_m > 0 || voxels.finest_m > 0 || out.finite_count > voxels.most_points;
  if (!thin) {
    take_finite(points.xyz(), out, ctx);
    sort_by_position(out, ctx);
    return out;
  }
  voxel_means(points, voxels, out, ctx);
  return out;
}

void spread_labels(HitPoints points, const WoodPoints& used, Span<const std::uint8_t> labels,
                   std::uint8_t other, Span<std::uint8_t> out, OpContext& ctx) {
  const auto xyz = points.xyz();
  std::fill(out.data, out.data + out.size, other);
  if (used.voxel_m == 0) {
    for (std::size_t i = 0; i < used.row.size(); ++i) {
      if (i % kGrain == 0) ctx.checkpoint();
      out[used.row[i]] = labels[i];
    }
    return;
  }
  ctx.begin_phase("Labelling all points", xyz.size);
  const KdTree tree(used.place.view(), ctx);
  const KdTreeView view = tree.view();
  parallel_for(ctx, xyz.size, 4096, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (!is_finite(xyz[i])) continue;
      double squared = 0;
      std::uint64_t row = 0, slot = 0;
      view.knn(xyz[i] - used.origin, 1, ~std::uint64_t{0}, &squared, &row, &slot);
      out[i] = labels[row];
    }
  });
}

}  // namespace pc
