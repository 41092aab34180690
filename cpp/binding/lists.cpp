#include <optional>

#include "binding/cloud_edit_values.h"
#include "binding/coded.h"
#include "binding/families.h"
#include "binding/js_values.h"
#include "io/json_text.h"
#include "io/raster_grid.h"
#include "ops/cloud/unit_colors.h"
#include "ops/dem/void_cells.h"

namespace pc::binding {

namespace {

// unitColors(colors: NativeColumn): NativeJob<NativeColumn>
Napi::Value unit_colors_job(const Napi::CallbackInfo& info) {
  const auto colors = typed_column(info[0], DType::kVec3d, "colors");
  return start_job<AnyColumn>(
      info.Env(), job_options(info[1]),
      [=](OpContext& ctx) { return AnyColumn(unit_colors(colors->as<Vec3d>(), ctx)); }, column_to_js);
}

// voidCells(values: NativeColumn, nodata: number | null): NativeJob<{ heights, height_count }>
Napi::Value void_cells_job(const Napi::CallbackInfo& info) {
  const auto values = typed_column(info[0], DType::kF64, "values");
  const std::optional<double> nodata =
      is_nothing(info[1]) ? std::nullopt : std::optional(strict_number(info[1], "nodata"));
  return start_job<VoidCellsResult>(
      info.Env(), job_options(info[2]),
      [=](OpContext& ctx) { return void_cells(values->as<double>(), nodata, ctx); },
      [](Napi::Env env, VoidCellsResult&& result) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("heights", ColumnHandle::wrap(env, AnyColumn(std::move(result.heights))));
        out.Set("height_count", static_cast<double>(result.height_count));
        return out;
      });
}

// rasterText(values: NativeColumn, nx: number, ny: number, nodata: number): NativeJob<NativeColumn>
Napi::Value raster_text_job(const Napi::CallbackInfo& info) {
  const auto values = typed_column(info[0], DType::kF64, "values");
  const auto nx = strict_whole(info[1], "nx"), ny = strict_whole(info[2], "ny");
  const double nodata = strict_number(info[3], "nodata");
  return start_job<AnyColumn>(
      info.Env(), job_options(info[4]),
      [=](OpContext& ctx) {
        return AnyColumn(io::raster_text({values->as<double>(), nx, ny}, nodata, ctx));
      },
      column_to_js);
}

// rasterFloats(values: NativeColumn, nx: number, ny: number): NativeJob<{ values: NativeColumn } | { refused: number }>
Napi::Value raster_floats_job(const Napi::CallbackInfo& info) {
  const auto values = typed_column(info[0], DType::kF64, "values");
  const auto nx = strict_whole(info[1], "nx"), ny = strict_whole(info[2], "ny");
  return start_job<io::RasterFloats>(
      info.Env(), job_options(info[3]),
      [=](OpContext& ctx) {
        return io::raster_floats({values->as<double>(), nx, ny}, ctx);
      },
      [](Napi::Env env, io::RasterFloats&& result) -> Napi::Value {
        auto out = Napi::Object::New(env);
        if (result.refused) {
          out.Set("refused", result.refused_value);
        } else {
          out.Set("values", ColumnHandle::wrap(env, AnyColumn(std::move(result.values))));
        }
        return out;
      });
}

// jsonText(column: NativeColumn, form: JsonForm, part: { first, count, origin }): NativeJob<NativeColumn>
Napi::Value json_text_job(const Napi::CallbackInfo& info) {
  const auto column = ColumnHandle::get(info[0]);
  const auto form = strict_choice<io::JsonForm>(info[1], "form",
                                                {{"numbers", io::JsonForm::kNumbers},
                                                 {"pairs", io::JsonForm::kPairs},
                                                 {"triples", io::JsonForm::kTriples},
                                                 {"counts", io::JsonForm::kCounts},
                                                 {"text", io::JsonForm::kText},
                                                 {"json", io::JsonForm::kJson}});
  const auto js = strict_object(info[2], "part");
  const io::JsonPart part{form, whole_field(js, "first"), whole_field(js, "count"), vec3_field(js, "origin")};
  return start_job<AnyColumn>(
      info.Env(), job_options(info[3]),
      [=](OpContext& ctx) { return AnyColumn(io::json_text(*column, part, ctx)); }, column_to_js);
}

}  // namespace

void register_lists(Napi::Env env, Napi::Object exports) {
  add<unit_colors_job>(env, exports, "unitColors");
  add<void_cells_job>(env, exports, "voidCells");
  add<raster_text_job>(env, exports, "rasterText");
  add<raster_floats_job>(env, exports, "rasterFloats");
  add<json_text_job>(env, exports, "jsonText");
}

}  // namespace pc::binding
