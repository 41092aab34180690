#include "ops/trees/stem_detection.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/parallel.h"
#include "ops/trees/stem_evidence.h"
#include "ops/trees/stem_layer.h"
#include "ops/trees/stem_merge.h"
#include "ops/trees/stem_surface.h"

namespace pc {

namespace {

constexpr std::size_t kLeastPoints = 20;  // of a cluster: contract classification section 6
constexpr std::size_t kMostStems = 12;    // of one part
constexpr int kMostFailures = 3;          // in a row
constexpr double kLeastThickWidth = 1;    // metres: half of a thick stem at least

/// What was found in one cluster.
class Found {
 public:
  std::vector<DetectedStem> stems;
  std::optional<StemRejection> rejection;

  /// Keeps the reason of the attempt that came furthest.
  void reject(StemRejection reason) {
    if (!rejection || reason > *rejection) rejection = reason;
  }
  /// Leaves out what an earlier search of the same cluster has found.
  void add(const DetectedStem& stem) {
    const auto index = [](double at) {
      return static_cast<std::int64_t>(std::floor(at / kThickStems.most_radius_m));
    };
    const std::int64_t x = index(stem.position.x), y = index(stem.position.y);
    const auto is_known = [&](std::size_t other) {
      const Vec3d d = stems[other].position - stem.position;
      return std::sqrt(d.x * d.x + d.y * d.y) < std::max(stems[other].circle.radius, stem.circle.radius);
    };
    for (std::int64_t dx = -1; dx <= 1; ++dx) {
      for (std::int64_t dy = -1; dy <= 1; ++dy) {
        const auto near = by_place_.find({x + dx, y + dy});
        if (near != by_place_.end() && std::any_of(near->second.begin(), near->second.end(), is_known))
          return;
      }
    }
    by_place_[{x, y}].push_back(stems.size());
    stems.push_back(stem);
  }

 private:
  /// Of stems, by squares as wide as the largest radius: a cluster may be a whole forest.
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::size_t>> by_place_;
};

class Search {
 public:
  Search(const StemLayer& layer, const StemDetectionParams& params, OpContext& ctx)
      : layer_(layer), params_(params), ctx_(ctx) {}

  /// Stems of a part of the layer, the strongest first: the points of each are taken away before the next.
  void find_in(Span<const std::uint32_t> cells, const StemSizes& sizes, Found& found) {
    std::size_t count = 0;
    for (const std::uint32_t cell : cells) count += layer_.cell(cell).size;
    std::vector<LayerPoint> points;
    points.reserve(count);
    for (const std::uint32_t cell : cells) {
      const auto column = layer_.cell(cell);
      points.insert(points.end(), column.begin(), column.end());
    }
    int failures = 0;
    for (std::size_t stem = 0; stem < kMostStems && failures < kMostFailures; ++stem) {
      ctx_.checkpoint();
      if (points.size() < kLeastPoints) return;
      const StemAttempt attempt = attempt_stem(layer_, {points.data(), points.size()}, sizes, params_, ctx_);
      if (attempt.stem) {
        found.add(*attempt.stem);
        failures = 0;
      } else {
        found.reject(attempt.rejection);
        ++failures;
      }
      if (!attempt.cylinder) return;
      take_away(points, *attempt.cylinder, sizes);
    }
  }

 private:
  static void take_away(std::vector<LayerPoint>& points, const StemCylinder& cylinder,
                        const StemSizes& sizes) {
    const AcrossAxis across(cylinder);
    const double reach = cylinder.radius + sizes.distance_of(cylinder.radius);
    std::erase_if(points, [&](const LayerPoint& p) {
      const Vec2d q = across.of(p.at);
      return q.x * q.x + q.y * q.y <= reach * reach;
    });
  }

  const StemLayer& layer_;
  const StemDetectionParams& params_;
  OpContext& ctx_;
};

/// The longer side of the cells, seen from above, metres.
double width_of(const StemLayer& layer, Span<const std::uint32_t> cells) {
  std::int64_t x_min = std::numeric_limits<std::int64_t>::max(), x_max = 0, y_min = x_min, y_max = 0;
  for (const std::uint32_t cell : cells) {
    x_min = std::min(x_min, layer.cell_x(cell));
    x_max = std::max(x_max, layer.cell_x(cell));
    y_min = std::min(y_min, layer.cell_y(cell));
    y_max = std::max(y_max, layer.cell_y(cell));
  }
  return static_cast<double>(std::max(x_max - x_min, y_max - y_min) + 1) * StemLayer::kCell;
}

/// A cluster seen from above, and what the whole of it already excludes.
struct Cluster {
  std::size_t points = 0;
  bool too_wide = false;
  bool upright = false;  ///< points in 3 of 4 sub-layers
};

Cluster cluster_of(const StemLayer& layer, Span<const std::uint32_t> cells,
                   const StemDetectionParams& params) {
  Cluster out;
  std::array<bool, kStemSublayers> seen{};
  for (const std::uint32_t cell : cells) {
    out.points += layer.cell(cell).size;
    for (const LayerPoint& p : layer.cell(cell)) seen[stem_sublayer(p.height, params)] = true;
  }
  const double widest = std::min(params.max_diameter_m, 2 * kStemMostRadius);
  out.too_wide = width_of(layer, cells) > widest + 2 * StemLayer::kCell;
  out.upright =
      std::count(seen.begin(), seen.end(), true) >= static_cast<std::ptrdiff_t>(kStemSublayersNeeded);
  return out;
}

/// Groups of wanted cells, each within one cluster, listed by cluster.
class Parts {
 public:
  Parts(const StemLayer& layer, const BulkVector<std::uint8_t>& wanted,
        const BulkVector<std::uint32_t>& cluster, std::size_t clusters, OpContext& ctx)
      : groups_(touching_cells(layer, wanted.view(), cluster.view(), ctx)),
        starts_(clusters + 1),
        list_(groups_.size()) {
    for (std::size_t i = 0; i < groups_.size(); ++i) ++starts_[cluster[groups_.group(i)[0]] + 1];
    for (std::size_t i = 0; i < clusters; ++i) starts_[i + 1] += starts_[i];
    std::vector<std::uint32_t> next(starts_.begin(), starts_.end() - 1);
    for (std::size_t i = 0; i < groups_.size(); ++i)
      list_[next[cluster[groups_.group(i)[0]]]++] = static_cast<std::uint32_t>(i);
  }

  template <class Visit>
  void for_each_of(std::size_t cluster, Visit&& visit) const {
    for (std::size_t i = starts_[cluster]; i < starts_[cluster + 1]; ++i) visit(groups_.group(list_[i]));
  }

 private:
  CellGroups groups_;
  std::vector<std::uint32_t> starts_, list_;
};

BulkVector<std::uint32_t> cluster_of_cells(const StemLayer& layer, const CellGroups& clusters) {
  BulkVector<std::uint32_t> out(layer.cell_count());
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    for (const std::uint32_t cell : clusters.group(i)) out[cell] = static_cast<std::uint32_t>(i);
  }
  return out;
}

void check(HitPoints points, Span<const float> heights, const StemDetectionParams& params) {
  require(heights.size == points.size(), "one height per point is needed");
  require(std::isfinite(params.band_min_m) && std::isfinite(params.band_max_m) &&
              params.band_min_m < params.band_max_m,
          "band_min_m must be below band_max_m");
  require(std::isfinite(params.max_diameter_m) && params.max_diameter_m >= 2 * kStemLeastRadius,
          "max_diameter_m must be at least 0.04");
}

void set_height_range(StemDetectionResult& out, Span<const float> heights, const OpContext& ctx) {
  constexpr std::size_t kPolled = std::size_t{1} << 20;
  for (std::size_t i = 0; i < heights.size; ++i) {
    if (i % kPolled == 0) ctx.checkpoint();
    const double height = static_cast<double>(heights[i]);
    if (!std::isfinite(height)) continue;
    if (!(out.lowest_height <= height)) out.lowest_height = height;
    if (!(out.highest_height >= height)) out.highest_height = height;
  }
}

}  // namespace

std::uint64_t stem_detection_bytes(std::uint64_t point_count) {
  // Of a point of the layer: itself, sorted, the keys and their order, two orders of the sort; of its cube, which may
  // be its own: moments, cell, flags and groups.
  constexpr std::uint64_t kPoint = 2 * 32 + 8 + 4 + 12, kCube = 36 + 4 + 12 + 2 + 5 * 4;
  return point_count * (kPoint + kCube);
}

const char* to_string(StemRejection reason) {
  constexpr const char* kNames[kStemRejections] = {"few_points",    "too_wide",      "not_upright",
                                                   "no_circle",     "high_residual", "few_inliers",
                                                   "halves_differ", "merged"};
  return kNames[static_cast<std::size_t>(reason)];
}

StemDetectionResult detect_stems(HitPoints points, Span<const float> heights,
                                 const StemDetectionParams& params, OpContext& ctx) {
  check(points, heights, params);
  StemDetectionResult out{{}, std::nan(""), std::nan(""), 0, 0, {}, 0};
  ctx.begin_phase("Selecting the layer", points.size());
  set_height_range(out, heights, ctx);
  const StemLayer layer(points.xyz(), heights, params.band_min_m, params.band_max_m, ctx);
  out.layer_points = layer.points().size;
  if (out.layer_points == 0) return out;
  ctx.begin_phase("Clustering the layer", layer.cell_count());
  const CellGroups clusters = touching_cells(layer, {}, {}, ctx);
  out.cluster_count = clusters.size();
  const BulkVector<std::uint32_t> cluster = cluster_of_cells(layer, clusters);
  const StemSurfaces surfaces = stem_surfaces(layer, params.band_max_m - params.band_min_m, ctx);
  const Parts upright(layer, surfaces.upright, cluster, clusters.size(), ctx);
  const Parts full(layer, surfaces.full, cluster, clusters.size(), ctx);
  ctx.begin_phase("Finding stems", clusters.size());
  std::vector<Found> found(clusters.size());
  parallel_for(ctx, clusters.size(), 1, [&](std::size_t i, std::size_t) {
    const Cluster shape = cluster_of(layer, clusters.group(i), params);
    if (shape.points < kLeastPoints) return found[i].reject(StemRejection::kFewPoints);
    if (!shape.upright) return found[i].reject(StemRejection::kNotUpright);
    Search search(layer, params, ctx);
    const auto plain = [&](Span<const std::uint32_t> cells) { search.find_in(cells, kPlainStems, found[i]); };
    upright.for_each_of(i, plain);
    full.for_each_of(i, plain);
    if (params.max_diameter_m > 2 * kStemMostRadius) {
      upright.for_each_of(i, [&](Span<const std::uint32_t> cells) {
        if (width_of(layer, cells) >= kLeastThickWidth) search.find_in(cells, kThickStems, found[i]);
      });
    }
    if (shape.too_wide) {
      found[i].rejection = StemRejection::kTooWide;
    } else {
      plain(clusters.group(i));
    }
  });
  for (Found& one : found) {
    if (one.stems.empty() && one.rejection) ++out.rejected[static_cast<std::size_t>(*one.rejection)];
    out.stems.insert(out.stems.end(), one.stems.begin(), one.stems.end());
  }
  found.clear();
  const MergedStems merged = merge_stems(out.stems, params.keep_beside, ctx);
  out.rejected[static_cast<std::size_t>(StemRejection::kMerged)] = merged.count;
  out.beside = merged.beside;
  for (DetectedStem& stem : out.stems) {
    stem.position = stem.position + layer.origin();
    stem.ground_z += layer.origin().z;
  }
  return out;
}

}  // namespace pc
