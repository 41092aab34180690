#pragma once
#include <cstdint>

namespace pc::fuzz {

/// Bytes the C++ heap of this program holds: every operator new and delete of pc_fuzz is counted
/// (heap_meter.cpp).
std::uint64_t heap_bytes();
/// Highest heap_bytes() since reset_heap_peak().
std::uint64_t heap_peak();
void reset_heap_peak();
/// From here on, an operator new that would take the heap above `bytes` throws std::bad_alloc and is counted
/// as a peak.
void set_heap_limit(std::uint64_t bytes);

}  // namespace pc::fuzz
