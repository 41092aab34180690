#include <string>

#include "binding/cloud_edit_values.h"
#include "binding/coded.h"
#include "binding/families.h"
#include "binding/js_values.h"
#include "io/octree_directory.h"
#include "ops/cloud/categorical_split.h"
#include "ops/cloud/class_counts.h"
#include "ops/cloud/compact.h"
#include "ops/cloud/map_values.h"
#include "ops/cloud/mark_deleted.h"
#include "ops/cloud/transform.h"
#include "ops/octree/octree_translate.h"

namespace pc::binding {

namespace {

// selectRows(selection: RowSelection): NativeJob<NativeColumn>
Napi::Value select_rows(const Napi::CallbackInfo& info) {
  const auto held = held_selection(info[0]);
  return start_job<AnyColumn>(
      info.Env(), job_options(info[1]),
      [held](OpContext& ctx) { return AnyColumn(region_select(held->selection, ctx)); }, column_to_js);
}

// deleteRows(selected, isMiss | null, deleted | null): NativeJob<Deletion>
Napi::Value delete_rows(const Napi::CallbackInfo& info) {
  const auto selected = mask_column(info[0], "selected");
  const auto is_miss = ColumnHandle::get_optional(info[1]);
  const auto deleted = optional_mask(info[2], "deleted");
  return start_job<Deletion>(
      info.Env(), job_options(info[3]),
      [=](OpContext& ctx) {
        return mark_deleted(selected->as<std::uint8_t>(), is_miss.get(), view_or_empty<std::uint8_t>(deleted),
                            ctx);
      },
      [](Napi::Env env, Deletion&& deletion) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("deleted", ColumnHandle::wrap(env, std::move(deletion.deleted)));
        out.Set("rows", to_js(env, std::move(deletion.rows)));
        out.Set("selected_hit_count", static_cast<double>(deletion.selected_hit_count));
        return out;
      });
}

// unionRows(rowCount: number, base | null, sets: NativeRowSet[]): NativeJob<NativeColumn>
Napi::Value union_rows_job(const Napi::CallbackInfo& info) {
  const auto row_count = strict_whole<std::size_t>(info[0], "rowCount");
  const auto base = optional_mask(info[1], "base");
  const auto array = strict_array(info[2], "sets");
  std::vector<HeldRowSet> held;
  for (std::uint32_t i = 0; i < array.Length(); ++i) held.push_back(held_row_set(array.Get(i)));
  return start_job<AnyColumn>(
      info.Env(), job_options(info[3]),
      [=](OpContext& ctx) {
        std::vector<RowSetView> sets;
        for (const HeldRowSet& set : held) sets.push_back(set.view);
        return AnyColumn(union_rows(row_count, view_or_empty<std::uint8_t>(base), sets, ctx));
      },
      column_to_js);
}

// encodeRows(mask): NativeJob<NativeRowSet>
Napi::Value encode_rows_job(const Napi::CallbackInfo& info) {
  const auto mask = mask_column(info[0], "mask");
  return start_job<RowSet>(
      info.Env(), job_options(info[1]),
      [mask](OpContext& ctx) { return encode_rows(mask->as<std::uint8_t>(), ctx); },
      [](Napi::Env env, RowSet&& set) -> Napi::Value { return to_js(env, std::move(set)); });
}

// paintStrokes(sequence: StrokeSequence): NativeJob<PaintedSequence>
Napi::Value paint_strokes_job(const Napi::CallbackInfo& info) {
  const auto held = held_sequence(info[0]);
  return start_job<PaintedSequence>(
      info.Env(), job_options(info[1]), [held](OpContext& ctx) { return paint_strokes(held->sequence, ctx); },
      [](Napi::Env env, PaintedSequence&& painted) -> Napi::Value {
        auto changes = Napi::Array::New(env, painted.changes.size());
        for (std::size_t i = 0; i < painted.changes.size(); ++i) {
          const Napi::HandleScope scope(env);
          StrokeChange& change = painted.changes[i];
          auto js = Napi::Object::New(env);
          js.Set("rows", to_js(env, std::move(change.rows)));
          js.Set("previous", ColumnHandle::wrap(env, std::move(change.previous)));
          js.Set("selected_count", static_cast<double>(change.selected_count));
          changes.Set(static_cast<std::uint32_t>(i), js);
        }
        auto out = Napi::Object::New(env);
        out.Set("column", ColumnHandle::wrap(env, std::move(painted.column)));
        out.Set("changes", changes);
        return out;
      });
}

// setLabels(column, rows: NativeRowSet, values): NativeJob<NativeColumn>
Napi::Value set_labels_job(const Napi::CallbackInfo& info) {
  const auto column = ColumnHandle::get(info[0]);
  const auto rows = held_row_set(info[1]);
  const auto values = ColumnHandle::get(info[2]);
  return start_job<AnyColumn>(
      info.Env(), job_options(info[3]),
      [=](OpContext& ctx) { return set_labels(*column, rows.view, *values, ctx); }, column_to_js);
}

// classCounts(column, skip | null): NativeJob<ClassCounts>
Napi::Value class_counts_job(const Napi::CallbackInfo& info) {
  const auto column = ColumnHandle::get(info[0]);
  const auto skip = optional_mask(info[1], "skip");
  return start_job<ClassCounts>(
      info.Env(), job_options(info[2]),
      [=](OpContext& ctx) { return class_counts(*column, view_or_empty<std::uint8_t>(skip), ctx); },
      [](Napi::Env env, ClassCounts&& classes) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("values", to_js(env, classes.values));
        out.Set("counts", to_js(env, classes.counts));
        return out;
      });
}

// compactColumns(columns: NativeColumn[], drop): NativeJob<NativeColumn[]>
Napi::Value compact_columns(const Napi::CallbackInfo& info) {
  const auto columns = column_list(info[0], "columns");
  const auto drop = mask_column(info[1], "drop");
  return start_job<std::vector<AnyColumn>>(
      info.Env(), job_options(info[2]),
      [=](OpContext& ctx) { return compact(raw_pointers(columns), drop->as<std::uint8_t>(), ctx); },
      columns_to_js);
}

// categoricalSplit(column, skip | null, exclude: number[]): NativeJob<Groups>
Napi::Value categorical_split_job(const Napi::CallbackInfo& info) {
  const auto column = ColumnHandle::get(info[0]);
  const auto skip = optional_mask(info[1], "skip");
  const auto exclude = number_list(info[2], "exclude");
  return start_job<ClassGroups>(
      info.Env(), job_options(info[3]),
      [=](OpContext& ctx) {
        return categorical_split(*column, view_or_empty<std::uint8_t>(skip), exclude, ctx);
      },
      [](Napi::Env env, ClassGroups&& groups) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("values", to_js(env, groups.values));
        out.Set("counts", to_js(env, groups.counts));
        out.Set("order", ColumnHandle::wrap(env, std::move(groups.order)));
        return out;
      });
}

// takeRows(columns: NativeColumn[], order, first: number, count: number): NativeJob<NativeColumn[]>
Napi::Value take_rows_job(const Napi::CallbackInfo& info) {
  const auto columns = column_list(info[0], "columns");
  const auto order = ColumnHandle::get(info[1]);
  const auto first = strict_whole(info[2], "first"), count = strict_whole(info[3], "count");
  return start_job<std::vector<AnyColumn>>(
      info.Env(), job_options(info[4]),
      [=](OpContext& ctx) { return take_rows(raw_pointers(columns), *order, first, count, ctx); },
      columns_to_js);
}

// concatColumns(parts: ConcatPart[], params: { dtype, fill }): NativeJob<NativeColumn>
Napi::Value concat_columns(const Napi::CallbackInfo& info) {
  const auto held = held_parts(info[0]);
  const auto js = strict_object(info[1], "params");
  const MergeParams params{parse_dtype(strict_string(js.Get("dtype"), "dtype")),
                           strict_number(js.Get("fill"), "fill")};
  return start_job<AnyColumn>(
      info.Env(), job_options(info[2]),
      [=](OpContext& ctx) { return merge_frames(held->parts, params, ctx); }, column_to_js);
}

// transformPositions(positions, matrix: number[12]): NativeJob<NativeColumn>
Napi::Value transform_positions_job(const Napi::CallbackInfo& info) {
  const auto positions = positions_column(info[0]);
  const auto matrix = number_array<12>(info[1], "matrix");
  return start_job<AnyColumn>(
      info.Env(), job_options(info[2]),
      [=](OpContext& ctx) { return AnyColumn(transform_positions(positions->as<Vec3d>(), matrix, ctx)); },
      column_to_js);
}

// transformNormals(normals: [nx, ny, nz], linear: number[9]): NativeJob<[nx, ny, nz]>
Napi::Value transform_normals_job(const Napi::CallbackInfo& info) {
  const auto normals = column_list(info[0], "normals");
  require(normals.size() == 3, "normals must be three columns");
  const auto linear = number_array<9>(info[1], "linear");
  return start_job<std::vector<AnyColumn>>(
      info.Env(), job_options(info[2]),
      [=](OpContext& ctx) {
        NormalColumns turned = transform_normals(*normals[0], *normals[1], *normals[2], linear, ctx);
        std::vector<AnyColumn> out;
        out.push_back(std::move(turned.nx));
        out.push_back(std::move(turned.ny));
        out.push_back(std::move(turned.nz));
        return out;
      },
      columns_to_js);
}

// verticality(nz): NativeJob<NativeColumn>
Napi::Value verticality_job(const Napi::CallbackInfo& info) {
  const auto nz = ColumnHandle::get(info[0]);
  return start_job<AnyColumn>(
      info.Env(), job_options(info[1]), [nz](OpContext& ctx) { return AnyColumn(verticality(*nz, ctx)); },
      column_to_js);
}

// scaleColumn(column, factor: number): NativeJob<NativeColumn>
Napi::Value scale_column_job(const Napi::CallbackInfo& info) {
  const auto column = ColumnHandle::get(info[0]);
  const double factor = strict_number(info[1], "factor");
  return start_job<AnyColumn>(
      info.Env(), job_options(info[2]), [=](OpContext& ctx) { return scale_column(*column, factor, ctx); },
      column_to_js);
}

// rescaleU16(column, factor: number, offset: number): NativeJob<NativeColumn>
Napi::Value rescale_u16_job(const Napi::CallbackInfo& info) {
  const auto column = ColumnHandle::get(info[0]);
  const double factor = strict_number(info[1], "factor"), offset = strict_number(info[2], "offset");
  return start_job<AnyColumn>(
      info.Env(), job_options(info[3]),
      [=](OpContext& ctx) { return rescale_u16(*column, factor, offset, ctx); }, column_to_js);
}

// mapValues(column, from: number[], to: number[]): NativeJob<NativeColumn>
Napi::Value map_values_job(const Napi::CallbackInfo& info) {
  const auto column = ColumnHandle::get(info[0]);
  const std::vector<double> from = number_list(info[1], "from"), to = number_list(info[2], "to");
  return start_job<AnyColumn>(
      info.Env(), job_options(info[3]),
      [=](OpContext& ctx) {
        return map_values(*column, {from.data(), from.size()}, {to.data(), to.size()}, ctx);
      },
      column_to_js);
}

// octreeTranslate(folder: string, staging: string, delta: [x, y, z]): NativeJob<null>
Napi::Value octree_translate_job(const Napi::CallbackInfo& info) {
  const std::string folder = strict_string(info[0], "folder"), staging = strict_string(info[1], "staging");
  require(folder != staging, "an octree cannot be moved onto itself; staging must be another folder");
  const Vec3d delta = number_triple(info[2], "delta");
  return start_job<bool>(
      info.Env(), job_options(info[3]),
      [=](OpContext& ctx) {
        const io::OctreeDirectoryReader source(folder);
        io::OctreeDirectory sink(staging);
        octree_translate(source, delta, sink, ctx);
        return true;
      },
      [](Napi::Env env, bool&&) -> Napi::Value { return env.Null(); });
}

}  // namespace

void register_cloud_edit(Napi::Env env, Napi::Object exports) {
  add<select_rows>(env, exports, "selectRows");
  add<delete_rows>(env, exports, "deleteRows");
  add<union_rows_job>(env, exports, "unionRows");
  add<encode_rows_job>(env, exports, "encodeRows");
  add<paint_strokes_job>(env, exports, "paintStrokes");
  add<set_labels_job>(env, exports, "setLabels");
  add<class_counts_job>(env, exports, "classCounts");
  add<compact_columns>(env, exports, "compactColumns");
  add<categorical_split_job>(env, exports, "categoricalSplit");
  add<take_rows_job>(env, exports, "takeRows");
  add<concat_columns>(env, exports, "concatColumns");
  add<transform_positions_job>(env, exports, "transformPositions");
  add<transform_normals_job>(env, exports, "transformNormals");
  add<verticality_job>(env, exports, "verticality");
  add<scale_column_job>(env, exports, "scaleColumn");
  add<rescale_u16_job>(env, exports, "rescaleU16");
  add<map_values_job>(env, exports, "mapValues");
  add<octree_translate_job>(env, exports, "octreeTranslate");
}

}  // namespace pc::binding
