#include "core/gpu.h"

#include <chrono>
#include <memory>
#include <mutex>

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
  std::timed_mutex slot;
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

GpuSlot::GpuSlot(OpContext& ctx) {
  while (!state().slot.try_lock_for(std::chrono::milliseconds(25))) ctx.checkpoint();
}

GpuSlot::~GpuSlot() { state().slot.unlock(); }

GpuControl gpu_control(OpContext& ctx) {
  return {&ctx, [](void* user) { return static_cast<OpContext*>(user)->canceled(); },
          [](void* user, std::uint64_t count) { static_cast<OpContext*>(user)->advance(count); }};
}

}  // namespace pc
