#include "ops/denoise/thin_share.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <vector>

#include "core/parallel.h"
#include "core/symmetric_eigen.h"

namespace pc {

namespace {

constexpr std::uint64_t kSample = 20'000;
constexpr std::uint32_t kMost = 64;
constexpr double kThin = 0.1;

/// A number that depends on nothing but the coordinates, evenly spread.
std::uint64_t hash_of(const Vec3d& p) {
  std::uint64_t mixed = 0;
  for (const double value : {p.x, p.y, p.z}) {
    mixed = (mixed ^ std::bit_cast<std::uint64_t>(value + 0.0)) * 0x9e3779b97f4a7c15ULL;  // -0 is 0
    mixed ^= mixed >> 32;
  }
  return mixed;
}

Vec3d position(const KdTree& tree, std::uint64_t slot) {
  const KdTreeView view = tree.view();
  const auto leaves = tree.leaves();
  const auto begins_after = [&](std::uint64_t at, std::uint32_t leaf) { return at < view.nodes[leaf].begin; };
  const auto* next = std::upper_bound(leaves.begin(), leaves.end(), slot, begins_after);
  const kd_tree::Node& node = view.nodes[*(next - 1)];
  return view.leaf(node).point(static_cast<std::uint32_t>(slot - node.begin));
}

bool is_thin(const Vec3d& p, const Vec3d* others, std::uint32_t count) {
  Vec3d sum{0, 0, 0};
  Symmetric3 m{0, 0, 0, 0, 0, 0};
  for (std::uint32_t i = 0; i < count; ++i) {
    const Vec3d d = others[i] - p;
    sum = sum + d;
    m = {m.xx + d.x * d.x, m.xy + d.x * d.y, m.xz + d.x * d.z,
         m.yy + d.y * d.y, m.yz + d.y * d.z, m.zz + d.z * d.z};
  }
  const Vec3d mean = sum * (1.0 / (count + 1));
  const SymmetricEigen3 eigen =
      symmetric_eigen(Symmetric3{m.xx - sum.x * mean.x, m.xy - sum.x * mean.y, m.xz - sum.x * mean.z,
                                 m.yy - sum.y * mean.y, m.yz - sum.y * mean.z, m.zz - sum.z * mean.z});
  return eigen.value[1] < kThin * eigen.value[2] && eigen.value[0] > kThin * eigen.value[1];
}

}  // namespace

double thin_share(const KdTree& tree, std::uint32_t k, OpContext& ctx) {
  const KdTreeView view = tree.view();
  const std::uint64_t every = tree.size() / kSample + 1;
  std::atomic<std::uint64_t> sampled{0}, thin{0};
  ctx.begin_phase("Measuring what the points lie on", tree.leaves().size);
  parallel_for(ctx, tree.leaves().size, 16, [&](std::size_t begin, std::size_t end) {
    std::array<double, kMost> squared;
    std::array<std::uint64_t, kMost> row, slot;
    std::array<Vec3d, kMost> others;
    std::uint64_t seen = 0, found = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const kd_tree::Node& node = view.nodes[tree.leaves()[i]];
      const kd_tree::Leaf leaf = view.leaf(node);
      const bool one_place = node.min == node.max;  // each search would visit all points of the place
      for (std::uint32_t j = 0; j < leaf.count; ++j) {
        const Vec3d p = leaf.point(j);
        if (hash_of(p) % every != 0) continue;
        if (one_place) {
          ++seen;
          continue;
        }
        const std::uint32_t near = view.knn(p, kMost, leaf.row[j], squared.data(), row.data(), slot.data());
        std::uint32_t count = 0;
        for (std::uint32_t n = 0; n < near && count < k; ++n) {
          others[count] = position(tree, slot[n]);
          if (others[count] != p && (count == 0 || others[count] != others[count - 1])) ++count;
        }
        ++seen;
        found += is_thin(p, others.data(), count) ? 1 : 0;
      }
    }
    sampled += seen;
    thin += found;
  });
  return sampled > 0 ? static_cast<double>(thin) / static_cast<double>(sampled) : 0;
}

}  // namespace pc
