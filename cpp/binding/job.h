#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "binding/napi_setup.h"
#include "core/op_context.h"

namespace pc::binding {

/// JS Error with `code` = the wire code.
Napi::Error to_js_error(Napi::Env env, const Error& error);

/// How to run a job: { device?: "cpu" | "cuda", threads?: number }.
struct JobOptions {
  Device device = Device::kCpu;
  int threads = 0;  ///< 0 = all cores
};
/// Throws kInvalidArgument for another device, a number of threads outside 0 .. 4096 and unknown options.
JobOptions job_options(const Napi::Value& value);
/// A number of threads from 0 to 4096; 0 = all cores.
int strict_threads(const Napi::Value& value);
/// Sets the number of threads for later jobs of this JS thread that do not state one; 0 = all cores. Returns the
/// previous number.
int set_threads_of_jobs(int threads);

namespace detail {
/// { progress(), cancel() } for a control block that outlives both sides.
Napi::Object job_object(Napi::Env env, std::shared_ptr<JobControl> control, Napi::Promise promise);
/// Runs `work` on a separate thread and then `settle` on the JS thread. Returns false if the system cannot start a
/// thread; then neither is called.
bool start_thread(Napi::Env env, std::function<void()> work, std::function<void(Napi::Env)> settle);
/// Converts the current exception to a pc::Error; call it inside a catch block.
Error current_error();
}  // namespace detail

/// Runs `compute` on a separate thread (never on libuv's pool) and settles a promise on the JS thread. Returns
/// { promise, progress(), cancel() } to JS. `compute` must not use Napi values; `to_js` runs on the JS thread. The only
/// place that catches exceptions of ops.
template <class Result>
Napi::Object start_job(Napi::Env env, const JobOptions& options, std::function<Result(OpContext&)> compute,
                       std::function<Napi::Value(Napi::Env, Result&&)> to_js) {
  struct State {
    std::optional<Result> result;
    std::optional<Error> error;
    Napi::Promise::Deferred deferred;
    explicit State(Napi::Env e) : deferred(Napi::Promise::Deferred::New(e)) {}
  };
  auto control = std::make_shared<JobControl>();
  auto state = std::make_shared<State>(env);
  auto job = detail::job_object(env, control, state->deferred.Promise());
  const auto work = [state, control, options, compute = std::move(compute)]() mutable {
    try {
      OpContext ctx(*control, options.device, options.threads);
      ctx.checkpoint();
      state->result.emplace(compute(ctx));
    } catch (...) {
      state->error.emplace(detail::current_error());
    }
    compute = nullptr;  // frees the inputs now on this thread, not later on the JS thread
  };
  const auto settle = [state, to_js = std::move(to_js)](Napi::Env e) {
    if (state->error) {
      state->deferred.Reject(to_js_error(e, *state->error).Value());
      return;
    }
    try {
      state->deferred.Resolve(to_js(e, std::move(*state->result)));
    } catch (const Error& error) {
      state->deferred.Reject(to_js_error(e, error).Value());
    } catch (const Napi::Error& error) {
      state->deferred.Reject(error.Value());
    }
  };
  if (!detail::start_thread(env, work, settle)) {
    const Error error(ErrorCode::kOutOfMemory,
                      "the system cannot start another thread for this process; close other programs");
    state->deferred.Reject(to_js_error(env, error).Value());
  }
  return job;
}

}  // namespace pc::binding
