#pragma once
#include "binding/napi_setup.h"
#include "ops/qsm/qsm_metrics.h"

namespace pc::binding {

/// The wire form of metrics (shared/contract/qsm-records.ts, QsmMetrics), without the intervals.
Napi::Object to_js(Napi::Env env, const QsmMetrics& metrics);

}  // namespace pc::binding
