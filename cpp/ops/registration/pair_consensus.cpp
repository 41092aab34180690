#include "ops/registration/pair_consensus.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <optional>

#include "core/memory.h"
#include "core/parallel.h"
#include "ops/registration/rigid_fit.h"

namespace pc {

namespace {

constexpr std::uint32_t kLeastCore = 3;  // a motion in space needs three pairs
constexpr std::size_t kMostSeeds = 400, kBasis = 30;
constexpr int kNarrowings = 4, kPolishings = 4;
constexpr double kFirstBound = 4;

/// Which pairs are linked: a row of bits for each.
class Links {
 public:
  Links(Span<const PointPair> pairs, double bound_m, OpContext& ctx)
      : count_(pairs.size), words_((pairs.size + 63) / 64), bits_(count_ * words_) {
    parallel_for(ctx, count_, 16, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        for (std::size_t j = 0; j < count_; ++j) {
          const double m = std::sqrt(squared_distance(pairs[i].moving, pairs[j].moving));
          const double f = std::sqrt(squared_distance(pairs[i].fixed, pairs[j].fixed));
          const bool linked = std::abs(m - f) <= bound_m && std::min(m, f) > 2 * bound_m;
          bits_[i * words_ + j / 64] |= std::uint64_t{linked} << (j % 64);
        }
    });
  }

  std::size_t count() const { return count_; }
  bool linked(std::size_t i, std::size_t j) const {
    return (bits_[i * words_ + j / 64] >> (j % 64) & 1) != 0;
  }

  std::uint32_t degree(std::size_t i) const { return shared(i, i); }
  std::uint32_t shared(std::size_t i, std::size_t j) const {
    int sum = 0;
    for (std::size_t w = 0; w < words_; ++w)
      sum += std::popcount(bits_[i * words_ + w] & bits_[j * words_ + w]);
    return static_cast<std::uint32_t>(sum);
  }

  template <class Visit>
  void for_each(std::size_t i, const Visit& visit) const {
    for (std::size_t w = 0; w < words_; ++w)
      for (std::uint64_t rest = bits_[i * words_ + w]; rest != 0; rest &= rest - 1)
        visit(64 * w + static_cast<std::size_t>(std::countr_zero(rest)));
  }

 private:
  std::size_t count_, words_;
  BulkVector<std::uint64_t> bits_;
};

/// Core number of each pair: the largest k for which it lies in a part where each has k links (Batagelj & Zaversnik
/// 2003: the least linked is taken away first).
std::vector<std::uint32_t> core_numbers(const Links& links, const std::vector<std::uint32_t>& degrees,
                                        OpContext& ctx) {
  std::vector<std::uint32_t> core = degrees;
  const std::uint32_t most = core.empty() ? 0 : *std::max_element(core.begin(), core.end());
  std::vector<std::vector<std::uint32_t>> of_degree(most + 1);
  for (std::size_t i = 0; i < core.size(); ++i) of_degree[core[i]].push_back(static_cast<std::uint32_t>(i));
  std::vector<bool> gone(core.size());
  for (std::uint32_t k = 0; k <= most; ++k) {
    ctx.checkpoint();
    for (std::size_t at = 0; at < of_degree[k].size(); ++at) {
      const std::uint32_t i = of_degree[k][at];
      if (gone[i] || core[i] != k) continue;
      gone[i] = true;
      links.for_each(i, [&](std::size_t j) {
        if (gone[j] || core[j] <= k) return;
        of_degree[--core[j]].push_back(static_cast<std::uint32_t>(j));
      });
    }
  }
  return core;
}

/// Pairs that a pose brings within the bound, and the motion that fits them best.
struct Agreement {
  RigidFit fit;
  std::uint32_t count = 0;
};

Agreement agreement(Span<const PointPair> pairs, const RigidTransform& pose, double bound_m) {
  Agreement out;
  for (const PointPair& pair : pairs) {
    if (squared_distance(pose(pair.moving), pair.fixed) > bound_m * bound_m) continue;
    out.fit.add(pair.moving, pair.fixed, 1);
    ++out.count;
  }
  return out;
}

/// Truncated least squares from a pose near enough.
ConsensusPose refined(Span<const PointPair> pairs, RigidTransform pose, double bound_m) {
  for (int i = 0; i < kNarrowings; ++i) {
    const double share = static_cast<double>(i) / kNarrowings;
    const Agreement within = agreement(pairs, pose, bound_m * std::pow(kFirstBound, 1 - share));
    if (within.count >= kLeastCore) pose = within.fit.motion();
  }
  ConsensusPose best{pose, agreement(pairs, pose, bound_m).count};
  for (int i = 0; i < kPolishings; ++i) {
    const Agreement within = agreement(pairs, pose, bound_m);
    if (within.count < kLeastCore) break;
    pose = within.fit.motion();
    const std::uint32_t count = agreement(pairs, pose, bound_m).count;
    if (count <= best.agreeing) break;
    best = {pose, count};
  }
  return best;
}

/// The motion of a seed and the links that share most neighbours with it.
ConsensusPose pose_of_seed(Span<const PointPair> pairs, const Links& links, std::size_t seed,
                           double bound_m) {
  struct Link {
    std::uint32_t shared, pair;
  };
  std::vector<Link> ranked;
  links.for_each(seed, [&](std::size_t j) {
    ranked.push_back({links.shared(seed, j), static_cast<std::uint32_t>(j)});
  });
  const std::size_t kept = std::min(kBasis, ranked.size());
  std::partial_sort(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(kept), ranked.end(),
                    [](const Link& a, const Link& b) {
                      return a.shared > b.shared || (a.shared == b.shared && a.pair < b.pair);
                    });
  RigidFit fit;
  fit.add(pairs[seed].moving, pairs[seed].fixed, 1);
  for (std::size_t i = 0; i < kept; ++i)
    fit.add(pairs[ranked[i].pair].moving, pairs[ranked[i].pair].fixed, 1 + ranked[i].shared);
  return refined(pairs, fit.motion(), bound_m);
}

double apart(Span<const PointPair> pairs, const RigidTransform& a, const RigidTransform& b) {
  double sum = 0;
  for (const PointPair& pair : pairs) sum += squared_distance(a(pair.moving), b(pair.moving));
  return std::sqrt(sum / static_cast<double>(pairs.size));
}

}  // namespace

std::vector<ConsensusPose> consensus_poses(Span<const PointPair> pairs, const ConsensusParams& params,
                                           OpContext& ctx) {
  require(std::isfinite(params.bound_m) && params.bound_m > 0,
          "the bound of a consensus must be finite and positive");
  require(pairs.size <= kMostPairs, "too many pairs for a consensus");
  const Links links(pairs, params.bound_m, ctx);
  std::vector<std::uint32_t> degrees(pairs.size);
  for (std::size_t i = 0; i < degrees.size(); ++i) degrees[i] = links.degree(i);
  const std::vector<std::uint32_t> core = core_numbers(links, degrees, ctx);
  std::vector<std::uint32_t> seeds;
  for (std::uint32_t i = 0; i < core.size(); ++i)
    if (core[i] >= kLeastCore) seeds.push_back(i);
  std::sort(seeds.begin(), seeds.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (core[a] != core[b]) return core[a] > core[b];
    return degrees[a] > degrees[b] || (degrees[a] == degrees[b] && a < b);
  });
  seeds.resize(std::min(seeds.size(), kMostSeeds));
  std::vector<ConsensusPose> found(seeds.size());
  parallel_for(ctx, seeds.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t s = begin; s < end; ++s) found[s] = pose_of_seed(pairs, links, seeds[s], params.bound_m);
  });
  std::stable_sort(found.begin(), found.end(),
                   [](const ConsensusPose& a, const ConsensusPose& b) { return a.agreeing > b.agreeing; });
  std::vector<ConsensusPose> out;
  for (const ConsensusPose& pose : found) {
    if (out.size() >= params.most_poses || pose.agreeing < kLeastCore) break;
    ctx.checkpoint();
    const bool known = std::any_of(out.begin(), out.end(), [&](const ConsensusPose& other) {
      return apart(pairs, pose.pose, other.pose) < 2 * params.bound_m;
    });
    if (!known) out.push_back(pose);
  }
  return out;
}

}  // namespace pc
