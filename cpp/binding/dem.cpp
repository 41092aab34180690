#include <cmath>

#include "binding/cloud_edit_values.h"
#include "binding/coded.h"
#include "binding/families.h"
#include "binding/js_values.h"
#include "ops/cloud/half_rows.h"
#include "ops/cloud/select_hits.h"
#include "ops/dem/below_canopy.h"
#include "ops/dem/cell_statistics.h"
#include "ops/dem/column_snap.h"
#include "ops/dem/grid_change.h"
#include "ops/dem/height_above_ground.h"
#include "ops/dem/lone_returns.h"
#include "ops/dem/raster_mesh.h"
#include "ops/dem/scan_heights.h"
#include "ops/dem/surface_raster.h"
#include "ops/dem/terrain_layers.h"
#include "ops/dem/terrain_raster.h"

namespace pc::binding {

namespace {

RasterFrame raster_frame(const Napi::Value& value) {
  const auto js = strict_object(value, "frame");
  const auto count = [&](const char* name) {
    const auto n = whole_field<std::uint32_t>(js, name);
    require(n <= kMaxRasterCells, "a raster has at most 4 000 000 columns and rows");
    return n;
  };
  RasterFrame frame{strict_number(js.Get("min_x"), "min_x"), strict_number(js.Get("min_y"), "min_y"),
                    strict_number(js.Get("cell"), "cell"), count("nx"), count("ny")};
  check_raster(frame);
  return frame;
}

RasterMethod method_of(const Napi::Value& value) {
  return strict_choice<RasterMethod>(
      value, "method",
      {{"tin", RasterMethod::kTin}, {"nearest", RasterMethod::kNearest}, {"idw", RasterMethod::kIdw}});
}

Napi::Value raster_to_js(Napi::Env env, TerrainRasterResult&& result) {
  auto out = Napi::Object::New(env);
  out.Set("z", ColumnHandle::wrap(env, std::move(result.z)));
  out.Set("populated_count", static_cast<double>(result.populated_count));
  out.Set("void_count", static_cast<double>(result.void_count));
  out.Set("on_a_line", result.on_a_line);
  return out;
}

// terrainRaster(positions, skip, params: TerrainRasterParams, footprint): NativeJob<RasterSurface>
Napi::Value terrain_raster_job(const Napi::CallbackInfo& info) {
  const auto positions = positions_column(info[0]);
  const auto skip = optional_mask(info[1], "skip");
  const auto js = strict_object(info[2], "params");
  const TerrainRasterParams params{raster_frame(js.Get("frame")),
                                   strict_number(js.Get("percentile"), "percentile"),
                                   method_of(js.Get("method")),
                                   strict_choice<RasterGaps>(js.Get("gaps"), "gaps",
                                                             {{"leave", RasterGaps::kLeave},
                                                              {"footprint", RasterGaps::kFootprint},
                                                              {"fill", RasterGaps::kFill}}),
                                   bool_field(js, "at_centers")};
  const auto footprint = optional_mask(info[3], "footprint");
  return start_job<TerrainRasterResult>(
      info.Env(), job_options(info[4]),
      [=](OpContext& ctx) {
        const auto hits = select_hits(positions->as<Vec3d>(), view_or_empty<std::uint8_t>(skip), ctx);
        return terrain_raster(hits.points(), params, view_or_empty<std::uint8_t>(footprint), ctx);
      },
      raster_to_js);
}

// surfaceRaster(positions, skip, frame, method): NativeJob<RasterSurface>
Napi::Value surface_raster_job(const Napi::CallbackInfo& info) {
  const auto positions = positions_column(info[0]);
  const auto skip = optional_mask(info[1], "skip");
  const RasterFrame frame = raster_frame(info[2]);
  const auto method = method_of(info[3]);
  return start_job<TerrainRasterResult>(
      info.Env(), job_options(info[4]),
      [=](OpContext& ctx) {
        const auto hits = select_hits(positions->as<Vec3d>(), view_or_empty<std::uint8_t>(skip), ctx);
        return surface_raster(hits.points(), frame, method, ctx);
      },
      raster_to_js);
}

// canopyHeight(frame, terrain, surface): NativeJob<CanopyHeight>
Napi::Value canopy_height_job(const Napi::CallbackInfo& info) {
  const RasterFrame frame = raster_frame(info[0]);
  const auto terrain = typed_column(info[1], DType::kF64, "terrain");
  const auto surface = typed_column(info[2], DType::kF64, "surface");
  return start_job<CanopyHeightResult>(
      info.Env(), job_options(info[3]),
      [=](OpContext& ctx) { return canopy_height(frame, terrain->as<double>(), surface->as<double>(), ctx); },
      [](Napi::Env env, CanopyHeightResult&& result) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("height", ColumnHandle::wrap(env, std::move(result.height)));
        out.Set("draped_z", ColumnHandle::wrap(env, std::move(result.draped_z)));
        out.Set("void_count", static_cast<double>(result.void_count));
        return out;
      });
}

// rasterMesh(frame, z): NativeJob<RasterMesh>
Napi::Value raster_mesh_job(const Napi::CallbackInfo& info) {
  const RasterFrame frame = raster_frame(info[0]);
  const auto z = typed_column(info[1], DType::kF64, "z");
  return start_job<RasterMesh>(
      info.Env(), job_options(info[2]),
      [=](OpContext& ctx) { return raster_mesh(frame, z->as<double>(), ctx); },
      [](Napi::Env env, RasterMesh&& mesh) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("vertices", ColumnHandle::wrap(env, std::move(mesh.vertices)));
        out.Set("normals", ColumnHandle::wrap(env, std::move(mesh.normals)));
        out.Set("indices", ColumnHandle::wrap(env, std::move(mesh.indices)));
        out.Set("cell", ColumnHandle::wrap(env, std::move(mesh.cell)));
        out.Set("area", mesh.area);
        return out;
      });
}

// terrainLayers(frame, z): NativeJob<TerrainLayers>
Napi::Value terrain_layers_job(const Napi::CallbackInfo& info) {
  const RasterFrame frame = raster_frame(info[0]);
  const auto z = typed_column(info[1], DType::kF64, "z");
  return start_job<TerrainLayers>(
      info.Env(), job_options(info[2]),
      [=](OpContext& ctx) { return terrain_layers(frame, z->as<double>(), ctx); },
      [](Napi::Env env, TerrainLayers&& layers) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("hillshade", ColumnHandle::wrap(env, std::move(layers.hillshade)));
        out.Set("slope", ColumnHandle::wrap(env, std::move(layers.slope)));
        out.Set("aspect", ColumnHandle::wrap(env, std::move(layers.aspect)));
        return out;
      });
}

// cellCounts(positions, skip, frame): NativeJob<CellCounts>
Napi::Value cell_counts_job(const Napi::CallbackInfo& info) {
  const auto positions = positions_column(info[0]);
  const auto skip = optional_mask(info[1], "skip");
  const RasterFrame frame = raster_frame(info[2]);
  return start_job<CellCounts>(
      info.Env(), job_options(info[3]),
      [=](OpContext& ctx) {
        return cell_counts(positions->as<Vec3d>(), view_or_empty<std::uint8_t>(skip), frame, ctx);
      },
      [](Napi::Env env, CellCounts&& cells) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("counts", ColumnHandle::wrap(env, std::move(cells.counts)));
        out.Set("footprint", ColumnHandle::wrap(env, std::move(cells.footprint)));
        return out;
      });
}

// cellMeans(positions, skip, values, units: { divisor, offset }, frame): NativeJob<NativeColumn>
Napi::Value cell_means_job(const Napi::CallbackInfo& info) {
  const auto positions = positions_column(info[0]);
  const auto skip = optional_mask(info[1], "skip");
  const auto values = ColumnHandle::get(info[2]);
  const auto js = strict_object(info[3], "units");
  const ValueUnits units{number_field(js, "divisor"), number_field(js, "offset")};
  const RasterFrame frame = raster_frame(info[4]);
  return start_job<AnyColumn>(
      info.Env(), job_options(info[5]),
      [=](OpContext& ctx) {
        return AnyColumn(cell_means(positions->as<Vec3d>(), view_or_empty<std::uint8_t>(skip), *values, units,
                                    frame, ctx));
      },
      column_to_js);
}

// cellLayer(grid, cell): NativeJob<CellLayer>
Napi::Value cell_layer_job(const Napi::CallbackInfo& info) {
  const auto grid = ColumnHandle::get(info[0]);
  const auto cell = typed_column(info[1], DType::kU32, "cell");
  return start_job<CellLayer>(
      info.Env(), job_options(info[2]),
      [=](OpContext& ctx) { return cell_layer(*grid, cell->as<std::uint32_t>(), ctx); },
      [](Napi::Env env, CellLayer&& layer) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("grid", ColumnHandle::wrap(env, std::move(layer.grid)));
        out.Set("at_vertices", ColumnHandle::wrap(env, std::move(layer.at_vertices)));
        out.Set("min", layer.range.min);
        out.Set("max", layer.range.max);
        return out;
      });
}

// heightAboveGround(positions, skip, frame, terrain): NativeJob<NativeColumn>
Napi::Value height_above_ground_job(const Napi::CallbackInfo& info) {
  const auto positions = positions_column(info[0]);
  const auto skip = optional_mask(info[1], "skip");
  const RasterFrame frame = raster_frame(info[2]);
  const auto terrain = typed_column(info[3], DType::kF64, "terrain");
  return start_job<AnyColumn>(
      info.Env(), job_options(info[4]),
      [=](OpContext& ctx) {
        const auto hits = select_hits(positions->as<Vec3d>(), view_or_empty<std::uint8_t>(skip), ctx);
        Column<float> heights = height_above_ground(hits.points(), frame, terrain->as<double>(), ctx);
        return AnyColumn(on_all_rows(hits, std::move(heights), positions->size(), 0.0F, ctx));
      },
      column_to_js);
}

// medianAboveGround(positions, skip, frame, terrain): NativeJob<number>
Napi::Value median_above_ground_job(const Napi::CallbackInfo& info) {
  const auto positions = positions_column(info[0]);
  const auto skip = optional_mask(info[1], "skip");
  const RasterFrame frame = raster_frame(info[2]);
  const auto terrain = typed_column(info[3], DType::kF64, "terrain");
  return start_job<double>(
      info.Env(), job_options(info[4]),
      [=](OpContext& ctx) {
        const auto hits = select_hits(positions->as<Vec3d>(), view_or_empty<std::uint8_t>(skip), ctx);
        return median_above_ground(hits.points(), frame, terrain->as<double>(), ctx);
      },
      [](Napi::Env env, double&& median) -> Napi::Value { return Napi::Number::New(env, median); });
}

// belowCanopy(positions, skip, heights): NativeJob<BelowCanopy>
Napi::Value below_canopy_job(const Napi::CallbackInfo& info) {
  const auto positions = positions_column(info[0]);
  const auto skip = optional_mask(info[1], "skip");
  const auto heights = ColumnHandle::get(info[2]);
  return start_job<BelowCanopy>(
      info.Env(), job_options(info[3]),
      [=](OpContext& ctx) {
        return below_canopy(positions->as<Vec3d>(), view_or_empty<std::uint8_t>(skip), *heights, ctx);
      },
      [](Napi::Env env, BelowCanopy&& found) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("cell", found.cell);
        out.Set("cells", static_cast<double>(found.cells));
        out.Set("closed", static_cast<double>(found.closed));
        out.Set("seen", static_cast<double>(found.seen));
        return out;
      });
}

// halfRows(positions, skip): NativeJob<NativeColumn>
Napi::Value half_rows_job(const Napi::CallbackInfo& info) {
  const auto positions = positions_column(info[0]);
  const auto skip = optional_mask(info[1], "skip");
  return start_job<Column<std::uint8_t>>(
      info.Env(), job_options(info[2]),
      [=](OpContext& ctx) {
        return half_rows(positions->as<Vec3d>(), view_or_empty<std::uint8_t>(skip), ctx);
      },
      [](Napi::Env env, Column<std::uint8_t>&& mask) -> Napi::Value {
        return ColumnHandle::wrap(env, std::move(mask));
      });
}

// gridChange(first, second, above): NativeJob<{ cells, mean_value, mean_change, rms_change }>
Napi::Value grid_change_job(const Napi::CallbackInfo& info) {
  const auto first = typed_column(info[0], DType::kF64, "first");
  const auto second = typed_column(info[1], DType::kF64, "second");
  const double above = strict_number(info[2], "above");
  return start_job<GridChange>(
      info.Env(), job_options(info[3]),
      [=](OpContext& ctx) { return grid_change(first->as<double>(), second->as<double>(), above, ctx); },
      [](Napi::Env env, GridChange&& change) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("cells", static_cast<double>(change.cells));
        out.Set("mean_value", change.mean_value);
        out.Set("mean_change", change.mean_change);
        out.Set("rms_change", change.rms_change);
        return out;
      });
}

// gridJumps(first, second, least): NativeJob<{ cells, changed, largest, cell }>
Napi::Value grid_jumps_job(const Napi::CallbackInfo& info) {
  const auto first = typed_column(info[0], DType::kF64, "first");
  const auto second = typed_column(info[1], DType::kF64, "second");
  const double least = strict_number(info[2], "least");
  return start_job<GridJumps>(
      info.Env(), job_options(info[3]),
      [=](OpContext& ctx) { return grid_jumps(first->as<double>(), second->as<double>(), least, ctx); },
      [](Napi::Env env, GridJumps&& jumps) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("cells", static_cast<double>(jumps.cells));
        out.Set("changed", static_cast<double>(jumps.changed));
        out.Set("largest", jumps.largest);
        out.Set("cell", static_cast<double>(jumps.cell));
        return out;
      });
}

// loneReturns(positions, skip, rows, frame, side: "highest" | "lowest"): NativeJob<{ skip, count }>
Napi::Value lone_returns_job(const Napi::CallbackInfo& info) {
  const auto positions = positions_column(info[0]);
  const auto skip = optional_mask(info[1], "skip");
  const auto rows = optional_mask(info[2], "rows");
  const RasterFrame frame = raster_frame(info[3]);
  const SurfaceSide side = strict_choice<SurfaceSide>(
      info[4], "side", {{"highest", SurfaceSide::kHighest}, {"lowest", SurfaceSide::kLowest}});
  return start_job<LoneReturns>(
      info.Env(), job_options(info[5]),
      [=](OpContext& ctx) {
        return lone_returns(positions->as<Vec3d>(), view_or_empty<std::uint8_t>(skip),
                            view_or_empty<std::uint8_t>(rows), frame, side, ctx);
      },
      [](Napi::Env env, LoneReturns&& found) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("skip", ColumnHandle::wrap(env, std::move(found.skip)));
        out.Set("count", static_cast<double>(found.count));
        return out;
      });
}

// scanHeights(positions, skip, scans, frame): NativeJob<{ scan_a, scan_b, n_cells, z_m, spread_m }[]>
Napi::Value scan_heights_job(const Napi::CallbackInfo& info) {
  const auto positions = positions_column(info[0]);
  const auto skip = optional_mask(info[1], "skip");
  const auto scans = ColumnHandle::get(info[2]);
  const RasterFrame frame = raster_frame(info[3]);
  return start_job<std::vector<ScanHeight>>(
      info.Env(), job_options(info[4]),
      [=](OpContext& ctx) {
        return scan_heights(positions->as<Vec3d>(), view_or_empty<std::uint8_t>(skip), *scans, frame, ctx);
      },
      [](Napi::Env env, std::vector<ScanHeight>&& heights) -> Napi::Value {
        auto out = Napi::Array::New(env, heights.size());
        for (std::uint32_t i = 0; i < heights.size(); ++i) {
          auto one = Napi::Object::New(env);
          one.Set("scan_a", heights[i].scan_a);
          one.Set("scan_b", heights[i].scan_b);
          one.Set("n_cells", static_cast<double>(heights[i].cells));
          one.Set("z_m", heights[i].z_m);
          one.Set("spread_m", heights[i].spread_m);
          out.Set(i, one);
        }
        return out;
      });
}

// columnSnap(columns: VoxelColumns, frame, terrain): NativeJob<SnappedColumns>
Napi::Value column_snap_job(const Napi::CallbackInfo& info) {
  const auto js = strict_object(info[0], "columns");
  const auto count = [&](const char* name) {
    const auto n = whole_field<std::uint32_t>(js, name);
    require(n <= kMaxVoxelColumns, "a voxel grid has at most 4 000 000 columns");
    return n;
  };
  const VoxelColumns columns{.center = number_triple(js.Get("center"), "center"),
                             .size = number_triple(js.Get("size"), "size"),
                             .nx = count("nx"),
                             .ny = count("ny"),
                             .rotation_deg = strict_number(js.Get("rotation_deg"), "rotation_deg"),
                             .voxel_height = strict_number(js.Get("voxel_height"), "voxel_height"),
                             .safety_fraction = strict_number(js.Get("safety_fraction"), "safety_fraction")};
  const RasterFrame frame = raster_frame(info[1]);
  const auto terrain = typed_column(info[2], DType::kF64, "terrain");
  return start_job<ColumnSnapResult>(
      info.Env(), job_options(info[3]),
      [=](OpContext& ctx) { return column_snap(columns, frame, terrain->as<double>(), ctx); },
      [](Napi::Env env, ColumnSnapResult&& result) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("offsets", ColumnHandle::wrap(env, AnyColumn(std::move(result.offsets))));
        out.Set("kept", ColumnHandle::wrap(env, AnyColumn(std::move(result.kept))));
        out.Set("dropped_count", static_cast<double>(result.dropped_count));
        return out;
      });
}

// terrainRasterBytes(points: number, cells: number): number
Napi::Value terrain_raster_bytes_of(const Napi::CallbackInfo& info) {
  const std::uint64_t bytes =
      terrain_raster_bytes(strict_whole(info[0], "points"), strict_whole(info[1], "cells"));
  return Napi::Number::New(info.Env(), static_cast<double>(bytes));
}

}  // namespace

void register_dem(Napi::Env env, Napi::Object exports) {
  add<terrain_raster_job>(env, exports, "terrainRaster");
  add<surface_raster_job>(env, exports, "surfaceRaster");
  add<canopy_height_job>(env, exports, "canopyHeight");
  add<raster_mesh_job>(env, exports, "rasterMesh");
  add<terrain_layers_job>(env, exports, "terrainLayers");
  add<cell_counts_job>(env, exports, "cellCounts");
  add<cell_means_job>(env, exports, "cellMeans");
  add<cell_layer_job>(env, exports, "cellLayer");
  add<height_above_ground_job>(env, exports, "heightAboveGround");
  add<median_above_ground_job>(env, exports, "medianAboveGround");
  add<below_canopy_job>(env, exports, "belowCanopy");
  add<half_rows_job>(env, exports, "halfRows");
  add<grid_change_job>(env, exports, "gridChange");
  add<grid_jumps_job>(env, exports, "gridJumps");
  add<lone_returns_job>(env, exports, "loneReturns");
  add<scan_heights_job>(env, exports, "scanHeights");
  add<column_snap_job>(env, exports, "columnSnap");
  add<terrain_raster_bytes_of>(env, exports, "terrainRasterBytes");
}

}  // namespace pc::binding
