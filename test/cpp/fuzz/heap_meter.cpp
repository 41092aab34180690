#include "fuzz/heap_meter.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <new>

namespace {

std::atomic<std::uint64_t> held{0}, peak{0}, limit{std::numeric_limits<std::uint64_t>::max()};

/// In front of every block; as large as the strictest alignment malloc itself promises.
struct alignas(std::max_align_t) Prefix {
  void* block;
  std::size_t bytes;
};

void raise_peak(std::uint64_t now) {
  std::uint64_t before = peak.load();
  while (now > before && !peak.compare_exchange_weak(before, now)) {
  }
}

void* allocate(std::size_t bytes, std::size_t alignment) {
  const std::uint64_t now = held.load() + bytes;
  raise_peak(now);
  if (now > limit.load() || bytes > std::numeric_limits<std::size_t>::max() / 2) throw std::bad_alloc();
  void* block = std::malloc(bytes + sizeof(Prefix) + alignment);
  if (block == nullptr) throw std::bad_alloc();
  auto at = reinterpret_cast<std::uintptr_t>(block) + sizeof(Prefix);
  at = (at + alignment - 1) / alignment * alignment;
  Prefix* prefix = reinterpret_cast<Prefix*>(at) - 1;
  prefix->block = block;
  prefix->bytes = bytes;
  held.fetch_add(bytes);
  return reinterpret_cast<void*>(at);
}

void release(void* pointer) noexcept {
  if (pointer == nullptr) return;
  Prefix* prefix = static_cast<Prefix*>(pointer) - 1;
  held.fetch_sub(prefix->bytes);
  std::free(prefix->block);
}

}  // namespace

namespace pc::fuzz {

std::uint64_t heap_bytes() { return held.load(); }
std::uint64_t heap_peak() { return peak.load(); }
void reset_heap_peak() { peak.store(held.load()); }
void set_heap_limit(std::uint64_t bytes) { limit.store(bytes); }

}  // namespace pc::fuzz

// The remaining forms (nothrow, arrays) of the standard library call these.
void* operator new(std::size_t bytes) { return allocate(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes) { return allocate(bytes, alignof(std::max_align_t)); }
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  try {
    return allocate(bytes, alignof(std::max_align_t));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void* operator new[](std::size_t bytes, const std::nothrow_t& tag) noexcept {
  return operator new(bytes, tag);
}
void operator delete(void* pointer) noexcept { release(pointer); }
void operator delete(void* pointer, std::size_t) noexcept { release(pointer); }
void operator delete(void* pointer, std::align_val_t) noexcept { release(pointer); }
void operator delete(void* pointer, std::size_t, std::align_val_t) noexcept { release(pointer); }
void operator delete(void* pointer, const std::nothrow_t&) noexcept { release(pointer); }
void operator delete[](void* pointer) noexcept { release(pointer); }
void operator delete[](void* pointer, std::size_t) noexcept { release(pointer); }
void operator delete[](void* pointer, std::align_val_t) noexcept { release(pointer); }
void operator delete[](void* pointer, std::size_t, std::align_val_t) noexcept { release(pointer); }
void operator delete[](void* pointer, const std::nothrow_t&) noexcept { release(pointer); }
