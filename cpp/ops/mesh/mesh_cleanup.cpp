#include "ops/mesh/mesh_cleanup.h"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "core/error.h"
#include "core/float_bits.h"
#include "core/parallel.h"
#include "core/random.h"

namespace pc {

namespace {

constexpr std::size_t kPoll = std::size_t{1} << 16;
constexpr std::size_t kGrain = std::size_t{1} << 14;
constexpr std::uint32_t kNone = 0xFFFFFFFF;

using Corners = std::array<std::uint32_t, 3>;

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
    ctx_.begin_phase("Cleaning up mesh", indices_.size);
    merge_vertices();
    drop_degenerate();
    drop_repeated();
    thin_edges();
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

  struct Side {
    std::uint32_t high, triangle;
    bool operator<(const Side& other) const {
      return high != other.high ? high < other.high : triangle < other.triangle;
    }
  };

  /// The sides of the triangles by their lower vertex: those of vertex v are [firsts[v], firsts[v + 1]).
  BulkVector<Side> sides_by_vertex(BulkVector<std::uint64_t>& firsts) {
    firsts.resize(vertices_.size + 1);
    const auto each = [&](auto&& visit) {
      for (std::uint32_t t = 0; t < triangle_count(); ++t) {
        poll(t);
        if (kept_[t] == 0) continue;
        for (std::size_t k = 0; k < 3; ++k) visit(corners_[t][k], corners_[t][(k + 1) % 3], t);
      }
    };
    each([&](std::uint32_t a, std::uint32_t b, std::uint32_t) { ++firsts[std::min(a, b) + std::size_t{1}]; });
    for (std::size_t v = 0; v < vertices_.size; ++v) firsts[v + 1] += firsts[v];
    BulkVector<Side> sides(firsts[vertices_.size]);
    each([&](std::uint32_t a, std::uint32_t b, std::uint32_t t) {
      sides[firsts[std::min(a, b)]++] = {std::max(a, b), t};
    });
    for (std::size_t v = vertices_.size; v > 0; --v) firsts[v] = firsts[v - 1];
    firsts[0] = 0;
    return sides;
  }

  /// At every edge of more than two triangles, the smallest ones go until two are left.
  void thin_edges() {
    BulkVector<std::uint64_t> firsts;
    BulkVector<Side> sides = sides_by_vertex(firsts);
    std::vector<std::vector<std::vector<std::uint32_t>>> crowded((vertices_.size + kGrain - 1) / kGrain);
    parallel_for(ctx_, vertices_.size, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t v = begin; v < end; ++v) {
        Side* const from = sides.data() + firsts[v];
        Side* const to = sides.data() + firsts[v + 1];
        std::sort(from, to);
        for (Side *run = from, *stop = from; run < to; run = stop) {
          while (stop < to && stop->high == run->high) ++stop;
          if (stop - run <= 2) continue;
          auto& triangles = crowded[begin / kGrain].emplace_back();
          for (const Side* side = run; side < stop; ++side) triangles.push_back(side->triangle);
        }
      }
    });
    for (const auto& block : crowded) {
      ctx_.checkpoint();
      for (const auto& triangles : block) thin(triangles);
    }
  }

  void thin(std::vector<std::uint32_t> triangles) {
    triangles.erase(
        std::remove_if(triangles.begin(), triangles.end(), [&](std::uint32_t t) { return kept_[t] == 0; }),
        triangles.end());
    if (triangles.size() <= 2) return;
    std::stable_sort(triangles.begin(), triangles.end(), [&](std::uint32_t a, std::uint32_t b) {
      return squared_area(vertices_, corners_[a]) < squared_area(vertices_, corners_[b]);
    });
    for (std::size_t k = 0; k + 2 < triangles.size(); ++k) {
      kept_[triangles[k]] = 0;
      ++out_.non_manifold_count;
    }
  }

  CleanMesh packed() {
    BulkVector<std::uint32_t> number(vertices_.size);
    std::size_t triangles = 0;
    for (std::size_t t = 0; t < triangle_count(); ++t) {
      poll(t);
      if (kept_[t] == 0) continue;
      ++triangles;
      for (const std::uint32_t corner : corners_[t]) number[corner] = 1;
    }
    std::uint32_t vertices = 0;
    for (std::size_t v = 0; v < vertices_.size; ++v) number[v] = number[v] != 0 ? vertices++ : kNone;
    ctx_.checkpoint();
    out_.vertices = Column<Vec3d>(vertices);
    out_.indices = Column<std::uint32_t>(3 * triangles);
    parallel_for(ctx_, vertices_.size, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t v = begin; v < end; ++v)
        if (number[v] != kNone) out_.vertices[number[v]] = vertices_[v];
    });
    std::size_t at = 0;
    for (std::size_t t = 0; t < triangle_count(); ++t) {
      poll(t);
      if (kept_[t] == 0) continue;
      for (const std::uint32_t corner : corners_[t]) out_.indices[at++] = number[corner];
    }
    return std::move(out_);
  }

  Span<const Vec3d> vertices_;
  Span<const std::uint32_t> indices_;
  OpContext& ctx_;
  BulkVector<Corners> corners_;
  BulkVector<std::uint8_t> kept_;
  CleanMesh out_;
};

}  // namespace

CleanMesh mesh_cleanup(Span<const Vec3d> vertices, Span<const std::uint32_t> indices, OpContext& ctx) {
  return Cleaner(vertices, indices, ctx).clean();
}

}  // namespace pc
