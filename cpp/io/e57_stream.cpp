#include "io/e57_stream.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "core/error.h"

namespace pc::io::e57 {

namespace {

constexpr std::size_t kWindowBytes = 2040;  // two pages; used to read packet headers
constexpr std::size_t kBlockBytes = std::size_t{768} << 10;
constexpr std::size_t kMinPoints = 64, kMaxPoints = 65536;
constexpr std::size_t kSlack = 16;  // readable bytes after the last value
constexpr std::uint64_t kMaxWindow = std::uint64_t{1} << 20;
constexpr std::uint64_t kPieceWindow = 8 * kPayloadBytes;      // used to read small pieces that are far apart
constexpr std::uint64_t kMaxRecords = std::uint64_t{1} << 48;  // keeps bit positions in 64 bits
constexpr std::size_t kSectionHeaderBytes = 32, kPacketHeaderBytes = 6;
enum PacketType : std::uint8_t { kIndexPacket = 0, kDataPacket = 1, kIgnoredPacket = 2 };

template <class T>
T load_at(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

[[noreturn]] void fail(const Pages& pages, std::uint64_t logical, const std::string& problem) {
  throw Error(ErrorCode::kInvalidFile, pages.path() + ", byte " +
                                           std::to_string(Pages::to_physical(logical)) + ": " + problem +
                                           "; the file is damaged, export it again");
}

std::uint64_t stream_bytes(std::uint64_t points, unsigned bits) { return (points * bits + 7) / 8; }

/// Reserves geometrically, because resize() alone grows only to the requested size.
template <class T>
void grow(BulkVector<T>& vector, std::size_t size) {
  if (size > vector.capacity()) vector.reserve(size + size / 2);
  vector.resize(size);
}

/// Reads small pieces in ascending order: packet headers are up to 64 KiB apart.
class HeaderWindow {
 public:
  explicit HeaderWindow(const Pages& pages) : pages_(pages), buffer_(kWindowBytes) {}
  /// `bytes` bytes from `at`, which must exist; valid until the next call.
  const std::byte* get(std::uint64_t at, std::size_t bytes) {
    if (at < begin_ || at + bytes > begin_ + size_) {
      const std::size_t wanted = static_cast<std::size_t>(
          std::min<std::uint64_t>(std::max(bytes, kWindowBytes), pages_.size() - at));
      if (buffer_.size() < wanted) buffer_.resize(wanted);
      pages_.read(at, wanted, buffer_.data(), scratch_);
      begin_ = at;
      size_ = wanted;
    }
    return buffer_.data() + (at - begin_);
  }

 private:
  const Pages& pages_;
  std::vector<std::byte> buffer_, scratch_;
  std::uint64_t begin_ = 0;
  std::size_t size_ = 0;
};

}  // namespace

PacketIndex::PacketIndex(const Pages& pages, const E57Scan& scan, OpContext& ctx)
    : streams_(scan.fields.size()) {
  if (scan.point_count > kMaxRecords)
    fail(pages, 0, std::to_string(scan.point_count) + " points are declared");
  std::uint64_t at = 0;
  read_section_header(pages, scan, at);
  HeaderWindow window(pages);
  before_.resize(streams_);
  std::uint64_t walked = 0;
  // Bytes of a stream that no point needs are never read, so the walk ends with the last packet needed.
  const auto complete = [&] {
    for (std::size_t s = 0; s < streams_; ++s) {
      if (before_[packet_.size() * streams_ + s] < stream_bytes(scan.point_count, scan.fields[s].bits))
        return false;
    }
    return true;
  };
  while (at < section_.end && !complete()) {
    if (walked++ % 1024 == 0) ctx.checkpoint();
    if (section_.end - at < 4) break;
    const std::byte* head = window.get(at, 4);
    const auto type = static_cast<std::uint8_t>(head[0]);
    const std::uint32_t bytes = std::uint32_t{load_at<std::uint16_t>(head + 2)} + 1;
    if (type > kIgnoredPacket)
      fail(pages, at, "a packet has type " + std::to_string(type) + ", it must be 0, 1 or 2");
    if (bytes % 4 != 0 || bytes > section_.end - at) {
      fail(pages, at,
           "a packet of " + std::to_string(bytes) + " bytes does not fit its section (" +
               std::to_string(section_.end - at) + " bytes are left, lengths are multiples of 4)");
    }
    if (type == kDataPacket) {
      const std::size_t head_bytes = kPacketHeaderBytes + 2 * streams_;
      if (bytes < head_bytes) {
        fail(pages, at,
             "a data packet of " + std::to_string(bytes) + " bytes cannot hold the lengths of " +
                 std::to_string(streams_) + " fields");
      }
      add_packet(pages, at, window.get(at, head_bytes), bytes);
    }
    at += bytes;
  }
  check_streams(pages, scan);
}

/// | offset | size | type | meaning |
/// |---|---|---|---|
/// | 0  | 1 | u8 | section type, 1 |
/// | 1  | 7 | | reserved, 0 |
/// | 8  | 8 | u64 | logical length of the section, header included |
/// | 16 | 8 | u64 | physical offset of the first data packet |
/// | 24 | 8 | u64 | physical offset of the index packet, 0 without one |
void PacketIndex::read_section_header(const Pages& pages, const E57Scan& scan, std::uint64_t& first_packet) {
  section_.begin = pages.to_logical(scan.section_offset, "the binary section of a scan");
  std::byte header[kSectionHeaderBytes];
  std::vector<std::byte> scratch;
  pages.read(section_.begin, sizeof header, header, scratch);
  if (header[0] != std::byte{1}) {
    fail(pages, section_.begin,
         "a binary section of points must have type 1, this one has type " +
             std::to_string(static_cast<int>(header[0])));
  }
  if (std::any_of(header + 1, header + 8, [](std::byte reserved) { return reserved != std::byte{0}; })) {
    fail(pages, section_.begin + 1, "the reserved bytes 1 to 7 of a binary section must be 0");
  }
  const auto bytes = load_at<std::uint64_t>(header + 8);
  if (bytes < kSectionHeaderBytes || bytes > pages.size() - section_.begin || bytes % 4 != 0) {
    fail(pages, section_.begin + 8,
         "a binary section declares " + std::to_string(bytes) + " bytes, " +
             std::to_string(pages.size() - section_.begin) +
             " are left in the file; the length must be a multiple of 4 and at least 32");
  }
  if (const auto index = load_at<std::uint64_t>(header + 24); index >= Pages::to_physical(pages.size())) {
    fail(
        pages, section_.begin + 24,
        "the index of a binary section lies at byte " + std::to_string(index) + ", past the end of the file");
  }
  section_.end = section_.begin + bytes;
  first_packet = pages.to_logical(load_at<std::uint64_t>(header + 16), "the first packet of a scan");
  if (first_packet < section_.begin + kSectionHeaderBytes || first_packet > section_.end) {
    fail(pages, section_.begin + 16, "the first packet does not lie inside its section");
  }
}

/// | offset | size | type | meaning |
/// |---|---|---|---|
/// | 0 | 1 | u8 | packet type, 1 = data |
/// | 1 | 1 | u8 | flags |
/// | 2 | 2 | u16 | packet length - 1 |
/// | 4 | 2 | u16 | number of byte streams f |
/// | 6 | 2 f | u16 | length of each stream's piece; the pieces follow in that order |
void PacketIndex::add_packet(const Pages& pages, std::uint64_t at, const std::byte* packet,
                             std::uint32_t bytes) {
  const auto count = load_at<std::uint16_t>(packet + 4);
  if (count != streams_) {
    fail(pages, at,
         "a data packet has " + std::to_string(count) + " byte streams, the scan has " +
             std::to_string(streams_) + " fields");
  }
  const std::size_t row = packet_.size() * streams_;
  std::size_t place = kPacketHeaderBytes + 2 * streams_;
  grow(start_, row + streams_);
  grow(before_, row + 2 * streams_);
  for (std::size_t s = 0; s < streams_; ++s) {
    const auto piece = load_at<std::uint16_t>(packet + kPacketHeaderBytes + 2 * s);
    if (piece > bytes - place) {
      fail(pages, at,
           "the byte streams of a data packet are longer than its " + std::to_string(bytes) + " bytes");
    }
    start_[row + s] =
        static_cast<std::uint16_t>(place == 65536 ? 0 : place);  // 65536 only for an empty piece
    before_[row + streams_ + s] = before_[row + s] + piece;
    place += piece;
  }
  packet_.push_back(at);
}

void PacketIndex::check_streams(const Pages& pages, const E57Scan& scan) const {
  for (std::size_t s = 0; s < streams_; ++s) {
    const E57Field& field = scan.fields[s];
    const std::uint64_t present = before_[packet_.size() * streams_ + s];
    const std::uint64_t needed = stream_bytes(scan.point_count, field.bits);
    if (present >= needed) continue;
    fail(pages, section_.begin,
         std::to_string(scan.point_count) + " points need " + std::to_string(needed) + " bytes of field " +
             field.name + ", the packets hold " + std::to_string(present));
  }
}

std::size_t PacketIndex::find(std::size_t stream, std::uint64_t byte) const {
  std::size_t low = 0, high = packet_.size();  // the byte is in the packet before `high`
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    (before_[middle * streams_ + stream] <= byte ? low : high) = middle;
  }
  return low;
}

std::size_t block_points(const E57Scan& scan) {
  std::uint64_t bits = 1;
  for (const E57Field& field : scan.fields) bits += field.bits;
  const std::uint64_t points = kBlockBytes * 8 / bits / 8 * 8;
  return static_cast<std::size_t>(std::clamp<std::uint64_t>(points, kMinPoints, kMaxPoints));
}

BlockReader::BlockReader(const Pages& pages, const E57Scan& scan, const PacketIndex& index,
                         std::vector<std::size_t> fields)
    : pages_(pages),
      scan_(scan),
      index_(index),
      fields_(std::move(fields)),
      capacity_(static_cast<std::size_t>(std::min<std::uint64_t>(block_points(scan), scan.point_count))),
      start_(fields_.size()) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    start_[i] = bytes;
    bytes += static_cast<std::size_t>(stream_bytes(capacity_, scan.fields[fields_[i]].bits)) + kSlack;
  }
  bytes_.resize(bytes);
}

/// The pieces of all fields are usually adjacent: reading them together checks every page only once.
void BlockReader::load_window(std::uint64_t first, std::size_t count) {
  std::uint64_t begin = ~std::uint64_t{0}, end = 0, needed = 0;
  for (const std::size_t f : fields_) {
    const unsigned bits = scan_.fields[f].bits;
    index_.for_each_piece(f, first * bits / 8, stream_bytes(first + count, bits),
                          [&](std::uint64_t logical, std::size_t bytes) {
                            begin = std::min(begin, logical);
                            end = std::max(end, logical + bytes);
                            needed += bytes;
                          });
  }
  window_bytes_ = 0;
  if (end > begin && end - begin <= std::min(kMaxWindow, 2 * needed + kWindowBytes)) set_window(begin, end);
}

void BlockReader::copy(std::uint64_t logical, std::size_t bytes, std::byte* out) {
  const auto held = [&] {
    return logical >= window_begin_ && logical + bytes <= window_begin_ + window_bytes_;
  };
  if (!held() && bytes >= kPieceWindow) return pages_.read(logical, bytes, out, scratch_);
  if (!held()) {
    set_window(logical, std::max(logical + bytes, std::min(logical + kPieceWindow, index_.section().end)));
  }
  std::memcpy(out, window_.data() + (logical - window_begin_), bytes);
}

void BlockReader::set_window(std::uint64_t begin, std::uint64_t end) {
  window_bytes_ = 0;
  const auto bytes = static_cast<std::size_t>(end - begin);
  if (window_.size() < bytes) window_.resize(bytes);
  pages_.read(begin, bytes, window_.data(), scratch_);
  window_begin_ = begin;
  window_bytes_ = bytes;
}

void BlockReader::load(std::uint64_t first, std::size_t count) {
  if (count > capacity_) throw Error(ErrorCode::kInternal, "a block of an E57 scan holds fewer points");
  load_window(first, count);
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const unsigned bits = scan_.fields[fields_[i]].bits;
    std::byte* out = bytes_.data() + start_[i];
    index_.for_each_piece(fields_[i], first * bits / 8, stream_bytes(first + count, bits),
                          [&](std::uint64_t logical, std::size_t bytes) {
                            copy(logical, bytes, out);
                            out += bytes;
                          });
  }
}

namespace {

/// Calls store(i, raw) for the packed values [begin, begin + count).
template <class Store>
void unpack(const std::byte* bytes, unsigned bits, std::size_t begin, std::size_t count, Store&& store) {
  if (bits == 0) {
    for (std::size_t i = 0; i < count; ++i) store(i, std::uint64_t{0});
    return;
  }
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - bits);
  std::size_t bit = begin * bits;
  if (bits <= 56) {  // with up to 7 bits before it, the value fits in one word
    for (std::size_t i = 0; i < count; ++i, bit += bits) {
      store(i, load_at<std::uint64_t>(bytes + (bit >> 3)) >> (bit & 7) & mask);
    }
    return;
  }
  for (std::size_t i = 0; i < count; ++i, bit += bits) {
    const std::byte* const from = bytes + (bit >> 3);
    const unsigned shift = bit & 7;
    std::uint64_t raw = load_at<std::uint64_t>(from) >> shift;
    if (shift != 0) raw |= static_cast<std::uint64_t>(from[8]) << (64 - shift);
    store(i, raw & mask);
  }
}

/// minimum + raw; wraps around like the file's 64-bit arithmetic if a value is outside the declared range.
std::int64_t stored_integer(const E57Field& field, std::uint64_t raw) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(field.minimum) + raw);
}

}  // namespace

void BlockReader::decode(std::size_t slot, std::size_t begin, std::size_t count, double* out) const {
  const E57Field& field = scan_.fields[fields_[slot]];
  const std::byte* const bytes = bytes_.data() + start_[slot];
  switch (field.type) {
    case E57FieldType::kFloat32:
      for (std::size_t i = 0; i < count; ++i) out[i] = load_at<float>(bytes + 4 * (begin + i));
      return;
    case E57FieldType::kFloat64:
      std::memcpy(out, bytes + 8 * begin, 8 * count);
      return;
    case E57FieldType::kInteger:
      return unpack(bytes, field.bits, begin, count, [&](std::size_t i, std::uint64_t raw) {
        out[i] = static_cast<double>(stored_integer(field, raw));
      });
    case E57FieldType::kScaledInteger:
      return unpack(bytes, field.bits, begin, count, [&](std::size_t i, std::uint64_t raw) {
        out[i] = static_cast<double>(stored_integer(field, raw)) * field.scale + field.offset;
      });
    case E57FieldType::kString:
      break;
  }
  throw Error(ErrorCode::kInternal, "a text field has no numbers");
}

void BlockReader::decode_floats(std::size_t slot, std::size_t begin, std::size_t count, float* out) const {
  std::memcpy(out, bytes_.data() + start_[slot] + 4 * begin, 4 * count);
}

template <class T>
void BlockReader::decode_integers(std::size_t slot, std::size_t begin, std::size_t count, T* out) const {
  const E57Field& field = scan_.fields[fields_[slot]];
  unpack(bytes_.data() + start_[slot], field.bits, begin, count,
         [&](std::size_t i, std::uint64_t raw) { out[i] = static_cast<T>(stored_integer(field, raw)); });
}

template void BlockReader::decode_integers(std::size_t, std::size_t, std::size_t, std::uint8_t*) const;
template void BlockReader::decode_integers(std::size_t, std::size_t, std::size_t, std::int8_t*) const;
template void BlockReader::decode_integers(std::size_t, std::size_t, std::size_t, std::uint16_t*) const;
template void BlockReader::decode_integers(std::size_t, std::size_t, std::size_t, std::int16_t*) const;
template void BlockReader::decode_integers(std::size_t, std::size_t, std::size_t, std::uint32_t*) const;
template void BlockReader::decode_integers(std::size_t, std::size_t, std::size_t, std::int32_t*) const;
template void BlockReader::decode_integers(std::size_t, std::size_t, std::size_t, std::int64_t*) const;

}  // namespace pc::io::e57
