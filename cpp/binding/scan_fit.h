#pragma once
#include <napi.h>

#include <optional>
#include <vector>

#include "ops/trees/scan_offsets.h"
#include "ops/trees/tree_inventory.h"

/// What answers tell of how scans fit each other.
namespace pc {

Napi::Value offsets_to_js(Napi::Env env, const std::vector<ScanOffset>& offsets);
Napi::Value views_to_js(Napi::Env env, const std::optional<ViewFit>& views);
Napi::Value layers_to_js(Napi::Env env, const std::optional<ScanLayers>& layers);

}  // namespace pc
