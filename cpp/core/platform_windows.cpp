#if defined(_WIN32)
#define NOMINMAX
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <algorithm>

#include "core/error.h"
#include "core/platform.h"

namespace pc::platform {

namespace {

std::wstring wide(const std::string& text) {
  const int length = MultiByteToWideChar(CP_UTF8, 0, text.data(), static_cast<int>(text.size()), nullptr, 0);
  std::wstring out(static_cast<std::size_t>(length), L'\0');
  MultiByteToWideChar(CP_UTF8, 0, text.data(), static_cast<int>(text.size()), out.data(), length);
  return out;
}

[[noreturn]] void fail(const std::string& path, const char* action) {
  const DWORD error = GetLastError();
  ErrorCode code = ErrorCode::kIo;
  if (error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND) code = ErrorCode::kNotFound;
  if (error == ERROR_DISK_FULL || error == ERROR_HANDLE_DISK_FULL) code = ErrorCode::kNoSpace;
  throw Error(code, path + ": cannot " + action + ": error " + std::to_string(error));
}

HANDLE native(std::intptr_t handle) { return reinterpret_cast<HANDLE>(handle); }

OVERLAPPED at(std::uint64_t offset) {
  OVERLAPPED position{};
  position.Offset = static_cast<DWORD>(offset);
  position.OffsetHigh = static_cast<DWORD>(offset >> 32);
  return position;
}

constexpr std::size_t kMaxTransfer = std::size_t{1} << 30;

}  // namespace

void lower_thread_priority() { SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_BELOW_NORMAL); }

void return_freed_memory() {}

std::size_t page_size() {
  SYSTEM_INFO info;
  GetSystemInfo(&info);
  return info.dwAllocationGranularity;  // mappings start at multiples of this, not of the page size
}

void* allocate_pages(std::size_t bytes) {
  return VirtualAlloc(nullptr, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

void* map_file_pages(const std::string& path, std::uint64_t offset, std::size_t bytes) {
  const File file = File::open_read(path);
  if (file.size() < offset + bytes) {
    throw Error(ErrorCode::kInvalidFile,
                path + ": not a regular file of at least " + std::to_string(offset + bytes) + " bytes");
  }
  HANDLE handle = CreateFileW(wide(path).c_str(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, nullptr,
                              OPEN_EXISTING, 0, nullptr);
  if (handle == INVALID_HANDLE_VALUE) fail(path, "open");
  HANDLE mapping = CreateFileMappingW(handle, nullptr, PAGE_READONLY, 0, 0, nullptr);
  CloseHandle(handle);
  if (mapping == nullptr) fail(path, "map");
  void* base = MapViewOfFile(mapping, FILE_MAP_READ, static_cast<DWORD>(offset >> 32),
                             static_cast<DWORD>(offset), bytes);
  CloseHandle(mapping);
  if (base == nullptr) fail(path, "map");
  return base;
}

void release_pages(void* base, std::size_t) {
  MEMORY_BASIC_INFORMATION info;
  if (VirtualQuery(base, &info, sizeof info) != 0 && info.Type == MEM_MAPPED) {
    UnmapViewOfFile(base);
  } else {
    VirtualFree(base, 0, MEM_RELEASE);
  }
}

const char* library_suffix() { return ".dll"; }

void* open_library(const std::string& path, std::string& reason) {
  std::wstring native_path = wide(path);
  std::replace(native_path.begin(), native_path.end(), L'/', L'\\');  // LoadLibraryEx wants backslashes
  HMODULE library = LoadLibraryExW(native_path.c_str(), nullptr,
                                   LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_DEFAULT_DIRS);
  if (library == nullptr) reason = path + ": cannot be loaded: error " + std::to_string(GetLastError());
  return library;
}

void* library_symbol(void* library, const char* name) {
  return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(library), name));
}

bool link_file(const std::string& from, const std::string& to) {
  if (!DeleteFileW(wide(to).c_str()) && GetLastError() != ERROR_FILE_NOT_FOUND) fail(to, "replace");
  if (CreateHardLinkW(wide(to).c_str(), wide(from).c_str(), nullptr)) return true;
  for (const DWORD none : {ERROR_INVALID_FUNCTION, ERROR_NOT_SUPPORTED, ERROR_TOO_MANY_LINKS,
                           ERROR_NOT_SAME_DEVICE, ERROR_ACCESS_DENIED})
    if (GetLastError() == none) return false;
  fail(to, "link");
}

std::optional<FileLock> FileLock::try_acquire(const std::string& path) {
  // Opened without sharing: a second open fails as long as the handle exists.
  HANDLE handle = CreateFileW(wide(path).c_str(), GENERIC_READ | GENERIC_WRITE, 0, nullptr, OPEN_ALWAYS,
                              FILE_ATTRIBUTE_NORMAL | FILE_FLAG_OPEN_REPARSE_POINT, nullptr);
  if (handle != INVALID_HANDLE_VALUE) return FileLock(reinterpret_cast<std::intptr_t>(handle));
  if (GetLastError() == ERROR_SHARING_VIOLATION) return std::nullopt;
  fail(path, "lock");
}

FileLock::~FileLock() {
  if (handle_ >= 0) CloseHandle(native(handle_));
}

File File::open_read(const std::string& path) {
  HANDLE handle = CreateFileW(wide(path).c_str(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, nullptr,
                              OPEN_EXISTING, FILE_FLAG_SEQUENTIAL_SCAN, nullptr);
  if (handle == INVALID_HANDLE_VALUE) fail(path, "open");
  File result(path, reinterpret_cast<std::intptr_t>(handle));
  if (GetFileType(handle) != FILE_TYPE_DISK)
    throw Error(ErrorCode::kInvalidFile, path + ": not a regular file");
  LARGE_INTEGER size;
  if (!GetFileSizeEx(handle, &size)) fail(path, "stat");
  result.size_ = static_cast<std::uint64_t>(size.QuadPart);
  return result;
}

File File::create(const std::string& path) {
  HANDLE handle = CreateFileW(wide(path).c_str(), GENERIC_READ | GENERIC_WRITE, 0, nullptr, CREATE_ALWAYS,
                              FILE_ATTRIBUTE_NORMAL | FILE_FLAG_OPEN_REPARSE_POINT, nullptr);
  if (handle == INVALID_HANDLE_VALUE) fail(path, "create");
  return File(path, reinterpret_cast<std::intptr_t>(handle));
}

void File::sync_path(const std::string& path) {
  HANDLE handle = CreateFileW(wide(path).c_str(), GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_DELETE, nullptr,
                              OPEN_EXISTING, 0, nullptr);
  if (handle == INVALID_HANDLE_VALUE) fail(path, "open");
  File(path, reinterpret_cast<std::intptr_t>(handle)).sync();
}

std::size_t File::read_at(std::uint64_t offset, void* out, std::size_t bytes) const {
  std::size_t done = 0;
  while (done < bytes) {
    OVERLAPPED position = at(offset + done);
    DWORD got = 0;
    const auto want = static_cast<DWORD>(std::min(bytes - done, kMaxTransfer));
    if (!ReadFile(native(handle_), static_cast<char*>(out) + done, want, &got, &position)) {
      if (GetLastError() == ERROR_HANDLE_EOF) break;
      fail(path_, "read");
    }
    if (got == 0) break;
    done += got;
  }
  return done;
}

void File::write_at(std::uint64_t offset, const void* data, std::size_t bytes) {
  std::size_t done = 0;
  while (done < bytes) {
    OVERLAPPED position = at(offset + done);
    DWORD put = 0;
    const auto want = static_cast<DWORD>(std::min(bytes - done, kMaxTransfer));
    if (!WriteFile(native(handle_), static_cast<const char*>(data) + done, want, &put, &position))
      fail(path_, "write");
    done += put;
  }
  grow_to(offset + bytes);
}

void File::sync() {
  if (!FlushFileBuffers(native(handle_))) fail(path_, "flush");
}

void File::close_checked() {
  const std::intptr_t handle = std::exchange(handle_, -1);
  if (handle >= 0 && !CloseHandle(native(handle))) fail(path_, "close");
}

File::~File() {
  if (handle_ >= 0) CloseHandle(native(handle_));
}

}  // namespace pc::platform
#endif
