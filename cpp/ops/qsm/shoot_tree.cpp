#include "ops/qsm/shoot_tree.h"

#include <algorithm>
#include <cmath>

namespace pc {

namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr std::uint32_t kNone = 0xffffffff;

double length_of(const Vec3d& v) { return std::sqrt(dot(v, v)); }

/// The skeleton's tree with what continuation is judged by.
struct Tree {
  const std::vector<SkeletonNode>& nodes;
  std::vector<std::uint8_t> kept;
  std::vector<std::uint32_t> children;  ///< number of kept ones
  std::vector<double> growth;           ///< length to the parent and everything above

  explicit Tree(const std::vector<SkeletonNode>& list)
      : nodes(list), kept(list.size(), 1), children(list.size(), 0), growth(list.size(), 0) {
    count_children();
    measure();
  }
  double edge(std::uint32_t i) const {
    return i == 0 ? 0 : std::sqrt(squared_distance(nodes[i].position, nodes[nodes[i].parent].position));
  }
  void count_children() {
    std::fill(children.begin(), children.end(), 0);
    for (std::uint32_t i = 1; i < nodes.size(); ++i)
      if (kept[i] != 0) ++children[nodes[i].parent];
  }
  void measure() {
    std::fill(growth.begin(), growth.end(), 0.0);
    for (auto i = static_cast<std::uint32_t>(nodes.size()); i-- > 1;) {
      if (kept[i] == 0) continue;
      growth[i] += edge(i);
      growth[nodes[i].parent] += growth[i];
    }
  }
  /// First node above the fork that the end `tip` hangs on.
  std::uint32_t base_of_segment(std::uint32_t tip) const {
    std::uint32_t at = tip;
    while (nodes[at].parent != 0 && children[nodes[at].parent] == 1) at = nodes[at].parent;
    return at;
  }
};

/// One round: drops short end segments that are not the longest at their fork. False if there were none.
bool prune_round(Tree& tree, double least_growth_m) {
  const std::size_t count = tree.nodes.size();
  std::vector<std::uint32_t> longest(count, kNone);
  for (std::uint32_t i = 1; i < count; ++i) {
    if (tree.kept[i] == 0) continue;
    std::uint32_t& best = longest[tree.nodes[i].parent];
    if (best == kNone || tree.growth[i] > tree.growth[best]) best = i;
  }
  std::vector<std::uint32_t> dropped;
  for (std::uint32_t i = 1; i < count; ++i) {
    if (tree.kept[i] == 0 || tree.children[i] != 0) continue;
    const std::uint32_t base = tree.base_of_segment(i);
    if (tree.growth[base] < least_growth_m && longest[tree.nodes[base].parent] != base)
      dropped.push_back(base);
  }
  for (const std::uint32_t base : dropped) tree.kept[base] = 0;
  for (std::uint32_t i = 1; i < count; ++i)
    if (tree.kept[tree.nodes[i].parent] == 0) tree.kept[i] = 0;
  tree.count_children();
  tree.measure();
  return !dropped.empty();
}

double provisional_radius(double points) { return std::clamp(0.0015 * std::sqrt(points), 0.002, 0.10); }

/// Mean provisional radius of the segment of each node.
std::vector<double> segment_radii(const Tree& tree) {
  const std::size_t count = tree.nodes.size();
  std::vector<std::uint32_t> segment(count, 0), size(count, 0);
  std::vector<double> sum(count, 0);
  for (std::uint32_t i = 1; i < count; ++i) {
    if (tree.kept[i] == 0) continue;
    const std::uint32_t parent = tree.nodes[i].parent;
    segment[i] = parent != 0 && tree.children[parent] == 1 ? segment[parent] : i;
    sum[segment[i]] += provisional_radius(static_cast<double>(tree.nodes[i].count));
    ++size[segment[i]];
  }
  std::vector<double> out(count, 0);
  for (std::uint32_t i = 1; i < count; ++i)
    if (tree.kept[i] != 0) out[i] = sum[segment[i]] / size[segment[i]];
  return out;
}

/// The child of each node that continues its shoot.
std::vector<std::uint32_t> continuations(const Tree& tree, const std::vector<double>& radius,
                                         const ShootTreeParams& params) {
  const std::size_t count = tree.nodes.size();
  std::vector<double> most_growth(count, 0), most_area(count, 0), most_cos(count, 0), turn(count, 0);
  for (std::uint32_t i = 1; i < count; ++i) {
    if (tree.kept[i] == 0) continue;
    const std::uint32_t parent = tree.nodes[i].parent;
    if (parent != 0) {
      const Vec3d in = tree.nodes[parent].position - tree.nodes[tree.nodes[parent].parent].position;
      const Vec3d out = tree.nodes[i].position - tree.nodes[parent].position;
      const double size = length_of(in) * length_of(out);
      turn[i] = size > 0 ? std::max(0.0, dot(in, out) / size) : 0;
    }
    most_growth[parent] = std::max(most_growth[parent], tree.growth[i]);
    most_area[parent] = std::max(most_area[parent], kPi * radius[i] * radius[i]);
    most_cos[parent] = std::max(most_cos[parent], turn[i]);
  }
  const auto part = [](double value, double most) { return most > 0 ? value / most : 0; };
  std::vector<std::uint32_t> best(count, kNone);
  std::vector<double> best_score(count, -1);
  for (std::uint32_t i = 1; i < count; ++i) {
    if (tree.kept[i] == 0) continue;
    const std::uint32_t parent = tree.nodes[i].parent;
    const double score = params.w_growthlength * part(tree.growth[i], most_growth[parent]) +
                         params.w_area * part(kPi * radius[i] * radius[i], most_area[parent]) +
                         params.w_colinear * part(turn[i], most_cos[parent]);
    if (score <= best_score[parent]) continue;
    best_score[parent] = score;
    best[parent] = i;
  }
  return best;
}

}  // namespace

CylinderChildren cylinder_children(const std::vector<QsmCylinder>& cylinders) {
  CylinderChildren out{std::vector<std::uint32_t>(cylinders.size() + 1, 0), {}};
  for (const QsmCylinder& c : cylinders)
    if (c.parent_id >= 0) ++out.first[static_cast<std::size_t>(c.parent_id) + 1];
  for (std::size_t i = 1; i < out.first.size(); ++i) out.first[i] += out.first[i - 1];
  out.child.resize(out.first.back());
  std::vector<std::uint32_t> next(out.first.begin(), out.first.end() - 1);
  for (std::uint32_t i = 0; i < cylinders.size(); ++i)
    if (cylinders[i].parent_id >= 0) out.child[next[static_cast<std::size_t>(cylinders[i].parent_id)]++] = i;
  return out;
}

std::vector<double> growth_lengths(const std::vector<QsmCylinder>& cylinders) {
  std::vector<double> growth(cylinders.size(), 0);
  for (std::size_t i = cylinders.size(); i-- > 0;) {
    growth[i] += cylinders[i].length_m();
    if (cylinders[i].parent_id >= 0) growth[static_cast<std::size_t>(cylinders[i].parent_id)] += growth[i];
  }
  return growth;
}

std::vector<QsmShoot> collect_shoots(std::vector<QsmCylinder>& cylinders) {
  std::vector<std::int64_t> number(cylinders.size() + 1, -1);
  std::vector<QsmShoot> shoots;
  for (QsmCylinder& c : cylinders) {
    std::int64_t& id = number[static_cast<std::size_t>(c.shoot_id)];
    if (id < 0) {
      id = static_cast<std::int64_t>(shoots.size());
      QsmShoot shoot{id, c.rank, {}, kNoQsmParent, c.parent_id, {}};
      if (c.parent_id >= 0) {
        shoot.parent_shoot_id = cylinders[static_cast<std::size_t>(c.parent_id)].shoot_id;
        shoots[static_cast<std::size_t>(shoot.parent_shoot_id)].child_shoot_ids.push_back(id);
      }
      shoots.push_back(std::move(shoot));
    }
    c.shoot_id = id;
    shoots[static_cast<std::size_t>(id)].cylinder_ids.push_back(c.cyl_id);
  }
  return shoots;
}

std::vector<QsmCylinder> shoot_tree(const std::vector<SkeletonNode>& nodes, const ShootTreeParams& params,
                                    OpContext& ctx) {
  std::vector<QsmCylinder> out;
  if (nodes.size() < 2) return out;
  Tree tree(nodes);
  while (prune_round(tree, params.least_growth_m)) ctx.checkpoint();
  const std::vector<double> radius = segment_radii(tree);
  const std::vector<std::uint32_t> next = continuations(tree, radius, params);
  std::vector<std::int64_t> cylinder(nodes.size(), kNoQsmParent);
  std::int64_t shoots = 1;
  for (std::uint32_t i = 1; i < nodes.size(); ++i) {
    if (tree.kept[i] == 0) continue;
    const std::uint32_t parent = nodes[i].parent;
    const bool continues = next[parent] == i;
    cylinder[i] = static_cast<std::int64_t>(out.size());
    QsmCylinder c{cylinder[i], nodes[parent].position, nodes[i].position, radius[i], cylinder[parent], 0, 0};
    if (parent != 0) {
      const QsmCylinder& below = out[static_cast<std::size_t>(cylinder[parent])];
      c.shoot_id = continues ? below.shoot_id : shoots++;
      c.rank = below.rank + (continues ? 0 : 1);
    } else if (!continues) {
      c.shoot_id = shoots++;
      c.rank = 1;
    }
    out.push_back(c);
  }
  return out;
}

}  // namespace pc
