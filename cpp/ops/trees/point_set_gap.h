#pragma once
#include <cstdint>
#include <vector>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// The least distances between sets of points.
///
/// points   (n) metres, finite, in an order in which neighbours are close (Morton): boxes of consecutive points are
///          small
/// set      (n) 0 .. sets - 1
/// Cost     96 bytes per point; a pair of sets close to O(log) for sets apart, at worst the product of their sizes.
/// Order    A function of the input.
class PointSetGaps {
 public:
  PointSetGaps(Span<const Vec3d> points, Span<const std::uint32_t> set, std::uint32_t sets, OpContext& ctx);

  /// Squared distance of the closest points of two sets; `limit` if none are closer than that.
  double squared_gap(std::uint32_t a, std::uint32_t b, double limit) const;
  /// The same between a set and a point.
  double squared_gap(std::uint32_t a, const Vec3d& point, double limit) const;

 private:
  struct Node {
    Vec3d min, max;
    std::uint32_t begin, end;
    std::uint32_t second;  ///< second child; the first one follows its parent; 0 = leaf
  };
  Box3d build(std::uint32_t begin, std::uint32_t end);
  void narrow(std::uint32_t a, std::uint32_t b, double& least) const;

  BulkVector<Vec3d> points_;
  BulkVector<Node> nodes_;
  std::vector<std::uint32_t> root_;  ///< of each set; kEmpty = no points
};

}  // namespace pc
