#include "ops/ray/prototype_meshes.h"

#include <algorithm>
#include <bit>

namespace pc {

namespace {
constexpr std::size_t kPoll = 65536;
}

void PrototypeMeshes::collect(Span<const std::uint32_t> triangles, OpContext& ctx) {
  used_.clear();
  if (triangles.empty()) return;
  std::uint32_t least = triangles[0], most = triangles[0];
  for (std::size_t i = 0; i < triangles.size; ++i) {
    if (i % kPoll == 0) ctx.checkpoint();
    least = std::min(least, triangles[i]);
    most = std::max(most, triangles[i]);
  }
  const std::size_t words = (most - least) / 64 + std::size_t{1};
  if (words > triangles.size) {  // few of a wide range
    used_.assign(triangles.begin(), triangles.end());
    std::sort(used_.begin(), used_.end());
    used_.erase(std::unique(used_.begin(), used_.end()), used_.end());
    return;
  }
  std::vector<std::uint64_t> marks(words);
  for (std::size_t i = 0; i < triangles.size; ++i) {
    if (i % kPoll == 0) ctx.checkpoint();
    const std::uint32_t at = triangles[i] - least;
    marks[at / 64] |= std::uint64_t{1} << (at % 64);
  }
  for (std::size_t w = 0; w < words; ++w) {
    if (w % kPoll == 0) ctx.checkpoint();
    for (std::uint64_t left = marks[w]; left != 0; left &= left - 1)
      used_.push_back(least + static_cast<std::uint32_t>(64 * w) +
                      static_cast<std::uint32_t>(std::countr_zero(left)));
  }
}

void PrototypeMeshes::add(Span<const Vec3d> vertices, Span<const std::uint32_t> triangles, OpContext& ctx) {
  ctx.checkpoint();
  collect(triangles, ctx);
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
