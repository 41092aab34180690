#include <algorithm>

#include "ops/denoise/device_tree.cuh"
#include "ops/denoise/statistical_outlier.cuh"
#include "ops/denoise/statistical_outlier_kernel.h"

namespace pc::cuda {

namespace {

constexpr std::uint64_t kMostLeaves = 2048;                    // per launch
constexpr std::uint64_t kListBytes = std::uint64_t{64} << 20;  // neighbour lists of a launch

struct MeasurePoint {
  KdTreeView tree;
  std::uint32_t k;
  double* lists;
  std::uint64_t threads;
  double* means;

  __device__ void operator()(std::uint32_t leaf, std::uint32_t lane, std::size_t thread) const {
    statistical_outlier_kernel::measure_point(tree.nodes[leaf], lane, k, tree, lists + thread, threads,
                                              means);
  }
};

}  // namespace

GpuStatus mean_distances(const statistical_outlier_kernel::HostPass* host, const GpuControl* control,
                         GpuError* error) {
  return guarded(error, [&] {
    const std::uint64_t per_leaf = kd_tree::kLeafPoints * host->k * sizeof(double);
    const std::uint64_t leaves = std::clamp<std::uint64_t>(kListBytes / per_leaf, 1, kMostLeaves);
    const std::uint64_t threads = leaves * kd_tree::kLeafPoints;
    reserve_check(DeviceTree::bytes(host->tree) + leaves * per_leaf + host->row_count * sizeof(double));
    const DeviceTree tree(host->tree, *control);
    const DeviceBuffer<double> means(host->means, host->row_count, *control);
    const DeviceBuffer<double> lists(threads * host->k);
    for_each_lane(tree, leaves, *control,
                  MeasurePoint{tree.view(), host->k, lists.data(), threads, means.data()});
    means.download(host->means, host->row_count, *control);
    control->advance(control->user, host->tree.leaf_count);
  });
}

}  // namespace pc::cuda
