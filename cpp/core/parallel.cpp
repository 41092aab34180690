#include "core/parallel.h"

#include <thread>

#if defined(_OPENMP)
#include <omp.h>
#endif
#if defined(__linux__)
#include <sched.h>
#endif

namespace pc {

int hardware_threads() {
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void run_team(int count, const std::function<void(int worker)>& body) {
  std::exception_ptr first;
  std::mutex mutex;
  const auto guarded = [&](int worker) {
    try {
      body(worker);
    } catch (...) {
      const std::lock_guard<std::mutex> lock(mutex);
      if (!first) first = std::current_exception();
    }
  };
#if defined(_OPENMP)
  // One iteration per worker: the loop runs all of them even if the runtime gives a smaller team.
#pragma omp parallel for schedule(static, 1) num_threads(count)
  for (int worker = 0; worker < count; ++worker) guarded(worker);
#else
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(count) - 1);
  for (int worker = 1; worker < count; ++worker) threads.emplace_back(guarded, worker);
  guarded(0);
  for (auto& thread : threads) thread.join();
#endif
  if (first) std::rethrow_exception(first);
}

}  // namespace pc
