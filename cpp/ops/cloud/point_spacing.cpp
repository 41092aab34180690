#include "ops/cloud/point_spacing.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/gpu_run.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "core/random.h"
#include "ops/cloud/percentile.h"
#include "ops/cloud/point_spacing_kernel.h"
#include "spatial/ball_footprint.h"
#include "spatial/ball_grid.h"
#include "spatial/kd_tree.h"

namespace pc {

namespace {

using point_spacing_kernel::Pass;

constexpr std::uint64_t kFirstSubset = 1024;  // every sample is compared with every point of it
constexpr std::uint64_t kSubsetRatio = 8;     // passes cost n (1 + 1/8 + ...); pair tests grow with the ratio
constexpr std::size_t kGrain = 1024;          // worst block seen, 200 000 samples: 15 M pair tests, 40 ms

/// Above one sample in this many points a tree is faster, than a GPU too (4M points, 200,000 samples: 0.16 s, 16 cores; 0.26 s,
/// an H200).
constexpr std::uint64_t kTreeShare = 64;
constexpr const char* kPhase = "Measuring point spacing";

using Seed = std::optional<std::uint64_t>;

/// A row from stretch t of k equal stretches of n rows: a random one, or without a seed the first.
std::uint64_t stratum_row(std::uint64_t t, std::uint64_t k, std::uint64_t n, Seed seed) {
  const std::uint64_t step = n / k, longer = n % k;
  const std::uint64_t begin = t * step + std::min(t, longer), length = step + (t < longer ? 1 : 0);
  return seed ? begin + random_u64(*seed, t) % length : begin;
}

struct Subset {
  BulkVector<Vec3d> points;
  BulkVector<std::uint64_t> rows;
};

Subset take_subset(Span<const Vec3d> xyz, std::uint64_t count, Seed seed, OpContext& ctx) {
  Subset subset{BulkVector<Vec3d>(count), BulkVector<std::uint64_t>(count)};
  parallel_for(ctx, count, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t t = begin; t < end; ++t) {
      subset.rows[t] = stratum_row(t, count, xyz.size, seed);
      subset.points[t] = xyz[subset.rows[t]];
    }
  });
  return subset;
}

/// The samples (finite rows of a stratified subset) and their best distances so far.
struct Samples {
  BulkVector<Vec3d> points;
  BulkVector<std::uint64_t> rows;
  BulkVector<std::uint64_t> best_bits;
};

Samples take_samples(Span<const Vec3d> xyz, const PointSpacingParams& params, OpContext& ctx) {
  const std::uint64_t wanted = std::min<std::uint64_t>(xyz.size, params.max_samples);
  Subset subset = take_subset(xyz, wanted, params.seed, ctx);
  Samples samples;
  samples.points.reserve(wanted);
  samples.rows.reserve(wanted);
  samples.best_bits.reserve(wanted);
  for (std::size_t i = 0; i < wanted; ++i) {
    if (!is_finite(subset.points[i])) continue;
    samples.points.push_back(subset.points[i]);
    samples.rows.push_back(subset.rows[i]);
    samples.best_bits.push_back(bits_of(std::numeric_limits<double>::infinity()));
  }
  return samples;
}

Pass pass_over(Span<const Vec3d> points, const std::uint64_t* rows, Samples& samples) {
  return {points.data, rows, 0, samples.points.data(), samples.rows.data(), samples.best_bits.data(), {}};
}

void compare_with_all(const Subset& subset, Samples& samples, OpContext& ctx) {
  const Pass pass = pass_over(subset.points.view(), subset.rows.data(), samples);
  parallel_for(ctx, samples.points.size(), 256, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = 0; i < subset.points.size(); ++i) {
      if (!is_finite(subset.points[i])) continue;
      for (std::size_t s = begin; s < end; ++s) {
        point_spacing_kernel::offer(subset.points[i], subset.rows[i], s, pass);
      }
    }
  });
}

/// Runs one pass over points on the device of the context.
void run_pass(Span<const Vec3d> points, const std::uint64_t* rows, Samples& samples, GpuRun& gpu,
              OpContext& ctx) {
  BulkVector<double> squared_radius(samples.points.size());
  for (std::size_t i = 0; i < squared_radius.size(); ++i) {
    squared_radius[i] = double_of(samples.best_bits[i]);
  }
  const BallGrid grid(samples.points.view(), squared_radius.view(), ctx);
  Pass pass = pass_over(points, rows, samples);
  pass.grid = grid.view();
  const point_spacing_kernel::HostPass host{
      pass, points.size, samples.points.size(), grid.filter_words(), grid.bucket_count(), grid.entry_count()};
  const bool done = gpu.run([&](const auto& table, const auto& control, auto& error) {
    return table.point_spacing_pass(&host, &control, &error);
  });
  if (done) return;
  const BallFootprint footprint(samples.points.view(), squared_radius.view(), grid.levels(), ctx);
  parallel_for(ctx, points.size, kGrain, [&](std::size_t begin, std::size_t end) {
    std::array<std::uint32_t, kGrain> near;  // offsets of the points that a ball may contain
    std::array<std::uint8_t, kGrain> levels;
    std::size_t count = 0;  // counted without a branch: which points those are is hard to predict
    for (std::size_t i = begin; i < end; ++i) {
      near[count] = static_cast<std::uint32_t>(i - begin);
      levels[count] = footprint.levels(points[i]);
      count += levels[count] != 0;
    }
    for (std::size_t k = 0; k < count; ++k)
      point_spacing_kernel::visit_point(begin + near[k], pass, levels[k]);
  });
}

/// Subset sizes from kFirstSubset to n, each at most kSubsetRatio times the previous one; the last is n itself.
std::vector<std::uint64_t> subset_sizes(std::uint64_t n) {
  std::vector<std::uint64_t> sizes{n};
  while (sizes.back() > kFirstSubset) {
    sizes.push_back(std::max(kFirstSubset, (sizes.back() + kSubsetRatio - 1) / kSubsetRatio));
  }
  std::reverse(sizes.begin(), sizes.end());
  return sizes;
}

bool all_zero(const BulkVector<std::uint64_t>& best_bits) {
  return std::all_of(best_bits.begin(), best_bits.end(), [](std::uint64_t bits) { return bits == 0; });
}

void find_neighbors(Span<const Vec3d> xyz, const PointSpacingParams& params, Samples& samples, GpuRun& gpu,
                    OpContext& ctx) {
  const std::vector<std::uint64_t> sizes = subset_sizes(xyz.size);
  for (std::size_t round = 0; round < sizes.size() && !all_zero(samples.best_bits); ++round) {
    if (round > 0 && round + 1 == sizes.size()) {
      run_pass(xyz, nullptr, samples, gpu, ctx);
      return;
    }
    const Subset subset = take_subset(xyz, sizes[round], random_u64(params.seed.value_or(0), round), ctx);
    if (round == 0) {
      compare_with_all(subset, samples, ctx);
    } else {
      run_pass(subset.points.view(), subset.rows.data(), samples, gpu, ctx);
    }
  }
}

/// Ascending distances of all samples to the nearest point at another position.
BulkVector<double> distances_elsewhere(Span<const Vec3d> xyz, const Samples& samples, OpContext& ctx) {
  const KdTree tree(xyz, ctx);
  BulkVector<double> distances(samples.points.size());
  parallel_for(ctx, samples.points.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      distances[i] = std::sqrt(tree.view().nearest_elsewhere(samples.points[i]));
  });
  std::sort(distances.begin(), distances.end());
  const auto finite = std::lower_bound(distances.begin(), distances.end(), kd_tree::kInfinity);
  distances.resize(static_cast<std::size_t>(finite - distances.begin()));
  return distances;
}

/// Finds exactly what the passes find, in a fraction of the time with more memory.
void find_in_tree(Span<const Vec3d> xyz, Samples& samples, OpContext& ctx) {
  ctx.begin_phase(kPhase, 0);
  const KdTree tree(xyz, ctx);
  ctx.begin_phase(kPhase, samples.points.size());
  parallel_for(ctx, samples.points.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      double squared = 0;
      tree.view().nearest_distances(samples.points[i], 1, samples.rows[i], &squared, 1);
      samples.best_bits[i] = bits_of(squared);
    }
  });
}

std::uint64_t work_of(std::uint64_t n, std::uint64_t sample_count) {
  std::uint64_t work = 2 * sample_count;  // progress: sampling, and the comparison with the first subset
  const std::vector<std::uint64_t> sizes = subset_sizes(n);
  for (std::size_t round = 0; round < sizes.size(); ++round) {
    const bool last = round > 0 && round + 1 == sizes.size(), first = round == 0;
    work += last || first ? sizes[round] : 2 * sizes[round];
  }
  return work;
}

}  // namespace

PointSpacingResult point_spacing(HitPoints points, const PointSpacingParams& params, OpContext& ctx) {
  if (params.max_samples == 0 || params.max_samples > kMaxSpacingSamples) {
    throw Error(ErrorCode::kInvalidArgument, "max_samples " + std::to_string(params.max_samples) +
                                                 " must be 1 to " + std::to_string(kMaxSpacingSamples));
  }
  PointSpacingResult result{};
  result.point_count = points.size();
  if (points.size() < 2) return result;

  const std::uint64_t wanted = std::min<std::uint64_t>(points.size(), params.max_samples);
  ctx.begin_phase(kPhase, work_of(points.size(), wanted));
  Samples samples = take_samples(points.xyz(), params, ctx);
  if (points.size() / kTreeShare <= wanted) {
    find_in_tree(points.xyz(), samples, ctx);
  } else {
    GpuRun gpu(ctx, "Point spacing", result.warnings);
    find_neighbors(points.xyz(), params, samples, gpu, ctx);
  }

  BulkVector<double> distances;
  distances.reserve(samples.best_bits.size());
  for (const std::uint64_t bits : samples.best_bits) {
    const double squared = double_of(bits);
    if (std::isfinite(squared)) distances.push_back(std::sqrt(squared));
  }
  std::sort(distances.begin(), distances.end());
  result.sampled_count = distances.size();
  result.duplicate_count = static_cast<std::uint64_t>(
      std::upper_bound(distances.begin(), distances.end(), 0.0) - distances.begin());
  if (distances.size() < wanted) {
    result.warnings.push_back("Point spacing: " + std::to_string(wanted - distances.size()) + " of " +
                              std::to_string(wanted) +
                              " sampled points are not finite or have no neighbour at a finite distance");
  }
  if (!distances.empty()) {
    result.median_m = sorted_percentile(distances.view(), 0.5);
    result.p95_m = sorted_percentile(distances.view(), 0.95);
  }
  Span<const double> apart{distances.data() + result.duplicate_count,
                           distances.size() - result.duplicate_count};
  BulkVector<double> elsewhere;
  if (2 * apart.size < distances.size()) {
    elsewhere = distances_elsewhere(points.xyz(), samples, ctx);
    apart = elsewhere.view();
  }
  if (apart.size > 0) {
    result.distinct_median_m = sorted_percentile(apart, 0.5);
    result.distinct_p95_m = sorted_percentile(apart, 0.95);
  }
  return result;
}

}  // namespace pc
