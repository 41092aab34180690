#include "ops/qsm/axis_owners.h"

#include <algorithm>
#include <cmath>

#include "core/parallel.h"
#include "spatial/kd_tree.h"

namespace pc {

namespace {

constexpr double kSampleStep = 0.03;
constexpr double kMostSamples = 10'000;  // of one axis

}  // namespace

BulkVector<std::uint32_t> axis_owners(const std::vector<QsmCylinder>& cylinders, Span<const Vec3d> points,
                                      double reach_m, OpContext& ctx) {
  std::vector<Vec3d> sample;
  std::vector<std::uint32_t> owner;
  for (std::uint32_t i = 0; i < cylinders.size(); ++i) {
    const Vec3d edge = cylinders[i].end - cylinders[i].start;
    const double steps = std::clamp(std::ceil(cylinders[i].length_m() / kSampleStep), 1.0, kMostSamples);
    for (double k = 0; k < steps; ++k) {
      sample.push_back(cylinders[i].start + edge * ((k + 0.5) / steps));
      owner.push_back(i);
    }
  }
  const KdTree tree({sample.data(), sample.size()}, ctx);
  BulkVector<std::uint32_t> of_point(points.size);
  parallel_for(ctx, points.size, 4096, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      double squared;
      std::uint64_t row, slot;
      const bool found = tree.view().knn_within(points[i], 1, reach_m * reach_m, points.size + sample.size(),
                                                &squared, &row, &slot) > 0;
      of_point[i] = found ? owner[row] : kNoAxis;
    }
  });
  return of_point;
}

}  // namespace pc
