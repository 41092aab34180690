// octree_bench N [threads] [folder]: builds the octree of the synthetic plot and prints time, phases and peak
// memory.
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "core/memory.h"
#include "io/octree_directory.h"
#include "ops/octree/octree_build.h"
#include "support/plot.h"

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double cpu_seconds() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  return static_cast<double>(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

double peak_rss_mib() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  return static_cast<double>(use.ru_maxrss) / 1024;
}

/// Prints each phase with its time, by watching the job as the event loop would.
class PhaseClock {
 public:
  explicit PhaseClock(const pc::JobControl& control) : watcher_([this, &control] { watch(control); }) {}
  ~PhaseClock() {
    stop_ = true;
    watcher_.join();
  }

 private:
  void watch(const pc::JobControl& control) {
    std::string phase;
    auto start = Clock::now();
    while (!stop_) {
      const std::string now = control.phase.load();
      if (now != phase) {
        if (!phase.empty()) std::printf("  %-24s %7.3f s\n", phase.c_str(), seconds_since(start));
        phase = now;
        start = Clock::now();
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    std::printf("  %-24s %7.3f s\n", phase.c_str(), seconds_since(start));
  }
  std::atomic<bool> stop_{false};
  std::thread watcher_;
};

}  // namespace

int main(int argc, char** argv) {
  const std::size_t n = argc > 1 ? static_cast<std::size_t>(std::atof(argv[1])) : 1'000'000;
  const int threads = argc > 2 ? std::atoi(argv[2]) : 0;
  const auto base = argc > 3 ? std::filesystem::path(argv[3]) : std::filesystem::temp_directory_path();
  const auto folder = base / "octree_bench";
  std::filesystem::create_directories(folder);
  pc::test::PlotCloud plot = pc::test::make_plot(n);
  const pc::AnyColumn rgb(std::move(plot.rgb)), intensity(std::move(plot.intensity)),
      gps(std::move(plot.gps_time)), classes(std::move(plot.classification));
  const pc::OctreeInput input{std::as_const(plot.positions).view(),
                              {},
                              {{"rgb", "Colour", &rgb},
                               {"intensity", "Intensity", &intensity},
                               {"gps-time", "GPS time", &gps},
                               {"classification", "Class", &classes}}};
  const double columns_mib = static_cast<double>(n) * 41 / (1 << 20);
  pc::JobControl control;
  pc::OpContext ctx(control, pc::Device::kCpu, threads);
  pc::reset_bulk_bytes_peak();
  const double bulk_start = static_cast<double>(pc::bulk_bytes_in_use()) / (1 << 20);
  {
    const auto start = Clock::now();
    pc::octree_content_hash(input, {.scale = 0.001, .leaf_capacity = 10000}, ctx);
    std::printf("content hash %.3f s\n", seconds_since(start));
  }
  const auto start = Clock::now();
  const double cpu = cpu_seconds();
  pc::OctreeResult result;
  {
    const PhaseClock phases(control);
    pc::io::OctreeDirectory sink(folder.string());
    result = pc::octree_build(input, {.scale = 0.001, .leaf_capacity = 10000}, sink, ctx);
  }
  std::printf("octree %zu points, %d threads: %.2f s wall, %.2f s CPU, %.2f M points/s\n", n, ctx.threads(),
              seconds_since(start), cpu_seconds() - cpu, static_cast<double>(n) / seconds_since(start) / 1e6);
  std::printf(
      "nodes %llu, depth %u, octree.bin %.1f MiB; columns %.0f MiB, scratch peak %.0f MiB, peak RSS %.0f "
      "MiB\n",
      static_cast<unsigned long long>(result.node_count), result.depth,
      static_cast<double>(result.node_bytes) / (1 << 20), columns_mib,
      static_cast<double>(pc::bulk_bytes_peak()) / (1 << 20) - bulk_start, peak_rss_mib());
  std::filesystem::remove_all(folder);
  return 0;
}
