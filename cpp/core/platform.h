#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

/// Everything that differs between operating systems. platform_posix.cpp and platform_windows.cpp implement it.
namespace pc::platform {

std::size_t page_size();
/// Zeroed pages; nullptr when the OS refuses.
void* allocate_pages(std::size_t bytes);
/// Read-only pages of a file; `offset` is a multiple of the mapping granularity (64 KiB works everywhere).
void* map_file_pages(const std::string& path, std::uint64_t offset, std::size_t bytes);
void release_pages(void* base, std::size_t bytes);

/// ".so", ".dll" or ".dylib".
const char* library_suffix();
/// Loads a shared library from `path` (absolute, UTF-8); nullptr with the system's reason, never an exception.
void* open_library(const std::string& path, std::string& reason);
/// Address of an exported symbol, or nullptr.
void* library_symbol(void* library, const char* name);

/// Gives the file `from` a second name. False when the file system has no such thing, or no more of it for this file;
/// errors: kNotFound, kNoSpace, kIo. A file `to` is replaced.
bool link_file(const std::string& from, const std::string& to);

/// An exclusive lock between processes, on a file made for it. The system lets go of it when the process dies, however
/// it dies: there is no stale lock to break.
class FileLock {
 public:
  /// The lock, or nothing when another holds it (another process, or this one through another FileLock). The file is
  /// created when missing and stays. Errors: kNotFound (no such folder), kIo.
  static std::optional<FileLock> try_acquire(const std::string& path);

  FileLock(FileLock&& other) noexcept : handle_(std::exchange(other.handle_, -1)) {}
  FileLock& operator=(FileLock&&) = delete;
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock();

 private:
  explicit FileLock(std::intptr_t handle) : handle_(handle) {}
  std::intptr_t handle_;
};

/// A file with positioned reads and writes, safe to use from several threads at different offsets.
/// Errors throw pc::Error (kNotFound, kNoSpace, kIo, kInvalidFile) naming path and reason. Paths are UTF-8.
class File {
 public:
  /// Regular files only; never blocks on a FIFO or device.
  static File open_read(const std::string& path);
  /// Creates or truncates for reading and writing; never follows a symlink at `path`.
  static File create(const std::string& path);
  /// Flushes what was written to an existing file to the disk.
  static void sync_path(const std::string& path);

  File(File&& other) noexcept
      : path_(std::move(other.path_)), handle_(std::exchange(other.handle_, -1)), size_(other.size_.load()) {}
  File& operator=(File&&) = delete;
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File();

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }  ///< at open, or the highest byte written through this object
  /// Bytes read: fewer than asked only at the end of the file.
  std::size_t read_at(std::uint64_t offset, void* out, std::size_t bytes) const;
  void write_at(std::uint64_t offset, const void* data, std::size_t bytes);
  void sync();           ///< data is on the disk when it returns
  void close_checked();  ///< reports what close() says; the destructor cannot

 private:
  void grow_to(std::uint64_t end) {
    std::uint64_t before = size_.load(std::memory_order_relaxed);
    while (end > before && !size_.compare_exchange_weak(before, end)) {
    }
  }
  File(std::string path, std::intptr_t handle) : path_(std::move(path)), handle_(handle) {}
  std::string path_;
  std::intptr_t handle_ = -1;
  std::atomic<std::uint64_t> size_{0};
};

}  // namespace pc::platform
