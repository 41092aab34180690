#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include "binding/napi_setup.h"
#include "core/error.h"
#include "core/vec3.h"
#include "io/cloud_table.h"

/// All reading of JavaScript values in the binding. Nothing is converted: a value of another type, a missing field, a
/// number out of range and a name that is not in the list throw kInvalidArgument; the message states what is allowed.
namespace pc::binding {

/// Throws kInvalidArgument: "<what> must be <wanted>".
[[noreturn]] void refuse(const char* what, const std::string& wanted);

/// Accepts NaN and the infinities; callers that need finite numbers must check.
double strict_number(const Napi::Value& value, const char* what);
/// A whole number from `least` to `most`.
double whole_number(const Napi::Value& value, const char* what, double least, double most);
/// A whole number that T holds, at most 2^53 if T holds more.
template <class T = std::uint64_t>
T strict_whole(const Napi::Value& value, const char* what) {
  constexpr double kExact = 0x1.0p53;
  constexpr double kMost = sizeof(T) < 8 ? static_cast<double>(std::numeric_limits<T>::max()) : kExact;
  constexpr double kLeast = !std::numeric_limits<T>::is_signed ? 0 : sizeof(T) < 8 ? -kMost - 1 : -kExact;
  return static_cast<T>(whole_number(value, what, kLeast, kMost));
}
bool strict_bool(const Napi::Value& value, const char* what);
std::string strict_string(const Napi::Value& value, const char* what);
Napi::Object strict_object(const Napi::Value& value, const char* what);
Napi::Array strict_array(const Napi::Value& value, const char* what);
std::vector<double> number_list(const Napi::Value& value, const char* what);
Vec3d number_triple(const Napi::Value& value, const char* what);
template <std::size_t kCount>
std::array<double, kCount> number_array(const Napi::Value& value, const char* what) {
  const std::vector<double> values = number_list(value, what);
  if (values.size() != kCount) refuse(what, std::to_string(kCount) + " numbers");
  std::array<double, kCount> out{};
  std::copy(values.begin(), values.end(), out.begin());
  return out;
}
bool is_nothing(const Napi::Value& value);

/// A name and its value.
template <class T>
struct Choice {
  const char* name;
  T value;
};
/// Throws kInvalidArgument: `what` must be one of `names`, not `given`.
[[noreturn]] void refuse_choice(const char* what, const std::string& given,
                                const std::vector<const char*>& names);
template <class T>
T strict_choice(const Napi::Value& value, const char* what, std::initializer_list<Choice<T>> choices) {
  const std::string name = strict_string(value, what);
  std::vector<const char*> names;
  for (const Choice<T>& choice : choices) {
    if (name == choice.name) return choice.value;
    names.push_back(choice.name);
  }
  refuse_choice(what, name, names);
}

/// A number in the field `name` of an object.
double number_field(const Napi::Object& object, const char* name);
template <class T = std::uint64_t>
T whole_field(const Napi::Object& object, const char* name) {
  return strict_whole<T>(object.Get(name), name);
}
bool bool_field(const Napi::Object& object, const char* name);
std::string string_field(const Napi::Object& object, const char* name);
/// "" for null or undefined.
std::string optional_string_field(const Napi::Object& object, const char* name);
Vec3d vec3_field(const Napi::Object& object, const char* name);
std::vector<std::string> strings_field(const Napi::Object& object, const char* name);
Napi::Object object_field(const Napi::Object& object, const char* name);
Napi::Array array_field(const Napi::Object& object, const char* name);

Napi::Array to_js(Napi::Env env, const Vec3d& value);
Napi::Array to_js(Napi::Env env, const std::vector<std::string>& values);
Napi::Array rows_to_js(Napi::Env env, const std::vector<std::vector<std::string>>& rows);
/// { min, max }, or null for an empty box.
Napi::Value to_js(Napi::Env env, const Box3d& box);
Napi::Value number_or_null(Napi::Env env, double value);

/// { positions, columns: [{ name, description, extra, column }], color_full, unit_colors, nonfinite_dropped,
/// malformed_dropped, warnings }
Napi::Object to_js(Napi::Env env, io::CloudTable&& table);
/// The field row_count: null = all rows.
std::uint64_t row_count_field(const Napi::Object& object);
/// { unit_scale, shift }
io::PositionFrame frame_field(const Napi::Object& object, const char* name);

}  // namespace pc::binding
