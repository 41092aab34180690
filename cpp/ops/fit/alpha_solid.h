#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/error.h"
#include "core/memory.h"
#include "core/op_context.h"
#include "core/vec3.h"
#include "spatial/delaunay_tetrahedra.h"

namespace pc {

/// Radius of the circle through each face of the tetrahedra, four per slot.
BulkVector<float> face_radii(const DelaunayTetrahedra& cells, OpContext& ctx);

/// The part of the space that a ball does not enter, and what is known of it.
class AlphaSolid {
 public:
  AlphaSolid(const DelaunayTetrahedra& cells, const BulkVector<float>& radii, OpContext& ctx)
      : cells_(cells), radii_(radii), ctx_(ctx), mark_(cells.slots()) {}

  /// Finds the largest part for a radius.
  void carve(double alpha) {
    std::fill(mark_.begin(), mark_.end(), kUnseen);
    const auto passes = [&](std::size_t slot, std::size_t i) { return radii_[4 * slot + i] > alpha; };
    for (std::size_t slot = 0; slot < cells_.slots(); ++slot) {
      if (slot % kGrain == 0) ctx_.checkpoint();
      if (!cells_.is_finite_cell(slot) || mark_[slot] != kUnseen) continue;
      for (std::size_t i = 0; i < 4; ++i)
        if (!cells_.is_finite_cell(cells_.neighbor(slot, i)) && passes(slot, i))
          spread(slot, kOutside, passes);
    }
    double most = 0;
    std::uint32_t next = kFirstPart;
    chosen_ = kUnseen;
    for (std::size_t slot = 0; slot < cells_.slots(); ++slot) {
      if (slot % kGrain == 0) ctx_.checkpoint();
      if (!cells_.is_finite_cell(slot) || mark_[slot] != kUnseen) continue;
      const double volume = spread(slot, next, [](std::size_t, std::size_t) { return true; });
      if (volume > most) {
        most = volume;
        chosen_ = next;
      }
      ++next;
    }
  }

  bool empty() const { return chosen_ == kUnseen; }

  double volume_m3() const {
    return volume_if([](std::size_t) { return true; });
  }

  /// Of the cells that the ball could enter, were it inside.
  double hollow_m3(double alpha) const {
    return volume_if([&](std::size_t slot) {
      const float* face = &radii_[4 * slot];
      return std::max({face[0], face[1], face[2], face[3]}) > alpha;
    });
  }

  /// Non-zero for the vertices of the solid.
  BulkVector<std::uint8_t> held() const {
    BulkVector<std::uint8_t> held(cells_.vertices().size);
    for (std::size_t slot = 0; slot < cells_.slots(); ++slot) {
      if (slot % kGrain == 0) ctx_.checkpoint();
      if (mark_[slot] != chosen_) continue;
      for (const std::uint32_t corner : cells_.corners(slot)) held[corner] = 1;
    }
    return held;
  }

  /// Faces of its surface: four times the slot plus the number of the face.
  BulkVector<std::uint32_t> faces() const {
    BulkVector<std::uint32_t> faces;
    for (std::size_t slot = 0; slot < cells_.slots(); ++slot) {
      if (slot % kGrain == 0) ctx_.checkpoint();
      if (mark_[slot] != chosen_) continue;
      for (std::size_t i = 0; i < 4; ++i)
        if (mark_[cells_.neighbor(slot, i)] != chosen_)
          faces.push_back(static_cast<std::uint32_t>(4 * slot + i));
    }
    return faces;
  }

  /// Vertices of these faces, three each.
  BulkVector<std::uint32_t> triangles(const BulkVector<std::uint32_t>& faces) const {
    BulkVector<std::uint32_t> triangles;
    for (const std::uint32_t face : faces)
      for (const std::uint8_t k : DelaunayTetrahedra::kFace[face % 4])
        triangles.push_back(cells_.corners(face / 4)[k]);
    return triangles;
  }

  /// The face that meets a face at its edge from a to b across the solid, whichever other faces have this edge.
  std::uint32_t mate(std::uint32_t face, std::uint32_t a, std::uint32_t b) const {
    std::size_t slot = face / 4;
    std::uint32_t before = cells_.corners(slot)[face % 4], ahead = third(slot, a, b, before);
    for (;;) {
      const auto& corners = cells_.corners(slot);
      const auto opposite =
          static_cast<std::size_t>(std::find(corners.begin(), corners.end(), ahead) - corners.begin());
      const std::uint32_t behind = cells_.neighbor(slot, opposite);
      if (mark_[behind] != chosen_) return static_cast<std::uint32_t>(4 * slot + opposite);
      slot = behind;
      ahead = std::exchange(before, third(slot, a, b, before));
    }
  }

 private:
  static constexpr std::uint32_t kUnseen = 0, kOutside = 1, kFirstPart = 2;
  static constexpr std::size_t kGrain = std::size_t{1} << 14;
  template <class Wanted>
  double volume_if(const Wanted& wanted) const {
    double sum = 0;
    for (std::size_t slot = 0; slot < cells_.slots(); ++slot) {
      if (slot % kGrain == 0) ctx_.checkpoint();
      if (mark_[slot] == chosen_ && wanted(slot)) sum += volume_of(slot);
    }
    return sum;
  }
  /// Marks the unseen cells that can be reached; returns their volume.
  template <class Passes>
  double spread(std::size_t first, std::uint32_t mark, const Passes& passes) {
    double volume = 0;
    stack_.push_back(static_cast<std::uint32_t>(first));
    mark_[first] = mark;
    for (std::size_t seen = 0; !stack_.empty(); ++seen) {
      if (seen % kGrain == 0) ctx_.checkpoint();
      const std::uint32_t slot = stack_.back();
      stack_.resize(stack_.size() - 1);
      volume += volume_of(slot);
      for (std::size_t i = 0; i < 4; ++i) {
        const std::uint32_t behind = cells_.neighbor(slot, i);
        if (!cells_.is_finite_cell(behind) || mark_[behind] != kUnseen || !passes(slot, i)) continue;
        mark_[behind] = mark;
        stack_.push_back(behind);
      }
    }
    return volume;
  }
  /// The corner of a cell that is none of three others.
  std::uint32_t third(std::size_t slot, std::uint32_t a, std::uint32_t b, std::uint32_t c) const {
    for (const std::uint32_t corner : cells_.corners(slot))
      if (corner != a && corner != b && corner != c) return corner;
    throw Error(ErrorCode::kInternal, "a tetrahedron with two equal corners");
  }
  double volume_of(std::size_t slot) const {
    const Span<const Vec3d> at = cells_.vertices();
    const auto& c = cells_.corners(slot);
    const Vec3d a = at[c[0]] - at[c[3]], b = at[c[1]] - at[c[3]], d = at[c[2]] - at[c[3]];
    return (a.x * (b.y * d.z - b.z * d.y) + a.y * (b.z * d.x - b.x * d.z) + a.z * (b.x * d.y - b.y * d.x)) /
           6;
  }

  const DelaunayTetrahedra& cells_;
  const BulkVector<float>& radii_;
  OpContext& ctx_;
  BulkVector<std::uint32_t> mark_, stack_;
  std::uint32_t chosen_ = kUnseen;
};

/// Volume of the solid at twice the radius over that of one that was carved at alpha. Carves it anew.
double growth_of_doubled(AlphaSolid& solid, double alpha);

}  // namespace pc
