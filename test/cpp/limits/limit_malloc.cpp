// A preload library that makes malloc fail above PC_MALLOC_LIMIT_MIB and aligned allocation above
// PC_ALIGNED_LIMIT_MIB, as Electron's allocator does at 2045 and 1023 MiB (there the process dies; here the caller sees
// a null pointer and the test sees the exception).
#include <dlfcn.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>

namespace {

std::size_t limit_of(const char* variable, std::size_t fallback_mib) {
  const char* text = std::getenv(variable);
  return (text != nullptr ? std::strtoull(text, nullptr, 10) : fallback_mib) << 20;
}

std::size_t malloc_limit() {
  static const std::size_t limit = limit_of("PC_MALLOC_LIMIT_MIB", 2045);
  return limit;
}

std::size_t aligned_limit() {
  static const std::size_t limit = limit_of("PC_ALIGNED_LIMIT_MIB", 1023);
  return limit;
}

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

void* malloc(std::size_t bytes) {
  static const auto real = next<void* (*)(std::size_t)>("malloc");
  if (bytes > malloc_limit()) {
    errno = ENOMEM;
    return nullptr;
  }
  return real(bytes);
}

void* realloc(void* block, std::size_t bytes) {
  static const auto real = next<void* (*)(void*, std::size_t)>("realloc");
  if (bytes > malloc_limit()) {
    errno = ENOMEM;
    return nullptr;
  }
  return real(block, bytes);
}

int posix_memalign(void** out, std::size_t alignment, std::size_t bytes) {
  static const auto real = next<int (*)(void**, std::size_t, std::size_t)>("posix_memalign");
  if (bytes > aligned_limit()) return ENOMEM;
  return real(out, alignment, bytes);
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  static const auto real = next<void* (*)(std::size_t, std::size_t)>("aligned_alloc");
  if (bytes > aligned_limit()) {
    errno = ENOMEM;
    return nullptr;
  }
  return real(alignment, bytes);
}
}
