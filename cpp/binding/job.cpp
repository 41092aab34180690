#include "binding/job.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <new>
#include <system_error>
#include <utility>

#include "binding/js_values.h"
#include "core/platform.h"

namespace pc::binding {

Napi::Error to_js_error(Napi::Env env, const Error& error) {
  auto js = Napi::Error::New(env, error.what());
  js.Set("code", Napi::String::New(env, to_string(error.code())));
  return js;
}

namespace {
thread_local int threads_of_jobs = 0;
}

int strict_threads(const Napi::Value& value) {
  constexpr double kMost = 4096;
  return static_cast<int>(whole_number(value, "threads", 0, kMost));
}

int set_threads_of_jobs(int threads) { return std::exchange(threads_of_jobs, threads); }

JobOptions job_options(const Napi::Value& value) {
  JobOptions options;
  options.threads = threads_of_jobs;
  if (is_nothing(value)) return options;
  const auto js = strict_object(value, "options");
  const auto names = js.GetPropertyNames();
  for (std::uint32_t i = 0; i < names.Length(); ++i)
    strict_choice<bool>(names.Get(i), "an option", {{"device", true}, {"threads", true}});
  const Napi::Value device = js.Get("device"), threads = js.Get("threads");
  if (!is_nothing(device))
    options.device =
        strict_choice<Device>(device, "device", {{"cpu", Device::kCpu}, {"cuda", Device::kCuda}});
  if (!is_nothing(threads)) options.threads = strict_threads(threads);
  return options;
}

namespace {

/// Threads of jobs. A thread that has finished a job waits briefly for the next one, so that an operation of hundreds
/// of short jobs does not start a thread and a team of compute threads for each. A job waits for the thread of another
/// one only if the system cannot start a thread.
class JobThreads {
 public:
  /// Returns false if there is no thread and the system cannot start one; `work` is then never called.
  bool run(std::function<void()> work) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (waiting_ > queue_.size()) {
      queue_.push_back(std::move(work));
      wake_.notify_one();
      return true;
    }
    try {
      std::thread([this, work]() mutable { serve(std::move(work)); }).detach();
      ++serving_;
    } catch (const std::system_error&) {  // the process may be out of threads, which must not end it
      if (serving_ == 0) return false;
      queue_.push_back(std::move(work));
    }
    return true;
  }

 private:
  static constexpr auto kIdle = std::chrono::seconds(1);

  void serve(std::function<void()> work) {
    platform::lower_thread_priority();
    for (;;) {
      work();
      work = nullptr;
      std::unique_lock<std::mutex> lock(mutex_);
      ++waiting_;
      wake_.wait_for(lock, kIdle, [this] { return !queue_.empty(); });
      --waiting_;
      if (queue_.empty()) {
        --serving_;
        return;
      }
      work = std::move(queue_.front());
      queue_.pop_front();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>>
      queue_;  ///< more entries than waiting threads only without threads to start
  std::size_t serving_ = 0, waiting_ = 0;
};

/// Never destroyed: a thread may wait in it while the process ends.
JobThreads& job_threads() {
  static auto* const threads = new JobThreads;
  return *threads;
}

}  // namespace

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
  auto body = [tsfn, work = std::move(work), settle = std::move(settle)]() mutable {
    work();
    work = nullptr;
    // A closing environment rejects the call; then nothing waits for the promise either, and the function may be gone:
    // it must not be used again (nodejs/node#55706).
    const napi_status status = tsfn.BlockingCall([settle = std::move(settle)](Napi::Env e, Napi::Function) {
      if (static_cast<napi_env>(e) == nullptr) return;
      const Napi::HandleScope scope(e);
      settle(e);
    });
    if (status != napi_closing) tsfn.Release();
  };
  if (job_threads().run(std::move(body))) return true;
  tsfn.Release();
  return false;
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
