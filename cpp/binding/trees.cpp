#include <optional>

#include "binding/coded.h"
#include "binding/column_handle.h"
#include "binding/families.h"
#include "binding/job.h"
#include "binding/js_values.h"
#include "core/error.h"
#include "ops/cloud/select_hits.h"
#include "ops/trees/canopy_crowns.h"
#include "ops/trees/fusion_warning.h"
#include "ops/trees/tiled_cut_pursuit.h"
#include "ops/trees/tiled_path_trees.h"
#include "ops/trees/tree_decimation.h"
#include "ops/trees/tree_points.h"

namespace pc::binding {

namespace {

Napi::Array indices_to_js(Napi::Env env, const std::vector<std::uint32_t>& values) {
  auto out = Napi::Array::New(env, values.size());
  for (std::uint32_t i = 0; i < values.size(); ++i) out.Set(i, values[i]);
  return out;
}

Napi::Array extent_to_js(Napi::Env env, const Box3d& box) {
  auto out = Napi::Array::New(env, 2);
  out.Set(0U, box.empty() ? 0.0 : box.max.x - box.min.x);
  out.Set(1U, box.empty() ? 0.0 : box.max.y - box.min.y);
  return out;
}

// treePoints(positions, skip, ground, options?): NativeJob<TreePoints>
Napi::Value tree_points_job(const Napi::CallbackInfo& info) {
  const auto positions = typed_column(info[0], DType::kVec3d, "positions");
  const auto skip = optional_typed_column(info[1], DType::kU8, "skip");
  const auto ground = ColumnHandle::get_optional(info[2]);
  return start_job<TreePoints>(
      info.Env(), job_options(info[3]),
      [positions, skip, ground](OpContext& ctx) {
        return tree_points(positions->as<Vec3d>(), view_or_empty<std::uint8_t>(skip), ground.get(), ctx);
      },
      [](Napi::Env env, TreePoints&& found) -> Napi::Value {
        auto out = Napi::Object::New(env);
        const bool labelled = found.not_ground.size() > 0;
        out.Set("skip", ColumnHandle::wrap(env, AnyColumn(std::move(found.skip))));
        out.Set("not_ground",
                labelled ? Napi::Value(ColumnHandle::wrap(env, AnyColumn(std::move(found.not_ground))))
                         : env.Null());
        out.Set("vegetation_count", static_cast<double>(found.vegetation_count));
        out.Set("ground_count", static_cast<double>(found.ground_count));
        out.Set("non_finite_count", static_cast<double>(found.non_finite_count));
        out.Set("extent", extent_to_js(env, found.box));
        out.Set("spacing_m", found.spacing_m);
        return out;
      });
}

// canopyCrowns(positions, skip, not_ground, seeds, params: CanopyCrownsParams, options?): NativeJob<CanopyCrowns>
Napi::Value canopy_crowns_job(const Napi::CallbackInfo& info) {
  const auto positions = typed_column(info[0], DType::kVec3d, "positions");
  const auto skip = typed_column(info[1], DType::kU8, "skip");
  const auto not_ground = optional_typed_column(info[2], DType::kU8, "not_ground");
  const auto seeds = optional_typed_column(info[3], DType::kVec3d, "seeds");
  const auto js = strict_object(info[4], "params");
  const CanopyCrownsParams params{.cell_m = number_field(js, "cell_m"),
                                  .min_height_m = number_field(js, "min_height_m"),
                                  .crown_scale_m = number_field(js, "crown_scale_m")};
  struct Answer {
    CanopyCrownsResult result;
    AnyColumn tree_instance;
    std::uint64_t crown_points = 0;
  };
  return start_job<Answer>(
      info.Env(), job_options(info[5]),
      [positions, skip, not_ground, seeds, params](OpContext& ctx) {
        const Span<const Vec3d> xyz = positions->as<Vec3d>();
        const auto plants = select_hits(xyz, skip->as<std::uint8_t>(), ctx);
        const auto ground = not_ground ? select_hits(xyz, not_ground->as<std::uint8_t>(), ctx)
                                       : select_hits(Span<const Vec3d>{}, {}, ctx);
        Answer answer{
            canopy_crowns(plants.points(), ground.points(), view_or_empty<Vec3d>(seeds), params, ctx), {}, 0};
        for (const std::uint32_t tree : answer.result.tree_instance.view())
          answer.crown_points += tree > 0 ? 1 : 0;
        answer.tree_instance = AnyColumn(
            on_all_rows(plants, std::move(answer.result.tree_instance), xyz.size, std::uint32_t{0}, ctx));
        return answer;
      },
      [](Napi::Env env, Answer&& answer) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("tree_instance", ColumnHandle::wrap(env, std::move(answer.tree_instance)));
        out.Set("num_trees", static_cast<double>(answer.result.tops.size()));
        out.Set("empty_seeds", indices_to_js(env, answer.result.empty_seeds));
        out.Set("crown_points", static_cast<double>(answer.crown_points));
        out.Set("ground_given", answer.result.ground_given);
        out.Set("touching", answer.result.touching);
        out.Set("shallow", static_cast<double>(answer.result.shallow));
        return out;
      });
}

// canopyCrownsCost(points: number, extent: [x, y], cell_m: number): CanopyCrownsCost
Napi::Value canopy_crowns_cost_of(const Napi::CallbackInfo& info) {
  const auto extent = number_array<2>(info[1], "extent");
  const CanopyCrownsCost cost = canopy_crowns_cost(strict_whole(info[0], "points"), extent[0], extent[1],
                                                   strict_number(info[2], "cell_m"));
  auto out = Napi::Object::New(info.Env());
  out.Set("cells", static_cast<double>(cost.cell_count));
  out.Set("bytes", static_cast<double>(cost.bytes));
  out.Set("admissible", cost.admissible);
  out.Set("finest_cell_m", cost.finest_cell_m);
  return out;
}

// fusionWarning(positions, skip, tree_instance, num_trees, heights: f32 | null, options?): NativeJob<FusionFound>
Napi::Value fusion_warning_job(const Napi::CallbackInfo& info) {
  const auto positions = typed_column(info[0], DType::kVec3d, "positions");
  const auto skip = typed_column(info[1], DType::kU8, "skip");
  const auto labels = typed_column(info[2], DType::kU32, "tree_instance");
  const std::uint64_t trees = strict_whole(info[3], "num_trees");
  const auto heights = optional_typed_column(info[4], DType::kF32, "heights");
  return start_job<FusionFound>(
      info.Env(), job_options(info[5]),
      [positions, skip, labels, trees, heights](OpContext& ctx) {
        const auto hits = select_hits(positions->as<Vec3d>(), skip->as<std::uint8_t>(), ctx);
        const auto of_hits = hit_values<std::uint32_t>(hits, labels->as<std::uint32_t>(), ctx);
        if (!heights) return fusion_warning(hits.points(), of_hits.view(), trees, {}, ctx);
        const auto above = hit_values<float>(hits, heights->as<float>(), ctx);
        return fusion_warning(hits.points(), of_hits.view(), trees, above.view(), ctx);
      },
      [](Napi::Env env, FusionFound&& found) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("fused", static_cast<double>(found.fused_count));
        out.Set("implied", static_cast<double>(found.implied_count));
        return out;
      });
}

Napi::Object voxels_to_js(Napi::Env env, const TreeVoxels& voxels) {
  auto out = Napi::Object::New(env);
  out.Set("decimate_res1", voxels.decimate_res1);
  out.Set("decimate_res2", voxels.decimate_res2);
  out.Set("nodes", static_cast<double>(voxels.node_count));
  return out;
}

// treeDecimation(positions, skip, decimate_res1, decimate_res2, options?): NativeJob<TreeDecimation>
Napi::Value tree_decimation_job(const Napi::CallbackInfo& info) {
  const auto positions = typed_column(info[0], DType::kVec3d, "positions");
  const auto skip = typed_column(info[1], DType::kU8, "skip");
  const double res1 = strict_number(info[2], "decimate_res1"), res2 = strict_number(info[3], "decimate_res2");
  return start_job<TreeDecimation>(
      info.Env(), job_options(info[4]),
      [positions, skip, res1, res2](OpContext& ctx) {
        const auto hits = select_hits(positions->as<Vec3d>(), skip->as<std::uint8_t>(), ctx);
        return tree_decimation(hits.points(), res1, res2, ctx);
      },
      [](Napi::Env env, TreeDecimation&& found) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("spacing_m", number_or_null(env, found.spacing_m));
        out.Set("tile", voxels_to_js(env, found.tile));
        out.Set("whole", voxels_to_js(env, found.whole));
        return out;
      });
}

CutPursuitTreesParams cut_pursuit_params(const Napi::Object& js) {
  return {.reg_strength1 = number_field(js, "reg_strength1"),
          .min_nn1 = whole_field<std::uint32_t>(js, "min_nn1"),
          .decimate_res1 = number_field(js, "decimate_res1"),
          .reg_strength2 = number_field(js, "reg_strength2"),
          .min_nn2 = whole_field<std::uint32_t>(js, "min_nn2"),
          .decimate_res2 = number_field(js, "decimate_res2"),
          .max_gap = number_field(js, "max_gap"),
          .rel_height_length_ratio = number_field(js, "rel_height_length_ratio"),
          .vertical_weight = number_field(js, "vertical_weight"),
          .min_nn3 = whole_field<std::uint32_t>(js, "min_nn3"),
          .score_candidate_thresh = number_field(js, "score_candidate_thresh"),
          .init_stem_rel_length_thresh = number_field(js, "init_stem_rel_length_thresh"),
          .max_outlier_gap = number_field(js, "max_outlier_gap"),
          .voxel_origin = {}};
}

/// How to divide a cloud: { nodes, buffer_m, tile_nodes }.
struct Tiling {
  std::uint64_t nodes;
  double buffer_m, tile_nodes;
};
std::optional<Tiling> tiling_of(const Napi::Value& value) {
  if (is_nothing(value)) return {};
  const auto js = strict_object(value, "tiling");
  return Tiling{whole_field(js, "nodes"), number_field(js, "buffer_m"), number_field(js, "tile_nodes")};
}

Napi::Value tiled_to_js(Napi::Env env, const TreeTilePlan& plan, const TiledTreesResult& result,
                        std::size_t points) {
  auto grid = Napi::Array::New(env, 2);
  grid.Set(0U, plan.nx);
  grid.Set(1U, plan.ny);
  auto out = Napi::Object::New(env);
  out.Set("n", static_cast<double>(points));
  out.Set("tile_m", plan.tile_m);
  out.Set("buffer_m", plan.buffer_m);
  out.Set("grid", grid);
  out.Set("tiles", static_cast<double>(result.tiles));
  out.Set("tiles_run", static_cast<double>(result.tiles_run));
  out.Set("trees_truncated", static_cast<double>(result.truncated_count));
  out.Set("points_per_tile_max", static_cast<double>(result.points_per_tile_max));
  out.Set("points_per_tile_mean", result.points_per_tile_mean);
  return out;
}

/// Trees of the whole cloud or of tiles.
struct FoundTrees {
  AnyColumn tree_instance;
  std::uint64_t tree_count, point_count;
  std::vector<std::uint32_t> empty_seeds;
  std::optional<CutPursuitTreesResult> whole;  ///< without its labels
  std::optional<TreeTilePlan> plan;
  TiledTreesResult tiled;                   ///< without its labels
  std::optional<double> node_m;             ///< of path_trees
  std::optional<TrunkLayer> trunks;         ///< of path_trees
  std::optional<std::uint64_t> node_count;  ///< of path_trees
  std::optional<HighPoints> high;           ///< of path_trees
  std::optional<LowCarpet> carpet;          ///< of path_trees
};

Napi::Value high_to_js(Napi::Env env, const HighPoints& high) {
  auto out = Napi::Object::New(env);
  out.Set("count", static_cast<double>(high.count));
  out.Set("of_stems", static_cast<double>(high.of_stems));
  out.Set("without_tree", static_cast<double>(high.without_tree));
  return out;
}

Napi::Value carpet_to_js(Napi::Env env, const LowCarpet& carpet) {
  auto out = Napi::Object::New(env);
  out.Set("area_m2", carpet.area_m2);
  out.Set("point_count", static_cast<double>(carpet.point_count));
  return out;
}

Napi::Value trunks_to_js(Napi::Env env, const TrunkLayer& layer) {
  auto out = Napi::Object::New(env);
  out.Set("min_m", layer.min_m);
  out.Set("max_m", layer.max_m);
  return out;
}

Napi::Value found_to_js(Napi::Env env, FoundTrees&& found) {
  auto out = Napi::Object::New(env);
  out.Set("tree_instance", ColumnHandle::wrap(env, std::move(found.tree_instance)));
  out.Set("num_trees", static_cast<double>(found.tree_count));
  out.Set("empty_seeds", indices_to_js(env, found.empty_seeds));
  out.Set("tiled", found.plan ? tiled_to_js(env, *found.plan, found.tiled, found.point_count) : env.Null());
  out.Set("stage1_collapsed", found.whole && found.whole->stage1_collapsed);
  out.Set("decimate_res1",
          found.whole ? Napi::Value(Napi::Number::New(env, found.whole->decimate_res1)) : env.Null());
  out.Set("decimate_res2",
          found.whole ? Napi::Value(Napi::Number::New(env, found.whole->decimate_res2)) : env.Null());
  out.Set("node_m", found.node_m ? Napi::Value(Napi::Number::New(env, *found.node_m)) : env.Null());
  out.Set("trunks", found.trunks ? trunks_to_js(env, *found.trunks) : env.Null());
  out.Set("nodes", found.node_count
                       ? Napi::Value(Napi::Number::New(env, static_cast<double>(*found.node_count)))
                       : env.Null());
  out.Set("high", found.high ? high_to_js(env, *found.high) : env.Null());
  out.Set("carpet", found.carpet ? carpet_to_js(env, *found.carpet) : env.Null());
  return out;
}

FoundTrees cut_pursuit_found(HitPoints points, Span<const Vec3d> seeds, const CutPursuitTreesParams& params,
                             const std::optional<Tiling>& tiling, Column<std::uint32_t>& labels,
                             OpContext& ctx) {
  FoundTrees found{};
  found.point_count = points.size();
  if (tiling) {
    found.plan = tree_tile_plan(points, tiling->nodes, tiling->buffer_m, tiling->tile_nodes, ctx);
    found.tiled = tiled_cut_pursuit(points, seeds, params, *found.plan, ctx);
    found.tree_count = found.tiled.tree_count;
    labels = std::move(found.tiled.tree_instance);
  } else {
    found.whole = cut_pursuit_trees(points, seeds, params, ctx);
    found.tree_count = found.whole->tree_count;
    labels = std::move(found.whole->tree_instance);
  }
  found.empty_seeds = unused_numbers(labels.view(), seeds.size, ctx);
  return found;
}

// cutPursuitTrees(positions, skip, seeds, params: CutPursuitParams, tiling: Tiling | null, options?): NativeJob<FoundTrees>
Napi::Value cut_pursuit_trees_job(const Napi::CallbackInfo& info) {
  const auto positions = typed_column(info[0], DType::kVec3d, "positions");
  const auto skip = typed_column(info[1], DType::kU8, "skip");
  const auto seeds = optional_typed_column(info[2], DType::kVec3d, "seeds");
  const CutPursuitTreesParams params = cut_pursuit_params(strict_object(info[3], "params"));
  const std::optional<Tiling> tiling = tiling_of(info[4]);
  return start_job<FoundTrees>(
      info.Env(), job_options(info[5]),
      [positions, skip, seeds, params, tiling](OpContext& ctx) {
        const Span<const Vec3d> xyz = positions->as<Vec3d>();
        const auto hits = select_hits(xyz, skip->as<std::uint8_t>(), ctx);
        Column<std::uint32_t> labels;
        FoundTrees found =
            cut_pursuit_found(hits.points(), view_or_empty<Vec3d>(seeds), params, tiling, labels, ctx);
        found.tree_instance =
            AnyColumn(on_all_rows(hits, std::move(labels), xyz.size, std::uint32_t{0}, ctx));
        return found;
      },
      found_to_js);
}

struct PathConstantName {
  const char* name;
  double PathConstants::*member;
};
constexpr PathConstantName kPathConstantNames[] = {
    {"finest_node_m", &PathConstants::finest_node_m},
    {"neighbors", &PathConstants::neighbors},
    {"most_gap_m", &PathConstants::most_gap_m},
    {"exponent", &PathConstants::exponent},
    {"turn_cost", &PathConstants::turn_cost},
    {"memory_m", &PathConstants::memory_m},
    {"scatter_cost", &PathConstants::scatter_cost},
    {"root_top_m", &PathConstants::root_top_m},
    {"root_margin_m", &PathConstants::root_margin_m},
    {"limb_cost_m", &PathConstants::limb_cost_m},
    {"low_m", &PathConstants::low_m},
    {"base_gap_m", &PathConstants::base_gap_m},
    {"widest_base_m", &PathConstants::widest_base_m},
    {"carpet_height_m", &PathConstants::carpet_height_m},
    {"least_height_m", &PathConstants::least_height_m},
    {"base_start_cost_m", &PathConstants::base_start_cost_m},
    {"least_points", &PathConstants::least_points},
};

/// kPathConstants, each times the factor of its name.
PathConstants path_constants(const Napi::Value& factors) {
  PathConstants constants = kPathConstants;
  if (is_nothing(factors)) return constants;
  const auto js = strict_object(factors, "factors");
  for (const auto& [name, member] : kPathConstantNames) {
    if (is_nothing(js.Get(name))) continue;
    const double factor = number_field(js, name);
    require(std::isfinite(factor) && factor > 0, "factors must be above 0");
    constants.*member *= factor;
  }
  return constants;
}

struct PathWishes {
  std::optional<Tiling> tiling;
  PathConstants constants;
};

FoundTrees path_found(HitPoints points, Span<const float> heights, Span<const Vec3d> seeds,
                      const PathWishes& wishes, Column<std::uint32_t>& labels, OpContext& ctx) {
  const auto& [tiling, constants] = wishes;
  FoundTrees found{};
  found.point_count = points.size();
  const PathTreesParams params{
      path_node_size(points, constants, ctx), {}, constants, trunk_layer(heights, ctx)};
  found.node_m = params.node_m;
  found.trunks = params.trunks;
  if (tiling) {
    found.node_count = cut_pursuit_node_count(points, params.node_m, ctx);
    found.plan = tree_tile_plan(points, *found.node_count, tiling->buffer_m, tiling->tile_nodes, ctx);
    TiledPathTrees tiled = tiled_path_trees(points, heights, seeds, params, *found.plan, ctx);
    found.high = tiled.high;
    found.carpet = tiled.carpet;
    found.tiled = std::move(tiled.found);
    found.tree_count = found.tiled.tree_count;
    labels = std::move(found.tiled.tree_instance);
  } else {
    PathTreesResult whole = path_trees(points, heights, seeds, params, ctx);
    found.tree_count = whole.trees.size();
    found.node_count = whole.node_count;
    found.high = whole.high;
    found.carpet = whole.carpet;
    labels = std::move(whole.tree_instance);
  }
  found.empty_seeds = unused_numbers(labels.view(), seeds.size, ctx);
  return found;
}

// pathTrees(positions, skip, heights, seeds, tiling: Tiling | null, options?, factors?): NativeJob<FoundTrees>
Napi::Value path_trees_job(const Napi::CallbackInfo& info) {
  const auto positions = typed_column(info[0], DType::kVec3d, "positions");
  const auto skip = typed_column(info[1], DType::kU8, "skip");
  const auto heights = typed_column(info[2], DType::kF32, "heights");
  const auto seeds = optional_typed_column(info[3], DType::kVec3d, "seeds");
  const PathWishes wishes{tiling_of(info[4]), path_constants(info[6])};
  return start_job<FoundTrees>(
      info.Env(), job_options(info[5]),
      [positions, skip, heights, seeds, wishes](OpContext& ctx) {
        const Span<const Vec3d> xyz = positions->as<Vec3d>();
        require(heights->size() == xyz.size, "one height per row is needed");
        const auto hits = select_hits(xyz, skip->as<std::uint8_t>(), ctx);
        const Column<float> of_hits = hit_values<float>(hits, heights->as<float>(), ctx);
        Column<std::uint32_t> labels;
        FoundTrees found =
            path_found(hits.points(), of_hits.view(), view_or_empty<Vec3d>(seeds), wishes, labels, ctx);
        found.tree_instance =
            AnyColumn(on_all_rows(hits, std::move(labels), xyz.size, std::uint32_t{0}, ctx));
        return found;
      },
      found_to_js);
}

// pathTreesBytes(points: number): number
Napi::Value path_trees_bytes_of(const Napi::CallbackInfo& info) {
  return Napi::Number::New(
      info.Env(), static_cast<double>(path_trees_bytes(strict_whole(info[0], "points"), kPathConstants)));
}

// cutPursuitTreesBytes(points: number, nodes: number, params: CutPursuitParams): number
Napi::Value cut_pursuit_trees_bytes_of(const Napi::CallbackInfo& info) {
  const std::uint64_t bytes =
      cut_pursuit_trees_bytes(strict_whole(info[0], "points"), strict_whole(info[1], "nodes"),
                              cut_pursuit_params(strict_object(info[2], "params")));
  return Napi::Number::New(info.Env(), static_cast<double>(bytes));
}

}  // namespace

void register_trees(Napi::Env env, Napi::Object exports) {
  add<tree_points_job>(env, exports, "treePoints");
  add<canopy_crowns_job>(env, exports, "canopyCrowns");
  add<canopy_crowns_cost_of>(env, exports, "canopyCrownsCost");
  add<fusion_warning_job>(env, exports, "fusionWarning");
  add<tree_decimation_job>(env, exports, "treeDecimation");
  add<cut_pursuit_trees_job>(env, exports, "cutPursuitTrees");
  add<path_trees_job>(env, exports, "pathTrees");
  add<path_trees_bytes_of>(env, exports, "pathTreesBytes");
  add<cut_pursuit_trees_bytes_of>(env, exports, "cutPursuitTreesBytes");
}

}  // namespace pc::binding
