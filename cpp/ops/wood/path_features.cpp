#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/parallel.h"
#include "ops/wood/voxel_features.h"
#include "ops/wood/voxel_lines.h"
#include "ops/wood/voxel_neighbors.h"
#include "ops/wood/voxel_paths.h"
#include "ops/wood/voxel_shape.h"
#include "ops/wood/voxel_slices.h"

namespace pc {

namespace {

constexpr std::size_t kPoll = 65'536, kGrain = 8192;
constexpr double kLeast_m = 0.01;                              // added to lengths before their logarithm
constexpr std::array<double, 3> kBack_m{0.1, 0.3, 1};          // of the path, for its straightness
constexpr std::array<double, 4> kReaches_m{0.25, 0.75, 2, 5};  // of what hangs on a limb
constexpr double kMemory_m = 0.3, kLongMemory_m = 1;           // of means along the path
constexpr double kSliceVoxels = 6, kJoinVoxels = 4;
constexpr std::uint32_t kShapeColumn = kShapeWidth;  // of local_geometry: the second number of neighbours
constexpr std::size_t kShapes = 3;                   // linearity, planarity, sphericity
constexpr std::size_t kMostMeans = kShapes + 3;  // those, filled eighths, spread and coherence of the slices

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

float log_length(double metres) { return static_cast<float>(std::log2(std::min(metres, 1e6) + kLeast_m)); }

/// The paths in their own order: a voxel is known by its number in it, which is above that of the voxel before it.
struct Ways {
  Span<const std::uint32_t> voxel;
  BulkVector<std::uint32_t> from;  ///< kNoParent where a path starts
  BulkVector<float> length;

  Ways(const VoxelPaths& paths, OpContext& ctx)
      : voxel(paths.order.view()), from(voxel.size), length(voxel.size) {
    BulkVector<std::uint32_t> at(voxel.size);
    for (std::size_t k = 0; k < voxel.size; ++k) {
      if (k % kPoll == 0) ctx.checkpoint();
      const std::uint32_t i = voxel[k], parent = paths.parent[i];
      at[i] = static_cast<std::uint32_t>(k);
      from[k] = parent == kNoParent ? kNoParent : at[parent];
      length[k] = paths.length[i];
    }
  }
  std::size_t size() const { return voxel.size; }
  float step(std::size_t k) const { return length[k] - length[from[k]]; }
};

/// Sums over what hangs on each voxel, itself included.
struct Hanging {
  BulkVector<std::uint32_t> count;
  BulkVector<float> length, reach;

  Hanging(const Ways& ways, OpContext& ctx) : count(ways.size()), length(ways.size()), reach(ways.size()) {
    for (std::size_t k = ways.size(); k-- > 0;) {
      if (k % kPoll == 0) ctx.checkpoint();
      const std::uint32_t from = ways.from[k];
      ++count[k];
      if (from == kNoParent) continue;
      const float step = ways.step(k);
      count[from] += count[k];
      length[from] += length[k] + step;
      reach[from] = std::max(reach[from], reach[k] + step);
    }
  }
};

/// What depends on a voxel and its way back alone.
void write_way(std::size_t k, Span<const Vec3d> places, const Ways& ways, const Hanging& hanging, float* out,
               const OpContext& ctx) {
  const float length = ways.length[k];
  const std::uint32_t from = ways.from[k];
  out[kLength] = log_length(static_cast<double>(length));
  out[kHangCount] = static_cast<float>(std::log2(static_cast<double>(hanging.count[k])));
  out[kHangLength] = log_length(static_cast<double>(hanging.length[k]));
  out[kReach] = log_length(static_cast<double>(hanging.reach[k]));
  out[kBush] = out[kHangLength] - out[kReach];
  out[kStep] = log_length(from == kNoParent ? 0.0 : static_cast<double>(ways.step(k)));
  std::size_t at = k, walked = 0;
  for (std::size_t b = 0; b < kBack_m.size(); ++b) {
    while (ways.from[at] != kNoParent && static_cast<double>(length - ways.length[at]) < kBack_m[b]) {
      if (++walked % 4096 == 0) ctx.checkpoint();
      at = ways.from[at];
    }
    const double way = static_cast<double>(length - ways.length[at]);
    const double chord = std::sqrt(squared_distance(places[ways.voxel[k]], places[ways.voxel[at]]));
    out[kStraight + b] = way > 0 ? static_cast<float>(std::min(1.0, chord / way)) : 1;
    if (b < 2) out[kHangBack + b] = log_length(static_cast<double>(hanging.length[at]));
  }
}

/// Way back to the nearest voxel on whose path at least kReaches_m goes on, and the length of each path over the longest
/// one with the same start.
void write_limbs(const Ways& ways, const Hanging& hanging, BulkVector<float>& out, OpContext& ctx) {
  constexpr std::size_t kReaches = kReaches_m.size();
  const std::size_t m = ways.size();
  BulkVector<float> way(kReaches * m), longest(m);
  BulkVector<std::uint32_t> root(m);
  for (std::size_t k = 0; k < m; ++k) {
    if (k % kPoll == 0) ctx.checkpoint();
    const std::uint32_t from = ways.from[k];
    root[k] = from == kNoParent ? static_cast<std::uint32_t>(k) : root[from];
    longest[root[k]] = std::max(longest[root[k]], ways.length[k]);
    for (std::size_t r = 0; r < kReaches; ++r) {
      const bool is_limb = static_cast<double>(hanging.reach[k]) >= kReaches_m[r] || from == kNoParent;
      way[k * kReaches + r] = is_limb ? 0 : way[from * kReaches + r] + ways.length[k] - ways.length[from];
    }
  }
  parallel_for(ctx, m, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      float* const to = out.data() + std::size_t{ways.voxel[k]} * kPathWidth;
      const float most = longest[root[k]];
      to[kShare] = most > 0 ? ways.length[k] / most : 0;
      for (std::size_t r = 0; r < kReaches; ++r)
        to[kToLimb + r] = log_length(static_cast<double>(way[k * kReaches + r]));
    }
  });
}

/// Values of each voxel in the order of the paths, and their means: before a voxel along the path to it, after it over what
/// hangs on it, both fading with the distance.
class PathMeans {
 public:
  PathMeans(const Ways& ways, std::size_t width) : ways_(ways), width_(width), value_(width * ways.size()) {}

  float* values(std::size_t k) { return value_.data() + k * width_; }
  /// Calls put(voxel, means).
  template <class Put>
  void before(double memory_m, OpContext& ctx, const Put& put) {
    start(memory_m, ctx);
    for (std::size_t k = 0; k < ways_.size(); ++k) {
      if (k % kPoll == 0) ctx.checkpoint();
      const std::uint32_t from = ways_.from[k];
      if (from != kNoParent) add(from, k, keep_[k]);
      hand_over(k, put);
    }
  }
  template <class Put>
  void after(double memory_m, OpContext& ctx, const Put& put) {
    start(memory_m, ctx);
    for (std::size_t k = ways_.size(); k-- > 0;) {
      if (k % kPoll == 0) ctx.checkpoint();
      hand_over(k, put);
      const std::uint32_t from = ways_.from[k];
      if (from != kNoParent) add(k, from, keep_[k]);
    }
  }

 private:
  void start(double memory_m, OpContext& ctx) {
    const std::size_t m = ways_.size();
    weight_.resize(m);
    keep_.resize(m);
    sum_.resize(m * width_);
    parallel_for(ctx, m, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k) {
        weight_[k] = 1;
        const bool starts = ways_.from[k] == kNoParent;
        keep_[k] = starts ? 0 : static_cast<float>(std::exp(-static_cast<double>(ways_.step(k)) / memory_m));
      }
      std::copy(value_.data() + begin * width_, value_.data() + end * width_, sum_.data() + begin * width_);
    });
  }
  void add(std::size_t from, std::size_t to, float keep) {
    weight_[to] += keep * weight_[from];
    for (std::size_t c = 0; c < width_; ++c) sum_[to * width_ + c] += keep * sum_[from * width_ + c];
  }
  template <class Put>
  void hand_over(std::size_t k, const Put& put) {
    std::array<float, kMostMeans> mean;
    for (std::size_t c = 0; c < width_; ++c) mean[c] = sum_[k * width_ + c] / weight_[k];
    put(ways_.voxel[k], mean.data());
  }

  const Ways& ways_;
  std::size_t width_;
  BulkVector<float> value_, sum_, weight_, keep_;
};

void write_slices(const VoxelSlices& slices, BulkVector<float>& out, OpContext& ctx) {
  parallel_for(ctx, slices.slice_of.size(), kGrain, [&](std::size_t begin, std::size_t end) {
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

/// Means of the shapes; with lines also the lines, and means of them and of the slices.
void write_means(const Ways& ways, const NeighborFeatures& near, PathFeatures& found, OpContext& ctx) {
  const bool has_lines = !near.lines.empty();
  PathMeans means(ways, has_lines ? kMostMeans : kShapes);
  if (has_lines) found.lines.resize(ways.size() * kLinesWidth);
  parallel_for(ctx, ways.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      const std::size_t i = ways.voxel[k];
      float* const to = means.values(k);
      std::copy_n(near.shapes.data() + i * kLocalGeometryWidth + kShapeColumn, kShapes, to);
      if (!has_lines) continue;
      const float* const slice = found.path.data() + i * kPathWidth + kSlice;
      const float* const lines = near.lines.data() + i * kLineColumns;
      to[kShapes] = lines[kLineWidth];
      to[kShapes + 1] = slice[4];
      to[kShapes + 2] = slice[2];
      std::copy_n(lines, kLineColumns, found.lines.data() + i * kLinesWidth);
    }
  });
  // Of a value of the lines: the mean before, after, and after with the long memory.
  const auto put = [&](std::uint32_t i, const float* mean, std::uint32_t path_column,
                       std::uint32_t line_column) {
    std::copy_n(mean, kShapes, found.path.data() + std::size_t{i} * kPathWidth + path_column);
    for (std::size_t c = 0; has_lines && c < 3; ++c)
      found.lines[std::size_t{i} * kLinesWidth + kLineColumns + 3 * c + line_column] = mean[kShapes + c];
  };
  means.before(kMemory_m, ctx, [&](std::uint32_t i, const float* mean) { put(i, mean, kBefore, 0); });
  means.after(kMemory_m, ctx, [&](std::uint32_t i, const float* mean) { put(i, mean, kAfter, 1); });
  if (!has_lines) return;
  means.after(kLongMemory_m, ctx, [&](std::uint32_t i, const float* mean) {
    for (std::size_t c = 0; c < 3; ++c)
      found.lines[std::size_t{i} * kLinesWidth + kLineColumns + 3 * c + 2] = mean[kShapes + c];
  });
}

}  // namespace

PathFeatures path_features(const VoxelCloud& cloud, const NeighborFeatures& near, OpContext& ctx) {
  const auto places = cloud.nodes.place.view();
  PathFeatures found;
  BulkVector<float>& out = found.path;
  out.resize(places.size * kPathWidth);
  if (places.empty()) return found;
  const double voxel = cloud.nodes.edge_m;
  const VoxelPaths paths = voxel_paths(places, near.graph, voxel, ctx);
  const Ways ways(paths, ctx);
  {
    const Hanging hanging(ways, ctx);
    ctx.begin_phase("Measuring paths", places.size);
    parallel_for(ctx, places.size, 2048, [&](std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k)
        write_way(k, places, ways, hanging, out.data() + std::size_t{ways.voxel[k]} * kPathWidth, ctx);
    });
    write_limbs(ways, hanging, out, ctx);
  }
  write_slices(voxel_slices(places, near.graph, paths, kSliceVoxels * voxel, kJoinVoxels * voxel, ctx), out,
               ctx);
  write_means(ways, near, found, ctx);
  return found;
}

}  // namespace pc
