#include "ops/trees/tree_inventory.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numbers>
#include <numeric>
#include <set>
#include <utility>

#include "core/error.h"
#include "core/nth_smallest.h"
#include "core/parallel.h"
#include "ops/cloud/categorical_split.h"
#include "ops/trees/covered_stem.h"
#include "ops/trees/divided_stems.h"
#include "ops/trees/drift_check.h"
#include "ops/trees/flat_trees.h"
#include "ops/trees/layer_motion.h"
#include "ops/trees/measured_points.h"
#include "ops/trees/mirrored_trees.h"
#include "ops/trees/repeated_trees.h"
#include "ops/trees/same_stems.h"
#include "ops/trees/scattered_tree.h"
#include "ops/trees/shared_tops.h"
#include "ops/trees/stem_layers.h"
#include "ops/trees/stems_at_walls.h"
#include "ops/trees/stray_top.h"
#include "ops/trees/tree_failure.h"
#include "ops/trees/tree_places.h"
#include "ops/trees/unseen_ground.h"

namespace pc {

namespace {

constexpr std::size_t kPollRows = 1 << 16;
constexpr double kMostId = 0x1.0p53 - 1;
constexpr std::uint64_t kLeastPoints = 3;

void check(const TreeCloud& cloud, const TreeInventoryParams& params) {
  const std::size_t n = cloud.positions.size;
  require(cloud.tree_instance != nullptr, "an inventory needs tree_instance");
  for (const AnyColumn* column :
       {cloud.tree_instance, cloud.height_above_ground, cloud.ground_class, cloud.scan_index, cloud.time_s}) {
    require(column == nullptr || column->size() == n, "every column needs one value per point");
  }
  require(cloud.skip.empty() || cloud.skip.size == n, "skip needs one value per point");
  require(params.stem.inlier_distance_m > 0 && params.stem.slice_thickness_m > 0 &&
              params.stem.curve_step_m > 0 && params.stem.breast_height_m > 0 && params.crown.gap_m > 0 &&
              params.crown.voxel_size_m > 0 && params.competition_radius_m > 0,
          "lengths must be above 0");
}

/// What the pass over all rows collects.
struct GroundPass {
  GroundHeights heights;
  GrowingHull ground, all;
  SeenCells seen;
};

GroundPass pass_over_rows(const TreeCloud& cloud, bool want_plot, OpContext& ctx) {
  GroundPass pass;
  ctx.begin_phase("Indexing trees", cloud.positions.size);
  if (cloud.ground_class == nullptr && !want_plot) return pass;
  const auto run = [&](auto is_ground) {
    for (std::size_t i = 0; i < cloud.positions.size; ++i) {
      if (i % kPollRows == 0) {
        ctx.checkpoint();
        ctx.advance(std::min(kPollRows, cloud.positions.size - i));
      }
      if (!cloud.skip.empty() && cloud.skip[i] != 0) continue;
      const Vec3d p = cloud.positions[i] + cloud.shift;
      if (!is_finite(p)) continue;
      if (is_ground(i)) {
        pass.heights.add(p, ctx);
        if (want_plot) pass.ground.add({p.x, p.y});
      }
      if (!want_plot) continue;
      pass.all.add({p.x, p.y});
      pass.seen.add({p.x, p.y}, ctx);
    }
  };
  if (cloud.ground_class == nullptr) {
    run([](std::size_t) { return false; });
  } else {
    visit_scalar(*cloud.ground_class, [&](auto classes) {
      run([classes](std::size_t i) { return std::rint(static_cast<double>(classes[i])) == 1; });
    });
  }
  pass.heights.finish(ctx);
  return pass;
}

/// Whether next to nothing is beside a stem, as of a post, or little and that at one height, as the arm of a lamp or the wires of a
/// mast. Crowns of trees have 2 to 60 times the volume of a cylinder as thick and high as the stem; where they are leafless and
/// seen by few points they have half of it, but over their depth (docs/accuracy.md). Crowns do not grow as the section of a giant does, and
/// posts are thinner: its radius counts up to 0.6 m.
bool is_bare(const MeasuredTree& tree) {
  constexpr double kNothing = 0.1, kLittle = 2, kShallow = 0.25, kThickest = 0.6;
  const auto& at = tree.stem.breast_height;
  if (!at) return false;
  const double radius = std::min(at->circle.radius, kThickest);
  const double cylinder_m3 = std::numbers::pi * radius * radius * tree.height_m;
  const double part = tree.crown.point_count == 0 ? 0 : tree.crown.cube_volume_m3 / cylinder_m3;
  return part < kNothing || (part < kLittle && tree.crown.depth_m < kShallow * tree.height_m);
}

class Inventory {
 public:
  Inventory(const TreeCloud& cloud, const TreeInventoryParams& params, OpContext& ctx)
      : cloud_(cloud), params_(params), ctx_(ctx) {}

  TreeInventoryResult run() {
    check(cloud_, params_);
    const ClassGroups groups = categorical_split(*cloud_.tree_instance, cloud_.skip, {0}, ctx_);
    const std::vector<MeasuredRows> trees = chosen(groups);
    flatness_ = tree_flatness(cloud_.positions, cloud_.skip, *cloud_.tree_instance, ctx_);
    tops_ = shared_tops(cloud_.positions, cloud_.skip, *cloud_.tree_instance, ctx_);
    GroundPass pass = pass_over_rows(cloud_, !params_.tree_ids.has_value(), ctx_);
    measure_all(groups.order, trees, pass.heights);
    if (has_views(cloud_)) {
      if (times_hide_views()) forget_times(groups.order, trees);
      fit_views(groups.order, trees, pass.heights);
    }
    if (!(result_.views && result_.views->drifts)) join_stems(groups.order, trees, pass.heights);
    const std::vector<MeasuredRows> rows = list(trees);
    const auto points = [&](std::size_t i) {
      return std::move(points_of(cloud_, groups.order, rows[i], drifts_, ctx_).points);
    };
    drop_mirrored_trees(result_.trees, points, ctx_);
    drop_repeated_trees(result_.trees, ctx_);
    drop_same_stems(result_.trees, ctx_);
    mark_stems_at_walls(result_.trees, points, ctx_);
    if (!params_.tree_ids && !result_.trees.empty()) measure_stand(pass);
    result_.drifts = std::move(drifts_);
    return std::move(result_);
  }

 private:
  /// The trees to measure; those that need not be looked at are skipped.
  std::vector<MeasuredRows> chosen(const ClassGroups& groups) {
    std::optional<std::set<std::uint64_t>> wanted;
    if (params_.tree_ids) wanted.emplace(params_.tree_ids->begin(), params_.tree_ids->end());
    std::vector<MeasuredRows> trees;
    std::uint64_t first = 0;
    for (std::size_t i = 0; i < groups.values.size(); ++i) {
      const std::uint64_t count = groups.counts[i];
      const double value = groups.values[i];
      if (value >= 1 && value <= kMostId) {
        const auto id = static_cast<std::uint64_t>(value);
        if (!wanted || wanted->erase(id) > 0) trees.push_back({id, first, count});
      } else if (value > kMostId && !wanted) {
        result_.skipped.push_back({value, count, "ids from 2^53 on are not exact numbers", false});
      }
      first += count;
    }
    if (!wanted) return trees;
    for (const std::uint64_t id : *wanted)
      result_.skipped.push_back({static_cast<double>(id), 0, "no point of the cloud has this id", false});
    return trees;
  }

  /// Calls visit(i, points) for every tree, the largest first, so that none of them is the last to end. What fails is skipped.
  template <class Visit>
  void for_each_tree(const char* phase, const AnyColumn& order, const std::vector<MeasuredRows>& trees,
                     Visit&& visit) {
    std::vector<std::size_t> queue(trees.size());
    std::iota(queue.begin(), queue.end(), std::size_t{0});
    std::stable_sort(queue.begin(), queue.end(),
                     [&](std::size_t a, std::size_t b) { return trees[a].count > trees[b].count; });
    ctx_.begin_phase(phase, trees.size());
    parallel_for(ctx_, trees.size(), 1, [&](std::size_t at, std::size_t) {
      const std::size_t i = queue[at];
      const std::string failure = reason_of_failure([&] {
        MeasuredPoints points = points_of(cloud_, order, trees[i], drifts_, ctx_);
        visit(i, points);
      });
      if (!failure.empty()) work_[i].failure = failure;
    });
  }

  void measure_all(const AnyColumn& order, const std::vector<MeasuredRows>& trees,
                   const GroundHeights& ground) {
    work_.resize(trees.size());
    std::atomic<std::uint64_t> nonfinite{0};
    for_each_tree("Measuring tree", order, trees, [&](std::size_t i, const MeasuredPoints& points) {
      Work& work = work_[i];
      nonfinite += points.nonfinite;
      work.point_count = points.points.size();
      if (work.point_count < std::max<std::uint64_t>(1, params_.min_points)) return;
      work.measured = measure_tree(trees[i].id, points, ground);
      if (has_views(cloud_) && shows_views(*work.measured))
        work.places = view_places(points.viewed(), work.measured->stem, ctx_);
      if (shows_views(*work.measured))
        work.layers = stem_layers({points.points.data(), points.points.size()}, work.measured->stem, ctx_);
    });
    result_.nonfinite_count = nonfinite;
  }

  /// Whether hardly a stem has views, though there are scans: times that are no seconds (numbers of pulses, ticks of a clock) divide
  /// each of them.
  bool times_hide_views() const {
    return cloud_.scan_index != nullptr && cloud_.time_s != nullptr && places().size() < kFewestCheckedStems;
  }
  /// Takes what one scan saw for one view.
  void forget_times(const AnyColumn& order, const std::vector<MeasuredRows>& trees) {
    cloud_.time_s = nullptr;
    for_each_tree("Comparing views", order, trees, [&](std::size_t i, const MeasuredPoints& points) {
      if (is_measured(i) && shows_views(*work_[i].measured))
        work_[i].places = view_places(points.viewed(), work_[i].measured->stem, ctx_);
    });
  }

  /// How far the scans drift, and if too far, the trees measured without it.
  void fit_views(const AnyColumn& order, const std::vector<MeasuredRows>& trees,
                 const GroundHeights& ground) {
    constexpr int kRounds = 2;  // of better circles, by which drift is better known
    constexpr double kLeastRest = 0.002;
    /// Of the noise: where scans fit, 15 mm of ranges made up to 2.4 times it.
    constexpr double kNoiseSpread = 4;
    const auto differ = [&](const std::optional<DriftFit>& fit) {
      return fit && fit->spread_m > std::max(params_.most_view_spread_m, kNoiseSpread * fit->noise_m);
    };
    auto fit = fit_drift(places(), ctx_);
    if (differ(fit)) {
      for_each_tree("Comparing views", order, trees, [&](std::size_t i, const MeasuredPoints& points) {
        if (!is_measured(i) || !shows_views(*work_[i].measured)) return;
        const TreeGround under = ground_of(points, ground);
        work_[i].places = search_view_places(points.viewed(), work_[i].measured->stem, under,
                                             stem_params(trees[i].id), ctx_);
      });
      fit = fit_drift(places(), ctx_);
    }
    const auto stems = static_cast<std::uint32_t>(places().size());
    if (!fit || stems < kFewestCheckedStems) return;
    const bool drifts = differ(fit) && is_real_drift(places(), ctx_);
    result_.views = ViewFit{stems, fit->spread_m, fit->rest_m, drifts, drifts && params_.align_scans};
    if (!result_.views->aligned) return;
    for (int round = 0; round < kRounds && fit && (round == 0 || fit->spread_m > kLeastRest); ++round) {
      drifts_.push_back(std::move(fit->drift));
      const char* phase = round == 0 ? "Measuring without drift" : "Measuring again without drift";
      for_each_tree(phase, order, trees, [&](std::size_t i, const MeasuredPoints& points) {
        if (!is_measured(i)) return;
        work_[i].measured = measure_tree(trees[i].id, points, ground);
        if (shows_views(*work_[i].measured))
          work_[i].places = view_places(points.viewed(), work_[i].measured->stem, ctx_);
      });
      fit = fit_drift(places(), ctx_);
      if (fit) result_.views->rest_m = fit->rest_m;
    }
    for (std::size_t i = 0; i < work_.size(); ++i)
      if (is_measured(i))
        work_[i].measured->dbh_sigma_m = std::hypot(work_[i].measured->dbh_sigma_m, result_.views->rest_m);
  }

  /// Whether stems are seen twice, all by one motion, and if so, the trees measured with the two layers moved together.
  void join_stems(const AnyColumn& order, const std::vector<MeasuredRows>& trees,
                  const GroundHeights& ground) {
    constexpr double kMost = 0.6;  // of the stems that are seen twice: fewer are three scans or more
    std::vector<PlacedLayers> seen;
    for (const Work& work : work_) {
      if (!work.layers) continue;
      const Vec3d& at = work.measured->stem.breast_height->center;
      seen.push_back({{at.x, at.y}, *work.layers});
    }
    const auto motion = layer_motion({seen.data(), seen.size()}, ctx_);
    if (!motion) return;
    const bool joins = params_.align_scans && motion->stems >= kMost * motion->of;
    result_.layers = ScanLayers{*motion, 0, joins};
    if (!joins) return;
    const std::vector<std::size_t> whole = wholes(*motion);
    std::vector<std::vector<std::size_t>> parts(trees.size());
    for (std::size_t i = 0; i < trees.size(); ++i)
      if (whole[i] != i) parts[whole[i]].push_back(i);
    std::atomic<std::uint32_t> joined{0};
    for_each_tree("Joining layers", order, trees, [&](std::size_t i, MeasuredPoints& points) {
      if (whole[i] != i || !is_measured(i)) return;
      for (const std::size_t part : parts[i])
        points.add(points_of(cloud_, order, trees[part], drifts_, ctx_));
      const Stem stem = stem_of_layers(trees[i].id, *work_[i].measured, points, *motion, ground);
      if (!stem.breast_height) return;
      const Vec3d& at = stem.breast_height->center;
      const bool is_joined = join_layers(points.points, stem, motion->at({at.x, at.y}), ctx_);
      if (!is_joined && parts[i].empty()) return;
      MeasuredTree again = measure_tree(trees[i].id, points, ground);
      // A circle that was looked for between the layers must be well seen.
      const auto& before = work_[i].measured->stem.breast_height;
      if (parts[i].empty() && !before && !is_well_seen(again.stem)) return;
      for (const std::size_t part : parts[i]) work_[part].part_of = trees[i].id;
      work_[i].measured = std::move(again);
      ++joined;
    });
    for (Work& work : work_) {
      if (work.part_of == 0) continue;
      work.measured->part_of = work.part_of;
      forget_stem(*work.measured);
    }
    result_.layers->joined = joined;
  }

  static bool is_well_seen(const Stem& stem) {
    const auto& at = stem.breast_height;
    return at && !at->few_points && !at->partial_arc && !at->high_residual;
  }

  /// The stem of a tree as it was measured; without a diameter, that of its points moved half of the way both ways, of which each layer
  /// has one at the same place.
  Stem stem_of_layers(std::uint64_t id, const MeasuredTree& tree, const MeasuredPoints& points,
                      const LayerMotion& motion, const GroundHeights& ground) const {
    if (tree.stem.breast_height || is_at_trunk(tree.height_m, params_.stem)) return tree.stem;
    const Vec2d apart = motion.at({tree.stem.base.x, tree.stem.base.y});
    MeasuredPoints both = points;
    both.add(points);
    for (std::size_t k = 0; k < both.points.size(); ++k) {
      const double part = k < points.points.size() ? 0.5 : -0.5;
      both.points[k] = both.points[k] + Vec3d{part * apart.x, part * apart.y, 0};
    }
    return measure_tree(id, both, ground).stem;
  }

  /// The tree that each of them is a part of, or its own number.
  std::vector<std::size_t> wholes(const LayerMotion& motion) {
    std::vector<PlacedStem> stems;
    std::vector<std::size_t> of, out(work_.size());
    std::iota(out.begin(), out.end(), std::size_t{0});
    for (std::size_t i = 0; i < work_.size(); ++i) {
      if (!is_measured(i) || work_[i].measured->is_none()) continue;
      const auto stem = placed_stem(*work_[i].measured);
      if (!stem) continue;
      stems.push_back(*stem);
      of.push_back(i);
    }
    const std::vector<std::size_t> whole = divided_stems({stems.data(), stems.size()}, motion, ctx_);
    for (std::size_t k = 0; k < of.size(); ++k) out[of[k]] = of[whole[k]];
    return out;
  }

  /// Whether the tree's stem can tell that scans drift. Trunks among low leaves, and stems that leaves cover, cannot: scans that fit
  /// seemed to drift by 12 mm.
  bool shows_views(const MeasuredTree& tree) const {
    const auto& at = tree.stem.breast_height;
    return !is_at_trunk(tree.height_m, params_.stem) && !tree.covered && !(at && at->covered);
  }
  bool is_measured(std::size_t i) const { return work_[i].measured && !work_[i].measured->too_few_points; }

  /// Of the stems that several views show.
  std::vector<std::vector<ViewPlace>> places() const {
    std::vector<std::vector<ViewPlace>> found;
    for (const Work& work : work_)
      if (work.places.size() >= 2) found.push_back(work.places);
    return found;
  }

  /// Trees that were measured, and those that were not, with the reason. Returns the rows of the former.
  std::vector<MeasuredRows> list(const std::vector<MeasuredRows>& trees) {
    std::vector<MeasuredRows> rows;
    for (std::size_t i = 0; i < trees.size(); ++i) {
      Work& work = work_[i];
      if (work.measured) {
        rows.push_back(trees[i]);
        result_.trees.push_back(std::move(*work.measured));
        continue;
      }
      const bool small = work.failure.empty();
      result_.skipped.push_back({static_cast<double>(trees[i].id), work.point_count,
                                 small ? "fewer than min_points points" : work.failure, small});
    }
    std::sort(result_.skipped.begin(), result_.skipped.end(),
              [](const SkippedTree& a, const SkippedTree& b) { return a.id < b.id; });
    return rows;
  }

  TreeGround ground_of(const MeasuredPoints& tree, const GroundHeights& cells) const {
    return TreeGround({tree.points.data(), tree.points.size()}, {tree.heights.data(), tree.heights.size()},
                      cells, ctx_);
  }

  /// What a list by ascending id has of a tree, or its end.
  template <class Entries>
  static auto entry_of(const Entries& entries, std::uint64_t id) {
    const auto at = std::lower_bound(entries.begin(), entries.end(), id,
                                     [](const auto& tree, std::uint64_t wanted) { return tree.id < wanted; });
    return at != entries.end() && at->id == id ? at : entries.end();
  }
  /// The share that such a list has for a tree; NaN without one.
  template <class Shares>
  static double share_of(const Shares& shares, std::uint64_t id) {
    const auto at = entry_of(shares, id);
    return at != shares.end() ? at->share : std::nan("");
  }
  bool is_wire(std::uint64_t id) const {
    const auto at = entry_of(flatness_, id);
    return at != flatness_.end() && at->wire;
  }

  StemParams stem_params(std::uint64_t id) const {
    StemParams stem = params_.stem;
    stem.seed += id;
    return stem;
  }

  MeasuredTree measure_tree(std::uint64_t id, const MeasuredPoints& tree, const GroundHeights& cells) const {
    MeasuredTree out{};
    out.id = id;
    out.point_count = tree.points.size();
    out.too_few_points = out.point_count < kLeastPoints;
    if (out.too_few_points) return out;
    for (const Vec3d& p : tree.points) out.box.add(p);
    const Span<const Vec3d> points{tree.points.data(), tree.points.size()};
    const TreeGround ground = ground_of(tree, cells);
    const StemParams stem = stem_params(id);
    out.flat_share = share_of(flatness_, id);
    out.top_shared = share_of(tops_, id);
    out.height_drop_m = expected_drop(points);
    JobControl unseen;
    OpContext step(unseen, ctx_);
    out.stray_top_m = stray_top(points, step);
    TreeStem found = stem_of_tree({points, ground, out.box, out.flat_share}, stem, params_.thick, ctx_);
    out.stem = std::move(found.stem);
    out.height_m = found.height_m;
    out.dbh_sigma_m = found.sigma_m;
    out.flat = found.flat;
    if (!out.flat) out.foot = ribbed_foot(points, out.stem, stem.breast_height_m);
    out.bare_scatter_m = bare_scatter(out.stem);
    out.covered = !out.foot && is_covered(out.stem);
    distrust_cover(out.stem);
    if (out.covered) {
      leave_out_cover(out.stem);
      out.dbh_sigma_m = std::nan("");
    }
    out.crown = measure_crown(points, out.stem, params_.crown, ctx_);
    out.no_crown = is_bare(out);
    const bool stemless = !out.stem.breast_height.has_value();
    out.wire = stemless && is_wire(id);
    out.scattered = stemless && tree_scatter(points, cells, step) >= kScattered;
    out.strip_m = widest_empty_strip(points, ctx_);
    out.ground_share = cells.share_around({out.stem.base.x, out.stem.base.y});
    return out;
  }

  void measure_stand(GroundPass& pass) {
    ctx_.begin_phase("Plot boundary", 0);
    StandMeasures stand{};
    PlotEvidence evidence{pass.ground.corners(), pass.all.corners(), {}, {}};
    std::vector<ConvexPolygon> hulls;
    std::vector<Vec2d> bases;
    std::vector<double> diameters;
    for (const MeasuredTree& tree : result_.trees) {
      const double none = std::nan("");
      const auto& at = tree.stem.breast_height;
      const bool is_none = tree.is_none();
      hulls.push_back(is_none ? ConvexPolygon{} : tree.crown.hull);
      bases.push_back(tree.too_few_points || is_none ? Vec2d{none, none}
                                                     : Vec2d{tree.stem.base.x, tree.stem.base.y});
      diameters.push_back(!tree.too_few_points && at ? 2 * at->circle.radius : none);
      if (is_none) continue;
      if (!tree.too_few_points) evidence.bases.push_back(bases.back());
      if (tree.crown.hull.size() < 3) continue;
      stand.crown_area_sum_m2 += tree.crown.projected_area_m2;
      evidence.crowns.push_back(tree.crown.hull);
    }
    stand.plot = plot_boundary(evidence, pass.seen, ctx_);
    stand.unseen_share = stand.plot.source == PlotSource::kGroundClass
                             ? unseen_ground(cloud_, stand.plot.polygon, ctx_)
                             : std::nan("");
    stand.cover = crown_cover(
        hulls,
        {stand.plot.polygon, params_.cover_cell_m, params_.most_cover_cells, params_.most_overlap_pairs},
        ctx_);
    stand.competition =
        competition({bases.data(), bases.size()}, {diameters.data(), diameters.size()},
                    {params_.competition_radius_m, stand.plot.polygon, params_.least_distance_m}, ctx_);
    result_.stand = std::move(stand);
  }

  /// What is known of a tree so far.
  struct Work {
    std::optional<MeasuredTree> measured;
    std::string failure;
    std::uint64_t point_count = 0;
    std::vector<ViewPlace> places;  ///< of its views
    std::optional<Vec2d> layers{};  ///< of its stem
    std::uint64_t part_of = 0;
  };

  TreeCloud cloud_;  ///< without times that hide the views
  const TreeInventoryParams& params_;
  OpContext& ctx_;
  std::vector<Work> work_;
  std::vector<TreeFlatness> flatness_;  ///< ascending id
  std::vector<SharedTop> tops_;         ///< ascending id
  std::vector<StemDrift> drifts_;       ///< each of what the ones before it left
  TreeInventoryResult result_{};
};

}  // namespace

TreeInventoryResult tree_inventory(const TreeCloud& cloud, const TreeInventoryParams& params,
                                   OpContext& ctx) {
  return Inventory(cloud, params, ctx).run();
}

double tree_inventory_bytes(std::uint64_t rows, std::uint64_t largest, int threads) {
  // Points and heights, their ground (keyed, then two lists), two sorted copies of slices, crown rows and cubes, stamps (twice) and views.
  constexpr double kPerRow = 9, kPerPoint = 32 + 112 + 80 + 40 + 80;
  const double at_once =
      std::min(static_cast<double>(rows), static_cast<double>(threads) * static_cast<double>(largest));
  return kPerRow * static_cast<double>(rows) + std::max(kPerPoint * at_once, tree_flatness_bytes(rows));
}

}  // namespace pc
