#include "binding/js_values.h"

#include <cmath>
#include <limits>
#include <utility>

#include "binding/column_handle.h"

namespace pc::binding {

namespace {

Napi::Value field(const Napi::Object& object, const char* name) {
  const auto value = object.Get(name);
  if (value.IsUndefined()) throw Napi::TypeError::New(object.Env(), std::string("missing field: ") + name);
  return value;
}

}  // namespace

double number_field(const Napi::Object& object, const char* name) {
  return field(object, name).ToNumber().DoubleValue();
}
bool bool_field(const Napi::Object& object, const char* name) { return field(object, name).ToBoolean(); }
std::string string_field(const Napi::Object& object, const char* name) {
  return field(object, name).ToString();
}

std::string optional_string_field(const Napi::Object& object, const char* name) {
  const auto value = object.Get(name);
  return value.IsNull() || value.IsUndefined() ? std::string() : value.ToString().Utf8Value();
}

Napi::Object object_field(const Napi::Object& object, const char* name) {
  const auto value = field(object, name);
  if (!value.IsObject()) throw Napi::TypeError::New(object.Env(), std::string(name) + " must be an object");
  return value.As<Napi::Object>();
}

Napi::Array array_field(const Napi::Object& object, const char* name) {
  const auto value = field(object, name);
  if (!value.IsArray()) throw Napi::TypeError::New(object.Env(), std::string(name) + " must be an array");
  return value.As<Napi::Array>();
}

Vec3d vec3_field(const Napi::Object& object, const char* name) {
  const auto array = array_field(object, name);
  if (array.Length() != 3)
    throw Napi::TypeError::New(object.Env(), std::string(name) + " must have 3 numbers");
  const auto at = [&](std::uint32_t i) { return array.Get(i).ToNumber().DoubleValue(); };
  return {at(0), at(1), at(2)};
}

std::vector<std::string> strings_field(const Napi::Object& object, const char* name) {
  const auto array = array_field(object, name);
  std::vector<std::string> out;
  out.reserve(array.Length());
  for (std::uint32_t i = 0; i < array.Length(); ++i) out.push_back(array.Get(i).ToString());
  return out;
}

Napi::Array to_js(Napi::Env env, const Vec3d& value) {
  auto out = Napi::Array::New(env, 3);
  out.Set(0U, value.x);
  out.Set(1U, value.y);
  out.Set(2U, value.z);
  return out;
}

Napi::Array to_js(Napi::Env env, const std::vector<std::string>& values) {
  auto out = Napi::Array::New(env, values.size());
  for (std::size_t i = 0; i < values.size(); ++i) out.Set(static_cast<std::uint32_t>(i), values[i]);
  return out;
}

Napi::Array rows_to_js(Napi::Env env, const std::vector<std::vector<std::string>>& rows) {
  auto out = Napi::Array::New(env, rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) out.Set(static_cast<std::uint32_t>(i), to_js(env, rows[i]));
  return out;
}

Napi::Value to_js(Napi::Env env, const Box3d& box) {
  if (box.empty()) return env.Null();
  auto out = Napi::Object::New(env);
  out.Set("min", to_js(env, box.min));
  out.Set("max", to_js(env, box.max));
  return out;
}

Napi::Value number_or_null(Napi::Env env, double value) {
  if (!std::isfinite(value)) return env.Null();
  return Napi::Number::New(env, value);
}

Napi::Object to_js(Napi::Env env, io::CloudTable&& table) {
  auto out = Napi::Object::New(env);
  out.Set("positions", ColumnHandle::wrap(env, std::move(table.positions)));
  auto columns = Napi::Array::New(env, table.columns.size());
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    auto& named = table.columns[i];
    auto column = Napi::Object::New(env);
    column.Set("name", named.name);
    column.Set("description", named.description);
    column.Set("extra", named.extra);
    column.Set("column", ColumnHandle::wrap(env, std::move(named.values)));
    columns.Set(static_cast<std::uint32_t>(i), column);
  }
  out.Set("columns", columns);
  out.Set("nonfinite_dropped", static_cast<double>(table.nonfinite_dropped));
  out.Set("malformed_dropped", static_cast<double>(table.malformed_dropped));
  out.Set("warnings", to_js(env, table.warnings));
  return out;
}

std::uint64_t row_count_field(const Napi::Object& object) {
  const auto value = field(object, "row_count");
  if (value.IsNull()) return std::numeric_limits<std::uint64_t>::max();
  return static_cast<std::uint64_t>(value.ToNumber().Int64Value());
}

io::PositionFrame frame_field(const Napi::Object& object, const char* name) {
  const auto frame = object_field(object, name);
  return {number_field(frame, "unit_scale"), vec3_field(frame, "shift")};
}

}  // namespace pc::binding
