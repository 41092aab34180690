#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "support/octree_clouds.h"
#include "support/octree_reader.h"

/// What is shown of the levels 0..k is evenly spaced: minimum distance, no holes, no trace of nodes or tiles.
namespace pc::test {
namespace {

using Cell = std::array<std::int64_t, 3>;

struct Placed {
  std::array<double, 3> at;
  const ReadNode* node;
};

/// Points by cells of a given width: a std::map, slow and obvious.
class CellMap {
 public:
  explicit CellMap(double width) : width_(width) {}
  void add(const Placed& p) { cells_[cell(p)].push_back(p); }
  /// Distance to the nearest point that `accept` takes, or infinity beyond one width.
  template <class Accept>
  double nearest(const Placed& p, const Accept& accept) const {
    const Cell center = cell(p);
    double best = HUGE_VAL;
    for (int n = 0; n < 27; ++n) {
      const auto found =
          cells_.find({center[0] + n % 3 - 1, center[1] + n / 3 % 3 - 1, center[2] + n / 9 - 1});
      if (found == cells_.end()) continue;
      for (const Placed& q : found->second) {
        if (accept(q))
          best = std::min(best, std::hypot(p.at[0] - q.at[0], p.at[1] - q.at[1], p.at[2] - q.at[2]));
      }
    }
    return best;
  }

 private:
  Cell cell(const Placed& p) const {
    Cell c;
    for (std::size_t a = 0; a < 3; ++a) c[a] = static_cast<std::int64_t>(std::floor(p.at[a] / width_));
    return c;
  }
  double width_;
  std::map<Cell, std::vector<Placed>> cells_;
};

std::vector<Placed> place(const ReadOctree& tree) {
  std::vector<Placed> placed;
  for (const ReadPoint& p : tree.points) {
    placed.push_back({{tree.coordinate(p, 0) - tree.cube_min[0], tree.coordinate(p, 1) - tree.cube_min[1],
                       tree.coordinate(p, 2) - tree.cube_min[2]},
                      &tree.nodes[p.node]});
  }
  return placed;
}

/// Inner nodes of a level by coordinates: where thinning to that level's distance applied.
std::map<std::array<std::uint64_t, 3>, bool> inner_nodes(const ReadOctree& tree, int level) {
  std::map<std::array<std::uint64_t, 3>, bool> inner;
  for (const ReadNode& node : tree.nodes) {
    if (node.level == level) inner[node.at] = node.child_mask != 0;
  }
  return inner;
}

bool is_thinned(const ReadOctree& tree, const std::map<std::array<std::uint64_t, 3>, bool>& inner,
                const Placed& p, int level) {
  const double side = std::ldexp(tree.spacing * 128, -level);
  const int own = p.node->level;
  std::array<std::uint64_t, 3> at;
  for (std::size_t a = 0; a < 3; ++a) {
    // A point's own node is known exactly; below it, coordinates decide.
    at[a] = static_cast<std::uint64_t>(p.at[a] / side);
    const std::uint64_t first = p.node->at[a] << (level - own),
                        last = first + (std::uint64_t{1} << (level - own)) - 1;
    at[a] = std::min(std::max(at[a], first), last);
  }
  const auto found = inner.find(at);
  return found != inner.end() && found->second;
}

void expect_poisson(const NamedCloud& cloud, std::uint32_t leaf_capacity) {
  SCOPED_TRACE(cloud.name);
  Built built;
  build(input_of(cloud), cloud.scale, leaf_capacity, 2, built);
  const ReadOctree tree = read_octree(built.sink.files, built.result.record_bytes);
  const std::vector<Placed> points = place(tree);
  std::size_t pairs_looked_at = 0, covered = 0;
  for (int level = 0; level < static_cast<int>(tree.depth); ++level) {
    const double r = std::ldexp(tree.spacing, -level);
    const auto inner = inner_nodes(tree, level);
    CellMap shown(r), thinned(r);
    for (const Placed& p : points) {
      if (p.node->level > level) continue;
      shown.add(p);
      if (is_thinned(tree, inner, p, level)) thinned.add(p);
    }
    for (const Placed& p : points) {
      if (p.node->level <= level && is_thinned(tree, inner, p, level)) {
        const double gap = thinned.nearest(p, [&](const Placed& q) { return &q != &p && q.at != p.at; });
        ASSERT_GE(gap, r * (1 - 1e-5)) << "level " << level << " in " << p.node->name;
        ++pairs_looked_at;
      }
      if (p.node->level == level + 1) {
        const double gap = shown.nearest(p, [](const Placed&) { return true; });
        ASSERT_LE(gap, r * (1 + 1e-5)) << "hole at level " << level << " around a point of " << p.node->name;
        ++covered;
      }
    }
  }
  EXPECT_GT(pairs_looked_at, 100u);
  EXPECT_GT(covered, 100u);
}

TEST(OctreeSampling, IsAPoissonDiskSetAcrossNodesWithoutHoles) {
  expect_poisson({"plot", plot_positions(20000), 0.001, {}}, 100);
  expect_poisson({"plane", random_box(20000, {500000, 5e6, 7}, {20, 20, 0}, 3), 0.0001, {}}, 300);
  expect_poisson({"volume", random_box(12000, {0, 0, 0}, {.05, .05, .05}, 4), 0.00001, {}}, 60);
  expect_poisson({"clusters", clusters(30, 300), 0.00001, {}}, 50);
  NamedCloud dense{"dense spot with an outlier", random_box(15000, {3, 3, 3}, {.2, .1, .01}, 5), 0.0001, {}};
  dense.points.push_back({5000, 20, 1});
  expect_poisson(dense, 100);
}

TEST(OctreeSampling, DuplicatesNeverRiseTogether) {
  NamedCloud cloud{"pairs", random_box(5000, {0, 0, 0}, {4, 4, 0}, 6), 0.001, {}};
  cloud.points.insert(cloud.points.end(), cloud.points.begin(), cloud.points.begin() + 5000);
  Built built;
  build(input_of(cloud), 0.001, 200, 2, built);
  const ReadOctree tree = read_octree(built.sink.files, built.result.record_bytes);
  std::map<std::array<std::int32_t, 3>, int> in_inner;
  for (const ReadPoint& p : tree.points) in_inner[p.at] += tree.nodes[p.node].type == 0;
  for (const auto& [at, count] : in_inner) ASSERT_LE(count, 1);
}

/// Share of points by signed distance (in r) to the nearest face of a grid of `width`, in bins of half an r,
/// relative to the mean. A random plane is seen from above: faces of x.
std::vector<double> face_profile(const ReadOctree& tree, int level, double width) {
  const double r = std::ldexp(tree.spacing, -level), side = tree.spacing * 128;
  constexpr int kBins = 16;  // +-4 r around the face
  std::vector<double> count(kBins);
  double all = 0;
  for (const ReadPoint& p : tree.points) {
    if (tree.nodes[p.node].level > level) continue;
    const double x = tree.coordinate(p, 0) - tree.cube_min[0];
    const double face = std::round(x / width) * width;
    if (face < width / 2 || face > side - width / 2) continue;
    all += 1;
    const double bin = ((x - face) / r + 4) * 2;
    if (bin >= 0 && bin < kBins) count[static_cast<std::size_t>(bin)] += 1;
  }
  const double faces = std::round(side / width) - 1;
  const double per_bin = all / (faces * width) * (r / 2) * faces;
  for (double& c : count) c /= per_bin;
  return count;
}

TEST(OctreeSampling, ShowsNoGridAtNodeAndTileFaces) {
  const NamedCloud cloud{"plane", random_box(250000, {0, 0, 0}, {10, 10, 0}, 3), 0.00001, {}};
  Built built;
  build(input_of(cloud), cloud.scale, 2000, 2, built);
  const ReadOctree tree = read_octree(built.sink.files, built.result.record_bytes);
  ASSERT_GE(tree.depth, 3u);
  const int level = 2;  // 6250 points per bin over 16 tile faces: +-2.5 % of noise
  const std::vector<double> tiles = face_profile(tree, level, std::ldexp(tree.spacing * 32, -level));
  for (std::size_t bin = 0; bin < tiles.size(); ++bin) {
    // Sampled halves of a plane meet with a ripple of a fifth within half an r of the seam; doubled density
    // is 2.
    EXPECT_NEAR(tiles[bin], 1.0, bin == 7 || bin == 8 ? 0.3 : 0.12) << "bin " << bin;
  }
  EXPECT_NEAR((tiles[7] + tiles[8]) / 2, 1.0, 0.06) << "density within half an r of the faces";
  const std::vector<double> nodes = face_profile(tree, level, std::ldexp(tree.spacing * 128, -level));
  double near_faces = 0;
  for (const double share : nodes) near_faces += share / static_cast<double>(nodes.size());
  EXPECT_NEAR(near_faces, 1.0, 0.06);
}

TEST(OctreeSampling, NearestNeighboursAreSpreadAsInRandomSequentialPacking) {
  // A plane thinned to its limit: every point has a neighbour between r and 2 r, and the mean gap of a
  // saturated random packing of discs is near 1.1 r, everywhere and not only in the interior of nodes.
  const NamedCloud cloud{"plane", random_box(150000, {0, 0, 0}, {10, 10, 0}, 8), 0.00001, {}};
  Built built;
  build(input_of(cloud), cloud.scale, 2000, 2, built);
  const ReadOctree tree = read_octree(built.sink.files, built.result.record_bytes);
  const std::vector<Placed> points = place(tree);
  const double r = tree.spacing, width = 32 * r;
  CellMap shown(2 * r);
  for (const Placed& p : points) {
    if (p.node->level == 0) shown.add(p);
  }
  double near_sum = 0, near_count = 0, far_sum = 0, far_count = 0;
  for (const Placed& p : points) {
    if (p.node->level != 0) continue;
    const double gap = shown.nearest(p, [&](const Placed& q) { return q.at != p.at; }) / r;
    ASSERT_LT(gap, 2.0);
    const bool near = std::abs(p.at[0] - std::round(p.at[0] / width) * width) < r ||
                      std::abs(p.at[1] - std::round(p.at[1] / width) * width) < r;
    (near ? near_sum : far_sum) += gap;
    (near ? near_count : far_count) += 1;
  }
  ASSERT_GT(near_count, 300);
  EXPECT_NEAR(far_sum / far_count, 1.1, 0.05);
  EXPECT_NEAR(near_sum / near_count, far_sum / far_count, 0.03);
}

}  // namespace
}  // namespace pc::test
