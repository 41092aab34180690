#pragma once
#include <string>
#include <vector>

#include "binding/napi_setup.h"
#include "core/vec3.h"
#include "io/cloud_table.h"

/// Conversions between JavaScript values and plain C++ structs. The TypeScript facades pass complete, validated objects,
/// so a missing field here is a programming error and throws a TypeError naming it.
namespace pc::binding {

double number_field(const Napi::Object& object, const char* name);
bool bool_field(const Napi::Object& object, const char* name);
std::string string_field(const Napi::Object& object, const char* name);
/// "" for null or undefined.
std::string optional_string_field(const Napi::Object& object, const char* name);
/// Fields x, y, z of a [x, y, z] array.
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

/// { positions, columns: [{ name, description, extra, column }], nonfinite_dropped, malformed_dropped, warnings }
Napi::Object to_js(Napi::Env env, io::CloudTable&& table);
/// Field row_count: null = all rows.
std::uint64_t row_count_field(const Napi::Object& object);
/// { unit_scale, shift }
io::PositionFrame frame_field(const Napi::Object& object, const char* name);

}  // namespace pc::binding
