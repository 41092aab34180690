#if !defined(_WIN32)
#include <dlfcn.h>
#include <fcntl.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/error.h"
#include "core/platform.h"

namespace pc::platform {

namespace {

[[noreturn]] void fail(const std::string& path, const char* action) {
  const int error = errno;
  ErrorCode code = ErrorCode::kIo;
  if (error == ENOENT || error == ENOTDIR) code = ErrorCode::kNotFound;
  if (error == ENOSPC || error == EDQUOT) code = ErrorCode::kNoSpace;
  throw Error(code, path + ": cannot " + action + ": " + std::strerror(error));
}

}  // namespace

void lower_thread_priority() {
#if defined(__linux__)
  constexpr int kBelowEventLoop = 5;  // 0 is normal, 19 the lowest
  const int now = getpriority(PRIO_PROCESS, 0);
  setpriority(PRIO_PROCESS, 0,
              std::min(now + kBelowEventLoop, 19));  // 0 is the calling thread, not its process
#endif
}

void return_freed_memory() {
#if defined(__GLIBC__)
  constexpr int kBytes = 1 << 20;
  mallopt(M_MMAP_THRESHOLD, kBytes);
  mallopt(M_TRIM_THRESHOLD, kBytes);
#endif
}

std::size_t page_size() {
  static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

void* allocate_pages(std::size_t bytes) {
  void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) return nullptr;
#if defined(MADV_HUGEPAGE)
  if (bytes >= (std::size_t{4} << 20))
    madvise(base, bytes, MADV_HUGEPAGE);  // only advice: a failure costs nothing but speed
#endif
  return base;
}

void* map_file_pages(const std::string& path, std::uint64_t offset, std::size_t bytes) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) fail(path, "open");
  struct stat info {};
  const bool stated = fstat(file, &info) == 0;
  if (!stated || !S_ISREG(info.st_mode) || static_cast<std::uint64_t>(info.st_size) < offset + bytes) {
    close(file);
    throw Error(ErrorCode::kInvalidFile,
                path + ": not a regular file of at least " + std::to_string(offset + bytes) + " bytes");
  }
  void* base = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file, static_cast<off_t>(offset));
  close(file);
  if (base == MAP_FAILED) fail(path, "map");
  return base;
}

void release_pages(void* base, std::size_t bytes) {
  // In pieces: each call locks the address space, and page faults of all other threads wait for it.
  constexpr std::size_t kPiece = std::size_t{64} << 20;
  for (std::size_t at = 0; at < bytes; at += kPiece) {
    munmap(static_cast<char*>(base) + at, std::min(kPiece, bytes - at));
  }
}

const char* library_suffix() {
#if defined(__APPLE__)
  return ".dylib";
#else
  return ".so";
#endif
}

void* open_library(const std::string& path, std::string& reason) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();
    reason = why == nullptr ? path + ": cannot be loaded" : why;
  }
  return library;
}

void* library_symbol(void* library, const char* name) { return dlsym(library, name); }

bool link_file(const std::string& from, const std::string& to) {
  struct stat old {
  }, source{};
  if (stat(from.c_str(), &source) != 0) fail(from, "stat");
  if (lstat(to.c_str(), &old) == 0) {
    if (old.st_dev == source.st_dev && old.st_ino == source.st_ino) return true;  // already the same file
    if (unlink(to.c_str()) != 0) fail(to, "replace");
  }
  if (link(from.c_str(), to.c_str()) == 0) return true;
  // EPERM: FAT and exFAT, and files of other users on hardened systems; EMLINK: limit of names per file reached.
  for (const int none : {EPERM, EMLINK, EXDEV, ENOTSUP, EOPNOTSUPP, ENOSYS})
    if (errno == none) return false;
  fail(to, "link");
}

std::optional<FileLock> FileLock::try_acquire(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) fail(path, "open");
  if (flock(file, LOCK_EX | LOCK_NB) == 0) return FileLock(file);
  const int error = errno;
  close(file);
  if (error == EWOULDBLOCK) return std::nullopt;
  errno = error;
  fail(path, "lock");
}

FileLock::~FileLock() {
  if (handle_ >= 0) close(static_cast<int>(handle_));  // releases the lock
}

File File::open_read(const std::string& path) {
  const int file =
      open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // NONBLOCK: a FIFO must not hang the open
  if (file < 0) fail(path, "open");
  File result(path, file);
  struct stat info {};
  if (fstat(file, &info) != 0) fail(path, "stat");
  if (!S_ISREG(info.st_mode)) throw Error(ErrorCode::kInvalidFile, path + ": not a regular file");
  result.size_ = static_cast<std::uint64_t>(info.st_size);
#if defined(POSIX_FADV_SEQUENTIAL)
  posix_fadvise(file, 0, 0, POSIX_FADV_SEQUENTIAL);
#endif
  return result;
}

File File::create(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (file < 0) fail(path, "create");
  return File(path, file);
}

void File::sync_path(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) fail(path, "open");
  File(path, file).sync();
}

std::size_t File::read_at(std::uint64_t offset, void* out, std::size_t bytes) const {
  auto* to = static_cast<char*>(out);
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t got =
        pread(static_cast<int>(handle_), to + done, bytes - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(path_, "read");
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

void File::write_at(std::uint64_t offset, const void* data, std::size_t bytes) {
  const auto* from = static_cast<const char*>(data);
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t put =
        pwrite(static_cast<int>(handle_), from + done, bytes - done, static_cast<off_t>(offset + done));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail(path_, "write");
    done += static_cast<std::size_t>(put);
  }
  grow_to(offset + bytes);
}

void File::sync() {
  if (fdatasync(static_cast<int>(handle_)) != 0) fail(path_, "flush");
}

void File::close_checked() {
  const int file = static_cast<int>(std::exchange(handle_, -1));
  if (file >= 0 && close(file) != 0) fail(path_, "close");
}

File::~File() {
  if (handle_ >= 0) close(static_cast<int>(handle_));
}

}  // namespace pc::platform
#endif
