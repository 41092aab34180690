#pragma once
#include <cstdint>
#include <vector>

#include "core/vec3.h"

namespace pc::poisson_detail {

/// The outline of the surface on the boundary of one leaf, and its triangles.
class LeafLoops {
 public:
  void clear() { segments_.clear(); }
  /// A segment on face `face` (0..5) of the leaf.
  void add(std::uint32_t from, std::uint32_t to, std::uint32_t face) {
    segments_.push_back({from, to, 1U << face});
  }
  /// Appends the triangles of all loops. Middles of loops are appended to `middles` and numbered from `first_middle`.
  void triangulate(const Vec3d* vertices, std::uint32_t first_middle, std::vector<Vec3d>& middles,
                   std::vector<std::uint32_t>& triangles);

 private:
  struct Segment {
    std::uint32_t from, to, faces;
  };
  void follow(std::size_t first);
  void cut(const Vec3d* vertices, std::uint32_t first_middle, std::vector<Vec3d>& middles,
           std::vector<std::uint32_t>& triangles);
  bool cut_by_diagonals(const Vec3d* vertices, std::vector<std::uint32_t>& triangles);
  void append(std::size_t i, std::size_t j, std::vector<std::uint32_t>& triangles) const;

  std::vector<Segment> segments_;
  std::vector<std::uint32_t> loop_,
      faces_;                          ///< vertices of the loop, and the leaf's faces on which each lies
  std::vector<double> least_;          ///< area of the best triangles between corners i and j
  std::vector<std::uint8_t> through_;  ///< their third corner at the side of i and j
};

}  // namespace pc::poisson_detail
