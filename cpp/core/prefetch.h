#pragma once

namespace pc {

/// Asks the processor to load the cache line of an address that is read soon; no effect where a compiler cannot say so.
inline void prefetch(const void* address) {
#if defined(__GNUC__)
  __builtin_prefetch(address);
#else
  (void)address;
#endif
}

}  // namespace pc
