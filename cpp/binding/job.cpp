#include "binding/job.h"

#include <new>
#include <system_error>

namespace pc::binding {

Napi::Error to_js_error(Napi::Env env, const Error& error) {
  auto js = Napi::Error::New(env, error.what());
  js.Set("code", Napi::String::New(env, to_string(error.code())));
  return js;
}

JobOptions job_options(const Napi::Value& value) {
  JobOptions options;
  if (!value.IsObject()) return options;
  const auto js = value.As<Napi::Object>();
  const auto device = js.Get("device");
  if (device.IsString() && device.ToString().Utf8Value() == "cuda") options.device = Device::kCuda;
  const auto threads = js.Get("threads");
  if (threads.IsNumber()) options.threads = threads.ToNumber().Int32Value();
  return options;
}

namespace detail {

Napi::Object job_object(Napi::Env env, std::shared_ptr<JobControl> control, Napi::Promise promise) {
  auto job = Napi::Object::New(env);
  job.Set("promise", promise);
  job.Set("cancel", Napi::Function::New(
                        env, [control](const Napi::CallbackInfo&) { control->cancel_requested = true; }));
  job.Set("progress", Napi::Function::New(env, [control](const Napi::CallbackInfo& info) {
            auto progress = Napi::Object::New(info.Env());
            progress.Set("phase",
                         Napi::String::New(info.Env(), control->phase.load(std::memory_order_acquire)));
            progress.Set("done", Napi::Number::New(info.Env(), static_cast<double>(control->done.load())));
            progress.Set("total", Napi::Number::New(info.Env(), static_cast<double>(control->total.load())));
            return progress;
          }));
  return job;
}

bool start_thread(Napi::Env env, std::function<void()> work, std::function<void(Napi::Env)> settle) {
  auto tsfn = Napi::ThreadSafeFunction::New(env, Napi::Function::New(env, [](const Napi::CallbackInfo&) {}),
                                            "pc.job", 0, 1);
  const auto body = [tsfn, work = std::move(work), settle = std::move(settle)]() mutable {
    work();
    work = nullptr;
    // A closing environment refuses the call; then nobody waits for the promise either.
    tsfn.BlockingCall([settle = std::move(settle)](Napi::Env e, Napi::Function) {
      if (static_cast<napi_env>(e) == nullptr) return;
      const Napi::HandleScope scope(e);
      settle(e);
    });
    tsfn.Release();
  };
  try {
    std::thread(body).detach();
  } catch (const std::system_error&) {  // the process may have no more threads; it must not end for that
    tsfn.Release();
    return false;
  }
  return true;
}

Error current_error() {
  try {
    throw;
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return Error(ErrorCode::kOutOfMemory, "out of memory");
  } catch (const std::exception& error) {
    return Error(ErrorCode::kInternal, error.what());
  } catch (...) {
    return Error(ErrorCode::kInternal, "unknown failure in a native operation");
  }
}

}  // namespace detail

}  // namespace pc::binding
