#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "mesh_bench.h"

namespace pc::bench {

/// Embree's tree over a mesh, robust mode, one thread.
class EmbreeScene {
 public:
  virtual ~EmbreeScene() = default;
  /// Reached distances of single rays.
  virtual void single(const Ray* rays, std::size_t count, float* reached) const = 0;
  /// The same in packets of 16; count is a multiple of 16.
  virtual void packets(const Ray* rays, std::size_t count, bool coherent, float* reached) const = 0;
};

/// `isa` limits the instructions ("avx2"; empty = all that the processor has). nullptr without Embree.
std::unique_ptr<EmbreeScene> embree_scene(const BenchMesh& mesh, const std::string& isa);

}  // namespace pc::bench
