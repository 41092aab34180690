#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/memory.h"
#include "core/platform.h"
#include "fuzz/fuzz_mutate.h"
#include "fuzz/fuzz_target.h"
#include "fuzz/heap_meter.h"

#if defined(__SANITIZE_ADDRESS__)
#define PC_FUZZ_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PC_FUZZ_SANITIZED
#endif
#endif
#if defined(PC_FUZZ_SANITIZED)
#include <sanitizer/common_interface_defs.h>
#endif

namespace pc::fuzz {
namespace {

constexpr std::uint64_t kFreeBytes = std::uint64_t{64} << 20;  // memory any file may cost,
constexpr std::uint64_t kBytesPerByte = 20;                    // plus this for each of its bytes
/// Limit of CPU time per case, and of wall time for cases that wait without working.
constexpr double kCaseCpuSeconds = 2;
constexpr std::chrono::seconds kCaseLimit{60};

/// All readers; with PC_FUZZ_ONLY defined as one target function, that one alone.
std::vector<FuzzTarget> targets() {
#if defined(PC_FUZZ_ONLY)
  return {PC_FUZZ_ONLY()};
#else
  return {las_target(),      laz_target(), text_target(),      ply_target(),      pcd_target(),
          e57_target(),      ptx_target(), json_target(),      obj_target(),      mtl_target(),
          ply_mesh_target(), stl_target(), plant_target(),     zcol_target(),     npy_target(),
          skeleton_target(), qsm_target(), qsm_build_target(), qsm_model_target()};
#endif
}

struct Case {
  std::string target;
  std::uint64_t seed = 0, index = 0;
  Bytes bytes;
};

void report(const Case& c, const std::string& why) {
  const std::string name =
      "fuzz-" + c.target + "-" + std::to_string(c.seed) + "-" + std::to_string(c.index) + ".bin";
  try {
    auto file = platform::File::create(name);
    file.write_at(0, c.bytes.data(), c.bytes.size());
  } catch (const Error& error) {
    std::printf("cannot keep the input: %s\n", error.what());
  }
  std::printf("FAILED %s: %s\n  input: %s (%zu bytes)\n  again: pc_fuzz %s 1 %llu %llu\n", c.target.c_str(),
              why.c_str(), name.c_str(), c.bytes.size(), c.target.c_str(),
              static_cast<unsigned long long>(c.seed), static_cast<unsigned long long>(c.index));
  std::fflush(stdout);
}

/// The running case, for crash reports.
const Case* running = nullptr;

void report_crash() {
  const Case* crashed = running;
  running = nullptr;
  if (crashed != nullptr) report(*crashed, "the process crashed");
}

/// Makes a crash report name its case: by the sanitizers' death callback, or by signal handlers without sanitizers.
void install_crash_report() {
#if defined(PC_FUZZ_SANITIZED)
  __sanitizer_set_death_callback(report_crash);
#else
  for (const int fault : {SIGSEGV, SIGFPE, SIGILL, SIGABRT}) {
    std::signal(fault, [](int signal) {
      std::signal(signal, SIG_DFL);
      report_crash();
      std::raise(signal);
    });
  }
#endif
}

/// Ends the process if a case exceeds its limits: a hang cannot be reported in any other way.
class Watchdog {
 public:
  Watchdog() : thread_([this] { watch(); }) {}
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stop_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }
  void begin(const Case* current) {
    const std::lock_guard<std::mutex> lock(mutex_);
    current_ = current;
    cpu_start_ = std::clock();
    deadline_ = std::chrono::steady_clock::now() + kCaseLimit;
  }
  void end() {
    const std::lock_guard<std::mutex> lock(mutex_);
    current_ = nullptr;
  }

 private:
  void watch() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!stop_) {
      wake_.wait_for(lock, std::chrono::milliseconds(100));
      if (current_ == nullptr) continue;
      const double cpu_s = static_cast<double>(std::clock() - cpu_start_) / CLOCKS_PER_SEC;
      if (cpu_s < kCaseCpuSeconds && std::chrono::steady_clock::now() < deadline_) continue;
      report(*current_, "still running after 2 s of processor time or 60 s in all");
      running = nullptr;
      std::abort();
    }
  }
  std::mutex mutex_;
  std::condition_variable wake_;
  const Case* current_ = nullptr;
  std::clock_t cpu_start_ = 0;
  std::chrono::steady_clock::time_point deadline_;
  bool stop_ = false;
  std::thread thread_;
};

/// Runs one case; returns "" or the problem.
std::string run_case(const FuzzTarget& target, const Case& c, const std::string& path) {
  std::filesystem::remove(path);
  {
    auto file = platform::File::create(path);
    file.write_at(0, c.bytes.data(), c.bytes.size());
    file.close_checked();
  }
  JobControl control;
  OpContext ctx(control, Device::kCpu, c.index % 16 == 1 ? 3 : 1);
  const std::uint64_t allowed = kFreeBytes + kBytesPerByte * c.bytes.size();
  const std::uint64_t pages_before = bulk_bytes_in_use(), heap_before = heap_bytes();
  reset_bulk_bytes_peak();
  reset_heap_peak();
  set_heap_limit(heap_before + allowed);
  std::string wrong;
  try {
    target.read(path, ctx);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kInternal) wrong = std::string("internal error: ") + error.what();
    if (std::string(error.what()).empty()) wrong = "an error without a message";
  } catch (const std::exception& error) {
    wrong = std::string("not a pc::Error: ") + error.what();
  } catch (...) {
    wrong = "something that is no exception class was thrown";
  }
  set_heap_limit(~std::uint64_t{0});
  const std::uint64_t used = bulk_bytes_peak() - pages_before + heap_peak() - heap_before;
  if (wrong.empty() && used > allowed) {
    wrong = std::to_string(used >> 20) + " MiB were allocated, " + std::to_string(allowed >> 20) +
            " MiB are allowed";
  }
  if (wrong.empty() && bulk_bytes_in_use() != pages_before) wrong = "pages were not given back";
  return wrong;
}

std::string scratch_path() {
  const std::filesystem::path memory = "/dev/shm";
  const auto folder = std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path();
  return (folder / ("pc_fuzz_" + std::to_string(std::chrono::steady_clock::now().time_since_epoch().count())))
      .string();
}

constexpr std::uint64_t kEnough = 20;  ///< failures of one target that are reported

/// Which cases of a target run.
struct Range {
  std::uint64_t seed = 0, first = 0, count = 0;
};

/// Failures among the seed files of a target: a seed that is rejected tests nothing.
std::uint64_t failed_seeds(const FuzzTarget& target, const std::vector<Bytes>& seeds,
                           const std::string& path) {
  std::uint64_t failed = 0;
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    platform::File::create(path).write_at(0, seeds[i].data(), seeds[i].size());
    JobControl control;
    OpContext ctx(control, Device::kCpu, 1);
    try {
      target.read(path, ctx);
    } catch (const std::exception& error) {
      std::printf("FAILED %s: seed file %zu cannot be read: %s\n", target.name, i, error.what());
      ++failed;
    }
  }
  return failed;
}

/// Runs one target and prints its result; false when an input failed or none was run.
bool run_target(const FuzzTarget& target, const Range& range, const std::string& path, Watchdog& watchdog) {
  const std::vector<Bytes> seeds = target.seeds();
  std::uint64_t failed = failed_seeds(target, seeds, path), inputs = 0;
  for (; inputs < range.count && failed < kEnough && !seeds.empty(); ++inputs) {
    const std::uint64_t index = range.first + inputs;
    const Case c{target.name, range.seed, index, make_case(seeds, range.seed, index)};
    running = &c;
    watchdog.begin(&c);
    const std::string wrong = run_case(target, c, path);
    watchdog.end();
    running = nullptr;
    if (wrong.empty()) continue;
    report(c, wrong);
    ++failed;
  }
  const bool passed = failed == 0 && inputs > 0;
  std::printf("%s %s: %llu inputs, %llu failures%s\n", passed ? "ok" : "FAILED", target.name,
              static_cast<unsigned long long>(inputs), static_cast<unsigned long long>(failed),
              inputs == 0 ? "; a target that reads nothing tests nothing" : "");
  std::fflush(stdout);
  return passed;
}

/// Runs the targets; the last line counts them, not their inputs.
int run(const std::vector<FuzzTarget>& chosen, const Range& range) {
  const std::string path = scratch_path();
  std::size_t passed = 0;
  install_crash_report();
  std::printf("the input of the case under way lies in %s; it stays there when the process dies\n",
              path.c_str());
  std::fflush(stdout);
  {
    Watchdog watchdog;
    for (const FuzzTarget& target : chosen) passed += run_target(target, range, path, watchdog) ? 1 : 0;
  }
  std::filesystem::remove(path);
  const std::size_t failed = chosen.size() - passed;
  std::printf("%zu passed, %zu failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace pc::fuzz

/// pc_fuzz <target|all> [count] [seed] [first case]: `count` cases (2000) for each target from `first` (0)
/// on. The last line counts the targets that passed and failed; ends with 0 when all passed. A failing input
/// is kept in the current folder.
int main(int argc, char** argv) {
  using namespace pc::fuzz;
  const std::string wanted = argc > 1 ? argv[1] : "all";
  const auto number = [&](int at, std::uint64_t otherwise) {
    return argc > at ? std::strtoull(argv[at], nullptr, 10) : otherwise;
  };
  std::vector<FuzzTarget> chosen;
  for (const FuzzTarget& target : targets()) {
    if (wanted == "all" || wanted == target.name) chosen.push_back(target);
  }
  if (chosen.empty()) {
    std::printf("no target '%s'; targets:", wanted.c_str());
    for (const FuzzTarget& target : targets()) std::printf(" %s", target.name);
    std::printf(" all\n");
    return 2;
  }
  return run(chosen, {number(3, 1), number(4, 0), number(2, 2000)});
}
