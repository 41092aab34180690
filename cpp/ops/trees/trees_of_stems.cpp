#include "ops/trees/trees_of_stems.h"

#include <cmath>
#include <map>

#include "core/error.h"
#include "core/memory.h"
#include "spatial/kd_tree.h"

namespace pc {

namespace {

constexpr std::size_t kPollEvery = 65'536;
constexpr float kLayerLow = 0.8F, kLayerHigh = 1.8F;  // metres above the ground
constexpr double kRoom = 0.1, kHalf = 0.3;            // metres across the axis and along it

/// The points of the layer that have a label.
struct Layer {
  BulkVector<Vec3d> place;
  BulkVector<std::uint32_t> label;

  Layer(Span<const Vec3d> xyz, Span<const float> heights, Span<const std::uint32_t> labels, OpContext& ctx) {
    for (std::size_t i = 0; i < xyz.size; ++i) {
      if (i % kPollEvery == 0) ctx.checkpoint();
      if (labels[i] == 0 || !(heights[i] >= kLayerLow && heights[i] <= kLayerHigh) || !is_finite(xyz[i]))
        continue;
      place.push_back(xyz[i]);
      label.push_back(labels[i]);
    }
  }
};

}  // namespace

std::vector<std::uint32_t> trees_of_stems(HitPoints points, Span<const float> heights,
                                          Span<const std::uint32_t> labels,
                                          const std::vector<DetectedStem>& stems, OpContext& ctx) {
  const auto xyz = points.xyz();
  require(heights.size == xyz.size && labels.size == xyz.size,
          "one height and one label per point are needed");
  const Layer layer(xyz, heights, labels, ctx);
  std::vector<std::uint32_t> trees(stems.size(), 0);
  if (layer.place.empty()) return trees;
  const KdTree tree(layer.place.view(), ctx);
  for (std::size_t k = 0; k < stems.size(); ++k) {
    ctx.checkpoint();
    const DetectedStem& stem = stems[k];
    const double reach = stem.circle.radius + kRoom;
    std::map<std::uint32_t, std::size_t> counts;
    tree.view().for_each_within(stem.position, reach * reach + kHalf * kHalf,
                                [&](std::uint64_t row, std::uint64_t, double squared) {
                                  const double along = dot(layer.place[row] - stem.position, stem.axis);
                                  const double across = squared - along * along;
                                  if (std::abs(along) <= kHalf && across <= reach * reach)
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
