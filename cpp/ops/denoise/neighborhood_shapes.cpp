#include "ops/denoise/neighborhood_shapes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <vector>

#include "core/parallel.h"
#include "core/position_hash.h"
#include "core/symmetric_eigen.h"

namespace pc {

namespace {

constexpr std::uint64_t kSample = 20'000;
constexpr std::uint32_t kMost = 64;
constexpr std::uint32_t kSpare = 4;  // neighbours beyond k, searched at first: few points share their place
constexpr double kThin = 0.1;
constexpr std::size_t kFewest = 100;  // surfaces that tell how evenly they are sampled

Vec3d position(const KdTree& tree, std::uint64_t slot) {
  const KdTreeView view = tree.view();
  const auto leaves = tree.leaves();
  const auto begins_after = [&](std::uint64_t at, std::uint32_t leaf) { return at < view.nodes[leaf].begin; };
  const auto* next = std::upper_bound(leaves.begin(), leaves.end(), slot, begins_after);
  const kd_tree::Node& node = view.nodes[*(next - 1)];
  return view.leaf(node).point(static_cast<std::uint32_t>(slot - node.begin));
}

/// What a point and some others lie on.
struct Shape {
  bool thin, surface;
};

Shape shape_of(const Vec3d& p, const Vec3d* others, std::uint32_t count) {
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
  const bool wide = eigen.value[1] > kThin * eigen.value[2], thick = eigen.value[0] > kThin * eigen.value[1];
  const bool line = eigen.value[1] < kThin * eigen.value[2], flat = eigen.value[0] < kThin * eigen.value[1];
  return {line && thick, wide && flat};
}

/// Shapes of the sampled points of some leaves.
class Sampler {
 public:
  Sampler(const KdTree& tree, std::uint32_t k) : tree_(tree), view_(tree.view()), k_(k) {}

  /// Adds a point of a leaf.
  void add(const kd_tree::Leaf& leaf, std::uint32_t j) {
    ++seen;
    const Vec3d p = leaf.point(j);
    const std::uint32_t count = find_others(p, leaf.row[j]);
    const Shape shape = shape_of(p, others_.data(), count);
    thin += shape.thin ? 1 : 0;
    if (shape.surface && count == k_) balls.push_back(squared_distance(p, others_[count - 1]));
  }

  std::uint64_t seen = 0, thin = 0;
  std::vector<double> balls;  ///< squared, on surfaces

 private:
  /// Finds the k nearest others at different positions, of the nearest kMost; returns how many there are.
  std::uint32_t find_others(const Vec3d& p, std::uint64_t own) {
    for (std::uint32_t wanted = std::min(k_ + kSpare, kMost);; wanted = kMost) {
      const std::uint32_t near = view_.knn(p, wanted, own, squared_.data(), row_.data(), slot_.data());
      std::uint32_t count = 0;
      for (std::uint32_t n = 0; n < near && count < k_; ++n) {
        others_[count] = position(tree_, slot_[n]);
        if (others_[count] != p && (count == 0 || others_[count] != others_[count - 1])) ++count;
      }
      if (count == k_ || near < wanted || wanted == kMost) return count;
    }
  }

  const KdTree& tree_;
  KdTreeView view_;
  std::uint32_t k_;
  std::array<double, kMost> squared_;
  std::array<std::uint64_t, kMost> row_, slot_;
  std::array<Vec3d, kMost> others_;
};

NeighborhoodShapes shapes_of(const Sampler& all) {
  NeighborhoodShapes shapes{0, HUGE_VAL, HUGE_VAL};
  if (all.seen > 0) shapes.thin_share = static_cast<double>(all.thin) / static_cast<double>(all.seen);
  if (all.balls.size() < kFewest) return shapes;
  std::vector<double> balls = all.balls;
  std::sort(balls.begin(), balls.end());
  const auto quantile = [&](std::size_t twentieths) {
    return std::sqrt(balls[(balls.size() - 1) * twentieths / 20]);
  };
  shapes.surface_spread = quantile(15) / quantile(5);
  shapes.surface_ball_m = quantile(19);
  return shapes;
}

}  // namespace

NeighborhoodShapes neighborhood_shapes(const KdTree& tree, std::uint32_t k, OpContext& ctx) {
  const KdTreeView view = tree.view();
  const std::uint64_t every = tree.size() / kSample + 1;
  Sampler all(tree, k);
  std::mutex mutex;
  ctx.begin_phase("Measuring what the points lie on", tree.leaves().size);
  parallel_for(ctx, tree.leaves().size, 16, [&](std::size_t begin, std::size_t end) {
    Sampler some(tree, k);
    for (std::size_t i = begin; i < end; ++i) {
      const kd_tree::Node& node = view.nodes[tree.leaves()[i]];
      const kd_tree::Leaf leaf = view.leaf(node);
      const bool one_place = node.min == node.max;  // each search would visit all points of the place
      for (std::uint32_t j = 0; j < leaf.count; ++j) {
        if (position_hash(leaf.point(j)) % every != 0) continue;
        if (one_place) {
          ++some.seen;
        } else {
          some.add(leaf, j);
        }
      }
    }
    if (some.seen == 0) return;
    const std::lock_guard<std::mutex> lock(mutex);
    all.seen += some.seen;
    all.thin += some.thin;
    all.balls.insert(all.balls.end(), some.balls.begin(), some.balls.end());
  });
  return shapes_of(all);
}

}  // namespace pc
