#include "ops/registration/local_features.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/parallel.h"

namespace pc {

namespace {

using Histogram = std::array<float, LocalFeature::kSize>;
constexpr std::size_t kBins = LocalFeature::kBins;
constexpr std::size_t kGrain = 64;
constexpr double kPi = 3.14159265358979323846;

/// Adds 1 at `place` in [0, 1], shared by the two bins whose centres are next to it.
void add(float* bins, double place) {
  const double at = std::min(std::max(place, 0.0), 1.0) * static_cast<double>(kBins - 1);
  const auto low = std::min<std::size_t>(static_cast<std::size_t>(at), kBins - 2);
  const auto share = static_cast<float>(at - static_cast<double>(low));
  bins[low] += 1 - share;
  bins[low + 1] += share;
}

void add_pair(Histogram& h, const Vec3d& np, const Vec3d& nq, const Vec3d& to_q) {
  const double length = std::sqrt(dot(to_q, to_q));
  if (!(length > 0)) return;
  const Vec3d d = to_q * (1 / length);
  const double p = dot(np, d), q = dot(nq, d), cosine = dot(np, nq);
  // The point whose normal is closer to the line is the source (section III of the paper).
  const bool swap = std::abs(q) > std::abs(p);
  const Vec3d u = swap ? nq : np, other = swap ? np : nq;
  const Vec3d across = cross(d, u);
  const double width = std::sqrt(dot(across, across));
  const double angle = std::acos(std::min(1.0, std::abs(cosine))) / kPi;
  add(h.data(), std::max(std::abs(p), std::abs(q)));
  add(h.data() + kBins, width > 0 ? std::abs(dot(across, other)) / width : 0);
  add(h.data() + 2 * kBins, 0.5 + (p * q * cosine < 0 ? -angle : angle));
}

void scale(Histogram& h) {
  for (std::size_t part = 0; part < 3; ++part) {
    float sum = 0;
    for (std::size_t i = 0; i < kBins; ++i) sum += h[part * kBins + i];
    if (!(sum > 0)) continue;
    for (std::size_t i = 0; i < kBins; ++i) h[part * kBins + i] /= sum;
  }
}

bool has_normal(const IcpLevel& level, std::size_t slot) {
  return dot(level.normals[slot], level.normals[slot]) > 0;
}

}  // namespace

BulkVector<LocalFeature> local_features(const IcpLevel& level, double radius_m, OpContext& ctx) {
  require(radius_m > 0, "a neighbourhood needs a radius");
  const std::size_t count = level.points.size();
  const KdTreeView tree = level.tree->view();
  const double squared_radius = radius_m * radius_m;
  BulkVector<Histogram> own(count);
  BulkVector<LocalFeature> out(count);
  parallel_for(ctx, count, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      own[i].fill(0);
      if (!has_normal(level, i)) continue;
      const Vec3d p = level.points[i];
      tree.for_each_within(p, squared_radius, [&](std::uint64_t, std::uint64_t slot, double) {
        if (slot != i && has_normal(level, slot))
          add_pair(own[i], level.normals[i], level.normals[slot], level.points[slot] - p);
      });
      scale(own[i]);
    }
  });
  parallel_for(ctx, count, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      Histogram sum{};
      std::uint32_t neighbors = 0;
      if (has_normal(level, i))
        tree.for_each_within(level.points[i], squared_radius,
                             [&](std::uint64_t, std::uint64_t slot, double squared) {
                               if (slot == i || !(squared > 0) || !has_normal(level, slot)) return;
                               const auto weight = static_cast<float>(squared_radius / squared);
                               for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += weight * own[slot][k];
                               ++neighbors;
                             });
      scale(sum);
      for (std::size_t k = 0; k < sum.size(); ++k)
        out[i].value[k] = neighbors == 0 ? 0 : std::sqrt(0.5F * (sum[k] + own[i][k]) / 3);
    }
  });
  return out;
}

namespace {

struct NearestFeature {
  std::uint32_t slot;
  float squared;
};

bool is_empty(const LocalFeature& f) {
  return std::all_of(f.value.begin(), f.value.end(), [](float v) { return v == 0; });
}

/// The other side, transposed by blocks of kLanes so that the compiler compares many at once.
struct FeatureBlocks {
  static constexpr std::size_t kLanes = 16;
  using Block = std::array<std::array<float, kLanes>, LocalFeature::kSize>;
  BulkVector<Block> blocks;

  explicit FeatureBlocks(Span<const LocalFeature> features) : blocks((features.size + kLanes - 1) / kLanes) {
    for (std::size_t i = 0; i < blocks.size() * kLanes; ++i) {
      const bool has = i < features.size && !is_empty(features[i]);
      for (std::size_t k = 0; k < LocalFeature::kSize; ++k)
        blocks[i / kLanes][k][i % kLanes] = has ? features[i].value[k] : 1e9F;  // farther than any
    }
  }

  using Sums = std::array<float, kLanes>;

  static void add_part(const Block& block, const LocalFeature& f, std::size_t first, Sums& sum) {
    for (std::size_t k = first; k < first + kBins; ++k)
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const float d = block[k][lane] - f.value[k];
        sum[lane] += d * d;
      }
  }

  NearestFeature nearest(const LocalFeature& f) const {
    NearestFeature best{~std::uint32_t{0}, std::numeric_limits<float>::infinity()};
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      Sums sum{};
      std::size_t part = 0;
      // The sums only grow, so a block whose sums are all too large needs no further bins.
      do {
        add_part(blocks[b], f, part, sum);
        part += kBins;
      } while (part < LocalFeature::kSize && *std::min_element(sum.begin(), sum.end()) < best.squared);
      if (part < LocalFeature::kSize) continue;
      for (std::size_t lane = 0; lane < kLanes; ++lane)
        if (sum[lane] < best.squared) best = {static_cast<std::uint32_t>(b * kLanes + lane), sum[lane]};
    }
    return best;
  }
};

BulkVector<NearestFeature> nearest_of_each(Span<const LocalFeature> from, Span<const LocalFeature> to,
                                           OpContext& ctx) {
  const FeatureBlocks blocks(to);
  BulkVector<NearestFeature> out(from.size);
  parallel_for(ctx, from.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      out[i] = {~std::uint32_t{0}, 0};
      if (is_empty(from[i])) continue;
      const NearestFeature found = blocks.nearest(from[i]);
      if (found.squared < 100) out[i] = found;
    }
  });
  return out;
}

}  // namespace

BulkVector<FeatureMatch> reciprocal_matches(Span<const LocalFeature> moving, Span<const LocalFeature> fixed,
                                            OpContext& ctx) {
  const BulkVector<NearestFeature> forth = nearest_of_each(moving, fixed, ctx);
  const BulkVector<NearestFeature> back = nearest_of_each(fixed, moving, ctx);
  BulkVector<FeatureMatch> out;
  for (std::size_t i = 0; i < forth.size(); ++i) {
    const NearestFeature& f = forth[i];
    if (f.slot < fixed.size && back[f.slot].slot == i)
      out.push_back({static_cast<std::uint32_t>(i), f.slot, f.squared});
  }
  return out;
}

}  // namespace pc
