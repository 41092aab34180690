#include <algorithm>
#include <cstdio>
#include <ctime>
#include <map>
#include <vector>

#include "bench/bench.h"
#include "io/las.h"
#include "ops/trees/cut_pursuit_trees.h"

namespace pc::bench {

namespace {

/// The vegetation of a plot (classes 4 and 5) with its true trees; all points of a file without such classes.
struct Vegetation {
  std::vector<Vec3d> points;
  std::vector<std::uint16_t> tree;
};

const AnyColumn* column_of(const io::LasCloud& cloud, const char* name) {
  for (const io::NamedColumn& column : cloud.table.columns) {
    if (column.name == name) return &column.values;
  }
  return nullptr;
}

Vegetation vegetation_of(const io::LasCloud& cloud) {
  Vegetation out;
  const auto xyz = cloud.table.positions.view();
  const AnyColumn* const classes = column_of(cloud, "classification");
  const AnyColumn* const trees = column_of(cloud, "point_source_id");
  for (std::size_t i = 0; classes != nullptr && trees != nullptr && i < xyz.size; ++i) {
    const std::uint8_t kind = classes->as<std::uint8_t>()[i];
    if (kind != 4 && kind != 5) continue;
    out.points.push_back(xyz[i]);
    out.tree.push_back(trees->as<std::uint16_t>()[i]);
  }
  if (out.points.empty()) out.points.assign(xyz.begin(), xyz.end());
  return out;
}

/// Share of the points in the true tree that most points of their own tree belong to.
double purity(Span<const std::uint32_t> found, const std::vector<std::uint16_t>& tree) {
  std::map<std::pair<std::uint32_t, std::uint16_t>, std::size_t> pairs;
  for (std::size_t i = 0; i < tree.size(); ++i) ++pairs[{found[i], tree[i]}];
  std::map<std::uint32_t, std::size_t> most;
  for (const auto& [pair, count] : pairs) most[pair.first] = std::max(most[pair.first], count);
  std::size_t sum = 0;
  for (const auto& [label, count] : most) sum += count;
  return tree.empty() ? 0 : static_cast<double>(sum) / static_cast<double>(tree.size());
}

}  // namespace

int segment_trees(const Arguments& arguments) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, thread_count(arguments, 1));
  const Vegetation plants = vegetation_of(io::read_las(arguments[0], {}, ctx));
  const CutPursuitTreesParams params{.reg_strength1 = 1,
                                     .min_nn1 = 5,
                                     .decimate_res1 = 0.05,
                                     .reg_strength2 = 15,
                                     .min_nn2 = 20,
                                     .decimate_res2 = 0.1,
                                     .max_gap = 2,
                                     .rel_height_length_ratio = 0.5,
                                     .vertical_weight = 0.5,
                                     .min_nn3 = 20,
                                     .score_candidate_thresh = 0.7,
                                     .init_stem_rel_length_thresh = 1.5,
                                     .max_outlier_gap = 3,
                                     .voxel_origin = {}};
  const std::clock_t start = std::clock();
  const Stopwatch watch;
  const auto found = cut_pursuit_trees(HitPoints::assume_hits({plants.points.data(), plants.points.size()}),
                                       {}, params, ctx);
  const double seconds = watch.seconds();
  const double cpu = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  std::printf(
      "{\"count\":%zu,\"op_s\":%.4f,\"op_cpu_s\":%.4f,\"trees\":%llu,\"purity\":%.4f,\"nodes\":%llu,"
      "\"threads\":%d}\n",
      plants.points.size(), seconds, cpu, static_cast<unsigned long long>(found.tree_count),
      purity(found.tree_instance.view(), plants.tree), static_cast<unsigned long long>(found.node_count),
      ctx.threads());
  return 0;
}

}  // namespace pc::bench
