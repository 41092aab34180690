#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

/// Everything that differs between operating systems. platform_posix.cpp and platform_windows.cpp implement it.
namespace pc::platform {

/// Lowers the priority of the calling thread below that of the event loop; on Linux also of the threads it starts later.
/// On macOS, where this cannot be done for a single thread, nothing happens.
void lower_thread_priority();

/// Makes malloc return freed memory of 1 MiB or more to the system, for the whole process. glibc otherwise raises that
/// limit with the largest block freed, to up to 64 MiB, and keeps as much for each group of threads. Nothing happens with
/// the allocators of other systems.
void return_freed_memory();

std::size_t page_size();
/// Zeroed pages; nullptr if the OS has none.
void* allocate_pages(std::size_t bytes);
/// Read-only pages of a file; `offset` is a multiple of the mapping granularity (64 KiB works everywhere).
void* map_file_pages(const std::string& path, std::uint64_t offset, std::size_t bytes);
void release_pages(void* base, std::size_t bytes);

/// ".so", ".dll" or ".dylib".
const char* library_suffix();
/// Loads a shared library from `path` (absolute, UTF-8). On failure returns nullptr with the system's reason; never
/// throws.
void* open_library(const std::string& path, std::string& reason);
/// Address of an exported symbol, or nullptr.
void* library_symbol(void* library, const char* name);

/// Gives the file `from` a second name `to` (hard link), replacing a file `to`. Returns false if the file system does
/// not support that or allows no more names for this file. Errors: kNotFound, kNoSpace, kIo.
bool link_file(const std::string& from, const std::string& to);

/// An exclusive lock between processes, on a file created for it. The system releases it when the process ends, even
/// by a crash, so locks never become stale.
class FileLock {
 public:
  /// The lock, or nothing if it is taken (by another process, or by another FileLock of this one). Creates the file if
  /// it is missing; the file is never removed. Errors: kNotFound (no such folder), kIo.
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

/// A file with positioned reads and writes, safe to use from several threads at different offsets. Errors throw
/// pc::Error (kNotFound, kNoSpace, kIo, kInvalidFile) with path and reason. Paths are UTF-8.
class File {
 public:
  /// Opens regular files only; never blocks on a FIFO or device.
  static File open_read(const std::string& path);
  /// Creates or truncates a file for reading and writing; never follows a symlink at `path`.
  static File create(const std::string& path);
  /// Flushes the data of an existing file to the disk.
  static void sync_path(const std::string& path);

  File(File&& other) noexcept
      : path_(std::move(other.path_)), handle_(std::exchange(other.handle_, -1)), size_(other.size_.load()) {}
  File& operator=(File&&) = delete;
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File();

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }  ///< when opened, or the highest byte written through it
  /// Returns the number of bytes read, which is less than requested only at the end of the file.
  std::size_t read_at(std::uint64_t offset, void* out, std::size_t bytes) const;
  void write_at(std::uint64_t offset, const void* data, std::size_t bytes);
  void sync();           ///< returns once the data is on the disk
  void close_checked();  ///< closes and reports errors, which the destructor cannot

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
