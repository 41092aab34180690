#include "core/parallel.h"

#include <chrono>
#include <condition_variable>
#include <system_error>
#include <thread>
#include <utility>

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

namespace {

/// wanted * 65536 + started of the first team since the last call of take_team_shortage() that had to be smaller.
std::atomic<std::uint32_t> shortage{0};

void note_shortage(int wanted, int started) {
  std::uint32_t none = 0;
  shortage.compare_exchange_strong(
      none, static_cast<std::uint32_t>(wanted) << 16 | static_cast<std::uint32_t>(started));
}

#if defined(_OPENMP)
/// Starts up to `wanted` threads that exist at the same time, ends them, and returns how many the system started.
int rehearse(int wanted) {
  std::mutex mutex;
  std::condition_variable all_started;
  bool done = false;
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(wanted));
  try {
    for (int k = 0; k < wanted; ++k)
      threads.emplace_back([&] {
        std::unique_lock<std::mutex> lock(mutex);
        all_started.wait(lock, [&] { return done; });
      });
  } catch (const std::system_error&) {  // the limit of the system
  }
  {
    const std::lock_guard<std::mutex> lock(mutex);
    done = true;
  }
  all_started.notify_all();
  for (auto& thread : threads) thread.join();
  return static_cast<int>(threads.size());
}

/// Threads of OpenMP teams are started by one thread at a time, so that no team takes what another has tried.
std::mutex team_start;

/// Size of a team that the system can start for this thread, at most `count`. OpenMP's runtime ends the process if it
/// cannot start a thread, therefore the same number is started before. It keeps the threads of a thread's previous team,
/// so only a larger one than that needs new threads; then `starting` holds team_start.
int affordable_team(int count, std::unique_lock<std::mutex>& starting) {
  thread_local int held = 1;
  if (count > held) {
    starting = std::unique_lock<std::mutex>(team_start);
    // Twice as many: for a moment the system still counts threads that have ended.
    const int wanted = 2 * (count - 1);
    if (const int started = rehearse(wanted); started < wanted) {
      const int team = 1 + started / 2;
      note_shortage(count, team);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      return held = team;
    }
  }
  return held = count;
}
#endif

}  // namespace

std::optional<TeamShortage> take_team_shortage() {
  const auto both = shortage.exchange(0);
  if (both == 0) return std::nullopt;
  return TeamShortage{static_cast<int>(both >> 16), static_cast<int>(both & 0xffff)};
}

#if defined(_OPENMP)
bool inside_team() { return omp_in_parallel() != 0; }
#else
namespace {
thread_local bool is_worker = false;
}
bool inside_team() { return is_worker; }
#endif

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
  std::unique_lock<std::mutex> starting;
  const int team = affordable_team(count, starting);
#pragma omp parallel num_threads(team)
  {
#pragma omp master
    if (starting.owns_lock()) starting.unlock();  // all threads of the team exist
      // One iteration per worker: the loop runs all of them in a smaller team too.
#pragma omp for schedule(static, 1)
    for (int worker = 0; worker < count; ++worker) guarded(worker);
  }
#else
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(count) - 1);
  try {
    for (int worker = 1; worker < count; ++worker)
      threads.emplace_back([&, worker] {
        is_worker = true;
        guarded(worker);
      });
  } catch (const std::system_error&) {  // the workers without a thread run on this one
    note_shortage(count, 1 + static_cast<int>(threads.size()));
  }
  const bool outer = std::exchange(is_worker, true);
  guarded(0);
  for (int worker = 1 + static_cast<int>(threads.size()); worker < count; ++worker) guarded(worker);
  is_worker = outer;
  for (auto& thread : threads) thread.join();
#endif
  if (first) std::rethrow_exception(first);
}

}  // namespace pc
