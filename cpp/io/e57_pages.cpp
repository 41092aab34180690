#include "io/e57_pages.h"

#include <algorithm>
#include <cstring>

#include "core/error.h"
#include "io/crc32c.h"

namespace pc::io::e57 {

namespace {

constexpr std::size_t kPagesPerRead = 256;
constexpr std::size_t kHeaderBytes = 48;

std::uint32_t stored_checksum(const std::byte* at) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | static_cast<std::uint32_t>(at[i]);
  return value;
}

[[noreturn]] void fail(const std::string& path, const std::string& problem) {
  throw Error(ErrorCode::kInvalidFile, path + ": " + problem);
}

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

}  // namespace

std::uint64_t Pages::to_logical(std::uint64_t physical, const std::string& what) const {
  const std::uint64_t in_page = physical % kPageBytes;
  const std::uint64_t logical = physical / kPageBytes * kPayloadBytes + in_page;
  if (in_page >= kPayloadBytes || logical >= logical_bytes_) {
    fail(path(), what + " lies at byte " + std::to_string(physical) + ", which is " +
                     (in_page >= kPayloadBytes ? "inside a page checksum" : "past the end of the file") +
                     "; the file is damaged or cut off, copy it again");
  }
  return logical;
}

void Pages::read(std::uint64_t begin, std::size_t bytes, std::byte* out,
                 std::vector<std::byte>& scratch) const {
  if (bytes == 0) return;
  if (begin > logical_bytes_ || bytes > logical_bytes_ - begin) {
    fail(path(), std::to_string(bytes) + " bytes from byte " + std::to_string(to_physical(begin)) +
                     " reach past the end of the file; it is cut off, copy it again");
  }
  const std::uint64_t last = (begin + bytes - 1) / kPayloadBytes;
  for (std::uint64_t page = begin / kPayloadBytes; page <= last;) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(kPagesPerRead, last - page + 1));
    const std::size_t wanted = count * kPageBytes;
    if (scratch.size() < wanted) scratch.resize(wanted);
    if (file_.read_at(page * kPageBytes, scratch.data(), wanted) != wanted) {
      throw Error(ErrorCode::kIo, path() + ": the file became shorter while it was read");
    }
    for (std::size_t i = 0; i < count; ++i, ++page) {
      const std::byte* const from = scratch.data() + i * kPageBytes;
      const std::uint32_t stored = stored_checksum(from + kPayloadBytes), real = crc32c(from, kPayloadBytes);
      if (stored != real) {
        fail(path(), "page " + std::to_string(page) + " (bytes " + std::to_string(page * kPageBytes) +
                         " to " + std::to_string((page + 1) * kPageBytes - 1) + ") has checksum " +
                         std::to_string(stored) + ", its bytes give " + std::to_string(real) +
                         "; the file is damaged, copy it again from its source");
      }
      const std::uint64_t start = page * kPayloadBytes;
      const std::uint64_t first = std::max(begin, start),
                          end = std::min(begin + bytes, start + kPayloadBytes);
      std::memcpy(out + (first - begin), from + (first - start), static_cast<std::size_t>(end - first));
    }
  }
}

FileHeader read_file_header(const platform::File& file) {
  std::byte raw[kHeaderBytes];
  const std::size_t got = file.read_at(0, raw, sizeof raw);
  if (got < 8 || std::memcmp(raw, "ASTM-E57", 8) != 0) {
    fail(file.path(),
         "an E57 file starts with \"ASTM-E57\", this one does not; choose the reader for its real format");
  }
  if (got < sizeof raw)
    fail(file.path(), "the file ends inside its header (48 bytes); it is cut off, copy it again");
  const FileHeader header{load<std::uint32_t>(raw + 8), load<std::uint32_t>(raw + 12),
                          load<std::uint64_t>(raw + 16), load<std::uint64_t>(raw + 24),
                          load<std::uint64_t>(raw + 32)};
  if (header.version_major != 1) {
    throw Error(ErrorCode::kUnsupported, file.path() + ": E57 version " +
                                             std::to_string(header.version_major) + "." +
                                             std::to_string(header.version_minor) +
                                             " is not supported, only version 1; export it as E57 1.0");
  }
  const auto page_bytes = load<std::uint64_t>(raw + 40);
  if (page_bytes != kPageBytes) {
    throw Error(ErrorCode::kUnsupported,
                file.path() + ": pages of " + std::to_string(page_bytes) +
                    " bytes (byte 40) are not supported; E57 1.0 has pages of 1024 bytes");
  }
  if (header.physical_bytes % kPageBytes != 0 || header.physical_bytes == 0) {
    fail(file.path(), "the header's file length (byte 16) is " + std::to_string(header.physical_bytes) +
                          ", it must be a positive multiple of 1024; the file is damaged");
  }
  if (header.physical_bytes > file.size()) {
    fail(file.path(), "the header declares " + std::to_string(header.physical_bytes) +
                          " bytes, the file has " + std::to_string(file.size()) +
                          "; it is cut off, copy it again");
  }
  return header;
}

}  // namespace pc::io::e57
