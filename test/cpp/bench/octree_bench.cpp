#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <thread>
#include <utility>

#include "bench.h"
#include "core/memory.h"
#include "io/las.h"
#include "io/octree_directory.h"
#include "ops/octree/octree_build.h"

namespace pc::bench {
namespace {

/// LAS name, name in the octree, label.
struct Attribute {
  const char* column;
  const char* name;
  const char* label;
};
constexpr Attribute kAttributes[] = {{"rgb", "rgb", "Colour"},
                                     {"intensity", "intensity", "Intensity"},
                                     {"gps_time", "gps-time", "GPS time"},
                                     {"classification", "classification", "Class"}};

bool is_attribute(const io::LasDimension& dimension) {
  return std::any_of(std::begin(kAttributes), std::end(kAttributes),
                     [&](const Attribute& attribute) { return dimension.name == attribute.column; });
}

/// Seconds of each phase, seen by watching the job as the event loop would.
class PhaseClock {
 public:
  explicit PhaseClock(const JobControl& control) : watcher_([this, &control] { watch(control); }) {}
  ~PhaseClock() { stop(); }
  /// Ends the watch; (phase, seconds) in the order of their start.
  const std::vector<std::pair<std::string, double>>& stop() {
    stop_ = true;
    if (watcher_.joinable()) watcher_.join();
    return phases_;
  }

 private:
  void watch(const JobControl& control) {
    Stopwatch watch;
    while (!stop_) {
      const std::string phase = control.phase.load();
      if (phase.empty()) watch = Stopwatch();
      if (!phase.empty() && (phases_.empty() || phases_.back().first != phase)) {
        if (!phases_.empty()) phases_.back().second = watch.seconds();
        watch = Stopwatch();
        phases_.emplace_back(phase, 0.0);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (!phases_.empty()) phases_.back().second = watch.seconds();
  }
  std::vector<std::pair<std::string, double>> phases_;
  std::atomic<bool> stop_{false};
  std::thread watcher_;
};

}  // namespace

int build_octree(const Arguments& arguments) {
  const std::string folder = arguments[1];
  JobControl control;
  OpContext ctx(control, Device::kCpu, thread_count(arguments, 2));
  io::LasReadParams wanted;
  wanted.wanted = is_attribute;
  const Stopwatch reading;
  const io::LasCloud cloud = io::read_las(arguments[0], wanted, ctx);
  const double read_s = reading.seconds();
  OctreeInput input{cloud.table.positions.view(), {}, {}};
  std::size_t column_bytes = cloud.table.positions.bytes();
  for (const io::NamedColumn& column : cloud.table.columns) {
    const auto* const found = std::find_if(std::begin(kAttributes), std::end(kAttributes),
                                           [&](const Attribute& a) { return column.name == a.column; });
    input.attributes.push_back({found->name, found->label, &column.values});
    column_bytes += column.values.bytes();
  }
  std::filesystem::create_directories(folder);
  JobControl build_control;
  OpContext build_ctx(build_control, Device::kCpu, ctx.threads());
  PhaseClock phases(build_control);
  const Stopwatch building;
  io::OctreeDirectory sink(folder);
  const OctreeResult result = octree_build(input, {.scale = 0.001, .leaf_capacity = 10000}, sink, build_ctx);
  const double op_s = building.seconds();
  std::printf(
      "{\"count\":%llu,\"op_s\":%.4f,\"read_s\":%.4f,\"column_mib\":%.1f,\"mapped_peak_mib\":%.1f,"
      "\"nodes\":%llu,\"depth\":%u,\"threads\":%d,\"phases\":{",
      static_cast<unsigned long long>(result.point_count), op_s, read_s,
      static_cast<double>(column_bytes) / (1 << 20), static_cast<double>(bulk_bytes_peak()) / (1 << 20),
      static_cast<unsigned long long>(result.node_count), result.depth, ctx.threads());
  const char* comma = "";
  for (const auto& [phase, seconds] : phases.stop()) {
    std::printf("%s\"%s\":%.3f", comma, phase.c_str(), seconds);
    comma = ",";
  }
  std::printf("}}\n");
  return 0;
}

}  // namespace pc::bench
