#include "ops/mesh/poisson_trim.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/parallel.h"
#include "ops/mesh/poisson_samples.h"
#include "spatial/union_find.h"

namespace pc::poisson_detail {

namespace {

constexpr double kLoose = 1, kUnsupported = 2;  // in distances to the kSupportNeighbors-th neighbour
constexpr double kLeastSize = 2;                // of a component, in the same unit
// Of the distance to the kSupportNeighbors-th sample, from the vertex to the mean of those samples: 0 inside, .42 in the mean
// at a straight border (the centroid of half a disc). Lower bounds cut into samples: at 0.6 the mesh ends 1.7 instead of 2.2
// spacings beyond noise-free borders, but misses more of what lies inside them than PoissonRecon does.
constexpr double kOneSided = 0.65;
constexpr int kMostRings = 32;  // of vertices that a border is moved back by
constexpr std::uint64_t kLeastPart =
    100;  // a border cuts off parts that have less than 1 / kLeastPart of the largest one
constexpr std::uint32_t kNoFan = 0xffffffffU;
enum : std::uint8_t { kHeld, kIsLoose, kIsUnsupported };

/// What the nearest sample of each vertex tells.
struct Support {
  BulkVector<std::uint8_t> state;
  BulkVector<float> spacing;  ///< of that sample
};

Support support_of(const UnitMesh& mesh, const SampleTree& samples, OpContext& ctx) {
  Support support{BulkVector<std::uint8_t>(mesh.vertices.size()), BulkVector<float>(mesh.vertices.size())};
  parallel_for(ctx, mesh.vertices.size(), 1024, [&](std::size_t begin, std::size_t end) {
    for (std::size_t v = begin; v < end; ++v) {
      double squared = 0;
      std::uint64_t row = 0, slot = 0;
      samples.tree.view().knn(mesh.vertices[v], 1, samples.tree.size(), &squared, &row, &slot);
      const double ratio = std::sqrt(squared) / samples.spacing[row];
      support.state[v] = ratio > kUnsupported ? kIsUnsupported : ratio > kLoose ? kIsLoose : kHeld;
      support.spacing[v] = static_cast<float>(samples.spacing[row]);
    }
  });
  return support;
}

/// Whether the nearest samples lie on one side of a vertex, so that it is beyond the border of what was sampled.
bool is_one_sided(const Vec3d& vertex, const SampleTree& samples) {
  std::array<double, kSupportNeighbors> squared;
  std::array<std::uint64_t, kSupportNeighbors> rows, slots;
  const std::uint32_t count = samples.tree.view().knn(vertex, kSupportNeighbors, samples.tree.size(),
                                                      squared.data(), rows.data(), slots.data());
  if (count < kSupportNeighbors) return false;
  Vec3d sum{0, 0, 0};
  for (std::uint32_t i = 0; i < count; ++i) sum = sum + (samples.place[rows[i]] - vertex);
  const double reach = kOneSided * count;
  return dot(sum, sum) > reach * reach * squared[count - 1];
}

/// Drops one-sided vertices beside dropped ones, ring by ring.
void move_borders_back(const UnitMesh& mesh, const SampleTree& samples, BulkVector<std::uint8_t>& dropped,
                       OpContext& ctx) {
  BulkVector<std::uint8_t> seen(mesh.vertices.size());
  BulkVector<std::uint32_t> ring;
  for (int count = 0; count < kMostRings; ++count) {
    ring.clear();
    for (std::size_t i = 0; i < mesh.indices.size(); i += 3) {
      if (i % 49'152 == 0) ctx.checkpoint();
      const std::uint32_t* const t = mesh.indices.data() + i;
      if (dropped[t[0]] + dropped[t[1]] + dropped[t[2]] == 0) continue;
      for (std::size_t k = 0; k < 3; ++k) {
        if (dropped[t[k]] + seen[t[k]] > 0) continue;
        seen[t[k]] = 1;
        ring.push_back(t[k]);
      }
    }
    BulkVector<std::uint8_t> goes(ring.size());
    parallel_for(ctx, ring.size(), 256, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        goes[i] = is_one_sided(mesh.vertices[ring[i]], samples) ? 1 : 0;
    });
    std::uint64_t gone = 0;
    for (std::size_t i = 0; i < ring.size(); ++i) {
      dropped[ring[i]] = goes[i];
      gone += goes[i];
    }
    if (gone == 0) return;
  }
}

/// Joins the vertices of edges for which may_join(a, b).
template <class MayJoin>
UnionFind patches_of(const UnitMesh& mesh, OpContext& ctx, const MayJoin& may_join) {
  UnionFind patches(mesh.vertices.size());
  for (std::size_t i = 0; i < mesh.indices.size(); ++i) {
    if (i % 65'536 == 0) ctx.checkpoint();
    const std::uint32_t a = mesh.indices[i], b = mesh.indices[i - i % 3 + (i + 1) % 3];
    if (may_join(a, b)) patches.join(a, b);
  }
  return patches;
}

/// Joins the vertices of triangles that stay: those without a dropped vertex.
UnionFind components_of(const UnitMesh& mesh, const BulkVector<std::uint8_t>& dropped, OpContext& ctx) {
  UnionFind components(mesh.vertices.size());
  for (std::size_t i = 0; i < mesh.indices.size(); i += 3) {
    if (i % 49'152 == 0) ctx.checkpoint();
    const std::uint32_t* const t = mesh.indices.data() + i;
    if (dropped[t[0]] + dropped[t[1]] + dropped[t[2]] > 0) continue;
    components.join(t[0], t[1]);
    components.join(t[1], t[2]);
  }
  return components;
}

/// Drops the parts that are small beside the largest one of the same whole: whole(v) below the number of vertices. Returns
/// the number of their vertices.
template <class Whole>
std::uint64_t mark_shards(UnionFind& parts, const Whole& whole, BulkVector<std::uint8_t>& dropped,
                          OpContext& ctx) {
  BulkVector<std::uint32_t> size(dropped.size()), largest(dropped.size());
  for (std::size_t v = 0; v < dropped.size(); ++v) {
    if (v % 65'536 == 0) ctx.checkpoint();
    if (dropped[v] != 0) continue;
    const std::uint32_t count = ++size[parts.root_of(v)];
    std::uint32_t& most = largest[whole(v)];
    most = std::max(most, count);
  }
  std::uint64_t gone = 0;
  for (std::size_t v = 0; v < dropped.size(); ++v) {
    if (v % 65'536 == 0) ctx.checkpoint();
    if (dropped[v] != 0 || kLeastPart * size[parts.root_of(v)] >= largest[whole(v)]) continue;
    dropped[v] = 1;
    ++gone;
  }
  return gone;
}

/// Drops the small parts into which a component of `before` has fallen.
void drop_shards(const UnitMesh& mesh, UnionFind& before, BulkVector<std::uint8_t>& dropped, OpContext& ctx) {
  UnionFind after = components_of(mesh, dropped, ctx);
  mark_shards(
      after, [&](std::size_t v) { return before.root_of(v); }, dropped, ctx);
}

/// Removes the triangles with a dropped vertex, then the vertices without triangles. Returns the vertices that are left of
/// removed triangles.
BulkVector<std::uint8_t> drop(UnitMesh& mesh, const BulkVector<std::uint8_t>& dropped, OpContext& ctx) {
  std::size_t kept = 0;
  BulkVector<std::uint32_t> number(mesh.vertices.size());
  BulkVector<std::uint8_t> rim(mesh.vertices.size());
  for (std::size_t i = 0; i < mesh.indices.size(); i += 3) {
    if (i % 49'152 == 0) ctx.checkpoint();
    const std::uint32_t* const t = mesh.indices.data() + i;
    if (dropped[t[0]] + dropped[t[1]] + dropped[t[2]] > 0) {
      for (std::size_t k = 0; k < 3; ++k) rim[t[k]] = 1;
      continue;
    }
    for (std::size_t k = 0; k < 3; ++k) {
      mesh.indices[kept + k] = t[k];
      number[mesh.indices[kept + k]] = 1;
    }
    kept += 3;
  }
  mesh.indices.resize(kept);
  std::uint32_t next = 0;
  for (std::size_t v = 0; v < number.size(); ++v) {
    if (v % 65'536 == 0) ctx.checkpoint();
    if (number[v] == 0) continue;
    mesh.vertices[next] = mesh.vertices[v];
    rim[next] = rim[v];
    number[v] = next++;
  }
  mesh.vertices.resize(next);
  rim.resize(next);
  for (std::size_t i = 0; i < mesh.indices.size(); ++i) {
    if (i % 65'536 == 0) ctx.checkpoint();
    mesh.indices[i] = number[mesh.indices[i]];
  }
  return rim;
}

/// A triangle at a vertex, by the place of the vertex among the corners; `after` and `before` are the other two corners.
struct Spoke {
  std::uint32_t vertex, after, before;
  std::size_t corner;
  bool operator<(const Spoke& other) const {
    return vertex != other.vertex ? vertex < other.vertex : corner < other.corner;
  }
};

/// The triangles at vertices of the rim.
std::vector<Spoke> spokes_of(const UnitMesh& mesh, const BulkVector<std::uint8_t>& rim, OpContext& ctx) {
  std::vector<Spoke> spokes;
  for (std::size_t i = 0; i < mesh.indices.size(); ++i) {
    if (i % 65'536 == 0) ctx.checkpoint();
    if (rim[mesh.indices[i]] == 0) continue;
    const std::size_t first = i - i % 3;
    spokes.push_back(
        {mesh.indices[i], mesh.indices[first + (i + 1) % 3], mesh.indices[first + (i + 2) % 3], i});
  }
  std::sort(spokes.begin(), spokes.end());
  return spokes;
}

/// Numbers the fans into which the triangles at one vertex fall, from 0 in their order; those of a fan share edges.
std::vector<std::uint32_t> fans_of(const Spoke* spokes, std::size_t count) {
  std::vector<std::uint32_t> fans(count, kNoFan), open;
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (fans[i] != kNoFan) continue;
    fans[i] = next;
    open.assign(1, static_cast<std::uint32_t>(i));
    while (!open.empty()) {
      const Spoke& at = spokes[open.back()];
      open.pop_back();
      for (std::uint32_t k = 0; k < count; ++k) {
        if (fans[k] != kNoFan || (at.after != spokes[k].before && at.before != spokes[k].after)) continue;
        fans[k] = next;
        open.push_back(k);
      }
    }
    ++next;
  }
  return fans;
}

/// Gives each fan of triangles at a vertex of the rim a vertex of its own. Returns the vertex of which each added one is a
/// copy.
std::vector<std::uint32_t> part_fans(UnitMesh& mesh, const BulkVector<std::uint8_t>& rim, OpContext& ctx) {
  const std::vector<Spoke> spokes = spokes_of(mesh, rim, ctx);
  std::vector<std::uint32_t> copy_of;
  for (std::size_t begin = 0, end = 0; begin < spokes.size(); begin = end) {
    while (end < spokes.size() && spokes[end].vertex == spokes[begin].vertex) ++end;
    const std::vector<std::uint32_t> fans = fans_of(spokes.data() + begin, end - begin);
    const auto first_copy = static_cast<std::uint32_t>(mesh.vertices.size());
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t fan = fans[i - begin];
      if (fan == 0) continue;
      if (first_copy + fan > mesh.vertices.size()) {
        mesh.vertices.push_back(Vec3d{mesh.vertices[spokes[i].vertex]});
        copy_of.push_back(spokes[i].vertex);
      }
      mesh.indices[spokes[i].corner] = first_copy + fan - 1;
    }
  }
  return copy_of;
}

/// Drops small parts that touch the rest of their component in vertices alone. Returns the number of their vertices.
std::uint64_t drop_touching_shards(UnitMesh& mesh, const BulkVector<std::uint8_t>& rim, OpContext& ctx) {
  UnionFind joined = components_of(mesh, BulkVector<std::uint8_t>(mesh.vertices.size()), ctx);
  const std::size_t before = mesh.vertices.size();
  const std::vector<std::uint32_t> copy_of = part_fans(mesh, rim, ctx);
  if (copy_of.empty()) return 0;
  BulkVector<std::uint8_t> dropped(mesh.vertices.size());
  UnionFind apart = components_of(mesh, dropped, ctx);
  const auto whole = [&](std::size_t v) { return joined.root_of(v < before ? v : copy_of[v - before]); };
  const std::uint64_t shards = mark_shards(apart, whole, dropped, ctx);
  drop(mesh, dropped, ctx);
  return shards;
}

std::uint64_t count_of(const BulkVector<std::uint8_t>& flags) {
  std::uint64_t count = 0;
  for (const std::uint8_t flag : flags) count += flag;
  return count;
}

}  // namespace

TrimCounts trim_unsupported(UnitMesh& mesh, const SampleTree& samples, OpContext& ctx) {
  const Support support = support_of(mesh, samples, ctx);
  UnionFind patches = patches_of(mesh, ctx, [&](std::uint32_t a, std::uint32_t b) {
    return support.state[a] != kHeld && support.state[b] != kHeld;
  });
  BulkVector<std::uint8_t> root_goes(mesh.vertices.size()), dropped(mesh.vertices.size());
  for (std::size_t v = 0; v < dropped.size(); ++v) {
    if (v % 65'536 == 0) ctx.checkpoint();
    if (support.state[v] == kIsUnsupported) root_goes[patches.root_of(v)] = 1;
  }
  for (std::size_t v = 0; v < dropped.size(); ++v) {
    if (v % 65'536 == 0) ctx.checkpoint();
    dropped[v] = support.state[v] != kHeld ? root_goes[patches.root_of(v)] : 0;
  }
  UnionFind whole = components_of(mesh, dropped, ctx);
  move_borders_back(mesh, samples, dropped, ctx);
  drop_shards(mesh, whole, dropped, ctx);
  TrimCounts counts{count_of(dropped), 0};
  // What is left of each component: its size against the widest spacing of the samples at it.
  UnionFind components = components_of(mesh, dropped, ctx);
  BulkVector<Box3d> box(mesh.vertices.size());
  BulkVector<float> widest(mesh.vertices.size());
  parallel_for(ctx, box.size(), 65'536, [&](std::size_t begin, std::size_t end) {
    std::fill(box.begin() + begin, box.begin() + end, Box3d{});
  });
  for (std::size_t v = 0; v < dropped.size(); ++v) {
    if (v % 65'536 == 0) ctx.checkpoint();
    const std::uint32_t root = components.root_of(v);
    box[root].add(mesh.vertices[v]);
    widest[root] = std::max(widest[root], support.spacing[v]);
  }
  for (std::size_t v = 0; v < dropped.size(); ++v) {
    if (v % 65'536 == 0) ctx.checkpoint();
    if (dropped[v] != 0) continue;
    const std::uint32_t root = components.root_of(v);
    const double least = kLeastSize * widest[root];
    if (squared_distance(box[root].min, box[root].max) >= least * least) continue;
    dropped[v] = 1;
    ++counts.speck_vertices;
  }
  const BulkVector<std::uint8_t> rim = drop(mesh, dropped, ctx);
  counts.unsupported_vertices += drop_touching_shards(mesh, rim, ctx);
  return counts;
}

}  // namespace pc::poisson_detail
