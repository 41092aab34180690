#include "ops/mesh/poisson_border.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/parallel.h"
#include "core/radix_sort.h"
#include "ops/mesh/poisson_samples.h"
#include "spatial/union_find.h"

namespace pc::poisson_detail {

namespace {

constexpr double kLoose = 1, kUnsupported = 2;  // in distances to the kSupportNeighbors-th neighbour
constexpr int kHalvings = 3;                    // of an edge, to find where support ends
constexpr double kBallStep = 0.5;               // between the centers of balls, in their radius
constexpr std::size_t kMostPieces = 16;         // between the edges of one triangle
constexpr std::uint32_t kNearBalls = 4;
/// Place of the spacing taken among those of the nearest samples, ascending: the samples at the border itself, which have
/// neighbours on one side alone, seem farther apart than they are.
constexpr std::size_t kInnerSpacing = kSupportNeighbors / 4;
/// Distance between samples, the square root of the area per sample, in distances to the kSupportNeighbors-th neighbour.
const double kSampleDistance = std::sqrt(M_PI / kSupportNeighbors);
/// An edge is divided at least this share of it from its ends, so that no triangle is flat.
constexpr double kFromEnd = 1e-3;

struct Nearness {
  double distance;  ///< to the nearest sample
  double spacing;   ///< of the samples around: from each to its kSupportNeighbors-th neighbour
  bool is_loose() const { return distance > kLoose * spacing; }
};

Nearness nearest_samples(const SampleTree& samples, const Vec3d& place) {
  std::array<double, kSupportNeighbors> squared, spacing;
  std::array<std::uint64_t, kSupportNeighbors> rows, slots;
  spacing.fill(HUGE_VAL);
  const std::uint32_t count = samples.tree.view().knn(place, kSupportNeighbors, samples.tree.size(),
                                                      squared.data(), rows.data(), slots.data());
  for (std::uint32_t i = 0; i < count; ++i) spacing[i] = samples.spacing[rows[i]];
  std::sort(spacing.begin(), spacing.end());
  return {std::sqrt(squared[0]), spacing[std::min<std::size_t>(kInnerSpacing, count - 1)]};
}

struct EdgeEnds {
  std::uint32_t low, high;
};
EdgeEnds ends_of(std::uint64_t edge) {
  return {static_cast<std::uint32_t>(edge >> 32), static_cast<std::uint32_t>(edge)};
}
std::uint64_t edge_between(std::uint32_t a, std::uint32_t b) {
  return std::uint64_t{std::min(a, b)} << 32 | std::max(a, b);
}

/// Edges with one end for which flag[] is set, ascending, each once.
BulkVector<std::uint64_t> mixed_edges(const UnitMesh& mesh, const BulkVector<std::uint8_t>& flag,
                                      OpContext& ctx) {
  BulkVector<std::uint64_t> edges;
  for (std::size_t i = 0; i < mesh.indices.size(); ++i) {
    if (i % 65'536 == 0) ctx.checkpoint();
    const std::uint32_t a = mesh.indices[i], b = mesh.indices[i - i % 3 + (i + 1) % 3];
    if (flag[a] != flag[b]) edges.push_back(edge_between(a, b));
  }
  BulkVector<std::uint32_t> unused(edges.size());
  radix_sort_pairs(edges.view(), unused.view(), 64, ctx);
  edges.resize(static_cast<std::size_t>(std::unique(edges.begin(), edges.end()) - edges.begin()));
  return edges;
}

std::size_t place_of(const BulkVector<std::uint64_t>& edges, std::uint64_t edge) {
  return static_cast<std::size_t>(std::lower_bound(edges.begin(), edges.end(), edge) - edges.begin());
}

class Border {
 public:
  Border(UnitMesh& mesh, const SampleTree& samples, const Support& support, OpContext& ctx)
      : mesh_(mesh), samples_(samples), support_(support), ctx_(ctx) {}

  BorderCut run() {
    const std::size_t count = mesh_.vertices.size();
    far_.resize(count);
    for (std::size_t v = 0; v < count; ++v) {
      if (v % 65'536 == 0) ctx_.checkpoint();
      far_[v] = support_.unsupported[v];
    }
    cut_.dropped.resize(count);
    std::copy(far_.begin(), far_.end(), cut_.dropped.begin());
    place_balls();
    if (centers_.empty()) return std::move(cut_);
    const KdTree balls(centers_.view(), ctx_);
    balls_ = &balls;
    excess_.resize(count);
    grow();
    divide();
    return std::move(cut_);
  }

 private:
  /// The center of a ball: where support ends on an edge, on the side without.
  Vec3d end_of_support(std::uint64_t edge) const {
    const EdgeEnds ends = ends_of(edge);
    const bool low_is_far = far_[ends.low] != 0;
    Vec3d near = mesh_.vertices[low_is_far ? ends.high : ends.low];
    Vec3d far = mesh_.vertices[low_is_far ? ends.low : ends.high];
    for (int i = 0; i < kHalvings; ++i) {
      const Vec3d middle = (near + far) * 0.5;
      (nearest_samples(samples_, middle).is_loose() ? far : near) = middle;
    }
    return far;
  }

  /// Balls along the line on which support ends.
  void place_balls() {
    const BulkVector<std::uint64_t> edges = mixed_edges(mesh_, far_, ctx_);
    centers_.resize(edges.size());
    parallel_for(ctx_, edges.size(), 256, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) centers_[i] = end_of_support(edges[i]);
    });
    measure_balls(0);
    for (std::size_t i = 0; i < mesh_.indices.size(); i += 3) {
      if (i % 49'152 == 0) ctx_.checkpoint();
      const std::uint32_t* const t = mesh_.indices.data() + i;
      const int far_count = far_[t[0]] + far_[t[1]] + far_[t[2]];
      if (far_count == 1 || far_count == 2) join_balls(edges, t);
    }
    measure_balls(edges.size());
  }

  /// Radii of the balls from `first` on.
  void measure_balls(std::size_t first) {
    radii_.resize(centers_.size());
    parallel_for(ctx_, centers_.size() - first, 256, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = first + begin; i < first + end; ++i) {
        double squared = 0;
        std::uint64_t row = 0, slot = 0;
        samples_.tree.view().knn(centers_[i], 1, samples_.tree.size(), &squared, &row, &slot);
        radii_[i] = std::sqrt(squared);
      }
    });
  }

  /// Appends centers between those on two edges of a triangle.
  void join_balls(const BulkVector<std::uint64_t>& edges, const std::uint32_t* t) {
    std::array<std::size_t, 2> at{};
    std::size_t found = 0;
    for (std::size_t k = 0; k < 3; ++k)
      if (far_[t[k]] != far_[t[(k + 1) % 3]])
        at[found++ % 2] = place_of(edges, edge_between(t[k], t[(k + 1) % 3]));
    if (at[0] > at[1]) std::swap(at[0], at[1]);
    const Vec3d from = centers_[at[0]], to = centers_[at[1]];
    const double step = kBallStep * std::min(radii_[at[0]], radii_[at[1]]);
    const double length = std::sqrt(squared_distance(from, to));
    const std::size_t pieces = length < static_cast<double>(kMostPieces) * step
                                   ? static_cast<std::size_t>(length / step) + 1
                                   : kMostPieces;
    for (std::size_t i = 1; i < pieces; ++i)
      centers_.push_back(from + (to - from) * (static_cast<double>(i) / static_cast<double>(pieces)));
  }

  /// How much deeper than allowed a vertex lies in the balls.
  double excess_at(std::size_t vertex) const {
    std::array<double, kNearBalls> squared;
    std::array<std::uint64_t, kNearBalls> rows, slots;
    const Vec3d& place = mesh_.vertices[vertex];
    const std::uint32_t count =
        balls_->view().knn(place, kNearBalls, balls_->size(), squared.data(), rows.data(), slots.data());
    double depth = -HUGE_VAL;
    for (std::uint32_t i = 0; i < count; ++i) {
      const double from = std::sqrt(squared[i]);
      depth = std::max(depth, radii_[rows[i]] + (far_[vertex] != 0 ? from : -from));
    }
    return depth - kSampleDistance * nearest_samples(samples_, place).spacing;
  }

  int gone_of(const std::uint32_t* t) const {
    return cut_.dropped[t[0]] + cut_.dropped[t[1]] + cut_.dropped[t[2]];
  }

  /// Drops vertices beside dropped ones that are too deep in the balls, ring by ring. The balls end it.
  void grow() {
    BulkVector<std::uint8_t> seen(mesh_.vertices.size());
    BulkVector<std::uint32_t> ring;
    for (;;) {
      ring.clear();
      for (std::size_t i = 0; i < mesh_.indices.size(); i += 3) {
        if (i % 49'152 == 0) ctx_.checkpoint();
        const std::uint32_t* const t = mesh_.indices.data() + i;
        if (gone_of(t) % 3 == 0) continue;
        for (std::size_t k = 0; k < 3; ++k) {
          if (seen[t[k]] != 0) continue;
          seen[t[k]] = 1;
          ring.push_back(t[k]);
        }
      }
      parallel_for(ctx_, ring.size(), 256, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) excess_[ring[i]] = static_cast<float>(excess_at(ring[i]));
      });
      std::size_t gone = 0;
      for (const std::uint32_t v : ring) {
        if (cut_.dropped[v] != 0 || !(excess_[v] > 0)) continue;
        cut_.dropped[v] = 1;
        ++gone;
      }
      if (gone == 0) return;
    }
  }

  /// Ends the triangles with a dropped vertex at the border; those without another are left out.
  void divide() {
    const BulkVector<std::uint64_t> edges = mixed_edges(mesh_, cut_.dropped, ctx_);
    const std::size_t first = mesh_.vertices.size();
    mesh_.vertices.resize(first + edges.size());
    cut_.kept_end.resize(edges.size());
    parallel_for(ctx_, edges.size(), 4096, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const EdgeEnds ends = ends_of(edges[i]);
        const bool low_goes = cut_.dropped[ends.low] != 0;
        const std::uint32_t kept = low_goes ? ends.high : ends.low, gone = low_goes ? ends.low : ends.high;
        const double inside = -excess_[kept], beyond = std::max(0.0F, excess_[gone]);
        const double share = inside + beyond > 0 ? inside / (inside + beyond) : 0.5;
        const Vec3d way = mesh_.vertices[gone] - mesh_.vertices[kept];
        mesh_.vertices[first + i] = mesh_.vertices[kept] + way * std::clamp(share, kFromEnd, 1 - kFromEnd);
        cut_.kept_end[i] = kept;
      }
    });
    BulkVector<std::uint32_t> indices;
    indices.reserve(mesh_.indices.size());
    for (std::size_t i = 0; i < mesh_.indices.size(); i += 3) {
      if (i % 49'152 == 0) ctx_.checkpoint();
      append_kept(edges, first, mesh_.indices.data() + i, indices);
    }
    mesh_.indices = std::move(indices);
    cut_.dropped.resize(mesh_.vertices.size());
  }

  /// Appends what is left of one triangle.
  void append_kept(const BulkVector<std::uint64_t>& edges, std::size_t first, const std::uint32_t* t,
                   BulkVector<std::uint32_t>& indices) const {
    const int gone = gone_of(t);
    if (gone == 3) return;
    const auto append = [&](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
      for (const std::uint32_t v : {a, b, c}) indices.push_back(v);
    };
    if (gone == 0) return append(t[0], t[1], t[2]);
    std::size_t k = 0;  // the corner that differs from the two others
    while ((cut_.dropped[t[k]] != 0) != (gone == 1)) ++k;
    const std::uint32_t a = t[k], b = t[(k + 1) % 3], c = t[(k + 2) % 3];
    const auto ab = static_cast<std::uint32_t>(first + place_of(edges, edge_between(a, b)));
    const auto ca = static_cast<std::uint32_t>(first + place_of(edges, edge_between(c, a)));
    if (gone == 2) return append(a, ab, ca);
    append(ab, b, c);
    append(ab, c, ca);
  }

  UnitMesh& mesh_;
  const SampleTree& samples_;
  const Support& support_;
  OpContext& ctx_;
  BulkVector<std::uint8_t> far_;
  BulkVector<Vec3d> centers_;
  BulkVector<double> radii_;
  const KdTree* balls_ = nullptr;
  BulkVector<float> excess_;  ///< of the vertices beside dropped ones
  BorderCut cut_;
};

}  // namespace

Support support_of(const UnitMesh& mesh, const SampleTree& samples, OpContext& ctx) {
  const std::size_t count = mesh.vertices.size();
  Support support{BulkVector<std::uint8_t>(count), BulkVector<float>(count)};
  BulkVector<std::uint8_t> loose(count), far(count);
  parallel_for(ctx, count, 512, [&](std::size_t begin, std::size_t end) {
    for (std::size_t v = begin; v < end; ++v) {
      double squared = 0;
      std::uint64_t row = 0, slot = 0;
      samples.tree.view().knn(mesh.vertices[v], 1, samples.tree.size(), &squared, &row, &slot);
      support.spacing[v] = static_cast<float>(samples.spacing[row]);
      if (std::sqrt(squared) <= kLoose * samples.spacing[row]) continue;
      const Nearness near = nearest_samples(samples, mesh.vertices[v]);
      loose[v] = near.is_loose() ? 1 : 0;
      far[v] = near.distance > kUnsupported * near.spacing ? 1 : 0;
    }
  });
  UnionFind patches(count);
  for (std::size_t i = 0; i < mesh.indices.size(); ++i) {
    if (i % 65'536 == 0) ctx.checkpoint();
    const std::uint32_t a = mesh.indices[i], b = mesh.indices[i - i % 3 + (i + 1) % 3];
    if (loose[a] + loose[b] == 2) patches.join(a, b);
  }
  BulkVector<std::uint8_t> root_is_far(count);
  for (std::size_t v = 0; v < count; ++v) {
    if (v % 65'536 == 0) ctx.checkpoint();
    if (far[v] != 0) root_is_far[patches.root_of(v)] = 1;
  }
  for (std::size_t v = 0; v < count; ++v) {
    if (v % 65'536 == 0) ctx.checkpoint();
    support.unsupported[v] = loose[v] != 0 ? root_is_far[patches.root_of(v)] : 0;
  }
  return support;
}

BorderCut cut_borders(UnitMesh& mesh, const SampleTree& samples, const Support& support, OpContext& ctx) {
  return Border(mesh, samples, support, ctx).run();
}

}  // namespace pc::poisson_detail
