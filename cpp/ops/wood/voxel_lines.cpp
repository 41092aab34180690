#include "ops/wood/voxel_lines.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "core/vec3.h"
#include "spatial/all_knn.h"
#include "spatial/kd_tree.h"

namespace pc {

namespace {

constexpr std::array<std::uint32_t, 2> kNeighbors{16, 48};
constexpr double kNearest = 0.4, kTube = 0.16;
constexpr int kEighths = 8;

/// Neighbours relative to their voxel, nearest first.
struct Surroundings {
  std::array<Vec3d, kNeighbors.back()> d;
  std::array<double, kNeighbors.back()> squared;
  std::size_t count = 0;
};

struct Line {
  int eighths = 0;
  std::size_t voxels = 0;
  unsigned filled = 0;
  double scatter = 0;  ///< sum of squared distances from the line
  double z = 0;
};

Line line_along(const Vec3d& way, const Surroundings& all, std::size_t count, double size) {
  Line line;
  line.z = std::abs(way.z);
  const double most = kTube * kTube * size * size;
  for (std::size_t j = 0; j < count; ++j) {
    const double along = dot(all.d[j], way);
    const double off = all.squared[j] - along * along;
    if (off > most) continue;
    const int eighth = std::clamp(static_cast<int>((along / size + 1) / 2 * kEighths), 0, kEighths - 1);
    line.filled |= 1U << static_cast<unsigned>(eighth);
    line.scatter += std::max(0.0, off);
    ++line.voxels;
  }
  for (unsigned left = line.filled; left != 0; left &= left - 1) ++line.eighths;
  return line;
}

Line best_line(const Surroundings& all, std::size_t count, double size) {
  Line best;
  for (std::size_t j = 0; j < count; ++j) {
    const double distance = std::sqrt(all.squared[j]);
    if (distance < kNearest * size) continue;
    const Line line = line_along(all.d[j] * (1 / distance), all, count, size);
    const bool is_better =
        line.eighths > best.eighths || (line.eighths == best.eighths && line.voxels > best.voxels);
    if (is_better) best = line;
  }
  return best;
}

int longest_run(unsigned filled) {
  int longest = 0;
  for (int run = 0, k = 0; k < kEighths; ++k) {
    run = (filled >> static_cast<unsigned>(k) & 1U) != 0 ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

int bits(unsigned filled) {
  int count = 0;
  for (; filled != 0; filled &= filled - 1) ++count;
  return count;
}

void write_line(const Surroundings& all, std::size_t count, float* out) {
  const double size = count > 0 ? std::sqrt(all.squared[count - 1]) : 0;
  if (!(size > 0) || !std::isfinite(size)) return;
  const Line line = best_line(all, count, size);
  const auto set = [&](int column, double value) { out[column] = static_cast<float>(value); };
  set(0, static_cast<double>(line.eighths) / kEighths);
  set(1, 2.0 * std::min(bits(line.filled & 0xFU), bits(line.filled >> 4U)) / kEighths);
  set(2, static_cast<double>(longest_run(line.filled)) / kEighths);
  const double voxels = static_cast<double>(std::max<std::size_t>(1, line.voxels));
  set(3, static_cast<double>(line.voxels) / static_cast<double>(count));
  set(4, std::sqrt(line.scatter / voxels) / (kTube * size));
  set(5, line.z);
}

}  // namespace

BulkVector<float> voxel_lines(const VoxelCloud& cloud, OpContext& ctx) {
  const auto places = cloud.nodes.place.view();
  BulkVector<float> out(places.size * kLineColumns);
  if (places.empty()) return out;
  const KdTree tree(places, ctx);
  const KdTreeView view = tree.view();
  ctx.begin_phase("Measuring lines", tree.leaf_blocks(all_knn_block(kNeighbors.back())).size() - 1);
  all_knn(tree, kNeighbors.back(), ctx, [&](std::uint32_t number, const LeafKnn& found) {
    const kd_tree::Leaf leaf = view.leaf(view.nodes[number]);
    Surroundings all;
    for (std::uint32_t i = 0; i < leaf.count; ++i) {
      const auto rows = found.rows(i);
      const auto squared = found.squared(i);
      all.count = std::min<std::size_t>(rows.size, kNeighbors.back());
      for (std::size_t j = 0; j < all.count; ++j) {
        all.d[j] = places[rows[j]] - leaf.point(i);
        all.squared[j] = squared[j];
      }
      float* to = out.data() + leaf.row[i] * kLineColumns;
      for (const std::uint32_t count : kNeighbors) {
        write_line(all, std::min<std::size_t>(all.count, count), to);
        to += kLineWidth;
      }
      *to = static_cast<float>(std::log2(static_cast<double>(cloud.nodes.points[leaf.row[i]])));
    }
  });
  return out;
}

}  // namespace pc
