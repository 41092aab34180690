#include "ops/ray/prototype_meshes.h"

#include <algorithm>

namespace pc {

namespace {
constexpr std::size_t kPoll = 65536;
}

void PrototypeMeshes::collect(Span<const std::uint32_t> triangles) {
  used_.assign(triangles.begin(), triangles.end());
  // Meshes are mostly written vertex by vertex, so that much is in order already.
  if (!std::is_sorted(used_.begin(), used_.end())) std::sort(used_.begin(), used_.end());
  used_.erase(std::unique(used_.begin(), used_.end()), used_.end());
}

void PrototypeMeshes::add(Span<const Vec3d> vertices, Span<const std::uint32_t> triangles, OpContext& ctx) {
  ctx.checkpoint();
  collect(triangles);
  for (const std::uint32_t v : used_) vertices_.push_back(vertices[v]);
  const bool is_range = !used_.empty() && used_.back() - used_.front() + std::size_t{1} == used_.size();
  for (std::size_t i = 0; i < triangles.size; ++i) {
    if (i % kPoll == 0) ctx.checkpoint();
    const std::uint32_t v = triangles[i];
    const auto at =
        is_range ? used_.begin() + (v - used_.front()) : std::lower_bound(used_.begin(), used_.end(), v);
    indices_.push_back(static_cast<std::uint32_t>(at - used_.begin()));
  }
  first_vertex_.push_back(vertices_.size());
  first_index_.push_back(indices_.size());
}

std::vector<TriangleMesh> PrototypeMeshes::meshes() const {
  std::vector<TriangleMesh> out;
  for (std::size_t p = 0; p + 1 < first_vertex_.size(); ++p) {
    out.push_back({{vertices_.data() + first_vertex_[p], first_vertex_[p + 1] - first_vertex_[p]},
                   {indices_.data() + first_index_[p], first_index_[p + 1] - first_index_[p]}});
  }
  return out;
}

}  // namespace pc
