#include <array>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "binding/cloud_edit_values.h"
#include "binding/coded.h"
#include "binding/column_handle.h"
#include "binding/families.h"
#include "binding/job.h"
#include "binding/js_values.h"
#include "core/platform.h"
#include "io/column_file.h"

namespace pc::binding {

namespace {

struct Done {};
Napi::Value null_result(Napi::Env env, Done&&) { return env.Null(); }

// writeColumnFiles(columns: NativeColumn[], paths: string[]): NativeJob<null>
Napi::Value write_column_files(const Napi::CallbackInfo& info) {
  std::vector<std::pair<ColumnPtr, std::string>> files;
  const auto columns = strict_array(info[0], "columns"), paths = strict_array(info[1], "paths");
  require(columns.Length() == paths.Length(), "columns and paths must be as many");
  for (std::uint32_t i = 0; i < columns.Length(); ++i)
    files.emplace_back(ColumnHandle::get(columns.Get(i)), strict_string(paths.Get(i), "paths"));
  return start_job<Done>(
      info.Env(), job_options(info[2]),
      [files = std::move(files)](OpContext& ctx) {
        for (const auto& [column, path] : files) io::write_column_file(*column, path, ctx);
        return Done{};
      },
      null_result);
}

// syncColumnFile(path: string): NativeJob<null>
Napi::Value sync_column_file(const Napi::CallbackInfo& info) {
  const std::string path = strict_string(info[0], "path");
  return start_job<Done>(
      info.Env(), JobOptions{},
      [path](OpContext&) {
        io::sync_column_file(path);
        return Done{};
      },
      null_result);
}

/// Number of each file that is damaged or missing.
std::vector<std::uint32_t> damaged_files(const std::vector<std::string>& paths, OpContext& ctx) {
  std::vector<std::uint32_t> damaged;
  for (std::uint32_t i = 0; i < paths.size(); ++i) {
    try {
      if (!io::verify_column_file(paths[i], ctx)) damaged.push_back(i);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kInvalidFile && error.code() != ErrorCode::kNotFound) throw;
      damaged.push_back(i);
    }
  }
  return damaged;
}

// damagedColumnFiles(paths: string[]): NativeJob<number[]>
Napi::Value damaged_column_files(const Napi::CallbackInfo& info) {
  std::vector<std::string> paths;
  const auto list = strict_array(info[0], "paths");
  for (std::uint32_t i = 0; i < list.Length(); ++i) paths.push_back(strict_string(list.Get(i), "paths"));
  return start_job<std::vector<std::uint32_t>>(
      info.Env(), JobOptions{},
      [paths = std::move(paths)](OpContext& ctx) { return damaged_files(paths, ctx); },
      [](Napi::Env env, std::vector<std::uint32_t>&& damaged) -> Napi::Value {
        auto numbers = Napi::Array::New(env, damaged.size());
        for (std::uint32_t i = 0; i < damaged.size(); ++i) numbers.Set(i, Napi::Number::New(env, damaged[i]));
        return numbers;
      });
}

/// The checksum of a column: from its file if that is still there.
std::uint64_t checksum_of(const AnyColumn& column, const std::optional<std::string>& path, OpContext& ctx) {
  if (path) {
    try {
      return io::stored_checksum(*path);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kNotFound) throw;  // replaced meanwhile; the mapping is whole
    }
  }
  return io::column_checksum(column, ctx);
}

// columnChecksum(column: NativeColumn, path: string | null): NativeJob<string>
Napi::Value column_checksum(const Napi::CallbackInfo& info) {
  const ColumnPtr column = ColumnHandle::get(info[0]);
  std::optional<std::string> path;
  if (!info[1].IsNull()) path = strict_string(info[1], "path");
  return start_job<std::uint64_t>(
      info.Env(), JobOptions{}, [column, path](OpContext& ctx) { return checksum_of(*column, path, ctx); },
      [](Napi::Env env, std::uint64_t&& sum) -> Napi::Value {
        std::array<char, 17> hex{};
        std::snprintf(hex.data(), hex.size(), "%016" PRIx64, sum);
        return Napi::String::New(env, hex.data());
      });
}

// mapColumnFile(path: string): NativeColumn
Napi::Value map_column_file(const Napi::CallbackInfo& info) {
  return ColumnHandle::wrap(info.Env(), io::map_column_file(strict_string(info[0], "path")));
}

// tryLockFile(path: string): (() => void) | null - the returned function releases the lock
Napi::Value try_lock_file(const Napi::CallbackInfo& info) {
  auto lock = platform::FileLock::try_acquire(strict_string(info[0], "path"));
  if (!lock) return info.Env().Null();
  auto held = std::make_shared<std::optional<platform::FileLock>>(std::move(lock));
  return Napi::Function::New(info.Env(), [held](const Napi::CallbackInfo&) { held->reset(); });
}

}  // namespace

void register_column_files(Napi::Env env, Napi::Object exports) {
  add<write_column_files>(env, exports, "writeColumnFiles");
  add<sync_column_file>(env, exports, "syncColumnFile");
  add<damaged_column_files>(env, exports, "damagedColumnFiles");
  add<column_checksum>(env, exports, "columnChecksum");
  add<map_column_file>(env, exports, "mapColumnFile");
  add<try_lock_file>(env, exports, "tryLockFile");
}

}  // namespace pc::binding
