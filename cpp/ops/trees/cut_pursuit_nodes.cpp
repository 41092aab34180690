#include "ops/trees/cut_pursuit_nodes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"
#include "core/radix_sort.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = 65536;
constexpr int kAxisBits = 21;
constexpr std::uint64_t kAxisCells = std::uint64_t{1} << kAxisBits;
constexpr double kFurthestCell = 1099511627776.0;  // 2^40

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

/// Cell 0 is centred at 0; cell -c is the mirror image of cell c.
std::int64_t cell_of(double value, double size) {
  const double cells = std::floor(std::fabs(value) / size + 0.5 + 1e-6);
  if (!(cells < kFurthestCell)) {
    throw Error(ErrorCode::kInvalidArgument, "voxels of " + number(size) + " m are too small for points " +
                                                 number(std::fabs(value)) +
                                                 " m from the centre; use larger voxels or crop the cloud");
  }
  const auto c = static_cast<std::int64_t>(cells);
  return value < 0 ? -c : c;
}

double cell_center(double value, double size) { return static_cast<double>(cell_of(value, size)) * size; }

std::uint64_t spread(std::uint64_t v) {  // two zero bits after each of 21 bits
  v = (v | v << 32) & 0x1f00000000ffffULL;
  v = (v | v << 16) & 0x1f0000ff0000ffULL;
  v = (v | v << 8) & 0x100f00f00f00f00fULL;
  v = (v | v << 4) & 0x10c30c30c30c30c3ULL;
  return (v | v << 2) & 0x1249249249249249ULL;
}

/// Numbers cells along one axis from 0: by difference from the lowest, or, where these numbers do not fit, by rank among
/// the occupied ones, which closes gaps such as the one before a far outlier.
class AxisNumbers {
 public:
  AxisNumbers(Span<const Vec3d> points, Span<const std::uint32_t> rows, double Vec3d::*axis, double size,
              OpContext& ctx)
      : axis_(axis), size_(size) {
    std::vector<std::array<std::int64_t, 2>> ranges(static_cast<std::size_t>(ctx.threads()),
                                                    {std::int64_t{1} << 60, -(std::int64_t{1} << 60)});
    parallel_for_worker(ctx, rows.size, kGrain, [&](std::size_t begin, std::size_t end, int worker) {
      auto range = ranges[static_cast<std::size_t>(worker)];
      for (std::size_t i = begin; i < end; ++i) {
        const std::int64_t cell = cell_of(points[rows[i]].*axis, size);
        range = {std::min(range[0], cell), std::max(range[1], cell)};
      }
      ranges[static_cast<std::size_t>(worker)] = range;
    });
    std::int64_t highest = -(std::int64_t{1} << 60);
    lowest_ = std::int64_t{1} << 60;
    for (const auto& range : ranges) {
      lowest_ = std::min(lowest_, range[0]);
      highest = std::max(highest, range[1]);
    }
    if (static_cast<std::uint64_t>(highest - lowest_) < kAxisCells) return;
    rank(points, rows, static_cast<std::uint64_t>(highest - lowest_), ctx);
  }

  std::uint64_t of(const Vec3d& point) const {
    const auto above = static_cast<std::uint64_t>(cell_of(point.*axis_, size_) - lowest_);
    if (occupied_.empty()) return above;
    return static_cast<std::uint64_t>(std::lower_bound(occupied_.begin(), occupied_.end(), above) -
                                      occupied_.begin());
  }

 private:
  void rank(Span<const Vec3d> points, Span<const std::uint32_t> rows, std::uint64_t range, OpContext& ctx) {
    BulkVector<std::uint64_t> cells(rows.size);
    BulkVector<std::uint32_t> unused(rows.size);
    parallel_for(ctx, rows.size, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        cells[i] = static_cast<std::uint64_t>(cell_of(points[rows[i]].*axis_, size_) - lowest_);
    });
    int bits = 1;
    while (bits < 63 && range >> bits != 0) ++bits;
    radix_sort_pairs(cells.view(), unused.view(), bits, ctx);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i % kGrain == 0) ctx.checkpoint();
      if (i == 0 || cells[i] != cells[i - 1]) occupied_.push_back(cells[i]);
    }
    if (occupied_.size() > kAxisCells) {
      throw Error(ErrorCode::kInvalidArgument, "more than 2097152 planes of voxels of " + number(size_) +
                                                   " m hold points; use larger voxels");
    }
  }

  double Vec3d::*axis_;
  double size_;
  std::int64_t lowest_ = 0;
  BulkVector<std::uint64_t> occupied_;  ///< ascending; empty = not ranked
};

BulkVector<std::uint32_t> finite_rows(Span<const Vec3d> points, OpContext& ctx) {
  if (points.size >= kNoNode) throw Error(ErrorCode::kInvalidArgument, "more than 4294967294 points");
  BulkVector<std::uint32_t> rows;
  rows.reserve(points.size);
  for (std::size_t i = 0; i < points.size; ++i) {
    if (i % kGrain == 0) ctx.checkpoint();
    if (is_finite(points[i])) rows.push_back(static_cast<std::uint32_t>(i));
  }
  return rows;
}

/// Morton numbers of the voxels of the rows.
BulkVector<std::uint64_t> voxel_keys(Span<const Vec3d> points, Span<const std::uint32_t> rows, double size,
                                     OpContext& ctx) {
  const AxisNumbers x(points, rows, &Vec3d::x, size, ctx), y(points, rows, &Vec3d::y, size, ctx),
      z(points, rows, &Vec3d::z, size, ctx);
  BulkVector<std::uint64_t> keys(rows.size);
  parallel_for(ctx, rows.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Vec3d& p = points[rows[i]];
      keys[i] = spread(x.of(p)) | spread(y.of(p)) << 1 | spread(z.of(p)) << 2;
    }
  });
  return keys;
}

}  // namespace

Vec3d box_center(Span<const Vec3d> points, OpContext& ctx) {
  std::vector<Box3d> boxes(static_cast<std::size_t>(ctx.threads()));
  parallel_for_worker(ctx, points.size, kGrain, [&](std::size_t begin, std::size_t end, int worker) {
    Box3d box = boxes[static_cast<std::size_t>(worker)];
    for (std::size_t i = begin; i < end; ++i) {
      if (is_finite(points[i])) box.add(points[i]);
    }
    boxes[static_cast<std::size_t>(worker)] = box;
  });
  Box3d all;
  for (const Box3d& box : boxes) all.add(box);
  if (all.empty()) return {0, 0, 0};
  return {all.min.x / 2 + all.max.x / 2, all.min.y / 2 + all.max.y / 2, all.min.z / 2 + all.max.z / 2};
}

Vec3d voxel_center(const Vec3d& point, double size) {
  return {cell_center(point.x, size), cell_center(point.y, size), cell_center(point.z, size)};
}

bool represents_better(const Vec3d& a, const Vec3d& b, const Vec3d& center) {
  const double to_a = squared_distance(a, center), to_b = squared_distance(b, center);
  if (to_a != to_b) return to_a < to_b;
  const double p[6] = {std::fabs(a.x), std::fabs(a.y), std::fabs(a.z), a.x, a.y, a.z};
  const double q[6] = {std::fabs(b.x), std::fabs(b.y), std::fabs(b.z), b.x, b.y, b.z};
  return std::lexicographical_compare(p, p + 6, q, q + 6);
}

VoxelNodes voxel_nodes(Span<const Vec3d> points, double size, OpContext& ctx) {
  BulkVector<std::uint32_t> rows = finite_rows(points, ctx);
  BulkVector<std::uint64_t> keys = voxel_keys(points, rows.view(), size, ctx);
  radix_sort_pairs(keys.view(), rows.view(), 3 * kAxisBits, ctx);
  VoxelNodes out;
  out.of_point.resize(points.size);
  for (std::size_t i = 0; i < points.size; ++i) {
    if (i % kGrain == 0) ctx.checkpoint();
    out.of_point[i] = kNoNode;
  }
  Vec3d center{};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i % kGrain == 0) ctx.checkpoint();
    const Vec3d& p = points[rows[i]];
    if (i == 0 || keys[i] != keys[i - 1]) {
      center = voxel_center(p, size);
      out.position.push_back(p);
    } else if (represents_better(p, out.position.back(), center)) {
      out.position.back() = p;
    }
    out.of_point[rows[i]] = static_cast<std::uint32_t>(out.position.size() - 1);
  }
  return out;
}

std::uint64_t voxel_count(Span<const Vec3d> points, double size, OpContext& ctx) {
  BulkVector<std::uint32_t> rows = finite_rows(points, ctx);
  BulkVector<std::uint64_t> keys = voxel_keys(points, rows.view(), size, ctx);
  radix_sort_pairs(keys.view(), rows.view(), 3 * kAxisBits, ctx);
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (i % kGrain == 0) ctx.checkpoint();
    count += i == 0 || keys[i] != keys[i - 1] ? 1 : 0;
  }
  return count;
}

}  // namespace pc
