#include "io/e57_page_writer.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "io/crc32c.h"

namespace pc::io::e57 {

namespace {

static_assert(std::endian::native == std::endian::little, "E57 numbers are little endian");

constexpr std::size_t kBufferPages = 256;
constexpr std::size_t kFileHeaderBytes = 48;

void seal(std::byte* page) {
  const std::uint32_t checksum = crc32c(page, kPayloadBytes);
  for (unsigned i = 0; i < 4; ++i) page[kPayloadBytes + i] = static_cast<std::byte>(checksum >> (24 - 8 * i));
}

}  // namespace

PageWriter::PageWriter(platform::File& file)
    : file_(file), buffer_(kBufferPages * kPageBytes), first_(kPayloadBytes) {
  const std::byte room[kFileHeaderBytes] = {};
  append(room, sizeof room);
}

void PageWriter::append(const void* data, std::size_t bytes) {
  const auto* from = static_cast<const std::byte*>(data);
  while (bytes != 0) {
    const auto in_page = static_cast<std::size_t>(position_ % kPayloadBytes);
    const std::size_t take = std::min<std::size_t>(bytes, kPayloadBytes - in_page);
    std::memcpy(buffer_.data() + filled_, from, take);
    filled_ += take;
    position_ += take;
    from += take;
    bytes -= take;
    if (in_page + take == kPayloadBytes) end_page();
  }
}

void PageWriter::end_page() {
  std::byte* const page = buffer_.data() + filled_ - kPayloadBytes;
  if (position_ == kPayloadBytes) std::memcpy(first_.data(), page, kPayloadBytes);
  seal(page);
  filled_ += kPageBytes - kPayloadBytes;
  if (filled_ == buffer_.size()) flush();
}

void PageWriter::flush() {
  file_.write_at(written_, buffer_.data(), filled_);
  written_ += filled_;
  filled_ = 0;
}

std::uint64_t PageWriter::finish(std::uint64_t xml_begin) {
  const std::uint64_t xml_bytes = position_ - xml_begin;
  const std::vector<std::byte> zeros((kPayloadBytes - position_ % kPayloadBytes) % kPayloadBytes);
  append(zeros.data(), zeros.size());
  flush();
  const std::uint32_t version[2] = {1, 0};
  const std::uint64_t places[4] = {written_, Pages::to_physical(xml_begin), xml_bytes, kPageBytes};
  std::byte page[kPageBytes];
  std::memcpy(page, first_.data(), kPayloadBytes);
  std::memcpy(page, "ASTM-E57", 8);
  std::memcpy(page + 8, version, sizeof version);
  std::memcpy(page + 16, places, sizeof places);
  seal(page);
  file_.write_at(0, page, sizeof page);
  return written_;
}

}  // namespace pc::io::e57
