#pragma once
#include <memory>
#include <string>

#include "binding/napi_setup.h"
#include "core/column.h"

namespace pc::binding {

/// JS handle of an immutable native column: `length`, `dtype`, `bytes`, `fileBacked`, `readInto(bytes, offset)`,
/// `release()`. JS gets copies of blocks, never the memory itself. The object is type-tagged, so a foreign object is
/// rejected instead of being reinterpreted.
class ColumnHandle : public Napi::ObjectWrap<ColumnHandle> {
 public:
  static void define(Napi::Env env, Napi::Object exports);
  /// Publishes a column: from then on it is immutable and shared.
  static Napi::Object wrap(Napi::Env env, AnyColumn&& column);
  /// The column of a handle, kept alive by the pointer; throws a JS error for any other value.
  static ColumnPtr get(const Napi::Value& value);
  /// Like get; null and undefined give nullptr.
  static ColumnPtr get_optional(const Napi::Value& value);

  /// new Column(dtype, bytes: Uint8Array): copies the bytes (inline points, tests). Internal use: no arguments.
  explicit ColumnHandle(const Napi::CallbackInfo& info);
  ~ColumnHandle() override = default;

 private:
  void fill(const Napi::CallbackInfo& info);
  Napi::Value length(const Napi::CallbackInfo& info);
  Napi::Value dtype(const Napi::CallbackInfo& info);
  Napi::Value bytes(const Napi::CallbackInfo& info);
  Napi::Value file_backed(const Napi::CallbackInfo& info);
  Napi::Value read_into(const Napi::CallbackInfo& info);
  void release(const Napi::CallbackInfo& info);

  ColumnPtr column_;
};

/// Like ColumnHandle::get, with a check of the element type.
ColumnPtr typed_column(const Napi::Value& value, DType dtype, const char* what);
/// nullptr for null or undefined.
ColumnPtr optional_typed_column(const Napi::Value& value, DType dtype, const char* what);

template <class T>
Span<const T> view_or_empty(const ColumnPtr& column) {
  return column ? column->as<T>() : Span<const T>{};
}

}  // namespace pc::binding
