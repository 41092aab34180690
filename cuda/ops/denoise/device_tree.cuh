#pragma once
#include <algorithm>
#include <cstdint>

#include "core/device_buffer.cuh"
#include "core/launch.cuh"
#include "spatial/kd_tree_view.h"

namespace pc::cuda {

/// A KdTree in device memory.
class DeviceTree {
 public:
  DeviceTree(const HostKdTree& host, const GpuControl& control)
      : nodes_(host.tree.nodes, host.node_count, control),
        items_(host.tree.items, host.tree.size, control),
        leaves_(host.leaves, host.leaf_count, control) {}

  static std::uint64_t bytes(const HostKdTree& host) {
    return host.node_count * sizeof(kd_tree::Node) + host.tree.size * sizeof(kd_tree::Item) +
           host.leaf_count * sizeof(std::uint32_t);
  }
  KdTreeView view() const { return {nodes_.data(), items_.data(), items_.size()}; }
  const std::uint32_t* leaves() const { return leaves_.data(); }
  std::uint64_t leaf_count() const { return leaves_.size(); }

 private:
  DeviceBuffer<kd_tree::Node> nodes_;
  DeviceBuffer<kd_tree::Item> items_;
  DeviceBuffer<std::uint32_t> leaves_;
};

/// Calls function(leaf node, lane, thread) on the device for every lane of every leaf, one warp per leaf and `leaves`
/// leaves per launch; thread < leaves * kLeafPoints. A cancel is checked between launches.
template <class Function>
void for_each_lane(const DeviceTree& tree, std::uint64_t leaves, const GpuControl& control,
                   Function function) {
  static_assert(kd_tree::kLeafPoints == 32, "a warp a leaf");
  for (std::uint64_t begin = 0; begin < tree.leaf_count(); begin += leaves) {
    poll(control);
    const std::uint64_t count = std::min(leaves, tree.leaf_count() - begin);
    const std::uint32_t* const numbers = tree.leaves() + begin;
    for_each_index(count * kd_tree::kLeafPoints, [numbers, function] __device__(std::size_t i) {
      function(numbers[i / kd_tree::kLeafPoints], static_cast<std::uint32_t>(i % kd_tree::kLeafPoints), i);
    });
  }
}

}  // namespace pc::cuda
