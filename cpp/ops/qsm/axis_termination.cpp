#include "ops/qsm/axis_termination.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "ops/qsm/shoot_tree.h"

namespace pc {

namespace {

constexpr double kLeastGrowth = 0.10;  // metres, of the second largest child
constexpr double kLeastShare = 0.01;   // of the tree's growth length
constexpr double kLeastRadius = 0.35;  // of the thickest root
constexpr double kGrowthBalance = 0.50;
constexpr double kBendReach = 0.30;  // metres
constexpr double kBendCos = 0.50;

struct Forks {
  const std::vector<QsmCylinder>& cylinders;
  CylinderChildren children;
  std::vector<double> growth;
  double root_radius = 0, tree_growth = 0;

  explicit Forks(const std::vector<QsmCylinder>& list)
      : cylinders(list), children(cylinder_children(list)), growth(growth_lengths(list)) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list[i].parent_id >= 0) continue;
      root_radius = std::max(root_radius, list[i].radius);
      tree_growth += growth[i];
    }
  }

  std::uint32_t count(std::size_t i) const { return children.first[i + 1] - children.first[i]; }
  std::uint32_t child(std::size_t i, std::uint32_t k) const { return children.child[children.first[i] + k]; }

  std::uint32_t longest_child(std::size_t i) const {
    std::uint32_t best = child(i, 0);
    for (std::uint32_t k = 1; k < count(i); ++k)
      if (growth[child(i, k)] > growth[best]) best = child(i, k);
    return best;
  }

  Vec3d direction_in(std::size_t i) const {
    std::size_t at = i;
    double way = cylinders[at].length_m();
    while (way < kBendReach && cylinders[at].parent_id >= 0) {
      at = static_cast<std::size_t>(cylinders[at].parent_id);
      way += cylinders[at].length_m();
    }
    return cylinders[i].end - cylinders[at].start;
  }

  Vec3d direction_out(std::size_t i) const {
    std::size_t at = i;
    double way = cylinders[at].length_m();
    while (way < kBendReach && count(at) > 0) {
      at = longest_child(at);
      way += cylinders[at].length_m();
    }
    return cylinders[at].end - cylinders[i].start;
  }

  bool bends_away(std::size_t i) const {
    const Vec3d in = direction_in(i);
    double best = -1;
    for (std::uint32_t k = 0; k < count(i); ++k) {
      const Vec3d out = direction_out(child(i, k));
      const double size = std::sqrt(dot(in, in) * dot(out, out));
      best = std::max(best, size > 0 ? dot(in, out) / size : 1.0);
    }
    return best < kBendCos;
  }

  bool terminates(std::size_t i, double fork_symmetry) const {
    double growth1 = 0, growth2 = 0, radius1 = 0, radius2 = 0;
    const auto take = [](double value, double& first, double& second) {
      second = std::max(second, std::min(value, first));
      first = std::max(first, value);
    };
    for (std::uint32_t k = 0; k < count(i); ++k) {
      take(growth[child(i, k)], growth1, growth2);
      take(cylinders[child(i, k)].radius, radius1, radius2);
    }
    if (growth2 < kLeastGrowth || growth2 < kLeastShare * tree_growth) return false;
    if (cylinders[i].radius < kLeastRadius * root_radius) return false;
    if (radius2 >= fork_symmetry * radius1 && growth2 >= kGrowthBalance * growth1) return true;
    return bends_away(i);
  }
};

}  // namespace

void axis_termination(std::vector<QsmCylinder>& cylinders, double fork_symmetry) {
  const Forks forks(cylinders);
  std::int64_t shoots = 0;
  std::size_t main_root = 0;
  for (std::size_t i = 0; i < cylinders.size(); ++i)
    if (cylinders[i].parent_id < 0 && forks.growth[i] > forks.growth[main_root]) main_root = i;
  for (std::size_t i = 0; i < cylinders.size(); ++i) {
    QsmCylinder& c = cylinders[i];
    if (c.parent_id < 0) {
      c.rank = i == main_root ? 0 : 1;
      c.shoot_id = shoots++;
    }
    if (forks.count(i) == 0) continue;
    const bool ends = forks.count(i) > 1 && forks.terminates(i, fork_symmetry);
    const std::uint32_t longest = forks.longest_child(i);
    for (std::uint32_t k = 0; k < forks.count(i); ++k) {
      QsmCylinder& child = cylinders[forks.child(i, k)];
      const bool continues = !ends && forks.child(i, k) == longest;
      child.rank = c.rank + (continues ? 0 : 1);
      child.shoot_id = continues ? c.shoot_id : shoots++;
    }
  }
}

}  // namespace pc
