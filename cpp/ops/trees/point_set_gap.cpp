#include "ops/trees/point_set_gap.h"

#include <algorithm>

namespace pc {

namespace {

constexpr std::uint32_t kLeaf = 8;
constexpr std::uint32_t kEmpty = 0xffffffff;

template <class Node>
double box_gap(const Node& a, const Node& b) {
  const auto gap = [](double a_min, double a_max, double b_min, double b_max) {
    return a_max < b_min ? b_min - a_max : (b_max < a_min ? a_min - b_max : 0.0);
  };
  const double dx = gap(a.min.x, a.max.x, b.min.x, b.max.x), dy = gap(a.min.y, a.max.y, b.min.y, b.max.y),
               dz = gap(a.min.z, a.max.z, b.min.z, b.max.z);
  return dx * dx + dy * dy + dz * dz;
}

}  // namespace

PointSetGaps::PointSetGaps(Span<const Vec3d> points, Span<const std::uint32_t> set, std::uint32_t sets,
                           OpContext& ctx)
    : points_(points.size), root_(sets, kEmpty) {
  std::vector<std::uint32_t> first(std::size_t{sets} + 1, 0);
  for (const std::uint32_t s : set) ++first[s + 1];
  for (std::uint32_t s = 0; s < sets; ++s) first[s + 1] += first[s];
  std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
  for (std::size_t i = 0; i < points.size; ++i) points_[next[set[i]]++] = points[i];
  for (std::uint32_t s = 0; s < sets; ++s) {
    if (s % 64 == 0) ctx.checkpoint();
    if (first[s] == first[s + 1]) continue;
    root_[s] = static_cast<std::uint32_t>(nodes_.size());
    build(first[s], first[s + 1]);
  }
}

Box3d PointSetGaps::build(std::uint32_t begin, std::uint32_t end) {
  const std::size_t at = nodes_.size();
  nodes_.push_back({{}, {}, begin, end, 0});
  Box3d box;
  if (end - begin <= kLeaf) {
    for (std::uint32_t i = begin; i < end; ++i) box.add(points_[i]);
  } else {
    const std::uint32_t middle = begin + (end - begin) / 2;
    box = build(begin, middle);
    nodes_[at].second = static_cast<std::uint32_t>(nodes_.size());
    box.add(build(middle, end));
  }
  nodes_[at].min = box.min;
  nodes_[at].max = box.max;
  return box;
}

void PointSetGaps::narrow(std::uint32_t a, std::uint32_t b, double& least) const {
  const Node &p = nodes_[a], &q = nodes_[b];
  if (!(box_gap(p, q) < least)) return;
  if (p.second == 0 && q.second == 0) {
    for (std::uint32_t i = p.begin; i < p.end; ++i) {
      for (std::uint32_t j = q.begin; j < q.end; ++j)
        least = std::min(least, squared_distance(points_[i], points_[j]));
    }
    return;
  }
  const bool open_first = q.second == 0 || (p.second != 0 && p.end - p.begin >= q.end - q.begin);
  const std::uint32_t children[2] = {open_first ? a + 1 : b + 1, open_first ? p.second : q.second};
  const Node& other = open_first ? q : p;
  const bool swap = box_gap(nodes_[children[1]], other) < box_gap(nodes_[children[0]], other);
  for (int i = 0; i < 2; ++i) {
    const std::uint32_t child = children[swap ? 1 - i : i];
    narrow(open_first ? child : a, open_first ? b : child, least);
  }
}

double PointSetGaps::squared_gap(std::uint32_t a, std::uint32_t b, double limit) const {
  if (root_[a] != kEmpty && root_[b] != kEmpty) narrow(root_[a], root_[b], limit);
  return limit;
}

double PointSetGaps::squared_gap(std::uint32_t a, const Vec3d& point, double limit) const {
  if (root_[a] == kEmpty) return limit;
  const Node single{point, point, 0, 0, 0};
  std::vector<std::uint32_t> stack{root_[a]};
  while (!stack.empty()) {
    const std::uint32_t at = stack.back();
    const Node& node = nodes_[at];
    stack.pop_back();
    if (!(box_gap(node, single) < limit)) continue;
    if (node.second == 0) {
      for (std::uint32_t i = node.begin; i < node.end; ++i)
        limit = std::min(limit, squared_distance(points_[i], point));
      continue;
    }
    const bool swap = box_gap(nodes_[at + 1], single) < box_gap(nodes_[node.second], single);
    stack.push_back(swap ? node.second : at + 1);
    stack.push_back(swap ? at + 1 : node.second);
  }
  return limit;
}

}  // namespace pc
