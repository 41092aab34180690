#include "core/deflate.h"

#include <libdeflate.h>

#include "core/error.h"

namespace pc {

namespace detail {

void DeflaterDelete::operator()(void* state) const {
  libdeflate_free_compressor(static_cast<libdeflate_compressor*>(state));
}
void InflaterDelete::operator()(void* state) const {
  libdeflate_free_decompressor(static_cast<libdeflate_decompressor*>(state));
}

}  // namespace detail

Deflater::Deflater(int level) {
  require(level >= 1 && level <= 12, "the level of compression must be 1 to 12");
  state_.reset(libdeflate_alloc_compressor(level));
  if (!state_) throw Error(ErrorCode::kOutOfMemory, "no memory for compression");
}

std::size_t Deflater::bound(std::size_t bytes) { return libdeflate_deflate_compress_bound(nullptr, bytes); }

std::size_t Deflater::compress(Span<const std::byte> in, Span<std::byte> out) {
  const std::size_t written = libdeflate_deflate_compress(static_cast<libdeflate_compressor*>(state_.get()),
                                                          in.data, in.size, out.data, out.size);
  if (written == 0) throw Error(ErrorCode::kInternal, "a deflate stream exceeds its bound");
  return written;
}

Inflater::Inflater() : state_(libdeflate_alloc_decompressor()) {
  if (!state_) throw Error(ErrorCode::kOutOfMemory, "no memory for decompression");
}

bool Inflater::inflate(Span<const std::byte> in, Span<std::byte> out) {
  std::size_t read = 0, written = 0;
  const auto result = libdeflate_deflate_decompress_ex(static_cast<libdeflate_decompressor*>(state_.get()),
                                                       in.data, in.size, out.data, out.size, &read, &written);
  return result == LIBDEFLATE_SUCCESS && read == in.size && written == out.size;
}

std::uint32_t crc32(std::uint32_t crc, Span<const std::byte> bytes) {
  return bytes.size == 0 ? crc : libdeflate_crc32(crc, bytes.data, bytes.size);
}

}  // namespace pc
