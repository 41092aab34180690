#include "core/gpu.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>

#include "core/parallel.h"
#include "core/platform.h"

namespace pc {

namespace {

/// A table and the result of its probe.
struct Path {
  const GpuTable* table = nullptr;
  GpuInfo info;
};

struct State {
  std::mutex mutex;
  bool loaded = false;
  Path module;   ///< from gpu_load, once
  Path current;  ///< the one in use

  std::mutex slot_mutex;
  std::condition_variable slot_free;
  int beside = 0;         ///< calls of GpuShare::kBeside under way
  int waiting_alone = 0;  ///< calls of kAlone that wait: new ones of kBeside wait for them
  bool alone = false;     ///< a call of kAlone is under way
};

State& state() {
  static State* const instance = new State;  // never destroyed: job threads may outlive static destructors
  return *instance;
}

std::string version_text(std::int32_t version) {
  if (version <= 0) return {};
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

const GpuTable* load_module(const std::string& directory, std::string& reason) {
  const std::string path = directory + "/pc_cuda" + platform::library_suffix();
  void* const library = platform::open_library(path, reason);
  if (library == nullptr) return nullptr;
  const auto entry = reinterpret_cast<GpuTableFunction>(platform::library_symbol(library, kGpuTableSymbol));
  const GpuTable* const table = entry == nullptr ? nullptr : entry();
  if (table == nullptr) {
    reason = path + " is not the CUDA module of this program: it has no " + kGpuTableSymbol;
    return nullptr;
  }
  if (table->abi_version != kGpuAbiVersion || table->table_bytes != sizeof(GpuTable)) {
    reason = path + " belongs to another version of this program (interface " +
             std::to_string(table->abi_version) + ", needed " + std::to_string(kGpuAbiVersion) +
             "): reinstall the program";
    return nullptr;
  }
  return table;
}

/// Fills info from the probe; true if a device is usable.
bool probe(const GpuTable& table, GpuInfo& info) {
  GpuProbe found{};
  GpuError error{};
  const GpuStatus status = table.probe(&found, &error);
  info.driver_version = version_text(found.driver_version);
  info.runtime_version = version_text(found.runtime_version);
  if (status != GpuStatus::kOk || found.device_count <= 0) {
    info.reason = error.text[0] == '\0' ? "no CUDA device found" : error.text;
    return false;
  }
  info.present = true;
  info.device_count = found.device_count;
  info.name = found.name;
  info.total_bytes = found.total_bytes;
  return true;
}

Path path_through(const GpuTable* table, const std::string& reason) {
  Path path;
  path.info.reason = reason;
  if (table != nullptr && probe(*table, path.info)) path.table = table;
  return path;
}

/// The team of all threads or none: one of another size than the last costs more to start than the copy. A cancel does not
/// end it: whoever asked for the copy polls.
void copy_by_team(int team, void* to, const void* from, std::size_t bytes) {
  constexpr std::size_t kLeast = std::size_t{1} << 20;
  if (team <= 1 || bytes < kLeast || inside_team()) {
    std::memcpy(to, from, bytes);
    return;
  }
  const std::size_t part = bytes / static_cast<std::size_t>(team) / 64 * 64;
  run_team(team, [&](int worker) {
    const std::size_t begin = part * static_cast<std::size_t>(worker);
    const std::size_t end = worker + 1 == team ? bytes : begin + part;
    std::memcpy(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin, end - begin);
  });
}

}  // namespace

void gpu_load(const std::string& directory) {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  if (!s.loaded) {
    std::string reason;
    const GpuTable* const table = load_module(directory, reason);
    s.module = path_through(table, reason);
    s.loaded = true;
  }
  s.current = s.module;
}

void gpu_install(const GpuTable* table, const std::string& reason) {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  s.current = path_through(table, reason);
}

const GpuTable* gpu_table() {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  return s.current.table;
}

std::string gpu_reason() { return gpu_info().reason; }

GpuInfo gpu_info() {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  GpuInfo info = s.current.info;
  if (!info.present && info.reason.empty()) info.reason = "the CUDA module has not been loaded";
  return info;
}

std::optional<GpuMemory> gpu_memory() {
  const GpuTable* const table = gpu_table();
  GpuMemory memory{};
  GpuError error{};
  if (table == nullptr || table->memory(&memory.free_bytes, &memory.total_bytes, &error) != GpuStatus::kOk)
    return {};
  return memory;
}

GpuSlot::GpuSlot(OpContext& ctx, GpuShare share) : share_(share) {
  State& s = state();
  std::unique_lock<std::mutex> lock(s.slot_mutex);
  const bool wants_alone = share == GpuShare::kAlone;
  const auto is_free = [&] { return !s.alone && (wants_alone ? s.beside == 0 : s.waiting_alone == 0); };
  s.waiting_alone += wants_alone ? 1 : 0;
  bool free = false;
  while (!free && !ctx.canceled()) free = s.slot_free.wait_for(lock, std::chrono::milliseconds(25), is_free);
  s.waiting_alone -= wants_alone ? 1 : 0;
  if (!free) {
    s.slot_free.notify_all();  // those that waited for this one
    ctx.checkpoint();
  }
  s.alone = wants_alone;
  s.beside += wants_alone ? 0 : 1;
}

GpuSlot::~GpuSlot() {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.slot_mutex);
  if (share_ == GpuShare::kAlone) {
    s.alone = false;
  } else {
    --s.beside;
  }
  s.slot_free.notify_all();
}

GpuControl gpu_control(OpContext& ctx) {
  return {&ctx, [](void* user) { return static_cast<OpContext*>(user)->canceled(); },
          [](void* user, std::uint64_t count) { static_cast<OpContext*>(user)->advance(count); },
          [](void* user, void* to, const void* from, std::uint64_t bytes) {
            copy_by_team(static_cast<OpContext*>(user)->threads(), to, from, static_cast<std::size_t>(bytes));
          }};
}

}  // namespace pc
