#pragma once
#include "binding/napi_setup.h"
#include "ops/qsm/build_qsm.h"
#include "ops/qsm/qsm_metrics.h"

namespace pc::binding {

/// The wire form of metrics (shared/contract/qsm-records.ts, QsmMetrics), without the intervals.
Napi::Object to_js(Napi::Env env, const QsmMetrics& metrics);
/// [low, high] of an interval of a model; null if its radii are not known.
Napi::Value interval_to_js(Napi::Env env, const QsmBuildResult& built, const VolumeInterval& interval);

}  // namespace pc::binding
