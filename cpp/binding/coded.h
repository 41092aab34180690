#pragma once
#include "binding/job.h"

namespace pc::binding {

/// Wraps every function that JavaScript calls: errors in reading the arguments get a code, like those of the job. A
/// pc::Error must not reach Node-API, which would end the process.
template <class Body>
decltype(auto) with_code(Napi::Env env, Body&& body) {
  try {
    return body();
  } catch (const Error& error) {
    throw to_js_error(env, error);
  } catch (Napi::Error& error) {
    error.Set("code", to_string(ErrorCode::kInvalidArgument));
    throw;
  }
}

template <Napi::Value (*kFunction)(const Napi::CallbackInfo&)>
Napi::Value coded(const Napi::CallbackInfo& info) {
  return with_code(info.Env(), [&] { return kFunction(info); });
}

template <Napi::Value (*kFunction)(const Napi::CallbackInfo&)>
void add(Napi::Env env, Napi::Object& exports, const char* name) {
  exports.Set(name, Napi::Function::New<coded<kFunction>>(env, name));
}

}  // namespace pc::binding
