#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/parallel.h"
#include "ops/wood/voxel_features.h"
#include "ops/wood/voxel_lines.h"
#include "ops/wood/voxel_paths.h"
#include "ops/wood/voxel_shape.h"
#include "ops/wood/voxel_slices.h"

namespace pc {

namespace {

constexpr std::uint32_t kNeighbors = 10;
constexpr double kGap_m = 1;
constexpr std::size_t kPoll = 65'536;
constexpr double kLeast_m = 0.01;                              // added to lengths before their logarithm
constexpr std::array<double, 3> kBack_m{0.1, 0.3, 1};          // of the path, for its straightness
constexpr std::array<double, 4> kReaches_m{0.25, 0.75, 2, 5};  // of what hangs on a limb
constexpr double kMemory_m = 0.3, kLongMemory_m = 1;           // of means along the path
constexpr double kSliceVoxels = 6, kJoinVoxels = 4;
constexpr std::uint32_t kShapeColumn = kShapeWidth;  // of local_geometry: the second number of neighbours
constexpr std::size_t kShapes = 3;                   // linearity, planarity, sphericity

enum Column : std::uint32_t {
  kLength,                    // log of the path, metres
  kShare,                     // of the longest path of its plant
  kHangCount,                 // log of the voxels that hang on it
  kHangLength,                // log of the lengths of their steps
  kReach,                     // log of the longest path that goes on from it
  kBush,                      // log of kHangLength over kReach
  kStep,                      // log of its own step
  kStraight,                  // chord over path, for each of kBack_m
  kHangBack = kStraight + 3,  // log of the lengths that hang on the path .1 and .3 m before
  kToLimb = kHangBack + 2,    // log of the way back to a limb of each of kReaches_m
  kBefore = kToLimb + 4,      // means of the shapes along the path
  kAfter = kBefore + 3,       // means of the shapes of what hangs on it
  kSlice = kAfter + 3,        // radius, residual, coherence, coverage, spread, count
  kColumns = kSlice + 6
};
static_assert(kColumns == kPathWidth && kLineColumns + 9 == kLinesWidth);

/// Sums over what hangs on each voxel, itself included.
struct Hanging {
  BulkVector<std::uint32_t> count;
  BulkVector<float> length, reach;

  Hanging(const VoxelPaths& paths, OpContext& ctx) {
    const std::size_t m = paths.parent.size();
    count.resize(m);
    length.resize(m);
    reach.resize(m);
    for (std::size_t k = m; k-- > 0;) {
      if (k % kPoll == 0) ctx.checkpoint();
      const std::uint32_t i = paths.order[k], from = paths.parent[i];
      ++count[i];
      if (from == kNoParent) continue;
      const float step = paths.length[i] - paths.length[from];
      count[from] += count[i];
      length[from] += length[i] + step;
      reach[from] = std::max(reach[from], reach[i] + step);
    }
  }
};

float log_length(double metres) { return static_cast<float>(std::log2(std::min(metres, 1e6) + kLeast_m)); }

/// What depends on a voxel and its way back alone.
void write_way(std::uint32_t i, Span<const Vec3d> places, const VoxelPaths& paths, const Hanging& hanging,
               float* out, const OpContext& ctx) {
  const float length = paths.length[i];
  out[kLength] = log_length(static_cast<double>(length));
  out[kHangCount] = static_cast<float>(std::log2(static_cast<double>(hanging.count[i])));
  out[kHangLength] = log_length(static_cast<double>(hanging.length[i]));
  out[kReach] = log_length(static_cast<double>(hanging.reach[i]));
  out[kBush] = out[kHangLength] - out[kReach];
  const std::uint32_t from = paths.parent[i];
  out[kStep] = log_length(from == kNoParent ? 0.0 : static_cast<double>(length - paths.length[from]));
  std::uint32_t at = i;
  std::size_t walked = 0;
  for (std::size_t k = 0; k < kBack_m.size(); ++k) {
    while (paths.parent[at] != kNoParent && static_cast<double>(length - paths.length[at]) < kBack_m[k]) {
      if (++walked % 4096 == 0) ctx.checkpoint();
      at = paths.parent[at];
    }
    const double way = static_cast<double>(length - paths.length[at]);
    out[kStraight + k] =
        way > 0 ? static_cast<float>(std::min(1.0, std::sqrt(squared_distance(places[i], places[at])) / way))
                : 1;
    if (k < 2) out[kHangBack + k] = log_length(static_cast<double>(hanging.length[at]));
  }
}

/// Way back to the nearest voxel on whose path at least `reach_m` goes on.
void write_limb(const VoxelPaths& paths, const Hanging& hanging, double reach_m, std::uint32_t column,
                BulkVector<float>& out, OpContext& ctx) {
  BulkVector<float> way(paths.parent.size());
  for (std::size_t k = 0; k < paths.order.size(); ++k) {
    if (k % kPoll == 0) ctx.checkpoint();
    const std::uint32_t i = paths.order[k], from = paths.parent[i];
    const bool is_limb = static_cast<double>(hanging.reach[i]) >= reach_m || from == kNoParent;
    way[i] = is_limb ? 0 : way[from] + paths.length[i] - paths.length[from];
    out[std::size_t{i} * kPathWidth + column] = log_length(static_cast<double>(way[i]));
  }
}

/// Where the means of a value go: columns of `out` before a voxel and after it, kPathWidth or another width apart.
struct MeansTo {
  BulkVector<float>& out;
  std::uint32_t width, before, after;
  double memory_m;
};

/// Means of a value: along the path to each voxel, and over what hangs on it, both fading with the distance.
template <class Value>
void write_means(const VoxelPaths& paths, Value&& value, const MeansTo& to, OpContext& ctx) {
  const std::size_t m = paths.parent.size();
  const auto kept = [&](std::uint32_t i) {
    const float step = paths.length[i] - paths.length[paths.parent[i]];
    return static_cast<float>(std::exp(-static_cast<double>(step) / to.memory_m));
  };
  BulkVector<float> weight(m), sum(m);
  for (std::size_t k = 0; k < m; ++k) {
    if (k % kPoll == 0) ctx.checkpoint();
    const std::uint32_t i = paths.order[k];
    const bool starts = paths.parent[i] == kNoParent;
    const float keep = starts ? 0 : kept(i);
    weight[i] = 1 + (starts ? 0 : keep * weight[paths.parent[i]]);
    sum[i] = value(i) + (starts ? 0 : keep * sum[paths.parent[i]]);
    to.out[std::size_t{i} * to.width + to.before] = sum[i] / weight[i];
  }
  for (std::size_t i = 0; i < m; ++i) weight[i] = 1, sum[i] = value(static_cast<std::uint32_t>(i));
  for (std::size_t k = m; k-- > 0;) {
    if (k % kPoll == 0) ctx.checkpoint();
    const std::uint32_t i = paths.order[k], from = paths.parent[i];
    to.out[std::size_t{i} * to.width + to.after] = sum[i] / weight[i];
    if (from == kNoParent) continue;
    const float keep = kept(i);
    weight[from] += keep * weight[i];
    sum[from] += keep * sum[i];
  }
}

/// Length of each path over the longest one with the same start.
void write_share(const VoxelPaths& paths, BulkVector<float>& out, OpContext& ctx) {
  const std::size_t m = paths.parent.size();
  BulkVector<float> longest(m);
  BulkVector<std::uint32_t> root(m);
  for (std::size_t k = 0; k < m; ++k) {
    if (k % kPoll == 0) ctx.checkpoint();
    const std::uint32_t i = paths.order[k];
    root[i] = paths.parent[i] == kNoParent ? i : root[paths.parent[i]];
    longest[root[i]] = std::max(longest[root[i]], paths.length[i]);
  }
  for (std::size_t i = 0; i < m; ++i) {
    const float most = longest[root[i]];
    out[i * kPathWidth + kShare] = most > 0 ? paths.length[i] / most : 0;
  }
}

void write_slices(const VoxelSlices& slices, BulkVector<float>& out, OpContext& ctx) {
  parallel_for(ctx, slices.slice_of.size(), 65'536, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const VoxelSlice& slice = slices.slice[slices.slice_of[i]];
      float* const to = out.data() + i * kPathWidth + kSlice;
      to[0] = log_length(static_cast<double>(slice.radius_m));
      to[1] = slice.residual;
      to[2] = slice.coherence;
      to[3] = slice.coverage;
      to[4] = log_length(static_cast<double>(slice.spread_m));
      to[5] = static_cast<float>(std::log2(static_cast<double>(slice.count)));
    }
  });
}

/// The lines, then means of them and of the slices along the paths: fading within kMemory_m before and after, and within
/// kLongMemory_m after.
void write_lines(const VoxelPaths& paths, const VoxelSlices& slices, Span<const float> lines,
                 BulkVector<float>& out, OpContext& ctx) {
  const std::size_t m = paths.parent.size();
  out.resize(m * kLinesWidth);
  for (std::size_t i = 0; i < m; ++i) {
    if (i % kPoll == 0) ctx.checkpoint();
    std::copy_n(lines.data + i * kLineColumns, kLineColumns, out.data() + i * kLinesWidth);
  }
  const auto slice = [&](std::uint32_t i) -> const VoxelSlice& { return slices.slice[slices.slice_of[i]]; };
  const auto fill = [&](std::uint32_t i) { return lines[std::size_t{i} * kLineColumns + kLineWidth]; };
  const auto spread = [&](std::uint32_t i) { return log_length(static_cast<double>(slice(i).spread_m)); };
  const auto coherence = [&](std::uint32_t i) { return slice(i).coherence; };
  const auto means = [&](std::uint32_t column, const auto& value) {
    // The short mean after a voxel goes over the long one before it.
    write_means(paths, value, {out, kLinesWidth, column + 1, column + 2, kLongMemory_m}, ctx);
    write_means(paths, value, {out, kLinesWidth, column, column + 1, kMemory_m}, ctx);
  };
  means(kLineColumns, fill);
  means(kLineColumns + 3, spread);
  means(kLineColumns + 6, coherence);
}

}  // namespace

PathFeatures path_features(const VoxelCloud& cloud, const PathInputs& inputs, OpContext& ctx) {
  const auto places = cloud.nodes.place.view();
  PathFeatures found;
  BulkVector<float>& out = found.path;
  out.resize(places.size * kPathWidth);
  if (places.empty()) return found;
  const double voxel = cloud.nodes.edge_m;
  const PathGraph graph = path_graph(places, kNeighbors, kGap_m, ctx);
  const VoxelPaths paths = voxel_paths(places, graph, voxel, ctx);
  const Hanging hanging(paths, ctx);
  ctx.begin_phase("Measuring paths", places.size);
  parallel_for(ctx, places.size, 2048, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      write_way(static_cast<std::uint32_t>(i), places, paths, hanging, out.data() + i * kPathWidth, ctx);
  });
  write_share(paths, out, ctx);
  for (std::size_t k = 0; k < kReaches_m.size(); ++k)
    write_limb(paths, hanging, kReaches_m[k], kToLimb + static_cast<std::uint32_t>(k), out, ctx);
  for (std::uint32_t shape = 0; shape < kShapes; ++shape) {
    const auto value = [&](std::uint32_t i) {
      return inputs.local[std::size_t{i} * kLocalGeometryWidth + kShapeColumn + shape];
    };
    write_means(paths, value, {out, kPathWidth, kBefore + shape, kAfter + shape, kMemory_m}, ctx);
  }
  const VoxelSlices slices =
      voxel_slices(places, graph, paths, kSliceVoxels * voxel, kJoinVoxels * voxel, ctx);
  write_slices(slices, out, ctx);
  if (!inputs.lines.empty()) write_lines(paths, slices, inputs.lines, found.lines, ctx);
  return found;
}

}  // namespace pc
