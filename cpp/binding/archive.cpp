#include <optional>
#include <string>
#include <utility>

#include "binding/cloud_edit_values.h"
#include "binding/coded.h"
#include "binding/column_handle.h"
#include "binding/families.h"
#include "binding/job.h"
#include "binding/js_values.h"
#include "io/archive/npy.h"
#include "io/archive/zcol.h"
#include "io/column_file.h"
#include "ops/cloud/convert.h"
#include "ops/cloud/row_set.h"

namespace pc::binding {

namespace {

// MemberRange: { archive, offset, bytes, crc32 }
io::MemberRange member_range(const Napi::Value& value) {
  const auto js = strict_object(value, "member");
  return {string_field(js, "archive"), whole_field<std::uint64_t>(js, "offset"),
          whole_field<std::uint64_t>(js, "bytes"), whole_field<std::uint32_t>(js, "crc32")};
}

/// The rows a member must have; null = any number.
std::optional<std::uint64_t> rows_or_any(const Napi::Value& value) {
  if (is_nothing(value)) return std::nullopt;
  return strict_whole<std::uint64_t>(value, "rows");
}

enum class ArrayForm : std::uint8_t { kZcol, kNpy };
ArrayForm array_form(const Napi::Value& value) {
  return strict_choice<ArrayForm>(value, "form", {{"pz", ArrayForm::kZcol}, {"npy", ArrayForm::kNpy}});
}

io::ColumnFilter column_filter(const Napi::Value& value) {
  return strict_choice<io::ColumnFilter>(value, "filter",
                                         {{"none", io::ColumnFilter::kNone},
                                          {"shuffle", io::ColumnFilter::kShuffle},
                                          {"delta_shuffle", io::ColumnFilter::kDeltaShuffle}});
}

// chooseFilter(column): NativeJob<{ filter, ratio }>
Napi::Value choose_filter_job(const Napi::CallbackInfo& info) {
  const auto column = ColumnHandle::get(info[0]);
  return start_job<io::FilterChoice>(
      info.Env(), JobOptions{}, [column](OpContext& ctx) { return io::choose_filter(*column, ctx); },
      [](Napi::Env env, io::FilterChoice&& choice) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("filter", io::filter_name(choice.filter));
        out.Set("ratio", choice.ratio);
        return out;
      });
}

// columnHeader(column, filter, isBool): { bytes: Uint8Array, blocks: number }
Napi::Value column_header(const Napi::CallbackInfo& info) {
  const auto header = io::zcol_header_of(*ColumnHandle::get(info[0]), column_filter(info[1]));
  const bool is_bool = strict_bool(info[2], "isBool");
  require(!is_bool || header.dtype == DType::kU8, "only a u8 column is written as boolean");
  const std::string text = io::zcol_header_text(header, is_bool);
  auto out = Napi::Object::New(info.Env());
  out.Set("bytes", Napi::Buffer<char>::Copy(info.Env(), text.data(), text.size()));
  out.Set("blocks", static_cast<double>(header.blocks()));
  return out;
}

// columnBlocks(column, filter, first, count): NativeJob<NativeColumn>
Napi::Value column_blocks(const Napi::CallbackInfo& info) {
  const auto column = ColumnHandle::get(info[0]);
  const auto filter = column_filter(info[1]);
  const auto first = strict_whole<std::uint64_t>(info[2], "first");
  const auto count = strict_whole<std::uint64_t>(info[3], "count");
  return start_job<AnyColumn>(
      info.Env(), JobOptions{},
      [=](OpContext& ctx) {
        return AnyColumn(io::zcol_blocks(*column, io::zcol_header_of(*column, filter), first, count, ctx));
      },
      column_to_js);
}

// readArray(member, form, rows | null): NativeJob<NativeColumn>
Napi::Value read_array(const Napi::CallbackInfo& info) {
  const auto member = member_range(info[0]);
  const auto form = array_form(info[1]);
  const auto rows = rows_or_any(info[2]);
  return start_job<AnyColumn>(
      info.Env(), JobOptions{},
      [=](OpContext& ctx) {
        return form == ArrayForm::kZcol ? io::read_zcol(member, rows, ctx) : io::read_npy(member, rows, ctx);
      },
      column_to_js);
}

// unpackArray(member, form, rows | null, path): NativeJob<number> - writes a column file; the number of rows
Napi::Value unpack_array(const Napi::CallbackInfo& info) {
  const auto member = member_range(info[0]);
  const auto form = array_form(info[1]);
  const auto rows = rows_or_any(info[2]);
  const std::string path = strict_string(info[3], "path");
  return start_job<std::uint64_t>(
      info.Env(), JobOptions{},
      [=](OpContext& ctx) {
        if (form == ArrayForm::kZcol) return io::unpack_zcol(member, rows, path, ctx);
        const AnyColumn column = io::read_npy(member, rows, ctx);
        io::write_column_file(column, path, ctx);
        return static_cast<std::uint64_t>(column.size());
      },
      [](Napi::Env env, std::uint64_t&& count) -> Napi::Value {
        return Napi::Number::New(env, static_cast<double>(count));
      });
}

// verifyArray(member, form, rows | null): NativeJob<number> - the number of rows
Napi::Value verify_array(const Napi::CallbackInfo& info) {
  const auto member = member_range(info[0]);
  const auto form = array_form(info[1]);
  const auto rows = rows_or_any(info[2]);
  return start_job<std::uint64_t>(
      info.Env(), JobOptions{},
      [=](OpContext& ctx) {
        return form == ArrayForm::kZcol ? io::verify_zcol(member, rows, ctx)
                                        : static_cast<std::uint64_t>(io::read_npy(member, rows, ctx).size());
      },
      [](Napi::Env env, std::uint64_t&& count) -> Napi::Value {
        return Napi::Number::New(env, static_cast<double>(count));
      });
}

// listRows(rowCount, set: NativeRowSet): NativeJob<NativeColumn>
Napi::Value list_rows_job(const Napi::CallbackInfo& info) {
  const auto row_count = strict_whole<std::size_t>(info[0], "rowCount");
  const auto held = held_row_set(info[1]);
  return start_job<AnyColumn>(
      info.Env(), JobOptions{},
      [=](OpContext& ctx) { return AnyColumn(list_rows(row_count, held.view, ctx)); }, column_to_js);
}

// rowSetOf(rowCount, rows): NativeJob<NativeRowSet>
Napi::Value row_set_of_job(const Napi::CallbackInfo& info) {
  const auto row_count = strict_whole<std::size_t>(info[0], "rowCount");
  const auto rows = typed_column(info[1], DType::kI64, "rows");
  return start_job<RowSet>(
      info.Env(), JobOptions{},
      [=](OpContext& ctx) { return row_set_of(row_count, rows->as<std::int64_t>(), ctx); },
      [](Napi::Env env, RowSet&& set) -> Napi::Value { return to_js(env, std::move(set)); });
}

// narrowestIntegers(column): NativeJob<NativeColumn | null>
Napi::Value narrowest_integers_job(const Napi::CallbackInfo& info) {
  using Narrow = std::optional<AnyColumn>;
  const auto column = ColumnHandle::get(info[0]);
  return start_job<Narrow>(
      info.Env(), JobOptions{}, [column](OpContext& ctx) { return narrowest_integers(*column, ctx); },
      [](Napi::Env env, Narrow&& narrow) -> Napi::Value {
        if (!narrow) return env.Null();
        return column_to_js(env, std::move(*narrow));
      });
}

}  // namespace

void register_archive(Napi::Env env, Napi::Object exports) {
  add<choose_filter_job>(env, exports, "chooseFilter");
  add<column_header>(env, exports, "columnHeader");
  add<column_blocks>(env, exports, "columnBlocks");
  add<read_array>(env, exports, "readArray");
  add<unpack_array>(env, exports, "unpackArray");
  add<verify_array>(env, exports, "verifyArray");
  add<list_rows_job>(env, exports, "listRows");
  add<narrowest_integers_job>(env, exports, "narrowestIntegers");
  add<row_set_of_job>(env, exports, "rowSetOf");
}

}  // namespace pc::binding
