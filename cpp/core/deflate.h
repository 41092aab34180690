#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/span.h"

/// Raw deflate streams (RFC 1951) that are in memory as a whole. deflate.cpp is the only file that knows the library.
namespace pc {

namespace detail {
struct DeflaterDelete {
  void operator()(void* state) const;
};
struct InflaterDelete {
  void operator()(void* state) const;
};
}  // namespace detail

/// Compresses pieces independently of each other. For one thread at a time.
class Deflater {
 public:
  /// level: 1 (fastest) to 12. Errors: kInvalidArgument, kOutOfMemory.
  explicit Deflater(int level);
  /// Most bytes that a piece of `bytes` can take.
  static std::size_t bound(std::size_t bytes);
  /// Returns the number of bytes written; `out` has at least bound(in.size) bytes.
  std::size_t compress(Span<const std::byte> in, Span<std::byte> out);

 private:
  std::unique_ptr<void, detail::DeflaterDelete> state_;
};

/// Decompresses pieces independently of each other. For one thread at a time.
class Inflater {
 public:
  /// Errors: kOutOfMemory.
  Inflater();
  /// True if `in` is one whole stream, with nothing behind it, of exactly out.size bytes. Else `out` holds anything.
  bool inflate(Span<const std::byte> in, Span<std::byte> out);

 private:
  std::unique_ptr<void, detail::InflaterDelete> state_;
};

/// Most bytes that one compressed byte can stand for (RFC 1951: a match of 258 bytes takes two bits at least).
constexpr std::uint64_t kMostInflation = 1032;

/// CRC-32 of ZIP (ISO 3309), continued from `crc`; begin with 0.
std::uint32_t crc32(std::uint32_t crc, Span<const std::byte> bytes);

}  // namespace pc
