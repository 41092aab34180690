#pragma once
#include <cstddef>
#include <cstdint>

#include "core/host_device.h"
#include "core/vec3.h"
#include "spatial/bvh_view.h"

namespace pc {

namespace instances {

/// A prototype in its place. Prototypes are relative to the origins of their trees, places to that of the view.
struct Placed {
  double matrix[3][3];   ///< to the place: matrix * p + shift
  double inverse[3][3];  ///< of matrix
  Vec3d shift;
  double error;  ///< of coordinates taken to the prototype, per metre of their distance and size in place
  double size;   ///< no corner is farther from shift, per axis
  double least_squared;  ///< lengths grow by the root of that at least, less 1e-6 of it
  bool similar;          ///< the same factor in all directions
  std::uint32_t prototype;

  PC_HD static Vec3d times(const double (&m)[3][3], const Vec3d& p) {
    return {m[0][0] * p.x + m[0][1] * p.y + m[0][2] * p.z, m[1][0] * p.x + m[1][1] * p.y + m[1][2] * p.z,
            m[2][0] * p.x + m[2][1] * p.y + m[2][2] * p.z};
  }
  PC_HD Vec3d place(const Vec3d& p) const { return times(matrix, p) + shift; }
  PC_HD bvh::Triangle place(const bvh::Triangle& triangle) const {
    return {place(triangle.a), place(triangle.b), place(triangle.c), triangle.index, 0};
  }
};

}  // namespace instances

/// What a search needs of an InstancedBvh, on host and device. Refers to its memory.
struct InstancedBvhView {
  BvhView top;  ///< its triangles stand for instances: `index` is the instance
  const BvhView* prototypes;
  const instances::Placed* placed;  ///< one per instance
  std::size_t count;                ///< of instances

  /// The origin that coordinates of a search are relative to.
  PC_HD const Vec3d& origin() const { return top.origin; }
};

struct InstanceHit {
  double t;     ///< in units of the direction's length
  double u, v;  ///< weights of the triangle's second and third corner
  std::uint32_t
      instance;  ///< the lowest (instance, triangle) if several are hit at the same t; bvh::kNone = miss
  std::uint32_t triangle;  ///< of the prototype
};

struct ClosestInstance {
  double squared;          ///< squared distance, square metres; infinite without instances
  std::uint32_t instance;  ///< the lowest (instance, triangle) if several are equally close
  std::uint32_t triangle;  ///< of the prototype
};

}  // namespace pc
