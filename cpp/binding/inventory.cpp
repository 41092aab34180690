#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "binding/coded.h"
#include "binding/column_handle.h"
#include "binding/families.h"
#include "binding/job.h"
#include "binding/js_values.h"
#include "binding/scan_fit.h"
#include "core/parallel.h"
#include "ops/trees/align_scans.h"
#include "ops/trees/listed_stand.h"
#include "ops/trees/scan_lifts.h"
#include "ops/trees/scan_offsets.h"
#include "ops/trees/tree_inventory.h"

namespace pc::binding {

namespace {

constexpr double kPi = 3.14159265358979323846;

double degrees(double radians) { return radians * 180 / kPi; }
double lean_of(const MeasuredTree& t) {
  return degrees(std::atan2(std::hypot(t.stem.axis.x, t.stem.axis.y), t.stem.axis.z));
}
double azimuth_of(const MeasuredTree& t) {
  const double azimuth = degrees(std::atan2(t.stem.axis.x, t.stem.axis.y));
  return azimuth < 0 ? azimuth + 360 : azimuth;
}
double flags_of(const StemSection& s) {
  return (s.few_points ? 1 : 0) + (s.partial_arc ? 2 : 0) + (s.high_residual ? 4 : 0);
}
/// A value of the section at breast height; NaN without one.
template <class Value>
double at_breast_height(const MeasuredTree& t, Value&& value) {
  return t.stem.breast_height ? static_cast<double>(value(*t.stem.breast_height)) : std::nan("");
}

struct TreeField {
  const char* name;
  double (*of)(const MeasuredTree&);
};

#define PC_BREAST_HEIGHT(expression) \
  [](const MeasuredTree& t) { return at_breast_height(t, [](const StemSection& s) { return expression; }); }

/// A value of what widens the stem at breast height; NaN without it.
template <class Value>
double at_foot(const MeasuredTree& t, Value&& value) {
  return t.foot ? value(*t.foot) : std::nan("");
}
#define PC_FOOT(expression) \
  [](const MeasuredTree& t) { return at_foot(t, [](const RibbedFoot& f) { return expression; }); }

/// The columns of the table of trees; NaN = not measured.
const TreeField kTreeFields[] = {
    {"tree_id", [](const MeasuredTree& t) { return static_cast<double>(t.id); }},
    {"n_points", [](const MeasuredTree& t) { return static_cast<double>(t.point_count); }},
    {"too_few_points", [](const MeasuredTree& t) { return t.too_few_points ? 1.0 : 0.0; }},
    {"bbox_min_x", [](const MeasuredTree& t) { return t.box.min.x; }},
    {"bbox_min_y", [](const MeasuredTree& t) { return t.box.min.y; }},
    {"bbox_min_z", [](const MeasuredTree& t) { return t.box.min.z; }},
    {"bbox_max_x", [](const MeasuredTree& t) { return t.box.max.x; }},
    {"bbox_max_y", [](const MeasuredTree& t) { return t.box.max.y; }},
    {"bbox_max_z", [](const MeasuredTree& t) { return t.box.max.z; }},
    {"ground_source", [](const MeasuredTree& t) { return static_cast<double>(t.stem.ground.source); }},
    {"stem_base_x", [](const MeasuredTree& t) { return t.stem.base.x; }},
    {"stem_base_y", [](const MeasuredTree& t) { return t.stem.base.y; }},
    {"stem_base_z", [](const MeasuredTree& t) { return t.stem.base.z; }},
    {"stem_axis_x", [](const MeasuredTree& t) { return t.stem.axis.x; }},
    {"stem_axis_y", [](const MeasuredTree& t) { return t.stem.axis.y; }},
    {"stem_axis_z", [](const MeasuredTree& t) { return t.stem.axis.z; }},
    {"breast_height_ref_z", [](const MeasuredTree& t) { return t.stem.reference_z; }},
    {"lean_deg", lean_of},
    {"lean_azimuth_deg", azimuth_of},
    {"height_m", [](const MeasuredTree& t) { return t.height_m; }},
    {"height_drop_m", [](const MeasuredTree& t) { return t.height_drop_m; }},
    {"flat_share", [](const MeasuredTree& t) { return t.flat_share; }},
    {"ground_share", [](const MeasuredTree& t) { return t.ground_share; }},
    {"top_shared", [](const MeasuredTree& t) { return t.top_shared; }},
    {"flat", [](const MeasuredTree& t) { return t.flat ? 1.0 : 0.0; }},
    {"wire", [](const MeasuredTree& t) { return t.wire ? 1.0 : 0.0; }},
    {"scattered", [](const MeasuredTree& t) { return t.scattered ? 1.0 : 0.0; }},
    {"stray_top_m", [](const MeasuredTree& t) { return t.stray_top_m; }},
    {"no_crown", [](const MeasuredTree& t) { return t.no_crown ? 1.0 : 0.0; }},
    {"at_wall", [](const MeasuredTree& t) { return t.at_wall ? 1.0 : 0.0; }},
    {"covered", [](const MeasuredTree& t) { return t.covered ? 1.0 : 0.0; }},
    {"strip_m", [](const MeasuredTree& t) { return t.strip_m; }},
    {"image_of", [](const MeasuredTree& t) { return static_cast<double>(t.image_of); }},
    {"part_of", [](const MeasuredTree& t) { return static_cast<double>(t.part_of); }},
    {"repeat_of", [](const MeasuredTree& t) { return static_cast<double>(t.repeat_of); }},
    {"same_stem_as", [](const MeasuredTree& t) { return static_cast<double>(t.same_stem_as); }},
    {"foot_reach_m", PC_FOOT(f.reach_m)},
    {"foot_top_m", PC_FOOT(f.top_m)},
    {"foot_axial_m", PC_FOOT(f.axial_m)},
    {"foot_diameter_m", PC_FOOT(f.diameter_m)},
    {"foot_sigma_m", PC_FOOT(f.sigma_m)},
    {"dbh_diameter_m", PC_BREAST_HEIGHT(2 * s.circle.radius)},
    {"dbh_sigma_m", [](const MeasuredTree& t) { return t.dbh_sigma_m; }},
    {"dbh_center_x", PC_BREAST_HEIGHT(s.center.x)},
    {"dbh_center_y", PC_BREAST_HEIGHT(s.center.y)},
    {"dbh_center_z", PC_BREAST_HEIGHT(s.center.z)},
    {"dbh_rms_m", PC_BREAST_HEIGHT(s.circle.rms_m)},
    {"dbh_scatter_m", PC_BREAST_HEIGHT(s.scatter_m)},
    {"bare_scatter_m", [](const MeasuredTree& t) { return t.bare_scatter_m; }},
    {"dbh_arc_coverage", PC_BREAST_HEIGHT(s.circle.arc_coverage)},
    {"dbh_max_gap_deg", PC_BREAST_HEIGHT(s.circle.max_gap_deg)},
    {"dbh_n_points", PC_BREAST_HEIGHT(s.point_count)},
    {"dbh_n_inliers", PC_BREAST_HEIGHT(s.circle.inlier_count)},
    {"dbh_slice_thickness_m", PC_BREAST_HEIGHT(s.thickness_m)},
    {"dbh_axial_m", PC_BREAST_HEIGHT(s.axial_m)},
    {"dbh_flags", PC_BREAST_HEIGHT(flags_of(s))},
    {"n_crown_points", [](const MeasuredTree& t) { return static_cast<double>(t.crown.point_count); }},
    {"crown_base_height_m", [](const MeasuredTree& t) { return t.crown.base_height_m; }},
    {"crown_projected_area_m2", [](const MeasuredTree& t) { return t.crown.projected_area_m2; }},
    {"crown_area_gain_m2", [](const MeasuredTree& t) { return t.crown.area_gain_m2; }},
    {"crown_max_width_m", [](const MeasuredTree& t) { return t.crown.max_width_m; }},
    {"crown_perp_width_m", [](const MeasuredTree& t) { return t.crown.perp_width_m; }},
    {"crown_offset_m", [](const MeasuredTree& t) { return t.crown.offset_m; }},
    {"crown_offset_azimuth_deg", [](const MeasuredTree& t) { return t.crown.offset_azimuth_deg; }},
    {"crown_ellipse_eccentricity", [](const MeasuredTree& t) { return t.crown.eccentricity; }},
    {"crown_volume_voxel_m3", [](const MeasuredTree& t) { return t.crown.voxel_volume_m3; }},
    {"hull_corners", [](const MeasuredTree& t) { return static_cast<double>(t.crown.hull.size()); }},
    {"curve_rows", [](const MeasuredTree& t) { return static_cast<double>(t.stem.curve.size()); }},
};
#undef PC_BREAST_HEIGHT
constexpr std::size_t kTreeFieldCount = std::size(kTreeFields);

/// Columns of the table of the stand pass, one row per tree.
constexpr const char* kStandFields[] = {"hegyi_index",      "hegyi_index_corrected",  "n_competitors",
                                        "crown_overlap_m2", "crown_overlap_fraction", "edge"};
constexpr const char* kCurveFields[] = {"tree_id",    "axial_m", "height_m",     "x",        "y", "z",
                                        "diameter_m", "rms_m",   "arc_coverage", "n_points", "ok"};

/// Filled by the op's thread.
struct Answer {
  TreeInventoryResult result;
  AnyColumn trees, hulls, curve, stand, skipped;
  std::vector<std::string> reasons;
  std::vector<ScanOffset> offsets;
};

AnyColumn column_of(const std::vector<double>& values) {
  Column<double> column(values.size());
  std::copy(values.begin(), values.end(), column.view().begin());
  return AnyColumn(std::move(column));
}

void fill_trees(Answer& answer) {
  std::vector<double> trees, hulls, curve;
  trees.reserve(answer.result.trees.size() * kTreeFieldCount);
  for (const MeasuredTree& tree : answer.result.trees) {
    for (const TreeField& field : kTreeFields) trees.push_back(field.of(tree));
    for (const Vec2d& corner : tree.crown.hull) hulls.insert(hulls.end(), {corner.x, corner.y});
    for (const StemSection& s : tree.stem.curve) {
      curve.insert(curve.end(),
                   {static_cast<double>(tree.id), s.axial_m, s.center.z - tree.stem.base.z, s.center.x,
                    s.center.y, s.center.z, 2 * s.circle.radius, s.circle.rms_m, s.circle.arc_coverage,
                    static_cast<double>(s.point_count), s.ok ? 1.0 : 0.0});
    }
  }
  answer.trees = column_of(trees);
  answer.hulls = column_of(hulls);
  answer.curve = column_of(curve);
}

/// Values of kStandFields of tree `i`.
void append_stand_row(const Competition& competition, const CrownCover& cover, std::size_t i, bool has_hull,
                      std::vector<double>& rows) {
  rows.insert(rows.end(), {competition.hegyi[i], competition.hegyi_corrected[i],
                           static_cast<double>(competition.neighbor_count[i]),
                           has_hull ? cover.overlap_m2[i] : std::nan(""), cover.overlap_fraction[i],
                           static_cast<double>(competition.edge[i])});
}

void fill_stand(Answer& answer) {
  std::vector<double> stand;
  if (answer.result.stand) {
    const StandMeasures& made = *answer.result.stand;
    for (std::size_t i = 0; i < answer.result.trees.size(); ++i)
      append_stand_row(made.competition, made.cover, i, answer.result.trees[i].crown.hull.size() >= 3, stand);
  }
  answer.stand = column_of(stand);
}

void fill_skipped(Answer& answer) {
  std::vector<double> skipped;
  for (const SkippedTree& tree : answer.result.skipped) {
    double reason = 0;
    if (!tree.small) {
      auto at = std::find(answer.reasons.begin(), answer.reasons.end(), tree.reason);
      if (at == answer.reasons.end()) at = answer.reasons.insert(at, tree.reason);
      reason = static_cast<double>(at - answer.reasons.begin()) + 1;
    }
    skipped.insert(skipped.end(), {tree.id, static_cast<double>(tree.point_count), reason});
  }
  answer.skipped = column_of(skipped);
}

/// Of the bare stems: leaves that each scan sees on its own side of a stem make scans that fit seem to lie apart.
std::vector<StemCircle> circles_of(const std::vector<MeasuredTree>& trees) {
  std::vector<StemCircle> circles;
  for (const MeasuredTree& tree : trees)
    if (const auto& at = tree.stem.breast_height; at && !at->covered)
      circles.push_back({tree.id, at->center, tree.stem.axis, at->circle.radius});
  return circles;
}

struct HeldCloud {
  ColumnPtr positions, skip, tree_instance, height_above_ground, ground_class, scan_index, time_s;
  Vec3d shift{0, 0, 0};
  TreeCloud view() const {
    return {positions->as<Vec3d>(),
            shift,
            view_or_empty<std::uint8_t>(skip),
            tree_instance.get(),
            height_above_ground.get(),
            ground_class.get(),
            scan_index.get(),
            time_s.get()};
  }
};

HeldCloud held_cloud(const Napi::Value& value) {
  const auto js = strict_object(value, "cloud");
  return {typed_column(js.Get("positions"), DType::kVec3d, "positions"),
          optional_typed_column(js.Get("skip"), DType::kU8, "skip"),
          ColumnHandle::get(js.Get("tree_instance")),
          ColumnHandle::get_optional(js.Get("height_above_ground")),
          ColumnHandle::get_optional(js.Get("ground_class")),
          ColumnHandle::get_optional(js.Get("scan_index")),
          ColumnHandle::get_optional(js.Get("time_s")),
          vec3_field(js, "shift")};
}

StemParams stem_params(const Napi::Object& js) {
  return {.search = strict_choice<CircleSearch>(
              js.Get("fit_method"), "fit_method",
              {{"ransac", CircleSearch::kRansac}, {"hough", CircleSearch::kHough}}),
          .breast_height_m = number_field(js, "breast_height_m"),
          .slice_thickness_m = number_field(js, "slice_thickness_m"),
          .widened = number_list(js.Get("slice_widen_m"), "slice_widen_m"),
          .inlier_distance_m = number_field(js, "inlier_distance_m"),
          .curve_step_m = number_field(js, "stem_curve_step_m"),
          .curve_start_m = number_field(js, "stem_curve_start_m"),
          .min_radius_m = number_field(js, "min_radius_m"),
          .max_radius_m = number_field(js, "max_radius_m"),
          .min_inliers = whole_field<std::uint32_t>(js, "min_inliers"),
          .min_slice_points = whole_field<std::uint32_t>(js, "min_slice_points"),
          .partial_arc_coverage = number_field(js, "partial_arc_coverage"),
          .seed_min_m = number_field(js, "seed_min_m"),
          .seed_max_m = number_field(js, "seed_max_m"),
          .seed_step_m = number_field(js, "seed_step_m"),
          .lean_fit_max_m = number_field(js, "lean_fit_max_m"),
          .max_failures = whole_field<std::uint32_t>(js, "max_consecutive_failures"),
          .ellipticity_square = number_field(js, "ellipticity_square"),
          .seed = whole_field(js, "random_seed")};
}

TreeInventoryParams inventory_params(const Napi::Object& js) {
  TreeInventoryParams params{.stem = stem_params(js),
                             .thick = {.min_radius_m = number_field(js, "thick_min_radius_m"),
                                       .max_radius_m = number_field(js, "thick_max_radius_m"),
                                       .inlier_part = number_field(js, "thick_inlier_part")},
                             .crown = {.voxel_size_m = number_field(js, "voxel_size_m"),
                                       .gap_m = number_field(js, "crown_gap_m"),
                                       .bin_m = number_field(js, "crown_bin_m"),
                                       .occupancy_fraction = number_field(js, "crown_occupancy_frac")},
                             .min_points = whole_field(js, "min_points"),
                             .tree_ids = std::nullopt,
                             .align_scans = bool_field(js, "align_scans"),
                             .most_view_spread_m = number_field(js, "most_view_spread_m"),
                             .competition_radius_m = number_field(js, "competition_radius_m"),
                             .least_distance_m = number_field(js, "least_distance_m"),
                             .cover_cell_m = number_field(js, "cover_cell_m"),
                             .most_cover_cells = number_field(js, "most_cover_cells"),
                             .most_overlap_pairs = number_field(js, "most_overlap_pairs")};
  if (is_nothing(js.Get("tree_ids"))) return params;
  params.tree_ids.emplace();
  const auto ids = strict_array(js.Get("tree_ids"), "tree_ids");
  for (std::uint32_t i = 0; i < ids.Length(); ++i)
    params.tree_ids->push_back(strict_whole(ids.Get(i), "tree_ids"));
  return params;
}

template <std::size_t kCount>
Napi::Array names_to_js(Napi::Env env, const char* const (&names)[kCount]) {
  auto out = Napi::Array::New(env, kCount);
  for (std::uint32_t i = 0; i < kCount; ++i) out.Set(i, names[i]);
  return out;
}

Napi::Value stand_to_js(Napi::Env env, const std::optional<StandMeasures>& stand) {
  if (!stand) return env.Null();
  const PlotBoundary& boundary = stand->plot;
  auto plot = Napi::Array::New(env, boundary.polygon.size());
  for (std::uint32_t i = 0; i < boundary.polygon.size(); ++i) {
    auto corner = Napi::Array::New(env, 2);
    corner.Set(0U, boundary.polygon[i].x);
    corner.Set(1U, boundary.polygon[i].y);
    plot.Set(i, corner);
  }
  auto out = Napi::Object::New(env);
  const bool known = boundary.source != PlotSource::kNone;
  out.Set("plot_polygon", known ? Napi::Value(plot) : env.Null());
  out.Set("plot_area_m2", number_or_null(env, known ? boundary.area_m2 : std::nan("")));
  out.Set("plot_source", boundary.source == PlotSource::kGroundClass ? "ground_class"
                         : boundary.source == PlotSource::kAllPoints ? "all_points"
                                                                     : "none");
  out.Set("plot_seen_share", number_or_null(env, boundary.seen_share));
  out.Set("unseen_share", number_or_null(env, stand->unseen_share));
  out.Set("trees_on_ground_share",
          number_or_null(env, boundary.ground_refused ? boundary.ground_share : std::nan("")));
  out.Set("crown_union_area_m2", stand->cover.union_area_m2);
  out.Set("cover_cell_m", stand->cover.cell_m);
  out.Set("crown_area_sum_m2", stand->crown_area_sum_m2);
  out.Set("overlap_known", stand->cover.overlap_known);
  return out;
}

Napi::Value answer_to_js(Napi::Env env, Answer&& answer) {
  auto fields = Napi::Array::New(env, kTreeFieldCount);
  for (std::uint32_t i = 0; i < kTreeFieldCount; ++i) fields.Set(i, kTreeFields[i].name);
  auto out = Napi::Object::New(env);
  out.Set("tree_fields", fields);
  out.Set("curve_fields", names_to_js(env, kCurveFields));
  out.Set("stand_fields", names_to_js(env, kStandFields));
  out.Set("trees", ColumnHandle::wrap(env, std::move(answer.trees)));
  out.Set("hulls", ColumnHandle::wrap(env, std::move(answer.hulls)));
  out.Set("curve", ColumnHandle::wrap(env, std::move(answer.curve)));
  out.Set("stand_trees", ColumnHandle::wrap(env, std::move(answer.stand)));
  out.Set("skipped", ColumnHandle::wrap(env, std::move(answer.skipped)));
  out.Set("reasons", to_js(env, answer.reasons));
  out.Set("stand", stand_to_js(env, answer.result.stand));
  out.Set("nonfinite_count", static_cast<double>(answer.result.nonfinite_count));
  out.Set("view_fit", views_to_js(env, answer.result.views));
  out.Set("scan_layers", layers_to_js(env, answer.result.layers));
  out.Set("scan_offsets", offsets_to_js(env, answer.offsets));
  return out;
}

// treeInventory(cloud: TreeCloud, params: TreeInventoryParams, options?): NativeJob<TreeInventory>
Napi::Value tree_inventory_job(const Napi::CallbackInfo& info) {
  const HeldCloud cloud = held_cloud(info[0]);
  const TreeInventoryParams params = inventory_params(strict_object(info[1], "params"));
  return start_job<Answer>(
      info.Env(), job_options(info[2]),
      [cloud, params](OpContext& ctx) {
        Answer answer;
        answer.result = tree_inventory(cloud.view(), params, ctx);
        fill_trees(answer);
        fill_stand(answer);
        fill_skipped(answer);
        if (cloud.scan_index)
          answer.offsets =
              scan_offsets(cloud.view(), *cloud.scan_index, circles_of(answer.result.trees), ctx);
        return answer;
      },
      answer_to_js);
}

/// Filled by the op's thread.
struct AlignedAnswer {
  Alignment found;
  std::vector<ScanLift> lifts;
  std::optional<AnyColumn> positions, origins;
};

Napi::Value moves_to_js(Napi::Env env, const std::vector<ScanMove>& moves) {
  auto out = Napi::Array::New(env, moves.size());
  for (std::uint32_t i = 0; i < moves.size(); ++i) {
    auto one = Napi::Object::New(env);
    one.Set("scan_index", moves[i].scan);
    one.Set("x_m", moves[i].x_m);
    one.Set("y_m", moves[i].y_m);
    one.Set("turn_rad", moves[i].turn);
    one.Set("most_m", moves[i].most_m);
    out.Set(i, one);
  }
  return out;
}

Napi::Value aligned_to_js(Napi::Env env, AlignedAnswer&& answer) {
  auto out = Napi::Object::New(env);
  const auto column = [&](std::optional<AnyColumn>& held) -> Napi::Value {
    return held ? ColumnHandle::wrap(env, std::move(*held)) : env.Null();
  };
  out.Set("positions", column(answer.positions));
  out.Set("beam_origins", column(answer.origins));
  out.Set("view_fit", views_to_js(env, answer.found.views));
  auto middle = Napi::Array::New(env, 2);
  middle.Set(0U, answer.found.middle.x);
  middle.Set(1U, answer.found.middle.y);
  out.Set("middle", middle);
  out.Set("scans", moves_to_js(env, answer.found.scans));
  auto lifts = Napi::Array::New(env, answer.lifts.size());
  for (std::uint32_t i = 0; i < answer.lifts.size(); ++i) {
    auto one = Napi::Object::New(env);
    one.Set("scan_index", answer.lifts[i].scan);
    one.Set("z_m", answer.lifts[i].z_m);
    lifts.Set(i, one);
  }
  out.Set("lifts", lifts);
  return out;
}

// alignScans(cloud: TreeCloud, params: TreeInventoryParams, origins: vec3d | null, options?): NativeJob<AlignedScans>
Napi::Value align_scans_job(const Napi::CallbackInfo& info) {
  const HeldCloud cloud = held_cloud(info[0]);
  const TreeInventoryParams params = inventory_params(strict_object(info[1], "params"));
  const auto origins = optional_typed_column(info[2], DType::kVec3d, "origins");
  return start_job<AlignedAnswer>(
      info.Env(), job_options(info[3]),
      [cloud, params, origins](OpContext& ctx) {
        AlignedAnswer answer;
        answer.found = align_scans(cloud.view(), params, ctx);
        const auto moved = [&](const ColumnPtr& points) {
          return without_drift(points->as<Vec3d>(), cloud.shift, cloud.scan_index.get(), cloud.time_s.get(),
                               answer.found.drifts, ctx);
        };
        Column<Vec3d> positions = moved(cloud.positions);
        const auto skip = view_or_empty<std::uint8_t>(cloud.skip);
        std::vector<ScanLift> layers, rest;
        if (cloud.scan_index) layers = take_layers(positions.view(), skip, *cloud.scan_index, ctx);
        if (cloud.ground_class && cloud.scan_index)
          rest = scan_lifts(positions.view(), skip, *cloud.ground_class, *cloud.scan_index, ctx);
        answer.lifts = joined_lifts(layers, rest);
        if (answer.found.drifts.empty() && answer.lifts.empty()) return answer;
        const auto lowered = [&](Column<Vec3d> points, const std::vector<ScanLift>& lifts) {
          if (!lifts.empty()) take_lifts(points.view(), *cloud.scan_index, lifts, ctx);
          return AnyColumn(std::move(points));
        };
        answer.positions = lowered(std::move(positions), rest);
        if (origins) answer.origins = lowered(moved(origins), answer.lifts);
        return answer;
      },
      aligned_to_js);
}

// treeInventoryBytes(rows: number, largest: number, threads: number): number
Napi::Value tree_inventory_bytes_of(const Napi::CallbackInfo& info) {
  const auto rows = strict_whole(info[0], "rows"), largest = strict_whole(info[1], "largest");
  const int threads = strict_threads(info[2]);
  return Napi::Number::New(info.Env(),
                           tree_inventory_bytes(rows, largest, threads > 0 ? threads : hardware_threads()));
}

/// Filled by the op's thread.
struct ListedAnswer {
  ListedStand stand;
  AnyColumn rows;
};

ConvexPolygon corners_of(Span<const double> values, std::size_t first, std::size_t count) {
  ConvexPolygon polygon;
  for (std::size_t i = first; i < first + count; ++i) polygon.push_back({values[2 * i], values[2 * i + 1]});
  return polygon;
}

/// Trees of a table of x, y, diameter and number of corners, whose corners follow each other in `hulls`.
std::vector<ListedTree> listed_trees(Span<const double> table, Span<const double> hulls) {
  require(table.size % 4 == 0 && hulls.size % 2 == 0, "a row has 4 numbers and a corner 2");
  std::vector<ListedTree> trees;
  std::size_t first = 0;
  for (std::size_t row = 0; row < table.size; row += 4) {
    const double corners = table[row + 3];
    require(corners >= 0 && corners <= static_cast<double>(hulls.size / 2 - first), "corners are missing");
    const auto count = static_cast<std::size_t>(corners);
    trees.push_back({{table[row], table[row + 1]}, table[row + 2], corners_of(hulls, first, count)});
    first += count;
  }
  return trees;
}

Napi::Value listed_to_js(Napi::Env env, ListedAnswer&& answer) {
  auto out = Napi::Object::New(env);
  out.Set("stand_fields", names_to_js(env, kStandFields));
  out.Set("stand_trees", ColumnHandle::wrap(env, std::move(answer.rows)));
  out.Set("plot_area_m2", answer.stand.plot_area_m2);
  out.Set("crown_union_area_m2", answer.stand.cover.union_area_m2);
  out.Set("cover_cell_m", answer.stand.cover.cell_m);
  out.Set("overlap_known", answer.stand.cover.overlap_known);
  return out;
}

// listedStand(trees: f64 (n, 4), hulls: f64 (k, 2), plot: f64 (p, 2), params): NativeJob<ListedStand>
Napi::Value listed_stand_job(const Napi::CallbackInfo& info) {
  const auto table = typed_column(info[0], DType::kF64, "trees"),
             hulls = typed_column(info[1], DType::kF64, "hulls"),
             plot = typed_column(info[2], DType::kF64, "plot");
  const auto js = strict_object(info[3], "params");
  ListedStandParams params{.plot = {},
                           .competition_radius_m = number_field(js, "competition_radius_m"),
                           .least_distance_m = number_field(js, "least_distance_m"),
                           .cover_cell_m = number_field(js, "cover_cell_m"),
                           .most_cover_cells = number_field(js, "most_cover_cells"),
                           .most_overlap_pairs = number_field(js, "most_overlap_pairs")};
  const Span<const double> corners = plot->as<double>();
  params.plot = corners_of(corners, 0, corners.size / 2);
  return start_job<ListedAnswer>(
      info.Env(), job_options(info[4]),
      [table, hulls, params](OpContext& ctx) {
        const auto trees = listed_trees(table->as<double>(), hulls->as<double>());
        ListedAnswer answer;
        answer.stand = listed_stand(trees, params, ctx);
        std::vector<double> rows;
        for (std::size_t i = 0; i < trees.size(); ++i)
          append_stand_row(answer.stand.competition, answer.stand.cover, i, trees[i].hull.size() >= 3, rows);
        answer.rows = column_of(rows);
        return answer;
      },
      listed_to_js);
}

}  // namespace

void register_inventory(Napi::Env env, Napi::Object exports) {
  add<tree_inventory_job>(env, exports, "treeInventory");
  add<align_scans_job>(env, exports, "alignScans");
  add<tree_inventory_bytes_of>(env, exports, "treeInventoryBytes");
  add<listed_stand_job>(env, exports, "listedStand");
}

}  // namespace pc::binding
