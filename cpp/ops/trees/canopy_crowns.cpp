#include "ops/trees/canopy_crowns.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>

#include "core/error.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "ops/trees/canopy_model.h"
#include "ops/trees/coarse_ground.h"
#include "ops/trees/crown_borders.h"
#include "ops/trees/crown_watershed.h"
#include "ops/trees/treetops.h"
#include "spatial/finite_box.h"
#include "spatial/nearest_cells.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 15;
constexpr double kAny = std::numeric_limits<double>::lowest();  // voids are none
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr std::uint32_t kNoMarker = std::numeric_limits<std::uint32_t>::max();

void check(const CanopyCrownsParams& params, HitPoints points, Span<const Vec3d> seeds) {
  require(std::isfinite(params.cell_m) && params.cell_m > 0, "chm_cell must be finite and positive");
  require(std::isfinite(params.min_height_m) && params.min_height_m >= 0,
          "chm_min_height must be finite and not negative");
  require(std::isfinite(params.crown_scale_m) && params.crown_scale_m > 0,
          "chm_crown_scale must be finite and positive");
  require(points.size() < std::numeric_limits<std::uint32_t>::max(), "fewer than 2^32 points are needed");
  for (const Vec3d& seed : seeds) require(is_finite(seed), "seed_points must be finite");
}

struct Canopy {
  const RasterFrame& frame;
  Span<const double> heights;

  bool holds(std::size_t cell) const { return !std::isnan(heights[cell]); }
};

double squared_flat_distance(const Vec3d& seed, const RasterFrame& frame, std::size_t cell) {
  const double dx = seed.x - frame.center_x(cell % frame.nx), dy = seed.y - frame.center_y(cell / frame.nx);
  return dx * dx + dy * dy;
}

/// Finds free cells of the canopy near seeds.
class SeedCells {
 public:
  SeedCells(const Canopy& canopy, double reach, OpContext& ctx)
      : canopy_(canopy),
        reach_(reach),
        search_(canopy.frame.nx, canopy.frame.ny, mask_of(canopy, ctx).view(), ctx) {}

  void take(std::uint32_t cell) { taken_.insert(cell); }
  /// The nearest of the kTried canopy cells around the seed that is free and within reach; kNoMarker if there is none.
  std::uint32_t find(const Vec3d& seed) {
    const RasterFrame& frame = canopy_.frame;
    const auto place = [](double at, std::uint32_t count) {
      return static_cast<std::uint32_t>(std::clamp(std::floor(at), 0.0, static_cast<double>(count - 1)));
    };
    search_.nearest(place((seed.x - frame.min_x) / frame.cell, frame.nx),
                    place((seed.y - frame.min_y) / frame.cell, frame.ny), kTried, near_);
    // The seed's own cell counts even if the reach is less than half a cell.
    const double reach = std::max(reach_, frame.cell);
    for (const CellNeighbor& one : near_) {
      if (!taken_.contains(one.cell) && squared_flat_distance(seed, frame, one.cell) <= reach * reach)
        return one.cell;
    }
    return kNoMarker;
  }

 private:
  static constexpr std::size_t kTried = 64;

  static BulkVector<std::uint8_t> mask_of(const Canopy& canopy, OpContext& ctx) {
    BulkVector<std::uint8_t> mask(canopy.heights.size);
    parallel_for(ctx, mask.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) mask[i] = canopy.holds(i) ? 1 : 0;
    });
    return mask;
  }

  const Canopy& canopy_;
  double reach_;
  CellSearch search_;
  std::vector<CellNeighbor> near_;
  std::unordered_set<std::uint32_t> taken_;
};

/// Index of the nearest seed within reach of each top, or seeds.size.
std::vector<std::size_t> nearest_seeds(const std::vector<std::uint32_t>& tops, Span<const Vec3d> seeds,
                                       const RasterFrame& frame, double reach, OpContext& ctx) {
  // Seeds in order of x: only those within reach along x are compared.
  std::vector<std::size_t> order(seeds.size);
  for (std::size_t s = 0; s < order.size(); ++s) order[s] = s;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return seeds[a].x != seeds[b].x ? seeds[a].x < seeds[b].x : a < b;
  });
  std::vector<std::size_t> out(tops.size(), seeds.size);
  parallel_for(ctx, tops.size(), 64, [&](std::size_t begin, std::size_t end) {
    for (std::size_t t = begin; t < end; ++t) {
      const double x = frame.center_x(tops[t] % frame.nx);
      auto at = std::lower_bound(order.begin(), order.end(), x - reach,
                                 [&](std::size_t s, double least) { return seeds[s].x < least; });
      double best = reach * reach;
      for (; at != order.end() && seeds[*at].x <= x + reach; ++at) {
        const double squared = squared_flat_distance(seeds[*at], frame, tops[t]);
        if (squared > best || (squared == best && *at > out[t])) continue;
        best = squared;
        out[t] = *at;
      }
    }
  });
  return out;
}

/// Markers: of the seeds with labels 1 .. s, then one per treetop that no seed takes.
struct Marked {
  std::vector<CrownMarker> markers;
  std::vector<std::uint32_t> cell_of_label;  ///< kNoMarker for a seed without canopy
};
void mark_seeds_without_top(const Canopy& canopy, const std::vector<std::uint32_t>& tops,
                            Span<const Vec3d> seeds, double reach, Marked& out, OpContext& ctx) {
  SeedCells cells(canopy, reach, ctx);
  for (const std::uint32_t top : tops) cells.take(top);
  for (std::size_t s = 0; s < seeds.size; ++s) {
    if (s % 64 == 0) ctx.checkpoint();
    if (out.cell_of_label[s] != kNoMarker) continue;
    const std::uint32_t cell = cells.find(seeds[s]);
    if (cell == kNoMarker) continue;
    cells.take(cell);
    out.cell_of_label[s] = cell;
    out.markers.push_back({cell, static_cast<std::uint32_t>(s + 1)});
  }
}

Marked mark(const Canopy& canopy, const std::vector<std::uint32_t>& tops, Span<const Vec3d> seeds,
            double reach, OpContext& ctx) {
  Marked out;
  out.cell_of_label.assign(seeds.size, kNoMarker);
  const std::vector<std::size_t> taker = nearest_seeds(tops, seeds, canopy.frame, reach, ctx);
  for (std::size_t t = 0; t < tops.size(); ++t) {
    if (taker[t] == seeds.size) continue;
    out.markers.push_back({tops[t], static_cast<std::uint32_t>(taker[t] + 1)});
    std::uint32_t& highest = out.cell_of_label[taker[t]];
    if (highest == kNoMarker || canopy.heights[tops[t]] > canopy.heights[highest]) highest = tops[t];
  }
  if (seeds.size > 0) mark_seeds_without_top(canopy, tops, seeds, reach, out, ctx);
  for (std::size_t t = 0; t < tops.size(); ++t) {
    if (taker[t] != seeds.size) continue;
    out.cell_of_label.push_back(tops[t]);
    out.markers.push_back({tops[t], static_cast<std::uint32_t>(out.cell_of_label.size())});
  }
  return out;
}

Column<std::uint32_t> label_points(Span<const Vec3d> points, const RasterFrame& frame,
                                   const Column<std::uint32_t>& crowns, OpContext& ctx) {
  Column<std::uint32_t> labels(points.size);
  parallel_for(ctx, points.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      labels[i] = is_finite(points[i]) ? crowns[frame.cell_of(points[i])] : 0;
  });
  return labels;
}

/// Final number of each label: seeds keep theirs, trees without points get 0.
std::vector<std::uint32_t> renumbered(const Marked& marked, std::size_t seed_count, const RasterFrame& frame,
                                      const Column<std::uint32_t>& labels, CanopyCrownsResult& result,
                                      OpContext& ctx) {
  std::vector<std::uint8_t> holds(marked.cell_of_label.size() + 1, 0);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (i % kGrain == 0) ctx.checkpoint();
    holds[labels[i]] = 1;
  }
  std::vector<std::uint32_t> others, number(holds.size(), 0);
  for (std::uint32_t label = 1; label < holds.size(); ++label) {
    if (label > seed_count) {
      if (holds[label] != 0) others.push_back(label);
      continue;
    }
    number[label] = label;
    if (holds[label] == 0) result.empty_seeds.push_back(label - 1);
  }
  const auto place = [&](std::uint32_t label) {
    const std::uint32_t cell = marked.cell_of_label[label - 1];
    return std::pair(cell % frame.nx, cell / frame.nx);
  };
  std::sort(others.begin(), others.end(),
            [&](std::uint32_t a, std::uint32_t b) { return place(a) < place(b); });
  std::uint32_t last = static_cast<std::uint32_t>(seed_count);
  for (const std::uint32_t label : others) number[label] = ++last;
  result.tops.assign(last, {kUnknown, kUnknown, kUnknown});
  return number;
}

}  // namespace

CanopyCrownsCost canopy_crowns_cost(std::uint64_t points, double wide_m, double high_m, double cell_m) {
  const auto cells = [&](double cell) {
    return (std::floor(wide_m / cell) + 1) * (std::floor(high_m / cell) + 1);
  };
  CanopyCrownsCost cost{};
  const double wanted = cells(cell_m);
  cost.admissible = wanted <= static_cast<double>(kMaxCanopyCells);
  cost.cell_count = wanted <= 1e18 ? static_cast<std::uint64_t>(wanted) : std::uint64_t{1} << 60;
  double low = 0, high = 1 + std::max(wide_m, high_m);  // bisection: cells() falls as the cell grows
  for (int step = 0; step < 200 && high - low > 1e-3 * high; ++step) {
    const double middle = (low + high) / 2;
    (cells(middle) <= static_cast<double>(kMaxCanopyCells) ? high : low) = middle;
  }
  cost.finest_cell_m = high;
  cost.bytes = 60 * std::min(cost.cell_count, kMaxCanopyCells) + 24 * points;
  return cost;
}

CanopyCrownsResult canopy_crowns(HitPoints points, HitPoints ground, Span<const Vec3d> seeds,
                                 const CanopyCrownsParams& params, OpContext& ctx) {
  check(params, points, seeds);
  ctx.begin_phase("Measuring the extent", points.size() + ground.size());
  CanopyCrownsResult result{};
  result.ground_given = ground.size() > 0;
  const Box3d plants = finite_box(points.xyz(), ctx);
  Box3d everything = finite_box(ground.xyz(), ctx);
  everything.add(plants);
  if (plants.empty()) {
    result.tops.assign(seeds.size, {kUnknown, kUnknown, kUnknown});
    for (std::uint32_t s = 0; s < seeds.size; ++s) result.empty_seeds.push_back(s);
    result.tree_instance = Column<std::uint32_t>(points.size());
    for (std::size_t i = 0; i < points.size(); ++i) result.tree_instance[i] = 0;  // none is finite
    return result;
  }
  const RasterFrame frame = centered_frame(plants, params.cell_m, kMaxCanopyCells);
  const Column<double> heights = [&] {
    const CoarseGround terrain = coarse_ground(points, ground, everything, ctx);
    return canopy_model(points, ground, terrain, frame, params.min_height_m, ctx);
  }();
  const Canopy canopy{frame, heights.view()};
  const std::vector<std::uint32_t> tops =
      treetops(frame, heights.view(), kTreetopWindow * params.crown_scale_m, kAny, ctx);
  const Marked marked = mark(canopy, tops, seeds, kSeedReach * params.crown_scale_m, ctx);
  const Column<std::uint32_t> crowns = crown_watershed(frame, heights.view(), kAny, marked.markers, ctx);
  result.touching = touching_part(frame, crowns, ctx);
  ctx.begin_phase("Labelling points", 2 * points.size());
  Column<std::uint32_t> labels = label_points(points.xyz(), frame, crowns, ctx);
  const std::vector<std::uint32_t> number = renumbered(marked, seeds.size, frame, labels, result, ctx);
  const std::vector<double> rises = [&] {
    std::vector<double> top_heights(marked.cell_of_label.size(), kUnknown);
    for (std::size_t i = 0; i < top_heights.size(); ++i)
      if (marked.cell_of_label[i] != kNoMarker) top_heights[i] = heights[marked.cell_of_label[i]];
    return top_rises(frame, heights.view(), crowns, {top_heights.data(), top_heights.size()}, ctx);
  }();
  for (std::uint32_t label = 1; label < number.size(); ++label) {
    const std::uint32_t cell = marked.cell_of_label[label - 1];
    if (number[label] != 0 && rises[label - 1] < kShallowRise) ++result.shallow;
    if (number[label] == 0 || cell == kNoMarker) continue;
    result.tops[number[label] - 1] = {frame.center_x(cell % frame.nx), frame.center_y(cell / frame.nx),
                                      heights[cell]};
  }
  parallel_for(ctx, labels.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) labels[i] = number[labels[i]];
  });
  result.tree_instance = std::move(labels);
  return result;
}

}  // namespace pc
