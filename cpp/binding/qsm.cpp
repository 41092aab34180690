#include <utility>

#include "binding/coded.h"
#include "binding/families.h"
#include "binding/job.h"
#include "binding/js_values.h"
#include "binding/qsm_metrics_values.h"
#include "binding/qsm_values.h"
#include "io/qsm_csv.h"
#include "ops/qsm/shoot_table.h"

namespace pc::binding {

namespace {

/// A model with its metrics, as the op's thread leaves it.
struct ModelAnswer {
  QsmTables tables;
  QsmMetrics metrics;
};

// importQsm(path: string, options?): NativeJob<{ qsm: QsmTables, metrics }>
Napi::Value import_qsm_job(const Napi::CallbackInfo& info) {
  const std::string path = strict_string(info[0], "path");
  return start_job<ModelAnswer>(
      info.Env(), job_options(info[1]),
      [path](OpContext& ctx) {
        const Qsm qsm = with_shoots(io::read_qsm_csv(path, ctx), ctx);
        QsmMetrics metrics = qsm_metrics(qsm, ctx);
        return ModelAnswer{qsm_tables(qsm), std::move(metrics)};
      },
      [](Napi::Env env, ModelAnswer&& answer) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("qsm", to_js(env, std::move(answer.tables)));
        out.Set("metrics", to_js(env, answer.metrics));
        return out;
      });
}

// importQsmBytes(file_bytes: number): number
Napi::Value import_qsm_bytes_of(const Napi::CallbackInfo& info) {
  const auto bytes = io::qsm_csv_bytes(strict_whole(info[0], "file_bytes"));
  return Napi::Number::New(info.Env(), static_cast<double>(bytes));
}

}  // namespace

void register_qsm(Napi::Env env, Napi::Object exports) {
  add<import_qsm_job>(env, exports, "importQsm");
  add<import_qsm_bytes_of>(env, exports, "importQsmBytes");
}

}  // namespace pc::binding
