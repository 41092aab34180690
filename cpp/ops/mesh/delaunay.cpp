#include "ops/mesh/delaunay.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <vector>

#include "core/error.h"
#include "core/float_bits.h"
#include "core/parallel.h"
#include "core/radix_sort.h"
#include "spatial/divide_delaunay.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 16;
constexpr std::size_t kMostRun = std::size_t{1}
                                 << 14;  // rows of equal x that are sorted at a time: a millisecond

/// The same where many points share their x.
BulkVector<std::uint32_t> rows_by_both_keys(Span<const Vec2d> points, OpContext& ctx) {
  BulkVector<std::uint64_t> keys(points.size);
  parallel_for(ctx, points.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) keys[i] = ordered_bits(exact_coordinate(points[i].y));
  });
  BulkVector<std::uint32_t> order = radix_sort_order({keys.data(), keys.size()}, 64, ctx);
  parallel_for(ctx, points.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) keys[i] = ordered_bits(exact_coordinate(points[order[i]].x));
  });
  radix_sort_pairs(keys.view(), order.view(), 64, ctx);
  return order;
}

/// Rows in the order of x, then y, then row.
BulkVector<std::uint32_t> rows_in_order(Span<const Vec2d> points, OpContext& ctx) {
  BulkVector<std::uint64_t> keys(points.size);
  BulkVector<std::uint32_t> order(points.size);
  parallel_for(ctx, points.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      require(in_exact_range(points[i].x) && in_exact_range(points[i].y),
              "points must be finite and within 2^100 m");
      keys[i] = ordered_bits(exact_coordinate(points[i].x));
      order[i] = static_cast<std::uint32_t>(i);
    }
  });
  radix_sort_pairs(keys.view(), order.view(), 64, ctx);
  std::atomic<bool> long_run{false};
  parallel_for(ctx, keys.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end;) {  // runs of equal x that begin in this block
      std::size_t next = i + 1;
      while (next < keys.size() && keys[next] == keys[i] && next - i <= kMostRun) ++next;
      const bool begins = i == 0 || keys[i] != keys[i - 1];
      if (next - i > kMostRun) {
        long_run.store(true, std::memory_order_relaxed);
        return;
      }
      if (begins && next - i > 1) {
        std::sort(order.data() + i, order.data() + next, [&](std::uint32_t a, std::uint32_t b) {
          const double y = exact_coordinate(points[a].y), other = exact_coordinate(points[b].y);
          return y < other || (y == other && a < b);
        });
      }
      i = next;
    }
  });
  return long_run.load() ? rows_by_both_keys(points, ctx) : std::move(order);
}

}  // namespace

DelaunayResult delaunay(HitPoints points, OpContext& ctx) {
  ctx.begin_phase("Meshing (delaunay)", 0);
  return delaunay_in_plane(points.xyz(), ctx);
}

DelaunayResult delaunay_in_plane(Span<const Vec3d> xyz, OpContext& ctx) {
  BulkVector<Vec2d> flat(xyz.size);
  parallel_for(ctx, xyz.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) flat[i] = {xyz[i].x, xyz[i].y};
  });
  const PlaneTriangulation mesh(flat.view(), DelaunayCuts::kUpright, ctx);
  flat.reset();
  return {mesh.triangles({}, {}, ctx), mesh.repeated_count()};
}

PlaneTriangulation::PlaneTriangulation(Span<const Vec2d> points, DelaunayCuts cuts, OpContext& ctx) {
  require(points.size < (std::size_t{1} << 29), "at most 2^29 points can be triangulated");
  rows_ = rows_in_order(points, ctx);
  plane_.resize(points.size);
  std::size_t count = 0;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (i % kGrain == 0) ctx.checkpoint();
    const Vec2d& p = points[rows_[i]];
    const Vec2d q{exact_coordinate(p.x), exact_coordinate(p.y)};
    if (count > 0 && plane_[count - 1] == q) continue;
    rows_[count] = rows_[i];
    plane_[count++] = q;
  }
  repeated_ = points.size - count;
  mesh_.emplace(Span<const Vec2d>{plane_.data(), count}, ctx, cuts);
}

BulkVector<std::uint32_t> PlaneTriangulation::outline(const OpContext& ctx) const {
  BulkVector<std::uint32_t> points = mesh_->outline(ctx);
  for (std::uint32_t& point : points) point = rows_[point];
  return points;
}

Column<std::uint32_t> PlaneTriangulation::triangles(const TriangleFilter& wanted,
                                                    Span<const std::uint32_t> tail, OpContext& ctx) const {
  const std::size_t slots = mesh_->slots();
  std::vector<std::size_t> firsts((slots + kGrain - 1) / kGrain + 1, 0);
  BulkVector<std::uint64_t> holds((slots + 63) / 64);  // a bit per slot; blocks of kGrain share no word
  const auto rows_of = [&](std::size_t slot, std::array<std::uint32_t, 3>& corners) {
    if (!mesh_->corners(slot, corners)) return false;
    for (std::uint32_t& corner : corners) corner = rows_[corner];
    return true;
  };
  parallel_for(ctx, slots, kGrain, [&](std::size_t begin, std::size_t end) {
    std::array<std::uint32_t, 3> corners{};
    for (std::size_t slot = begin; slot < end; ++slot) {
      if (!rows_of(slot, corners) || (wanted && !wanted(corners))) continue;
      holds[slot / 64] |= std::uint64_t{1} << (slot % 64);
      ++firsts[begin / kGrain + 1];
    }
  });
  for (std::size_t k = 1; k < firsts.size(); ++k) firsts[k] += firsts[k - 1];
  Column<std::uint32_t> indices(3 * firsts.back() + tail.size);
  parallel_for(ctx, slots, kGrain, [&](std::size_t begin, std::size_t end) {
    std::size_t at = 3 * firsts[begin / kGrain];
    std::array<std::uint32_t, 3> corners{};
    for (std::size_t word = begin / 64; word < (end + 63) / 64; ++word) {
      for (std::uint64_t left = holds[word]; left != 0; left &= left - 1) {
        rows_of(64 * word + static_cast<std::size_t>(std::countr_zero(left)), corners);
        for (const std::uint32_t corner : corners) indices[at++] = corner;
      }
    }
  });
  std::copy(tail.begin(), tail.end(), indices.view().begin() + 3 * firsts.back());
  return indices;
}

}  // namespace pc
