#include "binding/js_values.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "binding/column_handle.h"

namespace pc::binding {

namespace {

/// Longest part of a wrong value that a message repeats.
constexpr std::size_t kMostGiven = 80;

std::string whole_text(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value, std::chars_format::fixed).ptr};
}

}  // namespace

void refuse(const char* what, const std::string& wanted) {
  throw Error(ErrorCode::kInvalidArgument, std::string(what) + " must be " + wanted);
}

bool is_nothing(const Napi::Value& value) { return value.IsNull() || value.IsUndefined(); }

double strict_number(const Napi::Value& value, const char* what) {
  if (!value.IsNumber()) refuse(what, "a number");
  return value.As<Napi::Number>().DoubleValue();
}

double whole_number(const Napi::Value& value, const char* what, double least, double most) {
  const double number = value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : std::nan("");
  if (!(number >= least && number <= most) || std::trunc(number) != number)
    refuse(what, "a whole number from " + whole_text(least) + " to " + whole_text(most));
  return number;
}

bool strict_bool(const Napi::Value& value, const char* what) {
  if (!value.IsBoolean()) refuse(what, "true or false");
  return value.As<Napi::Boolean>();
}

std::string strict_string(const Napi::Value& value, const char* what) {
  if (!value.IsString()) refuse(what, "a string");
  return value.As<Napi::String>();
}

Napi::Object strict_object(const Napi::Value& value, const char* what) {
  if (!value.IsObject()) refuse(what, "an object");
  return value.As<Napi::Object>();
}

Napi::Array strict_array(const Napi::Value& value, const char* what) {
  if (!value.IsArray()) refuse(what, "an array");
  return value.As<Napi::Array>();
}

std::vector<double> number_list(const Napi::Value& value, const char* what) {
  const auto array = strict_array(value, what);
  std::vector<double> out;
  out.reserve(array.Length());
  for (std::uint32_t i = 0; i < array.Length(); ++i) out.push_back(strict_number(array.Get(i), what));
  return out;
}

Vec3d number_triple(const Napi::Value& value, const char* what) {
  const auto numbers = number_array<3>(value, what);
  return {numbers[0], numbers[1], numbers[2]};
}

void refuse_choice(const char* what, const std::string& given, const std::vector<const char*>& names) {
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) list += i + 1 < names.size() ? ", " : " or ";
    list += names[i];
  }
  refuse(what, list + ", not \"" + given.substr(0, kMostGiven) + "\"");
}

double number_field(const Napi::Object& object, const char* name) {
  return strict_number(object.Get(name), name);
}
bool bool_field(const Napi::Object& object, const char* name) { return strict_bool(object.Get(name), name); }
std::string string_field(const Napi::Object& object, const char* name) {
  return strict_string(object.Get(name), name);
}

std::string optional_string_field(const Napi::Object& object, const char* name) {
  const Napi::Value value = object.Get(name);
  return is_nothing(value) ? std::string() : strict_string(value, name);
}

Napi::Object object_field(const Napi::Object& object, const char* name) {
  return strict_object(object.Get(name), name);
}

Napi::Array array_field(const Napi::Object& object, const char* name) {
  return strict_array(object.Get(name), name);
}

Vec3d vec3_field(const Napi::Object& object, const char* name) {
  return number_triple(object.Get(name), name);
}

std::vector<std::string> strings_field(const Napi::Object& object, const char* name) {
  const auto array = array_field(object, name);
  std::vector<std::string> out;
  out.reserve(array.Length());
  for (std::uint32_t i = 0; i < array.Length(); ++i) out.push_back(strict_string(array.Get(i), name));
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
  out.Set("color_full", table.color_full);
  auto unit_colors = Napi::Array::New(env, table.unit_colors.size());
  for (std::size_t i = 0; i < table.unit_colors.size(); ++i)
    unit_colors.Set(static_cast<std::uint32_t>(i), ColumnHandle::wrap(env, std::move(table.unit_colors[i])));
  out.Set("unit_colors", unit_colors);
  out.Set("nonfinite_dropped", static_cast<double>(table.nonfinite_dropped));
  out.Set("malformed_dropped", static_cast<double>(table.malformed_dropped));
  out.Set("warnings", to_js(env, table.warnings));
  return out;
}

std::uint64_t row_count_field(const Napi::Object& object) {
  if (object.Get("row_count").IsNull()) return std::numeric_limits<std::uint64_t>::max();
  return whole_field(object, "row_count");
}

io::PositionFrame frame_field(const Napi::Object& object, const char* name) {
  const auto frame = object_field(object, name);
  return {number_field(frame, "unit_scale"), vec3_field(frame, "shift")};
}

}  // namespace pc::binding
