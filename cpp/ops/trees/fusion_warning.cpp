#include "ops/trees/fusion_warning.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "core/error.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "core/radix_sort.h"
#include "core/random.h"
#include "spatial/union_find.h"

namespace pc {

namespace {

constexpr std::size_t kFewestPoints = 200, kFewestLow = 50, kSample = 4000;
constexpr std::size_t kPoll = std::size_t{1} << 16;
constexpr double kSlab = 0.8, kLink = 1.0;

struct Place {
  double x, y;
};

std::uint64_t hash_of(const Vec3d& p, std::uint64_t seed) {
  std::uint64_t hash = random_u64(seed, std::bit_cast<std::uint64_t>(p.x + 0.0));
  hash = random_u64(hash, std::bit_cast<std::uint64_t>(p.y + 0.0));
  return random_u64(hash, std::bit_cast<std::uint64_t>(p.z + 0.0));
}

/// Sizes of the single-linkage clusters. Points in one square whose diagonal is the link distance are linked anyway.
std::vector<std::size_t> cluster_sizes(const std::vector<Place>& places) {
  const double edge = kLink / std::sqrt(2.0) * (1 - 1e-12);
  double x0 = HUGE_VAL, y0 = HUGE_VAL;
  for (const Place& p : places) x0 = std::min(x0, p.x), y0 = std::min(y0, p.y);
  using Square = std::pair<double, double>;
  const auto square = [&](const Place& p) {
    return Square{std::floor((p.x - x0) / edge), std::floor((p.y - y0) / edge)};
  };
  std::vector<std::pair<Square, std::size_t>> sorted;
  for (std::size_t i = 0; i < places.size(); ++i) sorted.emplace_back(square(places[i]), i);
  std::sort(sorted.begin(), sorted.end());
  const auto members = [&](const Square& at) {
    const auto first = std::lower_bound(sorted.begin(), sorted.end(), std::pair(at, std::size_t{0}));
    auto last = first;
    while (last != sorted.end() && last->first == at) ++last;
    return std::pair(first, last);
  };
  UnionFind linked(places.size());
  for (auto it = sorted.begin(); it != sorted.end();) {
    const auto [first, last] = members(it->first);
    for (auto one = first; one != last; ++one) linked.join(first->second, one->second);
    for (int dx = 0; dx <= 2; ++dx) {
      for (int dy = dx == 0 ? 1 : -2; dy <= 2; ++dy) {
        const auto [from, to] = members({it->first.first + dx, it->first.second + dy});
        if (from == to || linked.root_of(first->second) == linked.root_of(from->second)) continue;
        const bool near = std::any_of(first, last, [&](const auto& a) {
          return std::any_of(from, to, [&](const auto& b) {
            const double ex = places[a.second].x - places[b.second].x,
                         ey = places[a.second].y - places[b.second].y;
            return ex * ex + ey * ey <= kLink * kLink;
          });
        });
        if (near) linked.join(first->second, from->second);
      }
    }
    it = last;
  }
  std::vector<std::size_t> sizes(places.size(), 0);
  for (std::size_t i = 0; i < places.size(); ++i) ++sizes[linked.root_of(i)];
  return sizes;
}

/// Points and how high they are: above the ground, or above a level.
struct Standing {
  Span<const Vec3d> points;
  Span<const float> heights;  ///< empty = the ground is level

  double level(std::uint32_t row) const { return heights.empty() ? points[row].z : double{heights[row]}; }
  bool counts(std::uint32_t row) const { return is_finite(points[row]) && std::isfinite(level(row)); }
};

struct Lowest {
  Vec3d corner;
  double level;
};

using Sampled = std::pair<std::uint64_t, Place>;  // hash of the position
bool sampled_before(const Sampled& a, const Sampled& b) {
  return a.first != b.first ? a.first < b.first
                            : std::pair(a.second.x, a.second.y) < std::pair(b.second.x, b.second.y);
}

/// The points of the lowest slab that come first in the order of their hashes; at most kSample.
std::vector<Place> sample_of_slab(const Standing& cloud, Span<const std::uint32_t> rows, const Lowest& least,
                                  OpContext& ctx) {
  std::vector<Sampled> sample;  // a heap whose last is on top
  for (std::size_t r = 0; r < rows.size; ++r) {
    if (r % kPoll == 0) ctx.checkpoint();
    if (!cloud.counts(rows[r]) || cloud.level(rows[r]) - least.level > kSlab) continue;
    const Vec3d p = cloud.points[rows[r]] - least.corner;
    const Sampled one{hash_of(p, 0), {p.x, p.y}};
    if (sample.size() == kSample) {
      if (!sampled_before(one, sample.front())) continue;
      std::pop_heap(sample.begin(), sample.end(), sampled_before);
      sample.pop_back();
    }
    sample.push_back(one);
    std::push_heap(sample.begin(), sample.end(), sampled_before);
  }
  std::vector<Place> places;
  for (const auto& [hash, place] : sample) places.push_back(place);
  return places;
}

/// Stems of the tree with these rows; 0 = it cannot be told.
std::size_t stems_of(const Standing& cloud, Span<const std::uint32_t> rows, OpContext& ctx) {
  Lowest least{{HUGE_VAL, HUGE_VAL, HUGE_VAL}, HUGE_VAL};
  std::size_t finite = 0;
  for (std::size_t r = 0; r < rows.size; ++r) {
    if (r % kPoll == 0) ctx.checkpoint();
    if (!cloud.counts(rows[r])) continue;
    ++finite;
    const Vec3d& p = cloud.points[rows[r]];
    Vec3d& c = least.corner;
    c = {std::min(c.x, p.x), std::min(c.y, p.y), std::min(c.z, p.z)};
    least.level = std::min(least.level, cloud.level(rows[r]));
  }
  if (finite < kFewestPoints) return 0;
  const std::vector<Place> places = sample_of_slab(cloud, rows, least, ctx);
  if (places.size() < kFewestLow) return 0;
  const double fewest = std::max(0.02 * static_cast<double>(places.size()), 20.0);
  const std::vector<std::size_t> sizes = cluster_sizes(places);
  return static_cast<std::size_t>(std::count_if(
      sizes.begin(), sizes.end(), [&](std::size_t size) { return static_cast<double>(size) >= fewest; }));
}

}  // namespace

FusionFound fusion_warning(HitPoints points, Span<const std::uint32_t> labels, std::uint64_t tree_count,
                           Span<const float> heights, OpContext& ctx) {
  require(heights.empty() || heights.size == points.size(), "one height per point is needed");
  require(labels.size == points.size(), "one label per point is needed");
  require(points.size() < std::numeric_limits<std::uint32_t>::max(), "fewer than 2^32 points are needed");
  ctx.begin_phase("Counting stems", tree_count);
  for (std::size_t i = 0; i < labels.size; ++i) {
    if (i % kPoll == 0) ctx.checkpoint();
    require(labels[i] <= tree_count, "a label above the number of trees");
  }
  const BulkVector<std::uint32_t> order =
      radix_sort_order(labels, std::max(1, static_cast<int>(std::bit_width(tree_count))), ctx);
  BulkVector<std::uint64_t> begin(tree_count + 2);  // of each label in the order
  for (std::size_t i = 0; i < labels.size; ++i) {
    if (i % kPoll == 0) ctx.checkpoint();
    ++begin[labels[i] + 1];
  }
  for (std::size_t label = 1; label < begin.size(); ++label) begin[label] += begin[label - 1];
  std::atomic<std::uint64_t> fused{0}, implied{0};
  parallel_for(ctx, tree_count, 1, [&](std::size_t first, std::size_t last) {
    for (std::size_t label = first + 1; label <= last; ++label) {
      const std::size_t from = begin[label], count = begin[label + 1] - from;
      const std::size_t stems =
          count < kFewestPoints ? 0
                                : stems_of({points.xyz(), heights}, order.view().subspan(from, count), ctx);
      fused += stems > 1 ? 1 : 0;
      implied += std::max<std::size_t>(stems, 1);
    }
  });
  return {fused, implied};
}

}  // namespace pc
