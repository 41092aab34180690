#pragma once
#include <cstdint>
#include <vector>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "spatial/bvh.h"

namespace pc {

/// Triangle meshes that were parts of a common one, each with the vertices that it uses and no others: the work on a part
/// does not depend on the size of the whole.
class PrototypeMeshes {
 public:
  /// Adds a part. `triangles` (3 T) vertices of its triangles, all below vertices.size. O(T log T). Cancel within 250 ms.
  void add(Span<const Vec3d> vertices, Span<const std::uint32_t> triangles, OpContext& ctx);
  /// The parts in their order; valid until the next call of add.
  std::vector<TriangleMesh> meshes() const;

 private:
  /// The vertices of a part in order into `used_`, each once.
  void collect(Span<const std::uint32_t> triangles, OpContext& ctx);

  std::vector<Vec3d> vertices_;
  std::vector<std::uint32_t> indices_;
  std::vector<std::size_t> first_vertex_{0}, first_index_{0};
  std::vector<std::uint32_t> used_;
};

}  // namespace pc
