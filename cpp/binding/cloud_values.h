#pragma once
#include <optional>

#include "binding/column_handle.h"
#include "binding/js_values.h"
#include "ops/cloud/column_stats.h"

namespace pc::binding {

Napi::Value optional_number(Napi::Env env, const std::optional<double>& value);
Napi::Object to_js(Napi::Env env, const ColumnStats& stats);
/// Registers the functions for misses and hit masks, which are part of the cloud family.
void register_misses(Napi::Env env, Napi::Object exports);

}  // namespace pc::binding
