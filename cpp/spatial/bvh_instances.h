#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "spatial/bvh.h"
#include "spatial/instance_view.h"

namespace pc {

/// A prototype's place: p -> matrix * p + offset, metres.
struct AffineTransform {
  double matrix[3][3];
  Vec3d offset;
};

struct Instance {
  std::uint32_t prototype;
  AffineTransform to_world;  ///< turned, moved, scaled per axis, mirrored or sheared
};

/// A bounding volume hierarchy over meshes that are placed many times: one tree per prototype, and one over the places.
/// Searches are those of BvhQueries.
///
/// prototypes  Needed during construction alone; each has a triangle.
/// Order    A function of the input, for any thread count. What decides is computed in double precision from the corners
///          matrix * corner + offset, relative to the middle of all instances: a hit is that of a mesh of all triangles in
///          place, up to the rounding of those coordinates.
/// Cost     That of a Bvh per prototype; about 700 bytes per instance.
/// Cancel   Within 50 ms.
/// Errors   kInvalidArgument: those of Bvh; a prototype without triangles; an instance of a prototype that does not exist; a
///          transform that is not finite, takes a corner beyond 1e15 m, is singular, or whose condition number (Frobenius norm) exceeds 1e4.
///          The message names the first offender.
class InstancedBvh {
 public:
  InstancedBvh(Span<const TriangleMesh> prototypes, Span<const Instance> instances, OpContext& ctx);

  InstancedBvhView view() const { return {top_.view(), trees_.data(), placed_.data(), placed_.size()}; }
  const Bvh& top() const { return top_; }
  const std::vector<Bvh>& prototypes() const { return prototypes_; }
  /// Bytes that it holds.
  std::uint64_t bytes() const;

 private:
  Bvh top_;
  std::vector<Bvh> prototypes_;
  std::vector<BvhView> trees_;
  BulkVector<instances::Placed> placed_;
};

}  // namespace pc
