#include "ops/trees/trees_of_stems.h"

#include <cmath>
#include <map>

#include "core/error.h"
#include "core/memory.h"
#include "spatial/kd_tree.h"

namespace pc {

namespace {

constexpr std::size_t kPollEvery = 65'536;
constexpr double kRoom = 0.1;  // metres across the axis

/// Where points have to be, metres.
struct Reach {
  double low_m, high_m;  ///< above the ground
  double down_m;         ///< along the axis, from the place of a stem (1.3 m above the ground) to the middle
  double half_m;         ///< along the axis, from there

  explicit Reach(const TrunkLayer& layer) : low_m(0.8), high_m(1.8), down_m(0), half_m(0.3) {
    constexpr double kBreastHeight = 1.3;
    if (!layer.is_of_low_trees()) return;
    low_m = layer.min_m;
    high_m = layer.max_m;
    down_m = kBreastHeight - (low_m + high_m) / 2;
    half_m = (high_m - low_m) / 2;
  }
};

/// The points of the layer that have a label.
struct Layer {
  BulkVector<Vec3d> place;
  BulkVector<std::uint32_t> label;

  Layer(Span<const Vec3d> xyz, Span<const float> heights, Span<const std::uint32_t> labels,
        const Reach& reach, OpContext& ctx) {
    for (std::size_t i = 0; i < xyz.size; ++i) {
      if (i % kPollEvery == 0) ctx.checkpoint();
      const auto height = static_cast<double>(heights[i]);
      if (labels[i] == 0 || !(height >= reach.low_m && height <= reach.high_m) || !is_finite(xyz[i]))
        continue;
      place.push_back(xyz[i]);
      label.push_back(labels[i]);
    }
  }
};

}  // namespace

std::vector<std::uint32_t> trees_of_stems(HitPoints points, Span<const float> heights,
                                          Span<const std::uint32_t> labels,
                                          const std::vector<DetectedStem>& stems, const TrunkLayer& trunks,
                                          OpContext& ctx) {
  const auto xyz = points.xyz();
  require(heights.size == xyz.size && labels.size == xyz.size,
          "one height and one label per point are needed");
  const Reach reach(trunks);
  const Layer layer(xyz, heights, labels, reach, ctx);
  std::vector<std::uint32_t> trees(stems.size(), 0);
  if (layer.place.empty()) return trees;
  const KdTree tree(layer.place.view(), ctx);
  for (std::size_t k = 0; k < stems.size(); ++k) {
    ctx.checkpoint();
    const DetectedStem& stem = stems[k];
    const double across_m = stem.circle.radius + kRoom;
    const Vec3d middle = stem.position - stem.axis * (reach.down_m / stem.axis.z);
    std::map<std::uint32_t, std::size_t> counts;
    tree.view().for_each_within(middle, across_m * across_m + reach.half_m * reach.half_m,
                                [&](std::uint64_t row, std::uint64_t, double squared) {
                                  const double along = dot(layer.place[row] - middle, stem.axis);
                                  const double across = squared - along * along;
                                  if (std::abs(along) <= reach.half_m && across <= across_m * across_m)
                                    ++counts[layer.label[row]];
                                });
    std::size_t most = 0;
    for (const auto& [label, count] : counts) {
      if (count <= most) continue;
      most = count;
      trees[k] = label;
    }
  }
  return trees;
}

}  // namespace pc
