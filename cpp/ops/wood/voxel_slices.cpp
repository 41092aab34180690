#include "ops/wood/voxel_slices.h"

#include <algorithm>
#include <cmath>

#include "core/parallel.h"
#include "ops/wood/voxel_shape.h"
#include "spatial/union_find.h"

namespace pc {

namespace {

constexpr std::size_t kPoll = 8192;
constexpr int kSectors = 12;

/// Calls `visit` for each row, polling: one slice can hold a whole plain.
template <class Visit>
void polled(std::size_t count, const OpContext& ctx, Visit&& visit) {
  for (std::size_t i = 0; i < count; ++i) {
    if (i % kPoll == 0) ctx.checkpoint();
    visit(i);
  }
}

/// Coordinates across an axis.
struct Plane {
  Vec3d u, v;

  explicit Plane(const Vec3d& axis) {
    const Vec3d other = std::abs(axis.z) < 0.9 ? Vec3d{0, 0, 1} : Vec3d{1, 0, 0};
    const Vec3d side = cross(other, axis);
    u = side * (1 / std::sqrt(dot(side, side)));
    v = cross(axis, u);
  }
};

struct Flat {
  double x, y;
};

struct Circle {
  double x = 0, y = 0, radius = 0;
};

/// Kasa's fit of places about their mean; radius 0 where they lie on a line.
Circle circle_of(Span<const Flat> places) {
  double xx = 0, xy = 0, yy = 0, xr = 0, yr = 0, rr = 0;
  for (const auto& [x, y] : places) {
    const double r = x * x + y * y;
    xx += x * x, xy += x * y, yy += y * y, xr += x * r, yr += y * r, rr += r;
  }
  const double det = xx * yy - xy * xy;
  if (!(det > 1e-4 * (xx + yy) * (xx + yy))) return {};
  const double cx = (xr * yy - yr * xy) / (2 * det), cy = (yr * xx - xr * xy) / (2 * det);
  return {cx, cy, std::sqrt(cx * cx + cy * cy + rr / static_cast<double>(places.size))};
}

VoxelSlice measured(Span<const std::uint32_t> voxels, Span<const Vec3d> places, const VoxelPaths& paths,
                    const OpContext& ctx) {
  Vec3d way{0, 0, 0}, mean{0, 0, 0};
  double steps = 0;
  const Vec3d at = places[voxels[0]];
  polled(voxels.size, ctx, [&](std::size_t k) {
    const std::uint32_t i = voxels[k];
    mean = mean + (places[i] - at);
    if (paths.parent[i] == kNoParent) return;
    const Vec3d step = places[i] - places[paths.parent[i]];
    const double length = std::sqrt(dot(step, step));
    if (!(length > 0)) return;
    way = way + step * (1 / length);
    ++steps;
  });
  const double n = static_cast<double>(voxels.size);
  mean = at + mean * (1 / n);
  const double length = std::sqrt(dot(way, way));
  const Plane plane(length > 0 ? way * (1 / length) : Vec3d{0, 0, 1});
  BulkVector<Flat> flat(voxels.size);
  double spread = 0;
  polled(voxels.size, ctx, [&](std::size_t k) {
    const Vec3d d = places[voxels[k]] - mean;
    flat[k] = {dot(d, plane.u), dot(d, plane.v)};
    spread += flat[k].x * flat[k].x + flat[k].y * flat[k].y;
  });
  spread = std::sqrt(spread / n);
  Circle circle = voxels.size >= 5 ? circle_of(flat.view()) : Circle{};
  if (!(circle.radius > 0) || circle.radius > 4 * spread) circle = {0, 0, spread};
  double residual = 0;
  std::uint32_t sectors = 0;
  polled(flat.size(), ctx, [&](std::size_t k) {
    const auto [x, y] = flat[k];
    const double off = std::hypot(x - circle.x, y - circle.y) - circle.radius;
    residual += off * off;
    const double turn = std::atan2(y - circle.y, x - circle.x) / 6.283185307179586 + 0.5;
    sectors |= 1U << std::min(kSectors - 1, static_cast<int>(turn * kSectors));
  });
  int covered = 0;
  for (int k = 0; k < kSectors; ++k) covered += static_cast<int>(sectors >> k & 1U);
  const double relative = circle.radius > 0 ? std::sqrt(residual / n) / circle.radius : 2.0;
  return {static_cast<float>(circle.radius),
          static_cast<float>(std::min(2.0, relative)),
          static_cast<float>(steps > 0 ? length / steps : 0),
          static_cast<float>(covered) / kSectors,
          static_cast<float>(spread),
          static_cast<float>(n)};
}

}  // namespace

VoxelSlices voxel_slices(Span<const Vec3d> places, const PathGraph& graph, const VoxelPaths& paths,
                         double depth_m, double join_m, OpContext& ctx) {
  const std::size_t m = places.size;
  VoxelSlices out;
  out.slice_of.resize(m);
  const auto bin = [&](std::size_t i) {
    return static_cast<std::int64_t>(static_cast<double>(paths.length[i]) / depth_m);
  };
  UnionFind parts(m);
  for (std::size_t i = 0; i < m; ++i) {
    if (i % kPoll == 0) ctx.checkpoint();
    for (const std::uint32_t next : graph.of(static_cast<std::uint32_t>(i)))
      if (next < i && bin(next) == bin(i) && squared_distance(places[i], places[next]) <= join_m * join_m)
        parts.join(i, next);
  }
  // Parts are named after their lowest voxel: number them by it, then list their voxels.
  BulkVector<std::uint32_t> first;
  for (std::size_t i = 0; i < m; ++i) {
    if (i % kPoll == 0) ctx.checkpoint();
    const std::uint32_t root = parts.root_of(i);
    if (root == i) {
      out.slice_of[i] = static_cast<std::uint32_t>(first.size());
      first.push_back(0);
    } else {
      out.slice_of[i] = out.slice_of[root];
    }
    ++first[out.slice_of[i]];
  }
  std::uint32_t next = 0;
  for (std::uint32_t& one : first) next += std::exchange(one, next);
  first.push_back(next);
  BulkVector<std::uint32_t> listed(m), filled(first.size());
  for (std::size_t i = 0; i < m; ++i) {
    if (i % kPoll == 0) ctx.checkpoint();
    const std::uint32_t slice = out.slice_of[i];
    listed[first[slice] + filled[slice]++] = static_cast<std::uint32_t>(i);
  }
  out.slice.resize(first.size() - 1);
  ctx.begin_phase("Fitting slices", out.slice.size());
  parallel_for(ctx, out.slice.size(), 512, [&](std::size_t begin, std::size_t end) {
    for (std::size_t s = begin; s < end; ++s)
      out.slice[s] = measured(listed.view().subspan(first[s], first[s + 1] - first[s]), places, paths, ctx);
  });
  return out;
}

}  // namespace pc
