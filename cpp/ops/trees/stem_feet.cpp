#include "ops/trees/stem_feet.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "ops/trees/path_search.h"

namespace pc {

namespace {

constexpr std::size_t kPollEvery = 4096;
constexpr double kMostFootHeight = 8, kMostFootPart = 1.0 / 3;  // metres; of the tree
constexpr double kTouch = 3;                                    // edges of a node between nodes that touch
constexpr double kTopPart = 0.75, kLeastTouching = 0.1;         // of its height; of the nodes above
constexpr std::size_t kBins = 5, kLeastBins = 3, kLeastNodes = 3;
constexpr double kOutline = 0.9;                   // of the nodes of a bin are nearer
constexpr double kTopReach = 0.5, kMostReach = 5;  // of the reach at the ground; metres

/// The nodes of a group by their heights, and how far each is from the surface of a stem.
using Outline = std::array<std::vector<double>, kBins>;

class Feet {
 public:
  Feet(const PathNodes& nodes, const PathGraph& graph, Span<const std::uint32_t> group_of_node,
       const std::vector<FootGroup>& groups, const std::vector<StemRoot>& stems, OpContext& ctx)
      : nodes_(nodes), graph_(graph), group_of_(group_of_node), groups_(groups), stems_(stems), ctx_(ctx) {}

  std::vector<std::uint32_t> run() {
    find_touched();
    std::map<std::uint32_t, Outline> outlines;
    for_each_low_node([&](std::uint32_t node, std::uint32_t group) {
      const std::uint32_t stem = touched_[group];
      if (stem == kNoRoot) return;
      const auto height = static_cast<double>(nodes_.height[node]), top = height_of(group);
      const auto bin = static_cast<std::size_t>(std::clamp(height / top * kBins, 0.0, kBins - 1.0));
      outlines[group][bin].push_back(outside(node, stems_[stem]));
    });
    std::vector<std::uint32_t> out(groups_.size());
    std::iota(out.begin(), out.end(), 0U);
    for (auto& [group, outline] : outlines)
      if (falls(outline)) out[group] = touched_[group];
    return out;
  }

 private:
  double height_of(std::uint32_t group) const { return static_cast<double>(groups_[group].height_m); }

  double outside(std::uint32_t node, const StemRoot& stem) const {
    const Vec3d d = nodes_.place[node] - stem.foot;
    const Vec3d across = d - stem.axis * dot(d, stem.axis);
    return std::sqrt(dot(across, across)) - stem.radius_m;
  }

  /// Calls visit(node, group) for the nodes of known height of groups that may be feet.
  template <class Visit>
  void for_each_low_node(const Visit& visit) const {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (i % kPollEvery == 0) ctx_.checkpoint();
      const std::uint32_t group = group_of_[i];
      if (group == kNoRoot || groups_[group].has_stem) continue;
      if (!(height_of(group) <= kMostFootHeight) || !(height_of(group) > 0)) continue;
      if (std::isfinite(nodes_.height[i])) visit(static_cast<std::uint32_t>(i), group);
    }
  }

  /// Of each group the stem that the most nodes of its upper part touch, if enough do.
  void find_touched() {
    const double touch = kTouch * nodes_.edge_m;
    std::vector<std::size_t> tops(groups_.size(), 0);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> touching;  // of a group and a stem
    std::vector<std::uint32_t> seen;
    for_each_low_node([&](std::uint32_t node, std::uint32_t group) {
      if (static_cast<double>(nodes_.height[node]) < kTopPart * height_of(group)) return;
      ++tops[group];
      seen.clear();
      for (const std::uint32_t near : graph_.of(node)) {
        const std::uint32_t other = group_of_[near];
        if (other == kNoRoot || other == group || !groups_[other].has_stem || other >= stems_.size())
          continue;
        if (!(height_of(group) <= kMostFootPart * height_of(other))) continue;
        const Vec3d d = nodes_.place[near] - nodes_.place[node];
        if (dot(d, d) > touch * touch || std::find(seen.begin(), seen.end(), other) != seen.end()) continue;
        seen.push_back(other);
        ++touching[{group, other}];
      }
    });
    touched_.assign(groups_.size(), kNoRoot);
    std::vector<std::size_t> most(groups_.size(), 0);
    for (const auto& [pair, count] : touching) {
      const auto [group, stem] = pair;
      if (count <= most[group]) continue;
      most[group] = count;
      const bool enough = static_cast<double>(count) >= kLeastTouching * static_cast<double>(tops[group]);
      touched_[group] = enough ? stem : kNoRoot;
    }
  }

  /// Whether the outline comes nearer to the stem from bin to bin.
  bool falls(Outline& outline) const {
    std::vector<double> reach;
    for (std::vector<double>& bin : outline) {
      if (bin.size() < kLeastNodes) continue;
      const auto at =
          bin.begin() + static_cast<std::ptrdiff_t>(kOutline * static_cast<double>(bin.size() - 1));
      std::nth_element(bin.begin(), at, bin.end());
      reach.push_back(*at);
    }
    if (reach.size() < kLeastBins || reach.front() > kMostReach) return false;
    for (std::size_t i = 1; i < reach.size(); ++i)
      if (reach[i] > reach[i - 1] + nodes_.edge_m) return false;
    return reach.back() <= kTopReach * reach.front();
  }

  const PathNodes& nodes_;
  const PathGraph& graph_;
  Span<const std::uint32_t> group_of_;
  const std::vector<FootGroup>& groups_;
  const std::vector<StemRoot>& stems_;
  OpContext& ctx_;
  std::vector<std::uint32_t> touched_;
};

}  // namespace

std::vector<std::uint32_t> stem_feet(const PathNodes& nodes, const PathGraph& graph,
                                     Span<const std::uint32_t> group_of_node,
                                     const std::vector<FootGroup>& groups, const std::vector<StemRoot>& stems,
                                     OpContext& ctx) {
  return Feet(nodes, graph, group_of_node, groups, stems, ctx).run();
}

}  // namespace pc
