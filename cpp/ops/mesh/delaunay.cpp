#include "ops/mesh/delaunay.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/float_bits.h"
#include "core/parallel.h"
#include "core/radix_sort.h"
#include "spatial/divide_delaunay.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 16;
constexpr std::size_t kMostRun = std::size_t{1} << 14;  // rows that are sorted at a time: a millisecond

struct XRange {
  double min, max;
};

/// Rows in the order of x, then y, then row, by 128 bits: where many points share their x, or nearly.
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

/// Checks the points and finds the range of x.
XRange range_of(Span<const Vec2d> points, OpContext& ctx) {
  std::vector<XRange> blocks((points.size + kGrain - 1) / kGrain);
  parallel_for(ctx, points.size, kGrain, [&](std::size_t begin, std::size_t end) {
    XRange range{HUGE_VAL, -HUGE_VAL};
    for (std::size_t i = begin; i < end; ++i) {
      require(in_exact_range(points[i].x) && in_exact_range(points[i].y),
              "points must be finite and within 2^100 m");
      const double x = exact_coordinate(points[i].x);
      range = {std::min(range.min, x), std::max(range.max, x)};
    }
    blocks[begin / kGrain] = range;
  });
  XRange all{HUGE_VAL, -HUGE_VAL};
  for (const XRange& range : blocks) all = {std::min(all.min, range.min), std::max(all.max, range.max)};
  return all;
}

/// Sorts rows whose keys are equal by x, then y, then row. False if there are too many with one key.
template <class Key>
bool sort_runs(Span<const Vec2d> points, Span<const Key> keys, BulkVector<std::uint32_t>& order,
               OpContext& ctx) {
  std::atomic<bool> long_run{false};
  parallel_for(ctx, keys.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end;) {  // runs that begin in this block
      std::size_t next = i + 1;
      while (next < keys.size && keys[next] == keys[i] && next - i <= kMostRun) ++next;
      const bool begins = i == 0 || keys[i] != keys[i - 1];
      if (next - i > kMostRun) {
        long_run.store(true, std::memory_order_relaxed);
        return;
      }
      if (begins && next - i > 1) {
        std::sort(order.data() + i, order.data() + next, [&](std::uint32_t a, std::uint32_t b) {
          const double x = exact_coordinate(points[a].x), other_x = exact_coordinate(points[b].x);
          if (x != other_x) return x < other_x;
          const double y = exact_coordinate(points[a].y), other_y = exact_coordinate(points[b].y);
          return y < other_y || (y == other_y && a < b);
        });
      }
      i = next;
    }
  });
  return !long_run.load();
}

/// Rows in the order of x, then y, then row, by keys of x that never fall to the right. Nothing where too many keys are equal.
template <class Key, class KeyOf>
std::optional<BulkVector<std::uint32_t>> rows_by_keys(Span<const Vec2d> points, const KeyOf& key_of,
                                                      OpContext& ctx) {
  BulkVector<Key> keys(points.size);
  BulkVector<std::uint32_t> order(points.size);
  parallel_for(ctx, points.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      keys[i] = key_of(exact_coordinate(points[i].x));
      order[i] = static_cast<std::uint32_t>(i);
    }
  });
  radix_sort_pairs(keys.view(), order.view(), 8 * sizeof(Key), ctx);
  if (!sort_runs(points, Span<const Key>(keys.view()), order, ctx)) return std::nullopt;
  return order;
}

/// Rows in the order of x, then y, then row: by 2^32 intervals of x, which a point far away makes too wide, or by all its bits.
BulkVector<std::uint32_t> rows_in_order(Span<const Vec2d> points, OpContext& ctx) {
  const XRange range = range_of(points, ctx);
  const double scale = range.max > range.min ? 4294967295.0 / (range.max - range.min) : 0;
  // Rounding keeps the order of differences and products.
  const auto interval = [&](double x) {
    return static_cast<std::uint32_t>(std::min((x - range.min) * scale, 4294967295.0));
  };
  if (auto rows = rows_by_keys<std::uint32_t>(points, interval, ctx)) return std::move(*rows);
  const auto bits = [](double x) { return ordered_bits(x); };
  if (auto rows = rows_by_keys<std::uint64_t>(points, bits, ctx)) return std::move(*rows);
  return rows_by_both_keys(points, ctx);
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
  std::atomic<bool> repeats{false};
  const auto place = [&](std::size_t i) -> Vec2d {
    const Vec2d& p = points[rows_[i]];
    return {exact_coordinate(p.x), exact_coordinate(p.y)};
  };
  parallel_for(ctx, points.size, kGrain, [&](std::size_t begin, std::size_t end) {
    bool equal = begin > 0 && place(begin - 1) == place(begin);
    for (std::size_t i = begin; i < end; ++i) {
      plane_[i] = place(i);
      equal = equal || (i > begin && plane_[i] == plane_[i - 1]);
    }
    if (equal) repeats.store(true, std::memory_order_relaxed);
  });
  const std::size_t count = repeats.load() ? keep_firsts(ctx) : points.size;
  repeated_ = points.size - count;
  mesh_.emplace(Span<const Vec2d>{plane_.data(), count}, ctx, cuts);
}

/// Moves the first row of each place to the front, in order. Returns how many there are.
std::size_t PlaneTriangulation::keep_firsts(const OpContext& ctx) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (i % kGrain == 0) ctx.checkpoint();
    if (count > 0 && plane_[count - 1] == plane_[i]) continue;
    rows_[count] = rows_[i];
    plane_[count++] = plane_[i];
  }
  return count;
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
  const auto is_wanted = [&](const std::array<std::uint32_t, 3>& c) {
    return !wanted ||
           wanted({rows_[c[0]], rows_[c[1]], rows_[c[2]]}, {plane_[c[0]], plane_[c[1]], plane_[c[2]]});
  };
  parallel_for(ctx, slots, kGrain, [&](std::size_t begin, std::size_t end) {
    std::array<std::uint32_t, 3> corners{};
    std::size_t count = 0;
    for (std::size_t slot = begin; slot < end; ++slot) {
      if (!mesh_->corners(slot, corners) || !is_wanted(corners)) continue;
      holds[slot / 64] |= std::uint64_t{1} << (slot % 64);
      ++count;
    }
    firsts[begin / kGrain + 1] = count;
  });
  for (std::size_t k = 1; k < firsts.size(); ++k) firsts[k] += firsts[k - 1];
  Column<std::uint32_t> indices(3 * firsts.back() + tail.size);
  parallel_for(ctx, slots, kGrain, [&](std::size_t begin, std::size_t end) {
    std::size_t at = 3 * firsts[begin / kGrain];
    std::array<std::uint32_t, 3> corners{};
    for (std::size_t word = begin / 64; word < (end + 63) / 64; ++word) {
      for (std::uint64_t left = holds[word]; left != 0; left &= left - 1) {
        mesh_->corners(64 * word + static_cast<std::size_t>(std::countr_zero(left)), corners);
        for (const std::uint32_t corner : corners) indices[at++] = rows_[corner];
      }
    }
  });
  std::copy(tail.begin(), tail.end(), indices.view().begin() + 3 * firsts.back());
  return indices;
}

}  // namespace pc
