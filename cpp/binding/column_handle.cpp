#include "binding/column_handle.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "binding/coded.h"
#include "binding/js_values.h"
#include "core/free_later.h"

namespace pc::binding {

namespace {

constexpr napi_type_tag kColumnTag{0x8f1d3c5a7b924e60ULL, 0xb1c7e2f4a5960d38ULL};

constexpr std::size_t kLargeColumn = std::size_t{16} << 20;

/// One per environment, so that several worker threads of a process can load the addon.
struct AddonData {
  Napi::FunctionReference column_constructor;
};

}  // namespace

void ColumnHandle::define(Napi::Env env, Napi::Object exports) {
  auto constructor = DefineClass(env, "Column",
                                 {
                                     InstanceAccessor<&ColumnHandle::length>("length"),
                                     InstanceAccessor<&ColumnHandle::dtype>("dtype"),
                                     InstanceAccessor<&ColumnHandle::bytes>("bytes"),
                                     InstanceAccessor<&ColumnHandle::file_backed>("fileBacked"),
                                     InstanceMethod<&ColumnHandle::read_into>("readInto"),
                                     InstanceMethod<&ColumnHandle::release>("release"),
                                 });
  auto* data = new AddonData{Napi::Persistent(constructor)};  // owned by the environment
  env.SetInstanceData(data);
  exports.Set("Column", constructor);
}

Napi::Object ColumnHandle::wrap(Napi::Env env, AnyColumn&& column) {
  auto object = env.GetInstanceData<AddonData>()->column_constructor.New({});
  Unwrap(object)->column_ = std::make_shared<const AnyColumn>(std::move(column));
  return object;
}

ColumnPtr ColumnHandle::get(const Napi::Value& value) {
  bool ours = false;
  if (value.IsObject()) napi_check_object_type_tag(value.Env(), value, &kColumnTag, &ours);
  if (!ours) throw Error(ErrorCode::kInvalidArgument, "a native column is needed");
  auto column = Unwrap(value.As<Napi::Object>())->column_;
  if (!column) throw Error(ErrorCode::kInvalidArgument, "the native column was already released");
  return column;
}

ColumnPtr ColumnHandle::get_optional(const Napi::Value& value) {
  if (value.IsNull() || value.IsUndefined()) return nullptr;
  return get(value);
}

ColumnHandle::ColumnHandle(const Napi::CallbackInfo& info) : Napi::ObjectWrap<ColumnHandle>(info) {
  napi_type_tag_object(info.Env(), info.This(), &kColumnTag);
  if (info.Length() == 0) return;
  with_code(info.Env(), [&] { fill(info); });
}

void ColumnHandle::fill(const Napi::CallbackInfo& info) {
  if (!info[1].IsTypedArray()) refuse("bytes", "a Uint8Array");
  const auto in = info[1].As<Napi::Uint8Array>();
  const DType dtype = parse_dtype(strict_string(info[0], "dtype"));
  require(in.ByteLength() % dtype_size(dtype) == 0, "byte length is not a multiple of the element size");
  AnyColumn column(dtype, in.ByteLength() / dtype_size(dtype));
  if (in.ByteLength() != 0) std::memcpy(column.data(), in.Data(), in.ByteLength());
  column_ = std::make_shared<const AnyColumn>(std::move(column));
}

Napi::Value ColumnHandle::length(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), column_ ? static_cast<double>(column_->size()) : 0);
}

Napi::Value ColumnHandle::dtype(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), column_ ? dtype_name(column_->dtype()) : "");
}

Napi::Value ColumnHandle::bytes(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), column_ ? static_cast<double>(column_->bytes()) : 0);
}

Napi::Value ColumnHandle::file_backed(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), column_ && column_->file_backed());
}

Napi::Value ColumnHandle::read_into(const Napi::CallbackInfo& info) {
  return with_code(info.Env(), [&] {
    require(column_ != nullptr, "the native column was already released");
    if (!info[0].IsTypedArray()) refuse("out", "a Uint8Array");
    auto out = info[0].As<Napi::Uint8Array>();
    const auto offset = strict_whole<std::size_t>(info[1], "byteOffset");
    const std::size_t count =
        offset >= column_->bytes() ? 0 : std::min(out.ByteLength(), column_->bytes() - offset);
    if (count != 0) std::memcpy(out.Data(), column_->data() + offset, count);
    return Napi::Number::New(info.Env(), static_cast<double>(count));
  });
}

void ColumnHandle::release(const Napi::CallbackInfo&) {
  if (!column_ || column_->bytes() < kLargeColumn) {
    column_.reset();
    return;
  }
  free_later(column_);
}

ColumnPtr typed_column(const Napi::Value& value, DType dtype, const char* what) {
  auto column = ColumnHandle::get(value);
  if (column->dtype() != dtype) {
    refuse(what, std::string("a column of ") + dtype_name(dtype) + ", not " + dtype_name(column->dtype()));
  }
  return column;
}

ColumnPtr optional_typed_column(const Napi::Value& value, DType dtype, const char* what) {
  if (value.IsNull() || value.IsUndefined()) return nullptr;
  return typed_column(value, dtype, what);
}

}  // namespace pc::binding
