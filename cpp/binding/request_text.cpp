#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "binding/coded.h"
#include "binding/column_handle.h"
#include "binding/families.h"
#include "binding/job.h"
#include "binding/js_values.h"
#include "core/free_later.h"
#include "core/memory.h"
#include "io/decimal.h"
#include "io/frame_lists.h"
#include "io/json_lists.h"

namespace pc::binding {

namespace {

/// The text of a request while it arrives.
struct RequestText {
  explicit RequestText(std::size_t bytes)
      : block(PageBlock::allocate(bytes + io::kDecimalPadding)), capacity(bytes) {}
  std::string_view text() const { return {reinterpret_cast<const char*>(block.data()), used}; }
  PageBlock block;
  std::size_t capacity;
  std::size_t used = 0;
};
using Holder = std::shared_ptr<std::shared_ptr<RequestText>>;

RequestText& open_text(const Holder& holder) {
  require(*holder != nullptr, "the text was already parsed or released");
  return **holder;
}

using Kind = io::JsonShape::Kind;

Kind list_kind(const Napi::Value& value) {
  return strict_choice<Kind>(value, "kind",
                             {{"value", Kind::kValue},
                              {"object", Kind::kObject},
                              {"array", Kind::kArray},
                              {"record", Kind::kRecord},
                              {"points", Kind::kPoints},
                              {"numbers", Kind::kNumbers},
                              {"heights", Kind::kHeights},
                              {"flags", Kind::kFlags},
                              {"text", Kind::kText},
                              {"records", Kind::kRecords}});
}

// { name, kind: "number" | "point" | "numbers", min: number | null, max: number | null, above_min, whole, nullable: boolean,
//   fallback?: number | null }
io::RecordField record_field(const Napi::Value& value) {
  using FieldKind = io::RecordField::Kind;
  const auto js = strict_object(value, "columns");
  io::RecordField field;
  field.name = strict_string(js.Get("name"), "name");
  field.kind = strict_choice<FieldKind>(
      js.Get("kind"), "kind",
      {{"number", FieldKind::kNumber}, {"point", FieldKind::kPoint}, {"numbers", FieldKind::kNumbers}});
  if (!js.Get("min").IsNull()) field.min = strict_number(js.Get("min"), "min");
  if (!js.Get("max").IsNull()) field.max = strict_number(js.Get("max"), "max");
  field.above_min = strict_bool(js.Get("above_min"), "above_min");
  field.whole = strict_bool(js.Get("whole"), "whole");
  field.nullable = strict_bool(js.Get("nullable"), "nullable");
  const Napi::Value fallback = js.Get("fallback");
  if (fallback.IsNull()) {
    field.fallback = std::numeric_limits<double>::quiet_NaN();
  } else if (!fallback.IsUndefined()) {
    field.fallback = strict_number(fallback, "fallback");
  }
  return field;
}

// { kind, fields?: { [name]: shape }, item?: shape, columns?: record field[] }
io::JsonShape json_shape(const Napi::Value& value) {
  const auto js = strict_object(value, "shape");
  io::JsonShape shape;
  shape.kind = list_kind(js.Get("kind"));
  if (shape.kind == Kind::kArray || shape.kind == Kind::kRecord)
    shape.fields.emplace_back("", json_shape(js.Get("item")));
  if (shape.kind == Kind::kRecords) {
    const auto columns = strict_array(js.Get("columns"), "columns");
    for (std::uint32_t i = 0; i < columns.Length(); ++i)
      shape.columns.push_back(record_field(columns.Get(i)));
  }
  if (shape.kind != Kind::kObject) return shape;
  const auto fields = object_field(js, "fields");
  const Napi::Array names = fields.GetPropertyNames();
  for (std::uint32_t i = 0; i < names.Length(); ++i) {
    const std::string name = strict_string(names.Get(i), "name");
    shape.fields.emplace_back(name, json_shape(fields.Get(name)));
  }
  return shape;
}

using Lists = std::vector<io::JsonList>;

Napi::Value lists_to_js(Napi::Env env, Lists&& lists) {
  auto out = Napi::Array::New(env, lists.size());
  for (std::uint32_t i = 0; i < lists.size(); ++i) {
    auto js = Napi::Object::New(env);
    js.Set("length", static_cast<double>(lists[i].length));
    js.Set("column",
           lists[i].valid ? Napi::Value(ColumnHandle::wrap(env, std::move(lists[i].column))) : env.Null());
    js.Set("items", lists[i].valid && lists[i].items.dtype() == DType::kF64
                        ? Napi::Value(ColumnHandle::wrap(env, std::move(lists[i].items)))
                        : env.Null());
    js.Set("wrong_index", static_cast<double>(lists[i].wrong_index));
    js.Set("wrong_text", lists[i].wrong_text);
    auto unknown = Napi::Array::New(env, lists[i].unknown.size());
    for (std::uint32_t k = 0; k < lists[i].unknown.size(); ++k) unknown.Set(k, lists[i].unknown[k]);
    js.Set("unknown", unknown);
    out.Set(i, js);
  }
  return out;
}

Napi::Value document_to_js(Napi::Env env, io::JsonDocument&& document) {
  auto out = Napi::Object::New(env);
  out.Set("rest", document.rest);
  out.Set("lists", lists_to_js(env, std::move(document.lists)));
  out.Set("blank", document.blank);
  out.Set("too_large", document.too_large);
  return out;
}

void append(const Napi::CallbackInfo& info, const Holder& holder) {
  RequestText& text = open_text(holder);
  if (!info[0].IsTypedArray()) refuse("bytes", "a Uint8Array");
  const auto in = info[0].As<Napi::Uint8Array>();
  require(in.ByteLength() <= text.capacity - text.used, "the text is longer than announced");
  if (in.ByteLength() == 0) return;
  std::memcpy(text.block.data() + text.used, in.Data(), in.ByteLength());
  text.used += in.ByteLength();
}

Napi::Value parse(const Napi::CallbackInfo& info, const Holder& holder) {
  const io::JsonShape shape = json_shape(info[0]);
  const std::string token = strict_string(info[1], "token");
  const auto js = strict_object(info[2], "limits");
  const io::JsonLimits limits{whole_field<std::size_t>(js, "rest_bytes"),
                              whole_field<std::uint32_t>(js, "depth")};
  (void)open_text(holder);
  return start_job<io::JsonDocument>(
      info.Env(), JobOptions{},
      [text = std::exchange(*holder, nullptr), shape, token, limits](OpContext& ctx) {
        return io::read_json_lists(text->text(), shape, token, limits, ctx);
      },
      document_to_js);
}

// { kind, dtype: "f32" | "u32", offset, length, origin: [x, y, z] }
io::FrameBuffer frame_buffer(const Napi::Value& value) {
  const auto js = strict_object(value, "buffers");
  return {list_kind(js.Get("kind")),
          strict_choice<bool>(js.Get("dtype"), "dtype", {{"f32", true}, {"u32", false}}),
          whole_field<std::size_t>(js, "offset"), whole_field<std::uint64_t>(js, "length"),
          vec3_field(js, "origin")};
}

Napi::Value frame_lists(const Napi::CallbackInfo& info, const Holder& holder) {
  const auto js = strict_array(info[0], "buffers");
  std::vector<io::FrameBuffer> buffers;
  for (std::uint32_t i = 0; i < js.Length(); ++i) buffers.push_back(frame_buffer(js.Get(i)));
  (void)open_text(holder);
  return start_job<Lists>(
      info.Env(), JobOptions{},
      [text = std::exchange(*holder, nullptr), buffers](OpContext& ctx) {
        Lists lists;
        for (const auto& buffer : buffers)
          lists.push_back(io::read_frame_list({text->block.data(), text->used}, buffer, ctx));
        return lists;
      },
      lists_to_js);
}

// openRequestText(bytes: number): RequestText
Napi::Value open_request_text(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto holder = std::make_shared<std::shared_ptr<RequestText>>(
      std::make_shared<RequestText>(strict_whole<std::size_t>(info[0], "bytes")));
  auto out = Napi::Object::New(env);
  out.Set("append", Napi::Function::New(env, [holder](const Napi::CallbackInfo& call) {
            with_code(call.Env(), [&] { append(call, holder); });
          }));
  out.Set("parse", Napi::Function::New(env, [holder](const Napi::CallbackInfo& call) -> Napi::Value {
            return with_code(call.Env(), [&] { return parse(call, holder); });
          }));
  out.Set("frameLists", Napi::Function::New(env, [holder](const Napi::CallbackInfo& call) -> Napi::Value {
            return with_code(call.Env(), [&] { return frame_lists(call, holder); });
          }));
  out.Set("release", Napi::Function::New(env, [holder](const Napi::CallbackInfo&) { free_later(*holder); }));
  return out;
}

}  // namespace

void register_request_text(Napi::Env env, Napi::Object exports) {
  add<open_request_text>(env, exports, "openRequestText");
}

}  // namespace pc::binding
