#pragma once
#include <cstdint>
#include <vector>

#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "ops/trees/cut_pursuit_flow.h"

namespace pc {

/// Sum of values and of their squared distance to the mean, for sets of nodes.
struct ValueSum {
  double count = 0;
  Vec3d sum{0, 0, 0};

  void add(const Vec3d& v, double weight = 1) {
    count += weight;
    sum = sum + v * weight;
  }
  Vec3d mean() const { return {sum.x / count, sum.y / count, sum.z / count}; }
};

/// Divides one segment by the steepest binary cut. Each worker thread has its own.
class SegmentSplit {
 public:
  SegmentSplit(CutState& state, Span<const Vec3d> value, Span<const double> weight, OpContext& ctx)
      : graph_(state.graph()), state_(state), value_(value), weight_(weight), ctx_(ctx), cut_(state, ctx) {}

  /// Writes the number of its piece to `piece` for each of the segment's `nodes` (ascending). Returns the number of
  /// pieces: connected parts of either side, or 1 if no cut lowers the energy.
  std::uint32_t split(Span<const std::uint32_t> nodes, Span<const std::uint32_t> component,
                      Span<std::uint32_t> piece);

 private:
  bool start_at_two_means(Span<const std::uint32_t> nodes);
  bool improve(Span<const std::uint32_t> nodes, Span<const std::uint32_t> component);
  std::uint32_t connected_pieces(Span<const std::uint32_t> nodes, Span<const std::uint32_t> component,
                                 Span<std::uint32_t> piece);
  double gain(Span<const std::uint32_t> nodes, Span<const std::uint32_t> component,
              Span<const std::uint32_t> piece, std::uint32_t count);
  /// Means of the two sides; false if one is empty.
  bool side_means(Span<const std::uint32_t> nodes);

  const CutGraph& graph_;
  CutState& state_;
  Span<const Vec3d> value_;
  Span<const double> weight_;
  OpContext& ctx_;
  MinimumCut cut_;
  Vec3d mean_[2]{};
  std::vector<std::uint8_t> side_;  ///< of each node of the segment
  std::vector<double> cost_;
  std::vector<std::uint32_t> queue_;
  std::vector<ValueSum> sums_;
};

}  // namespace pc
