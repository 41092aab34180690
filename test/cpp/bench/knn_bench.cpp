#include <algorithm>
#include <cstdio>
#include <ctime>
#include <vector>

#include "bench.h"
#include "io/las.h"
#include "spatial/all_knn.h"

namespace pc::bench {

namespace {

/// Seconds of the building of the tree and of the search.
struct Seconds {
  double tree, search, cpu;
};

Seconds find_once(Span<const Vec3d> points, std::uint32_t k, std::vector<double>& kth, OpContext& ctx) {
  const std::clock_t start = std::clock();  // of all threads
  const Stopwatch building;
  const KdTree tree(points, ctx);
  const double tree_s = building.seconds();
  const KdTreeView view = tree.view();
  const Stopwatch searching;
  all_knn(tree, k, ctx, [&](std::uint32_t leaf, const LeafKnn& neighbors) {
    const kd_tree::Node& node = view.nodes[leaf];
    for (std::uint64_t slot = node.begin; slot < node.end; ++slot) {
      const auto squared = neighbors.squared(static_cast<std::uint32_t>(slot - node.begin));
      kth[slot] = squared.empty() ? 0 : squared[squared.size - 1];
    }
  });
  return {tree_s, searching.seconds(), static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC};
}

}  // namespace

int find_neighbors(const Arguments& arguments) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, thread_count(arguments, 2));
  io::LasReadParams read;
  read.wanted = [](const io::LasDimension&) { return false; };
  const io::LasCloud cloud = io::read_las(arguments[0], read, ctx);
  const auto k = static_cast<std::uint32_t>(std::min<std::size_t>(point_count(arguments[1]), 1000));
  std::vector<double> kth(cloud.table.positions.size());
  std::vector<Seconds> runs;
  for (int i = 0; i < 3; ++i) runs.push_back(find_once(cloud.table.positions.view(), k, kth, ctx));
  std::sort(runs.begin(), runs.end(),
            [](const Seconds& a, const Seconds& b) { return a.tree + a.search < b.tree + b.search; });
  std::printf(
      "{\"count\":%zu,\"op_s\":%.4f,\"op_cpu_s\":%.4f,\"tree_s\":%.4f,\"search_s\":%.4f,\"threads\":%d}\n",
      kth.size(), runs[1].tree + runs[1].search, runs[1].cpu, runs[1].tree, runs[1].search, ctx.threads());
  return 0;
}

}  // namespace pc::bench
