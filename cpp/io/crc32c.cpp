#include "io/crc32c.h"

#include <array>
#include <bit>
#include <cstring>

namespace pc::io {

namespace {

constexpr std::uint32_t kReflectedPolynomial = 0x82f63b78;
constexpr std::size_t kSlices = 8;

using Tables = std::array<std::array<std::uint32_t, 256>, kSlices>;

constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t c = i;
    for (int bit = 0; bit < 8; ++bit) c = (c >> 1) ^ ((c & 1) != 0 ? kReflectedPolynomial : 0);
    tables[0][i] = c;
  }
  for (std::size_t k = 1; k < kSlices; ++k) {
    for (std::size_t i = 0; i < 256; ++i) {
      const std::uint32_t c = tables[k - 1][i];
      tables[k][i] = (c >> 8) ^ tables[0][c & 0xff];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();
static_assert(std::endian::native == std::endian::little, "the low byte of a word must be the first byte");

}  // namespace

std::uint32_t crc32c(const std::byte* data, std::size_t bytes) {
  std::uint32_t crc = 0xffffffff;
  for (; bytes >= 8; data += 8, bytes -= 8) {
    std::uint64_t word;
    std::memcpy(&word, data, 8);
    word ^= crc;
    crc = 0;
    for (std::size_t k = 0; k < kSlices; ++k) crc ^= kTables[kSlices - 1 - k][word >> (8 * k) & 0xff];
  }
  for (; bytes != 0; ++data, --bytes)
    crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<std::uint32_t>(*data)) & 0xff];
  return crc ^ 0xffffffff;
}

}  // namespace pc::io
