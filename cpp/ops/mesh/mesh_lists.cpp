#include "ops/mesh/mesh_lists.h"

#include <cmath>
#include <cstring>
#include <string>

#include "core/parallel.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 18;

void check_triples(const char* name, std::size_t length) {
  if (length % 3 == 0) return;
  throw Error(ErrorCode::kInvalidArgument,
              std::string(name) + " has " + std::to_string(length) + " numbers, not a multiple of 3");
}

Column<Vec3d> triples(Span<const double> values, OpContext& ctx) {
  static_assert(sizeof(Vec3d) == 3 * sizeof(double));
  Column<Vec3d> out(values.size / 3);
  parallel_for(ctx, out.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    std::memcpy(static_cast<void*>(&out[begin]), &values[3 * begin], (end - begin) * sizeof(Vec3d));
  });
  return out;
}

}  // namespace

MeshColumns mesh_of_lists(Span<const double> vertices, Span<const double> indices, OpContext& ctx) {
  check_triples("mesh_vertices", vertices.size);
  check_triples("mesh_indices", indices.size);
  MeshColumns mesh{triples(vertices, ctx), Column<std::uint32_t>(indices.size)};
  const double end = static_cast<double>(mesh.vertices.size());
  // What is no index becomes one that is too high; the loop below finds the first.
  constexpr std::uint32_t kNoIndex = ~std::uint32_t{0};
  parallel_for(ctx, indices.size, kGrain, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const double index = indices[i];
      const bool whole = index >= 0 && index < end && index < kNoIndex && index == std::floor(index);
      mesh.indices[i] = whole ? static_cast<std::uint32_t>(index) : kNoIndex;
    }
  });
  for (std::size_t i = 0; i < indices.size; ++i) {
    if (i % kGrain == 0) ctx.checkpoint();
    if (mesh.indices[i] != kNoIndex) continue;
    std::string text = std::to_string(indices[i]);
    if (indices[i] == std::floor(indices[i])) text = text.substr(0, text.find('.'));
    throw Error(ErrorCode::kInvalidArgument, "mesh_indices[" + std::to_string(i) + "] is " + text +
                                                 ", not the number of one of the " +
                                                 std::to_string(mesh.vertices.size()) + " vertices");
  }
  check_mesh(mesh.view(), ctx);
  return mesh;
}

Column<Vec3d> points_of_list(Span<const double> coordinates, OpContext& ctx) {
  check_triples("points", coordinates.size);
  return triples(coordinates, ctx);
}

}  // namespace pc
