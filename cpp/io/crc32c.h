#pragma once
#include <cstddef>
#include <cstdint>

namespace pc::io {

/// CRC-32C (Castagnoli) of `bytes` bytes: polynomial 0x1EDC6F41 reflected, start and final xor 0xFFFFFFFF.
/// Cost    O(bytes) time.
/// Source  IETF RFC 3720, appendix B.4 (polynomial and test vectors); eight bytes per step by tables (Kounavis and
///         Berry, "Novel table lookup-based algorithms for high-performance CRC generation", IEEE Trans. Computers
///         57(11), 2008).
std::uint32_t crc32c(const std::byte* data, std::size_t bytes);

}  // namespace pc::io
