#include "ops/skeleton/ring_arcs.h"

#include <algorithm>
#include <bitset>
#include <cmath>
#include <map>
#include <tuple>

#include "core/memory.h"
#include "core/symmetric_eigen.h"
#include "ops/trees/circle_fit.h"
#include "spatial/kd_tree.h"

namespace pc {

namespace {

constexpr double kFar = 4, kFarthest = 2.0;  // sizes of a node; metres
constexpr double kLeastPart = 0.2;           // of the larger one's size
constexpr std::size_t kMostPartners = 16;    // of a node; more are a crown, and each costs a fit
constexpr std::size_t kFewestVertices = 12, kLargestGroup = 6;
constexpr double kFlat = 3;  // second least over least variance
constexpr double kMiss = 0.125, kFarMiss = 0.3, kNearShare = 0.9;
constexpr std::size_t kSectors = 24, kLeastSectors = 16;
constexpr double kPi = 3.14159265358979323846;

/// Vertices of each node, as CSR.
struct Members {
  std::vector<std::uint32_t> first;
  BulkVector<std::uint32_t> vertex;

  Members(std::size_t nodes, Span<const std::uint32_t> of_vertex) : first(nodes + 1, 0) {
    for (const std::uint32_t node : of_vertex)
      if (node != kNoSkeletonNode) ++first[node + 1];
    for (std::size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
    vertex = BulkVector<std::uint32_t>(first.back());
    std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
    for (std::uint32_t v = 0; v < of_vertex.size; ++v)
      if (of_vertex[v] != kNoSkeletonNode) vertex[next[of_vertex[v]]++] = v;
  }
  void collect(std::uint32_t node, Span<const Vec3d> vertices, std::vector<Vec3d>& out) const {
    for (std::uint32_t k = first[node]; k < first[node + 1]; ++k) out.push_back(vertices[vertex[k]]);
  }
};

Vec3d mean_of(const std::vector<Vec3d>& points) {
  Vec3d mean{0, 0, 0};
  for (const Vec3d& p : points) mean = mean + p * (1.0 / static_cast<double>(points.size()));
  return mean;
}

double size_of(const std::vector<Vec3d>& points) {
  const Vec3d mean = mean_of(points);
  double sum = 0;
  for (const Vec3d& p : points) sum += squared_distance(p, mean);
  return points.empty() ? 0 : std::sqrt(sum / static_cast<double>(points.size()));
}

/// The points in the plane that they lie in; empty if they lie in none.
std::vector<Vec2d> flattened(const std::vector<Vec3d>& points) {
  const Vec3d mean = mean_of(points);
  Symmetric3 c{0, 0, 0, 0, 0, 0};
  for (const Vec3d& p : points) {
    const Vec3d d = p - mean;
    c.add_square(d);
  }
  const SymmetricEigen3 eigen = symmetric_eigen(c);
  std::vector<Vec2d> out;
  if (!(eigen.value[1] > kFlat * eigen.value[0])) return out;
  for (const Vec3d& p : points)
    out.push_back({dot(p - mean, eigen.vector[1]), dot(p - mean, eigen.vector[2])});
  return out;
}

bool is_ring(const std::vector<Vec3d>& points) {
  if (points.size() < kFewestVertices) return false;
  const std::vector<Vec2d> flat = flattened(points);
  const Span<const Vec2d> view{flat.data(), flat.size()};
  const std::optional<PlainCircle> rough = flat.empty() ? std::nullopt : taubin_circle(view);
  const std::optional<PlainCircle> circle = rough ? geometric_circle(view, *rough) : std::nullopt;
  if (!circle || !(circle->radius < kFarthest)) return false;
  std::vector<double> miss;
  std::bitset<kSectors> seen;
  std::size_t near = 0;
  for (const Vec2d& p : flat) {
    const double x = p.x - circle->center.x, y = p.y - circle->center.y;
    miss.push_back(std::fabs(std::hypot(x, y) / circle->radius - 1));
    if (!(miss.back() < kFarMiss)) continue;
    ++near;
    const double turn = (std::atan2(y, x) / (2 * kPi) + 0.5) * kSectors;
    seen.set(std::min(kSectors - 1, static_cast<std::size_t>(turn)));
  }
  const auto middle = miss.begin() + static_cast<std::ptrdiff_t>(miss.size() / 2);
  std::nth_element(miss.begin(), middle, miss.end());
  return *middle < kMiss && static_cast<double>(near) >= kNearShare * static_cast<double>(flat.size()) &&
         seen.count() >= kLeastSectors;
}

/// Two nodes that may be arcs of one ring.
struct Candidate {
  double squared;
  std::uint32_t a, b;  ///< a < b
};

std::vector<Candidate> candidates_of(const std::vector<SkeletonNode>& nodes, const std::vector<double>& size,
                                     OpContext& ctx) {
  std::vector<Vec3d> at;
  for (const SkeletonNode& node : nodes) at.push_back(node.position);
  const KdTree tree({at.data(), at.size()}, ctx);
  std::vector<Candidate> out;
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    if (i % 256 == 0) ctx.checkpoint();
    const double reach = std::min(kFarthest, kFar * size[i]);
    const std::size_t before = out.size();
    tree.view().for_each_within(at[i], reach * reach, [&](std::uint64_t row, std::uint64_t, double squared) {
      const auto j = static_cast<std::uint32_t>(row);
      const bool once = size[j] < size[i] || (size[j] == size[i] && j < i);
      if (j != i && once && nodes[j].level == nodes[i].level && size[j] >= kLeastPart * size[i])
        out.push_back({squared, std::min(i, j), std::max(i, j)});
    });
    if (out.size() > before + kMostPartners) out.resize(before);
  }
  std::sort(out.begin(), out.end(), [](const Candidate& p, const Candidate& q) {
    return std::tie(p.squared, p.a, p.b) < std::tie(q.squared, q.a, q.b);
  });
  return out;
}

}  // namespace

UnionFind ring_arcs(const std::vector<SkeletonNode>& nodes, Span<const std::uint32_t> of_vertex,
                    Span<const Vec3d> vertices, OpContext& ctx) {
  const Members members(nodes.size(), of_vertex);
  std::vector<double> size(nodes.size());
  std::vector<Vec3d> points;
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    points.clear();
    members.collect(i, vertices, points);
    size[i] = size_of(points);
  }
  const std::vector<Candidate> candidates = candidates_of(nodes, size, ctx);
  UnionFind groups(nodes.size()), sets(nodes.size());
  for (const Candidate& c : candidates) groups.join(c.a, c.b);
  std::map<std::uint32_t, std::vector<std::uint32_t>> of_group, of_set;
  for (const Candidate& c : candidates)
    for (const std::uint32_t node : {c.a, c.b}) {
      of_group[groups.root_of(node)].push_back(node);
      of_set[node] = {node};
    }
  const auto collect = [&](const std::vector<std::uint32_t>& list) {
    for (const std::uint32_t node : list) members.collect(node, vertices, points);
  };
  for (auto& [root, list] : of_group) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    if (list.size() > kLargestGroup) continue;
    ctx.checkpoint();
    points.clear();
    collect(list);
    if (!is_ring(points)) continue;
    for (const std::uint32_t node : list) sets.join(root, node);
  }
  for (const Candidate& c : candidates) {
    const std::uint32_t a = sets.root_of(c.a), b = sets.root_of(c.b);
    if (a == b) continue;
    ctx.checkpoint();
    points.clear();
    collect(of_set[a]);
    collect(of_set[b]);
    if (of_set[a].size() + of_set[b].size() > kLargestGroup || !is_ring(points)) continue;
    sets.join(a, b);
    std::vector<std::uint32_t>& into = of_set[std::min(a, b)];
    const std::vector<std::uint32_t> other = of_set[std::max(a, b)];
    into.insert(into.end(), other.begin(), other.end());
  }
  return sets;
}

}  // namespace pc
