#include "ops/mesh/mesh_cleanup.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/error.h"
#include "core/float_bits.h"
#include "core/parallel.h"
#include "core/random.h"
#include "ops/mesh/mesh_sheets.h"

namespace pc {

namespace {

constexpr std::size_t kPoll = std::size_t{1} << 16;
constexpr std::size_t kGrain = std::size_t{1} << 14;
constexpr std::uint32_t kNone = 0xFFFFFFFF;

using Corners = TriangleCorners;

/// Numbers of things that differ, found by hash: open addressing, half full at most.
class FirstOf {
 public:
  explicit FirstOf(std::size_t count) : slots_(std::bit_ceil(2 * count + 2)) {
    for (std::uint32_t& slot : slots_) slot = kNone;
  }
  /// The first number that was added and is the same as `number`: itself if there is none.
  template <class Same>
  std::uint32_t add(std::uint32_t number, std::uint64_t hash, const Same& same) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = hash & mask;
    while (slots_[at] != kNone && !same(slots_[at])) at = (at + 1) & mask;
    if (slots_[at] == kNone) slots_[at] = number;
    return slots_[at];
  }

 private:
  BulkVector<std::uint32_t> slots_;
};

std::uint64_t hash_of(const Vec3d& p) {
  std::uint64_t hash = 0;
  for (const double value : {p.x, p.y, p.z}) hash = random_u64(hash, bits_of(value + 0.0));  // -0 is 0
  return hash;
}

double squared_area(Span<const Vec3d> at, const Corners& c) {
  const Vec3d a = at[c[1]] - at[c[0]], b = at[c[2]] - at[c[0]];
  const double x = a.y * b.z - a.z * b.y, y = a.z * b.x - a.x * b.z, z = a.x * b.y - a.y * b.x;
  return x * x + y * y + z * z;
}

class Cleaner {
 public:
  Cleaner(Span<const Vec3d> vertices, Span<const std::uint32_t> indices, OpContext& ctx)
      : vertices_(vertices), indices_(indices), ctx_(ctx) {}

  CleanMesh clean() {
    require(indices_.size % 3 == 0 && indices_.size / 3 < (std::size_t{1} << 30),
            "indices must be three per triangle, for fewer than 2^30 triangles");
    require(vertices_.size < kNone, "vertices must be fewer than 2^32 - 1");
    ctx_.begin_phase("Cleaning up mesh", indices_.size);
    merge_vertices();
    drop_degenerate();
    drop_repeated();
    cut_sheets();
    return packed();
  }

 private:
  void poll(std::size_t i) const {
    if (i % kPoll == 0) ctx_.checkpoint();
  }
  std::size_t triangle_count() const { return corners_.size(); }

  /// Corners of all triangles; vertices at one place get the number of the first one that a triangle has.
  void merge_vertices() {
    BulkVector<std::uint8_t> used(vertices_.size);
    for (std::size_t i = 0; i < indices_.size; ++i) {
      poll(i);
      require(indices_[i] < vertices_.size, "a triangle has a corner beyond the vertices");
      used[indices_[i]] = 1;
    }
    BulkVector<std::uint32_t> first(vertices_.size);
    FirstOf places(vertices_.size);
    for (std::uint32_t v = 0; v < vertices_.size; ++v) {
      poll(v);
      if (used[v] == 0) continue;
      const Vec3d& p = vertices_[v];
      first[v] = places.add(v, hash_of(p), [&](std::uint32_t other) { return vertices_[other] == p; });
      out_.merged_vertex_count += first[v] != v ? 1 : 0;
    }
    corners_.resize(indices_.size / 3);
    parallel_for(ctx_, corners_.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t t = begin; t < end; ++t)
        for (std::size_t k = 0; k < 3; ++k) corners_[t][k] = first[indices_[3 * t + k]];
    });
    kept_.resize(corners_.size());
  }

  void drop_degenerate() {
    for (std::size_t t = 0; t < triangle_count(); ++t) {
      poll(t);
      const Corners& c = corners_[t];
      kept_[t] = c[0] != c[1] && c[1] != c[2] && c[2] != c[0] && squared_area(vertices_, c) > 0 ? 1 : 0;
      out_.flat_count += kept_[t] == 0 ? 1 : 0;
    }
  }

  Corners turned(std::uint32_t t) const {  // smallest corner first
    Corners c = corners_[t];
    std::rotate(c.begin(), std::min_element(c.begin(), c.end()), c.end());
    return c;
  }

  void drop_repeated() {
    FirstOf triangles(triangle_count());
    for (std::uint32_t t = 0; t < triangle_count(); ++t) {
      poll(t);
      if (kept_[t] == 0) continue;
      const Corners own = turned(t);
      const std::uint64_t hash = random_u64(std::uint64_t{own[0]} << 32 | own[1], own[2]);
      if (triangles.add(t, hash, [&](std::uint32_t other) { return turned(other) == own; }) == t) continue;
      kept_[t] = 0;
      ++out_.repeated_count;
    }
  }

  /// Removes what was dropped and cuts the rest into sheets.
  void cut_sheets() {
    std::size_t kept = 0;
    for (std::size_t t = 0; t < triangle_count(); ++t) {
      poll(t);
      if (kept_[t] != 0) corners_[kept++] = corners_[t];
    }
    corners_.resize(kept);
    kept_.reset();
    MeshSheets sheets = cut_into_sheets(vertices_, {corners_.data(), corners_.size()}, ctx_);
    out_.crowded_edge_count = sheets.crowded_edge_count;
    out_.turned_count = sheets.turned_count;
    out_.copied_vertex_count = sheets.copy_of.size();
    copy_of_ = std::move(sheets.copy_of);
  }

  CleanMesh packed() {
    const std::size_t given = vertices_.size, all = given + copy_of_.size();
    const auto place = [&](std::size_t v) { return vertices_[v < given ? v : copy_of_[v - given]]; };
    BulkVector<std::uint32_t> number(all);
    for (std::size_t t = 0; t < triangle_count(); ++t) {
      poll(t);
      for (const std::uint32_t corner : corners_[t]) number[corner] = 1;
    }
    std::uint32_t vertices = 0;
    for (std::size_t v = 0; v < all; ++v) number[v] = number[v] != 0 ? vertices++ : kNone;
    ctx_.checkpoint();
    out_.vertices = Column<Vec3d>(vertices);
    out_.indices = Column<std::uint32_t>(3 * triangle_count());
    parallel_for(ctx_, all, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t v = begin; v < end; ++v)
        if (number[v] != kNone) out_.vertices[number[v]] = place(v);
    });
    parallel_for(ctx_, triangle_count(), kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t t = begin; t < end; ++t)
        for (std::size_t k = 0; k < 3; ++k) out_.indices[3 * t + k] = number[corners_[t][k]];
    });
    return std::move(out_);
  }

  Span<const Vec3d> vertices_;
  Span<const std::uint32_t> indices_;
  OpContext& ctx_;
  BulkVector<Corners> corners_;
  BulkVector<std::uint8_t> kept_;
  BulkVector<std::uint32_t> copy_of_;  ///< vertex of which each added one is a copy
  CleanMesh out_;
};

}  // namespace

CleanMesh mesh_cleanup(Span<const Vec3d> vertices, Span<const std::uint32_t> indices, OpContext& ctx) {
  return Cleaner(vertices, indices, ctx).clean();
}

}  // namespace pc
