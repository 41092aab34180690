#include "ops/denoise/device_tree.cuh"
#include "ops/denoise/radius_outlier.cuh"
#include "ops/denoise/radius_outlier_kernel.h"

namespace pc::cuda {

namespace {

constexpr std::uint64_t kLeaves =
    8192;  // per launch; a ball of half a cloud of 10M visits 10,000 boxes per point

struct LabelPoint {
  KdTreeView tree;
  radius_outlier_kernel::Ball ball;
  std::uint8_t* labels;

  __device__ void operator()(std::uint32_t leaf, std::uint32_t lane, std::size_t) const {
    radius_outlier_kernel::label_point(tree.nodes[leaf], lane, ball, tree, labels);
  }
};

}  // namespace

GpuStatus radius_outlier(const radius_outlier_kernel::HostPass* host, const GpuControl* control,
                         GpuError* error) {
  return guarded(error, [&] {
    reserve_check(DeviceTree::bytes(host->tree) + host->row_count);
    const DeviceTree tree(host->tree, *control);
    // Rows that are not in the tree keep their labels.
    const DeviceBuffer<std::uint8_t> labels(host->labels, host->row_count, *control);
    for_each_lane(tree, kLeaves, *control, LabelPoint{tree.view(), host->ball, labels.data()});
    labels.download(host->labels, host->row_count, *control);
    control->advance(control->user, host->tree.leaf_count);
  });
}

}  // namespace pc::cuda
